"""Reader processes: reading takes most of the time and is where hostile bytes do their worst.

Each reader is a process of its own with a memory limit. One that hangs on a page is killed after a time limit; a page
that crashes its reader costs only itself: the pages queued behind it go to another reader, and a new process is
started. A page whose reader was killed by somebody else is read once more.

Messages are length-prefixed. The reader (`reader_process`) gets the import path and pickled settings once, then
marshalled tuples, which are pages (`reader_requests`) or new settings. What it sends back is of bounded length, and
checked (`reader_answers`).

Pages that take long must not hold up those of other hosts. A reader that is slow over a page gets no other one: those
queued behind it go back, and another process takes its place while it may finish. Where one page was slow, more may
follow: for a minute there is a reader more, so that the next one does not leave all others waiting. Only so many slow
pages are read at the same time; beyond that, the one that has taken longest gets half of the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import marshal
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Coroutine
from typing import Any

import cloudpickle

from lycosa.crawl.reader_answers import LENGTH, LONGEST, unpack
from lycosa.crawl.reader_limits import processor_time
from lycosa.crawl.reader_requests import NOWHERE, Bodies, Request
from lycosa.crawl.reading import Read, Reading, read
from lycosa.errors import LycosaError
from lycosa.model import Fetched, Kind, Outcome, Visit

START_SECONDS = 60.0
"""Seconds after which a reader that is not ready never will be."""
SLOW = 1.5
"""Seconds of processor time on one page, or a quarter of the time limit if that is less, after which a reader gets no
more pages. Not seconds that have passed: on a busy machine every page would take long."""
MOST_RETIRED = 4
"""Number of readers that may finish a slow page at the same time, unless there are more readers than that. With several
hosts whose pages hang, there is a reader for the others all the same."""
SPARE_SECONDS = 60.0
"""For how long after a slow page there is a reader more."""
DEPTH = 12
"""Maximum number of pages given to a reader: the one it reads, and some so that it does not wait while we commit."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""numpy's library for algebra would start a thread for each core, with memory of its own, for nothing."""
USUAL_ANSWERS = 256 << 10
"""Bytes of answers that are received at once, unless one is longer."""


