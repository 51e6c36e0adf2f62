from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.judges.bayes.bayes import BayesClassifier, BayesSettings
from lycosa.judges.calibration import expected_calibration_error
from lycosa.judges.classifier import Example, parent_of
from lycosa.lib.text import term_counts
from lycosa.model import Page

PAPER = BayesSettings(smoothing=1.0, calibration_examples=0)


def page(text: str) -> Page:
    return Page("http://a.test/", text=text, terms=term_counts(text))


def example(text: str, *topics: str) -> Example:
    return Example(page(text), topics)


SMALL = [
    example("wheel wheel road", "sport/bike"),
    example("wheel pedal", "sport/bike"),
    example("ball goal road", "sport/football"),
    example("soup spoon", "food"),
]
TOPICS = ("sport/bike", "sport/football", "food")


def generated(count: int, seed: int) -> list[Example]:
    """Documents of 5 to 400 words that come in bursts, by four topics with words of their own."""
    rng = np.random.default_rng(seed)
    topics = ("a/x", "a/y", "b/x", "b/y")
    made = []
    for number in range(count):
        topic = number % 4
        common = rng.integers(0, 300, rng.integers(5, 100))
        own = rng.integers(0, 40, max(1, len(common) // 12)) + 300 + 40 * topic
        strange = rng.integers(300, 460, max(1, len(common) // 12))
        words = np.concatenate([common, own, strange])
        counts = {f"w{word}": int(rng.integers(1, 5)) for word in words.tolist()}
        made.append(Example(Page(f"http://a.test/{number}", terms=counts), (topics[topic],)))
    return made


class TestThePapersFormula:
    def test_posteriors_of_siblings_are_bayes(self):
        examples = [Example(page, ("bike" if "bike" in topics[0] else "other",)) for page, topics in SMALL]
        classifier = BayesClassifier(PAPER).fit(examples, ("bike", "other"))
        found = dict(zip(classifier.topics_, classifier.posteriors(page("wheel road")), strict=True))
        # By hand, of the 7 words wheel road pedal ball goal soup spoon: bike has 5, other has 5.
        bike = 3 / 6 * ((3 + 1) / (7 + 5)) * ((1 + 1) / (7 + 5))
        other = 3 / 6 * ((0 + 1) / (7 + 5)) * ((1 + 1) / (7 + 5))
        assert found["bike"] == pytest.approx(bike / (bike + other), rel=1e-5)

    def test_an_inner_topic_is_the_sum_of_those_below_and_shares_out_what_it_has(self):
        classifier = BayesClassifier(PAPER).fit(SMALL, TOPICS)
        found = dict(zip(classifier.topics_, classifier.posteriors(page("wheel")), strict=True))
        bike, football, food = 3 * 4 / (7 + 5), 2 * 1 / (7 + 3), 2 * 1 / (7 + 2)
        assert found["food"] == pytest.approx(food / (bike + football + food), rel=1e-5)
        # Below sport, the words are wheel road pedal ball goal.
        bike, football = 3 * 4 / (5 + 5), 2 * 1 / (5 + 3)
        assert found["sport/bike"] / found["sport"] == pytest.approx(bike / (bike + football), rel=1e-5)

    def test_only_the_chosen_features_count(self):
        settings = BayesSettings(features=2, calibration_examples=0)
        classifier = BayesClassifier(settings).fit(SMALL * 3, TOPICS)
        assert len(classifier.strongest(page("wheel road pedal ball goal soup spoon"), "food")) <= 2


class TestOddPages:
    @pytest.mark.parametrize(
        "text", ["", "unheard of words", "wheel " * 500_000, "wheel", "soup wheel ball goal pedal"]
    )
    def test_posteriors_are_shares_of_the_parents(self, text):
        classifier = BayesClassifier().fit(SMALL * 5, TOPICS)
        found = dict(zip(classifier.topics_, classifier.posteriors(page(text)), strict=True))
        assert all(0 <= share <= 1 for share in found.values())
        assert found["sport"] + found["food"] == pytest.approx(1.0)
        assert found["sport/bike"] + found["sport/football"] == pytest.approx(found["sport"])
        memberships = classifier.memberships(page(text))
        assert ((memberships >= 0) & (memberships <= 1)).all()

    def test_a_page_without_known_words_gets_the_priors(self):
        classifier = BayesClassifier().fit(SMALL * 10, TOPICS)
        found = dict(zip(classifier.topics_, classifier.posteriors(page("unheard")), strict=True))
        assert found["food"] == pytest.approx(11 / 43)

    def test_a_topic_without_examples_gets_nothing(self):
        classifier = BayesClassifier().fit(SMALL, (*TOPICS, "food/soup", "art/music"))
        found = dict(zip(classifier.topics_, classifier.posteriors(page("rare unheard soup")), strict=True))
        assert (found["art"], found["art/music"], found["food/soup"]) == (0.0, 0.0, 0.0)
        assert found["food"] > 0.5

    def test_an_inner_topic_keeps_what_its_own_examples_say(self):
        examples = [*SMALL, example("olympics medal athlete", "sport"), example("olympics athlete", "sport")]
        classifier = BayesClassifier(PAPER).fit(examples, TOPICS)
        found = dict(zip(classifier.topics_, classifier.posteriors(page("olympics athlete medal")), strict=True))
        assert found["sport"] > 0.8
        assert found["sport/bike"] + found["sport/football"] < 0.3

    def test_examples_that_belong_nowhere_are_the_roots_own(self):
        examples = [*SMALL, example("tax form"), example("tax office", "")]
        found = BayesClassifier(PAPER).fit(examples, TOPICS).posteriors(page("tax tax office"))
        assert found.max() < 0.3

    def test_a_topic_above_another_of_the_same_example_adds_nothing(self):
        once = BayesClassifier().fit(SMALL, TOPICS)
        twice = BayesClassifier().fit([Example(e.page, (*e.topics, parent_of(e.topics[0]))) for e in SMALL], TOPICS)
        assert np.array_equal(once.posteriors(page("wheel soup")), twice.posteriors(page("wheel soup")))

    def test_an_example_in_two_topics_belongs_to_both(self):
        examples = [*(SMALL * 10), *[example("wheel wheel soup", "sport/bike", "food")] * 20]
        classifier = BayesClassifier().fit(examples, TOPICS)
        found = dict(zip(classifier.topics_, classifier.memberships(page("wheel wheel soup")), strict=True))
        assert found["sport/bike"] > 0.5
        assert found["food"] > 0.5

    def test_examples_without_words_leave_the_priors(self):
        classifier = BayesClassifier().fit([example("", "a"), example("", "a"), example("", "b")], ("a", "b"))
        assert classifier.posteriors(page("wheel")) == pytest.approx([3 / 5, 2 / 5])


class TestErrors:
    def test_no_example(self):
        with pytest.raises(InputError, match="no example"):
            BayesClassifier().fit([], TOPICS)

    def test_no_topic(self):
        with pytest.raises(InputError, match="no topic"):
            BayesClassifier().fit(SMALL, ())

    def test_an_unknown_topic_names_the_nearest(self):
        with pytest.raises(InputError, match="did you mean 'sport/bike'"):
            BayesClassifier().fit([example("wheel", "sport/bikes")], TOPICS)
        with pytest.raises(InputError, match="did you mean 'sport/bike'"):
            BayesClassifier().fit(SMALL, TOPICS).strongest(page("wheel"), "sport/bikes")

    @pytest.mark.parametrize("wrong", [{"features": 0}, {"smoothing": 0.0}, {"smoothing": math.nan}])
    def test_settings_out_of_range(self, wrong):
        with pytest.raises(ConfigError, match=f"bayes.{next(iter(wrong))}"):
            BayesSettings(**wrong)


class TestUpdates:
    @pytest.mark.parametrize("is_damped", [False, True])
    def test_learning_in_two_steps_is_learning_at_once(self, is_damped):
        settings = BayesSettings(is_damped=is_damped, calibration_examples=0)
        # The words of the second part occur in the first, so that both know the same features.
        more = [
            example("wheel soup soup", "food"),
            example("goal", "sport"),
            example("pedal ball", "sport/bike", "food"),
        ]
        at_once = BayesClassifier(settings).fit([*SMALL, *more], TOPICS)
        in_steps = BayesClassifier(settings).fit(SMALL, TOPICS).update(more)
        for text in ("wheel road goal", "soup soup spoon", ""):
            assert in_steps.posteriors(page(text)) == pytest.approx(at_once.posteriors(page(text)), rel=1e-5)

    def test_what_is_added_and_removed_leaves_no_trace(self):
        classifier = BayesClassifier(BayesSettings(is_damped=True)).fit(SMALL * 3, TOPICS)
        before = classifier.posteriors(page("wheel goal soup"))
        extra = [example("goal goal goal soup", "food")]
        changed = classifier.update(extra).posteriors(page("wheel goal soup"))
        after = classifier.update(removed=extra).posteriors(page("wheel goal soup"))
        assert changed != pytest.approx(before)
        assert after == pytest.approx(before, rel=1e-5)

    def test_an_example_can_move(self):
        moved = [*SMALL[:3], Example(SMALL[3].page, ("sport/bike",))]
        classifier = BayesClassifier(PAPER).fit(SMALL, TOPICS).update(added=moved[3:], removed=SMALL[3:])
        found = dict(zip(classifier.topics_, classifier.posteriors(page("soup")), strict=True))
        assert found["food"] == 0.0
        assert found["sport"] == pytest.approx(1.0)

    def test_removing_what_was_not_there_is_refused_and_changes_nothing(self):
        classifier = BayesClassifier().fit(SMALL, TOPICS)
        before = classifier.posteriors(page("soup"))
        with pytest.raises(InputError, match="from 'food'"):
            classifier.update(removed=[SMALL[3], SMALL[3]])
        assert np.array_equal(classifier.posteriors(page("soup")), before)


class TestStrongest:
    def test_words_for_and_against_in_order(self):
        classifier = BayesClassifier().fit(SMALL * 5, TOPICS)
        found = classifier.strongest(page("wheel ball soup road unheard"), "sport/bike")
        assert found["wheel"] > 0 > found["ball"]
        assert found["soup"] < 0
        assert "unheard" not in found
        assert [abs(share) for share in found.values()] == sorted(map(abs, found.values()), reverse=True)
        assert len(classifier.strongest(page("wheel ball soup road"), "sport/bike", 2)) == 2


class TestSaving:
    def test_what_was_learned_survives(self):
        classifier = BayesClassifier().fit(generated(200, 1), ("a/x", "a/y", "b/x", "b/y"))
        loaded = BayesClassifier.load(classifier.save())
        copied = pickle.loads(pickle.dumps(classifier))
        for case in generated(5, 2):
            for other in (loaded, copied):
                assert np.array_equal(other.posteriors(case.page), classifier.posteriors(case.page))
                assert np.array_equal(other.memberships(case.page), classifier.memberships(case.page))
        assert loaded.settings == classifier.settings

    def test_a_loaded_one_can_be_updated(self):
        loaded = BayesClassifier.load(BayesClassifier(PAPER).fit(SMALL, TOPICS).save())
        fresh = BayesClassifier(PAPER).fit(SMALL, TOPICS)
        more = [example("wheel", "food")]
        assert np.array_equal(
            loaded.update(more).posteriors(page("wheel")), fresh.update(more).posteriors(page("wheel"))
        )

    @pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"nonsense"])
    def test_anything_else_is_refused(self, damage):
        with pytest.raises(ValueError, match="not a saved classifier"):
            BayesClassifier.load(damage)

    def test_a_file_cut_short_is_refused(self):
        saved = BayesClassifier().fit(SMALL, TOPICS).save()
        with pytest.raises(ValueError, match="not a saved classifier"):
            BayesClassifier.load(saved[: len(saved) // 2])


def test_only_calibrated_posteriors_are_accurate():
    train, test = generated(1_200, 3), generated(600, 4)
    errors = []
    for most in (0, 20_000):
        classifier = BayesClassifier(BayesSettings(calibration_examples=most)).fit(train, ("a/x", "a/y", "b/x", "b/y"))
        leaves = [number for number, topic in enumerate(classifier.topics_) if "/" in topic]
        names = [classifier.topics_[number] for number in leaves]
        shares = np.array([classifier.posteriors(case.page)[leaves] for case in test])
        is_right = [names[place] == case.topics[0] for place, case in zip(shares.argmax(axis=1), test, strict=True)]
        errors.append(expected_calibration_error(shares.max(axis=1), is_right))
    raw, calibrated = errors
    assert calibrated < 0.06
    assert raw > 2 * calibrated
