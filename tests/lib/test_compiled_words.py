"""The compiled words say what their twins in Python say."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lib import text, wordhash
from lycosa.lib.languages import CODES
from lycosa.page import fingerprint

words = pytest.importorskip("lycosa.lib._words", reason="not compiled: there was no compiler at installation")

counts = st.integers(1, 5_000)
ORDINARY = "cycling Cyclists the a 1914–1918 café 12345 1234 don't “quoted” 中文 हिन्दी naïve snake_case größer l’eau"
pieces = st.sampled_from([*ORDINARY.split(), "CAFE\u0301", "x" * 41, "é–" * 90, "\u2063", "\x00", "\ud800", "\xa0"])
texts = st.one_of(st.lists(pieces, max_size=40).map(" ".join), st.lists(pieces, max_size=20).map("".join), st.text())


def test_compiled_code_is_what_is_used():
    assert text._compiled_memo("english") is not None
    assert wordhash._compiled_memo("english") is not None


@given(texts, st.sampled_from(["en", "de", "hi", "fr", "zh", ""]))
def test_counts_and_their_order(given_text, language):
    compiled = text.term_counts(given_text, language=language)
    assert list(compiled.items()) == list(text.counts_in_python(given_text, language=language).items())


@given(texts, st.sampled_from(sorted(CODES.values())))
def test_numbers(given_text, language):
    compiled = wordhash.piece_numbers(given_text, language=language)
    assert compiled.dtype == np.int32
    np.testing.assert_array_equal(compiled, wordhash.numbers_in_python(given_text, language=language))


@given(st.lists(st.text(st.characters(), max_size=40)))
def test_numbers_of_stems(found):
    assert wordhash.numbers_of(found).tolist() == list(map(wordhash.number_of, found))
    counted = dict.fromkeys(found, 1)
    assert wordhash.numbers_of(counted).tolist() == list(map(wordhash.number_of, counted))


def test_a_stem_whose_number_would_be_that_of_no_word():
    zero = next(f"w{number}" for number in range(10**6) if crc32(f"w{number}".encode()) & 0xFFFF == 0)
    assert wordhash.numbers_of([zero]).tolist() == [1] == [wordhash.number_of(zero)]


def test_stems_are_strings():
    with pytest.raises(TypeError):
        words.stem_numbers([b"bytes"])
    with pytest.raises(TypeError):
        words.stem_numbers(7)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1), counts))
def test_fingerprints(terms):
    assert fingerprint.simhash(terms) == (fingerprint.simhash_in_python(terms) if terms else 0)


@pytest.mark.parametrize("count", [1, 254, 255, 256, 700])
def test_fingerprints_of_many_words_that_occur_once(count):
    """They are counted together, 255 at a time."""
    found = text.counted(" ".join(f"word{number}" for number in range(count)) + " twice twice thrice thrice thrice")
    assert isinstance(found, words.Terms)
    assert fingerprint.simhash(found) == fingerprint.simhash_in_python(dict(found))


@given(st.lists(st.floats(-2, 2, width=32) | st.sampled_from([0.0, 1.0, -1.0, 0.5]), max_size=40), st.integers(1, 12))
def test_strongest(numbers, most):
    given_numbers = np.array(numbers, np.float32)
    compiled = wordhash.strongest(given_numbers, most)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(wordhash, "_words", None)
        assert compiled == wordhash.strongest(given_numbers, most)


def test_fingerprints_beyond_the_table_of_weights():
    many = {"common": 5_000, "rare": 1}
    assert words.simhash(many, fingerprint._WEIGHTS) is None
    assert fingerprint.simhash(many) == fingerprint.simhash_in_python(many)
    heavy = {f"word{number}": 4_000 for number in range(90_000)}
    assert words.simhash(heavy, fingerprint._WEIGHTS) is None


def test_a_full_memo_is_emptied_and_says_the_same():
    asked = []

    def missing(piece):
        asked.append(piece)
        return piece.decode().upper()

    memo = words.Memo(missing, 3, 100)
    assert memo.counts("a b c d a") == {"A": 2, "B": 1, "C": 1, "D": 1}
    assert len(memo) == 4
    assert memo.counts("a e") == {"A": 1, "E": 1}
    assert len(memo) == 2
    assert asked == [b"a", b"b", b"c", b"d", b"a", b"e"]


def test_long_pieces_and_those_that_stand_for_nothing_are_not_kept():
    memo = words.Memo(lambda piece: None if piece.isdigit() else 7, 100, 5)
    found = np.frombuffer(memo.numbers("123 abc abcdef 123", ()), np.int32)
    assert found.tolist() == [0, 7, 7, 0]
    assert len(memo) == 1


def test_stems_of_pieces_that_are_not_kept_do_not_pile_up():
    memo = words.Memo(lambda piece: (piece.decode(), piece.decode()[::-1]), 4, 2)
    for number in range(20):
        assert len(memo.counts(f"piece{number}")) == 2
    assert len(memo) == 0


@pytest.mark.parametrize("answer", [3.5, ("one",), ("one", 2), [], b"x"])
def test_answers_of_the_wrong_kind_are_errors(answer):
    memo = words.Memo(lambda _: answer, 10, 100)
    with pytest.raises(TypeError):
        memo.counts("word")
    assert len(memo) == 0


def test_an_error_in_the_middle_leaves_a_memo_that_works():
    def missing(piece):
        if piece == b"bad":
            raise ValueError("bad")
        return piece.decode()

    memo = words.Memo(missing, 10, 100)
    with pytest.raises(ValueError, match="bad"):
        memo.counts("good bad")
    assert memo.counts("good good") == {"good": 2}


def test_a_memo_cannot_be_used_while_it_asks():
    memo = words.Memo(lambda _: memo.counts("again"), 10, 100)
    with pytest.raises(RuntimeError, match="being used"):
        memo.counts("word")


def test_separators_must_be_bytes():
    memo = words.Memo(lambda _: 1, 10, 100)
    with pytest.raises(TypeError, match="separators"):
        memo.numbers("word", ("–",))
