"""Thresholds that the crawl watches, and the alarms that it has raised."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pydantic import Field

from lycosa.crawl.alarms import ALARMS, THRESHOLDS, AlarmSettings, with_thresholds
from lycosa.settings_texts import sections
from lycosa.store.rows import Command
from lycosa.web.endpoints import Call, Endpoint, Input

KINDS = ("alarm", "alarm over", "stall")
SHOWN = 200


class NewThresholds(Input):
    min_speed: float = Field(0, ge=0, le=1e9)
    min_relevance: float = Field(0, ge=0, le=1)
    max_drift: float = Field(0, ge=0, le=1)
    max_errors: float = Field(0, ge=0, le=1)
    min_disk: float = Field(0, ge=0, le=1e9)
    on_stall: bool = False
    pages: int = Field(200, ge=1, le=1_000)
    minutes: float = Field(5, gt=0, le=100_000)


def alarms(call: Call) -> dict[str, Any]:
    settings: AlarmSettings = call.crawl.config().alarms
    with call.crawl.store() as store:
        saved = next(iter(store.states(ALARMS).values()), None)
        shards = store.shard_count
        raised = store.events(KINDS)
        waiting = [row for row in store.commands() if row.kind == Command.ALARMS and row.taken_at is None]
    if saved:
        settings = with_thresholds(settings, json.loads(saved))
    if waiting:
        settings = with_thresholds(settings, json.loads(waiting[-1].target))
    texts = {name: text for section in sections() if section.name == "alarms" for name, _, text in section.settings}
    return {
        "shards": shards,
        "thresholds": [{"name": name, "value": getattr(settings, name), "text": texts[name]} for name in THRESHOLDS],
        "tells": {name: asdict(settings)[name] for name in ("webhook", "command") if asdict(settings)[name]},
        "raised": [{"at": row.at, "kind": row.kind, "message": row.message} for row in raised[-SHOWN:][::-1]],
    }


def change(call: Call) -> dict[str, Any]:
    body: NewThresholds = call.body
    call.crawl.command(Command.ALARMS, json.dumps(body.model_dump()))
    return alarms(call)


ENDPOINTS = (
    Endpoint("GET", "/api/crawls/{crawl}/alarms", "Thresholds, and what was raised.", alarms, tag="alarms"),
    Endpoint("POST", "/api/crawls/{crawl}/alarms", "Other thresholds.", change, None, NewThresholds, tag="alarms"),
)
