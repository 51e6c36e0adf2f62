"""How near the beginning of a page is to the words of a topic in meaning, though it may use other words.

    meaning = Meaning("recreational cycling")
    meaning(page)              # the cosine, about .12 for any page, .3 and more for one about the topic

Words have static vectors, which are looked up and not computed: those of WordLlama (256 dimensions, 32,000 pieces of
words), which its wheel contains. Of a page, the title and the first 400 words of its own text count (`Page.opening`):
what a page is about is said there, while the whole text of a long page is about everything.

The package is an extra (`lycosa[meaning]`). Its two files are read where it is installed; neither its code, which
knows how to download others, nor the network is used. A process that computes cosines takes a few MB more.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.lib.half_rows import mapped, sum_of_rows
from lycosa.lib.word_pieces import WordPieces
from lycosa.model import Page

PACKAGE = "wordllama"
TOKENIZER, VECTORS = "tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors"
TENSOR = "embedding.weight"
UNKNOWN = float("nan")
"""The cosine of a page that has no text, or that was read without vectors."""

Vector = NDArray[np.float32]


class Meaning:
    """The cosine between a topic's words and the beginning of a page. Sent to other processes without its vectors."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __call__(self, page: Page) -> float:
        return cosine(_vector_of_topic(self.words), vector_of(page.opening))


def is_installed() -> bool:
    """Whether the vectors are there."""
    folder = _folder()
    has_tokenizers = find_spec("tokenizers") is not None
    return has_tokenizers and folder is not None and all((folder / name).is_file() for name in (TOKENIZER, VECTORS))


def require_installed() -> None:
    if not is_installed():
        raise ConfigError(
            "judge.meaning is on, but the word vectors are not installed: pip install 'lycosa[meaning]', or set it to "
            "auto or off"
        )


def cosine(one: Vector | None, other: Vector | None) -> float:
    """NaN if one of the texts has no vector."""
    if one is None or other is None:
        return UNKNOWN
    return float(one @ other)


@lru_cache(maxsize=2)  # the strategy and the judge ask for the same page
def vector_of(text: str) -> Vector | None:
    """The mean of the vectors of a text's pieces, of length 1; None if there is none."""
    if not text or text.isspace():
        return None
    vectors = _vectors()
    pieces = vectors.pieces.of(text)
    mean: Vector = sum_of_rows(vectors.table, pieces) / np.float32(len(pieces))
    length = float(np.sqrt(mean @ mean))
    return mean / np.float32(length) if length else None


@lru_cache(maxsize=16)
def _vector_of_topic(words: str) -> Vector | None:
    return vector_of(words)


class _Vectors(NamedTuple):
    pieces: WordPieces
    table: NDArray[np.float16]
    """Pieces × dimensions."""


@cache
def _vectors() -> _Vectors:
    folder = _folder()
    assert folder is not None, "whoever asks for meaning has made sure that it is installed"
    return _Vectors(WordPieces(folder / TOKENIZER), mapped(folder / VECTORS, TENSOR))


def _folder() -> Path | None:
    """Where the package is installed; it is not imported."""
    found = find_spec(PACKAGE)
    return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None
