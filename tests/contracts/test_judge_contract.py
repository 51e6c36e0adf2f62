"""What every judge must do, run over all there are."""

from __future__ import annotations

import pickle
from functools import cache, partial

import cloudpickle
import pytest

from lycosa.judges.bayes.bayes import BayesClassifier
from lycosa.judges.classifier import Classifier, Example
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.formula import parse
from lycosa.judges.gp.judge import GpKnnClassifier, GpKnnSettings
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.protocol import CompletedJudge, Judge
from lycosa.judges.topic_judges import FormulaJudge, TopicJudge
from lycosa.lib.text import term_counts
from lycosa.model import Judgement, Page

CYCLING = "cycling bicycle tour wheel pedal touring bicycles cyclist road recreational"
SOUP = "soup bread kitchen recipe onion salt pepper pot cooking broth"


def page(text: str) -> Page:
    return Page("http://a.test/", title=text.split()[0] if text else "", text=text, terms=term_counts(text))


class Plain:
    """The least a judge of one's own has."""

    name = "plain"

    def judge(self, page: Page) -> float:
        return min(1.0, page.text.count("cycl") / 3)


def classifier(kind: type[Classifier] = BayesClassifier) -> Classifier:
    texts = [(CYCLING, "Cycling"), (SOUP, "Soup")]
    examples = [Example(page(f"{text} {text.split()[n]}"), (topic,)) for text, topic in texts for n in range(6)]
    return kind().fit(examples, ("Cycling", "Soup"))


@cache  # evolves a similarity
def evolved() -> Classifier:
    return classifier(partial(GpKnnClassifier, GpKnnSettings(population=6, generations=2)))


JUDGES = {
    "keywords": lambda: KeywordJudge("recreational cycling"),
    "contrast from words": lambda: ContrastJudge.fit((), "recreational cycling"),
    "contrast from examples": lambda: ContrastJudge.fit([page(CYCLING), page(f"{CYCLING} {CYCLING}")]),
    "a topic": lambda: TopicJudge(classifier(), ["Cycling"]),
    "a formula": lambda: FormulaJudge(classifier(), parse("Cycling AND NOT Soup")),
    "a topic by an evolved similarity": lambda: TopicJudge(evolved(), ["Cycling"]),
    "a formula by an evolved similarity": lambda: FormulaJudge(evolved(), parse("Cycling AND NOT Soup")),
    "one's own": lambda: CompletedJudge(Plain()),
}


def able(ability: str) -> pytest.MarkDecorator:
    """Only the judges that declare this ability."""
    names = [name for name, make in JUDGES.items() if getattr(make().abilities, ability) is not None]
    assert names, ability
    return pytest.mark.parametrize("judge", names, indirect=True)


@pytest.fixture(params=JUDGES)
def judge(request) -> Judge:
    return JUDGES[request.param]()


class TestJudgement:
    def test_relevance_is_a_share(self, judge):
        for text in (CYCLING, SOUP, "", "zzz qqq", f"{CYCLING} {SOUP}", "cycling " * 5000):
            found = judge.judge(page(text))
            assert isinstance(found, Judgement)
            assert 0 <= found.relevance <= 1

    def test_it_tells_its_topic_from_another(self, judge):
        assert judge.judge(page(CYCLING)).relevance > judge.judge(page(SOUP)).relevance

    def test_relevant_means_at_least_the_threshold(self, judge):
        for text in (CYCLING, SOUP, ""):
            found = judge.judge(page(text))
            assert found.is_relevant == (found.relevance >= judge.abilities.threshold)

    def test_a_page_without_a_word_is_not_relevant(self, judge):
        assert not judge.judge(page("")).is_relevant

    def test_it_is_pure(self, judge):
        first = judge.judge(page(CYCLING))
        judge.judge(page(SOUP))
        assert judge.judge(page(CYCLING)) == first


class TestTravel:
    @pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
    def test_it_judges_the_same_in_another_process(self, judge, dumps):
        again = pickle.loads(dumps(judge))
        assert again.name == judge.name
        assert again.judge(page(CYCLING)) == judge.judge(page(CYCLING))


class TestAbilities:
    def test_a_short_text_has_a_similarity_that_is_a_share(self, judge):
        similarity = judge.abilities.similarity
        assert similarity("") == 0
        for text in ("touring bicycles", "onion soup", "http://a.test/cycling/tour.html"):
            assert 0 <= similarity(text) <= 1

    def test_keywords_are_stems_with_weights(self, judge):
        for stem, weight in judge.abilities.keywords.items():
            assert isinstance(stem, str)
            assert weight > 0

    @able("with_threshold")
    def test_another_threshold_moves_the_line_and_nothing_else(self, judge):
        moved = judge.abilities.with_threshold(0.999)
        assert moved.judge(page(CYCLING)).relevance == judge.judge(page(CYCLING)).relevance
        assert moved.abilities.threshold == 0.999

    @able("study")
    def test_a_study_becomes_a_judge_of_the_same_kind(self, judge):
        study = judge.abilities.study()
        for text in (CYCLING, SOUP, SOUP):
            study.add(study.vector(page(text).terms), host=1, is_seed=False, relevance=0.0)
        study.learn()
        learned = study.as_judge(judge.abilities.threshold)
        assert len(study.relevance) == 3
        assert learned.judge(page(CYCLING)).relevance > learned.judge(page(SOUP)).relevance

    @able("interest")
    def test_an_interest_can_be_named_again(self, judge):
        interest = judge.abilities.interest
        assert str(interest.named(str(interest))) == str(interest)
        assert 0 <= interest.relevance(judge.judge(page(CYCLING)).scores) <= 1

    @able("reasons")
    def test_what_else_speaks_for_a_page(self, judge):
        reasons = judge.abilities.reasons(page(CYCLING))
        assert reasons
        assert all(isinstance(reason, str) and "Cycling" in reason for reason in reasons)
        assert not judge.abilities.reasons(page(""))

    @able("strongest")
    def test_words_that_speak_for_a_page(self, judge):
        strongest = judge.abilities.strongest
        assert set(strongest(page(SOUP)))


class TestOnesOwn:
    def test_a_number_out_of_range_is_refused(self):
        class Wrong(Plain):
            def judge(self, page: Page) -> float:
                return 2.0

        with pytest.raises(ValueError, match=r"judge 'plain' gave 2.0: relevance lies between 0 and 1"):
            CompletedJudge(Wrong()).judge(page(CYCLING))

    def test_a_judgement_is_taken_as_it_is(self):
        class Whole(Plain):
            def judge(self, page: Page) -> Judgement:
                return Judgement(0.2, True, best="x")

        assert CompletedJudge(Whole()).judge(page(CYCLING)) == Judgement(0.2, True, best="x")

    def test_a_threshold(self):
        assert not CompletedJudge(Plain(), threshold=0.9).judge(page("cycling cycling")).is_relevant
        assert CompletedJudge(Plain(), threshold=0.6).judge(page("cycling cycling")).is_relevant
