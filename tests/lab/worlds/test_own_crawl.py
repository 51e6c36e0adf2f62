"""A crawl of one's own becomes a world with its judge's verdicts, and a strategy can be evolved on it."""

from __future__ import annotations

import shutil
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import lycosa
from hostile.server import running
from lycosa.errors import InputError, WorkspaceError
from lycosa.fetch.archive_places import pread_of
from lycosa.fetch.warc_reader import member_end
from lycosa.lab.worlds.own_crawl import own_crawl
from lycosa.lab.worlds.world import World

app = typer.Typer()
app.command()(import_module("lycosa.cli.evolve").evolve)
app.add_typer(import_module("lycosa.cli.world").app, name="world")


@pytest.fixture(scope="module")
def crawl(small_web, tmp_path_factory) -> Path:
    """A finished crawl of a generated web."""
    directory = tmp_path_factory.mktemp("own") / "crawl"
    with running(small_web, addresses=len(small_web.hosts)) as server:
        network = {"allow": ["127.0.0.0/8"], "resolve": server.overrides()}
        made = lycosa.Crawl(
            small_web.topic_keywords(0),
            seeds=[server.url(page) for page in (0, 1, 2)],
            directory=directory,
            judge="keywords",
            config={
                "network": network,
                "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
                "readers": {"count": 1},
                "judge": {"threshold": 0.1},
            },
        )
        made.run(pages=100)
    return directory


@pytest.fixture(scope="module")
def world(crawl, tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("own") / "mine.world"
    done = CliRunner().invoke(app, ["world", "build", str(crawl), "-o", str(target), "--readers", "0"])
    assert done.exit_code == 0, done.output
    assert "pages judged by keywords" in done.output
    assert f"next: lycosa evolve --world {target} --by-judge" in done.output.replace("\n", "")
    return target


def test_it_has_what_the_judge_said_of_each_page(crawl, world):
    rows = {row["url"]: row for row in lycosa.Report.of(crawl).rows(text=False)}
    opened = World.open(world)
    assert opened.meta["judge"].startswith("keywords")
    assert len(rows) == int((opened.statuses < 300).sum()) > 50
    for page in np.flatnonzero(opened.statuses < 300).tolist():
        row = rows[opened.url(page)]
        assert opened.judged_relevance[page] == pytest.approx(row["relevance"], abs=1e-6)
        assert bool(opened.judged_relevant[page]) is row["is_relevant"]
    assert 3 < opened.judged_relevant.sum() < len(rows) - 10
    assert not opened.topics


def test_a_strategy_is_evolved_on_it_without_labels(world, tmp_path):
    words = ["--world", world, "--by-judge", "--pages", 40, "--population", 4, "--generations", 1, "--runs", 2, "-p", 1]
    done = CliRunner().invoke(app, ["evolve", *map(str, words), "--seeds", "3", "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    best = tomllib.loads((tmp_path / "out" / "best.toml").read_text())
    assert best["origin"]["by_judge"] is True
    assert best["origin"]["judge"].startswith("keywords")
    assert 0 < best["origin"]["held_out"] <= 1
    assert "next: lycosa crawl" in done.output
    both = CliRunner().invoke(app, ["evolve", *map(str, words), "-t", "x", "-o", str(tmp_path / "out")])
    assert "exclude each other" in str(both.exception)


def test_a_file_of_its_archive_without_a_page(crawl, tmp_path):
    """As a refresh leaves behind that finds nothing changed."""
    copy, target = tmp_path / "copy", tmp_path / "mine.world"
    shutil.copytree(crawl, copy)
    (whole,) = sorted((copy / "archive").glob("*.warc.gz"))
    with whole.open("rb") as file:
        head = file.read(member_end(pread_of(file), 0))
    whole.with_name("lycosa-99999999999999-00009.warc.gz").write_bytes(head)
    done = CliRunner().invoke(app, ["world", "build", str(copy), "-o", str(target), "--readers", "0"])
    assert done.exit_code == 0, done.output
    assert len(World.open(target).statuses) > 50


def test_directories_without_a_crawl_or_an_archive(crawl, tmp_path):
    with pytest.raises(WorkspaceError, match="no crawl here"):
        own_crawl(tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(crawl, copy)
    shutil.rmtree(copy / "archive")
    with pytest.raises(InputError, match="has no archive"):
        own_crawl(copy)
    done = CliRunner().invoke(app, ["world", "build", str(crawl), str(crawl), "-o", str(tmp_path / "w")])
    assert "is a directory: a world is made of WARC files, or of one crawl" in str(done.exception)
