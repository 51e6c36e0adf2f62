"""Suggestions for a name that is not known: "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], *, count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Up to `count` known names with a similarity of at least `cutoff` (0 to 1), most similar first."""
    return get_close_matches(name, list(known), n=count, cutoff=cutoff)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'? `, with a trailing space, to precede a list of the known names; empty if none is similar."""
    near = nearest(name, known)
    return f"did you mean {near[0]!r}? " if near else ""
