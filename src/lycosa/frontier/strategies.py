"""The table of strategies by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from lycosa.errors import ConfigError
from lycosa.frontier.best_first import BestFirst
from lycosa.frontier.breadth_first import BreadthFirst
from lycosa.frontier.strategy import Strategy

STRATEGIES: Mapping[str, type[Strategy]] = {
    "breadth-first": BreadthFirst,
    "best-first": BestFirst,
}


def strategy(name: str) -> Strategy:
    """A new strategy of that name."""
    if name not in STRATEGIES:
        near = difflib.get_close_matches(name, STRATEGIES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(f"strategy {name!r} is not known: {hint}known are {', '.join(STRATEGIES)}")
    return STRATEGIES[name]()
