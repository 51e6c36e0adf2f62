from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lycosa.lib import wordhash
from lycosa.lib.text import stems
from lycosa.lib.wordhash import AT_MARK, MARK, NO_WORD, SIZE, number_of, numbers_in_python, numbers_of, piece_numbers


def test_a_stem_has_the_same_number_everywhere():
    assert number_of("bicycl") == 1259
    assert numbers_of(["bicycl", "soup"]).tolist() == [number_of("bicycl"), number_of("soup")]


@given(st.text(max_size=40))
def test_numbers_fit_a_table_and_are_not_that_of_nothing(stem):
    assert 0 < number_of(stem) < SIZE


def test_words_of_a_text_have_the_numbers_of_their_stems():
    text = "Touring bicycles, and long-distance cycling!"
    assert [n for n in piece_numbers(text) if n] == numbers_of(stems(text)).tolist()


def test_stop_words_and_long_numbers_are_nothing():
    assert piece_numbers("the 1234567").tolist() == [NO_WORD, NO_WORD]
    assert piece_numbers("1984").tolist() == [number_of("1984")]


def test_marks_part_a_text():
    assert [n == AT_MARK for n in piece_numbers(f"soup {MARK} pan")] == [False, True, False]


@given(st.text(max_size=200))
def test_any_text_can_be_cut(text):
    assert all(AT_MARK <= number < SIZE for number in piece_numbers(text))


def test_too_many_pieces_are_forgotten(monkeypatch):
    monkeypatch.setattr(wordhash, "_MOST_PIECES", 3)
    words = [f"piece{chr(97 + n)}" for n in range(10)]
    assert numbers_in_python(" ".join(words)).tolist() == numbers_of(stems(" ".join(words))).tolist()
    assert numbers_in_python(f"soup {MARK}")[1] == AT_MARK
