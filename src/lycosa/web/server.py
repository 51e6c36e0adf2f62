"""The application: the API, the files of the page, events as they happen; and running it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from lycosa.errors import InputError, LycosaError
from lycosa.web import (
    alarms,
    control,
    dots,
    laboratory,
    metrics,
    openapi,
    pages,
    queue,
    results,
    review,
    sites,
    sql,
    topics,
)
from lycosa.web.crawls import House, ListedCrawl
from lycosa.web.doorkeeper import Door, Doorkeeper, is_loopback
from lycosa.web.endpoints import Call, Endpoint, NotThere, as_json, failure

STATIC = Path(__file__).parent / "static"
MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FILES = {path.name: path.read_bytes() for path in STATIC.iterdir() if path.suffix in MEDIA} if STATIC.exists() else {}
"""The files of the page by name, 150 KB in all: nothing else is served."""
PORT = 8765
UPDATE_EVERY = 1.0
"""Seconds between two looks at a crawl that somebody watches."""
BREATH_EVERY = 15.0
"""Seconds of silence after which a comment is sent, so that a lost connection is noticed."""
MOST_WATCHERS = 100
ENDPOINTS: tuple[Endpoint, ...] = (
    *control.ENDPOINTS,
    *dots.ENDPOINTS,
    *pages.ENDPOINTS,
    *review.ENDPOINTS,
    *queue.ENDPOINTS,
    *results.ENDPOINTS,
    *sites.ENDPOINTS,
    *sql.ENDPOINTS,
    *topics.ENDPOINTS,
    *alarms.ENDPOINTS,
    *laboratory.ENDPOINTS,
    *metrics.ENDPOINTS,
)


class Broadcast:
    """The figures of crawls that are watched: each is looked at once a second, however many watch it."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._listeners: dict[str, set[asyncio.Queue[str]]] = defaultdict(set)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._latest: dict[str, str] = {}

    @property
    def watchers(self) -> int:
        return sum(map(len, self._listeners.values()))

    async def follow(self, crawl: ListedCrawl) -> AsyncIterator[str]:
        """Server-sent events: the figures, whenever they have changed."""
        heard: asyncio.Queue[str] = asyncio.Queue(maxsize=1)
        self._listeners[crawl.id].add(heard)
        if crawl.id not in self._tasks:
            self._tasks[crawl.id] = asyncio.create_task(self._look(crawl))
        try:
            yield "retry: 2000\n\n" + self._latest.get(crawl.id, "")
            while True:
                try:
                    async with asyncio.timeout(BREATH_EVERY):
                        message = await heard.get()
                except TimeoutError:
                    message = ": still here\n\n"
                yield message
        finally:
            self._listeners[crawl.id].discard(heard)
            if not self._listeners[crawl.id] and (task := self._tasks.pop(crawl.id, None)):
                task.cancel()
                self._latest.pop(crawl.id, None)

    async def _look(self, crawl: ListedCrawl) -> None:
        watch, last = self._house.watch(crawl), ""
        while True:
            try:
                figures = await run_in_threadpool(watch.refresh)
                figures["is_learning"] = self._house.is_learning(crawl)
                at = figures.pop("at")
                message = json.dumps(figures)
                if message != last:
                    self._tell(crawl, f"event: figures\ndata: {json.dumps({**figures, 'at': at})}\n\n")
                    last = message
            except LycosaError as error:
                self._tell(crawl, f"event: trouble\ndata: {json.dumps({'error': str(error)})}\n\n")
            await asyncio.sleep(UPDATE_EVERY)

    def _tell(self, crawl: ListedCrawl, message: str) -> None:
        """A listener that has not taken the last message gets the newer one instead; latecomers get it, too."""
        self._latest[crawl.id] = message
        for heard in self._listeners[crawl.id]:
            with contextlib.suppress(asyncio.QueueEmpty):
                heard.get_nowait()
            heard.put_nowait(message)


async def stream(request: Request) -> Response:
    house: House = request.app.state.house
    broadcast: Broadcast = request.app.state.broadcast
    try:
        crawl = await run_in_threadpool(lambda: Call(house, request.path_params).crawl)
    except NotThere as error:
        return failure(404, str(error))
    if broadcast.watchers >= MOST_WATCHERS:
        return failure(400, f"{MOST_WATCHERS} people watch already")
    return StreamingResponse(broadcast.follow(crawl), media_type="text/event-stream")


async def file(request: Request) -> Response:
    name = request.path_params.get("name", "") or "index.html"
    if name not in FILES:
        return failure(404, "there is no such file")
    return Response(FILES[name], media_type=MEDIA[Path(name).suffix])


async def described(_request: Request) -> Response:
    return as_json(openapi.document(ENDPOINTS))


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return failure(error.status_code, str(error.detail).lower())


async def _fault(_request: Request, error: Exception) -> Response:
    return failure(500, f"a fault in the dashboard: {type(error).__name__}")


def application(house: House, door: Door) -> Doorkeeper:
    routes = [
        Route("/", file, methods=["GET"]),
        Route("/static/{name}", file, methods=["GET"]),
        Route("/api/openapi.json", described, methods=["GET"]),
        Route("/api/crawls/{crawl}/stream", stream, methods=["GET"]),
        *(Route(each.path, each.respond, methods=[each.method]) for each in ENDPOINTS),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error, Exception: _fault})
    app.state.house = house
    app.state.broadcast = Broadcast(house)
    return Doorkeeper(app, door)


def serve(
    directories: Sequence[Path],
    *,
    book: Path,
    address: str = "127.0.0.1",
    port: int = PORT,
    token: str = "",
    ready: Callable[[str], None] = lambda _url: None,
) -> None:
    """Serve until Ctrl-C. `ready` is told the URL. Port 0, or the usual one if it is taken: any free one."""
    if not token and not is_loopback(address):
        token = secrets.token_urlsafe(24)
    house = House(directories, book=book)
    listening = _listen(address, port)
    with listening:
        bound = listening.getsockname()[1]
        names = () if is_loopback(address) else (socket.gethostname(),)
        app = application(house, Door(address, bound, token, names))
        shown = f"[{address}]" if ":" in address else address
        ready(f"http://{shown}:{bound}/" + (f"?token={token}" if token else ""))
        settings = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=1,
            server_header=False,
            lifespan="off",
        )
        uvicorn.Server(settings).run(sockets=[listening])


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for choice in (port, 0) if port == PORT else (port,):
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, choice))
            listening.listen(128)
        except OSError as error:
            listening.close()
            if choice == 0 or port != PORT:
                raise InputError(f"cannot listen on {address}, port {port}: {error.strerror}") from error
        else:
            return listening
    raise AssertionError
