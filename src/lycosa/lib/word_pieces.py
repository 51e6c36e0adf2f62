"""Texts cut into the pieces of words that word vectors are for: byte-pair encoding with a tokenizer's file.

    pieces = WordPieces(Path("tokenizer.json"))
    pieces.of("recreational cycling")        # array([ 337, 3733, …], dtype=uint16)

A character is a piece, or, if it is none, each of its bytes is. Then two neighbours that belong together are joined,
again and again, those first that the tokenizer learned first. A space, written ▁, can only be the beginning of a piece,
so each word is cut by itself, and one that was cut lately is looked up.

This is done in C, for tokenizers like Llama's, from tables of 1.1 MB and a memo of 0.25 MB; without a compiler, or for
others, by the library tokenizers, which takes 20 MB and several times as long.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib import native

SPACE = "\u2581"
_NORMALIZED = [
    {"type": "Prepend", "prepend": SPACE},
    {"type": "Replace", "pattern": {"String": " "}, "content": SPACE},
]
_MOST = 65_535
_WORDS = 4_096
"""Number of words that are remembered; a power of two."""
_KNOWN = "S64"
"""What is remembered of one: `Known` in `_word_pieces.c`."""
_INNER_SPACE = re.compile(f"[^{SPACE}]{SPACE}")

_compiled: Any = native.load("lycosa.lib._word_pieces")


class WordPieces:
    """Pieces by number."""

    def __init__(self, path: Path) -> None:
        self._tables = _tables(json.loads(path.read_bytes())) if _compiled is not None else None
        self._tokenizer: Any = None if self._tables else _tokenizer(path)

    def of(self, text: str) -> NDArray[np.uint16]:
        tables = self._tables
        if tables is None:
            return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.uint16)
        parts = tables.marker.split(text)
        cut = [
            tables.markers[part] if place % 2 else _compiled.cut(part, *tables.model)
            for place, part in enumerate(parts)
        ]
        return np.frombuffer(b"".join(cut), dtype=np.uint16)


class _Tables(NamedTuple):
    model: tuple[int, NDArray[np.uint32], NDArray[np.uint16], NDArray[np.uint64], NDArray[np.bytes_]]
    """What `_word_pieces.c` wants: the number of byte 0, the code points that are pieces, their numbers, merges, and a
    memo."""
    marker: re.Pattern[str]
    """Pieces such as <s> that are looked for before all others; the text after one begins anew."""
    markers: dict[str, bytes]


def _tables(tokenizer: dict[str, Any]) -> _Tables | None:
    """None if it cuts in another way than `_word_pieces.c` does."""
    if not _is_like_llama(tokenizer):
        return None
    model, added = tokenizer["model"], tokenizer["added_tokens"]
    vocabulary: dict[str, int] = model["vocab"]
    merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    pairs = np.array([vocabulary[left] << 16 | vocabulary[right] for left, right in merges], dtype=np.uint32)
    merged = np.array([vocabulary[left + right] for left, right in merges], dtype=np.uint16)
    slots = np.empty(1 << (2 * len(merges)).bit_length(), dtype=np.uint64)
    _compiled.fill(pairs, merged, slots)
    characters = np.array(sorted(ord(piece) for piece in vocabulary if len(piece) == 1), dtype=np.uint32)
    numbers = np.array([vocabulary[chr(character)] for character in characters.tolist()], dtype=np.uint16)
    markers = {token["content"]: np.uint16(token["id"]).tobytes() for token in added}
    marker = re.compile("(" + "|".join(map(re.escape, sorted(markers, key=len, reverse=True))) + ")")
    memo = np.zeros(_WORDS, dtype=_KNOWN)
    return _Tables((vocabulary["<0x00>"], characters, numbers, slots, memo), marker, markers)


def _is_like_llama(tokenizer: dict[str, Any]) -> bool:
    model, added = tokenizer["model"], tokenizer["added_tokens"]
    vocabulary, byte_0 = model["vocab"], model["vocab"].get("<0x00>", 0)
    others = ("dropout", "ignore_merges", "end_of_word_suffix", "continuing_subword_prefix")
    return (
        (model["type"], model["byte_fallback"], tokenizer["pre_tokenizer"]) == ("BPE", True, None)
        and not any(model.get(name) for name in others)
        and (tokenizer["normalizer"] or {}).get("normalizers") == _NORMALIZED
        and bool(added)
        and not any(token[name] for token in added for name in ("single_word", "lstrip", "rstrip", "normalized"))
        and all(vocabulary.get(f"<0x{byte:02X}>") == byte_0 + byte for byte in range(256))
        and max(*vocabulary.values(), len(model["merges"])) <= _MOST
        and not any(map(_INNER_SPACE.search, vocabulary))
    )


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(path))
