from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example
from lycosa.judges.knn import KnnClassifier
from lycosa.judges.svm import SvmClassifier, SvmSettings
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lib.text import term_counts
from lycosa.model import Guidance, Judgement, Page

WORDS = {
    "Sport/Sailing": "sail mast harbour keel wind anchor regatta boat",
    "Sport/Cycling": "bicycle wheel pedal saddle race mountain tyre chain",
    "Science/Physics": "electron quantum energy particle field wave atom mass",
}
TOPICS = tuple(WORDS)


def page(text: str, title: str = "") -> Page:
    terms = term_counts(f"{title}\n{text}")
    return Page("http://a.test/", title=title, text=text, terms=terms, words=sum(terms.values()))


def examples(count: int = 12, *, seed: int = 0) -> list[Example]:
    """Documents that mix their topic's words with common ones."""
    rng = np.random.default_rng(seed)
    common = ["people", "year", "world", "good", "time", "large", "house", "water"]
    found = []
    for topic, words in WORDS.items():
        for _ in range(count):
            chosen = [*rng.choice(words.split(), 6), *rng.choice(common, 10)]
            found.append(Example(page(" ".join(rng.permutation(chosen).tolist())), (topic,)))
    return found


@pytest.fixture(scope="module")
def fitted() -> SvmClassifier:
    return SvmClassifier().fit(examples(), TOPICS)


def of(classifier: SvmClassifier, values: np.ndarray) -> dict[str, float]:
    return dict(zip(classifier.topics_, values.tolist(), strict=True))


class TestMargins:
    def test_a_judge_tells_the_best_margin_of_its_good_topics(self, fitted):
        sailing, cycling, physics = TOPICS
        of_sailing, of_cycling = page(WORDS[sailing]), page(WORDS[cycling])
        both = TopicJudge(fitted, [sailing, cycling])
        for each in (of_sailing, of_cycling):
            margins = of(fitted, fitted.margins(each))
            assert both.judge(each).margin == max(margins[sailing], margins[cycling]) > 0
        assert TopicJudge(fitted, [physics]).judge(of_sailing).margin == of(fitted, fitted.margins(of_sailing))[physics]
        assert TopicJudge(fitted, [physics]).judge(of_sailing).margin < 0

    def test_one_without_a_plane_or_with_another_kind_of_score_tells_none(self):
        only = [Example(example.page, ("Top/" + example.topics[0],)) for example in examples()]
        classifier = SvmClassifier().fit(only, ["Top/" + topic for topic in TOPICS])
        assert TopicJudge(classifier, ["Top"]).judge(only[0].page).margin is None
        knn = KnnClassifier().fit(examples(), TOPICS)
        assert TopicJudge(knn, [TOPICS[0]]).judge(only[0].page).margin is None

    def test_what_guides_instead_of_the_verdict_has_no_margin(self):
        guided = Judgement(0.1, False, guide=Guidance(0.9, True), margin=-1.0).guiding
        assert (guided.relevance, guided.is_relevant, guided.margin) == (0.9, True, None)
        assert Judgement(0.1, False, margin=-1.0).guiding.margin == -1.0


