"""Reader processes: whatever a page does to its reader, it costs that page only."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.crawl.reader_answers import LENGTH, pack
from lycosa.crawl.reader_pool import DEPTH, USUAL_ANSWERS, InlineReader, Readers, _Job, _Reader
from lycosa.crawl.reader_requests import NOWHERE, Bodies
from lycosa.crawl.reading import Read, Reading, read
from lycosa.errors import LycosaError
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Fetched, Kind, Lease, Outcome, Response

TRAP = """
import os, time
from lycosa.model import Judgement

class TrapJudge:
    '''Does to its process what the page's title says.'''
    name = "trap"

    def __setstate__(self, state):
        '''Called in a reader, as it starts.'''
        self.__dict__ = state
        time.sleep(state["seconds_to_start"])

    def judge(self, page):
        match page.title:
            case "think": time.sleep(0.4)
            case "hang": time.sleep(3600)
            case "crash": os._exit(1)
            case "abort": os.abort()
            case "raise": raise ValueError("the page did it")
            case "eat": bytearray(4 << 30)
            case "recurse": self.judge_again(page)
            case "babble": return Judgement(object(), False)
        return Judgement(1.0, True, {}, {"pid": float(os.getpid())})

    def judge_again(self, page):
        return self.judge_again(page)
"""


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A judge that misbehaves on request, in a module that reader processes can import."""
    (tmp_path / "trap_judge.py").write_text(TRAP)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    module = importlib.import_module("trap_judge")
    yield Reading(urls=Urls(UrlRules()), judge=module.TrapJudge())
    del sys.modules["trap_judge"]


@pytest.fixture
def reading():
    return Reading(urls=Urls(UrlRules()), judge=KeywordJudge("recreational cycling"))


@asynccontextmanager
async def running(reading: Reading, **settings):
    readers = Readers(reading, **settings)
    await readers.start()
    try:
        yield readers
    finally:
        await readers.close()


def document(title: str, number: int = 0, body: str = "") -> Fetched:
    url = f"http://a.test/{number}"
    text = f"<title>{title}</title><body>{body}</body>".encode()
    response = Response(url, 200, [("content-type", "text/html"), ("x-other", "1")], text)
    return Fetched(Lease(number, url, 1, 0.0, 0, 0, 0), Outcome(Kind.FETCHED, "http 200", status=200), response)


def processes() -> set[int]:
    """Reader processes that are our children, dead ones that nobody has asked after included."""
    found = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == os.getpid():
            found.add(int(entry.name))
    return found


