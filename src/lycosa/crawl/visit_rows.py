"""Visits as rows: what the ledger enters for each, and what it counted in earlier runs."""

from __future__ import annotations

import json

from lycosa.fetch.robots import Robots, RobotsFile
from lycosa.model import Judgement, Page, Visit
from lycosa.stopping.figures import Tally
from lycosa.stopping.rules import StopRules
from lycosa.store.protocol import Store
from lycosa.store.rows import JudgementRow, OutcomeRow, PageRow, RobotsRow

Place = tuple[str, int]
"""Archive file and offset."""


def page_row(visit: Visit, page: Page, place: Place, *, run: int, number: int, twin: int | None) -> PageRow:
    fetched = visit.fetched
    return PageRow(
        id=visit.lease.id,
        number=number,
        run_id=run,
        fetched_at=fetched.ended,
        title=page.title,
        language=page.language,
        charset=page.charset,
        bytes=len(fetched.response.body) if fetched.response else 0,
        words=page.words,
        fingerprint=signed(page.fingerprint),
        duplicate_of=twin,
        canonical=page.canonical,
        is_noindex=page.is_noindex,
        is_nofollow=page.is_nofollow,
        archive_file=place[0],
        archive_offset=place[1],
    )


def judgement_row(page: int, judge: str, judgement: Judgement) -> JudgementRow:
    return JudgementRow(
        page_id=page,
        judge=judge,
        relevance=judgement.relevance,
        is_relevant=judgement.is_relevant,
        scores=json.dumps(dict(judgement.scores)),
        terms=json.dumps(dict(judgement.terms)),
        best=judgement.best,
    )


def outcome_row(visit: Visit, place: Place, *, run: int, now: float) -> OutcomeRow:
    fetched, outcome = visit.fetched, visit.outcome
    return OutcomeRow(
        link_id=visit.lease.id,
        run_id=run,
        at=fetched.ended or now,
        kind=str(outcome.kind),
        reason=outcome.reason,
        detail=outcome.detail,
        status=outcome.status,
        seconds=fetched.seconds,
        bytes=len(fetched.response.body) if fetched.response else 0,
        address=fetched.address,
        from_cache=fetched.from_cache,
        archive_file=place[0],
        archive_offset=place[1],
    )


def robots_row(file: RobotsFile, robots: Robots | None) -> RobotsRow:
    facts = {"crawl_delay": robots.crawl_delay, "sitemaps": list(robots.sitemaps)} if robots else {}
    return RobotsRow(
        file.origin,
        str(file.state),
        file.status,
        file.failure,
        file.failures,
        file.body,
        file.fetched_at,
        file.expires_at,
        json.dumps(facts),
    )


def tally_of(store: Store, rules: StopRules) -> Tally:
    """The figures of all runs so far."""
    tally = Tally(window=rules.window, has_community=rules.community > 0)
    totals, progress = store.totals(), store.progress()
    tally.resume(
        pages=totals.pages,
        relevant=totals.relevant,
        since_relevant=progress.since_relevant,
        bytes=progress.downloaded,
        recent=(is_relevant for _, is_relevant in store.recent_relevance(rules.window)),
        members=((visit.lease.id, targets) for visit, targets in store.visits() if is_relevant(visit)),
    )
    return tally


def is_relevant(visit: Visit) -> bool:
    return visit.judgement is not None and visit.judgement.is_relevant


def signed(value: int) -> int:
    """A 64-bit number as SQLite keeps it."""
    return value - (1 << 64) if value >= 1 << 63 else value
