"""A visit as rows of the store."""

from __future__ import annotations

import json

from lycosa.fetch.robots import Robots, RobotsFile
from lycosa.model import Judgement, Page, Visit
from lycosa.store.rows import JudgementRow, OutcomeRow, PageRow, RobotsRow

Place = tuple[str, int]
"""Archive file and offset."""


def page_row(visit: Visit, page: Page, place: Place, *, run: int, number: int, twin: int | None, now: float) -> PageRow:
    """`now`: when it was fetched, if whoever fetched it does not say."""
    fetched = visit.fetched
    return PageRow(
        id=visit.lease.id,
        number=number,
        run_id=run,
        fetched_at=fetched.ended or now,
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
        guide_relevance=judgement.guide.relevance if judgement.guide else None,
        guide_is_relevant=judgement.guide.is_relevant if judgement.guide else None,
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


def is_relevant(visit: Visit) -> bool:
    return visit.judgement is not None and visit.judgement.is_relevant


def signed(value: int) -> int:
    """A 64-bit number as a signed integer, which is what databases have."""
    return value - (1 << 64) if value >= 1 << 63 else value