class TestReading:
    def test_a_page_reads_the_same_as_in_this_process(self, reading):
        body = (
            "Recreational cycling. <a href='/x' rel='nofollow'>on</a> <a href='y.pdf'>no</a> <a href='mailto:a@b'>m</a>"
            "<a href='/x'>quiet roads</a>"
        )
        fetched = document("Bikes", 3, body)

        async def go():
            async with running(reading, count=1, whole_pages=True) as readers:
                return await readers.read(fetched)

        assert asyncio.run(go()) == read(fetched, reading) == asyncio.run(InlineReader(reading).read(fetched))

    def test_text_stays_behind_unless_it_is_wanted(self, reading):
        async def go():
            async with running(reading, count=1) as readers:
                body = "Recreational cycling on quiet roads. <a href='/x'>on</a> <a href='/x'>and on</a>"
                return await readers.read(document("Bikes", 3, body))

        visit = asyncio.run(go())
        whole = read(visit.fetched, reading).page
        links = [link._replace(context="", path="") for link in whole.links]
        assert ("and on",) in [link.other_anchors for link in links]
        assert visit.page == replace(whole, text="", own_text="", terms={}, links=links)
        assert visit.page.words > 3

    def test_another_judge_takes_over(self, reading):
        """Also in a reader that is started after it came."""
        other = replace(reading, judge=KeywordJudge("knitting"))
        page = document("Knitting", 3, "Knitting patterns.")

        async def go():
            async with running(reading, count=1) as readers:
                before = await readers.read(page)
                readers.adopt(other)
                after = await readers.read(page)
                readers._readers[0].kill("test")
                while not readers.restarts or not readers.ready:  # noqa: ASYNC110 - a test waits
                    await asyncio.sleep(0.01)
                return before, after, await readers.read(page)

        before, after, renewed = (visit.judgement.relevance for visit in asyncio.run(go()))
        assert before == 0
        assert after == renewed == read(page, other).judgement.relevance > 0.5

    def test_what_is_no_document_passes_through(self, reading):
        outcome = Outcome(Kind.HTTP_ERROR, "http 404", status=404)
        fetched = replace(document("x"), outcome=outcome)

        async def go():
            return await Readers(reading).read(fetched)  # not started: nothing is asked of a process

        assert asyncio.run(go()).outcome is outcome

    def test_many_pages_through_few_readers(self, trap):
        async def go():
            async with running(trap, count=2) as readers:
                return await asyncio.gather(*(readers.read(document("fine", n)) for n in range(200)))

        visits = asyncio.run(go())
        assert [visit.page.url for visit in visits] == [f"http://a.test/{n}" for n in range(200)]
        assert len({visit.judgement.terms["pid"] for visit in visits}) == 2

    @pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory")
    def test_bodies_of_many_pages_go_by_memory(self, trap, monkeypatch):
        """What a body took is free again when its page has been read."""
        places, add = [], Bodies.add
        monkeypatch.setattr(Bodies, "add", lambda self, body: places.append(add(self, body)) or places[-1])

        async def go():
            async with running(trap, count=1) as readers:
                pages = [document("fine", n, "word " * 20_000) for n in range(100)]
                return await asyncio.gather(*map(readers.read, pages))

        assert {visit.outcome.kind for visit in asyncio.run(go())} == {Kind.FETCHED}
        assert len(places) == 100
        assert NOWHERE not in places

    def test_answers_that_are_longer_than_what_is_received_at_once(self, reading):
        links = "".join(f"<a href='/{'x' * 50}/{n}'>{'some words ' * 5}{n}</a>" for n in range(3_000))
        pages = [document("many links", n, links * (1 + n % 2)) for n in range(14)]
        short = [document("short", n) for n in range(14, 20)]

        async def go():
            async with running(reading, count=1, whole_pages=True) as readers:
                return await asyncio.gather(*map(readers.read, pages + short))

        visits = asyncio.run(go())
        assert len(pack(visits[0], whole_pages=True)) > USUAL_ANSWERS
        expected = [read(page, reading) for page in (*pages[:2], *short[:1])]
        for visit in visits:
            like = expected[2] if visit.page.title == "short" else expected[int(visit.page.url.rpartition("/")[2]) % 2]
            assert visit.page == replace(like.page, url=visit.page.url)

    @given(st.lists(st.integers(300, 300_000), min_size=1, max_size=12), st.lists(st.integers(1, 400), max_size=20))
    def test_answers_in_whatever_pieces_they_come(self, pieces, words):
        """A long one is among them. What comes after an answer in the same piece belongs to the next one."""
        outcomes = [Outcome(Kind.FETCHED, "http 200", f"{n} " * count) for n, count in enumerate([90_000, *words])]
        answers = [b"", *(pack(Read(outcome), whole_pages=False) for outcome in outcomes)]
        left = b"".join(LENGTH.pack(len(answer)) + answer for answer in answers)

        async def go():
            pool = SimpleNamespace(is_retired=lambda _: False, dispatch=lambda: None)
            reader, loop = _Reader(pool, None, None), asyncio.get_running_loop()
            jobs = [_Job(None, loop.create_future()) for _ in outcomes]
            reader.jobs.extend(jobs)
            rest, sizes = left, cycle(pieces)
            while rest:
                with reader.get_buffer() as buffer:
                    count = min(len(buffer), len(rest), next(sizes))
                    buffer[:count] = rest[:count]
                reader.buffer_updated(count)
                rest = rest[count:]
            assert reader.is_ready.result()
            return [job.answer.result().outcome for job in jobs]

        assert asyncio.run(go()) == outcomes

    def test_a_page_of_megabytes(self, reading):
        async def go():
            async with running(reading, count=1) as readers:
                return await readers.read(document("long", 0, "word " * 1_000_000))

        assert asyncio.run(go()).outcome.kind is Kind.FETCHED


