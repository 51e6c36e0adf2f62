"""What the crawl asks of a store (`Store`), and what people and reports ask (`Reports`).

Two protocols, one implementation: every store implements `Reports`, and so `Store`. Rows are NamedTuples of `rows`,
flags are bool, and no SQL crosses this seam except in `Reports.query`, which is there for people (`lycosa sql`).
Links are known by their numbers, which count from 1 in order of discovery. A page has the number of its link, and a
second number, `number`, which counts from 1 in order of fetching. An iterator may read while it is consumed; a list,
set, dict or array has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.model import Lease, Visit
from lycosa.store import rows
from lycosa.store.damage import Flaw


class Store(Protocol):
    """What a crawl asks of its memory. One process writes."""

    path: Path
    """A file in the crawl's directory: the database, or what names it."""
    where: str
    """The database, for people to read."""
    on_wait: Callable[[str], None]
    """Told why the database keeps the crawl waiting, while it does."""

    def close(self) -> None: ...

    def passed_troubles(self) -> list[str]:
        """In words, each absence of the database that has ended since the last call."""

    # Runs and writing

    def begin_run(self, *, started_at: float, pid: int, version: str, config: str) -> int:
        """The number of the new run."""

    def end_run(self, run: int, *, ended_at: float, stop_reason: str) -> None: ...

    def was_cut_off(self) -> bool:
        """Whether the last run never ended: the process was killed."""

    def write(self, batch: rows.Batch) -> None:
        """Write everything in one transaction."""

    def shift_clocks(self, seconds: float, *, forget: str) -> None:
        """Move all rests on record by this much, as wall-clock time has moved; `forget`: the state that said so."""

    # What a crawl starts from

    def last_run(self) -> rows.RunRow | None: ...

    def latest_time(self) -> float:
        """The latest time on record; 0 if there is none."""

    def refuse_damage(self) -> None:
        """StoreError if a crawl could not begin with what is stored."""

    def hashes(self, after: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(hash, number) of every link ever seen whose number is greater than `after`."""

    def count_links(self) -> int:
        """Number of links ever seen, which is also the number of the last one."""

    def fingerprints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(fingerprint, number) of every page that has text and duplicates no other."""

    def waiting(self) -> rows.WaitingLinks: ...

    def page_ids(self) -> NDArray[np.int64]:
        """The links that have become pages, in any order."""

    def visits(self, after: int = 0) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        """The first visit to every page in order of fetching, with the numbers of its links; pages are light.

        `after`: only pages with a greater `number`. A page that a person has answered on has no guide: the answer
        guides the crawl.
        """

    def foreign_pages(self, after: int = 0) -> Iterator[rows.ForeignPage]:
        """Pages of other shards of a cluster that the strategy was told of, in that order, after the first `after`."""

    def citing_visits(self, link: int, *, parent: int | None, upto: int) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        """Of the visits to pages with a `number` up to `upto`: those to pages that cite a link, and to `parent`."""

    def hosts(self) -> Iterator[rows.HostRow]: ...

    def addresses(self) -> dict[str, float]:
        """The time at which each address is ready."""

    def robots(self) -> Iterator[rows.RobotsRow]: ...

    def state(self, name: str) -> bytes | None:
        """The named piece of state as it was last written."""

    def states(self, name: str) -> dict[int, bytes]:
        """The named piece of state, by shard; a crawl of one process is shard 0."""
        ...

    # One link, one page

    def leases(self, ids: Sequence[int]) -> list[Lease]:
        """The links with these numbers, in this order."""

    def link(self, link: int) -> rows.LinkRow | None: ...

    def page(self, link: int) -> rows.PageRow | None: ...

    def judgement(self, page: int, judge: str = "") -> rows.JudgementRow | None:
        """The judgement by this judge; without a name, by the first in alphabetical order."""

    def unvisited_links(self, page: int) -> list[rows.UnvisitedLink]:
        """Waiting links on a page that were never tried, in page order; one that occurs twice is listed twice."""

    def links_on(self, page: int) -> NDArray[np.int64]:
        """(position, link) of the links on a page, in page order; from LATER on, those it did not have at first."""

    def last_fetches(self, links: Collection[int]) -> dict[int, float]:
        """When each of these links was last tried; those never tried are missing."""

    def last_answer(self, link: int) -> rows.ArchivePlace | None:
        """Where the latest document that the link led to is archived."""

    def checks(self, page: int = 0) -> list[rows.CheckRow]:
        """Looks at pages that were fetched again, oldest first: at all pages, or at this one."""

    def lists(self) -> list[int]:
        """The links that led to feeds and sitemaps."""

    def pages_to_refresh(self) -> rows.PagesToRefresh:
        """All pages in order of fetching, with what decides when they are looked at again."""

    def answers(self, after: int = 0) -> list[rows.AnswerRow]:
        """What people said of pages, oldest first: the answers with numbers greater than `after`."""

    # What people ask of the crawl

    def commands(self, after: int = 0) -> list[rows.CommandRow]:
        """What people ask of the crawl, oldest first: the commands with numbers greater than `after`."""

    def latest_kinds(self, count: int) -> list[str]:
        """Kinds of the latest outcomes, newest first."""

    def waiting_urls(self) -> Iterator[rows.WaitingUrl]:
        """The links that wait, in order of discovery."""

    def links_marked(self, reason: str, detail: str) -> list[rows.LinkRow]:
        """The links with this reason and detail, in order of discovery."""

    # Figures

    def totals(self) -> rows.Totals: ...

    def progress(self) -> rows.Progress: ...

    def first_relevance(self, count: int) -> NDArray[np.float64]:
        """What the judge says of the first `count` pages, in order of fetching, whatever people say of them; NaN for
        pages without a judgement."""

    def recent_relevance(self, count: int) -> list[tuple[float, bool]]:
        """(relevance, is_relevant) of the last `count` pages, oldest first."""

    def relevant_by_host(self) -> dict[int, int]:
        """Number of relevant pages by host; hosts without a judged page are missing."""

    def relevant_numbers(self) -> NDArray[np.int64]:
        """The numbers of these pages, in any order."""

    def relevant_pages(self) -> Iterator[rows.RelevantPage]:
        """The pages that are relevant as things stand, in order of fetching."""

    def waiting_seeds(self) -> int:
        """Number of seeds, and of pages they redirect to, that still wait."""

    def seed_pages(self) -> list[rows.SeedPage]:
        """Fetched seeds, and pages they redirect to, in order of fetching."""

    def lost_seeds(self) -> list[rows.LostSeed]:
        """Seeds, and what they redirect to, that have no page and redirect nowhere, in order of discovery."""

    def searches(self) -> list[rows.SearchRow]:
        """The queries that search engines were asked, oldest first."""

    def search_answers(self) -> list[rows.SearchAnswerRow]:
        """What they answered, in the order of the queries."""

    def page_texts(self, count: int, *, is_relevant: bool) -> list[rows.PageTexts]:
        """Title and first anchor of the `count` latest pages that are relevant, or are not."""

    def latest_texts(self, *, titles: int, anchors: int) -> list[str]:
        """Titles of the last pages fetched, then anchors on the last pages discovered, newest first."""

    # The link graph, for the distiller

    def pages_since(self, number: int) -> rows.NewPages:
        """Pages fetched after the one with this `number`."""

    def citations(self, after: int = 0, upto: int | None = None) -> Iterator[NDArray[np.int64]]:
        """(source, target) of the links on pages with after < number ≤ upto, or on all pages; an array per chunk."""

    def judged_pages(self, judge: str = "") -> rows.JudgedPages:
        """Judgements by this judge, or by all, in order of the pages' links."""

    def judges(self) -> list[str]:
        """Names of the judges that have judged pages, in alphabetical order."""

    def topic_scores(self) -> Iterator[rows.TopicScores]:
        """Scores of every judged page, in order of the pages' links."""


class Reports(Store, Protocol):
    """What people and reports ask in addition, also while a crawl is running."""

    # One crawl, or all shards of a cluster

    def shard_of(self, number: int) -> tuple[int, int]:
        """The shard of a page, link or host, and the number that it has there."""
        ...

    def number_in(self, _shard: int, number: int) -> int:
        """The inverse: the number here of what has this number in a shard."""
        ...

    def number_of(self, link: int) -> int:
        """The number by which others know a link, where this store counts without gaps."""
        ...

    # One URL

    def find_link(self, url: str, url_hash: int) -> rows.LinkRow | None:
        """The link with this canonical URL."""

    def host(self, host: int) -> rows.HostRow | None: ...

    def outcomes(self, link: int | None = None) -> Iterator[rows.OutcomeRow]:
        """Attempts at one link, or at all of them, oldest first."""

    def citing_pages(self, link: int, count: int) -> list[rows.CitingPage]:
        """The `count` most relevant pages that link to it; unjudged ones last."""

    def citation_counts(self, link: int) -> rows.CitationCounts: ...

    def has_link(self, page: int, link: int) -> bool:
        """Whether the page links to it."""
        ...

    def found_by_search(self, link: int) -> list[rows.SearchFind]:
        """The searches that found a link, oldest first."""

    def engine_counts(self) -> list[rows.EngineCount]:
        """What came of asking each search engine, in alphabetical order."""

    def pages_with(self, hashes: Collection[int]) -> dict[str, int]:
        """The pages whose URLs have these hashes: their numbers, by URL."""

    def doubtful_pages(self, threshold: float, count: int, which: str = rows.OPEN) -> list[rows.DoubtfulPage]:
        """The `count` pages whose relevance is nearest to the threshold, and the seeds among the first `count` pages.

        Only pages that nobody was asked about (OPEN), that were skipped (SKIPPED), or that were answered or skipped
        (ASKED). Pages without text and exact duplicates are left out.
        """

    # The whole crawl

    def first_run(self) -> rows.RunRow | None: ...

    def outcome_counts(self, count: int) -> list[rows.OutcomeCount]:
        """The `count` most frequent outcomes; equally frequent ones in alphabetical order."""

    def exclusions(self, count: int) -> dict[str, int]:
        """Number of excluded links by reason: the `count` most frequent reasons, most frequent first."""

    def hosts_set_aside(self, count: int) -> dict[str, str]:
        """Why hosts were set aside, by name: the first `count` in alphabetical order."""

    def events(self, kinds: Collection[str]) -> list[rows.EventRow]:
        """Events of these kinds, oldest first."""

    def links(self) -> Iterator[rows.LinkRow]:
        """Every link seen, in order of discovery."""

    def pages(self) -> Iterator[rows.StoredPage]:
        """Every page with its judgement, in order of fetching."""

    def links_on_pages(self) -> Iterator[rows.StoredLink]:
        """Every link on every page, in order of the pages' links and in page order."""

    def sites(self) -> Iterator[rows.SiteRow]:
        """Hosts with a fetched page: those with most relevant pages first, then by density and name."""

    def archive_places(self) -> Iterator[rows.ArchivePlace]:
        """Where the archived pages are, in order of fetching."""

    def searchable_pages(self, after: int = 0) -> Iterator[rows.SearchablePage]:
        """Pages whose `number` is greater than `after`, in order of fetching."""

    def renewed_pages(self, after: int = 0) -> Iterator[rows.SearchablePage]:
        """Pages that a look with a number greater than `after` found changed or back, in order of these looks."""

    def pages_found(self, pages: Collection[int]) -> dict[int, rows.FoundRow]:
        """What is to be shown of these pages, by number."""

    def limit(self, *, seconds: float = 0.0, hint: str = "") -> None:
        """End queries of people after this time (0: never). `hint`: what to do about it, in the error's words."""

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Column names and rows of a query in this store's own SQL, for people only."""

    # Upkeep

    def archived_urls(self) -> Iterator[tuple[Any, ...]]:
        """URL, file and offset of every page in the archive, in its order."""

    def damage(self, *, is_quick: bool = False) -> list[Flaw]:
        """What is wrong with the database and the values in it. `is_quick`: only what a crawl could not begin with."""

    def mend(self) -> list[Flaw]:
        """Mend what can be; what was."""

    def forget_archived(self, places: Collection[tuple[str, int]]) -> None:
        """These places in the archive cannot be read: the pages have no text any more."""

    def copy_to(self, path: Path) -> None:
        """A copy of the database in an SQLite file."""

    def table_rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """All rows of a table, with all columns, in order of its key."""

    def fill(self, rows_of: Callable[[str], Iterable[tuple[Any, ...]]]) -> None:
        """Put rows into all tables, which are empty, in one transaction; they may be asked for again."""
