from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lib import text as text_module
from lycosa.lib.stopwords import ENGLISH
from lycosa.lib.text import stems, term_counts

words_and_rubbish = st.text(
    st.sampled_from("abcXYZ019 \n\t.,'-_éÉßñ中İ–“”’\u0301\u200b\xa0\ud800\U0001f600"), max_size=120
)


def test_stems_are_lowered_stemmed_and_in_order():
    assert stems("Cyclists were RIDING their bicycles") == ["cyclist", "ride", "bicycl"]


def test_stop_words_and_words_of_one_character_are_dropped():
    assert stems("The a I x of and") == []
    assert stems("don't") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("snake_case", ["snake", "case"]),
        ("1914–1918", ["1914", "1918"]),
        ("“quoted”", ["quot"]),
        ("bi\u200bcycle", ["bi", "cycl"]),
        ("<b>x86</b>", ["x86"]),
        ("Café CAFÉ cafe\u0301", ["café"] * 3),
        ("東京", ["東京"]),
    ],
)
def test_words_are_runs_of_letters_and_digits(text, expected):
    assert stems(text) == expected


def test_length_limits():
    assert stems("x" * 40) == ["x" * 40]
    assert stems("x" * 41) == []
    assert stems("é" * 40) == ["é" * 40]
    assert stems("é" * 41) == []


def test_megabytes_of_one_word_are_not_remembered():
    memo = text_module._memo("english")
    before = len(memo)
    assert term_counts("z" * 3_000_000) == {}
    assert term_counts("ü" * 3_000_000) == {}
    assert len(memo) == before


def test_other_languages():
    assert stems("les chevaux mangeaient", language="french") == ["le", "cheval", "mang"]


def test_an_unknown_language_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'klingon'.*english"):
        stems("x", language="klingon")


@given(words_and_rubbish)
def test_term_counts_are_the_counts_of_stems(text):
    assert term_counts(text) == dict(Counter(stems(text)))


@given(words_and_rubbish)
def test_stems_hold_no_separator(text):
    for stem in stems(text):
        assert stem.isalnum()
        assert stem not in ("", " ")


def test_memo_gives_the_same_after_it_forgot(monkeypatch):
    monkeypatch.setattr(text_module, "_GENERATION", 4)
    memo = text_module._StemMemo("english")
    pieces = [b"running", b"dogs", b"the", b"1914\xe2\x80\x931918", b"cats", b"houses", b"jumped"]
    first = [memo[piece] for piece in pieces]
    assert len(memo) < len(pieces)
    assert first == ["run", "dog", "", ("1914", "1918"), "cat", "hous", "jump"]
    assert [memo[piece] for piece in pieces] == first
    assert len(memo) + len(memo._old) <= 8


def test_memo_keeps_what_is_used(monkeypatch):
    monkeypatch.setattr(text_module, "_GENERATION", 4)
    memo = text_module._StemMemo("english")
    stemmed: list[str] = []
    stem = memo._stem
    memo._stem = lambda word: stemmed.append(word) or stem(word)
    for number in range(40):
        memo[b"common"], memo[b"rare%d" % number]
    assert stemmed.count("common") == 1


def test_stop_words_are_spelt_as_the_tokeniser_cuts_them():
    assert all(word.isascii() and word.isalnum() and word == word.lower() and len(word) > 1 for word in ENGLISH)
