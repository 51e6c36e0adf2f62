from __future__ import annotations

import itertools

import numpy as np
import pytest

from lycosa.config import build
from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.stopping import rules as stop_module
from lycosa.stopping.figures import Figures
from lycosa.stopping.forecast import Estimate, Forecast
from lycosa.stopping.rules import Budget, Stop, StopRules

EMPTY = Frontier()


def verdict(rules: StopRules, **figures) -> str:
    """The verdict of rules on these figures, with an empty frontier, far within the budget."""
    return Stop(Budget(pages=10**9), started=0.0, rules=rules).reason(Figures(**figures), EMPTY, now=0.0)


def waiting(*scores: float, aside: tuple[int, ...] = ()) -> Frontier:
    """A frontier with one link for each score, each on a host of its own."""
    frontier = Frontier()
    numbers = np.arange(1, len(scores) + 1)
    frontier.push_many(numbers, numbers, np.array(scores))
    for host in aside:
        frontier.set_aside(host)
    return frontier


class TestBudget:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"pages": 0}, "budget.pages is 0: it must be 1 or more"),
            ({"pages": -3}, "budget.pages is -3: it must be 1 or more"),
            ({"seconds": -0.5}, "budget.seconds is -0.5: it must be 0"),
            ({"bytes": -1}, "budget.bytes is -1: it must be 0"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, settings, message):
        with pytest.raises(ConfigError, match=message):
            Budget(**settings)

    def test_there_is_no_reason_at_first(self):
        stop = Stop(Budget(pages=10, seconds=5, bytes=1), started=100.0)
        assert stop.reason(Figures(), EMPTY, now=100.0) == ""

    @pytest.mark.parametrize(("pages", "is_over"), [(0, False), (1233, False), (1234, True), (1235, True)])
    def test_pages(self, pages, is_over):
        reason = Stop(Budget(pages=1234), started=0.0).reason(Figures(pages=pages), EMPTY, now=0.0)
        assert reason == (f"page budget: {pages:,} of 1,234 pages fetched" if is_over else "")

    @pytest.mark.parametrize(("now", "is_over"), [(100.0, False), (159.9, False), (160.0, True), (500.0, True)])
    def test_time_counts_from_the_start_of_the_run(self, now, is_over):
        reason = Stop(Budget(seconds=60), started=100.0).reason(Figures(), EMPTY, now=now)
        assert reason == ("time budget: 60 s used up" if is_over else "")

    def test_without_a_limit_time_and_bytes_do_not_matter(self):
        assert Stop(Budget(), started=0.0).reason(Figures(bytes=10**15), EMPTY, now=1e12) == ""

    @pytest.mark.parametrize(("count", "is_over"), [(9_999, False), (10_000, True), (12_345, True)])
    def test_bytes(self, count, is_over):
        reason = Stop(Budget(bytes=10_000), started=0.0).reason(Figures(bytes=count), EMPTY, now=0.0)
        assert reason == (f"byte budget: {count:,} bytes downloaded, 10,000 allowed" if is_over else "")

    def test_a_request_goes_before_everything(self):
        stop = Stop(Budget(pages=1), started=0.0)
        stop.request("interrupted by Ctrl-C")
        assert stop.reason(Figures(pages=5), EMPTY, now=0.0) == "interrupted by Ctrl-C"

    def test_pages_left(self):
        stop = Stop(Budget(pages=10), started=0.0)
        assert [stop.pages_left(pages) for pages in (0, 7, 10, 12)] == [10, 3, 0, 0]

    def test_an_exhausted_frontier_says_what_still_waits(self):
        stop = Stop(Budget(), started=0.0)
        assert stop.exhausted(0) == "frontier empty: every link found has been dealt with"
        assert stop.exhausted(1500).startswith("nothing left to fetch: the 1,500 waiting links are on hosts")


