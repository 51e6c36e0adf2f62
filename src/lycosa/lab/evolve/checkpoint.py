"""The directory of an evolution.

population.json   the population after the last generation, the random state, the history: enough to continue
best.toml         the fittest strategy: lycosa crawl … --strategy best.toml
history.parquet   fitness and best weights of every generation
fitness.png .svg  best and mean fitness by generation
weights.png .svg  the weights of the fittest strategy

population.json is replaced atomically. It names the command that wrote it: the same command continues from it, also
with more generations; another command is refused.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomli_w

from lycosa.errors import ConfigError, InputError
from lycosa.lab.evolve.encoding import Encoding
from lycosa.lib.evolve import GeneticSettings, Genome, Population, is_genome
from lycosa.strategies.papers.evolved import PHASES, EvolvedSettings
from lycosa.strategies.table import RULES, from_file

FORMAT = 2
"""Of the file; another format means another way of breeding, too."""
FAMILY = "evolved"


@dataclass(frozen=True, slots=True)
class Generation:
    number: int
    best: float
    mean: float
    worst: float
    genome: Genome
    """Of the fittest strategy."""

    @classmethod
    def of(cls, population: Population) -> Generation:
        fitness = population.fitness
        return cls(population.generation, fitness[0], population.mean, fitness[-1], population.best)


@dataclass(frozen=True, slots=True)
class EvolutionState:
    """How far an evolution has got."""

    population: Population
    history: tuple[Generation, ...]


class Checkpoint:
    """The checkpoint in a directory. `command` has the options that must not change, by name."""

    def __init__(self, directory: Path, command: Mapping[str, Any], settings: GeneticSettings) -> None:
        self.directory = directory
        self.path = directory / "population.json"
        self._command = json.loads(json.dumps(command))
        self._settings = settings

    def load(self) -> EvolutionState | None:
        """What an earlier run of the same command saved; None if there was none."""
        try:
            data = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{self.path}: {_damaged(f'it cannot be read: {error}')}") from error
        if not isinstance(data, dict) or set(data) != {"format", "command", "population", "history"}:
            raise InputError(f"{self.path}: {_damaged('it needs format, command, population and history')}")
        if data["format"] != FORMAT:
            raise InputError(f"{self.path}: written by another version of Lycosa; choose another directory with -o")
        self._check_command(data["command"])
        try:
            population = Population.from_data(data["population"], self._settings)
        except InputError as error:
            raise InputError(f"{self.path}: {_damaged(str(error))}") from error
        return EvolutionState(population, self._history(data["history"], population))

    @property
    def origin(self) -> dict[str, Any]:
        """How a strategy came about, for its file."""
        return {name: value for name, value in self._command.items() if value not in ("", [])}

    def save(self, state: EvolutionState) -> None:
        data = {
            "format": FORMAT,
            "command": self._command,
            "population": state.population.to_data(),
            "history": [list(asdict(generation).values()) for generation in state.history],
        }
        write_whole(self.path, json.dumps(data))

    def _check_command(self, other: object) -> None:
        if not isinstance(other, dict):
            raise InputError(f"{self.path}: {_damaged('its command is not a table')}")
        for name in dict.fromkeys([*self._command, *other]):
            was, now = other.get(name), self._command.get(name)
            if was != now:
                raise ConfigError(
                    f"{self.directory}: holds an evolution begun by another command: {name} was {was!r}, now it is "
                    f"{now!r}; choose another directory with -o"
                )

    def _history(self, rows: object, population: Population) -> tuple[Generation, ...]:
        length = self._settings.length
        is_whole = isinstance(rows, list) and all(
            isinstance(row, list)
            and len(row) == 5
            and row[0] == number
            and all(isinstance(value, int | float) for value in row[:4])
            and is_genome(row[4], length)
            for number, row in enumerate(rows)
        )
        if not is_whole or len(rows) != population.generation + 1:  # type: ignore[arg-type] # it is a list here
            raise InputError(f"{self.path}: {_damaged('its history does not fit the population')}")
        return tuple(Generation(*row) for row in rows)  # type: ignore[attr-defined] # as above


def write_whole(path: Path, text: str) -> None:
    """Replace a file atomically."""
    draft = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written: {error.strerror or error}; choose a directory you can write to with -o"
        ) from error


def write_strategy(path: Path, settings: EvolvedSettings, origin: Mapping[str, Any]) -> None:
    """Write a strategy file with all weights of its phases, as 0 is not their default. `origin` is for people."""
    unused = tuple(f"{phase}_" for phase in PHASES[settings.phases :])
    weights = {f"{FAMILY}.{name}": value for name, value in asdict(settings).items() if not name.startswith(unused)}
    write_whole(path, tomli_w.dumps({"strategy": FAMILY, "constants": weights, "origin": dict(origin)}))


def winner_of(path: Path, encoding: Encoding) -> Genome:
    """The genome nearest to the strategy in a file."""
    name, constants = from_file(str(path))
    if name != FAMILY:
        raise InputError(f"{path}: its strategy is {name!r}: only {FAMILY!r} can be evolved further")
    own: dict[str, Any] = {key.partition(".")[2]: value for key, value in constants.items()}
    try:
        return encoding.genome(EvolvedSettings(**own))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def evolved_under(strategy: str) -> str | None:
    """The judge a strategy was evolved under, if it is a file that names one; a rule of focus may precede it."""
    from_file(strategy)  # reports what is wrong with the file
    rule, plus, inner = strategy.partition("+")
    if plus and rule in RULES:
        return evolved_under(inner)
    if not strategy.endswith(".toml"):
        return None
    origin = tomllib.loads(Path(strategy).read_text(encoding="utf-8")).get("origin")
    judge = origin.get("judge") if isinstance(origin, dict) else None
    return judge if isinstance(judge, str) else None


def rows_of_history(history: Sequence[Generation], encoding: Encoding) -> list[dict[str, Any]]:
    """Rows of a table: fitness, and the weights of the fittest strategy, their sum 1."""
    return [
        {"generation": each.number, "best": each.best, "mean": each.mean, "worst": each.worst}
        | encoding.shares(encoding.settings(each.genome))
        for each in history
    ]


def _damaged(how: str) -> str:
    return f"this checkpoint is damaged: {how}; remove the file to start over, or choose another directory with -o"
