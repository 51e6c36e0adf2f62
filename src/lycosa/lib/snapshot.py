"""What an object knows, as a tree of plain values and arrays; and such a tree as a file.

A tree is a dict with texts as keys; its values are numbers, texts, None, lists of these, numpy arrays, and further
trees. The file is a line that names the format, the length of a JSON text, that text, and the bytes of the arrays as
they are, filled up to multiples of eight: what is read is equal to the last bit, and reading runs no code, whatever the
bytes are.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from io import RawIOBase
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Tree = dict[str, Any]

FORMAT = b"tree of arrays 1\n"
KINDS = frozenset({"|b1", "|u1", "<u2", "<u4", "<u8", "<i4", "<i8", "<f4", "<f8"})
"""Kinds of numbers an array may have."""
_LENGTH = struct.Struct("<Q")
_START = len(FORMAT) + _LENGTH.size
"""Where the JSON text begins."""
_ALIGNED = 8
"""Arrays begin at multiples of this."""
_ARRAY = "<array>"
"""Key of a dict that stands for an array in the JSON text."""
_PIECE = 1 << 22


class Snapshots(NamedTuple):
    """How to save and load all that an object has learned."""

    take: Callable[[], Tree]
    """Everything as of now. The arrays are copies: they do not change when the object learns more."""
    load: Callable[[Tree], None]
    """Turn a new object into the one that was saved; it copies the arrays. ValueError, KeyError or TypeError if it does
    not fit; the object is then of no use any more."""


class Damaged(ValueError):
    """The file is not what was written."""


def size_of(tree: Tree) -> int:
    """Number of bytes of its arrays."""
    return sum(array.nbytes for array in _arrays(tree))


def taken_list(arrays: Sequence[NDArray[np.int64]]) -> Tree:
    """A list of arrays as a tree."""
    joined = np.concatenate([np.zeros(0, np.int64), *arrays])
    return {"values": joined, "lengths": [len(array) for array in arrays]}


def loaded_list(saved: Tree) -> list[NDArray[np.int64]]:
    if not saved["lengths"]:
        return []
    return np.split(saved["values"].copy(), np.cumsum(saved["lengths"])[:-1])


def write(path: Path, tree: Tree) -> str:
    """Write the tree to a new file, down to the disk; return the SHA-256 of the file."""
    arrays: list[NDArray[Any]] = []
    values = _without_arrays(tree, arrays)
    shapes = [(array.dtype.str, array.shape) for array in arrays]
    head = json.dumps({"values": values, "arrays": shapes}).encode()
    head += b" " * (-(_START + len(head)) % _ALIGNED)
    digest = hashlib.sha256()
    with path.open("wb", buffering=0) as file:
        _write_all(file, memoryview(b"".join((FORMAT, _LENGTH.pack(len(head)), head))), digest)
        for array in arrays:
            _write_all(file, _bytes_of(array), digest)
            _write_all(file, memoryview(bytes(-array.nbytes % _ALIGNED)), digest)
        os.fsync(file.fileno())
    return digest.hexdigest()


def read(path: Path, sha256: str) -> Tree:
    """The tree in a file with this SHA-256. Damaged if it is another file.

    Its arrays are views of the file, and read-only: whoever keeps one makes a copy.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < _START or file.read(len(FORMAT)) != FORMAT:
            raise Damaged(f"{path}: not a file of this format")
        data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise Damaged(f"{path}: damaged")
    try:
        (length,) = _LENGTH.unpack_from(data, len(FORMAT))
        head = json.loads(data[_START : _START + length])
        return _with_arrays(head["values"], _views(data, _START + length, head["arrays"]))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError):
        raise Damaged(f"{path}: not a tree of arrays") from None


def _arrays(tree: Tree) -> Iterator[NDArray[Any]]:
    for value in tree.values():
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, dict):
            yield from _arrays(value)


def _without_arrays(tree: Tree, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """The tree with each array replaced by its number in `arrays`."""
    values: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, np.ndarray):
            if value.dtype.str not in KINDS:
                raise TypeError(f"{name}: arrays of {value.dtype} are not saved")
            values[name] = {_ARRAY: len(arrays)}
            arrays.append(np.ascontiguousarray(value))
        else:
            values[name] = _without_arrays(value, arrays) if isinstance(value, dict) else value
    return values


def _with_arrays(values: dict[str, Any], arrays: list[NDArray[Any]]) -> Tree:
    tree: Tree = {}
    for name, value in values.items():
        if isinstance(value, dict):
            number = value.get(_ARRAY) if len(value) == 1 else None
            tree[name] = arrays[number] if isinstance(number, int) else _with_arrays(value, arrays)
        else:
            tree[name] = value
    return tree


def _views(data: mmap.mmap, at: int, shapes: Any) -> list[NDArray[Any]]:
    """Arrays one after the other; ValueError if they are not all there, or more is."""
    views = []
    for kind, shape in shapes:
        if kind not in KINDS or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"an array of {kind!r} with the shape {shape!r}")
        size = np.dtype(kind).itemsize * math.prod(shape)
        if at + size > len(data):
            raise ValueError("arrays beyond the end of the file")
        flat = np.frombuffer(data, kind, math.prod(shape), at) if size else np.zeros(0, kind)
        views.append(flat.reshape(shape))
        at += size + -size % _ALIGNED
    if at != len(data):
        raise ValueError("bytes that belong to no array")
    return views


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """Of a contiguous array; writable if the array is."""
    return array.reshape(-1).view(np.uint8).data


def _write_all(file: IO[bytes] | RawIOBase, part: memoryview, digest: Any) -> None:
    for at in range(0, len(part), _PIECE):
        piece = part[at : at + _PIECE]
        digest.update(piece)
        while len(piece):
            piece = piece[file.write(piece) or 0 :]
