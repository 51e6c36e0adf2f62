from __future__ import annotations

import dataclasses
from itertools import islice

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.lab.evolve.encoding import Encoding
from lycosa.lab.evolve.fitness import (
    PER_SITE,
    CrawlFitness,
    Grading,
    harvest_at_lengths,
    harvest_of_sites,
)
from lycosa.lab.evolve.link_arrays import LinkArrays, ordered_scores
from lycosa.lab.evolve.simulator import CrawlPlan, Simulator
from lycosa.lib.evolve import GeneticSettings, evolve, genome_of
from lycosa.strategies.papers.current_list import CurrentListSettings
from lycosa.strategies.papers.evolved import GA2003, EvolvedSettings

SITES = np.arange(500, dtype=np.int32) % 50


@pytest.fixture(scope="module")
def web() -> LinkArrays:
    """500 pages, of which a fifth is good; good pages mostly link to good ones."""
    rng = np.random.default_rng(3)
    pages, degree = 500, 8
    is_good = np.arange(pages) % 5 == 0
    anywhere = rng.integers(0, pages, (pages, degree))
    within = anywhere // 5 * 5
    stays = (rng.random((pages, degree)) < 0.6) & is_good[:, None]
    rows = [np.unique(row) for row in np.where(stays, within, anywhere)]
    return LinkArrays(
        urls=pages,
        link_offsets=np.concatenate([[0], np.cumsum([len(row) for row in rows])]),
        link_urls=np.concatenate(rows).astype(np.int32),
        nofollow=np.zeros(0, np.bool_),
        redirects=np.zeros(0, np.int32),
        ordered_score=ordered_scores(np.where(is_good, 0.9, 0.2)),
        is_relevant=is_good,
    )


@pytest.fixture
def fitness(web: LinkArrays) -> CrawlFitness:
    plan = CrawlPlan(seeds=np.array([0, 5]), pages=80, order=CurrentListSettings(size=20, refill=10))
    return CrawlFitness(simulator=Simulator(web), plans=[plan] * 3, grading=Grading(web.is_relevant, SITES), seed=7)


BEST_FIRST = genome_of([0, 0, 0, 0, 127, 0, 0, 0, 0], 7)
HUBS = genome_of([127, 0, 0, 0, 0, 0, 0, 0, 0], 7)


def test_a_focused_genome_is_fitter_than_one_that_goes_anywhere(fitness):
    assert fitness(BEST_FIRST) > fitness(HUBS) + 0.1


def test_it_is_the_mean_share_of_good_pages(web, fitness):
    ways = [
        Simulator(web).crawl(EvolvedSettings(), fitness.plans[0], np.random.default_rng([7, run])) for run in range(3)
    ]
    shares = [(web.is_relevant[way] & ~np.isin(way, [0, 5])).mean() for way in ways]  # seeds earn nothing
    genome = genome_of(map(int, GA2003.values()), 7)
    assert fitness(genome) == pytest.approx(np.mean(shares))
    assert fitness.by_run(EvolvedSettings()) == pytest.approx(shares)
    assert len(set(shares)) > 1  # the runs have different random numbers


def test_a_genome_always_has_the_same_fitness(fitness):
    first = fitness(BEST_FIRST)
    fitness(HUBS)
    assert fitness(BEST_FIRST) == first


def test_a_crawl_that_runs_dry_is_measured_by_what_was_asked_for(web):
    lonely = LinkArrays(
        urls=3,
        link_offsets=np.array([0, 0, 1, 1]),
        link_urls=np.array([2], np.int32),
        nofollow=web.nofollow,
        redirects=web.redirects,
        ordered_score=np.zeros(3, np.float32),
        is_relevant=np.ones(3, np.bool_),
    )
    plan = CrawlPlan(seeds=np.array([1]), pages=3)  # 1 links to 2, and that is all
    grading = Grading(lonely.is_relevant, SITES)
    for measure, expected in (("harvest", 1 / 3), ("sites", 1 / 3), ("lengths", (0 + 1 / 2 + 1 / 3) / 3)):
        fitness = CrawlFitness(simulator=Simulator(lonely), plans=[plan], grading=grading, seed=0, measure=measure)
        assert fitness(BEST_FIRST) == pytest.approx(expected)


def test_evolution_finds_a_better_strategy(fitness):
    settings = GeneticSettings(population=10, generations=5)
    populations = list(islice(evolve(fitness, settings, rng=np.random.default_rng(1), start=[HUBS]), 6))
    assert populations[-1].fitness[0] > fitness(HUBS) + 0.1
    assert populations[-1].mean > populations[0].mean


class TestMeasures:
    def test_only_some_good_pages_of_a_site_count(self):
        grading = Grading(np.ones(40, np.bool_), np.array([0] * 30 + [1] * 10, dtype=np.int32))
        pages = np.arange(40, dtype=np.int32)
        assert harvest_of_sites(pages[:30], grading, 40) == PER_SITE / 40
        assert harvest_of_sites(pages, grading, 40) == (PER_SITE + 10) / 40
        assert harvest_of_sites(pages[:0], grading, 40) == 0

    def test_a_good_start_counts(self):
        grading = Grading(np.arange(80) < 20, np.zeros(80, np.int32))
        early = np.arange(80, dtype=np.int32)
        assert harvest_at_lengths(early, grading, 80) == (1 + 0.5 + 0.25) / 3
        assert harvest_at_lengths(early[::-1], grading, 80) == (0 + 0 + 0.25) / 3


class TestGenomes:
    def test_nothing_but_zeros_is_no_strategy(self, fitness):
        assert fitness("0" * 63) == 0.0

    def test_a_genome_may_spell_phases(self, fitness):
        phased = dataclasses.replace(fitness, encoding=Encoding(phases=3, pages=80))
        of = dict(zip(("best-first", "hubs"), (BEST_FIRST, HUBS), strict=True))

        def spelt(early: str, middle: str, late: str) -> float:
            return phased(of[early] + genome_of([31], 7) + of[middle] + genome_of([95], 7) + of[late])

        worst, best = fitness(HUBS), fitness(BEST_FIRST)
        assert worst < spelt("hubs", "best-first", "hubs") < best
        assert worst < spelt("best-first", "hubs", "best-first") < best
        with pytest.raises(ValueError, match="29 genes of 7 bits, not 9"):
            phased(HUBS)

    def test_mistakes(self, fitness):
        with pytest.raises(ConfigError, match="at least one run"):
            dataclasses.replace(fitness, plans=[])
        with pytest.raises(ConfigError, match="no fitness 'size'; there are harvest, sites, lengths"):
            dataclasses.replace(fitness, measure="size")
