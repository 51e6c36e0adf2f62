from __future__ import annotations

import math

import numpy as np
import pytest

from lycosa.judges.saved_arrays import pack, unpack
from lycosa.judges.tfidf import TermSpace, bigrams_of, vocabulary
from lycosa.lib.text import term_counts
from lycosa.model import Page


def page(text: str, title: str = "") -> Page:
    return Page("", title=title, text=text, terms=term_counts(f"{title}\n{text}"))


def space(*texts: str, words: int = 100, bigrams: int = 0, least: int = 1, window: int = 200) -> TermSpace:
    pages = map(page, texts)
    return vocabulary(pages, words=words, bigrams=bigrams, bigram_window=window, least_words=least, least_bigrams=least)


def weights(of: TermSpace, text: str) -> dict[str, float]:
    columns, values = of.vector(page(text))
    return {of.terms[column]: value for column, value in zip(columns.tolist(), values.tolist(), strict=True)}


class TestVectors:
    def test_the_formula(self):
        made = space("sail wind", "sail mast", "sail keel")
        raw = {"sail": (1 + math.log(2)) * (math.log(4 / 4) + 1), "wind": math.log(4 / 2) + 1}
        length = math.hypot(*raw.values())
        assert weights(made, "sail sail wind unknown") == pytest.approx({t: w / length for t, w in raw.items()})

    def test_a_page_without_known_words_is_empty(self):
        assert weights(space("sail"), "soup") == weights(space("sail"), "") == {}

    def test_bigrams_pass_over_stop_words_and_stay_in_the_window(self):
        assert list(bigrams_of(page("the mast of a ship sails on", title="Tall"), 3)) == ["tall mast", "mast ship"]

    def test_the_window_is_short_however_long_the_text(self):
        assert len(list(bigrams_of(page("sail mast " * 1000), 50))) == 49

    def test_bigrams_weigh_as_words_do(self):
        found = weights(space("tall ship", "tall tree", bigrams=10), "tall ship tall ship")
        assert set(found) == {"tall", "ship", "tall ship"}
        assert found["tall ship"] == pytest.approx(found["ship"])


class TestVocabulary:
    def test_the_most_frequent_words_are_kept(self):
        made = space("sail mast wind", "sail mast", "sail", words=2)
        assert list(made.terms) == ["sail", "mast"]

    def test_words_of_too_few_documents_are_dropped(self):
        assert list(space("sail mast", "sail", least=2).terms) == ["sail"]

    def test_memory_is_bounded_and_common_words_survive(self):
        # Words of the first page come again in the last: forgotten meanwhile, they have been found only once.
        numbers = [*range(30), 0]
        pages = (Page("", terms={"common": 1, **{f"rare{number}x{n}": 1 for n in range(1000)}}) for number in numbers)
        assert vocabulary(pages, words=10, least_words=2).terms == ["common"]


class TestSaved:
    def test_a_space_comes_back(self):
        made = space("tall ship", "sail", "帆船", bigrams=5)
        meta, arrays = unpack("x 1", pack("x 1", {"a": [1]}, made.to_arrays()), TermSpace.ARRAYS)
        again = TermSpace.from_arrays(arrays)
        assert meta["a"] == [1]
        assert list(again.terms) == list(made.terms)
        assert weights(again, "tall ship 帆船") == weights(made, "tall ship 帆船")

    def test_another_kind_is_refused(self):
        with pytest.raises(ValueError, match="not of the kind 'y 1'"):
            unpack("y 1", pack("x 1", {}, {}), ())

    def test_a_missing_array_is_refused(self):
        with pytest.raises(ValueError, match="damaged"):
            unpack("x 1", pack("x 1", {}, {}), ("weights",))

    def test_objects_are_refused(self):
        with pytest.raises(ValueError, match="damaged"):
            unpack("x 1", pack("x 1", {}, {"evil": np.array([object()], dtype=object)}), ("evil",))

    def test_parts_that_do_not_fit_are_refused(self):
        arrays = space("sail mast").to_arrays()
        with pytest.raises(ValueError, match="idf"):
            TermSpace.from_arrays({**arrays, "idf": arrays["idf"][:1]})
