from __future__ import annotations

import pickle

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.judges.background import background_shares
from lycosa.judges.contrast.judge import ContrastJudge, ContrastSettings, ContrastStudy, ContrastTopic, telling_words
from lycosa.judges.contrast.judge import _deciding as deciding
from lycosa.lib.text import term_counts
from lycosa.lib.wordhash import SIZE, number_of
from lycosa.model import Page

USUAL = ["say", "year", "time", "new", "peopl", "work", "use", "make", "good", "know", "want", "think", "way", "need"]
USUAL += ["day", "come", "look", "just", "like", "first", "last", "month", "week", "number", "point", "problem", "case"]
FURNITURE = {"menu": 3, "search": 2, "login": 2}
"""On all pages of the site, whatever their topic; unknown to the table."""


def page(topic: str, seed: int, *, own: int = 6) -> Page:
    rng = np.random.default_rng(seed)
    terms = {word: int(rng.integers(1, 4)) for word in rng.choice(USUAL, 12, replace=False).tolist()}
    terms |= {f"{topic}{n}": int(rng.integers(1, 5)) for n in rng.choice(12, own, replace=False).tolist()}
    return Page(f"http://a.test/{topic}/{seed}", terms=terms | FURNITURE, words=100)


@pytest.fixture(scope="module")
def judge() -> ContrastJudge:
    study = ContrastJudge.fit([page("cycl", n) for n in range(5)], "cycl1").study()
    for n in range(20):
        study.add(study.vector(page("soup", n).terms))
    study.learn()
    return study.as_judge(0.5)


class TestTable:
    def test_everyday_words_are_common_and_specific_ones_are_not(self):
        shares = background_shares()
        assert shares.shape == (SIZE,)
        assert shares[number_of("say")] > 0.1 > 0.005 > shares[number_of("bicycl")]
        assert shares.min() >= 0
        assert shares.max() <= 1

    def test_it_cannot_be_changed(self):
        with pytest.raises(ValueError, match="read-only"):
            background_shares()[1] = 0.5


class TestJudge:
    def test_it_tells_pages_on_the_topic_from_others(self, judge):
        own = [judge.judge(page("cycl", n)).relevance for n in range(50, 70)]
        other = [judge.judge(page(topic, n)).relevance for topic in ("soup", "sail") for n in range(50, 70)]
        assert min(own) > max(other)
        assert np.mean(own) > 0.5 > np.mean(other)

    def test_the_words_that_decided_are_named(self, judge):
        terms = judge.judge(page("cycl", 60)).terms
        assert max(terms, key=terms.get).startswith("cycl")
        assert len(terms) <= 10

    @pytest.mark.parametrize("size", [0, 3, 10, 11, 40])
    def test_they_are_the_ten_that_count_most_and_equals_go_by_name(self, size):
        dice = np.random.default_rng(size)
        parts = dice.integers(-3, 4, size).astype(np.float32)  # many equals, and zeros, which decide nothing
        terms = {f"word{n}": 1 for n in dice.permutation(size).tolist()}
        shares = {stem: part for stem, part in zip(terms, parts.tolist(), strict=True) if part}
        order = sorted(shares, key=lambda stem: (-abs(shares[stem]), stem))[:10]
        assert list(deciding(terms, parts).items()) == [(stem, shares[stem]) for stem in order]

    def test_a_page_without_words_is_not_relevant(self, judge):
        assert judge.judge(Page("http://a.test/")).relevance == 0
        assert judge.score_text("") == 0

    def test_a_text_is_judged_like_a_page(self, judge):
        assert judge.score_text("cycl1 cycl2 cycl3") > 0.5 > judge.score_text("soup1 year menu")

    def test_it_can_be_sent_to_another_process(self, judge):
        sent = pickle.loads(pickle.dumps(judge))
        assert sent.judge(page("cycl", 60)) == judge.judge(page("cycl", 60))

    @pytest.mark.parametrize("examples", [0, 1, 2, 10])
    @pytest.mark.parametrize("keywords", ["", "cycl1 cycl2 cycl3"])
    def test_few_examples_or_keywords_are_enough(self, examples, keywords):
        if not examples and not keywords:
            with pytest.raises(InputError, match="neither an example page nor a word"):
                ContrastJudge.fit([], keywords)
            return
        made = ContrastJudge.fit([page("cycl", n) for n in range(examples)], keywords)
        own = [made.judge(page("cycl", n, own=9)).relevance for n in range(50, 60)]
        other = [made.judge(page("soup", n, own=9)).relevance for n in range(50, 60)]
        assert min(own) > max(other)
        assert np.mean(own) > 0.5

    def test_what_makes_no_sense_is_refused(self):
        with pytest.raises(ConfigError, match="steepness"):
            ContrastSettings(steepness=0)
        with pytest.raises(ConfigError, match="threshold"):
            ContrastStudy(ContrastTopic()).as_judge(1.0)


