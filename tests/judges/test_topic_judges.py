from __future__ import annotations

import marshal
import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import numpy as np
import pytest
from numpy.typing import NDArray

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example, parent_of, with_ancestors
from lycosa.judges.formula import parse
from lycosa.judges.generalise import ForLinks, Way, generalise
from lycosa.judges.protocol import Judge
from lycosa.judges.taxonomy import Taxonomy, Topic
from lycosa.judges.topic_judges import (
    BEST_TOPICS,
    MAX_NAME,
    FormulaJudge,
    TopicJudge,
    checked_frequencies,
    short_page,
    threshold_from,
    url_words,
)
from lycosa.lib.text import term_counts
from lycosa.model import Judgement, Page


class WordClassifier:
    """Each leaf has one word, its name; a leaf's share grows with the word's count, above a base rate."""

    name = "words"
    short_texts = None
    reasons = None
    words_by_hand = ""

    def fit(self, examples: Iterable[Example], topics: Sequence[str]) -> Self:
        self.topics_ = with_ancestors(topics)
        inner = {parent_of(topic) for topic in self.topics_}
        self.leaves_ = [topic for topic in self.topics_ if topic not in inner]
        self.words_ = {leaf: next(iter(term_counts(leaf.rpartition("/")[2]))) for leaf in self.leaves_}
        return self

    def posteriors(self, page: Page) -> NDArray[np.float64]:
        counts = {leaf: 0.1 + page.terms.get(word, 0) for leaf, word in self.words_.items()}
        return self._with_inner({leaf: count / sum(counts.values()) for leaf, count in counts.items()}, sum)

    def memberships(self, page: Page) -> NDArray[np.float64]:
        counts = {leaf: 0.1 + page.terms.get(word, 0) for leaf, word in self.words_.items()}
        return self._with_inner({leaf: count / (1 + count) for leaf, count in counts.items()}, max)

    def strongest(self, page: Page, topic: str, count: int = 10) -> Mapping[str, float]:
        below = [leaf for leaf in self.leaves_ if (leaf + "/").startswith(topic + "/")]
        words = {self.words_[leaf] for leaf in below} & set(page.terms)
        return {word: np.float64(page.terms[word]) for word in sorted(words)[:count]}

    def save(self) -> bytes:
        return b""

    @classmethod
    def load(cls, saved: bytes) -> Self:
        return cls()

    def _with_inner(self, leaves: Mapping[str, float], combine) -> NDArray[np.float64]:
        below = {
            topic: [value for leaf, value in leaves.items() if (leaf + "/").startswith(topic + "/")]
            for topic in self.topics_
        }
        return np.array([combine(below[topic]) for topic in self.topics_])


TOPICS = ["Sport/Sailing", "Sport/Cycling", "Place/Usedom", "Place/Hiddensee", "Camping"]
SAILING, CYCLING, USEDOM, HIDDENSEE, CAMPING = TOPICS


@pytest.fixture
def classifier() -> WordClassifier:
    return WordClassifier().fit([], TOPICS)


def page(text: str) -> Page:
    return Page("http://a.test/", text=text, terms=term_counts(text))


def is_plain(judgement: Judgement) -> bool:
    """Readers send nothing else; marshal would turn a numpy float into bytes."""
    values = (judgement.relevance, judgement.is_relevant, judgement.scores, judgement.terms, judgement.best)
    return bool(marshal.loads(marshal.dumps(values)) == values)


