"""A trained classifier as bytes: named arrays in numpy's container, and a JSON text. No pickle, no code."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import LycosaError
from lycosa.judges.classifier import ANY, with_ancestors

AnyArray = NDArray[Any]
Settings = TypeVar("Settings")

_META = "meta"
_FORMER_SETTINGS = {"measure"}
"""Settings that earlier versions of some classifiers saved, and that do not affect what has been learned."""
_DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error)


def pack(kind: str, meta: Mapping[str, object], arrays: Mapping[str, AnyArray]) -> bytes:
    """`kind` names the classifier and the version of its layout."""
    text = json.dumps({**meta, "kind": kind}, sort_keys=True)
    buffer = io.BytesIO()
    np.savez(buffer, **{_META: _as_bytes(text)}, **arrays)  # type: ignore[arg-type]  # numpy's keyword allow_pickle
    return buffer.getvalue()


def unpack(kind: str, data: bytes, names: Iterable[str] | None = None) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Meta, and the arrays with these names or all; ValueError if `pack` did not make the bytes for this kind."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            meta = json.loads(file[_META].tobytes())
            if isinstance(meta, dict) and meta.get("kind") == kind:
                return meta, {name: file[name] for name in (file.files if names is None else names)}
    except _DAMAGE as error:
        # numpy's own message would suggest trusting the file.
        raise ValueError(f"these bytes are not a saved classifier of the kind {kind!r}, or are damaged") from error
    raise ValueError(f"this is a saved classifier, but not of the kind {kind!r}")


def settings_from(kind: type[Settings], meta: Mapping[str, Any]) -> Settings:
    """The settings a classifier was saved with, validated."""
    former = _FORMER_SETTINGS - {field.name for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    try:
        return kind(**{name: value for name, value in meta["settings"].items() if name not in former})
    except (KeyError, TypeError, AttributeError, LycosaError) as error:
        raise ValueError(f"a saved classifier with invalid settings: {error}") from error


def topics_from(meta: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    topics, classes = meta.get("topics"), meta.get("classes")
    if not (isinstance(topics, list) and isinstance(classes, list) and {*map(type, topics + classes)} <= {str}):
        raise ValueError("a saved classifier without a list of topics")
    require({*classes} <= {ANY, *topics} and with_ancestors(topics) == tuple(topics), "topics")
    return tuple(topics), tuple(classes)


def lines_to_array(lines: Iterable[str]) -> NDArray[np.uint8]:
    """Strings without line breaks, as bytes."""
    return _as_bytes("\n".join(lines))


def array_to_lines(array: AnyArray) -> list[str]:
    text = array.tobytes().decode()
    return text.split("\n") if text else []


def require(is_valid: bool, part: str) -> None:
    """ValueError unless this part of a saved classifier is consistent with the others."""
    if not is_valid:
        raise ValueError(f"the parts of a saved classifier are inconsistent: {part}")


def _as_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)
