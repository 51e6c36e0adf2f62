from __future__ import annotations

import pytest

from lycosa.errors import ConfigError
from lycosa.frontier.stop import Budget, Stop


class TestBudget:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"pages": 0}, "budget.pages is 0: it must be 1 or more"),
            ({"pages": -3}, "budget.pages is -3: it must be 1 or more"),
            ({"seconds": -0.5}, "budget.seconds is -0.5: it must be 0"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, settings, message):
        with pytest.raises(ConfigError, match=message):
            Budget(**settings)


class TestStop:
    def test_there_is_no_reason_at_first(self):
        assert Stop(Budget(pages=10, seconds=5), started=100.0).reason(pages=0, now=100.0) == ""

    @pytest.mark.parametrize(("pages", "is_over"), [(0, False), (1233, False), (1234, True), (1235, True)])
    def test_pages(self, pages, is_over):
        reason = Stop(Budget(pages=1234), started=0.0).reason(pages=pages, now=0.0)
        assert reason == (f"page budget: {pages:,} of 1,234 pages fetched" if is_over else "")

    @pytest.mark.parametrize(("now", "is_over"), [(100.0, False), (159.9, False), (160.0, True), (500.0, True)])
    def test_time_counts_from_the_start_of_the_run(self, now, is_over):
        reason = Stop(Budget(seconds=60), started=100.0).reason(pages=0, now=now)
        assert reason == ("time budget: 60 s used up" if is_over else "")

    def test_without_a_time_limit_time_does_not_matter(self):
        assert Stop(Budget(), started=0.0).reason(pages=0, now=1e12) == ""

    def test_a_request_goes_before_everything(self):
        stop = Stop(Budget(pages=1), started=0.0)
        stop.request("interrupted by Ctrl-C")
        assert stop.reason(pages=5, now=0.0) == "interrupted by Ctrl-C"

    def test_pages_left(self):
        stop = Stop(Budget(pages=10), started=0.0)
        assert [stop.pages_left(pages) for pages in (0, 7, 10, 12)] == [10, 3, 0, 0]

    def test_an_exhausted_frontier_says_what_still_waits(self):
        stop = Stop(Budget(), started=0.0)
        assert stop.exhausted(0) == "frontier empty: every link found has been dealt with"
        assert stop.exhausted(1500).startswith("nothing left to fetch: the 1,500 waiting links are on hosts")
