"""The figures of paper FC's experiments: what is measured of a crawl, and which way a claim points."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import fc_crawls
import fc_distilling
import numpy as np
import pytest
from fc_citations import Citations
from fc_crawls import BEST, BREADTH, DISTILLING, HARD, SOFT, UNFOCUSED, host_distances, recent, share_in_both
from fc_distilling import code, plain
from fc_findings import Figures, claims, evidence

from lycosa.lab.evaluate.runs import ORACLE

WINDOW = fc_crawls.WINDOW


def test_recent_is_a_mean_over_the_window_of_what_counts() -> None:
    values = np.array([1.0] * WINDOW + [0.0] * WINDOW)
    found = recent(values, np.ones(2 * WINDOW, dtype=bool), 2 * WINDOW + 5)
    assert found[WINDOW - 1] == 1
    assert found[WINDOW + WINDOW // 2 - 1] == 0.5
    assert found[2 * WINDOW - 1] == 0
    assert found[2 * WINDOW :].tolist() == [0] * 5  # it has run dry
    counts = np.array([False, True, True])
    assert recent(np.array([0.0, 1.0, 0.0]), counts, 3).tolist() == [0, 1, 0.5]


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [([1, 2, 3], [3, 2, 9], 2 / 3), ([1, 2], [1, 2, 3, 4], 0.5), ([], [], 0), ([5, 5, 5], [5], 1)],
)
def test_share_in_both_is_of_the_larger(first: list[int], second: list[int], share: float) -> None:
    assert share_in_both(np.array(first, dtype=int), np.array(second, dtype=int)) == pytest.approx(share)


class World(SimpleNamespace):
    """Pages 0 … n - 1, and URLs after them that were not recorded."""

    def __init__(self, links: dict[int, list[int]], hosts: list[int], redirects: tuple[int, ...] = ()) -> None:
        pages = len(links)
        super().__init__(
            link_offsets=np.cumsum([0, *(len(links[page]) for page in range(pages))]),
            link_urls=np.array([to for page in range(pages) for to in links[page]]),
            url_hosts=np.array(hosts),
            host_of=np.array(hosts[:pages]),
            hosts=[f"{number}.test" for number in range(max(hosts) + 1)],
            statuses=np.array([301 if page in redirects else 200 for page in range(pages)]),
        )

    def __len__(self) -> int:
        return len(self.statuses)


def test_what_hubs_cite_is_recorded_new_and_if_asked_on_other_hosts() -> None:
    links = {0: [1, 2, 3, 5], 1: [0, 4], 2: [], 3: [], 4: []}
    made = World(links, [0, 0, 1, 1, 1, 2], redirects=(3,))
    run = SimpleNamespace(pages=np.array([0, 1]))
    assert fc_crawls.cited_and_new(np.array([0, 1]), run, made).tolist() == [2, 4]  # 3 redirects, 5 is not recorded
    assert fc_crawls.cited_and_new(np.array([0]), run, made).tolist() == [2]
    run = SimpleNamespace(pages=np.array([0]))
    assert fc_crawls.cited_and_new(np.array([0]), run, made).tolist() == [1, 2]
    assert fc_crawls.cited_and_new(np.array([0]), run, made, is_across=True).tolist() == [2]
    assert fc_crawls.cited_and_new(np.array([], dtype=int), run, made).tolist() == []


def test_a_server_is_as_near_as_its_nearest_page() -> None:
    made = World({0: [], 1: [], 2: [], 3: []}, [0, 0, 1, 3])
    run = SimpleNamespace(pages=np.array([0, 1, 2]), distance=np.array([4, 2, 7]))
    assert host_distances(run, made).tolist() == [2, 7, -1, -1]


def figures(**changed: float) -> Figures:
    """Twelve topics in which every strategy has the same values, but for those that are changed: 'SOFT harvest'."""
    rng = np.random.default_rng(1)
    noise = rng.uniform(0.001, 0.002, 12)

    class Same(dict):
        def __init__(self, strategy: str, topic: int) -> None:
            self.strategy, self.topic = strategy, topic

        def __missing__(self, name: str) -> np.ndarray:
            value = changed.get(f"{self.strategy} {name}", 0.0) * (1 + noise[self.topic])
            is_curve = name in ("found", "R, recent", "overlap of pages", "overlap of hosts")
            return np.full(300, value) if is_curve else np.array(value)

    strategies = (SOFT, HARD, BREADTH, UNFOCUSED, ORACLE, *DISTILLING)
    studies = [{name: Same(name, topic) for name in strategies} for topic in range(12)]
    plan = SimpleNamespace(pages=300, repeats=2, topics=tuple("abcdefghijkl"))
    return Figures(SimpleNamespace(name="web"), plan, studies, (1, 1, 1.0, 1.0))


def differences(rows: list, says: str) -> np.ndarray:
    (found,) = [row for row in rows if says in row.says]
    return found.differences


class TestDistilling:
    def rows(self, **changed: float) -> list:
        return list(fc_distilling.claims(figures(**changed)))

    def test_each_crawl_is_compared_with_its_own_base(self) -> None:
        rows = self.rows(**{f"{SOFT} found": 10, "soft, distilling found": 12, f"{HARD} found": 20})
        assert rows[1].says == "distilling helps: soft, distilling"
        assert rows[1].differences.mean() > 0
        assert differences(rows, "helps: hard").mean() < 0

    def test_hubs_that_are_fetched_again_are_paid_for(self) -> None:
        values = {f"{SOFT} found": 10, "soft, distilling found": 12, "soft, distilling found, revisits paid": 9}
        assert differences(self.rows(**values), "pays for").mean() < 0

    def test_hubs_against_the_crawl(self) -> None:
        rows = self.rows(**{f"{SOFT} relevant of the hubs": 0.9, f"{SOFT} harvest": 0.5})
        assert differences(rows, "hubs are topically pure").mean() > 0

    def test_crawls_whose_hubs_cite_nothing_new_say_nothing(self) -> None:
        made = replace(figures(), citations=[Citations(4, 0.1, 0.3), Citations(0, 0.0, 0.0), Citations(1, 0.2, 0.3)])
        (row,) = [row for row in fc_distilling.claims(made) if "unvisited pages" in row.says]
        assert row.differences.tolist() == pytest.approx([-0.2, -0.1])
        assert "left to cite in 5 of 12 crawls, 2 topics" in row.means
        nothing = replace(figures(), citations=[Citations(0, 0.0, 0.0)])
        assert not [row for row in fc_distilling.claims(nothing) if "unvisited pages" in row.says]

    def test_the_difference_is_told_with_its_error(self) -> None:
        rows = self.rows(**{f"{SOFT} found": 10, "soft, distilling found": 12})
        assert "difference +2.0 ± 0.0; better in 12, worse in 0 of 12 topics" in rows[1].means


class TestFindings:
    def test_a_third_is_compared_with_a_third(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Figures, "base", 0.1)
        for harvest, sign in ((0.5, 1), (0.2, -1)):
            rows = list(claims(figures(**{f"{SOFT} harvest": harvest})))
            assert np.sign(differences(rows, "a third to a half").mean()) == sign

    def test_far_means_more_than_half(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Figures, "base", 0.1)
        for far, sign in ((0.6, 1), (0.4, -1)):
            rows = list(claims(figures(**{f"{SOFT} far by authority": far})))
            assert np.sign(differences(rows, "most of the best are farther").mean()) == sign

    def test_servers_are_looked_at_only_where_there_are_some(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Figures, "base", 0.1)
        one, many = figures(**{f"{SOFT} hosts": 0.5}), figures(**{f"{SOFT} hosts": 9, f"{SOFT} far hosts": 0.9})
        assert not [row for row in claims(one) if "server" in row.says]
        assert differences(list(claims(many)), f"best servers (at most {BEST})").mean() > 0

    def test_findings_are_told_one_by_one_for_all_webs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Figures, "base", 0.1)
        rows = evidence([figures(**{f"{SOFT} hosts": 0.5}), figures(**{f"{SOFT} hosts": 9})], claims)
        assert [row.says for row in rows[:2]] == ["unfocused crawls get lost: R falls (*web*)"] * 2
        assert sum("server" in row.says for row in rows) == 3


def test_titles_from_the_web_do_not_break_the_table() -> None:
    assert plain("a|b `c` <script>\n[x](y) *z*_") == "a b  c   script   x (y)  z"
    assert code("http://a.test/`|x_y") == "`http://a.test/%60%7Cx_y`"
