from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.classifier import Example
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.topics import further_examples as module
from lycosa.topics import suggest
from lycosa.topics.further_examples import Candidate, Near, distinctive_words, further_examples, within
from lycosa.topics.suggest import JudgedPage, TopicFit, fitting_topics, neighbouring_topics

TOPICS = ("Business", "Recreation", "Recreation/Cycling", "Recreation/Sailing")


class Fixed:
    """Reads the shares of the leaves out of the page's title."""

    topics_ = TOPICS

    def posteriors(self, page):
        business, cycling, sailing = map(float, page.title.split())
        return np.array([business, cycling + sailing, cycling, sailing])


def page(title: str, text: str = "word") -> Page:
    return Page(url=f"http://a.test/{title}", title=title, terms=term_counts(text))


class TestFittingTopics:
    def test_one_by_one_and_together(self):
        fits = fitting_topics(Fixed(), [page("0.1 0.8 0.1"), page("0.1 0.1 0.8")], count=2)
        first, second = fits.pages
        assert first.leaves == (("Recreation/Cycling", 0.8), ("Business", 0.1))
        assert first.cover == ("Recreation/Cycling", 0.8)
        assert second.cover.topic == "Recreation/Sailing"
        assert fits.overall.cover == TopicFit("Recreation", pytest.approx(0.9))
        assert [fit.probability for fit in fits.overall.leaves] == pytest.approx([0.45, 0.45])

    def test_what_fits_nowhere_is_under_any(self):
        assert fitting_topics(Fixed(), [page("0.5 0.3 0.2")]).pages[0].cover == ("", 1.0)

    def test_pages_without_words_say_nothing(self):
        fits = fitting_topics(Fixed(), [page("1 0 0", text=""), page("0 1 0")])
        assert len(fits.pages) == 1
        assert fits.overall.cover.topic == "Recreation/Cycling"

    def test_no_pages(self):
        fits = fitting_topics(Fixed(), [])
        assert fits.pages == ()
        assert fits.overall.cover == ("", 1.0)


def example(text: str, *topics: str) -> Example:
    return Example(page("", text), topics)


EXAMPLES = [
    *[example("bicycle tandem page", "Recreation/Cycling/Tandems")] * 5,
    *[example("bicycle race page", "Recreation/Cycling")] * 5,
    *[example("sail mast page", "Recreation/Sailing")] * 10,
]


