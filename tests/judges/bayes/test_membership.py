from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.bayes.bayes import BayesClassifier, BayesSettings
from lycosa.judges.bayes.membership import Memberships
from lycosa.judges.bayes.tree import Tree
from lycosa.judges.calibration import expected_calibration_error
from lycosa.judges.classifier import Example
from lycosa.model import Page

TOPICS = ("place/island", "place/town", "sport/bike", "sport/sail")


def document(rng: np.random.Generator, *topics: str, length: int = 120) -> Page:
    """A fifth of the words are from the topics' own thirty; the rest are from three hundred common ones."""
    words = [f"common{number}" for number in rng.integers(0, 300, length - length // 5)]
    for topic in topics:
        words += [f"{topic}{number}" for number in rng.integers(0, 30, max(1, length // 5 // len(topics)))]
    terms: dict[str, int] = {}
    for word in words:
        terms[word] = terms.get(word, 0) + 1
    return Page("http://a.test/", terms=terms, words=len(words))


def examples(count: int, seed: int) -> list[Example]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(20, 300, count)
    return [
        Example(document(rng, TOPICS[number % 4], length=int(lengths[number])), (TOPICS[number % 4],))
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def classifier() -> BayesClassifier:
    """Thirty examples per topic."""
    return BayesClassifier().fit(examples(120, 1), TOPICS)


def memberships(classifier: BayesClassifier, page: Page) -> dict[str, float]:
    return dict(zip(classifier.topics_, classifier.memberships(page).tolist(), strict=True))


class TestSense:
    @pytest.mark.parametrize("terms", [{}, {"unheard": 3}])
    def test_a_page_that_says_nothing_has_the_base_rate(self, classifier, terms):
        found = memberships(classifier, Page("http://a.test/", terms=terms))
        assert [found[topic] for topic in TOPICS] == pytest.approx([0.25] * 4, abs=0.01)
        assert found["sport"] == pytest.approx(0.5, abs=0.01)

    def test_a_page_on_topic_belongs_to_it_and_to_topics_above(self, classifier):
        found = memberships(classifier, document(np.random.default_rng(2), "sport/bike"))
        assert found["sport/bike"] > 0.9
        assert found["sport"] >= found["sport/bike"]
        assert max(found["sport/sail"], found["place/island"], found["place/town"], found["place"]) < 0.1

    def test_a_page_on_two_topics_of_different_branches_belongs_to_both(self, classifier):
        found = memberships(classifier, document(np.random.default_rng(3), "sport/sail", "place/island", length=200))
        assert min(found["sport/sail"], found["place/island"]) > 0.8
        assert max(found["sport/bike"], found["place/town"]) < 0.2

    def test_one_telling_word_counts_but_is_not_everything(self, classifier):
        one = memberships(classifier, Page("http://a.test/", terms={"sport/bike1": 1}))["sport/bike"]
        three = memberships(classifier, Page("http://a.test/", terms={f"sport/bike{n}": 1 for n in range(3)}))
        assert 0.3 < one < three["sport/bike"]

    def test_a_page_like_the_examples_of_no_topic_belongs_nowhere(self):
        rng = np.random.default_rng(4)
        others = [Example(document(rng, "cooking"), ()) for _ in range(30)]
        found = memberships(BayesClassifier().fit([*examples(120, 1), *others], TOPICS), document(rng, "cooking"))
        assert max(found.values()) < 0.1

    def test_more_of_the_same_does_not_overflow(self, classifier):
        terms = {f"sport/bike{number}": 10**6 for number in range(30)}
        assert memberships(classifier, Page("http://a.test/", terms=terms))["sport/bike"] == pytest.approx(1.0)


def test_memberships_are_calibrated():
    fitted = BayesClassifier().fit(examples(400, 5), TOPICS)
    rng = np.random.default_rng(6)
    found, came = [], []
    # Short pages, so that some are in doubt.
    for number in range(400):
        page = document(rng, TOPICS[number % 4], length=int(rng.integers(3, 40)))
        found += [memberships(fitted, page)[topic] for topic in TOPICS]
        came += [topic == TOPICS[number % 4] for topic in TOPICS]
    assert expected_calibration_error(found, came) < 0.1
    assert np.mean((np.array(found) >= 0.5) == came) > 0.9


class TestFewExamples:
    def test_a_topic_with_one_example(self):
        rng = np.random.default_rng(7)
        alone = Example(document(rng, "sport/row"), ("sport/row",))
        fitted = BayesClassifier().fit([*examples(120, 8), alone], (*TOPICS, "sport/row"))
        found = memberships(fitted, document(rng, "sport/row"))
        nothing = memberships(fitted, Page("http://a.test/"))
        assert found["sport/row"] > 5 * nothing["sport/row"]
        assert max(found[topic] for topic in TOPICS) < 0.3

    def test_a_topic_without_examples_has_no_members(self):
        fitted = BayesClassifier().fit(examples(40, 9), (*TOPICS, "art/music"))
        found = memberships(fitted, document(np.random.default_rng(10), "art/music"))
        assert (found["art"], found["art/music"]) == (0.0, 0.0)

    def test_without_calibration_the_order_is_the_same(self):
        fitted = BayesClassifier(BayesSettings(calibration_examples=0)).fit(examples(80, 11), TOPICS)
        found = memberships(fitted, document(np.random.default_rng(12), "sport/bike"))
        assert found["sport/bike"] > 0.25 > max(found[topic] for topic in TOPICS if topic != "sport/bike")


def test_examples_added_later_make_members():
    fitted = BayesClassifier().fit(examples(120, 13), TOPICS)
    rng = np.random.default_rng(14)
    # Words of another topic, known but not typical of this one.
    page = document(rng, "place/town")
    before = memberships(fitted, page)["sport/bike"]
    fitted.update([Example(document(rng, "place/town"), ("sport/bike",)) for _ in range(60)])
    assert memberships(fitted, page)["sport/bike"] > max(2 * before, 0.3)


def test_curves_that_do_not_fit_are_refused():
    made = Memberships(Tree(TOPICS))
    arrays = made.to_arrays()
    with pytest.raises(ValueError, match="curves"):
        made.set_arrays({**arrays, "curves": arrays["curves"][:, 1:]})
    with pytest.raises(ValueError, match="curves"):
        made.set_arrays({**arrays, "exponent": np.array(2.0)})
