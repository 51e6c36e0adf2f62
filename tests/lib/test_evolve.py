from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.lib.evolve import GeneticSettings, Population, evolve, flip, genes, genome_of, spin

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
