"""Examples from where people have them: folders, TOML taxonomies, label files, JSON lines, URLs.

Each reader is a stream of `Example` for `TopicBook.add_examples`; what it cannot use it records in a `Skips`, with a
reason. A bad file, line or URL does not affect the others. Nothing here opens a connection or a crawl: pages that have
to be fetched, or looked up in a world, come from a function that is passed in.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from lycosa.errors import InputError
from lycosa.judges.classifier import Example
from lycosa.judges.taxonomy import Taxonomy, checked_path
from lycosa.lib.languages import stemmed_as
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.page.html import read_document
from lycosa.page.language import detect_language
from lycosa.page.limits import PageLimits

CONTENT_TYPES = {".html": "text/html", ".htm": "text/html", ".txt": "text/plain", ".md": "text/plain"}
"""The files that are read, by extension."""
MAX_BYTES = 8 << 20
"""Maximum size of a file; larger ones are skipped."""
MAX_LINE = 16 << 20
"""Maximum number of characters of a JSON line."""
MAX_EXAMPLES = 1_000_000
"""Maximum number of files, labels or lines per import; the rest is ignored."""
_PAGE = PageLimits()
_SHOWN = 20
_BINARY_SHARE = 100
"""A file with more than one NUL in this many bytes is not text."""


class Failure(NamedTuple):
    url: str
    reason: str
    """One of a few fixed phrases, which can be counted: `http 404`, `robots`."""
    detail: str = ""

    @property
    def words(self) -> str:
        return f"{self.reason} {self.detail}".strip()


Fetch = Callable[[Sequence[str]], Iterable[Page | Failure]]
"""Fetches URLs: one answer for each, in order."""


@dataclass(slots=True)
class Skips:
    counts: Counter[str] = field(default_factory=Counter)
    """By reason."""
    first: list[tuple[str, str]] = field(default_factory=list)
    """The first few, each with its reason."""

    def add(self, source: str, reason: str) -> None:
        self.counts[reason] += 1
        if len(self.first) < _SHOWN:
            self.first.append((source, reason))


# Folders


def folder_examples(folder: Path, skips: Skips) -> Iterator[Example]:
    """Subfolders are topics, the files in them are examples. Links to folders are not followed."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; give one whose subfolders are topics and contain files")
    for path in islice(_files(folder, skips), MAX_EXAMPLES):
        topic = path.parent.relative_to(folder).as_posix()
        if topic == ".":
            skips.add(str(path), "not in a topic's folder")
            continue
        try:
            topic = checked_path(topic)
        except InputError:
            skips.add(str(path), "folder name cannot be a topic")
            continue
        page = file_page(path, skips)
        if page is not None:
            yield Example(page, (topic,))


def _files(folder: Path, skips: Skips) -> Iterator[Path]:
    for place, folders, names in os.walk(
        folder, onerror=lambda error: skips.add(str(error.filename), "cannot be read")
    ):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(place, name)


def file_page(path: Path, skips: Skips) -> Page | None:
    """A file as a page whose URL is its absolute path; None if it was skipped."""
    content_type = CONTENT_TYPES.get(path.suffix.lower())
    reason, body = "", b""
    if content_type is None:
        reason = "neither HTML nor text"
    elif not path.exists():
        reason = "no such file"
    elif not path.is_file():  # reading a pipe would block
        reason = "not a file"
    else:
        try:
            with path.open("rb") as file:
                body = file.read(MAX_BYTES + 1)
        except OSError:
            reason = "cannot be read"
        if len(body) > MAX_BYTES:
            reason = "too large"
        elif body.count(b"\0") * _BINARY_SHARE > len(body) and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
            reason = "binary"
    if reason or content_type is None:
        skips.add(str(path), reason)
        return None
    page = read_document(str(path.absolute()), body, content_type=content_type, resolver=_no_links, limits=_PAGE)
    if path.suffix.lower() == ".md" and page.text.startswith("# "):
        page = replace(
            page, title=body.decode("utf-8", "replace").lstrip("\ufeff \r\n").split("\n", 1)[0][2:302].strip()
        )
    return page


def _no_links(_base: str) -> Callable[[str], tuple[str, str]]:
    return lambda _href: ("", "links of examples are not kept")


# TOML taxonomies and URLs


def is_url(example: str) -> bool:
    """Whether an example in a taxonomy is a URL; otherwise it is a file."""
    return example.startswith(("http://", "https://"))


