"""Pages that hang their reader: they cost neither other hosts nor, once the crawl is gone, the machine."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from lycosa.crawl.reader_pool import MOST_RETIRED, Readers
from lycosa.crawl.reading import Reading
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.model import Fetched, Judgement, Kind, Lease, Page, Visit


class SpinningJudge:
    """Never finishes with pages that are called `spin`."""

    name = "spinning"

    def judge(self, page: Page) -> Judgement:
        while page.title == "spin":
            pass
        began = time.process_time()
        while page.title == "slow" and time.process_time() < began + 1.5:
            pass
        return Judgement(1.0, True)


def reading() -> Reading:
    return Reading(urls=Urls(UrlRules()), judge=SpinningJudge())  # type: ignore[arg-type]


def page(title: str) -> Fetched:
    return Fetched.page(Lease(1, "http://a.test/", 1, 0.0, 0, 0, 0), f"<title>{title}</title>" + "<p>x</p>" * 5000)


def test_pages_of_others_do_not_wait_for_one_that_hangs():
    async def go() -> tuple[bool, list[Kind], str]:
        readers = Readers(reading(), count=1, seconds=30.0)
        await readers.start()
        try:
            hanging = asyncio.create_task(readers.read(page("spin")))
            await asyncio.sleep(0)
            others = await asyncio.gather(*(readers.read(page("fine")) for _ in range(40)))
            was_hanging = not hanging.done()
            readers._seconds = 0.5  # enough seen
            return was_hanging, [visit.outcome.kind for visit in others], (await hanging).outcome.reason
        finally:
            await readers.close()

    was_hanging, others, reason = asyncio.run(go())
    assert was_hanging
    assert others == [Kind.FETCHED] * 40
    assert reason == "reader killed after 0.5 s"


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


@asynccontextmanager
async def many_hanging(seconds: float) -> AsyncIterator[tuple[Readers, list[asyncio.Task[Visit]]]]:
    """One reader, and more hanging pages than may be read at the same time."""
    readers = Readers(reading(), count=1, seconds=seconds)
    readers._slow = 0.1
    await readers.start()
    hanging = [asyncio.create_task(readers.read(page("spin"))) for _ in range(MOST_RETIRED + 3)]
    try:
        yield readers, hanging
    finally:
        for task in hanging:
            task.cancel()
        await readers.close()


def at_work(readers: Readers) -> int:
    return sum(reader.is_at_work for reader in readers._retired)


def test_only_so_many_slow_pages_are_read_at_the_same_time_and_each_has_half_of_its_time_at_least():
    async def go() -> int:
        async with many_hanging(60.0) as (readers, hanging):
            await until(lambda: at_work(readers) >= MOST_RETIRED)
            await until(lambda: all(reader.works_longer_than(readers._slow) for reader in readers._readers))
            await asyncio.sleep(1.0)  # the watch has seen it, too
            assert not any(task.done() for task in hanging)
            return at_work(readers)

    assert asyncio.run(go()) == MOST_RETIRED


def test_where_very_many_hang_the_one_that_has_taken_longest_makes_room():
    async def go() -> set[str]:
        async with many_hanging(4.0) as (readers, hanging):
            fine = await readers.read(page("fine"))
            assert fine.outcome.kind is Kind.FETCHED
            return {visit.outcome.reason for visit in await asyncio.gather(*hanging)}

    made_room = "reader killed after 2 s, as 4 others were slow, too"
    assert {made_room} <= asyncio.run(go()) <= {made_room, "reader killed after 4 s"}


def test_after_a_slow_page_there_is_a_reader_more_for_some_time():
    async def go() -> None:
        readers = Readers(reading(), count=1, seconds=60.0)
        readers._slow = 0.1
        await readers.start()
        try:
            await readers.read(page("slow"))
            await until(lambda: readers.ready == 2)
            readers._spare_until = time.monotonic() - 1
            await until(lambda: len(readers._readers) == 1)
            assert (await readers.read(page("fine"))).outcome.kind is Kind.FETCHED
        finally:
            await readers.close()

    asyncio.run(go())


def test_a_reader_that_cannot_be_started_is_tried_again_and_leaves_no_files_open(monkeypatch):
    start = subprocess.Popen
    failures = 3

    def failing(*arguments: Any, **named: Any) -> subprocess.Popen[bytes]:
        nonlocal failures
        if failures:
            failures -= 1
            raise OSError(errno.EAGAIN, "no more processes")
        return start(*arguments, **named)

    async def go() -> tuple[Kind, int]:
        readers = Readers(reading(), count=1)
        await readers.start()
        try:
            await readers.read(page("fine"))
            before = psutil.Process().num_fds()
            monkeypatch.setattr(subprocess, "Popen", failing)
            readers._readers[0].kill("killed by the test")
            await until(lambda: not readers._readers)
            kind = (await readers.read(page("fine"))).outcome.kind
            return kind, psutil.Process().num_fds() - before
        finally:
            await readers.close()

    assert asyncio.run(go()) == (Kind.FETCHED, 0)
    assert not failures


def test_a_slow_page_is_read_and_so_are_those_behind_it_each_once(caplog):
    async def go() -> list[Kind]:
        readers = Readers(reading(), count=1, seconds=60.0)
        readers._slow = 0.1
        await readers.start()
        try:
            titles = ["slow", *["fine"] * 11]
            visits = await asyncio.gather(*(readers.read(page(title)) for title in titles))
            await asyncio.sleep(0.2)
            return [visit.outcome.kind for visit in visits]
        finally:
            await readers.close()

    assert asyncio.run(go()) == [Kind.FETCHED] * 12
    assert not caplog.records


def test_a_reader_ends_by_itself_when_its_processor_time_is_up():
    async def go() -> str:
        readers = Readers(reading(), count=1, seconds=1.0)
        await readers.start()
        assert readers._watch is not None
        readers._watch.cancel()  # as if the crawl's own process were stopped
        try:
            async with asyncio.timeout(60):
                return (await readers.read(page("spin"))).outcome.reason
        finally:
            readers._watch = None
            await readers.close()

    assert asyncio.run(go()) == "reader killed after 1 s"


PARENT = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from hostile.test_reader_attacks import page, reading
from lycosa.crawl.reader_pool import Readers

async def main():
    readers = Readers(reading(), count=2, seconds=3600.0)
    await readers.start()
    tasks = [asyncio.create_task(readers.read(page("spin"))) for _ in range(2)]
    await asyncio.sleep(0.2)
    print(*(reader._process.pid for reader in readers._readers), flush=True)
    await asyncio.gather(*tasks)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="where the system does not tell, a thread looks; it cannot here")
def test_readers_that_hang_end_with_a_crawl_that_is_killed():
    tests = Path(__file__).parents[1]
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tests)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    readers = [int(pid) for pid in parent.stdout.readline().split()]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 30
    try:
        assert len(readers) == 2
        while any(map(is_alive, readers)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(is_alive, readers))
    finally:
        for pid in readers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie: who inherited it may take its time."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class DyingJudge:
    """Its process is killed over pages called `once`, if nobody has been there before, and over `always`."""

    name = "dying"

    def __init__(self, traces: Path) -> None:
        self._traces = traces

    def judge(self, page: Page) -> Judgement:
        is_first = not self._traces.exists()
        with self._traces.open("a") as file:
            file.write(f"{page.title}\n")
        if page.title == "always" or (page.title == "once" and is_first):
            os.kill(os.getpid(), signal.SIGKILL)
        if page.title == "crash":
            os.abort()
        return Judgement(1.0, True)


@pytest.mark.parametrize(
    ("title", "kind", "times"),
    [("once", Kind.FETCHED, 2), ("always", Kind.UNREADABLE, 2), ("crash", Kind.UNREADABLE, 1)],
)
def test_a_page_whose_reader_was_killed_by_others_is_read_once_more(title, kind, times, tmp_path: Path):
    traces = tmp_path / "traces"

    async def go() -> Kind:
        judge = DyingJudge(traces)
        readers = Readers(Reading(urls=Urls(UrlRules()), judge=judge), count=1)  # type: ignore[arg-type]
        await readers.start()
        try:
            # Pages that the reader has not taken from its socket make its death look different.
            visit, *others = await asyncio.gather(*(readers.read(page(each)) for each in [title, *["fine"] * 4]))
            assert [each.outcome.kind for each in others] == [Kind.FETCHED] * 4
            return visit.outcome.kind
        finally:
            await readers.close()

    assert asyncio.run(go()) is kind
    assert traces.read_text().splitlines().count(title) == times
