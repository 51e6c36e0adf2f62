"""Counted stems that are words only when asked for: the same as a dict of them."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.lib import text, wordhash
from lycosa.page import fingerprint

words = pytest.importorskip("lycosa.lib._words", reason="not compiled: there was no compiler at installation")

ORDINARY = "cycling Cyclists the a 1914–1918 café 12345 don't 中文 naïve snake_case größer intercontinentally"
PIECES = [*ORDINARY.split(), "x" * 15, "x" * 16, "x" * 17, "y" * 41, "é–" * 90, "\x00", "\ud800"]
texts = st.one_of(st.lists(st.sampled_from(PIECES), max_size=80).map(" ".join), st.text())


@settings(deadline=None)
@given(texts, st.sampled_from(["en", "de", "hi"]))
def test_the_same_as_a_dict(given_text, language):
    terms, plain = text.counted(given_text, language=language), text.counts_in_python(given_text, language=language)
    assert type(terms) is words.Terms
    assert len(terms) == len(plain)
    assert terms.total() == text.total(terms) == text.total(plain) == sum(plain.values())
    assert text.squares(terms) == text.squares(plain)
    assert [terms[stem] for stem in plain] == [terms.get(stem) for stem in plain] == list(plain.values())
    assert wordhash.stems_at(terms, range(len(plain))) == wordhash.stems_at(plain, range(len(plain))) == list(plain)
    for ours, theirs in zip(wordhash.counted_numbers(terms), wordhash.counted_numbers(plain), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert fingerprint.simhash(terms) == fingerprint.simhash(plain)
    assert terms == plain
    assert plain == terms
    assert list(terms.items()) == list(zip(terms.keys(), terms.values(), strict=True)) == list(plain.items())
    assert dict(terms) == plain
    assert list(terms) == list(plain)


def test_a_mapping_like_others():
    terms = text.counted("bikes and wheels and bikes")
    assert isinstance(terms, Mapping)
    assert "bike" in terms
    assert "car" not in terms
    assert terms.get("car", 7) == 7
    assert terms.get("car") is None
    assert repr(terms) == "{'bike': 2, 'wheel': 1}"
    assert terms == text.counted("bikes wheels bikes")
    assert terms != text.counted("bikes wheels")
    assert terms.__class__ is not dict
    assert not text.counted("the and")
    with pytest.raises(KeyError, match="car"):
        terms["car"]
    with pytest.raises(IndexError):
        terms.stem(2)
    with pytest.raises(IndexError):
        terms.stem(-1)
    with pytest.raises(TypeError):
        terms[[]]
    with pytest.raises(TypeError):
        hash(terms)


def test_a_plain_dict_for_other_processes():
    again = pickle.loads(pickle.dumps(text.counted("bikes and wheels")))
    assert type(again) is dict
    assert again == {"bike": 1, "wheel": 1}


def test_what_was_counted_stays_when_the_memo_is_emptied_or_gone():
    memo = words.Memo(lambda piece: piece.decode().upper(), 3, 100)
    first = memo.terms("a b c d a")
    assert memo.terms("e f a").total() == 3  # the memo was full
    assert "E" not in first
    del memo
    gc.collect()
    assert first == {"A": 2, "B": 1, "C": 1, "D": 1}


def test_counts_are_those_of_their_own_text():
    memo = words.Memo(lambda piece: piece.decode(), 100, 100)
    first, second = memo.terms("a b a"), memo.terms("b c")
    assert (first, second) == ({"a": 2, "b": 1}, {"b": 1, "c": 1})
    assert first.get("c") is None


def test_counts_beyond_the_table_of_weights():
    terms = text.counted("bike " * 5_000 + "wheel")
    assert terms.simhash(fingerprint._WEIGHTS) is None
    assert fingerprint.simhash(terms) == fingerprint.simhash_in_python(terms)


def test_thousands_of_words_in_one_text():
    """More than a memo begins with, so that it has to grow while a text is looked at."""
    text_of_many = " ".join(f"word{number:x} extraordinarily{number:x}" for number in range(5_000))
    assert text.counted(text_of_many) == text.counts_in_python(text_of_many)
    memo = words.Memo(lambda piece: piece.decode(), 1 << 17, 160)
    assert list(memo.terms(text_of_many)) == text_of_many.split()
    assert list(memo.terms(text_of_many)) == text_of_many.split()


@pytest.mark.parametrize(("most", "longest"), [(0, 10), (10, 0), (10, 1 << 16)])
def test_bounds_of_a_memo(most, longest):
    with pytest.raises(ValueError, match="longest up to"):
        words.Memo(lambda _: 1, most, longest)
