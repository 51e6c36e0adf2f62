"""lycosa topics explore: pages near a topic's examples that might be examples, too; and what surrounds the topic.

What a crawl or a world knows is looked up there. What is not known is fetched by a crawl like any other, which starts
from the examples and goes no further than a few links; pages of the given crawl come from its archive.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.table import Table

from lycosa.cli.fetch_progress import FetchProgress
from lycosa.cli.opened import opened
from lycosa.cli.settings import CONFIG, HOW_TO_FETCH, SETTING, how_to_fetch
from lycosa.cli.terminal import err, out, plain
from lycosa.cli.topic_examples import BOOK, existing_book
from lycosa.config import Layer, build
from lycosa.engine import Crawl
from lycosa.errors import ArchiveError, InputError, SeedError
from lycosa.fetch.cache import PageCache
from lycosa.fetch.urls import UrlRules, Urls, url_hash
from lycosa.fetch.warc_reader import Location
from lycosa.fetch.warc_reader import read as read_archived
from lycosa.lab.worlds.world import World
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.opening import open_store
from lycosa.store.protocol import Reports
from lycosa.store.rows import ArchivePlace
from lycosa.topics.further_examples import Candidate, Near, Proposal, distinctive_words, further_examples, within
from lycosa.topics.start import starting_examples
from lycosa.topics.suggest import JudgedPage, neighbouring_topics

MOST_READ = 1_000
"""Maximum number of pages near the examples that are read again from a crawl's archive: the nearest."""
LONGEST_REST = 30.0
"""Seconds that all hosts may rest: beyond it, what has arrived must do."""
MOST_STARTS = 30
"""Maximum number of examples whose neighbourhood is fetched."""


def explore(
    topic: str = typer.Argument(help="The topic."),
    crawl: Path | None = typer.Option(None, "--crawl", help="Crawl whose pages need not be fetched again."),
    world: Path | None = typer.Option(None, "--world", "-w", help="World to search; nothing is fetched then."),
    distance: int = typer.Option(2, "--distance", min=1, help="Maximum number of links between a page and an example."),
    fetches: int = typer.Option(100, "--fetch", min=0, help="Maximum number of pages to fetch around the examples."),
    count: int = typer.Option(20, "--count", "-n", help="Number of URLs to suggest."),
    book: Path = BOOK,
    config_file: Path | None = CONFIG,
    setting: list[str] = SETTING,
    as_json: bool = typer.Option(False, "--json", help="The suggestions as a JSON list."),
) -> None:
    """Suggest further examples for a topic: pages near its examples, a link or two away, that share its words.

    Pages that are not known are fetched as a crawl fetches them, with its settings (--config, --set; by default those
    of --crawl); --fetch 0 fetches nothing. For a crawl, also show which other topics surround the topic.
    """
    with existing_book(book) as opened_book:
        path = opened_book.taxonomy().resolve(topic)
        with opened_book.examples() as stream:
            words = distinctive_words(stream, path)
        urls = Urls(UrlRules())
        examples = {urls.canonical(url)[0] or url for url in opened_book.example_urls(path)}
    candidates: Iterable[Candidate]
    if world is not None:
        candidates = _in_world(World.open(world), examples, distance)
    else:
        if not crawl and not fetches:
            raise InputError(
                "nothing to search: give --crawl DIR or --world FILE, or let pages be fetched: --fetch 100"
            )
        settings = how_to_fetch(config_file, setting, *([_settings_of(crawl)] if crawl else []))
        around = Surroundings(book, path, " ".join(words), distance, fetches, settings)
        candidates = chain(
            _in_crawl(crawl, examples, distance) if crawl else (),
            around.fetched(crawl, examples) if fetches else (),
        )
    proposals = further_examples(candidates, words, known=examples, count=count)
    if as_json:
        print(json.dumps([each._asdict() for each in proposals]))
        return
    _print_proposals(proposals, distance)
    if crawl is not None:
        _print_surroundings(crawl, path)


def _print_proposals(proposals: list[Proposal], distance: int) -> None:
    if not proposals:
        out.print(f"no page within {distance} links of the examples shares the topic's words")
        return
    table = Table("score", "links", "title", "shared words", "url", box=None, pad_edge=False, header_style="dim")
    for each in proposals:
        shared = plain(" ".join(each.words), 40)
        table.add_row(f"{each.score:.2f}", str(each.distance), plain(each.title, 50), shared, plain(each.url, 70))
    out.print(table)