class TestJudging:
    def test_pages_are_put_where_they_belong(self, fitted):
        unseen = examples(20, seed=1)
        for values in (fitted.posteriors, fitted.memberships):
            leaves = [{t: v for t, v in of(fitted, values(e.page)).items() if t in TOPICS} for e in unseen]
            right = sum(max(leaf, key=leaf.get) in e.topics for leaf, e in zip(leaves, unseen, strict=True))
            assert right >= 0.95 * len(unseen)

    def test_margins_are_the_planes_own_decisions_with_their_boundary_at_0(self, fitted):
        for example in examples(20, seed=1):
            margins = of(fitted, fitted.margins(example.page))
            assert max(TOPICS, key=margins.get) in example.topics
            values = fitted._space.vector(example.page)
            for topic in TOPICS:
                plane = fitted._plane_of_topic[fitted.topics_.index(topic)]
                decision = values.values @ fitted._weights[values.columns, plane] + fitted._offsets[plane]
                assert margins[topic] == pytest.approx(decision, abs=1e-5)
        assert {np.sign(margin) for margin in margins.values()} == {-1, 1}

    def test_a_topic_without_a_plane_has_no_margin(self):
        only = [Example(example.page, ("Top/" + example.topics[0],)) for example in examples()]
        classifier = SvmClassifier().fit(only, [*("Top/" + topic for topic in TOPICS), "Top/Empty"])
        margins = of(classifier, classifier.margins(only[0].page))
        assert np.isnan(margins["Top"])
        assert np.isnan(margins["Top/Empty"])
        assert margins["Top/Sport/Sailing"] > 0

    def test_the_page_decided_last_is_not_sent_along(self, fitted):
        before = len(pickle.dumps(fitted))
        other = page("sail mast boat " * 2000)
        assert fitted.margins(other).tolist() == fitted.margins(other).tolist()
        assert len(pickle.dumps(fitted)) == before
        again = pickle.loads(pickle.dumps(fitted))
        assert again.margins(other).tolist() == fitted.margins(other).tolist()
        assert again.margins(page("bicycle wheel")).tolist() != again.margins(other).tolist()

    def test_posteriors_follow_the_tree(self, fitted):
        for example in examples(5, seed=2):
            found = of(fitted, fitted.posteriors(example.page))
            assert found["Sport"] == pytest.approx(found["Sport/Sailing"] + found["Sport/Cycling"])
            assert found["Sport"] + found["Science"] == pytest.approx(1.0)

    def test_an_inner_topic_may_have_examples_of_its_own(self):
        own = [Example(page(f"olympic games stadium medal {n} team"), ("Sport",)) for n in range(10)]
        classifier = SvmClassifier().fit([*examples(), *own], TOPICS)
        found = of(classifier, classifier.posteriors(page("olympic stadium medal team games")))
        assert found["Sport"] > 0.5
        assert found["Sport"] > found["Sport/Sailing"] + found["Sport/Cycling"] + 0.2

    def test_memberships_do_not_exclude_each_other(self, fitted):
        both = " ".join([WORDS["Sport/Sailing"], WORDS["Science/Physics"]])
        found = of(fitted, fitted.memberships(page(both)))
        apart = of(fitted, fitted.memberships(page("people year world good")))
        assert min(found["Sport/Sailing"], found["Science/Physics"]) > max(
            apart["Sport/Sailing"], found["Sport/Cycling"]
        )

    def test_strongest_words_speak_for_and_against(self, fitted):
        terms = fitted.strongest(page("sail harbour quantum unheard-of"), "Sport/Sailing", count=3)
        assert set(terms) == {"sail", "harbour", "quantum"}
        assert terms["sail"] > 0
        assert terms["quantum"] < 0
        assert [abs(v) for v in terms.values()] == sorted((abs(v) for v in terms.values()), reverse=True)

    def test_strongest_words_of_an_unknown_topic(self, fitted):
        with pytest.raises(InputError, match=r"'Sport/Sailin'; did you mean 'Sport/Sailing'"):
            fitted.strongest(page("sail"), "Sport/Sailin")

    def test_strongest_words_add_up_to_the_decision(self, fitted):
        sailing = page("sail harbour mast quantum people")
        plane = fitted._plane_of_topic[fitted.topics_.index("Sport/Sailing")]
        empty, whole = fitted._decisions(page(""))[plane], fitted._decisions(sailing)[plane]
        terms = fitted.strongest(sailing, "Sport/Sailing", count=1000)
        assert whole == pytest.approx(empty + sum(terms.values()), abs=1e-5)


