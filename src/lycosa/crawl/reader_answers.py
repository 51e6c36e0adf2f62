"""What a reader process answers, as bytes, and how the crawl makes sense of them.

A reader has parsed hostile bytes, and may have been taken over by them: whatever it sends is checked like anything else
that comes from the web, and costs neither unbounded time nor unbounded memory. An answer consists of

    head        JSON: the outcome, the page without its long parts, the judgement, and the length of each section
    sections    one after the other: the columns of its links, texts, and what the strategy and the ledger get as bytes

A column holds one value for each link, separated by line ends. How many there are is known from the head and checked
before a column is taken apart, so that a few bytes never become many objects.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import repeat
from math import isfinite
from typing import Any

from lycosa.crawl.reading import Read
from lycosa.model import Guidance, Judgement, Kind, Link, Outcome, Page

LENGTH = struct.Struct("=I")
LONGEST = 64 << 20
"""Maximum length of an answer: ten times that of a page with all the links and text that the default limits allow."""
LONGEST_HEAD = 4 << 20
LONGEST_TERMS = 8 << 20
MOST_LINKS = 1_000_000
END = "\n"
BETWEEN = "\x1f"
"""Separates further texts of one link."""
SECTIONS = (
    "urls", "anchors", "rels", "positions", "other_anchors", "contexts", "paths", "rejected", "rules",
    "text", "own_text", "terms", "link_hashes", "digest", "blocks",
)  # fmt: skip
_POSITION = "I"
_NEW_LINK: Callable[[tuple[Any, ...]], Link] = partial(tuple.__new__, Link)
"""What `Link._make` does, without a call of a Python function for each link; the columns are as many as its fields."""


class BadAnswerError(ValueError):
    """What a reader sent is no answer."""


# The reader's side.


def pack(result: Read, *, whole_pages: bool) -> bytes:
    """Unless `whole_pages` are asked for, without text, terms, and the context and path of links."""
    outcome, page, judgement = result.outcome, result.page, result.judgement
    sections: list[bytes] = []
    fields = None
    if page is not None:
        sections = _sections(page, whole_pages=whole_pages)
        fields = [
            page.url, page.title, page.language, page.charset, dict(page.dropped), page.canonical, page.is_noindex,
            page.is_nofollow, page.fingerprint, page.words, page.stemmed_in, len(page.links), len(page.rejected),
        ]  # fmt: skip
    verdict = None
    if judgement is not None:
        verdict = [
            float(judgement.relevance), bool(judgement.is_relevant), dict(judgement.scores), dict(judgement.terms),
            judgement.best, judgement.guide and list(judgement.guide), judgement.margin,
        ]  # fmt: skip
    plain = [str(outcome.kind), outcome.reason, outcome.detail, outcome.status, outcome.location]
    lengths = list(map(len, sections))
    head = json.dumps([plain, fields, verdict, result.is_same, lengths], default=_number, check_circular=False).encode()
    return b"".join((LENGTH.pack(len(head)), head, *sections))


def _number(value: Any) -> Any:
    """Judges may compute with numpy."""
    return value.item()


def _sections(page: Page, *, whole_pages: bool) -> list[bytes]:
    links = page.links
    columns = {
        "urls": _column(link.url for link in links),
        "anchors": _column(link.anchor for link in links),
        "rels": _column(link.rel for link in links),
        "positions": array(_POSITION, [link.position for link in links]).tobytes(),
        "rejected": _column(page.rejected),
        "rules": _column(page.rejected.values()),
        "link_hashes": page.link_hashes,
        "digest": page.digest,
        "blocks": page.blocks,
    }
    if any(link.other_anchors for link in links):
        columns["other_anchors"] = _column(BETWEEN.join(link.other_anchors) for link in links)
    if whole_pages:
        columns["contexts"] = _column(link.context for link in links)
        columns["paths"] = _column(link.path for link in links)
        columns["text"], columns["own_text"] = _encoded(page.text), _encoded(page.own_text)
        columns["terms"] = json.dumps(dict(page.terms)).encode()
    return [columns.get(name, b"") for name in SECTIONS]


def _column(values: Iterable[str]) -> bytes:
    values = list(values)
    joined = END.join(values)
    if joined.count(END) != max(0, len(values) - 1):
        joined = END.join(value.replace(END, " ") for value in values)
    return _encoded(joined)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# The crawl's side.


def unpack(message: memoryview) -> Read:
    """What was packed; BadAnswerError if this cannot be it."""
    try:
        return _read(message)
    except BadAnswerError:
        raise
    except (ValueError, TypeError, RecursionError, struct.error, OverflowError) as error:
        raise BadAnswerError(f"{type(error).__name__}: {error}") from error


def _read(message: memoryview) -> Read:
    (length,) = LENGTH.unpack_from(message)
    start = LENGTH.size + length
    _require(length <= LONGEST_HEAD and start <= len(message), "its head is too long")
    plain, fields, verdict, is_same, lengths = json.loads(
        bytes(message[LENGTH.size : start]), parse_constant=_no_number
    )
    kind, reason, detail, status, location = plain
    _require(_are(str, kind, reason, detail, location) and type(status) is int, "its outcome is none")
    _require(is_same is None or type(is_same) is bool, "its comparison is none")
    sections = _cut(message, start, lengths) if fields is not None else {}
    page = _page(fields, sections) if fields is not None else None
    judgement = _judgement(verdict) if verdict is not None else None
    return Read(Outcome(Kind(kind), reason, detail, status, location=location), page, judgement, is_same)


def _cut(message: memoryview, start: int, lengths: list[int]) -> dict[str, memoryview]:
    _require(len(lengths) == len(SECTIONS) and _are(int, *lengths) and min(lengths) >= 0, "its sections are none")
    _require(start + sum(lengths) == len(message), "its sections have other lengths")
    sections = {}
    for name, length in zip(SECTIONS, lengths, strict=True):
        sections[name] = message[start : start + length]
        start += length
    return sections


def _page(fields: list[Any], sections: dict[str, memoryview]) -> Page:
    (url, title, language, charset, dropped, canonical, is_noindex, is_nofollow, fingerprint, words, stemmed_in,
     links, rejected) = fields  # fmt: skip
    _require(_are(str, url, title, language, charset, canonical, stemmed_in), "its page has no texts")
    _require(
        _are(bool, is_noindex, is_nofollow) and _are(int, fingerprint, words, links, rejected),
        "its page has no numbers",
    )
    _require(0 <= links <= MOST_LINKS and 0 <= rejected <= MOST_LINKS, "it has too many links")
    _require(-(2**63) <= fingerprint < 2**64 and 0 <= words < 2**31, "its numbers are out of range")
    _require(len(sections["link_hashes"]) in (0, 8 * (links + rejected)), "it has no hash for each link")
    _require(len(sections["terms"]) <= LONGEST_TERMS, "it has too many terms")
    terms = json.loads(bytes(sections["terms"])) if sections["terms"] else {}
    rejected_urls = _values(sections["rejected"], rejected)
    return Page(
        url,
        title,
        _text(sections["text"]),
        language,
        charset,
        _links(sections, links),
        dict(zip(rejected_urls, _values(sections["rules"], rejected), strict=True)),
        _numbers(dropped),
        canonical,
        is_noindex,
        is_nofollow,
        fingerprint,
        _numbers(terms),
        words,
        bytes(sections["link_hashes"]),
        bytes(sections["digest"]),
        _text(sections["own_text"]),
        bytes(sections["blocks"]),
        stemmed_in,
    )


def _links(sections: dict[str, memoryview], count: int) -> list[Link]:
    if not count:
        return []
    positions = array(_POSITION)
    positions.frombytes(sections["positions"])
    _require(len(positions) == count, "it has no position for each link")
    texts = (_values(sections[name], count) for name in ("urls", "anchors"))
    more = (_values(sections[name], count) if sections[name] else repeat("", count) for name in ("contexts", "paths"))
    rels = _values(sections["rels"], count)
    others: Iterable[tuple[str, ...]] = repeat((), count)
    if sections["other_anchors"]:
        _require(
            bytes(sections["other_anchors"]).count(BETWEEN.encode()) <= MOST_LINKS, "its links have too many texts"
        )
        others = [tuple(value.split(BETWEEN)) if value else () for value in _values(sections["other_anchors"], count)]
    return list(map(_NEW_LINK, zip(*texts, *more, rels, positions, others, strict=True)))


def _values(column: memoryview, count: int) -> list[str]:
    """The values of a column, of which there must be so many."""
    if not count:
        _require(not len(column), "it has values of nothing")
        return []
    data = bytes(column)
    _require(data.count(b"\n") == count - 1, "it does not have a value for each link")
    return data.decode("utf-8", "surrogatepass").split(END)


def _text(section: memoryview) -> str:
    return str(section, "utf-8", "surrogatepass")


def _judgement(verdict: list[Any]) -> Judgement:
    relevance, is_relevant, scores, terms, best, guide, margin = verdict
    _require(type(is_relevant) is bool and type(best) is str, "its judgement is none")
    guidance = None
    if guide is not None:
        value, is_worth = guide
        _require(type(is_worth) is bool, "its guidance is none")
        guidance = Guidance(_finite(value), is_worth)
    margin = None if margin is None else _finite(margin)
    return Judgement(_finite(relevance), is_relevant, _numbers(scores), _numbers(terms), best, guidance, margin)


def _numbers(values: Any) -> Mapping[str, Any]:
    _require(
        type(values) is dict and all(type(value) in (int, float) for value in values.values()), "it has no numbers"
    )
    return values  # type: ignore[no-any-return]


def _finite(value: Any) -> float:
    _require(type(value) in (int, float) and isfinite(value), "it has a number that is none")
    return float(value)


def _no_number(name: str) -> float:
    raise BadAnswerError(f"{name} is no number")


def _are(kind: type, *values: Any) -> bool:
    return all(type(value) is kind for value in values)


def _require(is_so: bool, what: str) -> None:
    if not is_so:
        raise BadAnswerError(what)