class TestHarm:
    @pytest.mark.parametrize(
        ("trouble", "reason", "detail", "is_fatal"),
        [
            ("hang", "reader killed after 2 s", "", True),
            ("crash", "reader crashed", "", True),
            ("abort", "reader crashed", "", True),
            ("babble", "reader crashed", "", True),
            ("raise", "reader fault", "ValueError: the page did it", False),
            ("eat", "reader fault", "MemoryError: ", False),
            ("recurse", "reader fault", "RecursionError: maximum recursion depth exceeded", False),
        ],
    )
    def test_a_page_costs_itself_only(self, trap, trouble, reason, detail, is_fatal, capfd):
        """With one reader, so that the pages behind the bad one are queued in the very process that dies."""

        async def go():
            async with running(trap, count=1, seconds=2.0 if trouble == "hang" else 60.0) as readers:
                titles = ["fine", trouble, *["fine"] * (2 * DEPTH)]
                pages = (readers.read(document(title, n)) for n, title in enumerate(titles))
                return await asyncio.gather(*pages), readers.restarts

        visits, restarts = asyncio.run(go())
        bad = visits.pop(1)
        assert (bad.outcome.kind, bad.outcome.reason) == (Kind.UNREADABLE, reason)
        assert bad.outcome.detail == detail
        assert bad.page is None
        assert [visit.outcome.kind for visit in visits] == [Kind.FETCHED] * len(visits)
        assert restarts == is_fatal

    def test_an_answer_that_nobody_has_read_when_the_reader_dies(self, trap):
        """The crawl is busy meanwhile, and then notices the death because it cannot send another page."""

        async def go():
            async with running(trap, count=1) as readers:
                pages = [
                    asyncio.ensure_future(readers.read(document(title, n))) for n, title in enumerate(("fine", "crash"))
                ]
                await asyncio.sleep(0)
                is_dead = os.WEXITED | os.WNOWAIT
                os.waitid(os.P_PID, readers._readers[0]._process.pid, is_dead)  # noqa: ASYNC222 - busy with this alone
                return await asyncio.gather(*pages, readers.read(document("fine", 2)))

        assert [visit.outcome.reason for visit in asyncio.run(go())] == ["http 200", "reader crashed", "http 200"]

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, the C library decides what it keeps")
    def test_the_memory_that_a_large_page_took_goes_back(self, reading):
        large = document("large", 1)
        markup = b"<p>some <b>words</b> about <a href=/x>cycling</a></p>" * 100_000
        large = replace(large, response=replace(large.response, body=markup))

        async def go():
            async with running(reading, count=1) as readers:
                reader = psutil.Process(readers._readers[0]._process.pid)
                await readers.read(document("small"))
                before = reader.memory_info().rss
                assert (await readers.read(large)).outcome.kind is Kind.FETCHED
                await readers.read(document("small", 2))
                return reader.memory_info().rss - before

        assert asyncio.run(go()) < 80 << 20  # without it, three times as much

    def test_readers_that_die_one_after_the_other(self, trap):
        async def go():
            async with running(trap, count=2) as readers:
                titles = ["crash", "fine"] * 5
                return await asyncio.gather(*(readers.read(document(title, n)) for n, title in enumerate(titles)))

        visits = asyncio.run(go())
        assert [visit.outcome.reason for visit in visits] == ["reader crashed", "http 200"] * 5

    def test_a_page_that_comes_while_the_only_reader_is_being_replaced(self, trap):
        async def go():
            async with running(trap, count=1) as readers:
                await readers.read(document("crash"))
                return await readers.read(document("fine", 1))

        assert asyncio.run(go()).outcome.kind is Kind.FETCHED

    def test_the_time_a_reader_takes_to_start_is_not_the_page_s(self, trap):
        """Starting takes longer than the limit for a page; the second page is given to a reader that is starting, and
        takes longer than from one look at the readers to the next."""
        trap.judge.seconds_to_start = 1.2

        async def go():
            async with running(trap, count=1, seconds=1.0) as readers:
                first = await readers.read(document("crash"))
                return first, await readers.read(document("think", 1))

        first, second = asyncio.run(go())
        assert first.outcome.reason == "reader crashed"
        assert second.outcome.kind is Kind.FETCHED

    def test_a_page_nobody_waits_for_any_more(self, trap):
        async def go():
            async with running(trap, count=1) as readers:
                task = asyncio.create_task(readers.read(document("fine")))
                await asyncio.sleep(0)
                task.cancel()
                return await readers.read(document("fine", 1))

        assert asyncio.run(go()).page.url == "http://a.test/1"

    def test_readers_that_cannot_start_are_told_at_once(self, trap, monkeypatch, capfd):
        monkeypatch.setenv("PYTHONPATH", "/nowhere")
        monkeypatch.setattr(sys, "path", [entry for entry in sys.path if not (Path(entry) / "trap_judge.py").exists()])

        async def go():
            async with running(trap, count=2):
                pass

        before = processes()
        with pytest.raises(LycosaError, match="did not start"):
            asyncio.run(go())
        assert "trap_judge" in capfd.readouterr().err
        assert processes() <= before

    def test_files_of_the_working_directory_are_not_imported(self, reading, tmp_path, monkeypatch):
        for name in ("random", "struct", "numpy", "lycosa"):
            (tmp_path / f"{name}.py").write_text("raise SystemExit('taken for the real one')")
        monkeypatch.chdir(tmp_path)

        async def go():
            async with running(reading, count=1) as readers:
                return await readers.read(document("fine"))

        assert asyncio.run(go()).outcome.kind is Kind.FETCHED


class TestClosing:
    def test_no_process_is_left_behind(self, trap):
        before = processes()

        async def go():
            readers = Readers(trap, count=2)
            await readers.start()
            started = processes() - before
            waiting = asyncio.create_task(readers.read(document("hang")))
            await asyncio.sleep(0.05)
            await readers.close()
            waiting.cancel()
            return started

        assert len(asyncio.run(go())) == 2
        assert processes() <= before

    def test_also_when_a_reader_has_just_died(self, trap):
        before = processes()

        async def go():
            readers = Readers(trap, count=2)
            await readers.start()
            await readers.read(document("crash"))
            await readers.close()

        asyncio.run(go())
        assert processes() <= before
