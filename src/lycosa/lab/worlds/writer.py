"""Writes world files, which `world` reads.

Pages are added one at a time and spilled to disk by column. The vocabulary, the names of hosts and topics, the labels,
and 20 to 40 bytes for each distinct URL and text stay in memory.

Strings are stored once: URLs in one table, all other texts (titles, beginnings, anchors, contexts, paths) in another;
pages and links refer to them by number. URLs are numbered as they are met. In the file the recorded ones come first, in
the order of the pages, which gives a page and its URL the same number: `finish` renumbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.fetch.urls import host_key, url_hash
from lycosa.judges.svm import SvmSettings
from lycosa.judges.tfidf import lead_of
from lycosa.lab.generated.graph import gather
from lycosa.lab.worlds.container import Column, Spills, write
from lycosa.lib.hashindex import HashIndex
from lycosa.lib.text import term_counts
from lycosa.model import Page, first_words

FORMAT = 3
CHUNK = 1 << 16
NO_INDEX, NO_FOLLOW = 1, 2
"""Bits of a page's flags."""

PAGE_COLUMNS = {
    "status": "i2",
    "titles": "i4",
    "beginnings": "i4",
    "languages": "i4",
    "canonicals": "i4",
    "locations": "i4",
    "fingerprints": "u8",
    "words": "i4",
    "flags": "u1",
    "link_offsets": "i8",
    "page_term_offsets": "i8",
}
LINK_COLUMNS = {"link_urls": "i4", "anchors": "i4", "contexts": "i4", "paths": "i4", "rels": "i4"}
OTHER_ANCHOR_COLUMNS = {"other_anchor_links": "i8", "other_anchors": "i4"}
"""By further anchor of a link: the link, ascending, and the text. Worlds of earlier versions have none."""
TERM_COLUMNS = {"term_ids": "i4", "term_counts": "i4"}
LEAD_COLUMNS = {"lead_terms": "i4", "lead_offsets": "i8"}
"""The first stems of each page in order, of which bi-grams are made. Worlds of earlier versions have none."""
LEAD = SvmSettings().bigram_window
STARTS = {"link_offsets": 0, "page_term_offsets": 0, "lead_offsets": 0}


MILLION, NOT_JUDGED = 1_000_000, -1
"""Relevance is stored in millionths, in worlds that are made of a crawl."""


class Judgements(NamedTuple):
    """What the judge of a crawl said of its pages."""

    judge: str
    """Its name."""
    by_url: Mapping[str, tuple[float, bool]]
    """By canonical URL: relevance, and whether the page was called relevant."""


class StringColumn:
    """Concatenated strings, and where each begins."""

    def __init__(self, spills: Spills, strings: Sequence[str] = ()) -> None:
        self.bytes = spills.column("u1")
        self.offsets = spills.column("i8", 0)
        self._end = 0
        self.append(strings)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def append(self, strings: Sequence[str]) -> None:
        encoded = [string.encode("utf-8", "replace") for string in strings]
        self.bytes.append_bytes(b"".join(encoded))
        ends = self._end + np.cumsum([len(each) for each in encoded], dtype=np.int64)
        self.offsets.append(ends)
        if len(ends):
            self._end = int(ends[-1])

    def reordered(self, order: NDArray[np.int64], spills: Spills) -> StringColumn:
        """The same strings in another order."""
        result = StringColumn(spills)
        data, offsets = self.bytes.array(), self.offsets.array()
        for low in range(0, len(order), CHUNK):
            starts = offsets[order[low : low + CHUNK]]
            lengths = offsets[order[low : low + CHUNK] + 1] - starts
            result.bytes.append(data[gather(starts, lengths)])
            result.offsets.append(result._end + np.cumsum(lengths))
            result._end += int(lengths.sum())
        return result

    def columns(self, name: str) -> dict[str, Column]:
        return {f"{name}_bytes": self.bytes, f"{name}_offsets": self.offsets}


