from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.lab.evolve.checkpoint import (
    Checkpoint,
    EvolutionState,
    Generation,
    evolved_under,
    rows_of_history,
    winner_of,
    write_strategy,
)
from lycosa.lab.evolve.encoding import Encoding
from lycosa.lib.evolve import GeneticSettings, Population, evolve, genome_of
from lycosa.strategies.papers.evolved import GA2003, EvolvedSettings
from lycosa.strategies.table import strategy

SETTINGS = GeneticSettings(population=6, generations=4)
COMMAND = {"world": "wiki.world", "topics": ("birds",), "pages": 100}


def ones(genome: str) -> float:
    return genome.count("1") / len(genome)


@pytest.fixture
def state() -> EvolutionState:
    populations = list(evolve(ones, SETTINGS, rng=np.random.default_rng(1)))[:3]
    return EvolutionState(populations[-1], tuple(map(Generation.of, populations)))


@pytest.fixture
def checkpoint(tmp_path: Path, state: EvolutionState) -> Checkpoint:
    made = Checkpoint(tmp_path / "evolved", COMMAND, SETTINGS)
    made.save(state)
    return made


def test_what_was_saved_is_found_again(checkpoint, state):
    assert checkpoint.load() == state
    assert [path.name for path in checkpoint.directory.iterdir()] == ["population.json"]


def test_to_go_on_gives_what_would_have_come_without_a_break(checkpoint, state):
    whole = list(evolve(ones, SETTINGS, rng=np.random.default_rng(1)))
    rest = list(evolve(ones, SETTINGS, rng=np.random.default_rng(99), start=checkpoint.load().population))
    assert rest == whole[3:]


def test_nothing_was_saved(tmp_path):
    assert Checkpoint(tmp_path, COMMAND, SETTINGS).load() is None


def test_another_command_is_refused_with_the_reason(checkpoint):
    with pytest.raises(ConfigError, match=r"begun by another command: pages was 100, now it is 200; choose another"):
        Checkpoint(checkpoint.directory, COMMAND | {"pages": 200}, SETTINGS).load()
    with pytest.raises(ConfigError, match="judge was None, now it is 'svm'"):
        Checkpoint(checkpoint.directory, COMMAND | {"judge": "svm"}, SETTINGS).load()


def test_an_option_that_the_checkpoint_does_not_have_is_another_command(checkpoint, state):
    with pytest.raises(ConfigError, match="together was None, now it is False"):
        Checkpoint(checkpoint.directory, COMMAND | {"together": False}, SETTINGS).load()


def damage(path: Path, change: object) -> None:
    data = json.loads(path.read_text())
    path.write_text(json.dumps(change(data)))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: [], "it needs format, command, population and history"),
        (lambda data: data | {"more": 1}, "it needs format"),
        (lambda data: data | {"format": 99}, "another version"),
        (lambda data: data | {"command": 3}, "its command is not a table"),
        (lambda data: data | {"population": {}}, "needs generation, genomes"),
        (lambda data: data | {"population": data["population"] | {"fitness": [1]}}, "individuals"),
        (lambda data: data | {"history": data["history"][:-1]}, "history does not fit"),
        (lambda data: data | {"history": None}, "history does not fit"),
        (lambda data: data | {"history": [[0, 1, 1, 1, "x"]] * 3}, "history does not fit"),
    ],
)
def test_damage_is_told_with_the_file_and_what_to_do(checkpoint, change, told):
    damage(checkpoint.path, change)
    with pytest.raises(InputError, match=told) as caught:
        checkpoint.load()
    assert "population.json" in str(caught.value)
    assert "choose another directory" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000])
def test_what_is_not_json(checkpoint, content):
    checkpoint.path.write_bytes(content)
    with pytest.raises(InputError, match="this checkpoint is damaged: it cannot be read"):
        checkpoint.load()


def test_a_directory_that_cannot_be_written(tmp_path, state):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        Checkpoint(tmp_path / "file" / "evolved", COMMAND, SETTINGS).save(state)


class TestWinners:
    def test_a_strategy_goes_into_a_file_and_comes_back(self, tmp_path):
        path = tmp_path / "best.toml"
        genome = genome_of([127, 0, 3, 4, 5, 6, 7, 8, 9], 7)
        settings = Encoding().settings(genome)
        write_strategy(path, settings, {"world": "wiki.world"})
        assert winner_of(path, Encoding()) == genome
        made = strategy(str(path))
        assert made.name == "evolved"
        assert made._weights == settings.weights().tolist()
        assert "middle" not in path.read_text()

    def test_also_with_phases(self, tmp_path):
        path, encoding = tmp_path / "best.toml", Encoding(phases=3, pages=128)
        genome = genome_of([127, *range(8), 30, *range(8), 127, 60, 127, *range(8)], 7)
        write_strategy(path, encoding.settings(genome), {})
        constants = tomllib.loads(path.read_text())["constants"]
        assert (constants["evolved.middle_from"], constants["evolved.late_from"]) == (31, 61)
        assert winner_of(path, encoding) == genome
        made = strategy(str(path))
        assert made._phases == [
            (31, encoding.settings(genome).weights(1).tolist()),
            (61, encoding.settings(genome).weights(2).tolist()),
        ]
        with pytest.raises(ConfigError, match=r"best\.toml: a strategy of 3 phases cannot be evolved further in 1"):
            winner_of(path, Encoding())

    def test_the_papers_weights_as_a_start(self, tmp_path):
        write_strategy(tmp_path / "best.toml", EvolvedSettings(**GA2003), {})
        assert winner_of(tmp_path / "best.toml", Encoding()) == Encoding().genome(EvolvedSettings())

    def test_the_judge_it_was_evolved_under(self, tmp_path):
        path = tmp_path / "best.toml"
        write_strategy(path, EvolvedSettings(), {"judge": "svm"})
        assert evolved_under(str(path)) == evolved_under(f"hard+{path}") == "svm"
        assert evolved_under("best-first") is None
        for unknown in ('strategy = "shark"', 'strategy = "shark"\norigin = 3', 'strategy = "shark"\norigin.judge = 3'):
            path.write_text(unknown)
            assert evolved_under(str(path)) is None
        with pytest.raises(ConfigError, match="cannot be read"):
            evolved_under("none.toml")

    def test_another_strategy_cannot_be_evolved(self, tmp_path):
        (tmp_path / "shark.toml").write_text('strategy = "shark"')
        with pytest.raises(InputError, match=r"shark\.toml: its strategy is 'shark'"):
            winner_of(tmp_path / "shark.toml", Encoding())


def test_the_history_as_a_table(state):
    dead = Generation.of(Population(3, ("0" * 63,), (0.0,), {}))
    rows = rows_of_history([*state.history, dead], Encoding())
    assert [row["generation"] for row in rows] == [0, 1, 2, 3]
    assert rows[2]["best"] == max(state.population.fitness)
    assert sum(rows[0][name] for name in GA2003) == pytest.approx(1)
    assert rows[3]["hub"] == 0
