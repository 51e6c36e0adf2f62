"""A recorded web in one file: graph, words, anchors, labels. Opened in a millisecond, whatever its size.

    world = World.open(Path("wiki.world"))
    page = world.page_of("http://wikispeedia.test/wp/b/Bicycle.htm")
    world.title(page), world.terms(page)["wheel"], len(world.links(page))
    world.pages_of("Science/Biology/Birds")

Pages are numbered from 0, in the order of the archive: documents, and redirects with their targets. URLs are numbered
too: the URL of a page has the page's number, those only linked to follow. Arrays are mapped into memory and read-only;
bodies are not here but in the WARC files. `writer` defines the layout of the file.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.fetch.urls import url_hash
from lycosa.lab.generated.graph import distances
from lycosa.lab.worlds.container import AnyArray, Container
from lycosa.lab.worlds.lazy import PageLead, PageLinks, PageTerms, Strings
from lycosa.lab.worlds.writer import (
    FORMAT,
    LINK_COLUMNS,
    MILLION,
    NO_FOLLOW,
    NO_INDEX,
    NOT_JUDGED,
    PAGE_COLUMNS,
    TERM_COLUMNS,
)
from lycosa.lib.languages import stemmed_as
from lycosa.lib.nearest import nearest
from lycosa.model import Link, Page

STRINGS = ("url", "text", "term", "host", "topic")
OTHERS = ("link_targets", "link_hashes", "url_hashes", "url_hosts", "hash_order", "topic_pages", "topic_page_offsets")
MAX_HOPS = 5
"""Maximum number of redirects in a row that `graph` follows."""

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class Edges(NamedTuple):
    """The neighbours of page i are pages[offsets[i] : offsets[i + 1]]."""

    offsets: Longs
    pages: Ints

    def of(self, page: int) -> Ints:
        return self.pages[self.offsets[page] : self.offsets[page + 1]]

    @property
    def sources(self) -> Longs:
        """By edge: the page it starts from."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


class TermMatrix(NamedTuple):
    """Term counts by page, as arguments of `scipy.sparse.csr_array((data, indices, indptr))`."""

    data: Ints
    indices: Ints
    """Term numbers, in the order of the reader."""
    indptr: Longs