class TestStudy:
    def study(self, examples: int, keywords: dict[str, int] | None = None) -> ContrastStudy:
        given = tuple(telling_words(page("cycl", n).terms, 200) for n in range(examples))
        return ContrastStudy(ContrastTopic(keywords=keywords or {}, examples=given))

    def gap(self, study: ContrastStudy) -> float:
        """How far pages of the topic are from pages of a topic that shares the site's furniture."""
        own = [study.judge_vector(study.vector(page("cycl", n).terms)) for n in range(80, 100)]
        other = [study.judge_vector(study.vector(page("soup", n).terms)) for n in range(80, 100)]
        return float(np.mean(own) - np.mean(other))

    def tell(self, study: ContrastStudy, topic: str, numbers: range) -> None:
        for n in numbers:
            study.add(study.vector(page(topic, n).terms))

    def test_it_learns_from_the_crawl_what_the_topic_is_not(self):
        study = self.study(1)
        before = self.gap(study)
        self.tell(study, "soup", range(20, 40))
        study.learn()
        assert self.gap(study) > before + 0.1

    def test_only_pages_of_the_crawl_are_reported(self):
        study = self.study(3)
        assert len(study.relevance) == 0
        self.tell(study, "cycl", range(20, 23))
        self.tell(study, "soup", range(20, 24))
        study.learn()
        assert study.relevance.shape == (7,)
        assert study.relevance[:3].min() > study.relevance[3:].max()

    def test_previous_judgements_do_not_matter(self):
        """Led astray at first, it recovers when it learns again from the same pages."""
        study, other = self.study(4), self.study(4)
        for each in (study, other):
            self.tell(each, "soup", range(20, 40))
            self.tell(each, "cycl", range(20, 30))
        study._relevance[4:24], study._relevance[24:34] = 1.0, 0.0
        for _ in range(3):
            study.learn()
            other.learn()
        np.testing.assert_allclose(study.relevance, other.relevance, atol=0.05)

    def test_without_examples_other_pages_do_not_drown_the_keywords(self):
        study = self.study(0, {"cycl1": 1, "cycl2": 1})
        self.tell(study, "soup", range(20, 60))
        self.tell(study, "cycl", range(20, 40))
        study.learn()
        assert self.gap(study) > 0.2

    def test_seeds_are_examples_if_the_topic_says_so(self):
        for learns in (False, True):
            study = ContrastStudy(ContrastTopic(keywords={"sail": 1}, learns_from_seeds=learns))
            study.add(study.vector(page("cycl", 1).terms), is_seed=True)
            study.learn()
            assert (study.relevance[0] >= 0.9) == learns

    def test_the_most_telling_words_of_a_long_page_are_kept(self):
        terms = {f"usual{n}": 1 for n in range(500)} | {"cycl1": 9, "cycl2": 300}
        kept = telling_words(terms, 50)
        assert len(kept.words) == 50
        assert {number_of("cycl1"), number_of("cycl2")} <= set(kept.words.tolist())
        assert kept.counts[kept.words == number_of("cycl2")] == 255

    def test_many_pages_are_processed_in_blocks(self, monkeypatch):
        whole, parts = self.study(3), self.study(3)
        for study in (whole, parts):
            self.tell(study, "soup", range(20, 40))
            self.tell(study, "cycl", range(20, 30))
        whole.learn()
        monkeypatch.setattr("lycosa.judges.contrast.studied_pages._BLOCK", 7)
        parts.learn()
        np.testing.assert_allclose(parts.relevance, whole.relevance, rtol=1e-4)

    def test_learning_more_often_changes_nothing(self):
        """The first scores are cached, but recomputed when the examples change."""
        often, once = (ContrastStudy(ContrastTopic(keywords={"sail": 1}, learns_from_seeds=True)) for _ in range(2))
        for n in range(30):
            for study in (often, once):
                study.add(study.vector(page("soup" if n % 3 else "cycl", n).terms), is_seed=n in (0, 12))
            often.learn()
        once.learn()
        np.testing.assert_allclose(often.relevance, once.relevance, rtol=1e-4)
        np.testing.assert_allclose(often.weights, once.weights, atol=1e-6)

    def sited(self, seeds: int, dialect: int, soup: int) -> ContrastStudy:
        """The site of the seeds may have pages with words of its own. Arguments are hosts."""
        study = self.study(4)
        for n in range(4):
            study.add(study.vector(page("cycl", n).terms), host=seeds, is_seed=True)
        for n in range(30):
            terms = {**page("cycl", n).terms, **page("spoke", n, own=12).terms}
            study.add(study.vector(terms), host=dialect)
            study.add(study.vector(page("soup", n).terms), host=soup)
        study.learn()
        return study

    def test_pages_on_the_seeds_site_hardly_count_as_off_topic(self):
        known, unknown = (self.sited(1, host, 2).relevance[4:].reshape(30, 2).mean(0) for host in (1, 3))
        assert known[0] > unknown[0] + 0.1
        assert known[1] < 0.2

    def test_on_one_site_all_count_the_same(self):
        np.testing.assert_allclose(self.sited(1, 1, 1).relevance, self.sited(0, 0, 0).relevance, atol=1e-4)

    def test_a_page_without_words_does_no_harm(self):
        study = self.study(2)
        study.add(study.vector({}))
        self.tell(study, "soup", range(3))
        study.learn()
        assert np.isfinite(study.relevance).all()


