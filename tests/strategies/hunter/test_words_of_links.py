"""The words near links and of URLs: compiled code finds those that its twin finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.lib.wordhash import MARK, last_words, near_words
from lycosa.model import Link
from lycosa.strategies.hunter import notes
from lycosa.strategies.hunter.notes import NEAR, URL_WORDS, url_places, url_words, url_words_in_python
from lycosa.strategies.hunter.notes import words_near as near
from lycosa.strategies.hunter.notes import words_near_in_python as near_in_python

words = pytest.importorskip("lycosa.lib._words", reason="not compiled: there was no compiler at installation")

PARTS = ["bikes", " ", " ", "the ", "café", "–", "1914", "12345", "中文", "don’t ", "Wheels, ", "x" * 170, "\xa0"]
plain = st.lists(st.sampled_from(PARTS), max_size=24).map("".join)
odd = st.lists(st.sampled_from([*PARTS, MARK, f" {MARK} ", "\ud800", "\0"]), max_size=24).map("".join)


@st.composite
def links(draw, parts=plain):
    """Some contain their text, once or several times, others do not."""
    anchor, before, after = draw(parts), draw(parts), draw(parts)
    context = draw(st.sampled_from([before + anchor + after, anchor + before + anchor, before]))
    return Link("http://a.test/", anchor, context)


@settings(deadline=None)
@given(st.lists(links(), max_size=8), st.sampled_from(["en", "de"]))
def test_words_near_links(found, language):
    np.testing.assert_array_equal(near(found, language), near_in_python(found, language))


@settings(deadline=None)
@given(st.lists(links(odd), max_size=5))
def test_with_marks_and_halves_of_characters(found):
    np.testing.assert_array_equal(near(found), near_in_python(found))


@pytest.mark.parametrize("count", [1, 300, 900, 3_300])
def test_pages_with_many_links(count):
    some = [Link("http://a.test/", f"wheel{n} bike", f"one two wheel{n} bike three four") for n in range(count)]
    found = near(some)
    assert found.shape == (count, NEAR)
    np.testing.assert_array_equal(found, near_in_python(some))


@settings(deadline=None)
@given(st.lists(plain.map(lambda path: f"http://a.test/{path}"), max_size=6))
def test_words_of_urls(urls):
    np.testing.assert_array_equal(url_words(urls), url_words_in_python(urls))


def test_urls_with_marks_or_without_paths():
    urls = [f"http://a.test/one{MARK}two/ {MARK} /three", "http://a.test", "http://a.test/\ud800/x"]
    np.testing.assert_array_equal(url_words(urls), url_words_in_python(urls))


def test_compiled_code_does_it_unless_there_is_a_mark():
    rows = np.zeros((1, NEAR), np.uint16)
    assert near_words(["bikes"], ["two bikes"], rows, own=4, columns=NEAR)
    assert rows.any()
    assert not near_words([MARK], ["two bikes"], rows, own=4, columns=NEAR)
    assert not near_words(["bikes"], [f"two {MARK} bikes"], rows, own=4, columns=NEAR)
    rows = np.zeros((1, URL_WORDS), np.uint16)
    assert last_words(["/bikes"], rows)
    assert not last_words([MARK], rows)


@pytest.mark.parametrize(
    ("anchors", "contexts", "shape", "columns"),
    [
        (["a"], [], (1, 16), 16),
        (["a"], ["b"], (2, 16), 40),
        (["a"], ["b"], (1, 16), 17),
        (["a"], ["b"], (1, 65), 16),
        (["a", "b"], ["a", "b"], (1, 31), 4),
    ],
)
def test_a_row_for_each(anchors, contexts, shape, columns):
    with pytest.raises(ValueError, match="for each"):
        near_words(anchors, contexts, np.zeros(shape, np.uint16), own=4, columns=columns)


def test_texts_are_texts():
    with pytest.raises(TypeError):
        near_words([b"a"], ["a"], np.zeros((1, 16), np.uint16), own=4, columns=16)  # type: ignore[list-item]


def test_places_depend_on_host_and_folder_alone():
    places = notes.LinkAddresses.of(["http://a.test/x/1", "http://a.test/x/2?y=/z", "http://a.test/y/1"]).places
    assert places[0].tolist() == places[1].tolist()
    assert places[0, 0] == places[2, 0]
    assert places[0, 1] != places[2, 1]


URL_PARTS = ["http://", "https://", "a.test", "b.test:80", "/", "//", "x", "y.html", "?", "?q=/z/", "é", "#", ""]


@given(st.lists(st.lists(st.sampled_from(URL_PARTS), max_size=7).map("".join), max_size=6))
def test_places_of_urls(urls):
    found = url_places(urls)
    assert found.shape == (len(urls), 2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(notes, "_words", None)
        np.testing.assert_array_equal(found, url_places(urls))