class TestTopicJudge:
    def test_relevance_is_the_sum_over_good_topics(self, classifier):
        judge: Judge = TopicJudge(classifier, [SAILING, CAMPING])
        judgement = judge.judge(page("sailing camping usedom usedom"))
        assert judgement.relevance == pytest.approx(2.2 / 4.5)
        assert not judgement.is_relevant
        assert judgement.best == USEDOM
        assert judgement.scores[USEDOM] == pytest.approx(2.1 / 4.5)
        assert is_plain(judgement)

    def test_an_inner_topic_may_be_good(self, classifier):
        judgement = TopicJudge(classifier, ["Sport"]).judge(page("sailing cycling cycling usedom"))
        assert judgement.relevance == pytest.approx(3.2 / 4.5)
        assert judgement.best == CYCLING
        assert judgement.terms == {"cycl": 2.0, "sail": 1.0}

    def test_relevant_at_the_threshold(self, classifier):
        half = page("sailing usedom")
        relevance = TopicJudge(classifier, [SAILING]).judge(half).relevance
        assert TopicJudge(classifier, [SAILING], threshold=relevance).judge(half).is_relevant
        assert not TopicJudge(classifier, [SAILING], threshold=relevance + 0.01).judge(half).is_relevant

    def test_words_are_given_for_relevant_pages_and_on_request(self, classifier):
        judge = TopicJudge(classifier, [SAILING, CAMPING])
        assert judge.judge(page("sailing sailing camping usedom")).terms == {"sail": 2.0}
        off_topic = page("usedom usedom usedom sailing")
        assert judge.judge(off_topic).terms == {}
        assert judge.strongest(off_topic) == {"sail": 1.0}

    def test_few_scores_are_kept_the_good_ones_always(self):
        topics = [f"t{number:02}" for number in range(40)]
        judge = TopicJudge(WordClassifier().fit([], topics), ["t39", "t38"])
        many = judge.judge(page(" ".join(f"t{number:02} " * number for number in range(3, 15)))).scores
        assert list(many) == ["t39", "t38", *(f"t{number:02}" for number in range(14, 6, -1))]
        assert len(many) == BEST_TOPICS + 2
        few = judge.judge(page("t05 t05 t05 t07 t39 " * 5)).scores
        assert list(few) == ["t39", "t38", "t05", "t07"]

    def test_a_page_without_words_is_evidence_of_nothing(self, classifier):
        assert TopicJudge(classifier, [SAILING]).judge(page("")) == Judgement(relevance=0.0, is_relevant=False)

    def test_short_texts_count_above_the_base_rate(self, classifier):
        judge = TopicJudge(classifier, [SAILING])
        assert judge.score_text("") == 0.0
        assert judge.score_text("click here") == 0.0
        assert judge.score_text("camping") == 0.0
        # p = 1.1 / 1.5, p₀ = 1 / 5
        assert judge.score_text("Sailing!") == pytest.approx((1.1 / 1.5 - 0.2) / 0.8)
        assert judge.score_text("http://www.a.test/sailing-2024/index.html") == judge.score_text("Sailing a test")
        assert type(judge.score_text("sailing")) is float

    def test_a_topic_that_is_everything(self):
        judge = TopicJudge(WordClassifier().fit([], ["All/Sailing"]), ["All"])
        assert judge.score_text("sailing") == 0.0
        assert judge.judge(page("soup")).relevance == 1.0

    def test_what_strategies_know_of_it(self, classifier):
        taxonomy = Taxonomy(
            {
                "Sport": Topic(keywords={"sporting events": 1}),
                SAILING: Topic(keywords={"Boats": 2.6, "sail": 0.2}),
                CAMPING: Topic(keywords={"tent": 5}),
            }
        )
        assert TopicJudge(classifier, [SAILING], keywords=taxonomy.keywords).keywords == {"sail": 2, "boat": 3}
        assert TopicJudge(classifier, ["Sport"], keywords=taxonomy.keywords).keywords == {
            "sport": 2,
            "event": 1,
            "boat": 3,
            "sail": 1,
        }
        assert TopicJudge(classifier, [SAILING, CAMPING]).keywords == {"sail": 1, "camp": 1}

    def test_what_it_is_called(self, classifier):
        assert TopicJudge(classifier, [SAILING, CAMPING]).name == "words:Sport/Sailing + Camping"
        long = [f"{'long ' * 18}{number}" for number in range(5)]
        assert len(TopicJudge(WordClassifier().fit([], long), long).name) == MAX_NAME

    def test_bad_settings(self, classifier):
        with pytest.raises(ConfigError, match="not learned topic 'Sport/Sialing'; did you mean 'Sport/Sailing'"):
            TopicJudge(classifier, ["Sport/Sialing"])
        with pytest.raises(ConfigError, match="at least one topic"):
            TopicJudge(classifier, [])
        with pytest.raises(InputError, match="'Sport' and 'Sport/Sailing' cannot both be good"):
            TopicJudge(classifier, ["Sport", SAILING])
        many = [f"t{number:02}" for number in range(65)]
        with pytest.raises(ConfigError, match="a judge takes at most 64; mark a topic above them"):
            TopicJudge(WordClassifier().fit([], many), many)
        for threshold in (0.0, 1.1, float("nan")):
            with pytest.raises(ConfigError, match=r"judge\.threshold is .*: it must be above 0"):
                TopicJudge(classifier, [SAILING], threshold=threshold)

    def test_it_travels(self, classifier):
        judge = TopicJudge(classifier, [SAILING], threshold=0.3)
        again = pickle.loads(pickle.dumps(judge))
        sample = page("sailing usedom")
        assert again.judge(sample) == judge.judge(sample)
        assert again.score_text("sailing") == judge.score_text("sailing")