class TestSeeds:
    """Which seeds of a crawl are examples."""

    def study(self, keywords: str = "", *, must_fit: bool = False) -> ContrastStudy:
        return ContrastJudge.fit((), keywords, learns_from_seeds=True, seeds_must_fit=must_fit).study()

    def told(self, study: ContrastStudy, *texts: str) -> list[int]:
        """Positions of the seeds that are examples, after seeds with these texts."""
        for text in texts:
            study.add(study.vector(term_counts(text)), is_seed=True)
        study.learn()
        return list(study.examples)

    BIKES = "bicycle tandem derailleur saddle"
    KIN = "tandem derailleur saddle pedals"
    """Without the topic's word, but like a page that has it."""
    SOUP = "broth onion ladle celery"
    TRAINS = "locomotive railway boiler gauge"

    def test_without_words_all_are(self):
        assert self.told(self.study(), self.BIKES, self.SOUP, self.BIKES) == [0, 1, 2]

    def test_one_without_text_is_not(self):
        study = self.study()
        assert self.told(study, "", self.BIKES) == [1]
        assert study.relevance[0] < 0.5 < study.relevance[1]

    def test_those_that_fit_the_words(self):
        study = self.study("bicycle", must_fit=True)
        assert self.told(study, self.SOUP, self.BIKES, self.TRAINS, self.BIKES) == [1, 3]
        assert study.relevance[[1, 3]].min() > 0.8 > study.relevance[[0, 2]].max()

    def test_none_if_most_do_not(self):
        """One of several starting points fits by chance."""
        study = self.study("bicycle", must_fit=True)
        assert self.told(study, self.BIKES, self.KIN) == [0, 1]
        assert self.told(study, self.SOUP) == []
        assert self.told(study, self.BIKES) == [0, 1, 3]

    @pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 3, 0, 1), (3, 2, 1, 0)])
    def test_those_that_resemble_them_in_any_order(self, order):
        study = self.study("bicycle", must_fit=True)
        texts = [self.BIKES, self.BIKES, self.KIN, self.SOUP]
        assert self.told(study, *(texts[at] for at in order)) == [place for place, at in enumerate(order) if at < 3]

    def test_none_if_none_fits(self):
        study = self.study("bicycle", must_fit=True)
        assert self.told(study, self.KIN, self.SOUP, self.KIN) == []

    def test_none_if_they_fit_and_are_not_alike(self):
        """Where all pages use the words, seeds that do so are not examples for it."""

        def about(subject: str) -> str:
            return "world history " * 4 + " ".join(f"{subject}{number}" for number in range(240))

        study = self.study("world history", must_fit=True)
        assert self.told(study, about("soup"), about("rail")) == []
        again = self.study("world history", must_fit=True)
        again.snapshots.load(study.snapshots.take())
        assert study.seeds_are_in_doubt
        assert again.seeds_are_in_doubt
        assert self.told(again, about("rail"), about("rail")) == [0, 1, 2, 3], "most are alike now"

    def test_other_pages_never_are(self):
        study = self.study("cycl1", must_fit=True)
        study.add(study.vector(page("cycl", 1).terms))
        assert study.examples == {}

    def test_examples_are_what_was_added(self):
        study = self.study()
        vector = study.vector(page("cycl", 1).terms)
        study.add(study.vector(page("soup", 1).terms))
        study.add(vector, is_seed=True)
        (found,) = study.examples.values()
        assert list(study.examples) == [1]
        assert found.words.tolist() == vector.words.tolist()
        assert found.counts.tolist() == vector.counts.tolist()
