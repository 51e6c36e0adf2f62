"""One file of named arrays, mapped into memory when it is opened.

    magic (8) · header length (8) · digest of the header (16) · header (JSON) · arrays, each from a multiple of 64 on

The header names each array with its type, length, place and checksum, and holds what else its writer wanted to
say (`meta`). It is checked whenever the file is opened, as are the places of all arrays; the arrays themselves,
which may be gigabytes, only by `verify`. Numbers are little-endian.

Writing takes two steps, so that arrays may grow side by side and none need fit into memory: each `Column`
spills to a nameless temporary file, and `write` joins them. The file has its name only once it is complete.
"""

from __future__ import annotations

import json
import mmap
import os
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lycosa.errors import InputError

MAGIC = b"\x89LYCOSA\n"
ALIGNMENT = 64
DIGEST_BYTES = 16
LONGEST_HEADER = 64 << 20
TYPES = frozenset({"|u1", "<i2", "<i4", "<i8", "<u8"})
BUFFER_BYTES = 1 << 18
"""What a column holds in memory before it spills."""
COPY_BYTES = 1 << 22

_START = len(MAGIC) + 8 + DIGEST_BYTES

AnyArray = NDArray[Any]


class _Place(NamedTuple):
    type: str
    length: int
    offset: int
    """From the end of the header, rounded up to the alignment."""
    checksum: int


class Column:
    """An array that grows: in memory for a while, then in a temporary file."""

    def __init__(self, type_: str, *, directory: Path) -> None:
        self.type = np.dtype(type_).newbyteorder("<").str
        if self.type not in TYPES:
            raise ValueError(f"arrays of type {self.type} are not kept; known are {', '.join(sorted(TYPES))}")
        self._directory = directory
        self._file: BinaryIO | None = None
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._spilled = 0

    def __len__(self) -> int:
        return (self._spilled + self._waiting_bytes) // np.dtype(self.type).itemsize

    def append(self, values: ArrayLike) -> None:
        """One value or an array of them."""
        self.append_bytes(np.asarray(values, self.type).tobytes())

    def append_bytes(self, data: bytes) -> None:
        """Values as they lie in memory."""
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes >= BUFFER_BYTES:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115 - open as long as the column is
        self._file.write(b"".join(self._waiting))
        self._spilled += self._waiting_bytes
        self._waiting, self._waiting_bytes = [], 0

    def array(self) -> AnyArray:
        """All values so far, for reading back; mapped where they have been spilled."""
        if self._file is None:
            return np.frombuffer(b"".join(self._waiting), self.type)
        self._spill()
        self._file.flush()
        return np.frombuffer(mmap.mmap(self._file.fileno(), self._spilled, access=mmap.ACCESS_READ), self.type)

    def pieces(self) -> Iterator[bytes]:
        """All bytes so far, in order, a few megabytes at a time."""
        if self._file is not None:
            self._file.seek(0)
            while piece := self._file.read(COPY_BYTES):
                yield piece
        yield from self._waiting

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Spills:
    """Makes columns, and lets go of their temporary files all at once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._columns: list[Column] = []

    def close(self) -> None:
        for column in self._columns:
            column.close()

    def column(self, type_: str, values: ArrayLike = ()) -> Column:
        column = Column(type_, directory=self._directory)
        column.append(values)
        self._columns.append(column)
        return column


def write(path: Path, *, columns: Mapping[str, Column], meta: Mapping[str, Any]) -> None:
    """Join the columns into a file. It replaces what had the name before, and only when all of it is there."""
    offset, arrays = 0, {}
    for name, column in columns.items():
        checksum, size = 0, 0
        for piece in column.pieces():
            checksum = zlib.crc32(piece, checksum)
            size += len(piece)
        arrays[name] = _Place(column.type, len(column), offset, checksum)
        offset = _aligned(offset + size)
    header = json.dumps({"arrays": arrays, "meta": meta}).encode()
    if len(header) > LONGEST_HEADER:
        raise ValueError(f"a header of {len(header):,} bytes: big things belong into arrays")
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            file.write(MAGIC + len(header).to_bytes(8, "little") + _digest(header) + header)
            for column in columns.values():
                file.write(bytes(_aligned(file.tell()) - file.tell()))
                for piece in column.pieces():
                    file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


class Container:
    """A file of arrays, open for reading."""

    def __init__(self, path: Path) -> None:
        """Raises InputError, naming what is the matter, for a file that is not one of ours or not whole."""
        self.path = path
        self._map = _mapped(path)
        header, self._base = self._header()
        self.meta: Mapping[str, Any] = header["meta"]
        self._places = {name: _Place(*place) for name, place in header["arrays"].items()}
        self.arrays: Mapping[str, AnyArray] = {name: self._array(name, each) for name, each in self._places.items()}

    def verify(self) -> None:
        """Read everything and compare it with the checksums; InputError names the first damaged array."""
        for name, place in self._places.items():
            if zlib.crc32(self.arrays[name].view(np.uint8).data) != place.checksum:
                raise InputError(f"{self.path} is damaged: the array {name!r} is not as it was written; rebuild it")

    def _header(self) -> tuple[dict[str, Any], int]:
        size = len(self._map)
        if self._map[: len(MAGIC)] != MAGIC:
            raise InputError(f"{self.path} is not a world file; `lycosa world build` makes one from WARC files")
        length = int.from_bytes(self._map[len(MAGIC) : len(MAGIC) + 8], "little")
        end = _START + length
        if size < _START or (length <= LONGEST_HEADER and size < end):
            raise InputError(f"{self.path} is cut short: it ends within its header; rebuild or recopy it")
        header = self._map[_START:end] if length <= LONGEST_HEADER else b""
        if _digest(header) != self._map[_START - DIGEST_BYTES : _START]:
            raise InputError(f"{self.path} is damaged: its header is not as it was written; rebuild or recopy it")
        return json.loads(header), _aligned(end)

    def _array(self, name: str, place: _Place) -> AnyArray:
        if place.type not in TYPES:
            raise InputError(f"{self.path} was written by another version: array {name!r} is of type {place.type}")
        start = self._base + place.offset
        end = start + place.length * np.dtype(place.type).itemsize
        if end > len(self._map):
            size = len(self._map)
            raise InputError(f"{self.path} is cut short: it has {size:,} bytes, array {name!r} ends at {end:,}")
        if not place.length:  # an empty array at the very end would lie behind the file
            return np.zeros(0, place.type)
        return np.frombuffer(self._map, place.type, place.length, start)


def _mapped(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise InputError(f"{path} is empty")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