class InlineReader:
    """Reads in the calling process: for replays and tests, where pages are trusted or few."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    async def read(self, fetched: Fetched, furniture: bytes = b"") -> Visit:
        return read(fetched, self._reading, furniture)

    def adopt(self, reading: Reading) -> None:
        self._reading = reading

    async def close(self) -> None:
        pass


class Readers:
    """A pool of reader processes driven by the event loop.

    Unless `whole_pages` are asked for, pages come back without text, terms, and the context and path of links: the
    ledger does not need them, and they are most of what would have to be sent.
    """

    def __init__(
        self,
        reading: Reading,
        *,
        count: int = 2,
        seconds: float = 10.0,
        memory: int = 2 << 30,
        whole_pages: bool = False,
        confined: bool = False,
    ) -> None:
        """`confined`: readers have neither network nor files that they could change (`reader_confinement`)."""
        self._readers: list[_Reader] = []
        self._memory = memory
        self._seconds = seconds
        self._whole_pages = whole_pages
        self._confined = confined
        self._settings = b""
        self.adopt(reading)
        self.count = count
        self._slow = min(SLOW, seconds / 4)
        self._retired: list[_Reader] = []
        """Readers that are slow over their last page, longest first."""
        self._starting = 0
        self._spare_until = 0.0
        self._queue: deque[_Job] = deque()
        self._watch: asyncio.Task[None] | None = None
        self._renewals: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._language_model: Any = None
        """A file that the readers share (`page.language_model`); None where there is no room for it."""
        self.restarts = 0

    async def start(self) -> None:
        """Return when all readers are ready, so that a failure to start is known before anything is fetched."""
        with contextlib.suppress(OSError):
            self._language_model = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the readers
        self._readers = [await _Reader.start(self) for _ in range(self.count)]
        self._watch = asyncio.create_task(self._watch_over())
        if not all(await asyncio.gather(*(reader.is_ready for reader in self._readers))):
            await self.close()
            raise LycosaError("a reader process did not start; see its output above")

    @property
    def ready(self) -> int:
        """Number of readers that are ready; the others are being started."""
        return sum(reader.is_ready.done() for reader in self._readers)

    async def read(self, fetched: Fetched, furniture: bytes = b"") -> Visit:
        if fetched.outcome.kind is not Kind.FETCHED or fetched.response is None:
            return Visit(fetched, fetched.outcome)
        request = Request(fetched.response, furniture, fetched.known)
        job = _Job(request, asyncio.get_running_loop().create_future())
        self._queue.append(job)
        self.dispatch()
        result = await job.answer
        return Visit(fetched, result.outcome, result.page, result.judgement, is_same=result.is_same)

    def adopt(self, reading: Reading) -> None:
        """Read like this from now on, for example with another judge; this does not affect pages sent before."""
        # By value where the class is of `__main__` or of a notebook, which a reader cannot import.
        self._settings = cloudpickle.dumps((reading, self._memory, self._seconds, self._whole_pages, self._confined))
        news = marshal.dumps((self._settings,))
        for reader in self._readers:
            reader.send(news)

    def dispatch(self) -> None:
        """Give waiting pages to the least busy readers."""
        while self._queue and self._readers:
            reader = min(self._readers, key=lambda reader: len(reader.jobs))
            if len(reader.jobs) >= DEPTH:
                return
            job = self._queue.popleft()
            if not job.answer.done():
                reader.give(job)

    async def _watch_over(self) -> None:
        while True:
            await asyncio.sleep(min(0.25, self._seconds / 4))
            now = time.monotonic()
            for reader in [*self._readers, *self._retired]:
                if not reader.is_ready.done():
                    if now - reader.since > START_SECONDS:
                        reader.kill("reader did not start")
                elif reader.jobs and now - reader.since > self._seconds:
                    reader.kill(self.killed)
                elif reader.jobs and reader in self._readers and reader.works_longer_than(self._slow):
                    self._retire(reader)
            self._fill()  # again, where a process could not be started
            await self._let_spare_go(now)

    @property
    def killed(self) -> str:
        """Why a page was not read that took too long."""
        return f"reader killed after {self._seconds:g} s"

    def _retire(self, reader: _Reader) -> None:
        """Another process takes its place, if not too many are slow already."""
        at_work = [other for other in self._retired if other.is_at_work]
        if len(at_work) >= max(MOST_RETIRED, self.count):
            if time.monotonic() - at_work[0].since < self._seconds / 2:
                return
            at_work[0].kill(f"reader killed after {self._seconds / 2:g} s, as {len(at_work)} others were slow, too")
        self._readers.remove(reader)
        self._retired.append(reader)
        self._put_back(reader, keep=1)
        self._spare_until = time.monotonic() + SPARE_SECONDS
        self._fill()

    async def _let_spare_go(self, now: float) -> None:
        idle = next((reader for reader in self._readers if not reader.jobs and reader.is_ready.done()), None)
        if idle is not None and now > self._spare_until and len(self._readers) > self.count:
            self._readers.remove(idle)
            await idle.close()

    def _put_back(self, reader: _Reader, *, keep: int) -> None:
        """The pages that a reader has not begun go back to the head of the queue."""
        while len(reader.jobs) > keep:
            self._queue.appendleft(reader.jobs.pop())

    def _fill(self) -> None:
        """Start as many readers as are missing."""
        wanted = self.count + (time.monotonic() < self._spare_until)
        while len(self._readers) + self._starting < wanted and not self._is_closed:
            self._starting += 1
            self._run(self._start_another())

    async def _start_another(self) -> None:
        try:
            if not self._is_closed:
                self._readers.append(await _Reader.start(self))
                self.dispatch()
        except OSError:  # no room for a process now: the watch tries again, and a stall says what is missing
            pass
        finally:
            self._starting -= 1

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._renewals.add(task)
        task.add_done_callback(self._renewals.discard)

    def is_retired(self, reader: _Reader) -> bool:
        return reader in self._retired

    def replace(self, reader: _Reader) -> None:
        """A reader died: its untouched pages go back to the head of the queue, a new process takes its place."""
        self._put_back(reader, keep=0)
        self.restarts += 1
        if reader in self._retired:  # another one has its place already
            self._retired.remove(reader)
            self.dispatch()
            return
        self._readers.remove(reader)
        self._fill()

    async def close(self) -> None:
        self._is_closed = True
        if self._watch:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        await asyncio.gather(*self._renewals, return_exceptions=True)
        for reader in [*self._readers, *self._retired]:
            await reader.close()
        self._readers, self._retired = [], []
        if self._language_model is not None:
            self._language_model.close()


class _Job:
    __slots__ = ("answer", "is_second", "place", "request")

    def __init__(self, request: Request, answer: asyncio.Future[Read]) -> None:
        self.request = request
        self.answer = answer
        self.place = NOWHERE
        """Of the body, in its reader's memory."""
        self.is_second = False
        """Its reader was killed before, by somebody else."""


