"""Suggestions for names that are not known."""

from __future__ import annotations

from lycosa.lib.nearest import did_you_mean, nearest

KNOWN = ("breadth-first", "best-first", "shark", "fish")


def test_the_most_similar_comes_first() -> None:
    assert nearest("best-frist", KNOWN) == ["best-first"]
    assert nearest("best-frist", KNOWN, count=2) == ["best-first", "breadth-first"]


def test_nothing_below_the_cutoff_is_offered() -> None:
    assert nearest("sharp", KNOWN, cutoff=0.9) == []
    assert nearest("sharp", KNOWN) == ["shark"]
    assert nearest("zebra", KNOWN) == []


def test_any_iterable_of_names_will_do() -> None:
    assert nearest("shrak", dict.fromkeys(KNOWN, 0)) == ["shark"]
    assert nearest("shrak", iter(KNOWN)) == ["shark"]
    assert nearest("shark", ()) == []


def test_the_hint_is_a_phrase_or_nothing() -> None:
    assert did_you_mean("fihs", KNOWN) == "did you mean 'fish'? "
    assert did_you_mean("zebra", KNOWN) == ""
