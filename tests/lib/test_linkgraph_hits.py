"""Relevance-weighted HITS: by hand, against dense matrices, against networkx; and the benefit of a warm start."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.lib.linkgraph import hits


def columns(*edges: tuple[int, int]):
    sources, targets = zip(*edges, strict=True) if edges else ((), ())
    return np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64)


def dense(edges, *, relevance, threshold, sites, start, iterations):
    """The formulas as in FC, with two full matrices of weights, and scores scaled to unit length."""
    count = len(relevance)
    forward, backward = np.zeros((count, count)), np.zeros((count, count))
    for u, v in edges:
        if sites[u] != sites[v] and relevance[v] > threshold:
            forward[u, v] = relevance[v]
            backward[u, v] = relevance[u]
    h, a = np.array(start, dtype=float), np.zeros(count)
    for _ in range(iterations):
        a = forward.T @ h
        a /= np.linalg.norm(a) or 1.0
        h = backward @ a
        h /= np.linalg.norm(h) or 1.0
    return h / (h.sum() or 1.0), a / (a.sum() or 1.0)


@st.composite
def webs(draw):
    count = draw(st.integers(1, 12))
    nodes = st.integers(0, count - 1)
    column = lambda values: st.lists(values, min_size=count, max_size=count)  # noqa: E731 - a name for a shape
    return {
        "edges": draw(st.lists(st.tuples(nodes, nodes), max_size=60)),
        # Either 0 or well away from it: with scores near 1e-300 both sides would be right, and different.
        "relevance": np.array(draw(column(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0])))),
        "threshold": draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])),
        "sites": np.array(draw(column(st.integers(0, 3)))),
    }


class TestAgainstDenseMatrices:
    @settings(max_examples=200, deadline=None)
    @given(webs(), st.integers(1, 50))
    def test_the_same_scores(self, web, iterations):
        count = len(web["relevance"])
        edges = web.pop("edges")
        hubs, authorities = dense(edges, **web, start=web["relevance"] > 0, iterations=iterations)
        ours = hits(*columns(*edges), count=count, **web, iterations=iterations, tolerance=0.0)
        assert ours.hubs == pytest.approx(hubs, abs=1e-9)
        assert ours.authorities == pytest.approx(authorities, abs=1e-9)

    def test_a_larger_random_web(self):
        rng = np.random.default_rng(3)
        edges = rng.integers(0, 300, (3_000, 2))
        web = {"relevance": rng.random(300), "threshold": 0.8, "sites": rng.integers(0, 20, 300)}
        hubs, authorities = dense(edges, **web, start=np.ones(300), iterations=50)
        ours = hits(edges[:, 0], edges[:, 1], count=300, **web, tolerance=0.0)
        assert ours.hubs == pytest.approx(hubs, abs=1e-9)
        assert ours.authorities == pytest.approx(authorities, abs=1e-9)
        assert hubs.max() > 0.005


class TestAgainstNetworkx:
    @pytest.mark.parametrize("seed", range(5))
    def test_plain_hits(self, seed):
        rng = np.random.default_rng(seed)
        edges = np.unique(rng.integers(0, 60, (400, 2)), axis=0)
        graph = networkx.DiGraph(edges.tolist())
        hubs, authorities = networkx.hits(graph, max_iter=1000, tol=1e-14)
        ours = hits(edges[:, 0], edges[:, 1], count=60, iterations=1000, tolerance=1e-14)
        assert [ours.hubs[node] for node in hubs] == pytest.approx(list(hubs.values()), abs=1e-9)
        assert [ours.authorities[node] for node in hubs] == pytest.approx(list(authorities.values()), abs=1e-9)
        assert ours.edges == len(edges)


class TestByHand:
    def test_one_hub_and_its_authorities(self):
        ours = hits(*columns((0, 1), (0, 2)), count=3)
        assert ours.hubs.tolist() == [1.0, 0.0, 0.0]
        assert ours.authorities.tolist() == [0.0, 0.5, 0.5]

    def test_prestige_goes_by_the_relevance_of_the_cited(self):
        ours = hits(*columns((0, 1), (0, 2)), count=3, relevance=np.array([0.5, 0.9, 0.3]))
        assert ours.authorities == pytest.approx([0.0, 0.75, 0.25])

    def test_reflected_prestige_goes_by_the_relevance_of_the_citing(self):
        ours = hits(*columns((0, 2), (1, 2)), count=3, relevance=np.array([0.9, 0.3, 1.0]))
        assert ours.hubs == pytest.approx([0.75, 0.25, 0.0])

    def test_the_threshold_itself_is_not_above_it_and_hubs_need_not_be(self):
        ours = hits(*columns((0, 1), (0, 2)), count=3, relevance=np.array([0.1, 0.5, 0.6]), threshold=0.5)
        assert ours.authorities.tolist() == [0.0, 0.0, 1.0]
        assert ours.hubs.tolist() == [1.0, 0.0, 0.0]
        assert ours.edges == 1

    def test_links_within_a_site_do_not_count(self):
        ours = hits(*columns((0, 1), (2, 1)), count=3, sites=np.array([7, 7, 8]))
        assert ours.hubs.tolist() == [0.0, 0.0, 1.0]

    def test_a_link_counts_once(self):
        ours = hits(*columns((0, 2), (0, 2), (0, 2), (1, 2)), count=3)
        assert ours.hubs == pytest.approx([0.5, 0.5, 0.0])
        assert ours.edges == 2

    @pytest.mark.parametrize("count", [0, 3])
    def test_without_edges_all_scores_are_nought(self, count):
        ours = hits(*columns(), count=count)
        assert ours.hubs.tolist() == ours.authorities.tolist() == [0.0] * count
        assert ours.edges == 0

    def test_it_ends_after_the_iterations_given_or_when_nothing_moves(self):
        rng = np.random.default_rng(1)
        edges = rng.integers(0, 100, (400, 2))
        short = hits(edges[:, 0], edges[:, 1], count=100, iterations=3)
        assert short.iterations == 3
        assert short.change > 1e-8
        long = hits(edges[:, 0], edges[:, 1], count=100, iterations=1000)
        assert 3 < long.iterations < 1000
        assert long.change <= 1e-8

    @pytest.mark.parametrize("wrong", [{"iterations": 0}, {"tolerance": -1.0}, {"start": np.ones(2)}])
    def test_what_makes_no_sense_is_refused(self, wrong):
        with pytest.raises(ValueError, match="must be"):
            hits(*columns((0, 1)), count=3, **wrong)

    @pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
    def test_a_start_that_is_no_score_is_refused(self, wrong):
        with pytest.raises(ValueError, match="3 scores of 0 or more"):
            hits(*columns((0, 1)), count=3, start=np.array([1.0, wrong, 0.0]))


class TestWarmStart:
    def web(self):
        """Two communities with few links between them: slow to converge."""
        rng = np.random.default_rng(2)
        inner = rng.integers(0, 200, (2_000, 2))
        edges = np.concatenate([inner, rng.integers(200, 400, (1_900, 2)), rng.integers(0, 400, (40, 2))])
        return edges[:, 0], edges[:, 1]

    def test_it_leads_to_the_same_scores_in_fewer_iterations(self):
        sources, targets = self.web()
        cold = hits(sources, targets, count=400, iterations=1000, tolerance=1e-12)
        new = np.concatenate([sources, [3, 400]]), np.concatenate([targets, [400, 7]])
        start = np.append(cold.hubs, 0.0)
        warm = hits(*new, count=401, iterations=1000, tolerance=1e-12, start=start)
        again = hits(*new, count=401, iterations=1000, tolerance=1e-12)
        assert warm.hubs == pytest.approx(again.hubs, abs=1e-9)
        assert warm.authorities == pytest.approx(again.authorities, abs=1e-9)
        assert warm.hubs[400] > 0
        assert warm.iterations < again.iterations * 0.9

    def test_a_part_of_the_web_that_had_no_score_can_still_win(self):
        # 0 → 1 alone before; then 2, 3, 4 → 5, 6 appear among pages that all had the score 0.
        start = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        edges = columns((0, 1), *((u, v) for u in (2, 3, 4) for v in (5, 6)))
        ours = hits(*edges, count=7, start=start)
        assert ours.hubs == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3, 0, 0], abs=1e-6)

    def test_a_start_without_any_score_is_a_cold_one(self):
        edges = columns((0, 1), (0, 2), (1, 2))
        assert hits(*edges, count=3, start=np.zeros(3)).hubs.tolist() == hits(*edges, count=3).hubs.tolist()
