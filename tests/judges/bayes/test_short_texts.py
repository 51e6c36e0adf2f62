"""A few words, such as an anchor: judged by all words that examples share, and calibrated on titles."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.bayes.bayes import BayesClassifier, BayesSettings
from lycosa.judges.classifier import Example
from lycosa.judges.formula import parse
from lycosa.judges.saved_arrays import pack, unpack
from lycosa.judges.topic_judges import FormulaJudge, TopicJudge, short_page
from lycosa.lib.text import term_counts
from lycosa.model import Page

TOPICS = ("Birds", "Boats", "Boats/Sailing")
FEW_FEATURES = BayesSettings(features=9)


def example(title: str, text: str, topic: str) -> Example:
    terms = term_counts(f"{title} {text}")
    return Example(Page(f"http://a.test/{title}", title=title, text=text, terms=terms), (topic,))


def examples() -> list[Example]:
    """Pages full of their topic's common words; what the titles name, two pages have in common."""
    common = {
        "Birds": ("feather beak wing nest egg " * 20, "puffin heron plover bittern avocet dunlin"),
        "Boats": ("hull keel crew cargo engine " * 20, "barge ferry dredger trawler tugboat lighter"),
        "Boats/Sailing": ("sail mast boom rigging wind " * 20, "ketch sloop yawl schooner catboat dinghy"),
    }
    return [
        example(f"{name} {number}", f"{text} {name} {name} notes page", topic)
        for topic, (text, names) in common.items()
        for name in names.split()
        for number in ("one", "two")
    ]


@pytest.fixture(scope="module")
def classifier() -> BayesClassifier:
    return BayesClassifier(FEW_FEATURES).fit(examples(), TOPICS)


def fits(classifier: BayesClassifier, text: str) -> dict[str, float]:
    assert classifier.short_texts is not None
    return dict(zip(classifier.topics_, classifier.short_texts(short_page(text)).tolist(), strict=True))


class TestAnchors:
    def test_a_word_that_is_no_feature_of_pages_still_tells(self, classifier):
        assert "puffin" not in classifier._terms
        judge = TopicJudge(classifier, ["Birds"])
        assert judge.score_text("Puffins") > 0.5
        assert judge.score_text("trawlers") == 0.0

    def test_formulas_too(self, classifier):
        judge = FormulaJudge(classifier, parse('"Boats/Sailing"'))
        assert judge.score_text("a schooner") > judge.score_text("barges") == 0.0

    def test_what_is_below_a_topic_speaks_for_it(self, classifier):
        found = fits(classifier, "sloops")
        assert found["Boats"] > 0.9
        assert found["Boats/Sailing"] > 0.9 > 0.1 > found["Birds"]

    @pytest.mark.parametrize("text", ["", "zzyzx", "the of and"])
    def test_words_nobody_knows_say_what_is_likely_anyway(self, classifier, text):
        assert fits(classifier, text) == pytest.approx({"Birds": 1 / 3, "Boats": 2 / 3, "Boats/Sailing": 1 / 3})
        assert TopicJudge(classifier, ["Birds"]).score_text(text) == 0.0

    def test_a_word_that_all_topics_share_says_little(self, classifier):
        assert TopicJudge(classifier, ["Birds"]).score_text("notes") < 0.2

    def test_a_word_of_a_single_page_is_not_known(self):
        once = [*examples(), example("Vowels", "feather beak wing vowels", "Birds")]
        assert TopicJudge(BayesClassifier(FEW_FEATURES).fit(once, TOPICS), ["Birds"]).score_text("vowels") == 0.0


def test_titles_that_tell_nothing_flatten_the_curve():
    """Titles of other topics' words: short texts are then no evidence, whatever the counts say."""
    shuffled = examples()
    titles = [page.title for page, _ in shuffled]
    moved = [
        Example(Page(page.url, title=titles[(at + 12) % len(titles)], terms=page.terms), topics)
        for at, (page, topics) in enumerate(shuffled)
    ]
    assert fits(BayesClassifier(FEW_FEATURES).fit(moved, TOPICS), "puffins")["Birds"] < 0.5


def test_a_title_is_scored_without_its_own_page():
    """Every title's word is frequent on its own page, and elsewhere only on a page of the other topic: it misleads."""
    words = [f"word{chr(97 + at // 5)}{chr(97 + at % 5)}" for at in range(20)]
    pages = [
        example(word, f"{word} " * 5 + words[(at + 1) % 20], "Birds" if at % 2 else "Boats")
        for at, word in enumerate(words)
    ]
    found = fits(BayesClassifier(BayesSettings(features=3)).fit(pages, ("Birds", "Boats")), words[1])
    assert found == pytest.approx({"Birds": 0.5, "Boats": 0.5}, abs=0.1)


def test_pages_without_titles_are_calibrated_by_their_first_words():
    bare = [Example(Page(page.url, terms=page.terms), topics) for page, topics in examples()]
    assert fits(BayesClassifier(FEW_FEATURES).fit(bare, TOPICS), "puffins")["Birds"] > 0.5


def test_a_topic_without_examples_never_fits(classifier):
    found = BayesClassifier(FEW_FEATURES).fit(examples(), (*TOPICS, "Trains"))
    assert fits(found, "puffins")["Trains"] == 0.0


class TestUpdates:
    def test_adding_and_removing_leaves_nothing_behind(self, classifier):
        again = BayesClassifier.load(classifier.save())
        more = [example("Puffin three", "feather beak puffin puffin puffin sloop sloop", "Boats/Sailing")]
        again.update(added=more)
        assert fits(again, "puffin")["Boats/Sailing"] > 0.2 > fits(classifier, "puffin")["Boats/Sailing"]
        again.update(removed=more)
        assert fits(again, "puffin") == pytest.approx(fits(classifier, "puffin"))


class TestSaving:
    def test_the_same_after_loading(self, classifier):
        again = BayesClassifier.load(classifier.save())
        for text in ("puffins", "a ketch", ""):
            assert fits(again, text) == fits(classifier, text)

    def test_a_judge_saved_before_judges_short_texts_like_pages(self, classifier):
        meta, arrays = unpack("bayes 2", classifier.save())
        older = {name: array for name, array in arrays.items() if not name.startswith("short_") and name != "meta"}
        loaded = BayesClassifier.load(pack("bayes 2", meta, older))
        assert loaded.short_texts is None
        assert TopicJudge(loaded, ["Birds"]).score_text("feathers") > 0
        loaded.update(added=examples()[:1])
        assert BayesClassifier.load(loaded.save()).short_texts is None

    @pytest.mark.parametrize(
        ("name", "broken"),
        [
            ("short_keys", lambda keys: keys[::-1]),
            ("short_keys", lambda keys: keys + 10**9),
            ("short_counts", lambda counts: counts[:-1]),
            ("short_counts", lambda counts: counts - 10**6),
            ("short_curve", lambda curve: np.append(curve, 1.0)),
            ("short_curve", lambda curve: curve * np.nan),
        ],
    )
    def test_what_does_not_fit_is_refused(self, classifier, name, broken):
        meta, arrays = unpack("bayes 2", classifier.save())
        arrays.pop("meta", None)
        with pytest.raises(ValueError, match="short texts"):
            BayesClassifier.load(pack("bayes 2", meta, {**arrays, name: broken(arrays[name])}))
