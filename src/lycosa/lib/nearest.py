"""Suggestions for a name that is not known: "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], *, count: int = 1, cutoff: float = 0.6) -> list[str]:
    """At most `count` of the known names, the most similar first; none that is less similar than `cutoff`, 0 to 1."""
    return get_close_matches(name, list(known), n=count, cutoff=cutoff)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'? ` with a space at the end, to stand before the list of known names; empty if none is near."""
    near = nearest(name, known)
    return f"did you mean {near[0]!r}? " if near else ""