class TestBigrams:
    ORDERS = ("hot dog", "dog hot")

    def fit(self, *, is_text: bool) -> SvmClassifier:
        found = []
        for number, order in enumerate(self.ORDERS):
            for n in range(8):
                whole = page(f"{order} filler{n}")
                found.append(Example(whole if is_text else Page("", terms=whole.terms), (f"topic{number}",)))
        return SvmClassifier().fit(found, ("topic0", "topic1"))

    def test_the_order_of_words_counts(self):
        classifier = self.fit(is_text=True)
        assert of(classifier, classifier.posteriors(page("hot dog")))["topic0"] > 0.8
        assert of(classifier, classifier.posteriors(page("dog hot")))["topic1"] > 0.8
        assert "hot dog" in classifier.strongest(page("hot dog"), "topic0")

    def test_without_text_words_alone_are_learned(self):
        # By their words alone the two topics' examples are the same documents, and so become examples of both.
        with pytest.raises(InputError, match=r"'topic0' and 'topic1'.*negatives"):
            self.fit(is_text=False)

    def test_where_most_examples_have_no_text_the_others_bigrams_do_not_count(self):
        bare = [Example(Page("", terms=e.page.terms), e.topics) for e in examples(20)]
        classifier = SvmClassifier().fit([*bare, *examples(10, seed=5)], TOPICS)
        terms = classifier.strongest(examples(1, seed=5)[0].page, "Sport", count=1000)
        assert terms
        assert not any(" " in term for term in terms)


class TestFewExamples:
    def test_no_example_at_all(self):
        with pytest.raises(InputError, match="no example"):
            SvmClassifier().fit([], TOPICS)
        with pytest.raises(InputError, match="no example"):
            SvmClassifier().fit([Example(page(""), ("Sport/Sailing",))], TOPICS)

    def test_one_topic_alone_needs_negatives(self):
        sailing = [example for example in examples() if example.topics == ("Sport/Sailing",)]
        with pytest.raises(InputError, match="negatives"):
            SvmClassifier().fit(sailing, TOPICS)
        background = [Example(example.page, ()) for example in examples() if example.topics != ("Sport/Sailing",)]
        classifier = SvmClassifier().fit([*sailing, *background], TOPICS)
        relevant, other = page(WORDS["Sport/Sailing"]), page(WORDS["Science/Physics"])
        assert of(classifier, classifier.posteriors(relevant))["Sport/Sailing"] > 0.8
        assert of(classifier, classifier.posteriors(other))["Sport/Sailing"] < 0.2
        assert of(classifier, classifier.memberships(relevant))["Sport/Sailing"] > 0.5

    def test_one_example_a_topic(self):
        classifier = SvmClassifier().fit(examples(1), TOPICS)
        found = of(classifier, classifier.posteriors(examples(1)[0].page))
        assert found["Sport/Sailing"] > max(found["Sport/Cycling"], found["Science/Physics"])
        assert of(classifier, classifier.memberships(examples(1)[0].page))["Sport/Sailing"] > 0.5

    def test_a_topic_without_examples_fits_nothing(self):
        classifier = SvmClassifier().fit(examples(), (*TOPICS, "Arts/Music"))
        for example in examples(2):
            assert of(classifier, classifier.memberships(example.page))["Arts/Music"] == 0
            assert of(classifier, classifier.posteriors(example.page))["Arts"] == 0
        assert classifier.strongest(examples()[0].page, "Arts/Music") == {}

    def test_one_document_under_two_topics_is_an_example_of_both(self):
        doubled = [Example(e.page, (t,)) for e in examples(6) for t in (e.topics[0], "All")]
        together = [Example(e.page, (e.topics[0], "All")) for e in examples(6)]
        apart, joined = (SvmClassifier().fit(given, (*TOPICS, "All")) for given in (doubled, together))
        # Sums in another order: the vocabulary has seen the doubled documents twice.
        for example in examples(2, seed=3):
            assert np.allclose(apart.memberships(example.page) > 0.5, joined.memberships(example.page) > 0.5)
        assert of(joined, joined.memberships(page("sail")))["All"] == 1

    def test_a_topic_of_all_examples_is_as_good_as_the_best_below(self):
        classifier = SvmClassifier().fit([e for e in examples() if e.topics[0].startswith("Sport")], TOPICS)
        found = of(classifier, classifier.memberships(page("sail mast")))
        assert found["Sport"] == found["Sport/Sailing"] > found["Sport/Cycling"]

    def test_an_unknown_topic_is_named(self):
        with pytest.raises(InputError, match=r"'Sport/Sailling'; did you mean 'Sport/Sailing'"):
            SvmClassifier().fit([Example(page("sail"), ("Sport/Sailling",))], TOPICS)