class _SpilledTable:
    """Distinct strings, identified by a 64-bit hash."""

    def __init__(self, spills: Spills) -> None:
        self.strings = StringColumn(spills)
        self.hashes = spills.column("i8")
        self._index = HashIndex()

    def add(self, strings: Sequence[str], hashes: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str]]:
        """Their numbers, and the strings that are new."""
        numbers, is_new = self._index.find_or_add(hashes, len(self.strings))
        if not is_new.any():
            return numbers, []
        new = [strings[i] for i in is_new.nonzero()[0].tolist()]
        self.strings.append(new)
        self.hashes.append(hashes[is_new])
        return numbers, new


class WorldWriter:
    """Collects pages, redirects and labels; `finish` writes the file. A context manager, which closes its spills."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._spills = spills = Spills(target.parent)
        self._urls = _SpilledTable(spills)
        self._texts = _SpilledTable(spills)
        self._texts.add([""], _text_hashes([""]))  # number 0 is the empty text
        self._terms = StringColumn(spills)
        self._term_numbers: dict[str, int] = {}
        self._hosts: dict[str, int] = {}
        self._url_hosts = spills.column("i4")
        self._page_urls = spills.column("i4")
        names = PAGE_COLUMNS | LINK_COLUMNS | OTHER_ANCHOR_COLUMNS | TERM_COLUMNS | LEAD_COLUMNS
        self._columns = {name: spills.column(type_, STARTS.get(name, ())) for name, type_ in names.items()}
        self._pages = HashIndex()
        """Page numbers by URL hash."""
        self._labels: dict[str, set[int]] = {}
        self._redirected: set[int] = set()
        self._judgements: Judgements | None = None
        self.documents = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spills.close()

    def __len__(self) -> int:
        """Number of documents and redirects so far."""
        return self.documents + self.redirects

    @property
    def redirects(self) -> int:
        return len(self._redirected)

    @property
    def links(self) -> int:
        return len(self._columns["link_urls"])

    @property
    def topics(self) -> int:
        return len(self._labels)

    def has(self, url: str) -> bool:
        """Whether there is a record of this canonical URL."""
        return self._page(url) >= 0

    def add_page(self, page: Page, *, status: int = 200) -> None:
        """Add a document, whose URL must be canonical and new."""
        links = page.links
        hashes = np.frombuffer(page.link_hashes, np.int64)[: len(links)]
        targets = self._number_urls([link.url for link in links], hashes)
        texts = [page.title, page.language, page.canonical, page.beginning or first_words(page.content)]
        own = len(texts)
        for part in ("anchor", "context", "path", "rel"):
            texts.extend([getattr(link, part) for link in links])
        texts.extend(anchor for link in links for anchor in link.other_anchors)
        numbers = self._texts.add(texts, _text_hashes(texts))[0]
        columns = self._columns
        repeated = [len(link.other_anchors) for link in links]
        columns["other_anchor_links"].append(len(columns["link_urls"]) + np.repeat(np.arange(len(links)), repeated))
        columns["other_anchors"].append(numbers[own + 4 * len(links) :])
        columns["link_urls"].append(targets)
        for i, name in enumerate(("anchors", "contexts", "paths", "rels")):
            columns[name].append(numbers[own + i * len(links) : own + (i + 1) * len(links)])
        self._add_terms(page.terms)
        columns["lead_terms"].append(self._numbered(page.lead or lead_of(page, LEAD)))
        flags = NO_INDEX * page.is_noindex + NO_FOLLOW * page.is_nofollow
        title, language, canonical, beginning = numbers[:own].tolist()
        self._add_record(
            page.url,
            status=status,
            titles=title,
            languages=language,
            canonicals=canonical,
            beginnings=beginning,
            fingerprints=page.fingerprint,
            words=page.words,
            flags=flags,
        )
        self.documents += 1

    def add_redirect(self, url: str, *, status: int, location: str) -> None:
        """Add a redirect; `location` is canonical if the URL rules allow it."""
        number = int(self._texts.add([location], _text_hashes([location]))[0][0])
        if location.startswith(("http://", "https://")):  # numbered like the URL of a link
            self._number_urls([location], np.array([url_hash(location)]))
        self._add_record(url, status=status, locations=number)
        self._redirected.add(len(self))

    def label(self, url: str, topic: str) -> bool:
        """Label a page with a topic; False if there is no such document."""
        page = self._page(url)
        if page < 0 or page in self._redirected:
            return False
        self.label_page(page, topic)
        return True

    def label_page(self, page: int, topic: str) -> None:
        self._labels.setdefault(topic, set()).add(page)

    def add_sketches(self, urls: Sequence[str], titles: Sequence[str]) -> None:
        """Add documents of which only the title is known. Their links are added later, by `add_graph`."""
        hashes = np.array([url_hash(url) for url in urls], np.int64)
        self._pages.add(hashes, np.arange(len(self), len(self) + len(urls)))
        self._page_urls.append(self._number_urls(urls, hashes))
        zeros = np.zeros(len(urls), np.int64)
        values = dict.fromkeys(PAGE_COLUMNS, zeros) | {"status": zeros + 200}
        values["titles"] = self._texts.add(titles, _text_hashes(titles))[0]
        values["languages"] = zeros + self._texts.add(["en"], _text_hashes(["en"]))[0]
        counts = [term_counts(title) for title in titles]
        values["words"] = np.array([sum(terms.values()) for terms in counts], np.int64)
        ends = len(self._columns["term_ids"]) + np.cumsum([len(terms) for terms in counts], dtype=np.int64)
        for terms in counts:
            self._add_terms(terms)
        for name in PAGE_COLUMNS.keys() - STARTS.keys():
            self._columns[name].append(values[name])
        self._columns["page_term_offsets"].append(ends)
        self._columns["lead_offsets"].append(zeros + len(self._columns["lead_terms"]))
        self.documents += len(urls)

    def add_graph(self, counts: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
        """Add the links of the next sketched pages: the number of each page's links, and the pages they lead to.

        All pages must have been sketched: pages and URLs then have the same numbers. Anchors are the targets' titles.
        """
        columns = self._columns
        columns["link_offsets"].append(len(columns["link_urls"]) + np.cumsum(counts))
        columns["link_urls"].append(targets)
        columns["anchors"].append(columns["titles"].array()[targets])
        for name in ("contexts", "paths", "rels"):
            columns[name].append(np.zeros(len(targets), np.int32))

    def unrecorded(self) -> Iterator[str]:
        """URLs that are linked to but not recorded so far."""
        data, offsets = self._urls.strings.bytes.array(), self._urls.strings.offsets.array()
        for number in (self._pages.find(self._urls.hashes.array()) < 0).nonzero()[0].tolist():
            yield data[offsets[number] : offsets[number + 1]].tobytes().decode()

    def judge(self, judgements: Judgements) -> None:
        """Keep what a judge said of these pages; URLs that are not recorded are passed over."""
        self._judgements = judgements

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Renumber the URLs, pages first, and write the file."""
        page_urls = self._page_urls.array().astype(np.int64)
        others = np.ones(len(self._urls.strings), np.bool_)
        others[page_urls] = False
        order = np.concatenate([page_urls, others.nonzero()[0]])
        number_of = np.empty(len(order), np.int32)
        number_of[order] = np.arange(len(order), dtype=np.int32)
        hashes = self._urls.hashes.array()[order]
        urls = self._urls.strings.reordered(order, self._spills)
        column = self._spills.column
        columns = dict(self._columns)
        columns |= self._renumbered_links(number_of, hashes, len(page_urls))
        columns |= urls.columns("url")
        columns["url_hashes"] = column("i8", hashes)
        columns["url_hosts"] = column("i4", self._url_hosts.array()[order])
        columns["hash_order"] = column("i4", np.argsort(hashes, kind="stable"))
        columns |= self._texts.strings.columns("text") | self._terms.columns("term")
        columns |= StringColumn(self._spills, list(self._hosts)).columns("host")
        columns |= self._topic_columns()
        facts: dict[str, Any] = {"documents": self.documents, "redirects": self.redirects}
        if self._judgements is not None:
            columns |= self._judged_columns(self._judgements)
            facts["judge"] = self._judgements.judge
        write(self._target, columns=columns, meta={"kind": "world", "format": FORMAT, **facts, **meta})

    def _renumbered_links(
        self, number_of: NDArray[np.int32], hashes: NDArray[np.int64], pages: int
    ) -> dict[str, Column]:
        old = self._columns["link_urls"].array()
        types = {"link_urls": "i4", "link_targets": "i4", "link_hashes": "i8"}
        columns = {name: self._spills.column(type_) for name, type_ in types.items()}
        for low in range(0, len(old), CHUNK):
            numbers = number_of[old[low : low + CHUNK]]
            columns["link_urls"].append(numbers)
            columns["link_targets"].append(np.where(numbers < pages, numbers, -1))
            columns["link_hashes"].append(hashes[numbers])
        return columns

    def _topic_columns(self) -> dict[str, Column]:
        topics = sorted(self._labels)
        rows = [np.array(sorted(self._labels[topic]), np.int32) for topic in topics]
        columns = StringColumn(self._spills, topics).columns("topic")
        columns["topic_pages"] = self._spills.column("i4", np.concatenate([np.zeros(0, np.int32), *rows]))
        columns["topic_page_offsets"] = self._spills.column("i8", np.cumsum([0, *map(len, rows)]))
        return columns

    def _judged_columns(self, judgements: Judgements) -> dict[str, Column]:
        millionths, is_relevant = np.full(len(self), NOT_JUDGED, np.int32), np.zeros(len(self), np.uint8)
        for url, (relevance, is_called_relevant) in judgements.by_url.items():
            if (page := self._page(url)) >= 0 and page not in self._redirected:
                millionths[page], is_relevant[page] = round(relevance * MILLION), is_called_relevant
        column = self._spills.column
        return {"judged_millionths": column("i4", millionths), "judged_relevant": column("u1", is_relevant)}

    def _page(self, url: str) -> int:
        return int(self._pages.find(np.array([url_hash(url)]))[0])

    def _number_urls(self, urls: Sequence[str], hashes: NDArray[np.int64]) -> NDArray[np.int64]:
        numbers, new = self._urls.add(urls, hashes)
        hosts = self._hosts
        self._url_hosts.append([hosts.setdefault(host_key(url), len(hosts)) for url in new])
        return numbers

    def _add_terms(self, terms: Mapping[str, int]) -> None:
        self._columns["term_ids"].append(self._numbered(terms))
        self._columns["term_counts"].append(np.fromiter(terms.values(), np.int32, len(terms)))

    def _numbered(self, terms: Collection[str]) -> NDArray[np.int32]:
        """Their numbers in the vocabulary, which new ones join."""
        known = self._term_numbers
        new = [term for term in dict.fromkeys(terms) if term not in known]
        for term in new:
            known[term] = len(known)
        self._terms.append(new)
        return np.fromiter(map(known.__getitem__, terms), np.int32, len(terms))

    def _add_record(self, url: str, **values: int) -> None:
        value = np.array([url_hash(url)])
        page, is_new = self._pages.find_or_add(value, len(self._page_urls))
        assert is_new[0], f"{url} is recorded twice, as page {page[0]}"
        self._page_urls.append(self._number_urls([url], value))
        columns = self._columns
        values["link_offsets"] = len(columns["link_urls"])
        values["page_term_offsets"] = len(columns["term_ids"])
        for name in PAGE_COLUMNS:
            columns[name].append(values.get(name, 0))
        columns["lead_offsets"].append(len(columns["lead_terms"]))


def _text_hashes(texts: Sequence[str]) -> NDArray[np.int64]:
    digests = [blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), np.int64)
