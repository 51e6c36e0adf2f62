from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example
from lycosa.judges.weighted_keywords import WeightedKeywordsClassifier, WeightedKeywordsSettings
from lycosa.lib.text import term_counts
from lycosa.model import Page

WORDS = {
    "Sport/Sailing": "sail mast harbour keel wind anchor regatta boat",
    "Sport/Cycling": "bicycle wheel pedal saddle race mountain tyre chain",
    "Science/Physics": "electron quantum energy particle field wave atom mass",
}
TOPICS = tuple(WORDS)


def page(text: str) -> Page:
    terms = term_counts(text)
    return Page("http://a.test/", text=text, terms=terms, words=sum(terms.values()))


def examples(count: int = 10, *, seed: int = 0) -> list[Example]:
    rng = np.random.default_rng(seed)
    common = ["people", "year", "world", "good", "time", "large", "house", "water"]
    return [
        Example(page(" ".join([*rng.choice(words.split(), 5), *rng.choice(common, 6)])), (topic,))
        for topic, words in WORDS.items()
        for _ in range(count)
    ]


def of(classifier: WeightedKeywordsClassifier, values: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(classifier.topics_, values.tolist(), strict=True))


def by_hand(**keywords: float) -> WeightedKeywordsClassifier:
    return WeightedKeywordsClassifier({"Sport/Sailing": keywords}).fit([], TOPICS)


def sailing(classifier: WeightedKeywordsClassifier, text: str) -> float:
    return of(classifier, classifier.memberships(page(text)))["Sport/Sailing"]


class TestByHand:
    def test_the_formula(self):
        # tf 2 of 3 words: 2 / (2 + 1.2·(0.25 + 0.75·3/300)) of the weight 3; tf 1 of weight −1
        half = 1.2 * (0.25 + 0.75 * 3 / 300)
        evidence = 3 * 2 / (2 + half) - 1 / (1 + half)
        assert sailing(by_hand(sailing=3, motor=-1), "sail, sails: motor!") == pytest.approx(evidence / (1 + evidence))

    @given(st.integers(1, 50), st.integers(0, 50))
    def test_more_of_a_keyword_never_fits_less(self, count, others):
        classifier = by_hand(sailing=1.0)
        # The number of words stays: some other words become keywords.
        fewer = sailing(classifier, "sail " * (count - 1) + "soup " * (others + 1))
        more = sailing(classifier, "sail " * count + "soup " * others)
        assert 0 <= fewer < more < 1

    def test_weights_count(self):
        assert sailing(by_hand(sail=2), "sail") > sailing(by_hand(sail=1), "sail") > 0
        assert sailing(by_hand(sail=1), "soup") == 0

    def test_negative_weights_speak_against(self):
        classifier = by_hand(sail=1, soup=-0.5)
        assert sailing(classifier, "sail") > sailing(classifier, "sail soup") > 0
        assert sailing(classifier, "soup soup soup") == 0
        assert classifier.strongest(page("sail soup"), "Sport/Sailing")["soup"] < 0

    def test_a_word_says_less_in_a_long_page(self):
        classifier = by_hand(sail=1)
        assert sailing(classifier, "sail " + "soup " * 10) > sailing(classifier, "sail " + "soup " * 10_000)

    def test_it_saturates(self):
        assert sailing(by_hand(sail=1), "sail " * 100_000) <= 0.5
        assert sailing(by_hand(sail=1e6), "sail " * 10) < 1

    def test_a_keyword_of_several_words_needs_them_all(self):
        classifier = WeightedKeywordsClassifier({"Sport/Sailing": {"tall ships": 1.0}}).fit([], TOPICS)
        assert sailing(classifier, "the ship was tall") > 0
        assert sailing(classifier, "the ship was small") == 0

    def test_a_topic_above_has_the_best_below(self):
        classifier = WeightedKeywordsClassifier({"Sport/Sailing": {"sail": 1}, "Sport/Cycling": {"wheel": 2}}).fit(
            [], TOPICS
        )
        found = of(classifier, classifier.memberships(page("sail wheel")))
        assert found["Sport"] == found["Sport/Cycling"] > found["Sport/Sailing"] > 0
        assert found["Science"] == found["Science/Physics"] == 0

    def test_posteriors_leave_room_for_none_of_them(self):
        classifier = WeightedKeywordsClassifier({"Sport/Sailing": {"sail": 1}, "Sport/Cycling": {"wheel": 1}}).fit(
            [], TOPICS
        )
        nothing = of(classifier, classifier.posteriors(page("soup")))
        assert nothing["Sport"] < 0.01
        found = of(classifier, classifier.posteriors(page("sail")))
        assert found["Sport/Sailing"] > 0.4
        assert found["Sport"] == pytest.approx(found["Sport/Sailing"] + found["Sport/Cycling"])
        assert found["Sport"] < 1

    @pytest.mark.parametrize(
        ("keywords", "message"),
        [
            ({"Sport/Sailling": {"sail": 1}}, "'Sport/Sailling'; did you mean 'Sport/Sailing'"),
            ({"Sport/Sailing": {"the": 1}}, "'the'.*stop word"),
            ({"Sport/Sailing": {"sail": float("inf")}}, "inf.*must be a number"),
            ({"Sport/Sailing": {"sail": -1}}, "no weight above 0"),
            ({"Sport/Sailing": {}}, "no weight above 0"),
            ({}, "no topic has keywords"),
        ],
    )
    def test_wrong_keywords_are_named(self, keywords, message):
        with pytest.raises(InputError, match=message):
            WeightedKeywordsClassifier(keywords).fit([], TOPICS)


