"""The tree of topics a person chooses from, and which of them are good (paper FC, section 2; AR, section 2.2).

A taxonomy is a value: every change gives another one, and a change that would break a rule is refused with a reason. A
topic is named by its path, `Recreation/Cycling`. The topics above it exist implicitly: adding `Recreation/Cycling` adds
`Recreation` if it is missing. The root, ANY, is the empty path; it is never listed and cannot be marked.

The rule about good marks is FC's: no good topic is below another good one, because R(d) = Σ Pr[c|d] over the good
topics would count the lower one twice. The topics above good ones are path topics.

`taxonomy_file.py` reads and writes it as TOML.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lycosa.errors import InputError
from lycosa.judges.classifier import ANY, parent_of, with_ancestors
from lycosa.lib.nearest import nearest

MAX_NAME = 100
"""Maximum number of characters of one name, and of a keyword."""
MAX_DEPTH = 16
MAX_TOPICS = 20_000
MAX_KEYWORDS = 1_000
"""Per topic."""
MAX_WEIGHT = 1_000_000
MAX_EXAMPLES = 200_000
"""Per topic."""
MAX_TEXT = 10_000
"""Maximum number of characters of a description or an example."""

_LISTED = 5
"""Number of names listed in an error; the others are only counted."""
_JOINERS = "\u200c\u200d"
"""Format characters that Persian and Indic words are spelt with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What a person has said about one topic."""

    description: str = ""
    keywords: Mapping[str, float] = field(default_factory=dict)
    """Words written by hand, with weights above 0 (AR, section 2.3: evaluation functions built "by hand")."""
    examples: tuple[str, ...] = ()
    """URLs, or file names relative to the file the taxonomy was read from."""
    is_good: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "keywords", dict(self.keywords))
        _require_text("a description", self.description)
        if len(self.keywords) > MAX_KEYWORDS:
            raise InputError(f"{len(self.keywords)} keywords: a topic has at most {MAX_KEYWORDS}")
        if len(self.examples) > MAX_EXAMPLES:
            raise InputError(f"{len(self.examples)} examples: a topic has at most {MAX_EXAMPLES}")
        for word, weight in self.keywords.items():
            _require_name("keyword", word)
            if not 0 < weight <= MAX_WEIGHT:
                raise InputError(
                    f"keyword {word!r} has the weight {weight}: it must be above 0 and at most {MAX_WEIGHT}"
                )
        for example in self.examples:
            _require_text("an example", example)
            if not example.strip() or _unfit(example):
                raise InputError(f"example {example!r} is neither a URL nor a file name")


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Topics by path, parents before children."""

    topics: Mapping[str, Topic] = field(default_factory=dict)
    """Sorted by path, as in classifiers; missing parents are filled in."""
    good: tuple[str, ...] = field(init=False, compare=False)
    _children: dict[str, list[str]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        given = {checked_path(path): topic for path, topic in self.topics.items()}
        if len(given) < len(self.topics):
            raise InputError("two topics have names that differ only in how accents are encoded")
        paths = with_ancestors(given)
        if len(paths) > MAX_TOPICS:
            raise InputError(f"{len(paths)} topics: a taxonomy has at most {MAX_TOPICS}")
        children: dict[str, list[str]] = {}
        for path in paths:
            children.setdefault(parent_of(path), []).append(path)
        topics = {path: given.get(path) or Topic() for path in paths}
        good = tuple(path for path, topic in topics.items() if topic.is_good)
        object.__setattr__(self, "topics", topics)
        object.__setattr__(self, "good", good)
        object.__setattr__(self, "_children", children)
        require_apart(good)

    # Queries

    def __contains__(self, path: object) -> bool:
        return path in self.topics

    def __len__(self) -> int:
        return len(self.topics)

    def children(self, path: str = ANY) -> tuple[str, ...]:
        if path != ANY:
            self._require(path)
        return tuple(self._children.get(path, ()))

    @property
    def path_topics(self) -> tuple[str, ...]:
        """The topics above good ones, except ANY."""
        return with_ancestors(map(parent_of, self.good))

    @property
    def keywords(self) -> dict[str, Mapping[str, float]]:
        return {path: topic.keywords for path, topic in self.topics.items() if topic.keywords}

    def resolve(self, name: str) -> str:
        """The path of a topic named in full, or by its last names if only one topic ends with them.

        Case is ignored unless several topics would match. A full path takes precedence over an ending.
        """
        name = unicodedata.normalize("NFC", name[: MAX_DEPTH * (MAX_NAME + 1)]).strip().strip("/")
        if name in self.topics:
            return name
        folded = name.casefold()
        found = [path for path in self.topics if path.casefold() == folded]
        found = found or [path for path in self.topics if name and path.casefold().endswith("/" + folded)]
        exactly = [path for path in found if path.endswith(name)]
        if len(exactly or found) == 1:
            return (exactly or found)[0]
        if found:
            raise InputError(f"topic {name!r} may be {_listed(found, 'or')}: give more of its path")
        tops = f"at the top there are {_listed(self.children(), 'and')}" if self.topics else "the taxonomy is empty"
        raise InputError(f"there is no topic {name!r}{topic_hint(name, self.topics) or f'; {tops}'}")

    # Changes: each gives another taxonomy

    def add(self, path: str, topic: Topic | None = None) -> Taxonomy:
        """With one more topic; missing topics above it are added too."""
        path = checked_path(path)
        if path in self.topics:
            raise InputError(f"there is already a topic {path!r}")
        return Taxonomy({**self.topics, path: topic or Topic()})

    def rename(self, path: str, name: str) -> Taxonomy:
        """With another last name for a topic; its subtree goes along."""
        self._require(path)
        _require_name("topic", name)
        return self._relocate(path, path_under(parent_of(path), name))

    def move(self, path: str, under: str) -> Taxonomy:
        """With a topic and its subtree under another topic, which is added if it is missing, or under ANY."""
        self._require(path)
        under = checked_path(under) if under != ANY else ANY
        if is_at_or_below(under, path):
            raise InputError(f"topic {path!r} cannot be moved under {under!r}, which is part of it")
        return self._relocate(path, path_under(under, path.rpartition("/")[2]))

    def remove(self, path: str) -> Taxonomy:
        self._require(path)
        return Taxonomy({name: topic for name, topic in self.topics.items() if not is_at_or_below(name, path)})

    def mark_good(self, path: str) -> Taxonomy:
        """With a topic marked good: pages on it are wanted."""
        topic = self._require(path)
        return Taxonomy({**self.topics, path: dataclasses.replace(topic, is_good=True)})

    def unmark(self, path: str) -> Taxonomy:
        topic = self._require(path)
        if not topic.is_good:
            marked = _listed(self.good, "and") if self.good else "none"
            raise InputError(f"topic {path!r} is not marked good; marked: {marked}")
        return Taxonomy({**self.topics, path: dataclasses.replace(topic, is_good=False)})

    def _relocate(self, source: str, target: str) -> Taxonomy:
        if target == source:
            return self
        if target in self.topics:
            raise InputError(f"topic {source!r} cannot become {target!r}: there is already a topic of that name")
        return Taxonomy({relocated(name, source, target): topic for name, topic in self.topics.items()})

    def _require(self, path: str) -> Topic:
        topic = self.topics.get(path)
        if topic is None:
            raise InputError(f"there is no topic {path!r}{topic_hint(path, self.topics)}")
        return topic


def is_at_or_below(topic: str, other: str) -> bool:
    """Whether a topic is the other one or below it; every topic is below ANY."""
    return other == ANY or topic == other or topic.startswith(other + "/")


def path_under(parent: str, name: str) -> str:
    return f"{parent}/{name}" if parent else name


def relocated(topic: str, source: str, target: str) -> str:
    """A topic's path after the subtree `source` has become `target`: for labels kept outside the taxonomy."""
    return target + topic[len(source) :] if is_at_or_below(topic, source) else topic


def checked_path(path: str) -> str:
    """The path with its accents composed (NFC); InputError if it cannot name a topic."""
    path = unicodedata.normalize("NFC", path[: MAX_DEPTH * (MAX_NAME + 1) + 1])
    names = path.split("/")
    if len(names) > MAX_DEPTH:
        raise InputError(f"topic {path!r:.80} is {len(names)} names deep: at most {MAX_DEPTH} are allowed")
    for name in names:
        _require_name("topic", name, of=path)
    return path


def require_apart(good: Iterable[str]) -> None:
    marked = set(good)
    for lower in sorted(marked):
        if above := [topic for topic in with_ancestors([parent_of(lower)]) if topic in marked]:
            raise InputError(
                f"topics {above[-1]!r} and {lower!r} cannot both be good: a page on the lower one is on the upper one "
                "too, and would be counted twice; unmark one of them"
            )


def nearest_topics(name: str, topics: Iterable[str], *, count: int = 3) -> list[str]:
    """The topics whose path, or last name, looks most like a name; the most similar first."""
    paths: dict[str, list[str]] = {}
    for path in topics:
        folded = path.casefold()
        for text in {folded, folded.rpartition("/")[2]}:
            paths.setdefault(text, []).append(path)
    near = nearest(name[: 2 * MAX_NAME].casefold(), paths, count=2 * count)
    return list(dict.fromkeys(path for text in near for path in paths[text]))[:count]


def topic_hint(name: str, topics: Iterable[str]) -> str:
    """`; did you mean 'A' or 'B'?` to end a message about an unknown topic; empty if none is similar."""
    near = nearest_topics(name, topics)
    return f"; did you mean {_listed(near, 'or')}?" if near else ""


def _listed(paths: Iterable[str], last: str) -> str:
    """`'A', 'B' or 'C'`; after a few, the rest is only counted."""
    names = [repr(path) for path in paths]
    if len(names) > _LISTED:
        names = [*names[:_LISTED], f"{len(names) - _LISTED} more"]
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _unfit(text: str) -> str:
    """The first character not allowed in a name: a control, invisible mark, line end or lone surrogate."""
    unfit = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return next((c for c in text if unicodedata.category(c) in unfit and c not in _JOINERS), "")


def _require_name(what: str, name: str, *, of: str = "") -> None:
    """A name is something a person can read and type on one line."""
    inside = f" in {of!r:.80}" if of != name and of else ""
    if not name:
        raise InputError(
            f"empty name of a {what}{inside}: write 'Recreation/Cycling', with at least one character for each name"
        )
    if len(name) > MAX_NAME:
        raise InputError(f"name {name[:20]!r}… of a {what} has {len(name)} characters: at most {MAX_NAME} are allowed")
    if name != name.strip():
        raise InputError(f"name {name!r} of a {what}{inside} begins or ends with white space")
    if what == "topic" and "/" in name:
        raise InputError(f"name {name!r} of a topic contains a '/', which separates names")
    if unfit := _unfit(name):
        raise InputError(f"name {name!r} of a {what}{inside} contains the invisible character U+{ord(unfit):04X}")


def _require_text(what: str, text: str) -> None:
    if len(text) > MAX_TEXT:
        raise InputError(f"{what} of {len(text)} characters: at most {MAX_TEXT} are allowed")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} contains a lone surrogate, half a character, which UTF-8 cannot encode")
