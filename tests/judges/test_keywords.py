from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.errors import ConfigError
from lycosa.judges.keywords import KeywordJudge
from lycosa.lib.text import term_counts
from lycosa.model import Page


def page(text: str) -> Page:
    return Page("http://a.test/", text=text, terms=term_counts(text))


class TestRelevance:
    def test_it_is_the_cosine_of_stem_counts(self):
        # topic: cycl 1, tour 1; page: cycl 2, tour 1, soup 3 → (2 + 1) / (√2 · √14)
        judgement = KeywordJudge("cycling tours").judge(page("Cycling, cycles, a tour; soup soup soup"))
        assert judgement.relevance == pytest.approx(3 / math.sqrt(2 * 14))

    def test_words_count_by_their_stems(self):
        judge = KeywordJudge("cycling")
        assert judge.judge(page("cycled")).relevance == 1.0
        assert judge.judge(page("CYCLES")).relevance == 1.0
        assert judge.judge(page("bicycle")).relevance == 0.0

    def test_a_word_said_twice_in_the_topic_weighs_more(self):
        once, twice = KeywordJudge("cycling soup"), KeywordJudge("cycling cycling soup")
        about_cycling = page("cycling")
        assert twice.judge(about_cycling).relevance > once.judge(about_cycling).relevance

    def test_a_page_without_words_is_not_relevant(self):
        judgement = KeywordJudge("cycling").judge(page(""))
        assert (judgement.relevance, judgement.is_relevant, judgement.terms) == (0.0, False, {})

    def test_the_deciding_words_add_up_to_the_relevance(self):
        judgement = KeywordJudge("recreational cycling tours").judge(page("cycling tours for all, tours with soup"))
        assert set(judgement.terms) == {"cycl", "tour"}
        assert sum(judgement.terms.values()) == pytest.approx(judgement.relevance)
        assert judgement.terms["tour"] == pytest.approx(2 * judgement.terms["cycl"])

    @given(st.lists(st.sampled_from(["cycling", "tour", "soup", "salt", "road", "wheel"]), max_size=40))
    def test_it_stays_between_0_and_1(self, words):
        relevance = KeywordJudge("cycling tour road").judge(page(" ".join(words))).relevance
        assert 0.0 <= relevance <= 1.0

    def test_a_page_of_just_the_topic_is_wholly_relevant(self):
        assert KeywordJudge("one two three").judge(page("one two three " * 7)).relevance == pytest.approx(1.0)
        assert KeywordJudge("wheel road tour").judge(page("wheel road tour " * 7)).relevance <= 1.0

    def test_anchors_are_judged_like_pages(self):
        judge = KeywordJudge("cycling tours")
        assert judge.score_text("Cycling tours!") == pytest.approx(1.0)
        assert judge.score_text("click here") == 0.0


class TestThreshold:
    def test_relevant_at_the_threshold(self):
        half = page("cycling soup salt onion")  # 1 / √4
        assert KeywordJudge("cycling", threshold=0.5).judge(half).is_relevant
        assert not KeywordJudge("cycling", threshold=0.51).judge(half).is_relevant

    @pytest.mark.parametrize("threshold", [0.0, -0.1, 1.01, 7, float("nan")])
    def test_it_must_mean_something(self, threshold):
        with pytest.raises(ConfigError, match=r"judge\.threshold is .*: it must be above 0 and at most 1"):
            KeywordJudge("cycling", threshold=threshold)


class TestTopic:
    @pytest.mark.parametrize("topic", ["", "   ", "the and of", "!!! ???", "a"])
    def test_it_needs_a_word(self, topic):
        with pytest.raises(ConfigError, match="has no word to look for: give at least one"):
            KeywordJudge(topic)

    def test_a_judge_can_be_sent_to_another_process(self):
        judge = KeywordJudge("cycling tours", threshold=0.3)
        again = pickle.loads(pickle.dumps(judge))
        sample = page("cycling with soup")
        assert again.judge(sample) == judge.judge(sample)
