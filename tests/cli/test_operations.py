"""What those need who run crawls: a log, a doctor, words that the shell completes."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys

import pytest

import lycosa as library
from loopback import html, lycosa, serving
from lycosa.config import build
from lycosa.crawl.log_file import LogFile
from lycosa.doctor import Health, examine


class TestLogFile:
    def lines(self, path) -> list[dict]:
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def test_a_crawl_writes_what_happened(self, tmp_path):
        web = {"/": html('<p>recreational cycling</p><a href="/2">on</a>'), "/2": html("<p>cycling</p>")}
        with serving(web) as (place, _):
            library.Crawl(
                "recreational cycling",
                seeds=[f"http://{place}/", "http://127.0.0.1:9/"],
                directory=tmp_path / "crawl",
                strategy="best-first",
                network={"allow": ["127.0.0.0/8"]},
                politeness={"delay": 0.0, "first_backoff": 0.0},
            ).run()
        path = tmp_path / "crawl" / "log.jsonl"
        lines = self.lines(path)
        assert (lines[0]["event"], lines[0]["run"], lines[0]["pid"]) == ("start", 1, os.getpid())
        assert (lines[-1]["event"], lines[-1]["pages"]) == ("end", 2)
        assert any(line["event"] == "seed" and line["level"] == "warning" for line in lines)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert not [handler for handler in logging.getLogger("lycosa").handlers if isinstance(handler, LogFile)]

    def test_what_the_web_says_cannot_break_a_line(self, tmp_path):
        log = LogFile(tmp_path / "log.jsonl")
        log.event("trap", "a\n\x1b[2J\u202e" + "x" * 10_000)
        log.close()
        raw = (tmp_path / "log.jsonl").read_bytes()
        assert raw.count(b"\n") == 1
        assert raw.isascii()
        assert b"\x1b" not in raw
        assert len(raw) < 3000

    def test_a_fault_is_logged_without_its_message_breaking_anything(self, tmp_path):
        log = LogFile(tmp_path / "log.jsonl")
        logger = logging.getLogger("lycosa.test_operations")
        logger.propagate = False
        logger.addHandler(log)
        try:
            int("odd")
        except ValueError:
            logger.exception("fault while visiting %s", "http://a.test/")
        logger.removeHandler(log)
        log.close()
        (line,) = self.lines(tmp_path / "log.jsonl")
        assert (line["level"], line["fault"], line["message"]) == (
            "error",
            "ValueError",
            "fault while visiting http://a.test/",
        )

    def test_a_long_log_is_begun_anew(self, tmp_path):
        log = LogFile(tmp_path / "log.jsonl", most=1000)
        for number in range(40):
            log.event("seed", f"number {number}")
        log.close()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "log.jsonl.1"]
        assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())
        assert self.lines(tmp_path / "log.jsonl")[-1]["message"] == "number 39"

    def test_a_link_is_not_followed_and_ends_nothing(self, tmp_path):
        (tmp_path / "log.jsonl").symlink_to(tmp_path / "elsewhere")
        log = LogFile(tmp_path / "log.jsonl")
        log.event("start", "x")
        log.close()
        assert not (tmp_path / "elsewhere").exists()


class TestDoctor:
    def found(self, directory, **settings) -> dict[str, tuple[str, str]]:
        return {
            finding.subject: (finding.health, finding.words)
            for finding in examine(build(("test", settings)), directory, is_online=False)
        }

    def test_what_is_there(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HTTPS_PROXY", "http://ann:secret-5@proxy.test")
        found = self.found(tmp_path)
        assert found["lycosa"][0] == found["libcurl"][0] == found["directory"][0] == Health.FINE
        assert found["proxy"] == (
            Health.NOTE,
            "https_proxy in the environment are not used: --proxy environment uses them",
        )
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_a_directory_that_cannot_be_written(self, tmp_path):
        tmp_path.chmod(0o500)
        assert self.found(tmp_path / "crawl")["directory"][0] == Health.BAD

    def test_little_disk_is_bad(self, tmp_path, monkeypatch):
        monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10_000_000})())
        health, words = self.found(tmp_path)["disk"]
        assert health == Health.BAD
        assert "free some space" in words

    def test_a_network_that_does_not_work(self, tmp_path):
        """Through a proxy that is not there."""
        result = lycosa(
            "doctor",
            tmp_path,
            "--proxy",
            "http://127.0.0.1:9",
            "--set",
            'network.resolve={"example.org": "203.0.113.9"}',
            "--set",
            'network.allow=["203.0.113.9"]',
            "--json",
        )
        assert result.returncode == 1
        last = json.loads(result.stdout.splitlines()[-1])
        assert (last["subject"], last["health"]) == ("network", "bad")
        assert "the proxy cannot be used" in last["words"]

    def test_the_command(self, tmp_path):
        result = lycosa("doctor", tmp_path, "--offline")
        assert result.returncode == 0
        assert "libcurl" in result.stdout


class TestCompletion:
    def completed(self, *words: str, **environment: str) -> list[str]:
        """What bash would be offered for the last word."""
        line = {"COMP_WORDS": " ".join(["lycosa", *words]), "COMP_CWORD": str(len(words))}
        run = subprocess.run(
            [sys.executable, "-c", "import sys; sys.argv[0] = 'lycosa'; from lycosa.cli import main; main()"],
            env={**os.environ, **line, "_LYCOSA_COMPLETE": "complete_bash", **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return run.stdout.split()

    def test_strategies_settings_and_topics(self, tmp_path):
        assert self.completed("crawl", "--strategy", "best") == ["best-first"]
        assert "politeness.delay=" in self.completed("crawl", "--set", "politeness.d")
        assert lycosa("topics", "add", "Sport/Cycling", "--book", tmp_path / "topics.db").returncode == 0
        assert self.completed("crawl", "--topic", "Sport/C", LYCOSA_TOPICS=str(tmp_path / "topics.db")) == [
            "Sport/Cycling"
        ]
        assert self.completed("crawl", "--topic", "S", LYCOSA_TOPICS=str(tmp_path / "none.db")) == []
