"""PageRank by hand, and against networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from lycosa.lib.linkgraph import pagerank


def columns(*edges: tuple[int, int]):
    sources, targets = zip(*edges, strict=True) if edges else ((), ())
    return np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64)


class TestByHand:
    def test_a_ring_has_equal_ranks(self):
        assert pagerank(*columns((0, 1), (1, 2), (2, 0)), count=3) == pytest.approx([1, 1, 1])

    def test_two_pages_that_cite_one_which_cites_the_first(self):
        # PR(1) = 0.2; PR(0) = 0.2 + 0.8·PR(2); PR(2) = 0.2 + 0.8·(PR(0) + PR(1))
        ranks = pagerank(*columns((0, 2), (1, 2), (2, 0)), count=3, tolerance=1e-9)
        second = (0.2 + 0.8 * 0.2 + 0.8 * 0.2) / (1 - 0.64)
        assert ranks == pytest.approx([0.2 + 0.8 * second, 0.2, second], abs=1e-6)

    def test_a_page_without_links_leads_to_the_pages_given(self):
        # 0 → 1, and 1 is a sink, which leads to 0 by definition
        ranks = pagerank(*columns((0, 1)), count=3, sinks_lead_to=np.array([0]), tolerance=1e-9)
        first = (0.2 + 0.8 * 0.2 + 0.8 * 0.2) / (1 - 0.64)
        assert ranks == pytest.approx([first, 0.2 + 0.8 * first, 0.2], abs=1e-6)

    def test_no_edges_and_no_nodes(self):
        assert pagerank(*columns(), count=0).tolist() == []
        assert pagerank(*columns(), count=2).tolist() == [1.0, 1.0]

    def test_without_damping_links_do_not_count(self):
        assert pagerank(*columns((0, 1)), count=2, damping=0.0).tolist() == [1.0, 1.0]

    @pytest.mark.parametrize("wrong", [{"damping": 1.0}, {"damping": -0.1}, {"tolerance": 0.0}])
    def test_what_would_not_converge_is_refused(self, wrong):
        with pytest.raises(ValueError, match="damping"):
            pagerank(*columns((0, 1)), count=2, **wrong)


class TestAgainstNetworkx:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("has_landing", [False, True])
    def test_the_same_ranks_but_for_the_scale(self, seed, has_landing):
        rng = np.random.default_rng(seed)
        count = 60
        edges = np.unique(rng.integers(0, count, (150, 2)), axis=0)
        landing = np.arange(0, count, 3) if has_landing else None
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from(edges.tolist())
        assert any(degree == 0 for _, degree in graph.out_degree)
        weights = dict.fromkeys(landing.tolist(), 1.0) if has_landing else None
        theirs = _networkx_ranks(graph, count, weights)
        ours = pagerank(edges[:, 0], edges[:, 1], count=count, sinks_lead_to=landing, tolerance=1e-10)
        assert ours / count == pytest.approx(theirs, abs=1e-8)
        assert ours.mean() == pytest.approx(1.0)

    def test_it_ends_within_the_tolerance(self):
        rng = np.random.default_rng(1)
        edges = np.unique(rng.integers(0, 200, (900, 2)), axis=0)
        exact = pagerank(edges[:, 0], edges[:, 1], count=200, tolerance=1e-10)
        rough = pagerank(edges[:, 0], edges[:, 1], count=200, tolerance=0.01)
        # the error after a change of t is at most t·(γ + γ² + …) = 4t
        assert 0 < np.abs(exact - rough).max() < 0.05


def _networkx_ranks(graph, count: int, weights) -> np.ndarray:
    ranks = networkx.pagerank(graph, alpha=0.8, tol=1e-14, max_iter=1000, dangling=weights)
    return np.array([ranks[node] for node in range(count)])