class _Reader(asyncio.BufferedProtocol):
    """One process, seen from the crawl's side."""

    def __init__(self, pool: Readers, process: subprocess.Popen[bytes], bodies: Bodies | None) -> None:
        self.jobs: deque[_Job] = deque()
        self.since = time.monotonic()
        """When the page at the head of `jobs` was begun; before the reader is ready, when its process was."""
        self.is_ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """True when it has said so, False if it died before."""
        self._pool = pool
        self._process = process
        self._bodies = bodies
        self._transport: asyncio.Transport | None = None
        self._received = bytearray(USUAL_ANSWERS)
        self._filled = 0
        """Bytes received that are no whole answer yet."""
        self._death = "reader crashed"
        self._looked_at = (0.0, 0.0)
        """When the page was begun that it was last seen to work on, and its processor time then."""
        self._is_closing = False
        self._is_killed = False
        """By us."""
        self._is_over = False
        """It was retired and has read its last page."""

    @classmethod
    async def start(cls, pool: Readers) -> _Reader:
        ours, theirs = socket.socketpair()
        bodies = Bodies.create()
        model = -1 if pool._language_model is None else pool._language_model.fileno()
        files = [theirs.fileno(), model, -1 if bodies is None else bodies.file]
        numbers = [files[0], os.getpid(), *files[1:]]
        # -P: a file named random.py in the directory where the crawl was started is not to be imported.
        command = [sys.executable, "-P", "-m", "lycosa.crawl.reader_process", *map(str, numbers)]
        # A session of its own: Ctrl-C in the terminal goes to the crawl, which then ends its readers in order.
        try:
            process = subprocess.Popen(  # noqa: ASYNC220
                command,
                pass_fds=[file for file in files if file >= 0],
                env=ONE_THREAD | os.environ,
                start_new_session=True,
            )
        except OSError:  # no room for another process
            ours.close()
            if bodies is not None:
                bodies.close()
            raise
        finally:
            theirs.close()
            if bodies is not None:
                os.close(bodies.file)
        ours.setblocking(False)
        _, reader = await asyncio.get_running_loop().create_connection(lambda: cls(pool, process, bodies), sock=ours)
        reader.send(_import_path())
        reader.send(pool._settings)
        return reader

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def give(self, job: _Job) -> None:
        if not self.jobs and self.is_ready.done():
            self.since = time.monotonic()
        self.jobs.append(job)
        job.place = NOWHERE if self._bodies is None else self._bodies.add(job.request.response.body)
        self.send(job.request.packed(job.place))

    def send(self, message: bytes) -> None:
        assert self._transport is not None
        self._transport.write(LENGTH.pack(len(message)) + message)

    def get_buffer(self, sizehint: int = -1) -> memoryview:  # noqa: ARG002 - asyncio passes it
        if self._filled == len(self._received):  # of one answer
            self._received = self._received + bytearray(len(self._received))
        return memoryview(self._received)[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        start = 0
        with memoryview(self._received) as received:
            while self._filled >= start + LENGTH.size:
                (length,) = LENGTH.unpack_from(received, start)
                if length > LONGEST:
                    self.kill("reader crashed")
                    return
                end = start + LENGTH.size + length
                if self._filled < end:
                    break
                with received[start + LENGTH.size : end] as message:
                    self._answer(message)
                start = end
            if not start:  # a long answer comes in many pieces: it is not to be copied at each of them
                return
            rest = bytes(received[start : self._filled])
        if not rest and len(self._received) > USUAL_ANSWERS:
            self._received = bytearray(USUAL_ANSWERS)
        else:
            self._received[: len(rest)] = rest
        self._filled = len(rest)

    def _answer(self, message: memoryview) -> None:
        self.since = time.monotonic()
        if not message:
            self.is_ready.set_result(True)
            return
        if self._is_over:  # pages that were taken back when it was retired: others read them
            return
        # If this fails, asyncio closes the connection: the page counts as one that crashed its reader.
        result = unpack(message)
        job = self.jobs.popleft()
        if self._bodies is not None:
            self._bodies.took(job.place)
        if not job.answer.done():
            job.answer.set_result(result)
        if self._pool.is_retired(self):
            self._is_over = True
            self._process.kill()
        self._pool.dispatch()

    @property
    def is_at_work(self) -> bool:
        return not (self._is_killed or self._is_over)

    def works_longer_than(self, seconds: float) -> bool:
        """Whether it has used more processor time on its page since it was first looked at."""
        used = processor_time(self._process.pid)
        if self._looked_at[0] != self.since:
            self._looked_at = (self.since, used)
        return used - self._looked_at[1] > seconds

    def kill(self, why: str) -> None:
        self._death = why
        self._is_killed = True
        self._process.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.is_ready.done():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(2.0)  # it may still be saying what is the matter
        self._process.kill()
        code = self._process.wait()
        if self._bodies is not None:
            self._bodies.close()
        if isinstance(exc, OSError):
            exc = self._take_last_answers() or exc
        if not self.is_ready.done():
            self.is_ready.set_result(False)
        if code == -signal.SIGXCPU:
            self._death = self._pool.killed
        if self._is_closing:
            return
        # Memory ran out, or a person did it: that says nothing about the page, which gets another reader.
        is_by_others = code == -signal.SIGKILL and not self._is_killed and not self._is_over
        if self.jobs and is_by_others and not _is_our_refusal(exc) and not self.jobs[0].is_second:
            self.jobs[0].is_second = True
        elif self.jobs:
            job = self.jobs.popleft()
            if not job.answer.done():
                job.answer.set_result(Read(Outcome(Kind.UNREADABLE, self._death)))
        self._pool.replace(self)

    def _take_last_answers(self) -> Exception | None:
        """Those it gave before it died: asyncio has left them unread if it noticed while writing. Return what is wrong
        with them."""
        assert self._transport is not None
        number = self._transport.get_extra_info("socket").fileno()
        try:
            while count := os.readv(number, [self.get_buffer()]):
                self.buffer_updated(count)
        except OSError:  # nothing is left
            return None
        except Exception as error:
            return error
        return None

    async def close(self) -> None:
        self._is_closing = True
        if self._transport:
            self._transport.close()
        self._process.kill()
        self._process.wait()


def _is_our_refusal(exc: Exception | None) -> bool:
    """Whether a connection ended because we could not make sense of what came; a reader that dies ends it otherwise."""
    return exc is not None and not isinstance(exc, ConnectionError)


def _import_path() -> bytes:
    return marshal.dumps([os.path.abspath(entry) for entry in sys.path])  # noqa: PTH100 - of any text