def _print_surroundings(crawl: Path, path: str) -> None:
    with opened(crawl) as (_, _, store):
        pages = (JudgedPage(json.loads(page.scores), page.citing) for page in store.topic_scores())
        around = neighbouring_topics(pages, [path])
    out.print(
        f"of {around.pages:,} pages that relevant pages link to, {around.focus:.0%} are on the topic; the others:"
    )
    for near in around.neighbours:
        out.print(f"  {near.share:5.1%} {plain(near.topic)} [dim]({near.share_elsewhere:.1%} elsewhere)[/]")
    for advice in around.advice:
        out.print(f"[yellow]advice:[/] {plain(advice.reason)}")


def _in_world(world: World, examples: Collection[str], distance: int) -> Iterator[Candidate]:
    starts = [page for url in examples if (page := world.page_of(url)) is not None]
    links = np.column_stack([world.graph.sources, world.graph.pages.astype(np.int64)])
    for page, near in within(lambda: [links], starts, distance).items():
        yield Candidate(world.url(page), world.title(page), world.terms(page), near=near)


def _in_crawl(crawl: Path, examples: Collection[str], distance: int) -> Iterator[Candidate]:
    with opened(crawl) as (workspace, _, store):
        starts = store.pages_with([url_hash(url) for url in examples]).values()
        yield from _near(store, workspace.archive, starts, distance)


def _near(store: Reports, archive: Path, starts: Collection[int], distance: int) -> Iterator[Candidate]:
    """The pages of a crawl near some of its pages, read from its archive."""
    pages = ArchivedPages.of_text(archive, store)
    for place, near in _nearest(store, starts, distance):
        again, link = pages.at(place.file, place.offset), store.link(place.page_id)
        if again is not None and again.page is not None and link is not None:
            yield Candidate(link.url, again.page.title, again.page.terms, link.anchor, near)


def _nearest(store: Reports, starts: Collection[int], distance: int) -> list[tuple[ArchivePlace, Near]]:
    near = within(store.citations, starts, distance)
    found = [(place, near[place.page_id]) for place in store.archive_places() if place.page_id in near]
    return sorted(found, key=lambda each: (each[1].distance, -each[1].links))[:MOST_READ]


def _settings_of(crawl: Path) -> Layer:
    with opened(crawl) as (_, config, _):
        sections = tomllib.loads(config.to_toml())
    return str(crawl), {name: part for name, part in sections.items() if name in HOW_TO_FETCH}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is fetched around a topic's examples."""

    book: Path
    topic: str
    words: str
    """Words of the topic, by which the most promising links are fetched first."""
    distance: int
    fetches: int
    settings: Mapping[str, Any]

    def fetched(self, crawl: Path | None, examples: Collection[str]) -> Iterator[Candidate]:
        """Pages around the examples. Those of a crawl are not fetched again. Ctrl-C ends it with what has arrived."""
        urls = Urls(build(("settings", self.settings)).urls)
        try:
            seeds = starting_examples(self.book, [self.topic], urls, most=MOST_STARTS).seeds
        except SeedError:
            if crawl is None:
                raise
            return  # what the crawl knows is all there is
        with tempfile.TemporaryDirectory(prefix="lycosa-") as directory:
            settings, known = dict(self.settings), 0
            if crawl is not None and not settings["cache"]:
                settings["cache"] = str(Path(directory, "cache"))
                known = self._fill(Path(directory, "cache"), crawl, examples)
            plan = {
                "budget": {"pages": len(seeds) + known + self.fetches},
                "frontier": {"max_distance": self.distance},
                "stall": {"longest_rest": LONGEST_REST},
                "constants": {"hunter.home_pages": False},  # only what is near by links
            }
            around = Crawl(
                self.words,
                seeds=seeds,
                directory=Path(directory, "crawl"),
                config={},
                layers=[("settings", settings), ("explore", plan)],
            )
            try:
                around.run(watcher=FetchProgress(len(seeds) + known + self.fetches))
            except (asyncio.CancelledError, KeyboardInterrupt):
                err.print("interrupted: suggestions are from what has arrived")
                if not around.workspace.has_crawl:
                    return
            with closing(open_store(around.workspace, read_only=True)) as store:
                starts = [link.id for link in store.links() if not link.distance]
                yield from _near(store, around.workspace.archive, starts, self.distance)

    def _fill(self, cache: Path, crawl: Path, examples: Collection[str]) -> int:
        """Put the examples and the pages near them that a crawl has into a page cache; how many."""
        with opened(crawl) as (workspace, _, store), PageCache(cache) as filled:
            starts = set(store.pages_with([url_hash(url) for url in examples]).values())
            own = [place for place in store.archive_places() if place.page_id in starts]
            places = [*own, *(place for place, _ in _nearest(store, starts, self.distance))]
            for place in places:
                with suppress(ArchiveError):  # a damaged record is fetched again
                    filled.put(read_archived(workspace.archive, Location(place.file, place.offset, 0)))
            return len(places)
