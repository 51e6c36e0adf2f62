from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.lib.evolve import GeneticSettings, Population, children_of, evolve, flip, genes, genome_of, spin

SMALL = GeneticSettings(population=20, generations=30, genes=3)


def ones(genome: str) -> float:
    return genome.count("1")


def run(settings: GeneticSettings = SMALL, *, seed: int = 1, fitness=ones, **more) -> list[Population]:
    return list(evolve(fitness, settings, rng=np.random.default_rng(seed), **more))


class TestLoop:
    @pytest.mark.parametrize("seed", range(3))
    def test_it_finds_the_optimum_of_one_max(self, seed):
        settings = GeneticSettings(population=50, generations=60, mutation_probability=0.2, genes=3)
        assert run(settings, seed=seed)[-1].best == "1" * 21

    def test_nothing_fit_is_ever_lost(self):
        best = [population.fitness[0] for population in run()]
        mean = [population.mean for population in run()]
        assert best == sorted(best)
        assert mean == sorted(mean)
        assert mean[-1] > mean[0] + 5

    def test_the_population_is_sorted_and_keeps_its_size(self):
        for number, population in enumerate(run(GeneticSettings(population=7, generations=5, genes=2))):
            assert population.generation == number
            assert len(population.genomes) == len(population.fitness) == 7
            assert list(population.fitness) == sorted(map(ones, population.genomes), reverse=True)

    def test_without_crossover_and_mutation_nothing_new_appears(self):
        still = GeneticSettings(population=10, generations=5, genes=2, crossover_probability=0, mutation_probability=0)
        first, *_, last = run(still)
        assert set(last.genomes) <= set(first.genomes)

    def test_a_genome_is_evaluated_once(self):
        asked: list[str] = []

        def counted(genome: str) -> float:
            asked.append(genome)
            return ones(genome)

        run(fitness=counted)
        assert len(asked) == len(set(asked)) > SMALL.population

    def test_earlier_winners_join_the_first_population(self):
        winners = ["1" * 21, "0" * 21]
        first = run(start=winners)[0]
        assert set(winners) <= set(first.genomes)
        assert len(first.genomes) == SMALL.population

    def test_only_the_first_of_too_many_winners_join(self):
        few = GeneticSettings(population=2, generations=0, genes=1)
        assert set(run(few, start=["0000001", "0000011", "1111111"])[0].genomes) == {"0000001", "0000011"}

    def test_where_nothing_is_fit_it_goes_on_all_the_same(self):
        populations = run(fitness=lambda genome: 0.0)
        assert populations[-1].generation == SMALL.generations

    @pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), "much"])
    def test_a_fitness_that_is_none_is_an_error(self, value):
        with pytest.raises(ValueError, match="a fitness must be a number of 0 or more"):
            run(fitness=lambda genome: value)


