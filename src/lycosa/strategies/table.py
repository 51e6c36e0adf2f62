"""The table of strategies by name, and their constants.

`best-first-16`, `shark-16` and `fish-16` take batches of 16; without a number, one link at a time. The name of a rule
precedes that of the strategy it wraps: `hard+best-first`, `tunnel+ariadne`, `decay-lenient+breadth-first`. A constant
is named after its strategy: `shark.depth`, `infospiders.temperature`; they are the fields of the settings classes.

A name that ends in `.toml` is a file with a strategy and its constants, as written by `lycosa evolve`:

    strategy = "evolved"
    [constants]
    "evolved.hub" = 10
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lycosa.errors import ConfigError
from lycosa.judges.protocol import LearnedTopic
from lycosa.lib.nearest import did_you_mean
from lycosa.lib.plugins import call, entry_point_names, load
from lycosa.strategies.focus import RESETS, Decay, DecaySettings, HardFocus
from lycosa.strategies.hunter.hunter import Hunter, HunterSettings
from lycosa.strategies.papers.ariadne import Ariadne, AriadneSettings
from lycosa.strategies.papers.best_first import BestFirst, BestFirstSettings
from lycosa.strategies.papers.breadth_first import BreadthFirst
from lycosa.strategies.papers.current_list import CurrentList, CurrentListSettings
from lycosa.strategies.papers.evolved import Evolved, EvolvedSettings, Ga2003
from lycosa.strategies.papers.infospiders import InfoSpiders, InfoSpidersSettings
from lycosa.strategies.papers.pagerank import PageRank, PageRankSettings
from lycosa.strategies.papers.random_order import RandomOrder
from lycosa.strategies.papers.shark import Fish, FishSettings, Shark, SharkSettings
from lycosa.strategies.protocol import NoSettings, Strategy, StrategyParts
from lycosa.strategies.tunnelling import Focus, Tunnelling, TunnellingSettings

Setting = float | int | bool
AnyStrategy = str | Strategy | Callable[..., Strategy]
"""A name, a strategy, or a class of somebody's own."""


@dataclass(frozen=True, slots=True)
class Entry:
    family: str
    """First part of the names of its constants."""
    make: Callable[[StrategyParts, Any], Strategy]
    settings: type[Any]
    fixed: Mapping[str, Setting] = field(default_factory=dict)


STRATEGIES: Mapping[str, Entry] = {
    "breadth-first": Entry("breadth-first", BreadthFirst, NoSettings),
    "random": Entry("random", RandomOrder, NoSettings),
    "best-first": Entry("best-first", BestFirst, BestFirstSettings),
    "shark": Entry("shark", Shark, SharkSettings),
    "fish": Entry("fish", Fish, FishSettings),
    "evolved": Entry("evolved", Evolved, EvolvedSettings),
    "ga2003": Entry("evolved", Ga2003, EvolvedSettings, dataclasses.asdict(EvolvedSettings())),
    "hunter": Entry("hunter", Hunter, HunterSettings),
    "ariadne": Entry("ariadne", Ariadne, AriadneSettings),
    "pagerank": Entry("pagerank", PageRank, PageRankSettings),
    "infospiders": Entry("infospiders", InfoSpiders, InfoSpidersSettings),
    "infospiders-no-learning": Entry("infospiders", InfoSpiders, InfoSpidersSettings, {"is_learning": False}),
    "infospiders-no-evolution": Entry("infospiders", InfoSpiders, InfoSpidersSettings, {"is_evolving": False}),
    "infospiders-neither": Entry(
        "infospiders", InfoSpiders, InfoSpidersSettings, {"is_learning": False, "is_evolving": False}
    ),
}


RULES: Mapping[str, tuple[str, type[Any]]] = {
    "hard": ("hard", NoSettings),
    "decay": ("decay", DecaySettings),
    "decay-lenient": ("decay", DecaySettings),
    "decay-average": ("decay", DecaySettings),
    "decay-rigid": ("decay", DecaySettings),
    "tunnel": ("tunnel", TunnellingSettings),
    "current-list": ("current-list", CurrentListSettings),
}
"""Rules that wrap a strategy, with the first part of the names of their constants, and their settings."""
GROUP = "lycosa.strategies"
"""Entry point group of strategies in other packages."""
LARGEST_FILE = 1 << 20
_WITH_BATCH = re.compile(r"(best-first|shark|fish)-([1-9][0-9]{0,5})")


def strategy(
    name: AnyStrategy,
    parts: StrategyParts | None = None,
    settings: Mapping[str, Setting] | None = None,
) -> Strategy:
    """A new strategy, given its name, or the user's own class, function or object.

    It takes its own constants from the settings, which may also contain those of other strategies. Without parts it
    knows no topic, which is enough to check a name or to explain a score.
    """
    parts = parts or StrategyParts()
    if not isinstance(name, str):
        return _checked(call(name, {"parts": parts}) if callable(name) else name, repr(name))
    name, constants = from_file(name)
    settings = {**(settings or {}), **constants}
    rule, plus, inner = name.partition("+")
    if plus:
        return _ruled(rule, inner, parts, settings)
    if name not in STRATEGIES and not _WITH_BATCH.fullmatch(name):
        factory = load(name, group=GROUP)
        if factory is not None:
            _own_settings("", settings)
            return _checked(call(factory, {"parts": parts}), name)
    entry = _entry(name)
    values = {**_own_settings(entry.family, settings), **entry.fixed}
    return entry.make(parts, entry.settings(**values))


