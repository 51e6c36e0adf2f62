"""The minimum relevance that start pages decide: named, and warned of where few of them do."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.crawl.reading import Reading
from lycosa.crawl.rejudge import Rejudge
from lycosa.crawl.start_threshold import StartThreshold
from lycosa.errors import InputError
from lycosa.judges.formula import parse
from lycosa.judges.topic_judges import FormulaJudge
from lycosa.judges.weighted_keywords import WeightedKeywordsClassifier
from lycosa.model import Kind, Outcome
from lycosa.store.rows import SeedPage
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy


def seeds(*scores: float | None) -> list[SeedPage]:
    return [SeedPage(f"https://a.test/{at}", at + 1, 100, score, False) for at, score in enumerate(scores)]


def test_the_page_that_decides_is_named() -> None:
    found = StartThreshold.of(seeds(0.9, 0.4, None, 0.001, 0.7))
    assert found.value == 0.4
    assert found.in_words == "minimum relevance 0.400: the smallest score of the 4 start pages, https://a.test/1"
    assert found.warning == ""
    assert StartThreshold.from_bytes(found.to_bytes()) == found


def test_one_start_page_is_warned_of() -> None:
    found = StartThreshold.of(seeds(0.012))
    assert found.in_words == "minimum relevance 0.012: of the only start page, https://a.test/0"
    assert found.warning.startswith("one start page decides what is relevant, all pages with 0.012 and more")
    assert "at least 3 start pages that fit (--seed)" in found.warning
    assert "--threshold 0.5" in found.warning


def test_stray_start_pages_do_not_count() -> None:
    found = StartThreshold.of(seeds(0.5, 0.0, 1e-9, 0.6))
    assert (found.value, found.pages, found.fitting) == (0.5, 4, 2)
    assert found.warning.startswith("2 start pages decide")


def test_one_far_below_the_others_is_warned_of() -> None:
    found = StartThreshold.of(seeds(0.9, 0.8, 0.7, 0.012))
    assert found.warning.startswith("one start page, https://a.test/3, decides that all pages with 0.012 and more")
    assert "the others score 0.750 in the median" in found.warning


def test_none_that_fits() -> None:
    with pytest.raises(InputError, match=r"no start page has a score above 0\.01"):
        StartThreshold.of(seeds(0.0, None))
    assert StartThreshold.from_bytes(None) is None


GOOD, DEAD = ["http://a.test/", "http://b.test/"], "http://dead.test/"
SILENT = Outcome(Kind.UNREACHABLE, "timeout", is_transient=True)
ADOPTED: list[Reading] = []


class Nobody:
    """Readers that only remember."""

    def adopt(self, reading: Reading) -> None:
        ADOPTED.append(reading)


@pytest.fixture
def crawl_from(rig, html):
    """Crawls 20 pages about cycling from some seeds; what was said of the judge, with the number of pages by then."""
    classifier = WeightedKeywordsClassifier({"Cycling": {"cycling": 1.0}}).fit([], ["Cycling"])
    judge = FormulaJudge(classifier, parse("Cycling"))
    web = {url: html(*(f"{url}{at}" for at in range(12)), text="cycling " * 3) for url in GOOD}
    web |= {f"{url}{at}": html(text="cycling" if at % 2 else "soup") for url in GOOD for at in range(12)}

    def crawl(seeds, more=None) -> list[tuple[int, str]]:
        ADOPTED.clear()
        made = rig({**web, DEAD: SILENT, **(more or {})})
        made.reading = lambda: Reading(urls=made.urls, judge=judge)
        parts: list[Rejudge] = []
        said: list[tuple[int, str]] = []

        def look() -> None:
            if not parts:
                parts.append(
                    Rejudge(
                        ledger=made.ledger,
                        readers=Nobody(),
                        reading=made.reading(),
                        clock=made.clock,
                        has_open_threshold=True,
                    )
                )
            parts[0].look()
            told = made.sql("select message from events where kind = 'judge' order by rowid")
            said.extend((made.ledger.pages, message) for (message,) in told[len(said) :])

        chosen = strategy("best-first", StrategyParts.of(judge.abilities, rng=np.random.default_rng(1)))
        made.crawl(*seeds, strategy=chosen, width=3, pages=20, watch=look)
        return said

    return crawl


def test_a_dead_start_page_is_not_waited_for(crawl_from) -> None:
    ((pages, told),) = crawl_from([DEAD, *GOOD])
    assert pages <= 4
    assert told.startswith("minimum relevance ")
    assert told.endswith("; 1 start page could not be fetched so far, and will not change it")
    assert len(ADOPTED) == 1


def test_one_that_has_not_had_its_turn_is_waited_for(crawl_from, html) -> None:
    """Its host rests for a second after the first page; its page scores lowest, and decides."""
    late = "http://a.test/late"
    ((pages, told),) = crawl_from([*GOOD, late], {late: html(text="cycling " + "soup bread oven " * 100)})
    assert 3 <= pages <= 6
    assert told.endswith(f"the smallest score of the 3 start pages, {late}")


def test_without_any_start_page_nothing_is_decided(crawl_from) -> None:
    assert crawl_from([DEAD]) == []