class Scripted:
    """Random numbers as written down, and what was asked for."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = list(numbers)
        self.asked: list[tuple[object, ...]] = []
        self.bit_generator = np.random.default_rng(0).bit_generator

    def random(self) -> float:
        self.asked.append(("random",))
        return self.numbers.pop(0)

    def integers(self, *bounds: int) -> int:
        self.asked.append(("integers", *bounds))
        return int(self.numbers.pop(0))


class TestOperators:
    """Each genetic operator, number by number: whoever changes one has to change its test."""

    SETTINGS = GeneticSettings(population=2, genes=2, bits=4)
    FIRST, SECOND, THIRD = "11110000", "00001111", "10101010"

    def population(self, fitness=(6.0, 3.0, 1.0)) -> Population:
        return Population(0, (self.FIRST, self.SECOND, self.THIRD), fitness, {})

    def children(self, *numbers: float, settings: GeneticSettings = SETTINGS, **population) -> list[str]:
        self.rng = Scripted(*numbers)
        found = children_of(self.population(**population), settings, self.rng)
        assert not self.rng.numbers, "more random numbers were expected to be used"
        return found

    @pytest.mark.parametrize(
        ("balls", "parents"),
        [((0.0, 0.59), (FIRST, FIRST)), ((0.61, 0.89), (SECOND, SECOND)), ((0.91, 0.3), (THIRD, FIRST))],
    )
    def test_parents_are_drawn_in_proportion_to_their_fitness(self, balls, parents):
        assert self.children(*balls, 0.99, 0.99, 0.99) == list(parents)

    def test_where_nothing_is_fit_all_are_equally_likely(self):
        found = self.children(0.3, 0.4, 0.99, 0.99, 0.99, fitness=(0.0, 0.0, 0.0))
        assert found == [self.FIRST, self.SECOND]

    @pytest.mark.parametrize("cut", range(9))
    def test_crossover_exchanges_what_comes_after_a_random_cut(self, cut):
        one, other = self.children(0.1, 0.7, 0.5, cut, 0.99, 0.99)
        assert one == self.FIRST[:cut] + self.SECOND[cut:]
        assert other == self.SECOND[:cut] + self.FIRST[cut:]
        assert ("integers", 0, 9) in self.rng.asked  # any cut, before the first bit and after the last included

    def test_it_comes_with_its_probability_and_no_more_often(self):
        assert self.children(0.1, 0.7, 0.91, 0.99, 0.99) == [self.FIRST, self.SECOND]
        assert self.children(0.1, 0.7, 0.89, 4, 0.99, 0.99) == ["11111111", "00000000"]

    @pytest.mark.parametrize("at", range(8))
    def test_a_mutant_has_one_random_bit_flipped(self, at):
        one, other = self.children(0.1, 0.7, 0.99, 0.009, at, 0.5)
        assert one == flip(self.FIRST, at)
        assert other == self.SECOND
        assert ("integers", 8) in self.rng.asked

    def test_there_are_as_many_as_their_probability_says(self):
        assert self.children(0.1, 0.7, 0.99, 0.011, 0.0101) == [self.FIRST, self.SECOND]
        assert self.children(0.1, 0.7, 0.99, 0.5, 0.0099, 3) == [self.FIRST, flip(self.SECOND, 3)]

    def test_the_paper_s_numbers(self):
        paper = GeneticSettings()
        assert (paper.population, paper.generations, paper.bits) == (50, 50, 7)
        assert (paper.crossover_probability, paper.mutation_probability) == (0.90, 0.01)
        assert (paper.is_diverse, paper.patience) == (False, 0)

    def test_of_equally_fit_individuals_the_older_survive(self):
        populations = run(GeneticSettings(population=6, generations=4, genes=2), fitness=lambda genome: 1.0)
        assert all(population.genomes == populations[0].genomes for population in populations)

    def test_the_fitter_half_of_old_and_new_survives(self):
        first, second = run(GeneticSettings(population=12, generations=1, genes=2, mutation_probability=1.0))
        born = children_of(
            first,
            GeneticSettings(population=12, generations=1, genes=2, mutation_probability=1.0),
            _rng_at(first.rng),
        )
        expected = sorted([*map(ones, first.genomes), *map(ones, born)], reverse=True)[:12]
        assert list(second.fitness) == expected


def _rng_at(state) -> np.random.Generator:
    rng = np.random.default_rng(0)
    rng.bit_generator.state = dict(state)
    return rng


class TestBeyondThePaper:
    DIVERSE = GeneticSettings(population=10, generations=12, genes=2, is_diverse=True)

    def test_no_genome_joins_twice(self):
        for population in run(self.DIVERSE, fitness=lambda genome: max(0, 5 - abs(genome.count("1") - 5))):
            assert len(set(population.genomes)) == 10

    def test_without_it_copies_fill_the_population(self):
        plain = GeneticSettings(population=10, generations=12, genes=2)
        assert len(set(run(plain)[-1].genomes)) < 10

    def test_a_copy_is_replaced_by_a_random_genome(self):
        still = GeneticSettings(
            population=4, generations=1, genes=3, crossover_probability=0, mutation_probability=0, is_diverse=True
        )
        first, second = run(still, fitness=lambda genome: 1.0 + (genome in known), start=(known := ["1" * 21]))
        assert set(first.genomes) == set(second.genomes)  # the new ones are no fitter, but were tried:
        asked: list[str] = []
        run(still, fitness=lambda genome: asked.append(genome) or 1.0)
        assert len(set(asked)) == len(asked) == 8

    def test_a_population_that_stands_still_starts_anew_around_its_best(self):
        settings = GeneticSettings(population=8, generations=9, genes=3, patience=3, mutation_probability=0.0)
        populations = run(settings, fitness=lambda genome: 1.0)
        assert [population.stale for population in populations] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
        before, after = populations[3], populations[4]
        assert after.best == before.best
        flips = [sum(a != b for a, b in zip(genome, before.best, strict=True)) for genome in after.genomes[1:]]
        assert flips == [round(0.35 * 21)] * 7

    def test_progress_ends_the_wait(self):
        settings = GeneticSettings(population=20, generations=8, genes=3, patience=2, mutation_probability=0.5)
        found = run(settings)
        for before, after in itertools.pairwise(found):
            if after.fitness[0] > before.fitness[0]:
                assert after.stale == 0
            assert after.fitness[0] >= before.fitness[0]

    def test_it_never_starts_anew_by_itself(self):
        populations = run(GeneticSettings(population=6, generations=30, genes=2), fitness=lambda genome: 1.0)
        assert populations[-1].stale == 30
        assert populations[-1].genomes == populations[0].genomes

    def test_a_restart_is_resumed_as_it_was(self):
        settings = GeneticSettings(population=8, generations=9, genes=3, patience=2, is_diverse=True)
        whole = run(settings)
        for after in (2, 3, 4, 5):
            assert run(settings, seed=99, start=whole[after]) == whole[after + 1 :]

    def test_known_strategies_given_twice_join_once(self):
        first = run(start=["1" * 21, "1" * 21])[0]
        assert first.genomes.count("1" * 21) == 1


class TestDeterminism:
    def test_the_same_random_numbers_give_the_same_populations(self):
        assert run(seed=5) == run(seed=5)
        assert run(seed=5)[-1] != run(seed=6)[-1]

    def test_another_map_changes_nothing(self):
        with ThreadPoolExecutor(3) as pool:
            assert run(map=pool.map) == run()

    @pytest.mark.parametrize("after", [0, 1, 17])
    def test_it_goes_on_from_what_was_saved(self, after):
        whole = run()
        saved = json.dumps(whole[after].to_data())
        restored = Population.from_data(json.loads(saved), SMALL)
        assert restored == whole[after]
        assert run(seed=99, start=restored) == whole[after + 1 :]

    def test_it_can_be_stopped_after_any_generation(self):
        assert list(islice(evolve(ones, SMALL, rng=np.random.default_rng(1)), 4)) == run()[:4]


class TestDamage:
    @pytest.fixture
    def data(self):
        return run(GeneticSettings(population=20, generations=1, genes=3))[-1].to_data()

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("generation", -1),
            ("generation", "3"),
            ("genomes", ["01"] * 20),
            ("genomes", ["2" * 21] * 20),
            ("genomes", ["0" * 21] * 19),
            ("genomes", None),
            ("fitness", [0.5] * 19),
            ("fitness", [float("nan")] * 20),
            ("rng", {}),
            ("rng", {"bit_generator": "PCG64", "state": {"state": -1, "inc": 1}, "has_uint32": 0, "uinteger": 0}),
            ("rng", "x"),
        ],
    )
    def test_a_damaged_population_is_refused(self, data, name, value):
        with pytest.raises(InputError, match="saved population"):
            Population.from_data({**data, name: value}, SMALL)

    @pytest.mark.parametrize("data", [None, [], {}, {"generation": 1}])
    def test_something_else_is_refused(self, data):
        with pytest.raises(InputError, match="saved population is damaged"):
            Population.from_data(data, SMALL)

    def test_a_start_of_another_length_is_refused(self):
        with pytest.raises(InputError, match="'101' is not a genome of 3 genes of 7 bits"):
            run(start=["101"])


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"population": 1}, "evolve.population is 1: it must be 2 or more"),
            ({"generations": -1}, "evolve.generations is -1"),
            ({"crossover_probability": 1.5}, "evolve.crossover_probability is 1.5: it must be 1 or less"),
            ({"mutation_probability": -0.1}, "evolve.mutation_probability is -0.1"),
            ({"mutation_probability": float("nan")}, "evolve.mutation_probability is nan"),
            ({"genes": 0}, "evolve.genes is 0"),
            ({"bits": 0}, "evolve.bits is 0"),
        ],
    )
    def test_impossible_ones_are_refused(self, settings, message):
        with pytest.raises(ConfigError, match=message):
            GeneticSettings(**settings)

    def test_the_papers_are_the_default(self):
        assert GeneticSettings().length == 63


class TestBits:
    def test_genes_are_read_and_written(self):
        assert genes("00010101111111", 7) == [10, 127]
        assert genome_of([10, 127], 7) == "00010101111111"
        with pytest.raises(ValueError, match="from 0 to 127"):
            genome_of([128], 7)

    def test_flip(self):
        assert [flip("010", at) for at in range(3)] == ["110", "000", "011"]

    def test_roulette_follows_the_shares(self):
        rng = np.random.default_rng(2)
        wheel = np.cumsum([1.0, 0.0, 3.0])
        counts = np.bincount([spin(wheel, rng) for _ in range(4000)], minlength=3)
        assert counts[1] == 0
        assert 0.22 < counts[0] / 4000 < 0.28
