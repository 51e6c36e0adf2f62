"""A run from beginning to end."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from functools import partial

from lycosa.crawl.furniture_state import FURNITURE
from lycosa.crawl.loop import run
from lycosa.crawl.resume import ARCHIVE
from lycosa.crawl.watching import Event, Running
from lycosa.run.beside import Beside
from lycosa.run.given import Given
from lycosa.run.known import Known, known_by
from lycosa.run.line import OpenLine, opened_line
from lycosa.stopping.outlook import OUTLOOK, outlook
from lycosa.store.rows import Batch


async def whole_run(given: Given, running: Running, stack: AsyncExitStack) -> str:
    """Why it stopped. `stack` closes what was opened."""
    known = known_by(given)
    line = await opened_line(given, known, stack)
    beside = Beside(given, known, line, running, stack)
    beside.begin(stack)
    reason = beside.end(await _looped(given, known, line, beside))
    forecaster = beside.forecaster
    expected = json.dumps(outlook(forecaster(), forecaster.calibration()))
    line.ledger.write(Batch(state={OUTLOOK: expected.encode(), FURNITURE: known.state.furniture.save()}))
    await _hand_over(line)
    given.store.end_run(line.run, ended_at=known.clock.now(), stop_reason=reason)
    figures, waiting = line.ledger.figures(), known.state.frontier.waiting
    line.log.event("end", reason, pages=figures.pages, relevant=figures.relevant, waiting=waiting)
    running.tell_progress()
    running.tell(Event("end", reason))
    return reason


async def _hand_over(line: OpenLine) -> None:
    """The rest of the archive to its target, if it has one: it is finished, and all of it is committed."""
    archive = line.records.archive
    if archive is not None and archive.handing_over is not None:
        archive.close()
        last = archive.position().file
        for news in await asyncio.to_thread(archive.handing_over.finish, last):
            line.ledger.note(ARCHIVE, news)


async def _looped(given: Given, known: Known, line: OpenLine, beside: Beside) -> str:
    """The loop; and again, while letters come from other shards, or search engines find more."""
    go = partial(
        run,
        frontier=known.state.frontier,
        strategy=known.strategy,
        visitor=line.visitor,
        ledger=line.ledger,
        stop=beside.stop,
        clock=known.clock,
        width=given.config.network.fetches,
        watch=beside.look,
    )
    if beside.searching is not None:
        await beside.searching.begin()
    if beside.refreshing is not None:
        beside.refreshing.begin()
    if beside.receiving is not None:
        beside.receiving.begin()
    reason = await go()
    while beside.receiving is not None and await beside.receiving.wait():
        if beside.refreshing is not None:
            beside.refreshing.look()
        reason = await go()
    while beside.searching is not None and not beside.reason_to_stop():
        if not await beside.searching.rescue():
            break
        reason = await go()
    return reason
