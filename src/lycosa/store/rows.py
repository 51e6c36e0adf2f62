"""Plain rows: what one transaction writes (up to `Batch`), and what reading returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NOFOLLOW, NOT_WORTH, REVISIT, RAISED = "nofollow", "not worth following", "revisit", "cited by hubs"
NEW_ON_PAGE = "new on a page fetched again"
RAISED_BY_PERSON, EXCLUDED_BY_PERSON, DROPPED_BY_PERSON = (
    "raised by a person",
    "excluded by a person",
    "dropped by a person",
)
"""Reasons of a link's state by which the store is asked for links."""
LATER = 1_000_000
"""Positions from here on are those of links that were not on the page when it was first fetched."""


class State:
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    EXCLUDED = "excluded"
    DROPPED = "dropped"
    ELSEWHERE = "elsewhere"
    """It belongs to another shard of the cluster, whose crawler decides on it."""


OPEN, SKIPPED, ASKED = "open", "skipped", "asked"
"""Pages by whether a person was asked about them."""


class Answer:
    """What a person says of a page."""

    RELEVANT = "relevant"
    IRRELEVANT = "irrelevant"
    SKIPPED = "skipped"
    WITHDRAWN = "withdrawn"
    """An earlier answer is taken back."""


class Command:
    """What a person may ask of a crawl."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    EXCLUDE = "exclude"
    """No link that matches the pattern is fetched, neither now nor later."""
    DROP = "drop"
    """Links that wait now and match the pattern are dropped; they wait again once they are found again."""
    RAISE = "raise"
    """Links that wait now and match the pattern come before all others."""
    ALARMS = "alarms"
    """Other thresholds for alarms, as JSON."""
    UNDO = "undo"
    """The command with this number is undone."""


class LinkRow(NamedTuple):
    """A URL seen for the first time."""

    id: int
    url: str
    hash: int
    host_id: int
    state: str
    score: float
    distance: int
    redirects: int
    tries: int
    parent_id: int | None
    anchor: str
    reason: str
    detail: str


class StateRow(NamedTuple):
    state: str
    tries: int
    reason: str
    detail: str
    id: int


TRAP = "trap: "
"""How the reason begins for which a host was set aside that brought nothing."""


class HostRow(NamedTuple):
    id: int
    name: str
    address: str
    ready_at: float
    crawl_delay: float
    failures: int
    pages: int
    relevant: int
    failed: int
    links: int
    set_aside: str


class RobotsRow(NamedTuple):
    origin: str
    state: str
    status: int
    failure: str
    failures: int
    body: str
    fetched_at: float
    expires_at: float
    details: str


class PageRow(NamedTuple):
    id: int
    number: int
    run_id: int
    fetched_at: float
    title: str
    language: str
    charset: str
    bytes: int
    words: int
    fingerprint: int
    duplicate_of: int | None
    canonical: str
    is_noindex: bool
    is_nofollow: bool
    archive_file: str
    archive_offset: int


class JudgementRow(NamedTuple):
    page_id: int
    judge: str
    relevance: float
    is_relevant: bool
    scores: str
    terms: str
    best: str
    guide_relevance: float | None = None
    """What guides the crawl, where that is not what is said of the page; as is `guide_is_relevant`."""
    guide_is_relevant: bool | None = None


class OutcomeRow(NamedTuple):
    link_id: int
    run_id: int
    at: float
    kind: str
    reason: str
    detail: str
    status: int
    seconds: float
    bytes: int
    address: str
    from_cache: bool
    archive_file: str
    archive_offset: int


class PageChange:
    """What became of a page between two looks at it."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    """The server says that there is no such page (404, 410)."""
    BACK = "back"
    """It was gone, and is there again."""
    MOVED = "moved"
    """It redirects elsewhere."""
    UNKNOWN = "unknown"
    """There was no answer that tells."""


class CheckRow(NamedTuple):
    """A look at a page that was fetched before."""

    page_id: int
    run_id: int
    since: float
    """When it was looked at before."""
    at: float
    change: str
    fingerprint: int
    archive_file: str
    archive_offset: int


class PagesToRefresh(NamedTuple):
    """All pages, as columns."""

    ids: NDArray[np.int64]
    hosts: NDArray[np.int64]
    fetched_at: NDArray[np.float64]
    is_relevant: NDArray[np.bool_]
    citations: NDArray[np.int64]
    """Number of relevant pages that each of them cites."""


class SearchRow(NamedTuple):
    """A query that search engines were asked."""

    id: int
    run_id: int
    at: float
    after_pages: int
    reason: str
    query: str


class SearchAnswerRow(NamedTuple):
    """What an engine answered."""

    search_id: int
    engine: str
    outcome: str
    detail: str
    is_contact: bool
    seconds: float
    results: int
    ready_at: float
    """When the engine may be asked again."""


class SearchResultRow(NamedTuple):
    """A page that an engine named, and that joined the frontier or was waiting there."""

    link_id: int
    search_id: int
    engine: str
    rank: int


class Letter(NamedTuple):
    """What one shard has to tell another: a page with links that belong there, or a link alone."""

    target: int
    sender: int
    number: int
    """Counts from 1 for each pair of shards, without gaps."""
    value: bytes


class ForeignPage(NamedTuple):
    """A page of another shard that links to pages of this one, as the strategy was told of it."""

    id: int
    """Counts from 1 in the order of telling."""
    after_pages: int
    """Number of pages that this shard had fetched by then."""
    link_id: int
    host_id: int
    targets: bytes
    """Numbers of its links, 8 bytes each in native order."""
    value: bytes
    note: bytes
    """What the strategy keeps of it."""


class ShardFigures(NamedTuple):
    """How far a shard is, for whoever runs the cluster."""

    is_idle: bool
    """Nothing is left to fetch unless another shard sends something."""
    pages: int
    relevant: int
    downloaded: int
    waiting: int
    in_flight: int
    at: float
    front: bytes
    """Scores of the links that it would fetch next, best first, as 32-bit floats."""
    best_soon: float
    """The best score on hosts that will be ready soon; 0 if its scores are no predictions."""
    shard: int


class Orders(NamedTuple):
    """What a shard is told by whoever runs the cluster."""

    granted: int
    """Number of pages that it may fetch, over all runs."""
    stop: str
    """Why it should stop; empty if it should not."""


class AddressLease(NamedTuple):
    is_ours: bool
    seconds: float
    """For which it is whose it is."""


@dataclass(slots=True)
class Batch:
    """All changes of one step of the crawl. What is not in a written batch did not happen."""

    links: list[LinkRow] = field(default_factory=list)
    states: list[StateRow] = field(default_factory=list)
    scores: list[tuple[float, int]] = field(default_factory=list)
    """(score, link): waiting links with a new score."""
    hosts: dict[int, HostRow] = field(default_factory=dict)
    addresses: dict[str, float] = field(default_factory=dict)
    robots: dict[str, RobotsRow] = field(default_factory=dict)
    pages: list[PageRow] = field(default_factory=list)
    judgements: list[JudgementRow] = field(default_factory=list)
    first_judged: set[int] = field(default_factory=set)
    """Pages of `judgements` that are new, so that there is nothing that a judge or a person has said of them before."""
    checks: list[CheckRow] = field(default_factory=list)
    edges: list[tuple[int, int, int, str, str]] = field(default_factory=list)
    """(source, position, target, anchor, rel)."""
    repeated_edges: list[tuple[int, int, int, str, str, str]] = field(default_factory=list)
    """(source, position, target, anchor, rel, texts): links that stand on their page with other texts, too, a line
    each."""
    threshold: float | None = None
    """New minimum relevance of a relevant page, applied to every judgement in the store."""
    grades: list[tuple[float, bool, int]] = field(default_factory=list)
    """(relevance, is_relevant, number of the page): new judgements of pages that were judged before."""
    recounts_hosts: bool = False
    """Judgements have changed: recount the relevant pages of every host."""
    outcomes: list[OutcomeRow] = field(default_factory=list)
    events: list[tuple[int, float, str, str]] = field(default_factory=list)
    """(run, at, kind, message)."""
    notes: list[tuple[int, bytes]] = field(default_factory=list)
    """(page, what the strategy keeps of it)."""
    answers: list[tuple[float, str, int | None, str]] = field(default_factory=list)
    """(at, url, page, answer): what people say of pages; the page is None if it has not been fetched. The last answer
    decides the page's relevance, whatever judges say of it in this batch or in any later one."""
    taken_over: list[tuple[int, int, int]] = field(default_factory=list)
    """(page, after how many pages, number of the answer): answers that the strategy has been told."""
    searches: list[SearchRow] = field(default_factory=list)
    search_answers: list[SearchAnswerRow] = field(default_factory=list)
    search_results: list[SearchResultRow] = field(default_factory=list)
    commands: list[tuple[float, str, str]] = field(default_factory=list)
    """(at, kind, target): what people ask of the crawl."""
    commands_taken: list[tuple[float, str, int]] = field(default_factory=list)
    """(at, result in words, number): commands that the crawl has carried out."""
    state: dict[str, bytes] = field(default_factory=dict)
    """Named pieces of state that must agree with the rest: archive position, strategy."""
    letters: list[Letter] = field(default_factory=list)
    """To other shards of a cluster. These and the next three are for stores of shards only."""
    taken: list[tuple[int, int, int, int]] = field(default_factory=list)
    """(target, sender, number, bytes): the letters of a sender up to this number are taken over by this batch, with the
    number of their bytes."""
    foreign_pages: list[ForeignPage] = field(default_factory=list)
    figures: ShardFigures | None = None


