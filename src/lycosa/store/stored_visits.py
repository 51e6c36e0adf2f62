"""Visits as the strategy saw them, rebuilt from the tables.

Two uses: replaying every visit to a strategy on resume, and rescoring all waiting links after a change of focus. The
pages are light: what a crawl does not store of a page (text, terms, the context of links) is missing. A page that was
fetched again is told as it was at first, with the links it had then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.model import Fetched, Guidance, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.store.asking import Asking
from lycosa.store.rows import LATER

PAGES = """
select f.id, f.url, f.host_id, f.score, f.distance, f.tries, f.redirects, p.title, p.language, p.words, p.fetched_at,
       p.fingerprint, n.value, j.relevance, j.is_relevant, j.scores, j.terms, j.best,
       case when j.own_relevance is null then j.guide_relevance end, j.guide_is_relevant
from pages p join frontier f on f.id = p.id left join judgements j on j.page_id = p.id
     left join notes n on n.page_id = p.id
"""
AFTER = f"{PAGES} where p.number > ? order by p.number"
CITING = f"""
{PAGES} where p.number <= ? and (p.id = ? or p.id in (select source_id from links where target_id = ?))
order by p.number
"""
LINKS = f"""
select t.id, t.url, l.anchor, l.rel, l.position, l.other_anchors, l.source_id
from links l join frontier t on t.id = l.target_id where l.source_id = ? and l.position < {LATER} order by l.position
"""
CHUNK = 256
"""Number of pages whose links are asked for at once."""
FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)


def visits(store: Asking, after: int = 0) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
    return _told(store, AFTER, (after,))


def citing_visits(store: Asking, link: int, *, parent: int, upto: int) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
    return _told(store, CITING, (upto, parent, link))


def _told(store: Asking, query: str, values: tuple[int, ...]) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
    pages = store._rows(query, values)
    while chunk := list(islice(pages, CHUNK)):
        for row, links in zip(chunk, store._links_of([row[0] for row in chunk], LINKS), strict=True):
            yield _visit(row, links), np.array([link[0] for link in links], dtype=np.int64)


def _visit(row: tuple[Any, ...], links: list[tuple[Any, ...]]) -> Visit:
    number, url, host, score, distance, tries, redirects, title, language, words, at, fingerprint, note, *judged = row
    lease = Lease(number, url, host, score, distance, max(0, tries - 1), redirects)
    page = Page(
        url,
        title=title,
        language=language,
        links=[
            Link(target, anchor, rel=rel, position=position, other_anchors=tuple(others.split("\n")) if others else ())
            for _, target, anchor, rel, position, others, _ in links
        ],
        fingerprint=fingerprint % (1 << 64),
        words=words,
    )
    judgement = None
    if judged[0] is not None:
        relevance, is_relevant, scores, terms, best, guide, is_guide_relevant = judged
        guided = None if guide is None else Guidance(guide, bool(is_guide_relevant))
        judgement = Judgement(relevance, bool(is_relevant), json.loads(scores), json.loads(terms), best, guided)
    return Visit(Fetched(lease, FETCHED, ended=at), FETCHED, page, judgement, note or b"")