class World:
    """See the module. Created by `open`; sent to another process, it is opened again there."""

    def __init__(self, container: Container) -> None:
        arrays = container.arrays
        self.path = container.path
        self.meta = container.meta
        self._container = container
        self._titles, self._beginnings, self._languages = arrays["titles"], arrays["beginnings"], arrays["languages"]
        self._locations, self._canonicals, self._flags = arrays["locations"], arrays["canonicals"], arrays["flags"]
        self._anchors, self._contexts = arrays["anchors"], arrays["contexts"]
        self._paths, self._rels = arrays["paths"], arrays["rels"]
        none = np.zeros(0, np.int64)
        self._other_anchor_links = arrays.get("other_anchor_links", none)
        self._other_anchors = arrays.get("other_anchors", none)
        self._lead_terms = arrays.get("lead_terms", none)
        self._lead_offsets = arrays.get("lead_offsets", np.zeros(len(arrays["status"]) + 1, np.int64))
        self._judged = arrays.get("judged_millionths")
        self.judged_relevant: NDArray[np.uint8] | None = arrays.get("judged_relevant")
        """By page: 1 if it was called relevant."""
        self._hash_order = arrays["hash_order"]
        self._topic_pages, self._topic_offsets = arrays["topic_pages"], arrays["topic_page_offsets"]
        self.statuses: NDArray[np.int16] = arrays["status"]
        self.fingerprints: NDArray[np.uint64] = arrays["fingerprints"]
        self.words: Ints = arrays["words"]
        self.link_offsets: Longs = arrays["link_offsets"]
        self.link_urls: Ints = arrays["link_urls"]
        """By link: the number of its URL."""
        self.link_targets: Ints = arrays["link_targets"]
        """By link: its page; -1 if that is not recorded."""
        self.link_hashes: Longs = arrays["link_hashes"]
        self.url_hashes: Longs = arrays["url_hashes"]
        """By URL number: `url_hash`."""
        self.url_hosts: Ints = arrays["url_hosts"]
        """By URL number: the number of its host."""
        self.host_of: Ints = self.url_hosts[: len(self)]
        """By page: the number of its host."""
        urls, texts, terms, hosts, topics = (Strings(arrays[f"{n}_bytes"], arrays[f"{n}_offsets"]) for n in STRINGS)
        self.urls = urls
        """By URL number, recorded ones first."""
        self._texts = texts
        self._terms = terms
        self._term_offsets: Longs = arrays["page_term_offsets"]
        self._term_ids: Ints = arrays["term_ids"]
        self._term_counts: Ints = arrays["term_counts"]
        self.hosts: Sequence[str] = hosts
        """Names by number, including hosts that are only linked to."""
        self.topics: list[str] = list(topics)
        self._topic_numbers = {name: number for number, name in enumerate(self.topics)}

    @classmethod
    def open(cls, path: Path | str) -> World:
        """Raises InputError for a file that is not a world, or not a whole one."""
        container = Container(Path(path))
        names = {*PAGE_COLUMNS, *LINK_COLUMNS, *TERM_COLUMNS, *OTHERS}
        names |= {f"{name}_{part}" for name in STRINGS for part in ("bytes", "offsets")}
        if container.meta.get("format") != FORMAT or not names <= container.arrays.keys():
            raise InputError(f"{path} was written by another version of Lycosa; rebuild it from its WARC files")
        return cls(container)

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return World.open, (self.path,)

    def __len__(self) -> int:
        """Number of pages, redirects included."""
        return len(self.statuses)

    def verify(self) -> None:
        """Read the whole file and compare it with its checksums; InputError if it is damaged."""
        self._container.verify()

    # ── pages ─────────────────────────────────────────────────────────────────────────────────────────────

    def url(self, page: int) -> str:
        return self.urls[page]

    def page_of(self, url: str) -> int | None:
        """The page with this canonical URL."""
        number = int(self.number_of_hash(np.array([url_hash(url)]))[0])
        return number if 0 <= number < len(self) else None

    def number_of_hash(self, hashes: Longs) -> Ints:
        """The numbers of the URLs with these hashes; -1 for URLs neither recorded nor linked to."""
        places = np.minimum(np.searchsorted(self._sorted_hashes, hashes), len(self._hash_order) - 1)
        return np.where(self._sorted_hashes[places] == hashes, self._hash_order[places], -1).astype(np.int32)

    @cached_property
    def _sorted_hashes(self) -> Longs:
        return self.url_hashes[self._hash_order]

    def status(self, page: int) -> int:
        return int(self.statuses[page])

    def is_redirect(self, page: int) -> bool:
        return self.status(page) >= 300

    def location(self, page: int) -> str:
        """Target of a redirect; empty for a document."""
        return self._texts[int(self._locations[page])]

    def title(self, page: int) -> str:
        return self._texts[int(self._titles[page])]

    def page(self, page: int) -> Page:
        """The document as the reader returned it, without rejected URLs and counts of dropped links; of its text, the
        first words.

        Links and terms are decoded on first use.
        """
        low, high = self.link_offsets[page : page + 2].tolist()
        flags = int(self._flags[page])
        language = self._texts[int(self._languages[page])]
        return Page(
            url=self.urls[page],
            title=self.title(page),
            language=language,
            links=self.links(page),
            canonical=self._texts[int(self._canonicals[page])],
            is_noindex=bool(flags & NO_INDEX),
            is_nofollow=bool(flags & NO_FOLLOW),
            fingerprint=int(self.fingerprints[page]),
            terms=PageTerms(partial(self.terms, page)),
            words=int(self.words[page]),
            link_hashes=self.link_hashes[low:high].tobytes(),
            stemmed_in=stemmed_as(language),
            beginning=self._texts[int(self._beginnings[page])],
            lead=self._lead_of(page),
        )

    # ── links ─────────────────────────────────────────────────────────────────────────────────────────────

    def links(self, page: int) -> PageLinks:
        low, high = self.link_offsets[page : page + 2].tolist()
        return PageLinks(high - low, partial(self._links, low, high))

    def anchor(self, edge: int) -> str:
        return self._texts[int(self._anchors[edge])]

    def _links(self, low: int, high: int) -> list[Link]:
        """The links of the page whose edges go from `low` up to `high`."""
        texts = self._texts.many
        links = list(
            map(
                Link,
                self.urls.many(self.link_urls[low:high]),
                texts(self._anchors[low:high]),
                texts(self._contexts[low:high]),
                texts(self._paths[low:high]),
                texts(self._rels[low:high]),
                range(high - low),
            )
        )
        first, last = np.searchsorted(self._other_anchor_links, [low, high]).tolist()
        for edge, anchor in zip(
            self._other_anchor_links[first:last].tolist(), texts(self._other_anchors[first:last]), strict=True
        ):
            links[edge - low] = links[edge - low]._replace(other_anchors=(*links[edge - low].other_anchors, anchor))
        return links

    @cached_property
    def nofollow(self) -> NDArray[np.bool_]:
        """By link: whether it or its page says nofollow."""
        rels = np.unique(self._rels)
        vetoes = [rel for rel in rels.tolist() if "nofollow" in self._texts[rel].split()]
        is_vetoed = np.repeat((self._flags & NO_FOLLOW) > 0, np.diff(self.link_offsets))
        return is_vetoed | np.isin(self._rels, vetoes)

    @cached_property
    def graph(self) -> Edges:
        """Links between documents, each pair once, without self-links, redirects followed."""
        sources = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.link_offsets))
        is_inside = self.link_targets >= 0
        sources = sources[is_inside]
        targets = self._documents[self.link_targets[is_inside]]
        is_edge = (targets >= 0) & (targets != sources)
        return _edges(sources[is_edge], targets[is_edge], len(self))

    @cached_property
    def back_graph(self) -> Edges:
        """`graph` the other way round: who links to a page."""
        return _edges(self.graph.pages.astype(np.int64), self.graph.sources, len(self))

    @cached_property
    def _documents(self) -> Longs:
        """By page: the document it leads to, following redirects; -1 for none."""
        following = np.arange(len(self), dtype=np.int64)
        for page in (self.statuses >= 300).nonzero()[0].tolist():
            following[page] = -1 if (found := self.page_of(self.location(page))) is None else found
        documents = following.copy()
        for _ in range(MAX_HOPS - 1):
            documents = np.where(documents >= 0, following[documents], -1)
        documents[(documents >= 0) & (self.statuses[documents] >= 300)] = -1
        return documents

    def distances(self, starts: Sequence[int] | AnyArray, *, is_backward: bool = False, limit: int = 1 << 30) -> Ints:
        """By page: links from the nearest start (backward: to it), -1 where none leads there within the limit."""
        return distances(*(self.back_graph if is_backward else self.graph), starts, limit=limit)

    # ── words ─────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def vocabulary(self) -> list[str]:
        """Terms by number."""
        return list(self._terms)

    def terms(self, page: int) -> dict[str, int]:
        """Stems of title and text, with their counts."""
        low, high = self._term_offsets[page : page + 2].tolist()
        names = map(self.vocabulary.__getitem__, self._term_ids[low:high].tolist())
        return dict(zip(names, self._term_counts[low:high].tolist(), strict=True))

    def _lead_of(self, page: int) -> PageLead:
        low, high = self._lead_offsets[page : page + 2].tolist()
        return PageLead(high - low, partial(self._lead, low, high))

    def _lead(self, low: int, high: int) -> list[str]:
        return list(map(self.vocabulary.__getitem__, self._lead_terms[low:high].tolist()))

    @cached_property
    def judged_relevance(self) -> NDArray[np.float32] | None:
        """By page: what the judge of the crawl said that the world was made of; NaN: nothing. None: no such crawl."""
        if self._judged is None:
            return None
        return np.where(self._judged == NOT_JUDGED, np.nan, self._judged / MILLION).astype(np.float32)

    def term_matrix(self) -> TermMatrix:
        return TermMatrix(self._term_counts, self._term_ids, self._term_offsets)

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────

    def pages_of(self, *topics: str) -> Ints:
        """The pages with any of these labels, in order."""
        found = []
        for topic in topics:
            number = self._topic_numbers.get(topic)
            if number is None:
                raise InputError(f"{self.path.name} has no topic {topic!r}{self._nearest(topic)}")
            found.append(self._topic_pages[self._topic_offsets[number] : self._topic_offsets[number + 1]])
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))

    def topics_of(self, page: int) -> list[str]:
        pages, topics = self._topics_by_page
        low, high = np.searchsorted(pages, [page, page + 1]).tolist()
        return [self.topics[number] for number in topics[low:high].tolist()]

    @cached_property
    def _topics_by_page(self) -> tuple[Ints, Ints]:
        topics = np.repeat(np.arange(len(self.topics), dtype=np.int32), np.diff(self._topic_offsets))
        order = np.argsort(self._topic_pages, kind="stable")
        return self._topic_pages[order], topics[order]

    def match(self, *patterns: str) -> list[str]:
        """Topics by name or by patterns such as `Science/Biology/*`; InputError if a pattern matches none."""
        found: dict[str, None] = {}
        for pattern in patterns:
            matching = [topic for topic in self.topics if topic == pattern or fnmatch.fnmatchcase(topic, pattern)]
            if not matching:
                raise InputError(f"no topic of {self.path.name} matches {pattern!r}{self._nearest(pattern)}")
            found.update(dict.fromkeys(matching))
        return list(found)

    def _nearest(self, name: str) -> str:
        if not self.topics:
            return ": it was built without labels"
        near = nearest(name.strip("*/"), self.topics, count=3, cutoff=0.3) or self.topics[:3]
        return f"; the nearest are {', '.join(near)}"


def _edges(sources: Longs, targets: Longs, pages: int) -> Edges:
    """Both sorted, each pair once."""
    pairs = sources * pages + targets
    pairs.sort()  # np.unique takes a minute, and gigabytes, for tens of millions
    if len(pairs):
        pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])]
    first, second = np.divmod(pairs, max(1, pages))
    offsets = np.zeros(pages + 1, np.int64)
    np.cumsum(np.bincount(first, minlength=pages), out=offsets[1:])
    return Edges(offsets, second.astype(np.int32))
