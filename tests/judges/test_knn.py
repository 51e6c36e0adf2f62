from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example
from lycosa.judges.knn import KnnClassifier, KnnSettings, TfidfCosine
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


def of(classifier: KnnClassifier, values: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(classifier.topics_, values.tolist(), strict=True))


@pytest.fixture(scope="module")
def fitted() -> KnnClassifier:
    return KnnClassifier(KnnSettings(k=5)).fit(examples(), TOPICS)


class SharedWords:
    """A similarity that is not a cosine: how many words two documents share."""

    def fit(self, pages: Iterable[Page]) -> SharedWords:
        self.sets = [set(page.terms) for page in pages]
        return self

    def to_examples(self, page: Page) -> NDArray[np.float64]:
        return np.array([float(len(words & set(page.terms))) for words in self.sets])


def by_shared_words(k: int) -> KnnClassifier:
    classifier = KnnClassifier(KnnSettings(k=k))
    classifier.similarity = SharedWords()
    return classifier


class TestCosine:
    def test_it_is_the_cosine_of_the_vectors(self):
        pages = [example.page for example in examples()]
        similarity = TfidfCosine(query_terms=1000).fit(pages)
        idf = {
            term: np.log((1 + len(pages)) / (1 + sum(term in p.terms for p in pages))) + 1
            for p in pages
            for term in p.terms
        }

        def vector(of_page: Page) -> dict[str, float]:
            return {t: (1 + np.log(n)) * idf[t] for t, n in of_page.terms.items() if t in idf}

        query = page("sail sail harbour quantum people unknown")
        mine = vector(query)
        for found, other in zip(similarity.to_examples(query), map(vector, pages), strict=True):
            dot = sum(weight * other.get(term, 0.0) for term, weight in mine.items())
            norms = np.linalg.norm([*mine.values()]) * np.linalg.norm([*other.values()])
            assert found == pytest.approx(dot / norms, abs=1e-6)

    def test_a_document_is_most_like_itself(self):
        pages = [example.page for example in examples()]
        similarity = TfidfCosine().fit(pages)
        for number, given in enumerate(pages):
            found = similarity.to_examples(given)
            assert found[number] == pytest.approx(1, abs=1e-5)
            assert found.max() <= found[number] + 1e-6

    def test_only_the_heaviest_words_of_a_long_page_are_looked_up(self):
        pages = [page("people sail"), page("people wheel"), page("people")]
        similarity = TfidfCosine(query_terms=1).fit(pages)
        found = similarity.to_examples(page("people sail"))
        assert found[0] > 0
        assert found[1] == found[2] == 0


class TestJudging:
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

    def test_k_examples_vote_by_their_similarity(self):
        given = [("a", "sail mast"), ("a", "sail keel"), ("b", "sail mast harbour wind")]
        pages = [Example(page(text), (topic,)) for topic, text in given]
        classifier = by_shared_words(1).fit(pages, ("a", "b"))
        near = of(classifier, classifier.posteriors(page("sail mast harbour")))
        assert near["b"] > near["a"]
        classifier = by_shared_words(3).fit(pages, ("a", "b"))
        all_three = classifier._topic_votes(classifier._neighbours(page("sail mast harbour")))
        assert of(classifier, all_three) == pytest.approx({"a": 3 / 6.1, "b": 3 / 6.1})

    def test_a_page_unlike_all_examples_fits_less_than_one_that_is_like_them(self, fitted):
        unlike = of(fitted, fitted.memberships(page("zebra giraffe lion")))
        like = of(fitted, fitted.memberships(page(WORDS["Sport/Sailing"])))
        assert max(unlike.values()) < 0.5 < like["Sport/Sailing"]

    def test_strongest_words_speak_for_and_against(self, fitted):
        mixed = page("sail sail mast mast harbour regatta quantum electron")
        terms = fitted.strongest(mixed, "Sport/Sailing", count=20)
        assert terms["mast"] > 0
        against = fitted.strongest(mixed, "Science/Physics", count=3)
        assert against["mast"] < 0
        assert len(against) == 3


class TestFewExamples:
    def test_no_example_at_all(self):
        for given in ([], [Example(page(""), ("Sport/Sailing",))]):
            with pytest.raises(InputError, match="no example"):
                KnnClassifier().fit(given, TOPICS)

    def test_one_topic_alone_needs_negatives(self):
        sailing = [example for example in examples() if example.topics == ("Sport/Sailing",)]
        with pytest.raises(InputError, match="negatives"):
            KnnClassifier().fit(sailing, TOPICS)
        background = [Example(example.page, ()) for example in examples() if example.topics != ("Sport/Sailing",)]
        classifier = KnnClassifier(KnnSettings(k=5)).fit([*sailing, *background], TOPICS)
        assert of(classifier, classifier.posteriors(page(WORDS["Sport/Sailing"])))["Sport/Sailing"] > 0.5
        assert of(classifier, classifier.posteriors(page(WORDS["Science/Physics"])))["Sport/Sailing"] < 0.5

    def test_one_example_a_topic(self):
        classifier = KnnClassifier().fit(examples(1), TOPICS)
        found = of(classifier, classifier.posteriors(examples(1)[0].page))
        assert np.isfinite([*found.values()]).all()
        assert found["Sport/Sailing"] >= max(found["Sport/Cycling"], found["Science/Physics"])

    def test_a_topic_without_examples_fits_nothing(self):
        classifier = KnnClassifier().fit(examples(), (*TOPICS, "Arts/Music"))
        assert of(classifier, classifier.memberships(page("sail")))["Arts/Music"] == 0
        assert of(classifier, classifier.posteriors(page("sail")))["Arts"] == 0

    def test_one_document_under_two_topics_is_one_example_of_both(self):
        doubled = [Example(e.page, (topic,)) for e in examples() for topic in (e.topics[0], "All")]
        together = [Example(e.page, (e.topics[0], "All")) for e in examples()]
        apart, joined = (KnnClassifier().fit(given, (*TOPICS, "All")) for given in (doubled, together))
        assert apart.save() == joined.save()


@pytest.mark.parametrize(
    "text", ["", "sail", "帆船 が 好き です", "sail wind " * 250_000], ids=["none", "1", "ja", "long"]
)
def test_odd_pages_get_finite_values_in_range(fitted, text):
    odd = page(text)
    for values in (fitted.posteriors(odd), fitted.memberships(odd)):
        assert np.isfinite(values).all()
        assert ((values >= 0) & (values <= 1)).all()


class TestStoring:
    def test_what_was_saved_judges_alike(self, fitted):
        loaded = KnnClassifier.load(fitted.save())
        for example in examples(3, seed=4):
            assert (loaded.posteriors(example.page) == fitted.posteriors(example.page)).all()
            assert (loaded.memberships(example.page) == fitted.memberships(example.page)).all()
            assert loaded.strongest(example.page, "Sport") == fitted.strongest(example.page, "Sport")

    @pytest.mark.parametrize("cut", [0, 1, 100, -1])
    def test_damaged_bytes_are_refused(self, fitted, cut):
        with pytest.raises(ValueError, match="saved classifier"):
            KnnClassifier.load(fitted.save()[:cut])


@pytest.mark.parametrize("wrong", [{"k": 0}, {"doubt": 0}, {"folds": 1}])
def test_settings_are_checked(wrong):
    with pytest.raises(ConfigError, match=f"knn.{next(iter(wrong))}"):
        KnnSettings(**wrong)