def urls_to_fetch(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    """The examples that are URLs, each with its topics."""
    return {example: topics for example, topics in _topics_by_example(taxonomy).items() if is_url(example)}


def taxonomy_examples(
    taxonomy: Taxonomy, folder: Path, skips: Skips, *, fetch: Fetch | None = None
) -> Iterator[Example]:
    """The examples a taxonomy lists: files relative to `folder` (that of the TOML file), and URLs.

    Without a `fetch`, URLs are skipped as "to be fetched".
    """
    yield from file_examples(taxonomy, folder, skips)
    topics_of = urls_to_fetch(taxonomy)
    for page in fetched_pages(list(topics_of), skips, fetch=fetch):
        yield Example(page, topics_of[page.url])


def file_examples(taxonomy: Taxonomy, folder: Path, skips: Skips) -> Iterator[Example]:
    for example, topics in _topics_by_example(taxonomy).items():
        if not is_url(example):
            page = file_page(folder / example, skips)
            if page is not None:
                yield Example(page, topics)


def fetched_pages(urls: Sequence[str], skips: Skips, *, fetch: Fetch | None) -> Iterator[Page]:
    """The pages of URLs. Each keeps the URL it was requested by, whatever redirects led to."""
    if fetch is None:
        for url in urls:
            skips.add(url, "to be fetched")
        return
    answered = 0
    for url, answer in zip(urls, fetch(urls), strict=False):
        answered += 1
        if isinstance(answer, Failure):
            skips.add(url, answer.reason)
        else:
            yield replace(answer, url=url)
    for url in urls[answered:]:
        skips.add(url, "no answer")


def _topics_by_example(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for path, topic in taxonomy.topics.items():
        for example in topic.examples:
            if path not in found.get(example, ()):
                found[example] = (*found.get(example, ()), path)
    return found


# Labels of a world or a crawl


def label_examples(path: Path, page_of: Callable[[str], Page | None], skips: Skips) -> Iterator[Example]:
    """Rows of URL and topic, separated by a tab, under the heading `url	topic`; a URL may have several rows.

    `page_of` returns the page of a URL, or None if the world or crawl does not have it.
    """
    topics_of: dict[str, list[str]] = {}
    for url, topic in _label_rows(path, skips):
        topics = topics_of.setdefault(url, [])
        if topic not in topics:
            topics.append(topic)
    for url, topics in topics_of.items():
        page = page_of(url)
        if page is None:
            skips.add(url, "no such page")
        else:
            yield Example(replace(page, url=url), tuple(topics))


def _label_rows(path: Path, skips: Skips) -> Iterator[tuple[str, str]]:
    with _opened(path) as file:
        heading = file.readline(MAX_LINE).rstrip("\r\n").split("\t")
        if heading[:2] != ["url", "topic"]:
            raise InputError(
                f"{path}: its first line is {'	'.join(heading)!r:.80}; it must be 'url', a tab, 'topic'"
            )
        for number, line in _lines(path, file):
            url, tab, topic = line.rstrip("\r\n").partition("\t")
            if not tab or not url:
                skips.add(f"{path.name}, line {number + 1}", "not a URL and a topic")
                continue
            try:
                yield url, checked_path(topic.partition("\t")[0])
            except InputError:
                skips.add(f"{path.name}, line {number + 1}", "not a valid topic name")


# JSON lines


def json_examples(
    path: Path, skips: Skips, *, splits: Collection[str] = (), topic_of: Callable[[str], str] = str
) -> Iterator[Example]:
    """Objects with `id`, `labels`, `title` and `body`, one per line; the file may be gzipped.

    If `splits` are given, lines of other splits are skipped. `topic_of` converts a label to a path.
    """
    with _opened(path) as file:
        for number, line in _lines(path, file):
            where = f"{path.name}, line {number}"
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                skips.add(where, "not JSON")
                continue
            if not _is_example(row):
                skips.add(where, "not an object with labels, title and body")
            elif splits and row.get("split") not in splits:
                skips.add(where, "another split")
            elif not row["labels"]:
                skips.add(where, "no label")
            else:
                try:
                    topics = tuple(dict.fromkeys(checked_path(topic_of(label)) for label in row["labels"]))
                except InputError:
                    skips.add(where, "not a valid topic name")
                    continue
                yield Example(text_page(str(row.get("id", where)), row["title"], row["body"]), topics)


def text_page(source: str, title: str, body: str) -> Page:
    title = " ".join(title[: 2 * _PAGE.max_title].split())[: _PAGE.max_title]
    text = " ".join(body.split())[: _PAGE.max_text]
    language = detect_language(text)
    stemmed_in = stemmed_as(language)
    terms = term_counts(f"{title} {text}", language=stemmed_in)
    return Page(
        url=source,
        title=title,
        text=text,
        language=language,
        terms=terms,
        words=sum(terms.values()),
        stemmed_in=stemmed_in,
    )


def _is_example(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("title"), str)
        and isinstance(row.get("body"), str)
        and isinstance(row.get("labels"), list)
        and all(isinstance(label, str) for label in row["labels"])
    )


def _opened(path: Path) -> IO[str]:
    try:
        with path.open("rb") as file:
            is_gzip = file.read(2) == b"\x1f\x8b"
        opener: Any = gzip.open if is_gzip else open
        opened: IO[str] = opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="\n")
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return opened


def _lines(path: Path, file: IO[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without blank ones. Only one line is in memory at a time, and it has a bound."""
    try:
        for number in range(1, MAX_EXAMPLES + 1):
            line = file.readline(MAX_LINE + 1)
            if not line:
                return
            if len(line) > MAX_LINE:
                raise InputError(f"{path}, line {number}: longer than {MAX_LINE} characters, the maximum")
            if line.strip():
                yield number, line
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged or truncated: {error}") from error
