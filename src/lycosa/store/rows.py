"""What one commit writes: plain rows, gathered while visits are worked through, written in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class State:
    """The states of a link in the frontier table."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    EXCLUDED = "excluded"
    DROPPED = "dropped"


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
    """A link's new state."""

    state: str
    tries: int
    reason: str
    detail: str
    id: int


class HostRow(NamedTuple):
    """A host, new or changed."""

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


@dataclass(slots=True)
class Batch:
    """Everything one step of the crawl changes. What is not in a written batch did not happen."""

    links: list[LinkRow] = field(default_factory=list)
    states: list[StateRow] = field(default_factory=list)
    scores: list[tuple[float, int]] = field(default_factory=list)
    """(score, link): waiting links that moved."""
    hosts: dict[int, HostRow] = field(default_factory=dict)
    addresses: dict[str, float] = field(default_factory=dict)
    robots: dict[str, RobotsRow] = field(default_factory=dict)
    pages: list[PageRow] = field(default_factory=list)
    judgements: list[JudgementRow] = field(default_factory=list)
    edges: list[tuple[int, int, int, str, str]] = field(default_factory=list)
    """(source, position, target, anchor, rel)."""
    relinked: list[int] = field(default_factory=list)
    """Pages fetched again: their old links go before `edges` come."""
    threshold: float | None = None
    """All judgements of pages are relevant from this relevance on, from now on."""
    grades: list[tuple[float, bool, int]] = field(default_factory=list)
    """(relevance, is_relevant, number of the page): judgements of pages fetched before, as they are now."""
    recounts_hosts: bool = False
    """Judgements have changed: the hosts' numbers of relevant pages follow."""
    outcomes: list[OutcomeRow] = field(default_factory=list)
    events: list[tuple[int, float, str, str]] = field(default_factory=list)
    """(run, at, kind, message)."""
    notes: list[tuple[int, bytes]] = field(default_factory=list)
    """(page, what the strategy kept of it)."""
    feedback: list[tuple[float, str, bool, str]] = field(default_factory=list)
    """(at, url, is_useful, topic)."""
    state: dict[str, bytes] = field(default_factory=dict)
    """Named pieces of state that belong to the same moment: archive position, strategy."""
