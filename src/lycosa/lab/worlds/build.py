"""Worlds from WARC files and labels, and from generated webs.

    report = build([Path("pages.warc.gz")], Path("labels.tsv"), Path("wiki.world"))

Every response goes through the reader of the crawl (`crawl.reading`): a replayed page is the page a crawl would have
seen. Records that are left out are counted by reason. Pages are numbered in the order of the archive, however many
processes read: the same files give the same world.

Pages are read twice: the first time to learn what stands on many pages of a host. In a replay, furniture is thus known
from the whole recording, while a live crawl comes to know it page by page.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import urljoin

import numpy as np

from lycosa.crawl.reader_pool import InlineReader, Readers
from lycosa.crawl.reading import Reading
from lycosa.errors import InputError
from lycosa.fetch.fetcher import FetchSettings
from lycosa.fetch.headers import REDIRECTS
from lycosa.fetch.urls import UrlRules, Urls, host_key, origin, url_hash
from lycosa.fetch.warc_reader import Damage, iterate
from lycosa.judges.protocol import NoJudge
from lycosa.lab.generated.addresses import WebAddresses
from lycosa.lab.generated.prose import Prose
from lycosa.lab.generated.vocabulary import topics
from lycosa.lab.generated.web import GeneratedWeb
from lycosa.lab.worlds.writer import Judgements, WorldWriter
from lycosa.lib.hashindex import HashIndex
from lycosa.model import Fetched, Kind, Lease, Outcome, Page, Response, Visit
from lycosa.page.furniture import Furniture

DUPLICATE = "duplicate URL"
NOT_HTML = "not HTML"
DAMAGED = "damaged record"
OVERSIZED = "oversized record"
ROBOTS = "robots.txt"
RENDERED_PAGES = 20_000
"""Generated webs up to this size are rendered and read; of larger ones only graph and titles are used."""

SKETCHED_AT_ONCE = 1 << 14

Item = TypeVar("Item")
Progress = Callable[[int], None]
"""Called with the number of records seen so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """Counts of records and of rows of labels."""

    pages: int
    """Documents, without redirects."""
    redirects: int
    links: int
    """Links of all pages, also to URLs that are not recorded."""
    topics: int
    skipped: Mapping[str, int]
    """Records left out, by reason: `duplicate URL`, `not HTML`, `http 404`, `damaged record`, …"""
    labels_unknown: int = 0
    """Rows whose URL is not a document of this world."""
    labels_malformed: int = 0
    """Rows without a URL or without a topic."""


@dataclass(slots=True)
class _Tally:
    skipped: Counter[str] = field(default_factory=Counter)
    unknown: int = 0
    malformed: int = 0

    def report(self, writer: WorldWriter) -> BuildReport:
        return BuildReport(
            pages=writer.documents,
            redirects=writer.redirects,
            links=writer.links,
            topics=writer.topics,
            skipped=dict(self.skipped.most_common()),
            labels_unknown=self.unknown,
            labels_malformed=self.malformed,
        )


def build(
    warcs: Sequence[Path],
    labels: Path | None,
    target: Path,
    *,
    rules: UrlRules | None = None,
    judgements: Judgements | None = None,
    readers: int = 2,
    progress: Progress | None = None,
) -> BuildReport:
    """Build a world file. `readers`: number of processes that read pages; 0: read in this process. `judgements`: of
    the crawl that the WARC files are of (`own_crawl`).

    On InputError no world is written, and an existing one is left unchanged.
    """
    urls = Urls(rules or UrlRules())
    rows = None if labels is None else _label_rows(labels)  # first, as it is quick and may fail
    tally = _Tally()
    with _writer(target) as writer:
        furniture = asyncio.run(_furniture(_responses(warcs, _Tally()), urls, readers))
        responses = _progressing(_responses(warcs, tally), progress)
        asyncio.run(_read_all(responses, writer, tally, urls, readers, furniture))
        if not writer.documents:
            raise InputError(f"{_names(warcs)}: no page to build a world from{_reasons(tally.skipped)}")
        if rows is not None:
            _label(writer, rows, urls, tally)
        if judgements is not None:
            writer.judge(judgements)
        writer.finish({"source": [path.name for path in warcs]})
        return tally.report(writer)