class TestRules:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"relevant": -1}, "stop.relevant is -1: it must be 0 or more"),
            ({"irrelevant": -1}, "stop.irrelevant is -1"),
            ({"irrelevant_in_a_row": -1}, "stop.irrelevant_in_a_row is -1"),
            ({"precision": -0.1}, "stop.precision is -0.1"),
            ({"precision": 1.5}, "stop.precision is 1.5: it must be 1 or less"),
            ({"precision": float("nan")}, "stop.precision is nan: it must be a number"),
            ({"window": 0}, "stop.window is 0: it must be 1 or more"),
            ({"best_score": -0.2}, "stop.best_score is -0.2"),
            ({"community": 1.0}, "stop.community is 1.0: it is a share that can be exceeded"),
            ({"community": -0.5}, "stop.community is -0.5"),
            ({"community_size": 0}, "stop.community_size is 0: it must be 1 or more"),
            ({"expected_harvest": -0.1}, "stop.expected_harvest is -0.1"),
            ({"expected_harvest": 1.1}, "stop.expected_harvest is 1.1: it must be 1 or less"),
            ({"forecast_pages": 0}, "stop.forecast_pages is 0: it must be 1 or more"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, settings, message):
        with pytest.raises(ConfigError, match=message):
            StopRules(**settings)

    def test_they_are_a_section_of_the_configuration(self):
        config = build(("--set", {"stop": {"relevant": 500}}), ("--set", {"stop": {"precision": 0.05}}))
        assert config.stop == StopRules(relevant=500, precision=0.05)
        with pytest.raises(ConfigError, match=r"stop\.precision is 2\.0"):
            build(("--set", {"stop": {"precision": 2}}))

    def test_without_rules_no_figure_is_a_reason(self):
        figures = Figures(
            pages=900, relevant=0, since_relevant=900, bytes=10**12, precision=0.0, links=1000, inward=1000
        )
        for relevant in (0, 900):
            assert verdict(StopRules(), **figures._replace(relevant=relevant)._asdict()) == ""

    @pytest.mark.parametrize(("relevant", "is_over"), [(499, False), (500, True), (503, True)])
    def test_relevant(self, relevant, is_over):
        reason = verdict(StopRules(relevant=500), pages=900, relevant=relevant)
        assert reason == (f"enough found: {relevant} relevant pages, 500 were asked for" if is_over else "")

    @pytest.mark.parametrize(("relevant", "is_over"), [(401, False), (400, True), (0, True)])
    def test_irrelevant(self, relevant, is_over):
        reason = verdict(StopRules(irrelevant=500), pages=900, relevant=relevant)
        assert reason == (f"irrelevant pages: {900 - relevant} fetched, 500 allowed" if is_over else "")

    @pytest.mark.parametrize(("since", "is_over"), [(49, False), (50, True), (51, True)])
    def test_irrelevant_in_a_row(self, since, is_over):
        reason = verdict(StopRules(irrelevant_in_a_row=50), pages=900, relevant=10, since_relevant=since)
        words = f"irrelevant pages in a row: {since} since the last relevant one, 50 allowed"
        assert reason == (words if is_over else "")

    @pytest.mark.parametrize(("precision", "is_over"), [(None, False), (0.1, False), (0.099, True), (0.0, True)])
    def test_precision(self, precision, is_over):
        reason = verdict(StopRules(precision=0.1, window=200), pages=900, precision=precision)
        words = f"precision: {precision or 0:.1%} of the last 200 pages are relevant, 10.0% is required"
        assert reason == (words if is_over else "")

    @pytest.mark.parametrize(
        ("relevant", "inward", "is_over"), [(20, 500, False), (20, 501, True), (19, 1000, False), (20, 0, False)]
    )
    def test_community(self, relevant, inward, is_over):
        rules = StopRules(community=0.5, community_size=20)
        reason = verdict(rules, pages=900, relevant=relevant, links=1000, inward=inward)
        words = "community closed: 501 of 1,000 links on 20 relevant pages lead to each other, more than 50%"
        assert reason == (words if is_over else "")

    def test_pages_without_links_are_no_community(self):
        assert verdict(StopRules(community=0.5, community_size=2), pages=9, relevant=9, links=0, inward=0) == ""

    def test_advice_is_heeded(self):
        told = iter(["", "focus: cannot be generalised further"])
        stop = Stop(Budget(), started=0.0, advice=lambda: next(told))
        assert stop.reason(Figures(), EMPTY, now=0.0) == ""
        assert stop.reason(Figures(), EMPTY, now=0.0) == "focus: cannot be generalised further"

    @pytest.mark.parametrize(
        "names", [pair for size in (2, 3) for pair in itertools.combinations(("relevant", "row", "precision"), size)]
    )
    def test_any_of_several_rules_is_enough(self, names):
        """Rules are independent: each that stops the crawl alone also stops it among others that do not."""
        on = {
            "relevant": ({"relevant": 10}, {"pages": 10, "relevant": 10}, "enough found"),
            "row": ({"irrelevant_in_a_row": 5}, {"pages": 15, "since_relevant": 5}, "irrelevant pages in a row"),
            "precision": ({"precision": 0.5}, {"pages": 15, "precision": 0.4}, "precision"),
        }
        rules = StopRules(**{key: value for name in names for key, value in on[name][0].items()})
        assert verdict(rules, pages=9, relevant=9, precision=0.6) == ""
        for name in names:
            assert verdict(rules, **on[name][1]).startswith(on[name][2])


