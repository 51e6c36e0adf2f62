from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.judges.bayes.bayes import BayesClassifier
from lycosa.judges.classifier import Example, parent_of, with_ancestors
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.topics.book import TopicBook
from lycosa.topics.documents import terms_hash
from lycosa.topics.judges import load_classifier, train_judge
from lycosa.topics.training import TrainingSettings, cross_validate


class SmallBayes:
    """A minimal classifier: naive Bayes over the leaves; an inner topic has the sum of its leaves."""

    name = "small"

    def fit(self, examples, topics):
        self.topics_ = with_ancestors(topics)
        self.counts_ = {topic: Counter() for topic in self.topics_}
        self.seen_ = []
        for example in examples:
            self.seen_.append(example)
            for topic in example.topics:
                self.counts_[topic].update(example.page.terms)
        return self

    def posteriors(self, page):
        parents = set(map(parent_of, self.topics_))
        scores = {}
        for topic, counts in self.counts_.items():
            if topic not in parents:
                total = sum(counts.values()) + 1000
                scores[topic] = sum(n * math.log((counts[t] + 1) / total) for t, n in page.terms.items())
        top = max(scores.values())
        odds = {topic: math.exp(score - top) for topic, score in scores.items()}
        whole = sum(odds.values())
        return np.array(
            [sum(o for leaf, o in odds.items() if f"{leaf}/".startswith(f"{t}/")) / whole for t in self.topics_]
        )


def example(text: str, *topics: str) -> Example:
    return Example(Page(url=text, text=text, terms=term_counts(text)), topics)


def sample(count: int = 10) -> list[Example]:
    examples = []
    for number in range(count):
        examples.append(example(f"bicycle tandem wheel number{number}", "Recreation/Cycling"))
        examples.append(example(f"sail mast wind number{number}", "Recreation/Sailing"))
        examples.append(example(f"stock bond fund number{number}", "Business"))
    return examples


TOPICS = ("Recreation/Cycling", "Recreation/Sailing", "Business")


