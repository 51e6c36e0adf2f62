"""Sends a crawler through a group of behaviours, and judges what it did."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from hostile.suite.behaviour import SUBJECT, Behaviour, Kept, Seen
from hostile.suite.server import SuiteServer, serving

TESTS = Path(__file__).parents[2]
CRAWLERS = {name: [sys.executable, "-m", f"hostile.suite.crawlers.{name}"] for name in ("lycosa", "scrapy")}
NOT_ASKED = "was not asked at all"
GRACE = 180.0
"""Seconds after the end of its time in which a crawler has to end, and to write its pages."""


@dataclass(frozen=True)
class Task:
    """What a crawler is told."""

    seeds: list[str]
    resolve: dict[str, str]
    """The address of every name."""
    folder: str
    """Where it may write."""
    output: str
    """Where its pages go."""
    seconds: float
    delay: float
    timeout: float = 8.0
    """Seconds for one answer."""
    pages: int = 20_000
    subject: str = SUBJECT
    allowed: list[str] = field(default_factory=lambda: ["127.1.0.0/16"])
    """Networks that may be asked, of those that are not public."""


class Verdict(NamedTuple):
    is_good: bool | None
    """None: the behaviour does not apply to the crawler."""
    why: str


async def judged(
    command: list[str],
    behaviours: Iterable[Behaviour],
    folder: Path,
    *,
    seconds: float,
    delay: float,
    is_framework: bool,
) -> dict[str, Verdict]:
    """The verdict on every behaviour, after one crawl over all of them."""
    async with serving(behaviours) as server:
        output, file = folder / "pages.jsonl", folder / "task.json"
        task = Task(server.seeds(), server.resolve, str(folder), str(output), seconds, delay)
        file.write_text(json.dumps(asdict(task)))
        ended = await _crawl([*command, str(file)], seconds + GRACE, folder / "stderr")
        await server.settle()
        pages = _pages(output)
        return {
            each.name: Verdict(None, each.left_to_the_spider)
            if is_framework and each.left_to_the_spider
            else _verdict(each, server, pages, ended)
            for each in server.behaviours.values()
        }


async def _crawl(command: list[str], seconds: float, errors: Path) -> str:
    """Why the crawler did not end in order; empty if it did."""
    with errors.open("wb") as stream:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=TESTS, stdout=stream, stderr=stream, start_new_session=True
        )
        try:
            code = await asyncio.wait_for(process.wait(), seconds)
        except TimeoutError:
            return "did not end in time"
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
    return f"ended with {code}" if code else ""


def _pages(output: Path) -> list[Kept]:
    lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
    return [Kept(**json.loads(line)) for line in lines]


def _verdict(behaviour: Behaviour, server: SuiteServer, pages: list[Kept], ended: str) -> Verdict:
    hosts = set(behaviour.hosts)
    seen = Seen(
        sorted(server.log[behaviour.name]),
        [page for page in pages if (urlsplit(page.url).hostname or "").rstrip(".") in hosts],
        [target for target in server.victim if behaviour.name in target],
        ended,
    )
    if not seen.asked:
        return Verdict(False, f"{NOT_ASKED}; the crawler {ended}" if ended else NOT_ASKED)
    faults = [fault for check in behaviour.checks if (fault := check(seen))]
    return Verdict(not faults, faults[0] if faults else "")
