"""The suite of behaviours: a quick selection of it, and whether the documentation has all of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hostile.suite.behaviour import Kept, Logged, Seen
from hostile.suite.checks import (
    asked,
    at_most,
    gave_up_within,
    kept,
    not_asked,
    nowhere,
    one_at_a_time,
    rests,
    took_at_most,
    victim_left_alone,
)
from hostile.suite.groups import BEHAVIOURS, GROUPS
from hostile.suite.run import CRAWLERS, judged
from hostile.suite.table import BEGIN, DOCUMENT, END


@pytest.mark.slow
def test_lycosa_passes_a_selection(tmp_path: Path) -> None:
    chosen = [behaviour for behaviour in BEHAVIOURS.values() if behaviour.is_quick]
    assert {group for group, each in GROUPS.items() if any(one.is_quick for one in each.behaviours)} >= {
        "robots", "http", "redirects", "encodings", "heavy", "pages", "urls", "lists",
    }  # fmt: skip
    verdicts = asyncio.run(judged(CRAWLERS["lycosa"], chosen, tmp_path, seconds=300.0, delay=0.05, is_framework=False))
    assert {name: verdict.why for name, verdict in verdicts.items() if not verdict.is_good} == {}


def test_the_documentation_has_every_behaviour_and_no_defect_of_lycosa() -> None:
    table = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `")]
    documented = {cells[0].strip("`"): cells[1:] for cells in lines}
    assert list(documented) == list(BEHAVIOURS), "run make hostile"
    for name, (does, good, lycosa, *_) in documented.items():
        assert (does, good) == (BEHAVIOURS[name].does, BEHAVIOURS[name].good), name
        assert lycosa == "ok", name


def test_no_name_stands_for_two_behaviours() -> None:
    assert len(BEHAVIOURS) == sum(len(group.behaviours) for group in GROUPS.values()) >= 150


def request(target: str, at: float, *, seconds: float = 0.1, sent: int = 10) -> Logged:
    return Logged(at, at + seconds, at + seconds, "a.test", "127.1.0.1", target, (), sent)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (asked("/b"), ["/a", "/b"], ["/a"]),
        (not_asked("/private"), ["/a"], ["/a", "/private/x"]),
        (at_most(2), ["/a", "/b"], ["/a", "/b", "/c"]),
    ],
)
def test_checks_of_what_was_asked_for(check, good, bad) -> None:
    def seen(targets: list[str]) -> Seen:
        return Seen([request(target, at) for at, target in enumerate(targets)], [], [])

    assert check(seen(good)) == ""
    assert check(seen(bad))


def test_checks_of_times_and_sizes() -> None:
    seen = Seen([request("/a", 0.0, seconds=1.0, sent=500), request("/b", 1.5, seconds=1.0)], [], [])
    assert [rests(0.5)(seen), gave_up_within(1.0)(seen), took_at_most(500)(seen), one_at_a_time(seen)] == [""] * 4
    assert all([rests(0.6)(seen), gave_up_within(0.9)(seen), took_at_most(499)(seen)])
    assert one_at_a_time(Seen([request("/a", 0.0, seconds=1.0), request("/b", 0.5)], [], []))


def test_checks_of_what_was_kept() -> None:
    seen = Seen([], [Kept("http://a.test:8080/x?y=1", "A title", "the text of it")], ["/secret"])
    assert [kept("/x?y=1", about="text")(seen), nowhere("evil")(seen)] == ["", ""]
    assert all([kept("/x")(seen), kept("/x?y=1", about="other")(seen), nowhere("title")(seen), victim_left_alone(seen)])
