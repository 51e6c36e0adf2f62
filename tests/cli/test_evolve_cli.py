"""lycosa evolve, and what it writes, as a person uses it."""

from __future__ import annotations

import json
import shlex
import shutil
import tomllib
from importlib import import_module
from pathlib import Path

import duckdb
import pytest
import typer
from typer.testing import CliRunner, Result

from lycosa.engine import Crawl
from lycosa.errors import ConfigError, InputError, LycosaError
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.results.report import Report
from lycosa.strategies.table import strategy

# The package has commands under the names of their modules.
command, comparing, crawling = (import_module(f"lycosa.cli.{name}") for name in ("evolve", "compare", "crawl"))
app = typer.Typer()
app.command()(command.evolve)
app.command()(comparing.compare)
app.command()(crawling.crawl)
SMALL = ("--pages", 60, "--population", 6, "--runs", 2, "--seeds", 4, "--examples", 10)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("evolve") / "made.world"
    web = GeneratedWeb(WebPlan(seed=4, pages=250, hosts=8, topics=3, out_degree=10))
    build_generated(web, target, is_rendered=True, readers=0)
    return target


def lycosa(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def evolve(world: Path, *more: object, generations: int = 2, processes: int = 1) -> Result:
    topic = World.open(world).topics[0]
    options = ("--world", world, "--topic", topic, *SMALL, "--generations", generations, "-p", processes)
    return lycosa("evolve", *options, *more)


@pytest.fixture(scope="module")
def evolved(world, tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("evolved") / "out"
    done = evolve(world, "-o", directory)
    assert done.exit_code == 0, done.output
    assert "generation 2 of 2: best 0." in done.output
    assert "comm_out" in done.output
    (winner,) = (line for line in done.output.splitlines() if line.startswith("winner ("))
    assert len(winner.split()) == 5  # bred on, chosen by, held out
    assert any(line.startswith("ga2003 ") for line in done.output.splitlines())
    assert "held out: 10 crawls from seeds that nothing was chosen by" in done.output
    said = done.output.partition("strategy:")[0]
    assert max(map(len, said.splitlines())) <= 80
    (directory.parent / "said").write_text(done.output)
    return directory


def test_what_is_written(evolved, world):
    names = {"population.json", "best.toml", "history.parquet"}
    assert {path.name for path in evolved.iterdir()} == names | {
        f"{name}.{form}" for name in ("fitness", "weights") for form in ("png", "svg")
    }
    best = tomllib.loads((evolved / "best.toml").read_text())
    assert best["strategy"] == "evolved"
    assert best["origin"]["world"] == "made.world"
    rows = duckdb.sql(f"select generation, best, mean, hub + parent_1 from '{evolved}/history.parquet'").fetchall()
    assert [row[0] for row in rows] == [0, 1, 2]
    assert rows[-1][1] >= best["origin"]["value"] > 0
    assert rows[-1][1] >= rows[0][1] > 0
    assert 0 < best["origin"]["held_out"] < 1
    assert best["origin"]["winner"] in ("evolved", "best-first", "ga2003")
    assert strategy(str(evolved / "best.toml")).name == "evolved"


def test_the_same_command_with_more_generations_goes_on_as_if_there_had_been_no_break(evolved, world, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    shutil.copytree(evolved, broken)
    done = evolve(world, "-o", broken, generations=4)
    assert "generation 3 of 4" in done.output
    assert "generation 2 of 4" not in done.output
    assert evolve(world, "-o", whole, generations=4).exit_code == 0
    assert (broken / "population.json").read_bytes() == (whole / "population.json").read_bytes()


def test_what_it_says_to_do_next_can_be_done(evolved, tmp_path):
    said = (evolved.parent / "said").read_text()
    (line,) = (line for line in said.splitlines() if line.startswith("next: "))
    words = shlex.split(line.removeprefix("next: "))
    assert words[:2] == ["lycosa", "compare"]
    assert str(evolved / "best.toml") in words[words.index("--strategies") + 1]
    done = lycosa(*words[1:], "-p", 1, "--no-overlap", "--pages", 30, "--repeats", 1)  # as it stands, but shorter
    assert done.exit_code == 0, done.output
    assert (evolved / "report" / "index.html").exists()
    shutil.rmtree(evolved / "report")


def test_rivals_stand_beside_it(world, tmp_path):
    done = evolve(world, "--rivals", "-o", tmp_path / "out", generations=1)
    assert done.exit_code == 0, done.output
    for name in ("random search", "CMA-ES"):
        assert f"{name}: 12 strategies" in done.output
        assert any(line.startswith(f"{name}  ") and line.count("0.") == 3 for line in done.output.splitlines())


def test_known_strategies_are_in_the_first_generation(evolved, world):
    kept = json.loads((evolved / "population.json").read_text())
    fitness = kept["history"][0]
    best_first = tomllib.loads((evolved / "best.toml").read_text())["origin"]
    assert fitness[1] >= best_first["value"] or best_first["winner"] == "evolved"
    assert len(set(kept["population"]["genomes"])) == 6


def test_fewer_generations_of_parents(world, tmp_path):
    done = evolve(world, "--parents", 2, "-o", tmp_path / "out", generations=0)
    assert done.exit_code == 0, done.output
    weights = tomllib.loads((tmp_path / "out" / "best.toml").read_text())["constants"]
    assert [weights[f"evolved.parent_{k}"] for k in (3, 4, 5)] == [0, 0, 0]
    assert "parent_3" not in done.output


def test_ctrl_c_keeps_the_population(evolved, world, tmp_path, monkeypatch):
    evaluate, calls = command.MeanFitness.__call__, []

    def interrupted(fitness: object, genome: str) -> float:
        calls.append(genome)
        if len(calls) == 9:  # in the second generation
            raise KeyboardInterrupt
        return evaluate(fitness, genome)

    monkeypatch.setattr(command.MeanFitness, "__call__", interrupted)
    done = evolve(world, "-o", tmp_path / "out")
    assert done.exit_code == 130
    assert "the same command continues" in done.output
    kept = json.loads((tmp_path / "out" / "population.json").read_text())
    assert kept["population"]["generation"] == 0
    assert (tmp_path / "out" / "best.toml").exists()
    assert evolve(world, "-o", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "population.json").read_bytes() == (evolved / "population.json").read_bytes()


def test_two_processes_give_the_same_as_one(evolved, world, tmp_path):
    done = evolve(world, "-o", tmp_path / "out", processes=2)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "population.json").read_bytes() == (evolved / "population.json").read_bytes()


def test_a_population_may_begin_with_earlier_winners(evolved, world, tmp_path):
    best = evolved / "best.toml"
    done = evolve(world, "--from", best, "-o", tmp_path / "out", generations=0)
    assert done.exit_code == 0, done.output
    earlier = tomllib.loads(best.read_text())["origin"]["value"]
    first = tomllib.loads((tmp_path / "out" / "best.toml").read_text())["origin"]["value"]
    assert first >= earlier - 0.02  # the nearest genome is not quite the same


def test_anchors_and_hosts_can_be_evolved_too(world, tmp_path):
    done = evolve(world, "--scores", "all", "--fitness", "sites", "-o", tmp_path / "out", generations=1)
    assert done.exit_code == 0, done.output
    rows = duckdb.sql(f"select anchor, host from '{tmp_path}/out/history.parquet'").fetchall()
    assert len(rows) == 2
    genomes = json.loads((tmp_path / "out" / "population.json").read_text())["population"]["genomes"]
    assert {len(genome) for genome in genomes} == {11 * 7}
    assert any("1" in genome[9 * 7 :] for genome in genomes)
    assert "anchor" in done.output
    assert strategy(str(tmp_path / "out" / "best.toml")).name == "evolved"


def test_phases_can_be_evolved(world, tmp_path):
    done = evolve(world, "--phases", 3, "-o", tmp_path / "out", generations=1)
    assert done.exit_code == 0, done.output
    best = tomllib.loads((tmp_path / "out" / "best.toml").read_text())
    assert best["origin"]["phases"] == 3
    (row,) = duckdb.sql(
        f"select middle_from, late_from, late_hub from '{tmp_path}/out/history.parquet' where generation = 1"
    ).fetchall()
    assert 1 <= row[0] <= row[1] <= 60
    if best["origin"]["winner"] == "evolved":  # a known strategy has one phase
        middle, late = (best["constants"][f"evolved.{phase}_from"] for phase in ("middle", "late"))
        (line,) = (line for line in done.output.splitlines() if line.startswith("from page"))
        assert line.split() == ["from", "page", "0", str(middle), str(late)]
    assert strategy(str(tmp_path / "out" / "best.toml")).name == "evolved"


def test_each_topic_of_a_pattern_is_a_task_unless_they_are_taken_together(world, tmp_path):
    names = World.open(world).topics[:2]
    topics = ("-t", names[0], "-t", names[1])
    values = {}
    for name, words in {
        "first": topics[:2], "second": topics[2:], "both": topics, "together": (*topics, "--together")
    }.items():  # fmt: skip
        directory = tmp_path / name
        done = lycosa("evolve", "-w", world, *words, *SMALL, "--generations", 0, "-p", 1, "-o", directory)
        assert done.exit_code == 0, done.output
        assert ("held out: 2 topics × 10 crawls" in done.output) is (name == "both")
        origin = tomllib.loads((directory / "best.toml").read_text())["origin"]
        assert origin["together"] is (name != "both")
        genomes = json.loads((directory / "population.json").read_text())["population"]
        values[name] = dict(zip(genomes["genomes"], genomes["fitness"], strict=True))
    # The first generation is the same random one.
    for genome, value in values["both"].items():
        assert value == pytest.approx((values["first"][genome] + values["second"][genome]) / 2)
    assert values["both"] != values["together"]

    words = (*SMALL, "--generations", 0, "-p", 1, "-o")
    refused = lycosa("evolve", "-w", world, *topics, *words, tmp_path / "together")
    assert "together was True, now it is False" in str(refused.exception)
    refused = lycosa("evolve", "-w", world, *topics, "--together", *words, tmp_path / "both")
    assert "together was False, now it is True" in str(refused.exception)


def test_two_topics_in_two_processes_give_the_same_as_in_one(world, tmp_path):
    words = ("-w", world, "-t", "*", *SMALL, "--generations", 1, "-o")
    for count in (1, 2):
        assert lycosa("evolve", *words, tmp_path / str(count), "-p", count).exit_code == 0
    first, second = ((tmp_path / name / "population.json").read_bytes() for name in ("1", "2"))
    assert first == second


def test_topics_that_are_too_small_are_skipped(world, tmp_path, monkeypatch):
    small, whole = World.open(world).topics[:2]
    pages_of = World.pages_of
    monkeypatch.setattr(
        World, "pages_of", lambda self, *topics: pages_of(self, *topics)[: 3 if small in topics else None]
    )
    words = ("-w", world, *SMALL, "--generations", 0, "-p", 1, "-o")
    done = lycosa("evolve", "-t", small, "-t", whole, *words, tmp_path / "both")
    assert done.exit_code == 0, done.output
    assert f"skipped: {small}: 3 of " in done.output
    assert "held out: 10 crawls" in done.output
    done = lycosa("evolve", "-t", small, *words, tmp_path / "alone")
    assert isinstance(done.exception, InputError)


def test_a_comparison_under_another_judge_is_warned_of(evolved, world, monkeypatch):
    def enough(*_: object, **__: object) -> None:
        raise InputError("enough")

    monkeypatch.setattr(comparing, "compare_in_parallel", enough)
    strategy = f"hard+{evolved / 'best.toml'}"
    words = ("compare", "-w", world, "-s", f"best-first,{strategy}")
    warned = lycosa(*words)
    (line,) = (line for line in warned.stderr.splitlines() if "warning" in line)
    assert f"{strategy} was evolved under the judge svm, but keywords is used here" in line
    assert "warning" not in warned.stdout
    same = lycosa(*words, "--judge", "svm")
    assert str(same.exception) == "enough"
    assert "warning" not in same.output


def test_a_comparison_takes_the_file_as_a_strategy(evolved, world, tmp_path):
    best = evolved / "best.toml"
    topic = World.open(world).topics[1]
    options = ("--distance", 1, "--pages", 30, "--repeats", 1, "-p", 1, "--no-overlap", "-o", tmp_path)
    done = lycosa("compare", "-w", world, "-t", topic, "-s", f"best-first,ga2003,{best}", *options)
    assert done.exit_code == 0, done.output
    names = duckdb.sql(f"select distinct strategy from '{tmp_path}/results.parquet'").fetchall()
    assert (str(best),) in names


def test_a_crawl_takes_the_file_over(evolved, tmp_path, monkeypatch):
    best = tmp_path / "best.toml"
    shutil.copy(evolved / "best.toml", best)
    started = []
    monkeypatch.setattr(
        Crawl, "run", lambda crawl, **_: started.append(crawl.config) or Report(tmp_path, "done", 0, 0, 0)
    )
    monkeypatch.setattr(crawling, "summary", lambda *_, **__: None)
    monkeypatch.setattr(crawling, "_check_any_page", lambda *_: None)
    words = ("crawl", "cycling", "-s", "http://a.test/", "-o", tmp_path / "crawl", "--strategy", f"hard+{best}")
    assert lycosa(*words).exit_code == 0
    weights = tomllib.loads(best.read_text())["constants"]
    assert started[0].strategy == "hard+evolved"
    assert started[0].constants == weights
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "lycosa.toml").write_text(started[0].to_toml())
    best.unlink()
    assert lycosa("crawl", "-o", tmp_path / "crawl").exit_code == 0
    assert started[1] == started[0]


class TestRefused:
    def refused(self, kind: type[LycosaError], done: Result) -> str:
        assert isinstance(done.exception, kind), (done.exception, done.output)
        return str(done.exception)

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("--population", 1), "population is 1: it must be 2 or more"),
            (("--crossover", 1.5), "crossover_probability is 1.5: it must be 1 or less"),
            (("--mutation", -0.5), "mutation_probability is -0.5"),
            (("--pages", 5_000), "made.world has"),
            (("--generations", -1), "generations is -1"),
            (("--phases", 4), "phases is 4: there are at most 3"),
        ],
    )
    def test_impossible_parameters(self, world, tmp_path, words, told):
        assert told in self.refused(ConfigError, evolve(world, *words, "-o", tmp_path / "out"))
        assert not (tmp_path / "out").exists()

    def test_a_topic_that_is_none(self, world, tmp_path):
        done = lycosa("evolve", "-w", world, "-t", "Nothing/*", "-o", tmp_path / "out")
        assert "no topic of made.world matches 'Nothing/*'" in self.refused(InputError, done)

    def test_a_world_without_labels(self, world, tmp_path, monkeypatch):
        opened = World.open(world)
        opened.topics.clear()
        monkeypatch.setattr(World, "open", lambda path: opened)
        done = lycosa("evolve", "-w", world, "-t", "Any", "-o", tmp_path / "out")
        assert "it was built without labels" in self.refused(InputError, done)

    def test_a_damaged_checkpoint(self, evolved, world, tmp_path):
        shutil.copytree(evolved, tmp_path / "out")
        whole = (tmp_path / "out" / "population.json").read_bytes()
        (tmp_path / "out" / "population.json").write_bytes(whole[: len(whole) // 2])
        assert "this checkpoint is damaged" in self.refused(InputError, evolve(world, "-o", tmp_path / "out"))

    def test_another_command_in_the_same_directory(self, evolved, world):
        told = self.refused(ConfigError, evolve(world, "--seed", 2, "-o", evolved))
        assert "seed was 1, now it is 2; choose another directory with -o" in told

    def test_processes_below_zero(self, world, tmp_path):
        assert "--processes -1" in self.refused(InputError, evolve(world, "-o", tmp_path / "out", processes=-1))

    def test_a_winner_that_is_none(self, world, tmp_path):
        done = evolve(world, "--from", tmp_path / "none.toml", "-o", tmp_path / "out")
        assert "none.toml: the file with the strategy cannot be read" in self.refused(ConfigError, done)