class WaitingLinks(NamedTuple):
    """The waiting links as columns in order of discovery, to load the frontier in one step; and the dormant ones."""

    ids: NDArray[np.int64]
    hosts: NDArray[np.int64]
    scores: NDArray[np.float64]
    tiers: NDArray[np.uint8]
    """As the frontier has them (`frontier.keys`): by the number of failed tries; or FAVOURED, which come before all
    others: cited by hubs, or hubs to be fetched again."""
    dormant: NDArray[np.int64]
    """Links that wait once they are found again: dropped, or excluded as NOFOLLOW or NOT_WORTH."""
    dormant_tiers: NDArray[np.uint8]


class NewPages(NamedTuple):
    numbers: NDArray[np.int64]
    ids: NDArray[np.int64]
    hosts: NDArray[np.int64]


class JudgedPages(NamedTuple):
    ids: NDArray[np.int64]
    relevance: NDArray[np.float64]
    is_relevant: NDArray[np.bool_]


class Totals(NamedTuple):
    """Counts over all runs."""

    links: int
    pages: int
    relevant: int
    waiting: int


class Progress(NamedTuple):
    """Counts over all runs, for the stopping rules."""

    pages: int
    relevant: int
    since_relevant: int
    """Pages fetched since the last relevant one."""
    downloaded: int
    """Bytes from the network, not from the page cache."""


