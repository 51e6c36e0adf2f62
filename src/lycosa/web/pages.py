"""The card of a page: its text with the words that decided, its path from the seed, near-duplicates; and answers."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ArchiveError
from lycosa.judge_choice import is_trained
from lycosa.lib.near_duplicates import MAX_DIFFERING_BITS
from lycosa.lib.text import stems
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.dashboard import DashboardPage, DashboardStore
from lycosa.store.opening import open_store
from lycosa.store.protocol import Reports
from lycosa.store.rows import Batch
from lycosa.web.endpoints import Call, Endpoint, Input, NotThere

LONGEST_TEXT = 20_000
"""Characters of a page's text that are shown."""
SHOWN_TERMS = 24
LONGEST_PATH = 60
SHOWN_DUPLICATES = 10
_WORD = re.compile(r"\w+")
_BITS: NDArray[np.uint8] = np.array([bin(number).count("1") for number in range(1 << 16)], dtype=np.uint8)


class Said(Input):
    answer: Literal["relevant", "irrelevant", "skipped", "withdrawn"]


def brief(call: Call) -> dict[str, Any]:
    """What hovering over a dot shows."""
    with call.crawl.store() as store:
        return shown(_page(store, call.number("number")))


def card(call: Call) -> dict[str, Any]:
    crawl = call.crawl
    with crawl.store() as store:
        page = _page(store, call.number("number"))
        judgement = store.judgement(page.id)
        terms: dict[str, float] = json.loads(judgement.terms) if judgement else {}
        text, problem = _text(ArchivedPages.of_text(crawl.workspace.archive, store), page.id)
        said = [row for row in store.answers() if row.page_id == page.id]
        strongest = sorted(terms.items(), key=lambda item: -abs(item[1]))[:SHOWN_TERMS]
        return {
            **shown(page),
            "judge": judgement.judge if judgement else "",
            "scores": json.loads(judgement.scores) if judgement else {},
            "guide_relevance": judgement.guide_relevance if judgement else None,
            "terms": [{"word": word, "weight": weight} for word, weight in strongest],
            "text": marked(text[:LONGEST_TEXT], terms, page.language),
            "is_text_cut": len(text) > LONGEST_TEXT,
            "no_text": problem,
            "path": _path(store, page.id),
            "duplicates": _near_duplicates(store, page.id),
            "versions": [
                {"until_pages": until, "relevance": relevance, "is_relevant": bool(is_relevant)}
                for until, relevance, is_relevant in store.earlier_judgements(page.id)
            ],
            "answers": [{"at": row.at, "answer": row.answer, "after_pages": row.after_pages} for row in said],
            "cited_by": [row._asdict() for row in store.citing_pages(page.id, 6)],
        }


def answer(call: Call) -> dict[str, Any]:
    """What a person says of a page binds at once; what follows from it, the crawl learns."""
    crawl, body = call.crawl, call.body
    number = call.number("number")
    with crawl.store() as store:
        page = _page(store, number)
    part, own_number = crawl.part_with(page.id)
    with closing(open_store(part)) as writing:
        writing.write(Batch(answers=[(time.time(), page.url, own_number, body.answer)], recounts_hosts=True))
    is_running = crawl.workspace.holder() is not None
    if body.answer != "skipped" and (not is_running or is_trained(crawl.config())):
        call.house.lessons.begin(part)
    with crawl.store() as store:
        return {**shown(_page(store, number)), "learns": "crawl" if is_running else "process"}


def shown(page: DashboardPage) -> dict[str, Any]:
    return {**page._asdict(), "is_relevant": None if page.is_relevant is None else bool(page.is_relevant)}


def marked(text: str, terms: Mapping[str, float], language: str) -> list[list[Any]]:
    """The text in pieces, each with the weight of the word that it is; 0 for all between."""
    pieces: list[list[Any]] = []
    end = 0
    for found in _WORD.finditer(text) if terms else ():
        stem = stems(found[0], language=language or "en")
        weight = next((terms[each] for each in stem if each in terms), 0.0)
        if weight:
            if found.start() > end:
                pieces.append([text[end : found.start()], 0])
            pieces.append([found[0], round(weight, 4)])
            end = found.end()
    return [*pieces, [text[end:], 0]] if text[end:] else pieces


def _page(store: DashboardStore, number: int) -> DashboardPage:
    page = store.page_numbered(number)
    if page is None:
        raise NotThere(f"page {number:,} has not been fetched")
    return page


def _text(pages: ArchivedPages, page: int) -> tuple[str, str]:
    """The page's own text, or why there is none."""
    try:
        again = pages.page_numbered(page)
    except ArchiveError as error:
        return "", str(error)
    if again is None:
        return "", "its text is not in the archive"
    return again.text, "" if again.text.strip() else "it has no text of its own"


def _path(store: Reports, link: int) -> list[dict[str, Any]]:
    """From the seed to the page, by the links on which each was first found."""
    path: list[dict[str, Any]] = []
    here: int | None = link
    while here is not None and len(path) < LONGEST_PATH:
        row = store.link(here)
        if row is None:
            break
        page = store.page(here)
        path.append(
            {"url": row.url, "anchor": row.anchor, "number": page and page.number, "title": page and page.title}
        )
        here = row.parent_id
    return path[::-1]


def _near_duplicates(store: DashboardStore, page: int) -> list[dict[str, Any]]:
    row = store.page(page)
    if row is None or not row.fingerprint:
        return []
    prints, ids = store.fingerprints()
    differing = (prints ^ np.int64(row.fingerprint)).view(np.uint16).reshape(-1, 4)
    near = ids[(_BITS[differing].sum(axis=1) <= MAX_DIFFERING_BITS) & (ids != page)][:SHOWN_DUPLICATES]
    found = []
    for other in near.tolist():
        link, twin = store.link(other), store.page(other)
        if link is not None and twin is not None:
            found.append({"url": link.url, "number": twin.number, "title": twin.title})
    return found


ENDPOINTS = (
    Endpoint("GET", "/api/crawls/{crawl}/pages/{number}/brief", "Title and host of a page.", brief, tag="pages"),
    Endpoint(
        "GET", "/api/crawls/{crawl}/pages/{number}", "All that is known of a page, with its text.", card, tag="pages"
    ),
    Endpoint(
        "POST",
        "/api/crawls/{crawl}/pages/{number}/answer",
        "Say whether a page is useful.",
        answer,
        None,
        Said,
        tag="pages",
    ),
)