class TestCrossValidation:
    def test_topics_that_are_easy_to_tell(self):
        report = cross_validate(SmallBayes, sample(), TOPICS)
        assert (report.documents, report.copies, report.folds, report.tested) == (30, 0, 5, 30)
        assert report.accuracy == report.macro_f1 == 1.0
        assert report.calibration_error < 0.05
        assert [(quality.topic, quality.examples, quality.tested) for quality in report.topics] == [
            ("Business", 10, 10),
            ("Recreation/Cycling", 10, 10),
            ("Recreation/Sailing", 10, 10),
        ]
        assert report.confusions == report.untested == report.without_examples == ()

    def test_no_classifier_judges_an_example_it_has_seen(self):
        class Strict(SmallBayes):
            def posteriors(self, page):
                assert terms_hash(page, 8) not in {terms_hash(seen.page, 8) for seen in self.seen_}
                return super().posteriors(page)

        copies = [example("wheel number3 bicycle tandem", "Business"), *sample()]
        report = cross_validate(Strict, copies, TOPICS)
        assert (report.documents, report.copies, report.tested) == (30, 1, 31)

    def test_every_fold_has_examples_of_every_topic(self):
        seen = []

        class Counting(SmallBayes):
            def fit(self, examples, topics):
                super().fit(examples, topics)
                seen.append(Counter(found.topics[0] for found in self.seen_))
                return self

        cross_validate(Counting, sample(), TOPICS)
        assert seen == [dict.fromkeys(TOPICS, 8)] * 5

    def test_confusions_and_what_they_cost(self):
        wrong = [example(f"stock bond fund twist{number}", "Recreation/Sailing") for number in range(4)]
        report = cross_validate(SmallBayes, sample() + wrong, TOPICS)
        assert report.accuracy == pytest.approx(30 / 34)
        (confusion,) = report.confusions
        assert (confusion.topic, confusion.taken_for, confusion.count) == ("Recreation/Sailing", "Business", 4)
        assert confusion.share == pytest.approx(4 / 14)
        quality = {one.topic: one for one in report.topics}
        assert quality["Business"].precision == pytest.approx(10 / 14)
        assert quality["Recreation/Sailing"].recall == pytest.approx(10 / 14)
        f1 = 2 * (10 / 14) / (1 + 10 / 14)
        assert report.macro_f1 == pytest.approx((f1 + f1 + 1) / 3)

    def test_a_topic_of_one_example_is_reported_as_untested(self):
        report = cross_validate(SmallBayes, [*sample(), example("paint brush", "Arts")], (*TOPICS, "Arts", "Empty"))
        assert (report.tested, report.accuracy) == (30, 1.0)
        assert report.untested == ("Arts",)
        assert report.without_examples == ("Empty",)

    def test_an_inner_topic_is_hit_by_any_leaf_below_it(self):
        inner = [example(f"sail bicycle number{number}", "Recreation") for number in range(5)]
        report = cross_validate(SmallBayes, sample() + inner, TOPICS)
        assert report.accuracy == 1.0
        assert {one.topic: one.tested for one in report.topics}["Recreation"] == 5

    def test_one_of_several_topics_is_enough(self):
        both = [example(f"sail mast number{number}", "Business", "Recreation/Sailing") for number in range(5)]
        assert cross_validate(SmallBayes, sample() + both, TOPICS).accuracy == 1.0

    def test_relevance(self):
        rest = [example(f"weather rain number{number}") for number in range(5)]
        report = cross_validate(SmallBayes, sample() + rest, TOPICS, good=["Recreation"])
        assert report.relevance is not None
        assert (report.relevance.tested, report.relevance.relevant, report.relevance.recall) == (35, 20, 1.0)
        assert report.relevance.precision < 1.0  # rain has to go somewhere
        assert report.tested == 30
        assert cross_validate(SmallBayes, sample(), TOPICS).relevance is None

    @pytest.mark.parametrize("count", [1, 2])
    def test_hardly_any_examples(self, count):
        report = cross_validate(
            SmallBayes, [example("stock", "Business"), example("bicycle", *TOPICS[:1])][:count], TOPICS
        )
        assert (report.documents, report.tested, report.accuracy) == (count, 0, 0.0)
        assert len(report.untested) == count

    def test_no_example(self):
        with pytest.raises(InputError, match="there is no example to learn from"):
            cross_validate(SmallBayes, [], TOPICS)

    def test_an_example_of_an_unknown_topic(self):
        with pytest.raises(InputError, match="example stock: there is no topic 'Bisness'"):
            cross_validate(SmallBayes, [example("stock", "Bisness")], TOPICS)

    def test_examples_that_change_meanwhile(self):
        class Shrinking(list):
            def __iter__(self):
                yield from list.__iter__(self)
                self.pop()

        with pytest.raises(InputError, match="the examples changed while they were read"):
            cross_validate(SmallBayes, Shrinking(sample()), TOPICS)

    def test_settings(self):
        with pytest.raises(ConfigError, match=r"training\.folds is 1"):
            TrainingSettings(folds=1)
        assert cross_validate(SmallBayes, sample(), TOPICS, settings=TrainingSettings(folds=3)).folds == 3


class TestTraining:
    def test_the_last_fit_sees_everything(self, tmp_path):
        with TopicBook(tmp_path / "topics.db") as book:
            book.add_examples(sample(), makes_topics=True)
            told = []
            version, report = train_judge(book, "bayes", progress=lambda *step: told.append(step))
            trained = book.load_judge(version)
        assert trained.report == json.loads(json.dumps(report.plain()))
        assert told[-1] == ("learning from all examples", 1, 1)
        whole = BayesClassifier().fit(sample(), TOPICS)
        for one in sample():
            assert load_classifier(trained).posteriors(one.page) == pytest.approx(whole.posteriors(one.page))

    def test_the_report_is_plain_data(self):
        report = cross_validate(SmallBayes, sample(), TOPICS, good=["Business"])
        plain = json.loads(json.dumps(report.plain()))
        assert plain["topics"][0]["topic"] == "Business"
        assert plain["relevance"]["recall"] == 1.0

    def test_progress_is_reported(self):
        told = []
        cross_validate(SmallBayes, sample(), TOPICS, progress=lambda *step: told.append(step))
        assert told[0] == ("counting", 0, 1)
        assert ("fold 2 of 5: judging", 0, 6) in told
