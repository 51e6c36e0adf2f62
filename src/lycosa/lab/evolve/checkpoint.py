"""An evolution lives in a directory: what it has reached so far, and what came of it.

population.json   the population after the last generation, the random numbers, the history: enough to go on
best.toml         the fittest strategy: lycosa crawl … --strategy best.toml
history.parquet   fitness and best weights of every generation
fitness.png .svg  best and mean fitness by generation
weights.png .svg  the weights of the fittest strategy

population.json is replaced whole or not at all. It tells which command it belongs to: the same command goes on from
it, also with more generations; another one is refused.
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
from lycosa.lab.evolve.encoding import Spelling
from lycosa.lib.evolve import GeneticSettings, Genome, Population, is_genome
from lycosa.strategies.papers.evolved import PHASES, EvolvedSettings
from lycosa.strategies.table import RULES, from_file

FORMAT = 1
FAMILY = "evolved"


@dataclass(frozen=True, slots=True)
class Generation:
    """One line of the history."""

    number: int
    best: float
    mean: float
    worst: float
    genome: Genome
    """The fittest."""

    @classmethod
    def of(cls, population: Population) -> Generation:
        fitness = population.fitness
        return cls(population.generation, fitness[0], population.mean, fitness[-1], population.best)


@dataclass(frozen=True, slots=True)
class Reached:
    """How far an evolution has come."""

    population: Population
    history: tuple[Generation, ...]


class Kept:
    """The checkpoint in a directory. `command` is what must be the same for going on, by the names of the options."""

    def __init__(self, directory: Path, command: Mapping[str, Any], settings: GeneticSettings) -> None:
        self.directory = directory
        self.path = directory / "population.json"
        self._command = json.loads(json.dumps(command))
        self._settings = settings

    def load(self) -> Reached | None:
        """What an earlier run with the same command reached; None: there was none."""
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
        return Reached(population, self._history(data["history"], population))

    @property
    def origin(self) -> dict[str, Any]:
        """Where a strategy comes from."""
        return {name: value for name, value in self._command.items() if value not in ("", [])}

    def save(self, reached: Reached) -> None:
        data = {
            "format": FORMAT,
            "command": self._command,
            "population": reached.population.to_data(),
            "history": [list(asdict(generation).values()) for generation in reached.history],
        }
        write_whole(self.path, json.dumps(data))

    def _check_command(self, other: object) -> None:
        if not isinstance(other, dict):
            raise InputError(f"{self.path}: {_damaged('its command is no table')}")
        for name in dict.fromkeys([*self._command, *other]):
            was, now = other.get(name), self._command.get(name)
            if was != now:
                raise ConfigError(
                    f"{self.directory}: holds an evolution that was begun by another command: {name} was {was!r}, now "
                    f"it is {now!r}; choose another directory with -o"
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
    """Replace a file, or leave it as it was."""
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
    """A strategy as a file, with all the weights of its phases: 0 is not their default. `origin` is for people."""
    unused = tuple(f"{phase}_" for phase in PHASES[settings.phases :])
    weights = {f"{FAMILY}.{name}": value for name, value in asdict(settings).items() if not name.startswith(unused)}
    write_whole(path, tomli_w.dumps({"strategy": FAMILY, "constants": weights, "origin": dict(origin)}))


def winner_of(path: Path, spelling: Spelling) -> Genome:
    """The genome nearest to the strategy in a file."""
    name, constants = from_file(str(path))
    if name != FAMILY:
        raise InputError(f"{path}: its strategy is {name!r}: only {FAMILY!r} can be evolved further")
    own: dict[str, Any] = {key.partition(".")[2]: value for key, value in constants.items()}
    try:
        return spelling.genome(EvolvedSettings(**own))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def judge_of(strategy: str) -> str | None:
    """The judge under which a strategy was evolved, if it is a file that tells; a rule of focus may stand before it."""
    from_file(strategy)  # tells what is wrong with the file
    rule, plus, inner = strategy.partition("+")
    if plus and rule in RULES:
        return judge_of(inner)
    if not strategy.endswith(".toml"):
        return None
    origin = tomllib.loads(Path(strategy).read_text(encoding="utf-8")).get("origin")
    judge = origin.get("judge") if isinstance(origin, dict) else None
    return judge if isinstance(judge, str) else None


def rows_of_history(history: Sequence[Generation], spelling: Spelling) -> list[dict[str, Any]]:
    """For a table: fitness, and the weights of the fittest with the sum 1."""
    return [
        {"generation": each.number, "best": each.best, "mean": each.mean, "worst": each.worst}
        | spelling.shares(spelling.settings(each.genome))
        for each in history
    ]


def _damaged(how: str) -> str:
    return f"this checkpoint is damaged: {how}; remove the file to begin again, or choose another directory with -o"