class TestFurtherExamples:
    def test_distinctive_words(self):
        words = distinctive_words(EXAMPLES, "Recreation/Cycling")
        assert next(iter(words)) == "bicycl"
        assert set(words) == {"bicycl", "tandem", "race"}
        assert list(distinctive_words(EXAMPLES, "Recreation/Cycling", count=1)) == ["bicycl"]

    def test_words_of_everything_set_nothing_apart(self):
        assert distinctive_words([example("page", "a")], "b") == {}

    def test_the_vocabulary_is_bounded(self, monkeypatch):
        monkeypatch.setattr(module, "MAX_VOCABULARY", 4)
        many = [example(f"bicycle rare{number} odd{number}", "a") for number in range(20)]
        assert next(iter(distinctive_words([*many, example("x ray", "b")], "a"))) == "bicycl"

    def test_titles_that_share_the_words(self):
        words = {"bicycl": 3.0, "tandem": 1.0}
        found = further_examples(
            [
                Candidate("http://a.test/1", "A tandem"),
                Candidate("http://a.test/2", "Bicycles, bicycles, and a tandem"),
                Candidate("http://a.test/3", "Masts", {"bicycl": 9}),
                Candidate("http://a.test/4", "My bicycle"),
                Candidate("http://a.test/5", "The bicycle", {"tandem": 1}),
                Candidate("http://a.test/6", "Bicycle and tandem"),
            ],
            words,
            known={"http://a.test/6"},
        )
        assert [(one.url[-1], one.score, one.words) for one in found] == [
            ("2", 1.0, ("bicycl", "tandem")),
            ("5", 0.75, ("bicycl",)),
            ("4", 0.75, ("bicycl",)),
            ("1", 0.25, ("tandem",)),
        ]

    def test_nearer_pages_and_pages_on_the_topic_come_first(self):
        words = {"bicycl": 3.0, "tandem": 1.0}
        found = further_examples(
            [
                Candidate("http://a.test/far", "Bicycle shop", {"bicycl": 1, "tandem": 1}, near=Near(2, 9)),
                Candidate("http://a.test/near", "Bicycle club", {"bicycl": 1, "tandem": 1}, near=Near(1, 1)),
                Candidate("http://a.test/bare", "Bicycle lock", near=Near(1, 5)),
                Candidate("http://a.test/cited", "Bicycle map", {"bicycl": 1, "tandem": 1}, near=Near(1, 3)),
                Candidate("http://a.test/named", "Home", {"tandem": 1}, anchor="my tandem", near=Near(1, 1)),
            ],
            words,
        )
        assert [one.url.rpartition("/")[2] for one in found] == ["cited", "near", "far", "bare", "named"]
        assert [one.distance for one in found] == [1, 1, 2, 1, 1]

    def test_pages_within_a_distance(self):
        # 1 is the example: 1 → 2 → 3 → 4, and 5 → 1, 5 → 6, 1 → 6.
        links = [np.array([[1, 2], [2, 3], [3, 4]]), np.array([[5, 1], [5, 6], [1, 6]])]
        assert within(lambda: links, [1], 1) == {2: Near(1, 1), 5: Near(1, 1), 6: Near(1, 1)}
        assert within(lambda: links, [1], 2) == {**within(lambda: links, [1], 1), 3: Near(2, 1)}
        assert within(lambda: links, [1, 6], 1)[5] == Near(1, 2)
        assert within(lambda: links, [], 2) == {}

    def test_one_title_counts_once(self):
        same = [Candidate(f"http://a.test/{number}", "Bicycle forum") for number in range(9)]
        assert len(further_examples(same, {"bicycl": 1.0})) == 1

    def test_memory_does_not_grow_with_the_candidates(self):
        many = (Candidate(f"http://a.test/{number}", f"Bicycle {number}") for number in range(1000))
        best = Candidate("http://a.test/best", "Bicycle tandem")
        found = further_examples([best, *many], {"bicycl": 1.0, "tandem": 1.0}, count=3)
        assert found[0].url == best.url
        assert len(found) == 3

    def test_no_words(self):
        assert further_examples([Candidate("http://a.test/", "x")], {}) == []


def around(times: int, citing: int = 1, **shares: float) -> list[JudgedPage]:
    scores = {topic.replace("_", "/"): share for topic, share in shares.items()}
    return [JudgedPage(scores, citing)] * times


