"""Pieces of words: those of the library tokenizers, whatever the text."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from lycosa.lib import word_pieces
from lycosa.lib.word_pieces import SPACE, WordPieces

needs_compiled = pytest.mark.skipif(word_pieces._compiled is None, reason="not compiled: there was no compiler")

LETTERS = ["a", "b", "c", "d", "é", "日", "🌍", SPACE]
MERGES = [("a", "b"), ("b", "c"), ("ab", "ab"), ("c", "d"), (SPACE, "a"), (SPACE, SPACE), ("a", "bc"), ("ab", "cd"),
          ("日", "日"), (SPACE + "a", "b"), ("é", "a"), ("d", "ab")]  # fmt: skip


def tokenizer(merges: list[tuple[str, str]] = MERGES) -> dict[str, Any]:
    """A small one of Llama's kind."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *LETTERS]
    pieces += ["".join(merge) for merge in merges]
    numbers = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    model = {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
             "vocab": numbers, "merges": [list(merge) for merge in merges]}  # fmt: skip
    return {
        "version": "1.0", "truncation": None, "padding": None, "pre_tokenizer": None, "post_processor": None,
        "decoder": None,
        "added_tokens": [{"id": number, "content": piece, **usual} for number, piece in enumerate(pieces[:3])],
        "normalizer": {"type": "Sequence", "normalizers": word_pieces._NORMALIZED},
        "model": model,
    }  # fmt: skip


def written(folder, content: dict[str, Any]):
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = written(tmp_path_factory.mktemp("pieces"), tokenizer())
    return WordPieces(path), Tokenizer.from_file(str(path))


def assert_same(found: WordPieces, reference: Tokenizer, text: str) -> None:
    assert found.of(text).tolist() == reference.encode(text, add_special_tokens=False).ids


@needs_compiled
@given(st.text(st.sampled_from("abcdé日🌍▁ \nxß€\0"), max_size=40))
def test_pieces_of_a_small_tokenizer(small, text):
    assert small[0]._tables is not None
    assert_same(*small, text)


@needs_compiled
@given(st.lists(st.sampled_from(["ab", "abcd", " ", "  ", "<s>", "</s>", "<unk>", "<s", "▁", "é", "<0x0A>"])))
def test_markers_begin_the_text_anew(small, parts):
    assert_same(*small, "".join(parts))


@needs_compiled
def test_a_long_word_and_a_lone_half_of_a_pair(small):
    assert_same(*small, "abcd" * 2_000)
    assert len(small[0].of("a\ud800b")) == 5  # three bytes; the library refuses such a text


@cache
def real() -> tuple[WordPieces, Tokenizer] | None:
    from lycosa.judges import meaning

    if not meaning.is_installed():
        return None
    path = meaning._folder() / meaning.TOKENIZER
    return WordPieces(path), Tokenizer.from_file(str(path))


@pytest.mark.skipif(real() is None, reason="pip install 'lycosa[meaning]'")
class TestLlama:
    @needs_compiled
    def test_it_is_known(self):
        assert real()[0]._tables is not None

    @given(st.text(max_size=80))
    def test_any_text(self, text):
        assert_same(*real(), text)

    @given(st.lists(st.text(st.characters(codec="latin-1"), min_size=1, max_size=15), max_size=12))
    def test_words(self, words):
        assert_same(*real(), " ".join(words))


ALTERED: dict[str, dict[str, Any]] = {
    "cut before": {"pre_tokenizer": {"type": "Whitespace"}},
    "no spaces": {"normalizer": {"type": "Sequence", "normalizers": word_pieces._NORMALIZED[1:]}},
    "not normalized": {"normalizer": None},
    "whole words": {"model": {"ignore_merges": True}},
    "no bytes": {"model": {"byte_fallback": False}},
}


@pytest.mark.parametrize("name", ALTERED)
def test_tokenizers_of_another_kind_are_left_to_the_library(tmp_path, name):
    content = deepcopy(tokenizer())
    for key, value in ALTERED[name].items():
        content[key] = {**content[key], **value} if key == "model" else value
    path = written(tmp_path, content)
    found = WordPieces(path)
    assert found._tables is None
    assert_same(found, Tokenizer.from_file(str(path)), "abcd ab  dab é")


def test_pieces_with_a_space_inside_are_left_to_the_library(tmp_path):
    path = written(tmp_path, tokenizer([*MERGES, ("ab", SPACE)]))
    found = WordPieces(path)
    assert found._tables is None
    assert_same(found, Tokenizer.from_file(str(path)), "ab ab")


@needs_compiled
class TestMemo:
    def test_words_that_meet_at_the_same_place(self, small):
        """More of them than places, each cut again when another has taken its place; some are too long for one."""
        rng = np.random.default_rng(3)
        words = ["".join(rng.choice(list("abcdé"), size=1 + number % 18)) for number in range(3 * word_pieces._WORDS)]
        for text in (" ".join(words), " ".join(words[::-1])):
            assert_same(*small, text)

    def test_a_word_at_the_beginning_is_one_with_a_space_before_it(self, small):
        for text in ("abcd", " abcd", "  abcd", "x abcd", "x  abcd", "abcd"):
            assert_same(*small, text)

    def test_a_character_beyond_16_bits_is_not_taken_for_another(self, small):
        for text in ("a\U000100e9", "aé", "a\U000100e9", "🌍", "\uf30d", "🌍"):
            assert_same(*small, text)

    def test_pieces_that_are_more_than_fit(self, small):
        text = "日ß" * 6  # twelve characters, half of them two bytes each
        assert_same(*small, text)
        assert_same(*small, f"{text} {text}")


@needs_compiled
def test_arrays_that_do_not_fit_are_refused():
    cut, fill = word_pieces._compiled.cut, word_pieces._compiled.fill
    characters, numbers, empty = np.array([97], np.uint32), np.array([3], np.uint16), np.full(4, 2**64 - 1, np.uint64)
    memo = np.zeros(2, word_pieces._KNOWN)
    assert cut("a", 5, characters, numbers, empty, memo) != b""
    for arrays in (
        (5, characters, numbers[:0], empty, memo),
        (5, characters, numbers, empty[:3], memo),
        (5, characters, numbers, np.zeros(4, np.uint64), memo),  # a search in it would not end
        (5, characters, numbers, empty[:0], memo),
        (5, characters, numbers, empty, memo[:0]),
        (5, characters, numbers, empty, np.zeros(3, word_pieces._KNOWN)),
        (65_500, characters, numbers, empty, memo),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            cut("a", *arrays)
    with pytest.raises(TypeError, match="another kind"):
        cut("a", 5, characters.astype(np.int64), numbers, empty, memo)
    with pytest.raises(ValueError, match="do not fit"):
        fill(np.zeros(4, np.uint32), np.zeros(4, np.uint16), np.zeros(4, np.uint64))
