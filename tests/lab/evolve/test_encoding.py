from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.lab.evolve.encoding import BITS, SCORES, Encoding
from lycosa.lib.evolve import genome_of
from lycosa.strategies.papers.evolved import WEIGHTS, EvolvedSettings

NOTHING = dict.fromkeys(WEIGHTS, 0)
PHASED = Encoding(phases=3, pages=1_280)


def random_genome(encoding: Encoding, seed: int) -> str:
    drawn = np.random.default_rng(seed).integers(1, 128, len(encoding.genes))
    return genome_of(drawn.tolist(), BITS)


class TestOnePhase:
    def test_the_papers_best_individual(self):
        genome = genome_of([10, 10, 76, 121, 97, 36, 31, 2, 4], 7)
        assert Encoding().settings(genome) == EvolvedSettings()
        assert Encoding().settings(genome).weights()[:9].tolist() == [
            number / 387 for number in (10, 10, 76, 121, 97, 36, 31, 2, 4)
        ]

    def test_winners_become_genomes_again(self):
        again = Encoding().settings(Encoding().genome(EvolvedSettings()))
        assert again.weights() == pytest.approx(EvolvedSettings().weights(), abs=0.004)
        best_first = EvolvedSettings(**NOTHING | {"parent_1": 0.3})
        assert Encoding().genome(best_first) == genome_of([0, 0, 0, 0, 127, 0, 0, 0, 0], 7)

    def test_weights_that_are_not_evolved_do_not_count(self):
        settings = EvolvedSettings(**NOTHING | {"hub": 1, "host": 2})
        assert Encoding().genome(settings) == genome_of([127] + [0] * 8, 7)
        assert Encoding(names=SCORES["all"]).genome(settings) == genome_of([64] + [0] * 9 + [127], 7)

    def test_nothing_but_zeros_is_no_strategy(self):
        assert Encoding().settings("0" * 63) is None
        assert set(Encoding().shares(None).values()) == {0.0}

    def test_mistakes(self):
        with pytest.raises(ValueError, match="9 genes of 7 bits, not 2"):
            Encoding().settings("0" * 14)
        with pytest.raises(ConfigError, match="none of the weights that are evolved"):
            Encoding().genome(EvolvedSettings(**NOTHING | {"host": 1}))


class TestPhases:
    def test_each_has_weights_and_the_later_ones_a_beginning(self):
        weights = [[number] * 9 for number in (1, 2, 3)]
        genome = genome_of([*weights[0], 31, *weights[1], 95, *weights[2]], BITS)
        settings = PHASED.settings(genome)
        assert settings.switches() == [320, 960]  # a quarter, three quarters
        assert (settings.hub, settings.middle_parent_5, settings.late_comm_in) == (1, 2, 3)
        assert settings.late_host == 0
        shares = PHASED.shares(settings)
        assert list(shares) == list(PHASED.genes)
        assert shares["middle_hub"] == 1 / 9
        assert shares["late_from"] == 960

    def test_the_smaller_switch_is_that_of_the_middle_phase(self):
        genome = genome_of([*[1] * 9, 95, *[2] * 9, 31, *[3] * 9], BITS)
        assert PHASED.settings(genome).switches() == [320, 960]

    @pytest.mark.parametrize("pages", [1, 2, 1_000])
    def test_a_switch_is_somewhere_in_the_crawl(self, pages):
        for gene, visits in ((0, max(1, round(pages / 128))), (127, pages)):
            genome = genome_of([*[1] * 9, gene, *[2] * 9, gene, *[3] * 9], BITS)
            assert Encoding(phases=3, pages=pages).settings(genome).switches() == [visits, visits]

    def test_a_phase_of_nothing_but_zeros_is_no_strategy(self):
        for empty in range(3):
            weights = [[0 if phase == empty else 5] * 9 for phase in range(3)]
            assert PHASED.settings(genome_of([*weights[0], 31, *weights[1], 95, *weights[2]], BITS)) is None

    @pytest.mark.parametrize("phases", [1, 2, 3])
    def test_winners_become_genomes_again(self, phases):
        for seed in range(20):
            encoding = Encoding(names=SCORES["all"], phases=phases, pages=1_280)
            settings = encoding.settings(random_genome(encoding, seed))
            again = encoding.settings(encoding.genome(settings))
            assert again.switches() == settings.switches()
            for phase in range(phases):
                assert again.weights(phase) == pytest.approx(settings.weights(phase), abs=0.01)

    def test_a_winner_of_one_phase_is_cut_into_equal_parts(self):
        cut = PHASED.settings(PHASED.genome(EvolvedSettings()))
        assert cut.switches() == pytest.approx([1_280 / 3, 1_280 * 2 / 3], abs=5)
        assert cut.weights(0).tolist() == cut.weights(1).tolist() == cut.weights(2).tolist()
        two = dataclasses.replace(EvolvedSettings(), middle_from=640, middle_hub=1)
        assert PHASED.settings(PHASED.genome(two)).switches() == [640, 960]

    def test_a_winner_of_longer_crawls_switches_at_the_end(self):
        late = dataclasses.replace(EvolvedSettings(), middle_from=5_000, middle_hub=1)
        assert (
            Encoding(phases=2, pages=1_280).settings(Encoding(phases=2, pages=1_280).genome(late)).middle_from == 1_280
        )

    def test_mistakes(self):
        with pytest.raises(ConfigError, match="a strategy of 3 phases cannot be evolved further in 1"):
            Encoding().genome(PHASED.settings(random_genome(PHASED, 1)))
        with pytest.raises(ConfigError, match="phases is 4: there are at most 3: early, middle, late"):
            Encoding(phases=4)
        with pytest.raises(ConfigError, match="phases is 0"):
            Encoding(phases=0)
