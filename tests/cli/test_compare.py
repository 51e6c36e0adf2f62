"""lycosa world and lycosa compare, as a person uses them; mistakes are reported in one line."""

from __future__ import annotations

import gzip
import json
import re
from importlib import import_module
from pathlib import Path

import duckdb
import pytest
import typer
from typer.testing import CliRunner, Result

from loopback import lycosa
from lycosa.fetch.archive import Archive
from lycosa.model import Response

app = typer.Typer()
app.command()(import_module("lycosa.cli.compare").compare)  # the package has the command under the module's name
TOPICS = {"Animals/Birds": "bird feather wing nest egg", "Animals/Fish": "fish fin scale gill river"}


def compare(*words: object) -> Result:
    """Runs in this process, which saves loading time."""
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small web of two topics that link to each other, as WARC with labels."""
    directory = tmp_path_factory.mktemp("recorded")
    rows = ["url\ttopic"]
    with Archive(directory) as archive:
        for place, (topic, words) in enumerate(TOPICS.items()):
            for number in range(30):
                url = f"http://zoo.test/{place}/{number}"
                near = [f"/{place}/{(number + step) % 30}" for step in (1, 2, 7)]
                far = [f"/{1 - place}/{number}"] if number % 5 == 0 else []
                links = " ".join(f'<a href="{target}">{words.split()[0]} {target[-1]}</a>' for target in near + far)
                body = f"<title>{topic} {number}</title><p>{words} {words}</p><p>{links}</p>".encode()
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                archive.append(
                    Response(url, 200, [("content-type", "text/html")], body, head=head, started=1.0, ended=2.0)
                )
                rows.append(f"{url}\t{topic}")
        archive.flush()
    rows.append("http://zoo.test/never\tAnimals/Birds")
    (directory / "labels.tsv").write_text("\n".join(rows) + "\n")
    return directory


@pytest.fixture(scope="module")
def world(recorded: Path) -> Path:
    target = recorded / "zoo.world"
    done = lycosa("world", "build", *recorded.glob("*.warc.gz"), "--labels", recorded / "labels.tsv", "-o", target)
    assert done.returncode == 0, done.stderr
    assert "60 pages" in done.stdout
    assert "1 labels of URLs that are not in the world" in done.stdout
    return target


def test_info_tells_what_a_world_is_like(world: Path) -> None:
    facts = json.loads(lycosa("world", "info", world, "--json").stdout)
    assert facts["pages"] == 60
    assert facts["topics"] == {"Animals/Birds": 30, "Animals/Fish": 30}
    assert facts["topical_locality"] > 0.9
    assert "Animals/Birds" in lycosa("world", "info", world).stdout


def test_a_comparison_writes_its_report(world: Path, tmp_path: Path) -> None:
    names = "breadth-first,best-first-1,shark"
    options = ("--strategies", names, "--distance", 1, "--pages", 20, "--repeats", 2, "--processes", 1, "-o", tmp_path)
    done = lycosa("compare", "--world", world, "--topics", "Animals/*", *options)
    assert done.returncode == 0, done.stderr
    for name in (*names.split(","), "random", "look-ahead", "oracle"):
        assert name in done.stdout
    page = (tmp_path / "index.html").read_text()
    assert "best-first-1" in page
    assert "<script" not in page
    rows = duckdb.sql(
        f"select count(*), count(distinct strategy), max(repeat) from '{tmp_path}/results.parquet'"
    ).fetchall()
    assert rows == [(6 * 2 * 2 * 20, 6, 1)]
    assert list(tmp_path.glob("*.png"))


def test_the_judge_of_a_crawl_guides_the_hunter_before_all_others(world: Path, tmp_path: Path) -> None:
    options = ("--judge", "contrast", "--repeats", 2, "--processes", 1, "-o", tmp_path)
    done = compare("--world", world, "--topics", "Animals/Birds", *options)
    assert done.exit_code == 0, done.output
    assert "after 500 pages" in done.stdout
    assert "seeds: 5 pages of the topic, which are not graded" in done.stdout
    assert "judge: contrast, which learns from the topic's keywords and the seeds, threshold 0.5" in done.stdout
    names = ["hunter", "best-first-1", "best-first-256", "shark-1", "infospiders", "breadth-first"]
    rows = re.findall(r"^([\w-]+) +\d", done.stdout, re.MULTILINE)
    assert rows == [*names, "random", "look-ahead", "oracle"]
    assert "no limit" in (tmp_path / "index.html").read_text()
    (least,) = duckdb.sql(
        f"select min(relevant) from '{tmp_path}/results.parquet' where pages = 500 and strategy = 'look-ahead'"
    ).fetchall()[0]
    assert least == 25  # five of the topic's 30 pages were given away


def test_given_numbers_replace_the_defaults_of_the_judge(world: Path, tmp_path: Path) -> None:
    options = (
        "-j",
        "contrast",
        "-s",
        "hunter",
        "-d",
        2,
        "--seeds",
        3,
        "-n",
        30,
        "-b",
        64,
        "-r",
        1,
        "-p",
        1,
        "-o",
        tmp_path,
    )
    done = compare("--world", world, "--topics", "Animals/Birds", *options)
    assert done.exit_code == 0, done.output
    assert "after 30 pages" in done.stdout
    assert "seeds: 3 pages 2 links before the targets" in done.stdout
    assert "64 links" in (tmp_path / "index.html").read_text()


def test_topics_are_tasks_of_their_own_or_one_together(world: Path, tmp_path: Path) -> None:
    options = ("-t", "Animals/*", "-s", "hunter", "-j", "contrast", "-n", 20, "-r", 1, "-p", 1, "--no-overlap")
    for name, more in (("apart", ()), ("together", ("--together",))):
        done = compare("-w", world, *options, *more, "-o", tmp_path / name)
        assert done.exit_code == 0, done.output
    topics = {
        name: duckdb.sql(f"select distinct topic from '{tmp_path / name}/results.parquet' order by 1").fetchall()
        for name in ("apart", "together")
    }
    assert topics["apart"] == [("Animals/Birds",), ("Animals/Fish",)]
    assert topics["together"] == [("Animals/* (together)",)]
    assert "1 topic after 20 pages" in done.stdout


def test_a_generated_web_becomes_a_world(tmp_path: Path) -> None:
    done = lycosa("world", "generate", "-o", tmp_path / "made.world", "--pages", 300, "--hosts", 6, "--topics", 3)
    assert done.returncode == 0, done.stderr
    assert json.loads(lycosa("world", "info", tmp_path / "made.world", "--json").stdout)["pages"] >= 300


class TestBadInput:
    """One line that says what, where, and what would be right; exit code 2."""

    def refused(self, *words: object) -> str:
        done = lycosa(*words)
        assert done.returncode == 2, (done.stdout, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("lycosa:")]
        assert len(lines) == 1, done.stderr
        assert "Traceback" not in done.stderr
        return lines[0]

    def test_an_empty_warc(self, tmp_path: Path) -> None:
        empty = tmp_path / "empty.warc.gz"
        empty.write_bytes(b"")
        assert "empty.warc.gz" in self.refused("world", "build", empty, "-o", tmp_path / "x.world")

    def test_a_damaged_warc(self, tmp_path: Path) -> None:
        damaged = tmp_path / "damaged.warc.gz"
        damaged.write_bytes(gzip.compress(b"WARC/1.1\r\nWARC-Type: resp")[:-9])
        assert "damaged.warc.gz" in self.refused("world", "build", damaged, "-o", tmp_path / "x.world")
        assert not (tmp_path / "x.world").exists()

    def test_labels_that_are_not_there(self, recorded: Path, tmp_path: Path) -> None:
        warc = next(recorded.glob("*.warc.gz"))
        words = ("world", "build", warc, "--labels", tmp_path / "none.tsv", "-o", tmp_path / "x.world")
        assert "none.tsv" in self.refused(*words)

    def test_a_file_that_is_no_world(self, tmp_path: Path) -> None:
        (tmp_path / "x.world").write_text("hello")
        assert "x.world" in self.refused("world", "info", tmp_path / "x.world")

    def test_a_misspelt_strategy(self, world: Path) -> None:
        told = self.refused("compare", "--world", world, "--strategies", "best-frist", "--processes", 1)
        assert "did you mean 'best-first'" in told

    def test_a_misspelt_topic(self, world: Path) -> None:
        assert "Animals/Birds" in self.refused("compare", "--world", world, "--topics", "Animals/Brids")

    def test_no_topic_is_large_enough(self, world: Path) -> None:
        assert "1000 pages" in self.refused("compare", "--world", world, "--smallest", 1000)

    def test_a_constant_that_is_none(self, world: Path) -> None:
        told = self.refused("compare", "--world", world, "--strategies", "shark", "--set", "shark.dept=2", "-p", 1)
        assert "shark.depth" in told

    def test_numbers_out_of_range(self, world: Path) -> None:
        assert "pages is 0" in self.refused("compare", "--world", world, "--pages", 0)
