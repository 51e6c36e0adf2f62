from __future__ import annotations

import pytest

from lycosa.errors import ConfigError
from lycosa.fetch.politeness import Politeness, is_host_failure
from lycosa.model import Kind, Outcome


class TestPause:
    def test_the_longest_of_all_wishes_counts(self):
        politeness = Politeness(delay=2.0, fetch_time_factor=3.0)
        assert politeness.pause(seconds=0.1) == 2.0
        assert politeness.pause(seconds=1.5) == 4.5
        assert politeness.pause(seconds=0.1, crawl_delay=7.0) == 7.0
        assert politeness.pause(seconds=0.1, crawl_delay=7.0, retry_after=30.0) == 30.0
        assert politeness.pause(seconds=20.0, crawl_delay=7.0, retry_after=30.0) == 60.0

    def test_failures_double_the_wait_up_to_a_limit(self):
        politeness = Politeness(delay=1.0, first_backoff=5.0, max_backoff=100.0)
        waits = [politeness.pause(seconds=0, failures=failures) for failures in range(8)]
        assert waits == [1, 5, 10, 20, 40, 80, 100, 100]

    def test_very_many_failures_do_not_overflow(self):
        assert Politeness().pause(seconds=0, failures=100_000) == 3600.0

    def test_a_retry_after_of_years_is_cut(self):
        assert Politeness(max_retry_after=600.0).pause(seconds=0, retry_after=1e9) == 600.0

    def test_the_cut_shortens_nothing_else(self):
        assert Politeness(max_retry_after=10.0).pause(seconds=0, crawl_delay=50.0, retry_after=1e9) == 50.0

    def test_all_delays_can_be_turned_off(self):
        assert Politeness(delay=0.0, fetch_time_factor=0.0, first_backoff=0.0).pause(seconds=9.0, failures=3) == 0.0


class TestSettingAside:
    ROBOTS = Outcome(Kind.DEFERRED, "robots.txt first")

    def test_a_crawl_delay_over_the_cap_when_robots_txt_comes(self):
        politeness = Politeness(max_crawl_delay=60.0)
        assert politeness.why_set_aside(self.ROBOTS, crawl_delay=60.0, failures=0) == ""
        reason = politeness.why_set_aside(self.ROBOTS, crawl_delay=90.0, failures=0)
        assert reason == "crawl-delay of 90 s is over the cap of 60 s"
        fetched = Outcome(Kind.FETCHED, "http 200", status=200)
        assert politeness.why_set_aside(fetched, crawl_delay=90.0, failures=0) == ""

    def test_failures_in_a_row(self):
        politeness = Politeness(max_failures=3)
        outcome = Outcome(Kind.UNREACHABLE, "timeout", "no answer within 10 s")
        assert politeness.why_set_aside(outcome, crawl_delay=0.0, failures=2) == ""
        reason = politeness.why_set_aside(outcome, crawl_delay=0.0, failures=3)
        assert reason == "3 failures in a row, the last: timeout no answer within 10 s"


class TestHostFailure:
    @pytest.mark.parametrize(
        ("outcome", "is_failure"),
        [
            (Outcome(Kind.UNREACHABLE, "timeout"), True),
            (Outcome(Kind.UNREACHABLE, "dns"), True),
            (Outcome(Kind.HTTP_ERROR, "http 429", status=429), True),
            (Outcome(Kind.HTTP_ERROR, "http 500", status=500), True),
            (Outcome(Kind.HTTP_ERROR, "http 503", status=503), True),
            (Outcome(Kind.HTTP_ERROR, "http 404", status=404), False),
            (Outcome(Kind.HTTP_ERROR, "http 501", status=501), False),
            (Outcome(Kind.FETCHED, "http 200", status=200), False),
            (Outcome(Kind.REFUSED, "too large"), False),
            (Outcome(Kind.EXCLUDED, "robots"), False),
            (Outcome(Kind.UNREADABLE, "reader crashed"), False),
        ],
    )
    def test_the_host_or_just_the_url(self, outcome, is_failure):
        assert is_host_failure(outcome) is is_failure


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("delay", -1, "0 or more"),
        ("first_backoff", -0.1, "0 or more"),
        ("max_crawl_delay", -5, "0 or more"),
        ("max_tries", 0, "1 or more"),
        ("max_failures", 0, "1 or more"),
        ("connections_per_host", 0, "1 or more"),
        ("connections_per_address", -1, "1 or more"),
    ],
)
def test_what_makes_no_sense_is_refused(name, value, right):
    with pytest.raises(ConfigError, match=f"^politeness.{name} is {value}: it must be {right}$"):
        Politeness(**{name: value})