@pytest.fixture(scope="module")
def fitted() -> WeightedKeywordsClassifier:
    return WeightedKeywordsClassifier().fit(examples(), TOPICS)


class TestCentroids:
    def test_pages_are_put_where_they_belong(self, fitted):
        unseen = examples(10, seed=1)
        for values in (fitted.posteriors, fitted.memberships):
            leaves = [{t: v for t, v in of(fitted, values(e.page)).items() if t in TOPICS} for e in unseen]
            right = sum(max(leaf, key=leaf.get) in e.topics for leaf, e in zip(leaves, unseen, strict=True))
            assert right >= 0.95 * len(unseen)

    def test_posteriors_follow_the_tree(self, fitted):
        for example in examples(3, seed=2):
            found = of(fitted, fitted.posteriors(example.page))
            assert found["Sport"] == pytest.approx(found["Sport/Sailing"] + found["Sport/Cycling"])
            assert found["Sport"] + found["Science"] == pytest.approx(1.0)

    def test_only_the_heaviest_words_are_kept(self):
        settings = WeightedKeywordsSettings(centroid_words=3)
        classifier = WeightedKeywordsClassifier(settings=settings).fit(examples(), TOPICS)
        everything = page(" ".join(WORDS.values()) + " people year world good time large house water")
        assert len(classifier.strongest(everything, "Sport/Sailing", count=100)) == 3

    def test_one_topic_alone_can_be_learned(self):
        alone = [example for example in examples() if example.topics == ("Sport/Sailing",)]
        classifier = WeightedKeywordsClassifier().fit(alone, TOPICS)
        assert sailing(classifier, WORDS["Sport/Sailing"]) > 0.5 > sailing(classifier, WORDS["Science/Physics"])

    def test_one_example(self):
        classifier = WeightedKeywordsClassifier().fit([Example(page("sail mast"), ("Sport/Sailing",))], TOPICS)
        assert sailing(classifier, "sail mast") > 0.5 > sailing(classifier, "soup")
        assert of(classifier, classifier.memberships(page("sail")))["Science"] == 0

    def test_only_pages_of_no_topic_teach_nothing(self):
        with pytest.raises(InputError, match="no topic has keywords"):
            WeightedKeywordsClassifier().fit([Example(page("sail"), ())], TOPICS)

    def test_keywords_by_hand_and_examples_together(self):
        given_by_hand = {"Science/Physics": {"quantum": 2.0, "electron": 2.0}}
        some = [example for example in examples() if example.topics != ("Science/Physics",)]
        classifier = WeightedKeywordsClassifier(given_by_hand).fit(some, TOPICS)
        found = of(classifier, classifier.posteriors(page("quantum electron")))
        assert max(found, key=found.get).startswith("Science")
        found = of(classifier, classifier.posteriors(page(WORDS["Sport/Sailing"])))
        assert found["Sport/Sailing"] > max(found["Sport/Cycling"], found["Science"])

    @pytest.mark.parametrize(
        "text", ["", "sail", "帆船 が 好き", "sail wind " * 250_000], ids=["none", "1", "ja", "long"]
    )
    def test_odd_pages_get_finite_values_in_range(self, fitted, text):
        odd = page(text)
        for values in (fitted.posteriors(odd), fitted.memberships(odd)):
            assert np.isfinite(values).all()
            assert ((values >= 0) & (values <= 1)).all()


class TestStoring:
    def test_what_was_saved_judges_alike(self):
        given_by_hand = {"Science/Physics": {"quantum mechanics": 2.0, "electron": 1.0}}
        fitted = WeightedKeywordsClassifier(given_by_hand).fit(examples(), TOPICS)
        loaded = WeightedKeywordsClassifier.load(fitted.save())
        for example in examples(3, seed=4):
            assert (loaded.posteriors(example.page) == fitted.posteriors(example.page)).all()
            assert (loaded.memberships(example.page) == fitted.memberships(example.page)).all()
            for topic in fitted.topics_:
                assert loaded.strongest(example.page, topic) == fitted.strongest(example.page, topic)

    @pytest.mark.parametrize("cut", [0, 1, 100, -1])
    def test_damaged_bytes_are_refused(self, cut):
        with pytest.raises(ValueError, match="saved classifier"):
            WeightedKeywordsClassifier.load(by_hand(sail=1).save()[:cut])


@pytest.mark.parametrize(
    "wrong", [{"saturation": 0}, {"length_share": 1.5}, {"length_share": -1}, {"centroid_words": 0}]
)
def test_settings_are_checked(wrong):
    with pytest.raises(ConfigError, match=f"keywords.{next(iter(wrong))}"):
        WeightedKeywordsSettings(**wrong)