class TestBestScore:
    @pytest.mark.parametrize(("scores", "is_over"), [((0.1, 0.2), False), ((0.1, 0.19), True)])
    def test_below_the_least(self, scores, is_over):
        stop = Stop(Budget(), started=0.0, rules=StopRules(best_score=0.2 - 1e-6))
        words = "best score: 0.19 is the best of 2 waiting links, 0.199999 is required"
        assert stop.reason(Figures(), waiting(*scores), now=0.0) == (words if is_over else "")

    def test_links_on_hosts_set_aside_do_not_count(self):
        stop = Stop(Budget(), started=0.0, rules=StopRules(best_score=0.5))
        assert stop.reason(Figures(), waiting(0.9, 0.1), now=0.0) == ""
        assert stop.reason(Figures(), waiting(0.9, 0.1, aside=(1,)), now=0.0).startswith("best score: 0.1 is")

    def test_nothing_waiting_is_left_to_the_loop(self):
        assert Stop(Budget(), started=0.0, rules=StopRules(best_score=0.5)).reason(Figures(), EMPTY, now=0.0) == ""

    def test_without_the_rule_nobody_asks(self, monkeypatch):
        monkeypatch.setattr(Frontier, "best_score", lambda _: pytest.fail("asked"))
        assert Stop(Budget(), started=0.0).reason(Figures(), waiting(0.1), now=0.0) == ""

    def test_many_hosts_are_looked_at_seldom_and_a_verdict_is_looked_at_again(self, monkeypatch):
        monkeypatch.setattr(stop_module, "HOSTS_A_TURN", 2)
        stop = Stop(Budget(), started=0.0, rules=StopRules(best_score=0.5))
        rich, poor = waiting(0.9, *[0.1] * 5), waiting(*[0.1] * 6)
        assert stop.reason(Figures(), rich, now=0.0) == ""
        assert [bool(stop.reason(Figures(), poor, now=0.0)) for _ in range(5)] == [False] * 3 + [True] * 2
        assert stop.reason(Figures(), rich, now=0.0) == ""


class TestExpectedHarvest:
    @staticmethod
    def verdict(forecast: Forecast | None, least: float = 0.02) -> str:
        rules = StopRules(expected_harvest=least)
        stop = Stop(Budget(pages=10**9), started=0.0, rules=rules, forecast=lambda: forecast)
        return stop.reason(Figures(), EMPTY, now=0.0)

    @pytest.mark.parametrize(("expected", "is_over"), [(20.0, False), (19.9, True), (500.0, False)])
    def test_below_the_least(self, expected, is_over):
        reason = self.verdict(Forecast(1000, Estimate(expected, 3.0, 41.2), None))
        words = (
            "expected harvest: about 20 of the next 1,000 pages would be relevant (3–41 in 9 of 10 cases), 1.99%; "
            "2.00% is required"
        )
        assert reason == (words if is_over else "")

    def test_the_share_is_that_of_the_pages_there_are(self):
        assert self.verdict(Forecast(10, Estimate(1.0, 0.0, 3.0), None)) == ""

    def test_as_long_as_nothing_can_be_said_it_goes_on(self):
        assert self.verdict(None) == ""

    def test_without_the_rule_nobody_asks(self):
        stop = Stop(Budget(), started=0.0, forecast=lambda: pytest.fail("asked"))
        assert stop.reason(Figures(), EMPTY, now=0.0) == ""
