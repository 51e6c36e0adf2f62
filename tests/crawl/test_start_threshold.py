"""The minimum relevance that start pages decide: named, and warned of where few of them do."""

from __future__ import annotations

import pytest

from lycosa.crawl.start_threshold import StartThreshold
from lycosa.errors import InputError
from lycosa.store.rows import SeedPage


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
