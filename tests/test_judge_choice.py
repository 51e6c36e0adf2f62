"""Which judge a crawl gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from lycosa.config import Config, build
from lycosa.engine import Crawl
from lycosa.errors import ConfigError, InputError
from lycosa.judge_choice import judge_of, require_vectors, settled
from lycosa.judges import meaning
from lycosa.judges.classifier import Example
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.keywords import KeywordJudge
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.topics.book import TopicBook
from lycosa.topics.judges import train_judge
from lycosa.workspace import Workspace

NOWHERE = Workspace(Path("nowhere"))


def config(**settings) -> Config:
    return build(("test", {"topic": "recreational cycling", "seeds": ["https://a.test/"], **settings}))


def contrast(**settings) -> ContrastJudge:
    judge = judge_of(config(**settings), NOWHERE)
    assert isinstance(judge, ContrastJudge)
    return judge


class TestKind:
    @pytest.mark.parametrize(
        ("strategy", "kind", "expected"),
        [
            ("hunter", "auto", "contrast"),
            ("hard+hunter", "auto", "contrast"),
            ("best-first", "auto", "keywords"),
            ("breadth-first", "auto", "keywords"),
            ("best-first", "contrast", "contrast"),
            ("hunter", "keywords", "keywords"),
        ],
    )
    def test_it_follows_the_strategy_unless_it_is_said(self, strategy, kind, expected):
        chosen = settled(config(strategy=strategy, judge={"kind": kind, "threshold": 0.3}))
        assert (chosen.judge.kind, chosen.judge.threshold) == (expected, 0.3)
        assert judge_of(chosen, NOWHERE).name == expected

    def test_one_that_is_not_known(self):
        with pytest.raises(ConfigError, match=r"judge 'keyword' is not known: did you mean 'keywords'\? known are"):
            judge_of(config(judge={"kind": "keyword"}), NOWHERE)

    def test_the_default(self):
        assert settled(config()).judge.kind == "contrast"

    def test_for_trained_topics_there_is_nothing_to_choose(self):
        given = config(topics=["Cycling"])
        assert settled(given) is given

    def test_a_kind_of_trained_judge_that_is_named_must_be_the_newest(self, tmp_path):
        workspace = Workspace(tmp_path)
        with TopicBook(workspace.topics) as book:
            words = {"Cycling": "bicycle saddle pedal", "Soup": "onion broth salt"}
            pages = [
                Example(Page(f"http://a.test/{topic}{at}", terms=term_counts(f"{text} n{at}")), (topic,))
                for topic, text in words.items()
                for at in range(4)
            ]
            book.add_examples(pages, makes_topics=True)
            train_judge(book, "knn")
        for kind in ("auto", "knn", "keywords"):  # the last: stored by crawls of earlier versions
            assert judge_of(config(topics=["Cycling"], judge={"kind": kind}), workspace).name == "knn:Cycling"
        with pytest.raises(
            ConfigError, match=r"judge gp-knn is asked for, but the newest in .* is knn: train one with"
        ):
            judge_of(config(topics=["Cycling"], judge={"kind": "gp-knn"}), workspace)

    @pytest.mark.parametrize(("kind", "own"), [("contrast", 0.5), ("keywords", 0.1)])
    def test_thresholds(self, kind, own):
        assert judge_of(config(judge={"kind": kind}), NOWHERE).threshold == own
        assert judge_of(config(judge={"kind": kind, "threshold": 0.3}), NOWHERE).threshold == 0.3
        assert judge_of(config(judge={"kind": kind}), NOWHERE, threshold=0.4).threshold == 0.4


class TestMeaning:
    @pytest.mark.parametrize(
        ("is_installed", "settings", "expected"),
        [
            (True, {}, "on"),
            (False, {}, "off"),
            (True, {"judge": {"meaning": "off"}}, "off"),
            (False, {"judge": {"meaning": "on"}}, "on"),
            (True, {"strategy": "best-first"}, "off"),
            (True, {"topic": ""}, "off"),
        ],
    )
    def test_it_is_decided_when_a_crawl_begins(self, monkeypatch, is_installed, settings, expected):
        monkeypatch.setattr(meaning, "is_installed", lambda: is_installed)
        assert settled(config(**settings)).judge.meaning == expected

    def test_the_judge_has_it_as_decided(self):
        assert contrast(judge={"meaning": "on"}).study().meaning is not None
        assert contrast(judge={"meaning": "off"}).study().meaning is None

    def test_a_crawl_by_meaning_needs_the_vectors(self, monkeypatch, tmp_path):
        monkeypatch.setattr(meaning, "is_installed", lambda: False)
        given = {"judge": {"meaning": "on"}}
        with pytest.raises(ConfigError, match=r"^judge\.meaning is on, .*: pip install 'lycosa\[meaning\]'"):
            Crawl("cycling", seeds=["https://a.test/"], directory=tmp_path / "crawl", config=given).run()
        assert not list((tmp_path / "crawl").glob("*.db"))
        require_vectors(config(judge={"meaning": "on", "kind": "keywords"}))  # which has no use for them

    def test_other_values(self):
        with pytest.raises(ConfigError, match=r"judge\.meaning is 'maybe': it must be auto, on or off"):
            config(judge={"meaning": "maybe"})


class TestSeeds:
    @pytest.mark.parametrize(
        ("topic", "wanted", "learns", "must_fit"),
        [
            ("cycling", "auto", True, True),
            ("cycling", "yes", True, False),
            ("cycling", "no", False, False),
            ("", "auto", True, False),
            ("", "yes", True, False),
        ],
    )
    def test_whether_they_are_examples(self, topic, wanted, learns, must_fit):
        study = contrast(topic=topic, judge={"seeds_are_examples": wanted}).study()
        assert study.topic.learns_from_seeds is learns
        assert (study.topic.learns_from_seeds and study.topic.seeds_must_fit) is must_fit

    def test_without_words_something_must_be_learned_from(self):
        with pytest.raises(InputError, match=r"no topic is given, and judge\.seeds_are_examples is no"):
            contrast(topic="", judge={"seeds_are_examples": "no"})

    @pytest.mark.parametrize(
        "settings",
        [
            {"strategy": "shark"},
            {"strategy": "shark", "judge": {"kind": "contrast"}},
            {"judge": {"kind": "keywords"}},
        ],
    )
    def test_without_words_it_takes_the_hunter(self, settings):
        with pytest.raises(InputError, match=r"no topic is given, and .* needs words"):
            judge_of(config(topic="", **settings), NOWHERE)


@pytest.mark.parametrize("kind", ["contrast", "keywords"])
def test_words_that_say_nothing(kind):
    with pytest.raises(ConfigError, match="topic 'the of' has no word to look for"):
        judge_of(config(topic="the of", judge={"kind": kind}), NOWHERE)


def test_keywords_are_still_there():
    assert isinstance(judge_of(config(judge={"kind": "keywords"}), NOWHERE), KeywordJudge)
