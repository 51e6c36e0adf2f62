"""Engines side by side: each has its own delay, its rests and its quota, and none spoils the others' answers."""

from __future__ import annotations

import asyncio
import logging

import pytest

from lycosa.lib.clock import VirtualClock
from lycosa.seeds.metasearch.engine import EngineAnswer, FoundUrl
from lycosa.seeds.metasearch.panel import DAY, EngineClock, Panel

FOUND = EngineAnswer((FoundUrl("http://a.test/"),))


class Scripted:
    """Gives these answers, the last one for ever; an exception is raised."""

    def __init__(self, name: str, *answers) -> None:
        self.name, self._answers, self.times = name, list(answers), []

    async def ask(self, query, count):
        self.times.append(CLOCK.now())
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


CLOCK = VirtualClock(1_000_000.0)


@pytest.fixture(autouse=True)
def clock():
    CLOCK._now = 1_000_000.0
    return CLOCK


def ask(panel: Panel, *queries: str):
    return asyncio.run(panel.ask(queries, 10))


def test_all_are_asked_and_a_fault_of_one_is_an_outcome(caplog):
    bad, good = Scripted("bad", RuntimeError("http://x.test/?key=secret")), Scripted("good", FOUND)
    with caplog.at_level(logging.DEBUG):
        first, second = ask(Panel([bad, good], clocks={}, clock=CLOCK), "q")
    assert (first.answer.outcome, first.answer.detail) == ("fault", "RuntimeError")
    assert second.answer == FOUND
    assert "secret" not in caplog.text


def test_the_delay_is_between_two_requests_to_one_engine():
    slow, quick = Scripted("slow", FOUND), Scripted("quick", FOUND)
    ask(Panel([slow, quick], clocks={"slow": EngineClock(delay=5)}, clock=CLOCK), "one", "two")
    assert slow.times[1] - slow.times[0] == 5


def test_an_engine_that_asked_to_be_left_alone_is():
    engine = Scripted("e", EngineAnswer(outcome="quota", retry_after=500.0), FOUND)
    panel = Panel([engine], clocks={"e": EngineClock(delay=1)}, clock=CLOCK)
    (first,) = ask(panel, "q")
    assert first.ready_at == CLOCK.now() + 500
    CLOCK._now += 400
    assert ask(panel, "q")[0].answer.outcome == "resting"
    CLOCK._now += 101
    assert ask(panel, "q")[0].answer == FOUND


def test_failures_in_a_row_make_it_rest_longer():
    engine = Scripted("e", EngineAnswer(outcome="timeout"))
    panel, rests = Panel([engine], clocks={"e": EngineClock(delay=1)}, clock=CLOCK), []
    for _ in range(8):
        (asked,) = ask(panel, "q")
        rests.append(asked.ready_at - CLOCK.now())
        CLOCK._now = asked.ready_at
    assert rests == [60, 120, 240, 480, 960, 1920, 3600, 3600]


def test_a_captcha_is_a_long_rest():
    (asked,) = ask(Panel([Scripted("e", EngineAnswer(outcome="captcha"))], clocks={}, clock=CLOCK), "q")
    assert asked.ready_at - CLOCK.now() == 3600


def test_a_daily_quota_ends_with_the_day():
    engine = Scripted("e", FOUND)
    panel = Panel([engine], clocks={"e": EngineClock(daily=2)}, clock=CLOCK)
    assert [asked.answer.outcome for asked in ask(panel, "1", "2", "3")] == ["answered", "answered", "daily quota"]
    assert len(engine.times) == 2
    CLOCK._now = (CLOCK.now() // DAY + 1) * DAY + 1
    assert ask(panel, "4")[0].answer == FOUND


def test_what_was_not_sent_counts_for_nothing():
    clocks = {"e": EngineClock(delay=9, daily=5)}
    ask(Panel([Scripted("e", EngineAnswer(outcome="no key", is_contact=False))], clocks=clocks, clock=CLOCK), "q")
    assert clocks["e"] == EngineClock(delay=9, daily=5)
