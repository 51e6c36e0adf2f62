"""What an object knows, as a tree of plain values and arrays; and such a tree as a file.

A tree is a dict with texts as keys; its values are numbers, texts, None, lists of these, numpy arrays, and further
trees. The file is a line that names the format, the length of a JSON text, that text, and the bytes of the arrays as
they are: what is read is equal to the last bit, and reading runs no code, whatever the bytes are.
"""

from __future__ import annotations

import hashlib
import json
import math
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
LONGEST_HEAD = 1 << 28
_LENGTH = struct.Struct("<Q")
_ARRAY = "<array>"
"""Key of a dict that stands for an array in the JSON text."""
_PIECE = 1 << 22


class Snapshots(NamedTuple):
    """How to save and load all that an object has learned."""

    take: Callable[[], Tree]
    """Everything as of now. The arrays are copies: they do not change when the object learns more."""
    load: Callable[[Tree], None]
    """Turn a new object into the one that was saved. ValueError, KeyError or TypeError if it does not fit; the object
    is then of no use any more."""


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
    return np.split(saved["values"], np.cumsum(saved["lengths"])[:-1])


def write(path: Path, tree: Tree) -> str:
    """Write the tree to a new file, down to the disk; return the SHA-256 of the file."""
    arrays: list[NDArray[Any]] = []
    values = _without_arrays(tree, arrays)
    shapes = [(array.dtype.str, array.shape) for array in arrays]
    head = json.dumps({"values": values, "arrays": shapes}).encode()
    digest = hashlib.sha256()
    with path.open("wb", buffering=0) as file:
        _write_all(file, memoryview(b"".join((FORMAT, _LENGTH.pack(len(head)), head))), digest)
        for array in arrays:
            _write_all(file, _bytes_of(array), digest)
        os.fsync(file.fileno())
    return digest.hexdigest()


def read(path: Path, sha256: str) -> Tree:
    """The tree in a file with this SHA-256; its arrays are writable. Damaged if it is another file."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        if _read(file, len(FORMAT), digest) != FORMAT:
            raise Damaged(f"{path}: not a file of this format")
        (length,) = _LENGTH.unpack(_read(file, _LENGTH.size, digest))
        if length > min(LONGEST_HEAD, os.fstat(file.fileno()).st_size):
            raise Damaged(f"{path}: damaged")
        head = _read(file, length, digest)
        try:
            described = json.loads(head)
            values, shapes = described["values"], _checked(described["arrays"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Damaged(f"{path}: damaged") from None
        size = sum(np.dtype(kind).itemsize * math.prod(shape) for kind, shape in shapes)
        if file.tell() + size != os.fstat(file.fileno()).st_size:
            raise Damaged(f"{path}: incomplete")
        arrays = [np.empty(shape, kind) for kind, shape in shapes]
        for array in arrays:
            _read_into(file, _bytes_of(array), digest)
    if digest.hexdigest() != sha256:
        raise Damaged(f"{path}: damaged")
    try:
        return _with_arrays(values, arrays)
    except (AttributeError, IndexError, RecursionError):
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


def _checked(shapes: Any) -> list[tuple[str, tuple[int, ...]]]:
    checked = []
    for kind, shape in shapes:
        if kind not in KINDS or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"an array of {kind!r} with the shape {shape!r}")
        checked.append((kind, tuple(shape)))
    return checked


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """Of a contiguous array; writable if the array is."""
    return array.reshape(-1).view(np.uint8).data


def _write_all(file: IO[bytes] | RawIOBase, part: memoryview, digest: Any) -> None:
    for at in range(0, len(part), _PIECE):
        piece = part[at : at + _PIECE]
        digest.update(piece)
        while len(piece):
            piece = piece[file.write(piece) or 0 :]


def _read(file: IO[bytes] | RawIOBase, size: int, digest: Any) -> bytes:
    part = bytearray(size)
    _read_into(file, memoryview(part), digest)
    return bytes(part)


def _read_into(file: Any, part: memoryview, digest: Any) -> None:
    for at in range(0, len(part), _PIECE):
        piece = rest = part[at : at + _PIECE]
        while len(rest):
            count = file.readinto(rest)
            if not count:
                raise Damaged(f"{file.name}: incomplete")
            rest = rest[count:]
        digest.update(piece)