class TestOddPages:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "sail",
            "the the the",
            "帆船 が 好き です",
            "парус и ветер",
            "sail " * 500_000,
            "\ud800 sail",
            "\x00\n sail",
        ],
        ids=["empty", "one", "stop words", "Japanese", "Russian", "long", "surrogate", "control"],
    )
    def test_all_get_finite_values_in_range(self, fitted, text):
        odd = page(text)
        for values in (fitted.posteriors(odd), fitted.memberships(odd)):
            assert np.isfinite(values).all()
            assert (values >= 0).all()
            assert (values <= 1).all()

    def test_the_vocabulary_is_bounded(self):
        settings = SvmSettings(max_words=10, max_bigrams=5, least_bigram_documents=1)
        classifier = SvmClassifier(settings).fit(examples(), TOPICS)
        terms = classifier.strongest(page(" ".join(WORDS.values())), "Sport/Sailing", count=1000)
        assert 0 < len(terms) <= 15


class TestStoring:
    def test_what_was_saved_judges_alike(self, fitted):
        loaded = SvmClassifier.load(fitted.save())
        assert loaded.topics_ == fitted.topics_
        assert loaded.settings == fitted.settings
        for example in examples(3, seed=4):
            assert (loaded.posteriors(example.page) == fitted.posteriors(example.page)).all()
            assert (loaded.memberships(example.page) == fitted.memberships(example.page)).all()
            assert loaded.strongest(example.page, "Sport") == fitted.strongest(example.page, "Sport")

    def test_learning_twice_gives_the_same(self, fitted):
        assert SvmClassifier().fit(examples(), TOPICS).save() == fitted.save()

    def test_it_can_be_sent_to_another_process(self, fitted):
        sent = pickle.loads(pickle.dumps(fitted))
        assert (sent.posteriors(page("sail")) == fitted.posteriors(page("sail"))).all()

    @pytest.mark.parametrize("cut", [0, 1, 100, -1, -1000])
    def test_damaged_bytes_are_refused(self, fitted, cut):
        with pytest.raises(ValueError, match="saved classifier"):
            SvmClassifier.load(fitted.save()[:cut])

    def test_bytes_of_something_else_are_refused(self):
        with pytest.raises(ValueError, match="saved classifier"):
            SvmClassifier.load(b"not at all")
        with pytest.raises(ValueError, match="saved classifier"):
            SvmClassifier.load(pickle.dumps({"a": 1}))

    def test_judging_does_not_load_scikit_learn(self, fitted, tmp_path):
        (tmp_path / "judge").write_bytes(fitted.save())
        code = (
            "import sys, pathlib\n"
            "from lycosa.model import Page\n"
            "from lycosa.judges.svm import SvmClassifier\n"
            "judge = SvmClassifier.load(pathlib.Path(sys.argv[1]).read_bytes())\n"
            "judge.posteriors(Page('', terms={'sail': 1}))\n"
            "assert not {'sklearn', 'scipy'} & set(sys.modules)\n"
        )
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "judge")], check=True)


@pytest.mark.parametrize(
    "wrong", [{"cost": 0}, {"folds": 1}, {"max_words": 0}, {"bigram_window": 1}, {"cost": float("nan")}]
)
def test_settings_are_checked(wrong):
    with pytest.raises(ConfigError, match=f"svm.{next(iter(wrong))}"):
        SvmSettings(**wrong)
