"""Answers that somebody wrote down."""

from __future__ import annotations

import pytest

from lycosa.crawl.answers_file import read_answers
from lycosa.errors import InputError
from lycosa.fetch.urls import parse_seed


@pytest.fixture
def read(tmp_path):
    def written(text: str | bytes) -> dict[str, bool]:
        path = tmp_path / "labels.tsv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_answers(path, parse=parse_seed)

    return written


@pytest.mark.parametrize(
    ("word", "expected"),
    [(word, True) for word in ("yes", "Y", "1", "true", "relevant", " YES ")]
    + [(word, False) for word in ("no", "N", "0", "false", "irrelevant", "not relevant")],
)
@pytest.mark.parametrize("sign", ["\t", ",", ", ", " "])
def test_words_and_separators(read, word, expected, sign):
    assert read(f"http://a.test/x{sign}{word}\n") == {"http://a.test/x": expected}


def test_what_is_ignored(read):
    text = "\ufeffurl\tanswer\ttitle\n\n# mine\nhttp://a.test/\tyes\tA title, with yes\r\nhttp://b.test/\t\tnot yet\n"
    assert read(text) == {"http://a.test/": True}


def test_commas_in_urls(read):
    assert read('"http://a.test/x,y",no,"a, title"\nhttp://a.test/1,2\tyes\n') == {
        "http://a.test/x,y": False,
        "http://a.test/1,2": True,
    }


def test_the_last_one_counts(read):
    assert read("http://a.test/\tyes\nhttp://a.test/\tno\n") == {"http://a.test/": False}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://a.test/\tyes\nhttp://b.test/\tperhaps\n", "line 2: 'perhaps' is no answer; write a URL, a tab"),
        ("http://a.test/\n", "line 1: 'http://a.test/' has no answer; write a URL"),
        ("mailto:me\tyes\n", "line 1: "),
        ("", "contains no answer; write a URL"),
        (b"\xff\xfe\x00", "cannot be read as text"),
    ],
)
def test_a_bad_line_is_named(read, text, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert message in str(caught.value)
    assert "labels.tsv" in str(caught.value)