def studying_strategy(
    name: AnyStrategy, parts: StrategyParts, settings: Mapping[str, Setting] | None = None
) -> tuple[LearnedTopic | None, Strategy]:
    """A new strategy, with the study of the topic that it began, if it did."""
    begun: list[LearnedTopic] = []
    begin = parts.study

    def study() -> LearnedTopic:
        assert begin is not None
        begun.append(begin())
        return begun[0]

    made = strategy(name, dataclasses.replace(parts, study=study) if begin is not None else parts, settings)
    return begun[0] if begun else None, made


def _checked(made: Strategy, name: str) -> Strategy:
    missing = [
        member for member in ("name", "abilities", "tell", "ask", "save", "restore") if not hasattr(made, member)
    ]
    if missing:
        raise ConfigError(
            f"strategy {name} has no {', '.join(missing)}: let its class inherit from lycosa.Strategy, which has all "
            "but name and tell"
        )
    return made


def from_file(name: str) -> tuple[str, dict[str, Setting]]:
    """Name and constants from a file: `tunnel+best.toml` becomes `tunnel+evolved`. Other names are unchanged."""
    if not name.endswith(".toml"):
        return name, {}
    rule, plus, inner = name.partition("+")
    if plus and rule in RULES:
        inner, constants = from_file(inner)
        return f"{rule}+{inner}", constants
    found = _read(Path(name))
    kept, constants = found.get("strategy"), found.get("constants", {})
    if not isinstance(kept, str) or kept.endswith(".toml") or not isinstance(constants, dict):
        raise ConfigError(f'{name}: a strategy file has strategy = "evolved", and perhaps a table [constants]')
    try:
        strategy(kept, settings=constants)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error
    return kept, constants


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(f"{path}: too large for a file with a strategy")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: the file with the strategy cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def _ruled(rule: str, inner: str, parts: StrategyParts, settings: Mapping[str, Setting]) -> Strategy:
    if rule not in RULES:
        raise ConfigError(
            f"{rule!r} in strategy '{rule}+{inner}' is not a rule: {did_you_mean(rule, RULES)}known are "
            f"{', '.join(RULES)}"
        )
    family, kind = RULES[rule]
    own = kind(**_own_settings(family, settings))
    if rule == "hard":
        return HardFocus(strategy(inner, parts, settings), parts.is_good)
    if family == "decay":
        preset = RESETS.get(rule.removeprefix("decay-"))
        chosen = own if preset is None else dataclasses.replace(own, reset=preset)
        return Decay(strategy(inner, parts, settings), chosen, rule)
    if rule == "current-list":
        return CurrentList(strategy(inner, parts, settings), rng=parts.rng, settings=own)
    focus = Focus(parts.interest)
    if parts.interest is not None and not own.has_narrow_anchors:
        parts = dataclasses.replace(parts, similarity=focus.similarity)
    return Tunnelling(strategy(inner, parts, settings), focus, own)


def constants_of(name: str, settings: Mapping[str, Setting] | None = None) -> dict[str, Setting]:
    """All constants that a strategy of this name has, given or by default, as `family.name`; none of one's own."""
    name, constants = from_file(name)
    settings = {**(settings or {}), **constants}
    rule, plus, inner = name.partition("+")
    if plus and rule in RULES:
        family, kind = RULES[rule]
        own = dataclasses.asdict(kind(**_own_settings(family, settings)))
        return {f"{family}.{key}": value for key, value in own.items()} | constants_of(inner, settings)
    if name not in STRATEGIES and not _WITH_BATCH.fullmatch(name):
        return {}
    entry = _entry(name)
    own = dataclasses.asdict(entry.settings(**{**_own_settings(entry.family, settings), **entry.fixed}))
    return {f"{entry.family}.{key}": value for key, value in own.items()}


def _entry(name: str) -> Entry:
    found = _WITH_BATCH.fullmatch(name)
    if found:
        entry = STRATEGIES[found[1]]
        return dataclasses.replace(entry, fixed={**entry.fixed, "batch": int(found[2])})
    if name not in STRATEGIES:
        raise ConfigError(
            f"strategy {name!r} is not known: {did_you_mean(name, STRATEGIES)}known are "
            f"{', '.join([*STRATEGIES, *entry_point_names(GROUP)])}; best-first, shark and fish also with the size of "
            f"their batches, such as best-first-16; a prefix such as {', '.join(rule + '+' for rule in RULES)}; and "
            "module:Class for one of your own"
        )
    return STRATEGIES[name]


def _own_settings(wanted: str, settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """The constants of this strategy or rule. All names are checked, including those of others."""
    families = [(entry.family, entry.settings) for entry in STRATEGIES.values()] + list(RULES.values())
    known = {
        f"{family}.{constant.name}": constant.default
        for family, kind in families
        for constant in dataclasses.fields(kind)
    }
    own: dict[str, Setting] = {}
    for name, value in settings.items():
        if name not in known:
            raise ConfigError(
                f"{name!r} is not a constant of a strategy: {did_you_mean(name, known)}known are {', '.join(known)}"
            )
        default = known[name]
        is_right = isinstance(value, bool) is isinstance(default, bool) and (
            isinstance(value, int) or (isinstance(value, float) and isinstance(default, float))
        )
        if not is_right:
            raise ConfigError(f"{name} is {value!r}: it must be of the same type as {default!r}")
        family, _, constant = name.partition(".")
        if family == wanted:
            own[constant] = value
    return own