class TestTopicInterest:
    def test_good_topics_climb(self, classifier):
        judge = TopicJudge(classifier, [SAILING, USEDOM, CAMPING])
        scores = judge.judge(page("cycling cycling cycling")).scores
        interest = judge.abilities.interest
        assert str(interest) == f"{SAILING} + {USEDOM} + {CAMPING}"
        wider = interest.generalised({})
        assert str(wider) == f"Sport + Place + {CAMPING}"
        assert wider.relevance(scores) > 0.8 > interest.relevance(scores)
        assert wider.generalised({}) is None
        assert str(interest.named(str(wider))) == str(wider)
        alone = TopicJudge(classifier, [SAILING]).abilities.interest
        assert alone.generalised({}).similarity("cycling") > 0 == alone.similarity("cycling")

    def test_two_that_meet_become_one(self, classifier):
        judge = TopicJudge(classifier, [SAILING, CYCLING])
        assert str(judge.abilities.interest.generalised({})) == "Sport"


class TestFormulaJudge:
    INTEREST = parse(f"{SAILING} AND ({USEDOM} OR {HIDDENSEE}) AND NOT {CAMPING}")

    def test_relevance_is_the_value_of_the_formula(self, classifier):
        judge: Judge = FormulaJudge(classifier, self.INTEREST, threshold=0.5)
        judgement = judge.judge(page("sailing sailing sailing usedom"))
        assert judgement.relevance == pytest.approx(1.1 / 2.1)
        assert judgement.is_relevant
        named = {SAILING: 3.1 / 4.1, USEDOM: 1.1 / 2.1, HIDDENSEE: 0.1 / 1.1, CAMPING: 0.1 / 1.1}
        above = {"Sport": 3.1 / 4.1, "Place": 1.1 / 2.1}  # for a focus that climbs
        assert judgement.scores == pytest.approx({**named, **above})
        assert judgement.best == SAILING
        assert judgement.terms == {"sail": 3.0, "usedom": 1.0}
        assert is_plain(judgement)
        assert judge.judge(page("")) == Judgement(relevance=0.0, is_relevant=False)

    def test_good_leaves_are_those_below_what_is_wanted(self, classifier):
        judge = FormulaJudge(classifier, parse(f"Sport AND NOT {CAMPING}"))
        assert judge.is_good(SAILING)
        assert judge.is_good("Sport")
        assert not judge.is_good(CAMPING)
        assert not judge.is_good(USEDOM)

    def test_the_interest_can_be_widened_and_named_again(self, classifier):
        judge = FormulaJudge(classifier, parse(f"{SAILING} AND {USEDOM}"))
        interest = judge.abilities.interest
        scores = judge.judge(page("cycling cycling usedom")).scores
        assert interest.relevance(scores) == pytest.approx(0.1 / 1.1)
        wider = interest.generalised({SAILING: 0.01, USEDOM: 0.2, "Sport": 0.3, "Place": 0.5})
        assert str(wider) == f"Sport AND {USEDOM}"
        assert wider.relevance(scores) == pytest.approx(1.1 / 2.1)
        again = interest.named(str(wider))
        assert str(again) == str(wider)
        assert again.relevance(scores) == wider.relevance(scores)
        assert interest.relevance({}) == 0.0
        steps = [interest]
        while (step := steps[-1].generalised({})) is not None:
            steps.append(step)
        assert len(steps) < 6

    def test_not_in_place_lowers_the_score(self, classifier):
        judge = FormulaJudge(classifier, self.INTEREST, threshold=0.5)
        with_tents = judge.judge(page("sailing usedom camping camping"))
        assert with_tents.relevance == pytest.approx(1 - 2.1 / 3.1)
        assert not with_tents.is_relevant
        assert with_tents.guide is None

    def test_not_after_the_crawl(self, classifier):
        judge = FormulaJudge(classifier, self.INTEREST, threshold=0.5, not_after=True)
        with_tents = judge.judge(page("sailing usedom camping"))
        assert (with_tents.relevance, with_tents.is_relevant) == (0.0, False)
        assert with_tents.guide == (pytest.approx(1.1 / 2.1), True)
        assert with_tents.guiding.is_relevant
        assert with_tents.guiding.relevance == with_tents.guide.relevance
        without = judge.judge(page("sailing usedom"))
        assert without.is_relevant
        assert without.guide == (without.relevance, True)
        assert not judge.judge(page("sailing")).is_relevant
        assert not judge.judge(page("")).is_relevant

    def test_however_wide_it_gets_not_stays_out_of_the_crawl(self, classifier):
        formula = parse(f"{SAILING} AND {USEDOM} AND NOT {CAMPING}")
        judge = FormulaJudge(classifier, formula, threshold=0.4, not_after=True)
        with_tents = judge.judge(page("sailing usedom camping camping camping"))
        interest = judge.abilities.interest
        steps = [interest]
        while (step := steps[-1].generalised({SAILING: 0.01, USEDOM: 0.2})) is not None:
            steps.append(step)
        assert len(steps) > 2
        assert all(CAMPING not in str(step) for step in steps)
        values = [step.relevance(with_tents.scores) for step in steps]
        assert values[0] == with_tents.guide.relevance
        assert values == sorted(values)
        assert str(interest.named(str(formula))) == f"{SAILING} AND {USEDOM}"  # as older versions have saved it

    def test_links_are_scored_by_the_rarer_topic(self, classifier):
        frequency = {SAILING: 0.1, USEDOM: 0.01}
        both = parse(f"{SAILING} AND {USEDOM}")
        rarer = FormulaJudge(classifier, both, frequency=frequency)
        # p = 1.1 / 2.1, p₀ = 0.1 / 1.1
        base = 0.1 / 1.1
        known = (1.1 / 2.1 - base) / (1 - base)
        assert rarer.score_text("usedom") == pytest.approx(known)
        assert rarer.score_text("sailing") == 0.0
        assert rarer.changed(frequency={SAILING: 0.0, USEDOM: 1.0}).score_text("sailing") == pytest.approx(known)
        assert rarer.score_text("click here") == rarer.score_text("") == 0.0

    def test_or_by_either(self, classifier):
        both = parse(f"{SAILING} AND {USEDOM}")
        judge = FormulaJudge(classifier, both, links=ForLinks.EITHER)
        assert judge.score_text("sailing") == judge.score_text("usedom") > 0
        assert judge.score_text("click here") == judge.score_text("") == 0.0
        assert judge.abilities.rules == (
            f"anchors and URLs are scored by {SAILING} OR {USEDOM}, any of the topics "
            f"(share of pages: {SAILING} 9.1%, {USEDOM} 9.1%)",
        )
        wider = judge.abilities.interest.generalised({SAILING: 0.01, USEDOM: 0.2, "Sport": 0.3, "Place": 0.5})
        assert wider.similarity("usedom") > 0

    def test_given_frequencies_hold_whatever_is_estimated(self, classifier):
        judge = FormulaJudge(classifier, parse(f"{SAILING} AND {USEDOM}"), given={USEDOM: 0.01})
        assert judge.score_text("usedom") > 0 == judge.score_text("sailing")
        assert judge.abilities.rules[0].endswith(
            f"by {USEDOM}, the rarer topic (share of pages: {SAILING} 9.1%, {USEDOM} 1.0% as given)"
        )
        estimated = {SAILING: 0.01, USEDOM: 0.2, "Sport": 0.3, "Place": 0.5}
        judge = FormulaJudge(classifier, parse(f"{SAILING} AND {USEDOM}"), given={USEDOM: 0.001})
        wider = judge.abilities.interest.generalised(estimated)
        assert str(wider) == f"{SAILING} AND Place"
        assert wider.similarity("sailing") > 0 == wider.similarity("usedom")

    def test_a_wider_focus_is_made_again_by_the_frequencies_it_was_made_by(self, classifier):
        interest = FormulaJudge(classifier, parse(f"{SAILING} AND {USEDOM}")).abilities.interest
        estimated = {SAILING: 0.1, USEDOM: 0.01, "Sport": 0.3, "Place": 0.05}
        wider = interest.generalised(estimated)
        again = interest.named(str(wider), estimated)
        assert wider.similarity("usedom") == again.similarity("usedom") > 0

    def test_a_considerable_score(self, classifier):
        page_with_tents = page("sailing usedom camping")
        lenient = FormulaJudge(classifier, self.INTEREST, threshold=0.5, not_after=True, considerable=0.6)
        assert lenient.judge(page_with_tents).is_relevant
        strict = lenient.changed(threshold=0.4)
        assert strict.considerable == 0.6
        assert "0.6 or more for an excluded topic" in strict.abilities.rules[-1]

    def test_a_single_topic_needs_no_rules(self, classifier):
        assert FormulaJudge(classifier, parse(SAILING)).abilities.rules == ()

    def test_another_focus(self, classifier):
        interest = parse(f"{SAILING} AND {USEDOM}")
        judge = FormulaJudge(classifier, interest, threshold=0.4, not_after=True)
        wider = generalise(interest, Way.PARENT, {SAILING: 0.1, USEDOM: 0.2})
        widened = judge.changed(formula=wider, threshold=0.3)
        assert widened.name == f"words:Sport AND {USEDOM}"
        cycling = page("cycling usedom")
        assert not judge.judge(cycling).is_relevant
        assert widened.judge(cycling).is_relevant
        assert (judge.threshold, widened.threshold, widened.not_after) == (0.4, 0.3, True)

    def test_what_strategies_know_of_it(self, classifier):
        keywords = {SAILING: {"boat": 2}, CAMPING: {"tent": 2}}
        judge = FormulaJudge(classifier, self.INTEREST, keywords=keywords)
        assert judge.keywords == {"sail": 1, "usedom": 1, "hiddense": 1, "boat": 2}
        widened = judge.changed(formula=parse("Sport"))
        assert widened.keywords == {"sport": 1, "boat": 2}

    def test_words_on_request(self, classifier):
        judge = FormulaJudge(classifier, self.INTEREST, threshold=0.9)
        assert judge.judge(page("sailing usedom")).terms == {}
        assert judge.strongest(page("sailing usedom")) == {"sail": 1.0, "usedom": 1.0}

    def test_words_are_divided_among_topics(self):
        topics = [f"{part}/{part}{number:02}" for part in ("a", "b") for number in range(20)]
        judge = FormulaJudge(WordClassifier().fit([], topics), parse("a AND b"), threshold=0.1)
        words = judge.judge(page(" ".join(topics))).terms
        assert list(words) == [f"{part}{number:02}" for part in ("a", "b") for number in range(5)]

    def test_bad_settings(self, classifier):
        with pytest.raises(ConfigError, match="not learned topic 'Sailing'; did you mean 'Sport/Sailing'"):
            FormulaJudge(classifier, parse("Sailing AND Camping"))
        with pytest.raises(InputError, match="only excludes topics"):
            FormulaJudge(classifier, parse("NOT Camping"), not_after=True)
        with pytest.raises(ConfigError, match=r"judge\.considerable is 0"):
            FormulaJudge(classifier, parse("Camping"), considerable=0)
        with pytest.raises(ConfigError, match=r"Camping is 1\.5, but a share of pages is between 0 and 1"):
            checked_frequencies({CAMPING: 1.5}, parse("Camping"))
        with pytest.raises(ConfigError, match=f"'{USEDOM}' is neither in the formula 'Camping' nor above"):
            checked_frequencies({USEDOM: 0.5}, parse("Camping"))
        assert checked_frequencies({"Place": 0.5}, parse(USEDOM)) == {"Place": 0.5}

    def test_it_travels(self, classifier):
        judge = FormulaJudge(classifier, self.INTEREST, threshold=0.3, not_after=True)
        again = pickle.loads(pickle.dumps(judge))
        sample = page("sailing usedom camping")
        assert again.judge(sample) == judge.judge(sample)
        assert again.judge(sample).guide
        assert again.changed(threshold=0.9).threshold == 0.9


class TestThresholdFromStartPages:
    def test_it_is_the_smallest_positive_score(self):
        assert threshold_from([0.0, 0.4, 0.2, 0.9]) == 0.2
        assert threshold_from([1e-9, 0.4, 0.2], least=0.01) == 0.2

    @pytest.mark.parametrize("scores", [[], [0.0, 0.0]])
    def test_there_must_be_one(self, scores):
        with pytest.raises(InputError, match="no start page has a score above 0: start from pages that fit"):
            threshold_from(scores)


class TestShortTexts:
    @pytest.mark.parametrize(
        ("url", "words"),
        [
            ("http://www.bike-tours.test/Alps_2024/road.html?tag=gravel", "bike tours test Alps road tag gravel"),
            ("https://de.test/R%C3%BCgen/", "de test Rügen"),
            ("https://a.test/%FF%00", "a test"),
            ("http://", ""),
        ],
    )
    def test_the_words_of_a_url(self, url, words):
        assert url_words(url) == words

    def test_they_become_pages(self):
        assert short_page("Cycling tours").terms == {"cycl": 1, "tour": 1}
        assert short_page("http://a.test/cycling").terms == {"test": 1, "cycl": 1}
        assert len(short_page("x " * 1_000_000).text) == 4_000
