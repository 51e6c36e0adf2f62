"""A taxonomy as TOML: each topic is a table under `topics`, whose name is the topic's path.

    [topics."Recreation/Cycling"]
    good = true
    description = "For pleasure, not for sport."
    keywords = { bicycle = 2.0, tandem = 1 }
    examples = ["https://cycling.example/", "pages/tandem.html"]

Everything but the name is optional, and so are the topics above. Examples are kept as written: URLs, or files relative
to the TOML file; they are fetched when they are imported. `from_toml` reads back what `to_toml` writes.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from lycosa.errors import InputError
from lycosa.judges.taxonomy import MAX_NAME, Taxonomy, Topic
from lycosa.lib.bounded_file import read_text
from lycosa.lib.nearest import did_you_mean

MAX_FILE = 64 << 20


def load_taxonomy(path: Path) -> Taxonomy:
    try:
        size = path.stat().st_size
        text = read_text(path, most=MAX_FILE) if size <= MAX_FILE else ""
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    if size > MAX_FILE:
        raise InputError(f"{path}: {size} bytes: a taxonomy file has at most {MAX_FILE}")
    return from_toml(text, where=str(path))


def to_toml(taxonomy: Taxonomy) -> str:
    return tomli_w.dumps({"topics": {path: _plain(topic) for path, topic in taxonomy.topics.items()}})


def from_toml(text: str, *, where: str = "taxonomy") -> Taxonomy:
    """The inverse of `to_toml`. `where` names the text in messages."""
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{where}: not valid TOML: {error}") from error
    for key in tables:
        if key != "topics":
            raise InputError(f'{where}: unknown key {key!r}: a topic is a table [topics."its/path"]')
    topics = tables.get("topics", {})
    if not isinstance(topics, dict):
        raise InputError(f'{where}: topics is {topics!r:.60}: it must be tables like [topics."Recreation/Cycling"]')
    read = {path: _topic(table, path, where) for path, table in topics.items()}
    try:
        return Taxonomy(read)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _plain(topic: Topic) -> dict[str, Any]:
    values = {
        "good": topic.is_good,
        "description": topic.description,
        "examples": list(topic.examples),
        "keywords": {word: float(weight) for word, weight in topic.keywords.items()},
    }
    return {key: value for key, value in values.items() if value}


def _is_weights(value: Any) -> bool:
    # isinstance would accept true and false, which are ints.
    return isinstance(value, dict) and all(type(weight) in (int, float) for weight in value.values())


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_KEYS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "good": (lambda value: isinstance(value, bool), "true or false"),
    "description": (lambda value: isinstance(value, str), "a text in quotes"),
    "keywords": (_is_weights, "words with weights, { bicycle = 2.0, tandem = 1 }"),
    "examples": (_is_strings, 'a list of URLs and file names, ["https://cycling.example/"]'),
}
"""Keys of a topic's table: the test of a value, and what would be right."""


def _topic(table: Any, path: str, where: str) -> Topic:
    here = f'{where}: topics."{path:.80}"'
    if not isinstance(table, dict):
        raise InputError(f"{here} is {table!r:.60}: it must be a table, with {', '.join(_KEYS)}")
    for key, value in table.items():
        if key not in _KEYS:
            raise InputError(f"{here}: unknown key {key!r}; {_hint(key, value, path)}")
        is_right, right = _KEYS[key]
        if not is_right(value):
            raise InputError(f"{here}.{key} is {value!r:.60}: it must be {right}")
    try:
        return Topic(
            description=table.get("description", ""),
            keywords={word: _weight(weight) for word, weight in table.get("keywords", {}).items()},
            examples=tuple(table.get("examples", ())),
            is_good=table.get("good", False),
        )
    except InputError as error:
        raise InputError(f"{here}: {error}") from error


def _hint(key: str, value: Any, path: str) -> str:
    if near := did_you_mean(key[:MAX_NAME], _KEYS):
        return near.rstrip()
    if isinstance(value, dict):
        return f'a subtopic is written [topics."{path}/{key}"]'
    return f"the keys are {', '.join(_KEYS)}"


def _weight(number: float) -> float:
    """TOML integers are unbounded, floats are not."""
    try:
        return float(number)
    except OverflowError:
        return math.inf
