"""How well a similarity classifies by its nearest neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, recall_score

from lycosa.errors import ConfigError
from lycosa.judges.gp.fitness import ClassCounts, NeighbourFitness, macro_f1, paper_f
from lycosa.judges.gp.neighbours import NOBODY
from lycosa.lib.gp.trees import Expression

A, B, C = 0, 1, 2


def one_class(classes: list[int], count: int = 3) -> np.ndarray:
    return np.eye(count, dtype=np.bool_)[classes]


def fitness(similarity: np.ndarray, examples: np.ndarray, *, k: int, truth: np.ndarray | None = None, **more: object):
    truth = one_class([A] * len(similarity)) if truth is None else truth
    return NeighbourFitness({"s": similarity.astype(np.float32)}, truth, examples, k=k, **more)


def naive(similarity: np.ndarray, examples: np.ndarray, k: int, own: np.ndarray) -> list[int]:
    found = []
    for row, values in enumerate(similarity):
        order = [at for at in np.argsort(-values, kind="stable") if at != own[row] and values[at] > 0][:k]
        votes = np.zeros(examples.shape[1])
        for at in order:
            votes[examples[at]] += values[at] / examples[at].sum()
        found.append(int(votes.argmax()) if votes.any() else NOBODY)
    return found


class TestNeighbours:
    def test_votes_are_weighted_by_similarity(self):
        examples = one_class([A, B, B])
        values = np.array([[0.9, 0.4, 0.4], [0.7, 0.4, 0.4], [0.1, 0.0, 0.3]])
        assert fitness(values, examples, k=3).predictions(Expression("s")).tolist() == [A, B, B]

    def test_only_the_k_nearest_vote(self):
        examples = one_class([B, A, A])
        values = np.array([[0.5, 0.4, 0.3]])
        predictions = [fitness(values, examples, k=k).predictions(Expression("s"))[0] for k in (1, 2, 3, 100)]
        assert predictions == [B, B, A, A]

    def test_a_document_does_not_vote_for_itself(self):
        examples = one_class([A, B])
        values = np.array([[9.0, 0.1], [0.1, 9.0]])
        alone = fitness(values, examples, k=1, own=np.array([0, 1]))
        assert alone.predictions(Expression("s")).tolist() == [B, A]
        assert fitness(values, examples, k=1).predictions(Expression("s")).tolist() == [A, B]

    def test_who_has_nothing_in_common_does_not_vote(self):
        values = np.array([[0.0, 0.0], [-1.0, 0.0]])
        assert fitness(values, one_class([A, B]), k=2).predictions(Expression("s")).tolist() == [NOBODY, NOBODY]

    def test_of_equals_the_first(self):
        values = np.array([[0.5, 0.5, 0.5]])
        assert fitness(values, one_class([C, A, B]), k=1).predictions(Expression("s")).tolist() == [C]
        assert fitness(values, one_class([C, A, B]), k=3).predictions(Expression("s")).tolist() == [A]

    def test_a_vote_is_shared_among_the_classes_of_an_example(self):
        examples = np.array([[True, True, False], [False, False, True]])
        values = np.array([[0.5, 0.4]])
        assert fitness(values, examples, k=2).predictions(Expression("s")).tolist() == [C]

    @pytest.mark.parametrize("k", [1, 3, 10, 50])
    def test_against_plain_python(self, k):
        rng = np.random.default_rng(k)
        values = np.round(rng.random((40, 30)) * 20 - 4) / 8  # many equal ones, some below 0
        examples = one_class(rng.integers(0, 3, 30).tolist())
        examples[::7, C] = True
        own = rng.integers(-1, 30, 40)
        found = fitness(values, examples, k=k, own=own).predictions(Expression("s"))
        assert found.tolist() == naive(values, examples, k, own)


class TestMeasures:
    def test_macro_f1_is_that_of_scikit_learn(self):
        rng = np.random.default_rng(0)
        truth, predicted = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
        counts = ClassCounts.of(predicted, one_class(truth.tolist()))
        assert macro_f1(counts) == pytest.approx(f1_score(truth, predicted, average="macro"))
        assert paper_f(counts) == pytest.approx(recall_score(truth, predicted, average="macro"))

    def test_a_rare_class_counts_as_much_as_others(self):
        truth = one_class([A] * 9 + [B])
        counts = ClassCounts.of(np.full(10, A), truth)
        assert paper_f(counts) == 0.5
        assert macro_f1(counts) == pytest.approx((2 * 0.9 / 1.9) / 2)

    def test_no_prediction_is_a_wrong_one(self):
        counts = ClassCounts.of(np.array([A, NOBODY]), one_class([A, A]))
        assert counts.recall[A] == 0.5
        assert counts.precision[A] == 1

    def test_a_document_of_several_classes_counts_for_the_one_that_was_hit(self):
        truth = np.array([[True, False, True], [True, False, True]])
        counts = ClassCounts.of(np.array([C, B]), truth)
        assert counts.true.tolist() == [1, 0, 1]
        assert counts.right.tolist() == [0, 0, 1]
        assert counts.said.tolist() == [0, 1, 1]

    def test_the_measure_is_chosen_by_name(self):
        values, examples = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1]]), one_class([A, B])
        truth = one_class([A, A, B, B])
        by_f1 = fitness(values, examples, k=1, truth=truth)(Expression("s"))
        by_paper = fitness(values, examples, k=1, truth=truth, measure="paper")(Expression("s"))
        assert by_f1 == pytest.approx((4 / 5 + 2 / 3) / 2)
        assert by_paper == pytest.approx(0.75)
        with pytest.raises(ConfigError, match=r"gp-knn.measure is 'accuracy': there are macro-f1, paper"):
            fitness(values, examples, k=1, measure="accuracy")


def test_what_a_high_similarity_is():
    values = np.array([[9.0, 0.2, 0.1], [0.4, 9.0, 0.1], [0.0, 0.0, 9.0]])
    found = fitness(values, one_class([A, B, C]), k=1, own=np.arange(3))
    assert found.nearest(Expression("s")) == pytest.approx(0.3)
    assert fitness(np.zeros((2, 2)), one_class([A, B]), k=1).nearest(Expression("s")) == 1
