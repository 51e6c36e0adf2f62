"""The pages to ask a person about, one after another; what the answers have changed so far."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import Field

from lycosa.crawl.answers import standing_answers
from lycosa.reviewed import reviewing
from lycosa.web.endpoints import Call, Endpoint, Input

WIDTH = 100


class Count(Input):
    count: int = Field(10, ge=1, le=50, description="Number of questions.")


def questions(call: Call) -> dict[str, Any]:
    crawl = call.crawl
    with crawl.store() as store, reviewing(crawl.workspace, read_only=True) as reviewed:
        found = reviewed.questions(call.query.count)
        asked = []
        for question in found:
            page = store.page(question.page)
            lines = reviewed.lines(question, width=WIDTH)
            asked.append({**asdict(question), "number": page.number if page else 0, "lines": lines})
        said = standing_answers(store)
        totals = store.judged_pages()
    return {
        "questions": asked,
        "answered": len(said),
        "pages": len(totals.ids),
        "relevant": int(totals.is_relevant.sum()),
        "is_learning": call.house.is_learning(crawl),
        "is_running": crawl.workspace.holder() is not None,
    }


ENDPOINTS = (
    Endpoint("GET", "/api/crawls/{crawl}/review", "Pages to ask a person about.", questions, Count, tag="review"),
)