def build_generated(
    web: GeneratedWeb,
    target: Path,
    *,
    is_rendered: bool | None = None,
    readers: int = 2,
    progress: Progress | None = None,
) -> BuildReport:
    """Turn a generated web into a world. Every page is recorded, including those robots.txt disallows.

    Rendered, each page is written as HTML and read as in a crawl, with terms, contexts, dead links and redirects. Not
    rendered, which takes a fiftieth of the time and is the default for large webs, a page has its links with the
    titles of their targets as anchors, and the words of its title as terms.
    """
    if is_rendered is None:
        is_rendered = len(web) <= RENDERED_PAGES
    urls = Urls(UrlRules())
    tally = _Tally()
    with _writer(target) as writer:
        if is_rendered:
            furniture = asyncio.run(_furniture(_pages_of(web), urls, readers))
            asyncio.run(_read_all(_progressing(_pages_of(web), progress), writer, tally, urls, readers, furniture))
            others = (_rendered(web, url) for url in list(writer.unrecorded()))
            moved = (response for response in others if response.status in REDIRECTS)
            asyncio.run(_read_all(moved, writer, tally, urls, 0, furniture))
        else:
            _sketch(web, writer, progress)
        names = web.topic_names
        for page, topic in enumerate(web.graph.topic.tolist()):
            if topic >= 0:
                writer.label_page(page, names[topic])
        writer.finish({"source": [f"generated, seed {web.plan.seed}"]})
        return tally.report(writer)


def _writer(target: Path) -> WorldWriter:
    if not target.parent.is_dir():
        raise InputError(f"cannot write {target}: there is no directory {target.parent}")
    return WorldWriter(target)


# ── records ───────────────────────────────────────────────────────────────────────────────────────────────


def _responses(warcs: Sequence[Path], tally: _Tally) -> Iterator[Response]:
    for path in warcs:
        damage = Damage()
        seen = 0
        for response in iterate(path, damage=damage):
            seen += 1
            yield response
        if not seen and (damage.damaged or not damage.others):
            raise InputError(
                f"{path} is damaged: none of its records can be read"
                if damage.damaged
                else f"{path} has no HTTP response; is it a WARC file of a crawl?"
            )
        tally.skipped[DAMAGED] += damage.damaged
        tally.skipped[OVERSIZED] += damage.oversized
    tally.skipped += Counter()  # drops zeros


class _HostFurniture:
    """The furniture of each host of a recording, by name: of all its pages, not only of the latest ones."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._furniture = Furniture(window=sys.maxsize, max_blocks_in_all=sys.maxsize, max_hosts=sys.maxsize)

    def add(self, page: Page) -> None:
        self._furniture.add(self._numbers.setdefault(host_key(page.url), len(self._numbers)), page.blocks)

    def of(self, url: str) -> bytes:
        return self._furniture.of(self._numbers.get(host_key(url), -1))


async def _furniture(responses: Iterable[Response], urls: Urls, readers: int) -> _HostFurniture:
    furniture = _HostFurniture()
    seen = HashIndex()

    def is_known(url: str) -> bool:
        return not seen.find_or_add(np.array([url_hash(url)]), 0)[1][0]

    chosen = (each for each in _chosen(responses, is_known, _Tally(), urls) if each.outcome.kind is Kind.FETCHED)
    async for visit in _visits(chosen, Reading(urls=urls, judge=NoJudge()), readers, _HostFurniture()):
        if visit.page is not None:
            furniture.add(visit.page)
    return furniture


async def _read_all(
    responses: Iterable[Response],
    writer: WorldWriter,
    tally: _Tally,
    urls: Urls,
    readers: int,
    furniture: _HostFurniture,
) -> None:
    """Add every response that is a page or a redirect, in order, while the next ones are read."""
    chosen = _chosen(responses, writer.has, tally, urls)
    async for visit in _visits(chosen, Reading(urls=urls, judge=NoJudge()), readers, furniture):
        outcome, page = visit.outcome, visit.page
        if outcome.kind is Kind.REDIRECTED:
            writer.add_redirect(visit.lease.url, status=outcome.status, location=outcome.location)
        elif page is None:
            tally.skipped[outcome.reason] += 1
        elif writer.has(page.url):
            # The first record was still being read when this one was chosen.
            tally.skipped[DUPLICATE] += 1
        else:
            writer.add_page(page, status=outcome.status)


def _chosen(
    responses: Iterable[Response], is_known: Callable[[str], bool], tally: _Tally, urls: Urls
) -> Iterator[Fetched]:
    """The responses that belong into the world, with canonical URLs; the others are counted."""
    types = FetchSettings().content_types
    for response in responses:
        url, reason = urls.canonical(response.url)
        is_redirect = response.status in REDIRECTS and bool(response.header("location"))
        kind = response.header("content-type").partition(";")[0].strip().lower()
        if reason:
            skipped = f"URL: {reason}"
        elif url == f"{origin(url)}/robots.txt":
            skipped = ROBOTS
        elif not 200 <= response.status < 300 and not is_redirect:
            skipped = f"http {response.status}"
        elif kind and kind not in types and not is_redirect:
            skipped = NOT_HTML
        elif is_known(url):
            skipped = DUPLICATE
        else:
            skipped = ""
        if skipped:
            tally.skipped[skipped] += 1
            continue
        outcome = Outcome(Kind.FETCHED, f"http {response.status}", status=response.status)
        if is_redirect:
            location = _location(url, response.header("location"), urls)
            outcome = Outcome(Kind.REDIRECTED, f"http {response.status}", status=response.status, location=location)
        lease = Lease(id=0, url=url, host=0, score=0.0, distance=0, tries=0, redirects=0)
        yield Fetched(lease, outcome, replace(response, url=url))


def _location(url: str, location: str, urls: Urls) -> str:
    try:
        joined = urljoin(url, location)
    except ValueError:
        joined = location
    return urls.canonical(joined)[0] or joined


async def _visits(
    chosen: Iterator[Fetched], reading: Reading, readers: int, furniture: _HostFurniture
) -> AsyncIterator[Visit]:
    """Read in several processes and yield in order; the number in memory is limited."""
    pool = Readers(reading, count=readers, whole_pages=True) if readers else None
    reader = pool or InlineReader(reading)
    waiting: deque[asyncio.Task[Visit]] = deque()
    try:
        if pool:
            await pool.start()
        for fetched in chosen:
            waiting.append(asyncio.create_task(reader.read(fetched, furniture.of(fetched.lease.url))))
            if len(waiting) > 8 * readers:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await reader.close()


def _progressing(items: Iterable[Item], progress: Progress | None) -> Iterator[Item]:
    for number, item in enumerate(items, 1):
        yield item
        if progress is not None:
            progress(number)


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(path.name for path in paths[:3]) + (", …" if len(paths) > 3 else "") or "no WARC file given"


def _reasons(skipped: Mapping[str, int]) -> str:
    return "; skipped: " + ", ".join(f"{count} ({why})" for why, count in skipped.items()) if skipped else ""


# ── labels ────────────────────────────────────────────────────────────────────────────────────────────────


def _label_rows(path: Path) -> list[tuple[str, str]]:
    """URL and topic of each row; empty if the row has none."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error
    header = [name.strip().lower() for name in lines[0].split("\t")] if lines else []
    if not {"url", "topic"} <= set(header):
        found = f"its first line is {lines[0][:80]!r}" if lines else "it is empty"
        raise InputError(f"{path}: the first line must name the columns url and topic, separated by a tab; {found}")
    at_url, at_topic = header.index("url"), header.index("topic")
    rows = []
    for line in lines[1:]:
        if line.strip():
            cells = [*line.split("\t"), *[""] * len(header)]
            rows.append((cells[at_url].strip(), cells[at_topic].strip().strip("/")))
    return rows