class TestNeighbours:
    FUNDS = "Investment/Funds"

    def test_the_mutual_funds_case(self):
        """Links from pages on funds lead to investment in general, more often than back."""
        pages = [
            *around(20, Investment_Funds=1.0, Investment=1.0),
            *around(20, Investment_Stocks=1.0, Investment=1.0),
            *around(20, Investment_Banks=1.0, Investment=1.0),
            *around(10, Sports=1.0),
        ]
        found = neighbouring_topics(pages, [self.FUNDS])
        assert (found.pages, found.focus) == (70, pytest.approx(2 / 7))
        assert [neighbour.topic for neighbour in found.neighbours] == [
            "Investment",
            "Investment/Banks",
            "Investment/Stocks",
            "Sports",
        ]
        assert found.neighbours[0].share == pytest.approx(4 / 7)
        (advice,) = found.advice
        assert (advice.good, advice.widen_to) == (self.FUNDS, "Investment")
        assert "57% are on Investment outside the focus and 29% on Investment/Funds" in advice.reason
        assert advice.reason.endswith("mark Investment good instead")

    def test_one_sibling_is_the_least_widening(self):
        pages = around(30, Investment_Funds=1.0) + around(40, Investment_Stocks=1.0)
        (advice,) = neighbouring_topics(pages, [self.FUNDS]).advice
        assert advice.widen_to == "Investment/Stocks"
        assert advice.reason.endswith("mark Investment/Stocks good as well")

    def test_a_sibling_that_is_rarer_than_the_focus_is_not_enough(self):
        pages = around(50, Investment_Funds=0.8, Investment=0.9) + around(40, Investment_Stocks=0.9, Investment=0.9)
        assert neighbouring_topics(pages, [self.FUNDS]).advice[0].widen_to == "Investment"

    def test_a_focus_that_links_to_itself_needs_no_widening(self, monkeypatch):
        pages = around(50, Investment_Funds=0.8, Investment=0.85) + around(40, Investment_Stocks=0.9, Investment=0.9)
        assert neighbouring_topics(pages, [self.FUNDS]).advice == ()
        monkeypatch.setattr(suggest, "INSEPARABLE", 0.5)
        assert len(neighbouring_topics(pages, [self.FUNDS]).advice) == 1

    def test_at_the_top_only_siblings_are_left(self):
        pages = around(30, Funds=1.0) + around(40, Stocks=1.0)
        assert neighbouring_topics(pages, ["Funds"]).advice[0].widen_to == "Stocks"
        spread = around(30, Funds=1.0) + [one for name in "abcd" for one in around(20, **{name: 1.0})]
        assert neighbouring_topics(spread, ["Funds"]).advice == ()

    def test_unrelated_topics_are_shown_but_not_advised(self):
        pages = around(30, Investment_Funds=1.0) + around(60, Sports_Golf=1.0)
        found = neighbouring_topics(pages, [self.FUNDS])
        assert found.neighbours[0][:2] == ("Sports", pytest.approx(2 / 3))
        assert found.advice == ()

    def test_only_what_relevant_pages_link_to_is_near(self):
        pages = (
            around(60, Investment_Funds=1.0) + around(500, 0, Investment_Stocks=1.0) + around(3, Investment_Stocks=1.0)
        )
        found = neighbouring_topics(pages, [self.FUNDS])
        assert found.pages == 63
        assert found.advice == ()
        assert found.neighbours[0] == ("Investment", pytest.approx(3 / 63), 1.0)

    def test_no_advice_from_few_pages(self):
        pages = around(10, Investment_Funds=1.0) + around(39, Investment_Stocks=1.0)
        assert neighbouring_topics(pages, [self.FUNDS]).advice == ()
        assert neighbouring_topics([], [self.FUNDS]).neighbours == ()

    def test_other_good_topics_are_not_around_but_inside(self):
        pages = around(30, Investment_Funds=1.0) + around(40, Investment_Stocks=1.0)
        found = neighbouring_topics(pages, [self.FUNDS, "Investment/Stocks"])
        assert found.focus == pytest.approx(1.0)
        assert found.neighbours == found.advice == ()


class TestMovedTopics:
    """The classifier knows the tree as it was; what is suggested is in the tree as it is."""

    class Fixed:
        topics_ = ("A", "A/B", "A/C", "D")

        def posteriors(self, page: Page) -> np.ndarray:
            return np.array([0.9, 0.5, 0.3, 0.1])

    def shares(self, **places: str) -> dict[str, float]:
        page = Page("http://a.test/", terms={"word": 1})
        named = {name.replace("_", "/"): place for name, place in places.items()}
        fits = fitting_topics(self.Fixed(), [page], count=9, places=named)  # type: ignore[arg-type]
        return {fit.topic: round(fit.probability, 6) for fit in (*fits.overall.leaves, fits.overall.cover)}

    def test_nothing_moved(self) -> None:
        assert self.shares(A="A", A_B="A/B", A_C="A/C", D="D") == {"A/B": 0.5, "A/C": 0.3, "D": 0.1, "A": 0.9}

    def test_what_a_topic_loses_another_gains(self) -> None:
        # D gets A/B: 0.1 + 0.5; what A has beyond its subtopics, 0.1, stays.
        assert self.shares(A="A", A_B="D/B", A_C="A/C", D="D") == {"D/B": 0.5, "A/C": 0.3, "D": 0.6}

    def test_a_removed_one_is_not_suggested(self) -> None:
        assert self.shares(A="A", A_C="A/C", D="D") == {"A/C": 0.3, "D": 0.1, "": 1.0}
