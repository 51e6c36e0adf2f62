"""The model by which py3langid tells languages, loaded once for all reader processes.

It is 70 MB of tables, of which a text looks up a few kilobytes, and it takes half a second to unpack. The first process
that is started writes it into a file that all of them share (`share`), and all map it: what one of them looks up is in
memory once, and the rest not at all. Where that is not possible (it takes Linux's /proc), each process loads its own
when it needs it.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import struct
from typing import Any

import numpy as np
import py3langid
from numpy.typing import NDArray
from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier
from py3langid.modelio import load_model

_HEAD = struct.Struct("<Q")
"""At the beginning of the file: the size of the description that follows; 0 until everything is there."""
_ALIGNED = 64
_model: LanguageIdentifier | None = None
"""That of the file."""


def share(descriptor: int) -> None:
    """From now on, use the model in this file, which is open for reading and writing, and empty at first.

    The file is closed when the model has been mapped, so that whoever takes over this process later, by a page that it
    reads, cannot change what other processes read.
    """
    global _model
    try:
        _model = _shared(descriptor)
    except (OSError, TypeError, ValueError, AttributeError, KeyError):  # no room, or another version of py3langid
        _model = None
    finally:
        os.close(descriptor)


def label_of(text: str) -> str:
    """The label of the most likely language."""
    label: str = (py3langid if _model is None else _model).classify(text)[0]
    return label


def _shared(descriptor: int) -> LanguageIdentifier:
    fcntl.lockf(descriptor, fcntl.LOCK_EX)
    try:
        (size,) = _HEAD.unpack(os.pread(descriptor, _HEAD.size, 0) or bytes(_HEAD.size))
        if not size:
            _fill(descriptor)
            (size,) = _HEAD.unpack(os.pread(descriptor, _HEAD.size, 0))
    finally:
        fcntl.lockf(descriptor, fcntl.LOCK_UN)
    # Mapped from a file that is open for writing, memory can be made writable later.
    readable = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
    mapped = mmap.mmap(readable, 0, access=mmap.ACCESS_READ)
    os.close(readable)
    described = json.loads(mapped[_HEAD.size : _HEAD.size + size])
    columns: dict[str, NDArray[Any]] = {
        name: np.frombuffer(mapped, np.dtype(kind), int(np.prod(shape)), offset).reshape(shape)
        for name, (kind, shape, offset) in described["arrays"].items()
    }
    moves = columns["nextmove"].data  # indexed one by one, which numpy is slow at
    return LanguageIdentifier(
        columns["ptc"],
        columns["pc"],
        described["classes"],
        moves,
        columns["output"].tolist(),
        tk_row=columns["row"].tolist(),
    )


def _fill(descriptor: int) -> None:
    ptc, pc, classes, nextmove, row, output = load_model(MODEL_DIR / MODEL_FILE)
    arrays = {
        "ptc": np.asarray(ptc),
        "pc": np.asarray(pc),
        "nextmove": np.asarray(nextmove),
        "row": np.asarray(row),
        "output": np.asarray(output),
    }
    room, end = 64 << 10, 64 << 10
    places = {}
    for name, values in arrays.items():
        places[name] = (values.dtype.str, values.shape, end)
        end += -(-values.nbytes // _ALIGNED) * _ALIGNED
    description = json.dumps({"classes": classes, "arrays": places}).encode()
    if len(description) > room - _HEAD.size:
        raise ValueError("a description of this size was not expected")
    os.ftruncate(descriptor, end)
    for name, values in arrays.items():
        _write(descriptor, np.ascontiguousarray(values).tobytes(), places[name][2])
    _write(descriptor, description, _HEAD.size)
    _write(descriptor, _HEAD.pack(len(description)), 0)


def _write(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