class SeedPage(NamedTuple):
    url: str
    number: int
    words: int
    relevance: float | None
    is_relevant: bool


class LostSeed(NamedTuple):
    """A seed, or what it redirects to, that has no page."""

    id: int
    url: str
    host_id: int
    state: str
    tries: int
    reason: str
    detail: str
    ready_at: float
    """When its host may be asked again."""
    set_aside: str
    """Why its host was set aside, if it was."""


class AnswerRow(NamedTuple):
    id: int
    at: float
    url: str
    page_id: int | None
    """None while the page has not been fetched."""
    answer: str
    after_pages: int | None
    """Number of pages the crawl had when its strategy was told the answer; None: it has not been told."""
    own_relevance: float | None
    """What the judge itself says of the page, while an answer stands."""
    own_is_relevant: bool
    guide_relevance: float | None = None
    """What guided the crawl before the answer, where that is not what the judge says of the page."""
    guide_is_relevant: bool = False

    @property
    def is_relevant(self) -> bool | None:
        """None: the answer says neither."""
        return {Answer.RELEVANT: True, Answer.IRRELEVANT: False}.get(self.answer)


class CommandRow(NamedTuple):
    id: int
    at: float
    kind: str
    target: str
    taken_at: float | None
    """When the crawl carried it out; None: it has not yet."""
    result: str


