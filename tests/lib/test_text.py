from __future__ import annotations

from collections import Counter

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lib import stopwords
from lycosa.lib import text as text_module
from lycosa.lib.languages import STEMMERS, stemmer_of
from lycosa.lib.stopwords import ENGLISH
from lycosa.lib.text import aliases, readings, renamed, stems, term_counts

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


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "les chevaux mangeaient dans le pré", ["cheval", "mang", "pré"]),
        ("de", "Die Fahrräder der Kinder und das Fahrrad", ["fahrrad", "kind", "fahrrad"]),
        ("es", "las bicicletas y la bicicleta", ["biciclet", "biciclet"]),
        ("ru", "велосипеды и велосипедов", ["велосипед", "велосипед"]),
        ("hi", "किताबें और किताब", ["किताब", "किताब"]),
        ("nn", "syklene og sykler", ["sykl", "sykl"]),
        ("tr", "bisikletler ve bisiklet", ["bisiklet", "bisiklet"]),
    ],
)
def test_each_language_has_its_stop_words_and_its_stemmer(language, text, expected):
    assert stems(text, language=language) == expected
    assert term_counts(text, language=language) == dict(Counter(expected))


@pytest.mark.parametrize("language", ["", "zh", "ja", "xx", "klingon"])
def test_a_language_without_a_stemmer_is_read_as_english(language):
    assert stems("The bicycles of the world", language=language) == stems("The bicycles of the world")


def test_all_of_snowballs_languages_have_stop_words():
    dialects = {"porter", "dutch_porter"}
    assert set(Stemmer.algorithms()) - dialects <= set(STEMMERS.values())
    for code in STEMMERS:
        listed = stopwords.of(stemmer_of(code))
        assert len(listed) > 20, code
        for word in listed:
            assert stems(word, language=code) == []
            assert stems(word.upper(), language=code) == [] or word.upper().lower() != word


def test_content_words_are_no_stop_words():
    assert {"jahr", "gott", "mensch", "zeit"}.isdisjoint(stopwords.of("german"))


class TestQueries:
    def test_words_of_a_query_are_found_by_the_texts_own_stemmer(self):
        query = "Fahrräder Touren"
        page = term_counts("Mit dem Fahrrad auf Tour: die schönsten Touren", language="de")
        assert {"fahrrad", "tour"} <= page.keys()
        assert aliases(query, "de") == {"fahrrad": "fahrräder", "tour": "touren"}
        found = renamed(page, aliases(query, "de"))
        assert (found["fahrräder"], found["touren"]) == (1, 2)
        assert set(term_counts(query)) <= set(found)

    def test_a_text_of_unknown_language_is_read_in_each(self):
        english, german = readings("Fahrräder", ["en", "de"], "Fahrrad")
        assert (english, german) == ({"fahrräder": 1}, {"fahrrad": 1})


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