def _label(writer: WorldWriter, rows: Iterable[tuple[str, str]], urls: Urls, tally: _Tally) -> None:
    for written, topic in rows:
        url = urls.canonical(written)[0]
        if not url or not topic:
            tally.malformed += 1
        elif not writer.label(url, topic):
            tally.unknown += 1


# ── generated webs ────────────────────────────────────────────────────────────────────────────────────────


def _pages_of(web: GeneratedWeb) -> Iterator[Response]:
    return (_rendered(web, web.url(page)) for page in range(len(web)))


def _rendered(web: GeneratedWeb, url: str) -> Response:
    answer = web.render(url)
    headers = tuple((name.lower(), value) for name, value in answer.headers)
    return Response(url, answer.status, headers, answer.body)


def _sketch(web: GeneratedWeb, writer: WorldWriter, progress: Progress | None) -> None:
    """Pages without their HTML, from the graph alone."""
    plan, graph, count = web.plan, web.graph, len(web)
    subjects = topics(plan.topics)
    prose = Prose(topics=subjects, topicality=plan.topicality)
    addresses = WebAddresses(plan=plan, graph=graph, topics=subjects, prose=prose)
    for low in range(0, count, SKETCHED_AT_ONCE):
        places = addresses.places(list(range(low, min(low + SKETCHED_AT_ONCE, count))))
        writer.add_sketches(
            [f"http://{addresses.hosts[place.host]}{place.path}" for place in places],
            [place.title for place in places],
        )
        if progress is not None:
            progress(len(writer))
    for low in range(0, count, SKETCHED_AT_ONCE):
        high = min(low + SKETCHED_AT_ONCE, count)
        targets = graph.target[graph.start[low] : graph.start[high]].astype(np.int64)
        sources = np.repeat(np.arange(high - low), np.diff(graph.start[low : high + 1]))
        kept = np.sort(np.unique(sources * count + targets, return_index=True)[1])  # the first of equal links
        kept = kept[sources[kept] + low != targets[kept]]
        writer.add_graph(np.bincount(sources[kept], minlength=high - low), targets[kept])
