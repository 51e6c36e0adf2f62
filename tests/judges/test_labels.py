from __future__ import annotations

import numpy as np
import pytest

from lycosa.errors import InputError
from lycosa.judges.classifier import ANY
from lycosa.judges.labels import Labels, below, blocks, folds, likeliest, require_contrast
from lycosa.model import Page


def labels(*documents: tuple[str, tuple[str, ...]]) -> Labels:
    made = Labels(("A/B", "A/C", "D"))
    for text, topics in documents:
        made.add(Page("", text=text, terms={text: 1}), topics)
    return made


def test_topics_above_are_topics_too():
    assert labels().topics == ("A", "A/B", "A/C", "D")


def test_classes_are_topics_with_examples_of_their_own():
    made = labels(("x", ("A/B",)), ("y", ("A",)), ("z", ("A/B",)))
    assert made.classes() == ("A", "A/B")
    assert made.by_class(("A", "A/B")).tolist() == [[False, True], [True, False], [False, True]]


@pytest.mark.parametrize("topics", [(), (ANY,)])
def test_a_document_of_no_topic_is_of_the_class_any(topics):
    made = labels(("x", ("D",)), ("y", topics))
    assert made.classes() == (ANY, "D")
    assert made.by_class((ANY, "D")).tolist() == [[False, True], [True, False]]


def test_equal_documents_are_one_row_under_the_topics_of_both():
    made = labels(("x", ("D",)), ("x", ("A/B",)), ("y", ()))
    assert len(made) == 2
    assert made.by_class(made.classes()).tolist() == [[False, True, True], [True, False, False]]


def test_what_is_below():
    assert below((ANY, "A", "A/B"), ("A", "A/B", "D")).tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]


def test_an_unknown_topic_is_an_error():
    with pytest.raises(InputError, match="'E'"):
        labels(("x", ("E",)))


def test_no_topic_is_an_error():
    with pytest.raises(InputError, match="no topic to learn"):
        Labels((ANY,))


def test_one_class_alone_has_no_contrast():
    with pytest.raises(InputError, match=r"'D'.*negatives"):
        require_contrast(("D",), np.ones((3, 1), np.bool_))
    require_contrast(("D", "E"), np.array([[True, False], [True, True]]))


class TestFolds:
    def test_neighbours_are_held_out_together(self):
        truth = np.zeros((12, 2), np.bool_)
        truth[:6, 0] = truth[6:, 1] = True
        assert folds(truth, 3).tolist() == [0, 0, 1, 1, 2, 2, 1, 1, 2, 2, 0, 0]

    def test_each_class_is_spread_over_all_folds(self):
        truth = np.arange(100)[:, None] % 7 == np.arange(7)
        fold = folds(truth, 3)
        for members in truth.T:
            assert np.ptp(np.bincount(fold[members], minlength=3)) <= 1

    def test_classes_of_one_document_do_not_all_fall_into_one_fold(self):
        assert set(folds(np.eye(6, dtype=np.bool_), 3).tolist()) == {0, 1, 2}

    def test_no_rows_have_no_folds(self):
        assert blocks(np.zeros(0, np.int64), 3).tolist() == []


def test_the_likeliest_class_is_taken_and_unknown_ones_are_left_out():
    truth = np.array([[True, True, False], [False, False, True], [True, False, True]])
    scores = np.array([[1.0, 2.0, 9.0], [5.0, 5.0, np.nan], [-3.0, 0.0, np.nan]])
    rows, classes = likeliest(scores, truth)
    assert rows.tolist() == [0, 2]
    assert classes.tolist() == [1, 0]
