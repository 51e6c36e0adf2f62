"""The list of crawls; a new one by a form; pause, resume, stop."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from lycosa.settings_texts import sections
from lycosa.web.endpoints import Call, Endpoint, Input
from lycosa.web.processes import last_words
from lycosa.web.starting import NewCrawl, understood

LARGE = 6
"""Number of entries beyond which the default of a setting is only counted."""


class GoOn(Input):
    pages: int = Field(0, ge=0, le=1_000_000_000, description="New limit on the number of pages; 0: as it was.")


class Order(Input):
    kind: Literal["pause", "resume", "stop", "exclude", "drop", "raise", "undo"]
    target: str = Field("", max_length=2_000, description="A pattern of URLs; of undo, the number of the command.")


def crawls(call: Call) -> dict[str, Any]:
    house = call.house
    return {
        "crawls": [crawl.summary(house.watch(crawl)) for crawl in house.crawls()],
        "starting": house.runner.starting(),
        "folder": str(house.nursery),
    }


def one(call: Call) -> dict[str, Any]:
    crawl = call.crawl
    config = crawl.config()
    return {
        **crawl.summary(call.house.watch(crawl)),
        "seeds": list(config.seeds[:50]),
        "interest": config.interest,
        "threshold": config.judge.threshold,
        "judge": config.judge.kind,
        "toml": config.to_toml(),
        "log": last_words(crawl.workspace.directory),
    }


def figures(call: Call) -> dict[str, Any]:
    return call.house.watch(call.crawl).refresh()


def understand(call: Call) -> dict[str, Any]:
    return understood(call.body, folder=call.house.nursery, book=call.house.book).plain()


def begin(call: Call) -> dict[str, Any]:
    new = understood(call.body, folder=call.house.nursery, book=call.house.book)
    call.house.runner.begin(new.crawl.workspace, new.crawl.config.to_toml(), book=call.house.book)
    call.house.forget_list()
    return {"id": call.house.name_of(new.crawl.workspace.directory), **new.plain()}


def go_on(call: Call) -> dict[str, Any]:
    body: GoOn = call.body
    call.house.runner.run(call.crawl.workspace, book=call.house.book, pages=body.pages)
    return {"id": call.crawl.id}


def order(call: Call) -> dict[str, Any]:
    body: Order = call.body
    return {"command": call.crawl.command(body.kind, body.target)}


def settings(call: Call) -> dict[str, Any]:  # noqa: ARG001 - the same for all
    """Every setting with its default and its explanation."""
    return {
        "sections": [
            {
                "name": section.name,
                "purpose": section.purpose,
                "settings": [
                    {"name": name, "default": _shown(default), "text": text} for name, default, text in section.settings
                ],
            }
            for section in sections()
        ]
    }


def _shown(value: Any) -> Any:
    if isinstance(value, (frozenset, set, tuple, list)):
        return sorted(map(str, value)) if len(value) <= LARGE else f"{len(value)} entries"
    return value


ENDPOINTS = (
    Endpoint("GET", "/api/crawls", "All crawls, with state and harvest.", crawls),
    Endpoint("GET", "/api/settings", "Every setting, its default, and what it means.", settings),
    Endpoint(
        "POST", "/api/crawls/understand", "What would be crawled; nothing is started.", understand, None, NewCrawl
    ),
    Endpoint("POST", "/api/crawls", "Start a new crawl, as a process of its own.", begin, None, NewCrawl),
    Endpoint("GET", "/api/crawls/{crawl}", "One crawl, with its settings.", one),
    Endpoint("GET", "/api/crawls/{crawl}/figures", "Speed, hosts, errors, forecast.", figures, tag="monitor"),
    Endpoint("POST", "/api/crawls/{crawl}/run", "Let a crawl that has stopped go on.", go_on, None, GoOn),
    Endpoint(
        "POST", "/api/crawls/{crawl}/commands", "Pause, resume, stop; exclude, drop, raise; undo.", order, None, Order
    ),
)
