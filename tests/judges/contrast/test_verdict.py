"""What is said of the pages of a crawl: right at any prevalence, and held by what was given."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy, ContrastTopic
from lycosa.judges.meaning import is_installed
from lycosa.lib.text import term_counts
from lycosa.lib.wordhash import number_of
from lycosa.model import Page

SUBJECTS = {
    "cycling": "bicycle pedal wheel saddle gear chain brake handlebar tyre pannier derailleur spoke crank tandem",
    "cooking": "soup recipe oven butter flour onion garlic pan simmer stew bake pastry spoon salt",
    "sailing": "yacht sail mast keel rudder hull anchor deck rigging skipper crew harbour tide helm",
    "touring": "bicycle wheel luggage tent campsite map route pass valley ferry hostel border village guide",
}
GENERAL = [f"filler{number}" for number in range(300)]


def terms(subject: str, number: int, *, words: int = 30) -> dict[str, int]:
    rng = np.random.default_rng([number, number_of(subject)])
    chosen = [*rng.choice(SUBJECTS[subject].split(), words), *rng.choice(GENERAL, 60)]
    return dict(term_counts(" ".join(chosen)))


def study(*, examples: int, words: str = "") -> ContrastStudy:
    bare = ContrastStudy(ContrastTopic(keywords={"any": 1}))
    given = tuple(bare.vector(terms("cycling", 1000 + number)) for number in range(examples))
    return ContrastStudy(ContrastTopic(keywords=term_counts(words), examples=given))


def tell(learned: ContrastStudy, subject: str, count: int, *, words: int = 30) -> None:
    for number in range(count):
        learned.add(learned.vector(terms(subject, number, words=words)), host=1)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("given", [{"examples": 5}, {"examples": 0, "words": "bicycle gear"}])
def test_the_judged_share_is_the_true_one_at_any_prevalence(given, share):
    learned = study(**given)
    inside = round(200 * share)
    tell(learned, "cycling", inside)
    tell(learned, "sailing", (200 - inside) // 2)
    tell(learned, "cooking", 200 - inside - (200 - inside) // 2)
    said = learned.verdicts()
    assert (said >= 0.5).mean() == pytest.approx(share, abs=0.02)
    assert (said[:inside] >= 0.5).mean() > 0.95


def test_near_misses_are_told_from_the_topic_better_than_by_nearness():
    learned = study(examples=5)
    tell(learned, "touring", 150)
    tell(learned, "cycling", 20)
    tell(learned, "cooking", 30)
    assert (learned.relevance[:150] > 0.1).mean() > (learned.verdicts()[:150] > 0.1).mean()
    assert (learned.said[150:170] >= 0.5).mean() > 0.9
    assert (learned.said[:150] >= 0.5).mean() < 0.05


def test_a_persons_words_stay_in_the_topic_though_most_pages_contain_them():
    learned = study(examples=0, words="bicycle")
    tell(learned, "touring", 150)
    tell(learned, "cycling", 40)
    learned.verdicts()
    with_word = learned.as_judge(0.5).score_text("bicycle pedal saddle gear chain")
    without = learned.as_judge(0.5).score_text("pedal saddle gear chain")
    assert with_word > without


def with_meaning(on: float, off: float) -> ContrastStudy:
    """Twenty pages that use the word, and sixty that do not, with the meaning that each group has."""
    learned = ContrastJudge.fit((), "bicycle", has_meaning=True).study()
    rng = np.random.default_rng(3)
    for number in range(80):
        others = " ".join(f"thing{word}" for word in rng.integers(0, 10_000, 80))
        uses_it = number < 20
        page = learned.vector(term_counts("bicycle " * 5 * uses_it + others))
        learned.add(page, host=1, meaning=(on if uses_it else off) + rng.normal(0.0, 0.02))
    return learned


def test_pages_that_use_the_words_for_something_else_are_less_likely():
    confirmed, unconfirmed = with_meaning(0.5, 0.1), with_meaning(0.1, 0.1)
    assert confirmed.verdicts()[:20].mean() > 0.8
    assert unconfirmed.verdicts()[:20].mean() < 0.2
    assert max(each.verdicts()[20:].mean() for each in (confirmed, unconfirmed)) < 0.1


def test_a_single_page_is_judged_by_its_meaning_too():
    learned = with_meaning(0.5, 0.1)
    learned.verdicts()
    page = learned.vector(term_counts("bicycle bicycle frame saddle"))
    near, far = (learned.add(page, host=1, meaning=meaning) and learned.said[-1] for meaning in (0.5, 0.0))
    assert near > far + 0.2


@pytest.mark.skipif(not is_installed(), reason="pip install 'lycosa[meaning]'")
def test_and_so_does_the_judge_of_the_readers():
    learned = with_meaning(0.5, 0.1)
    learned.verdicts()
    judge = pickle.loads(pickle.dumps(learned.as_judge(0.5)))
    near, far = (
        judge.judge(Page("http://a.test/", title=title, terms={"bicycl": 5})).relevance
        for title in ("Bicycles and cycling", "Leek soup with butter")
    )
    assert near > far + 0.2


def test_what_is_said_does_not_change_what_guides():
    plain, asked = study(examples=3), study(examples=3)
    for learned in (plain, asked):
        tell(learned, "cycling", 20)
        tell(learned, "cooking", 20)
        learned.learn()
    asked.verdicts()
    for learned in (plain, asked):
        tell(learned, "sailing", 5)
    np.testing.assert_array_equal(plain.relevance, asked.relevance)
    np.testing.assert_array_equal(plain.weights, asked.weights)


def test_the_judge_made_of_it_agrees():
    learned = study(examples=5, words="bicycle gear")
    tell(learned, "cycling", 30)
    tell(learned, "touring", 60)
    said = learned.verdicts()
    judge = learned.as_judge(0.5)
    again = [judge._judged(terms("touring", number))[0] for number in range(60)]
    np.testing.assert_allclose(again, said[30:], atol=0.1)


def test_later_pages_are_judged_by_the_last_verdict():
    learned = study(examples=5)
    tell(learned, "cycling", 30)
    tell(learned, "cooking", 30)
    learned.verdicts()
    tell(learned, "sailing", 10)
    assert len(learned.said) == 70
    assert learned.said[60:].max() < 0.1
    assert learned.recent_verdicts() is not None
    before = learned._judged_at
    tell(learned, "sailing", 20)
    learned.recent_verdicts()
    assert learned._judged_at > before


@pytest.mark.parametrize(
    "learned", [study(examples=5), study(examples=0, words="bicycle gear"), with_meaning(0.5, 0.1)],
    ids=["examples", "words", "meaning"],
)  # fmt: skip
def test_what_is_said_of_many_pages_at_once_is_what_is_said_of_each(learned):
    tell(learned, "cycling", 40)
    tell(learned, "cooking", 40)
    learned.verdicts()
    first = len(learned.said)
    pages = [*(learned.vector(terms(subject, number)) for subject in SUBJECTS for number in range(200, 205)), ([], [])]
    pages = [(np.array(words, dtype=np.uint16), np.array(counts, dtype=np.uint8)) for words, counts in pages]
    meanings = [0.1 + 0.02 * place for place in range(len(pages))]
    for page, meaning in zip(pages, meanings, strict=True):
        learned.add(page, host=2, meaning=meaning)
    view = learned._verdict.view
    each = [view.judged(*page, meaning)[0] for page, meaning in zip(pages, meanings, strict=True)]
    assert len(set(each)) > 10
    np.testing.assert_allclose(learned.said[first:], each, atol=1e-5)
    assert learned.said[-1] == 0.0


def test_examples_are_relevant_whatever_is_found():
    bare = ContrastStudy(ContrastTopic(keywords={"any": 1}))
    learned = ContrastStudy(ContrastTopic(learns_from_seeds=True))
    for number in range(3):
        learned.add(bare.vector(terms("cycling", number)), is_seed=True)
    tell(learned, "cooking", 50)
    np.testing.assert_array_equal(learned.verdicts()[:3], 1.0)


def test_drift_is_what_the_given_would_not_call_relevant():
    learned = study(examples=5)
    tell(learned, "cycling", 40)
    tell(learned, "cooking", 40)
    learned.verdicts()
    assert learned.drift < 0.05


def test_without_a_topic_nothing_is_said_but_nearness():
    learned = ContrastStudy(ContrastTopic(learns_from_seeds=True))
    tell(learned, "cooking", 5)
    np.testing.assert_array_equal(learned.verdicts(), learned.relevance)


def test_pages_without_words_are_not_relevant():
    learned = study(examples=3)
    tell(learned, "cycling", 20)
    tell(learned, "cooking", 20)
    learned.add(learned.vector({}))
    assert learned.verdicts()[-1] < 0.1
    assert learned.as_judge(0.5).score_text("") == 0.0


class TestNearMisses:
    MOTORS = "motorcycle engine petrol exhaust carburettor clutch piston throttle gasoline cylinder"

    def text(self, rng: np.random.Generator, *parts: tuple[str, int]) -> dict[str, int]:
        return dict(term_counts(" ".join(word for words, count in parts for word in rng.choice(words.split(), count))))

    def test_pages_beside_the_topic_and_the_words_that_set_them_apart(self):
        rng, cycling = np.random.default_rng(0), SUBJECTS["cycling"]
        bare = ContrastStudy(ContrastTopic(keywords={"any": 1}))
        given = tuple(bare.vector(self.text(rng, (cycling, 12))) for _ in range(5))
        learned = ContrastStudy(ContrastTopic(examples=given))
        for _ in range(50):
            learned.add(learned.vector(self.text(rng, (cycling, 12))), host=1)
            for _ in range(2):
                learned.add(learned.vector(self.text(rng, (cycling, 5), (self.MOTORS, 5))), host=1)
            learned.add(learned.vector(self.text(rng, (SUBJECTS["cooking"], 10))), host=1)
        learned.learn()
        assert learned.near_misses()[0] == 0, "before there are verdicts, nothing is said to be missed"
        learned.verdicts()
        count, words = learned.near_misses()
        assert 20 <= count <= 100
        assert set(words[:5].tolist()) <= {number_of(stem) for stem in term_counts(self.MOTORS)}

    def test_without_pages_there_are_none(self):
        count, words = study(examples=2).near_misses()
        assert (count, len(words)) == (0, 0)