class WaitingUrl(NamedTuple):
    id: int
    host_id: int
    url: str


class DoubtfulPage(NamedTuple):
    """A page that a person could be asked about."""

    id: int
    number: int
    url: str
    host: str
    title: str
    relevance: float
    fingerprint: int
    distance: int
    waiting: int
    """Number of waiting links on it."""
    note: bytes
    """What the strategy keeps of it; may be empty."""


class UnvisitedLink(NamedTuple):
    id: int
    url: str
    host: str


class RunRow(NamedTuple):
    id: int
    started_at: float
    ended_at: float | None
    pid: int
    version: str
    config: str
    stop_reason: str | None


class EventRow(NamedTuple):
    run_id: int
    at: float
    kind: str
    message: str


class CitingPage(NamedTuple):
    url: str
    anchors: str
    """A line each."""
    relevance: float | None


class CitationCounts(NamedTuple):
    """Number of pages that link to a page, and of relevant ones among them."""

    pages: int
    relevant: int


class OutcomeCount(NamedTuple):
    kind: str
    reason: str
    tries: int


class StoredPage(NamedTuple):
    """A page with its URL and judgement; links to other pages are URLs."""

    url: str
    title: str
    relevance: float | None
    is_relevant: bool | None
    number: int
    fetched_at: float
    language: str
    charset: str
    bytes: int
    words: int
    distance: int
    duplicate_of: str | None
    canonical: str
    is_noindex: bool
    gone_at: float | None
    """When a refresh found that the page is not there any more; None if it is, or nobody has looked."""
    archive_file: str
    archive_offset: int


class StoredLink(NamedTuple):
    source: str
    target: str
    position: int
    anchor: str
    rel: str


class SiteRow(NamedTuple):
    name: str
    pages: int
    relevant: int
    failed: int
    links: int
    set_aside: str
    density: float


class RelevantPage(NamedTuple):
    number: int
    url: str
    title: str
    relevance: float
    language: str


class ArchivePlace(NamedTuple):
    page_id: int
    file: str
    offset: int


class SearchFind(NamedTuple):
    """How a search found a page."""

    query: str
    engine: str
    rank: int
    at: float


class EngineCount(NamedTuple):
    """What came of asking an engine."""

    engine: str
    asked: int
    """Queries that it was sent."""
    answered: int
    """Those that it answered, if only with nothing."""
    pages: int
    """Pages fetched that it has named."""
    relevant: int


class FoundRow(NamedTuple):
    """A page that a search has found."""

    id: int
    url: str
    title: str
    relevance: float | None
    is_relevant: bool
    number: int


class PageTexts(NamedTuple):
    title: str
    anchor: str


class SearchablePage(NamedTuple):
    """A page as the full-text index needs it."""

    id: int
    number: int
    url: str
    title: str
    is_duplicate: bool
    file: str
    """Where it is archived; empty if it is not."""
    offset: int
    check: int
    """The number of the latest look that found it changed; 0 where pages are listed by order of fetching."""


class TopicScores(NamedTuple):
    scores: str
    """Score by topic, as JSON."""
    citing: int
    """Links to the page on relevant pages."""
