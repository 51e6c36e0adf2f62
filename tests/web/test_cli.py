"""lycosa dashboard and lycosa crawl --dashboard."""

from __future__ import annotations

import re
import socket

import pytest

from loopback import lycosa, serving
from lycosa.errors import InputError
from lycosa.web.server import PORT, _listen


def test_a_folder_that_is_not_there(tmp_path):
    result = lycosa("dashboard", tmp_path / "nowhere", "--port", "0")
    assert result.returncode == 2
    assert "there is no such directory" in result.stderr


def test_without_the_extra_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr("lycosa.cli.dashboard.importlib.util.find_spec", lambda _name: None)
    result = lycosa("dashboard", tmp_path)
    assert result.returncode == 2
    assert "pip install 'lycosa[ui]'" in result.stderr


def test_a_crawl_with_a_dashboard_prints_its_address_and_takes_it_along(tmp_path):
    with serving({"/": (200, "text/html", "<title>Cycling</title><p>recreational cycling</p>")}) as (host, _):
        result = lycosa(
            "crawl", "cycling", "--seed", f"http://{host}/", "-o", tmp_path / "c", "--dashboard", "--pages", 1,
            "--set", 'network.allow=["127.0.0.0/8"]', "--set", "readers.count=1", "--strategy", "best-first",
        )  # fmt: skip
    assert result.returncode == 0, result.stderr
    (address,) = re.findall(r"dashboard: http://127\.0\.0\.1:(\d+)/", result.stderr)
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", int(address)))


def test_the_usual_port_gives_way_another_does_not():
    with _listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match="cannot listen on"):
            _listen("127.0.0.1", port)
    with _listen("127.0.0.1", PORT) as first, _listen("127.0.0.1", PORT) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
