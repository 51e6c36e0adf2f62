"""A headless chromium that renders pages whose text and links exist only after scripts ran (pip install
'lycosa[browser]', and a chromium on the machine).

The browser has no network of its own: its proxy is a closed port, and no name resolves. Whatever a page asks for is
handed to `fetch.requisites`, which decides and fetches like any other request of the crawl; so neither a script nor a
fault of the browser reaches an address that the guard refuses. The page itself is given to it as it was fetched, and
is not asked for again.

Each page has a context of its own, without cookies, service workers, downloads, pop-ups or permissions. Dialogs are
dismissed. A page that hangs, crashes, or wants too much is given up after a time, with a reason; the browser is started
anew if it does not answer, and after a number of pages in any case.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.model import Rendering, Response

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PAGES_PER_START = 200
"""Number of pages after which the browser is started anew."""
CLOSING = 5.0
"""Seconds for a context or browser to close, after which its processes are killed."""
NOWHERE = "http://127.0.0.1:1"
"""A proxy that does not exist: what is not intercepted goes nowhere."""
ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-gpu",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--no-first-run",
    "--no-pings",
    "--mute-audio",
    "--js-flags=--max-old-space-size=512",
)
_DOM = "document.documentElement ? document.documentElement.outerHTML.slice(0, %d) : ''"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSettings:
    """Rendering of pages that are empty without scripts."""

    is_on: bool = False
    """Render such pages in a headless chromium. Needs lycosa[browser] and a chromium on the machine."""
    executable: str = ""
    """The chromium to start; empty: the one that is found on the PATH."""
    pages: int = 2
    """Maximum number of pages rendered at a time."""
    seconds: float = 20.0
    """Time limit for rendering one page, after which it is kept as it was fetched."""
    settle: float = 3.0
    """Maximum number of seconds to wait, once the document is there, until a page asks for nothing more."""
    requisites: bool = False
    """Archive what relevant pages need to look right when they are replayed: style sheets, images, fonts, scripts. Each
    of them is then opened in the browser."""
    max_requests: int = 40
    """Maximum number of requests that one page may make."""
    max_bytes: int = 20_000_000
    """Maximum size of all that they bring, and of the rendered document, in bytes."""

    def __post_init__(self) -> None:
        require_above_zero(self, "browser", "seconds", "max_bytes")
        require_at_least(self, "browser", pages=1, settle=0, max_requests=0)


@dataclass(frozen=True, slots=True)
class Unrendered:
    """Why a page was not rendered."""

    reason: str
    """A fixed phrase: `browser hangs`, `browser crashed`, `too large`."""
    detail: str = ""


class PageRequests(Protocol):
    """Serves the requests of one page (`requisites.Requisites`)."""

    fetched: list[Response]

    async def answer(self, url: str, *, method: str, kind: str) -> Response | str:
        """What the page gets; or why it gets nothing. `kind`: what the browser wants it for."""


def chromium(settings: BrowserSettings) -> str:
    """The browser's file. ConfigError says what is missing."""
    try:
        import playwright.async_api  # noqa: F401
    except ImportError as error:
        raise ConfigError("--browser needs playwright: pip install 'lycosa[browser]'") from error
    found = (
        shutil.which(settings.executable) if settings.executable else next(filter(None, map(shutil.which, NAMES)), "")
    )
    if not found:
        named = f"browser.executable is {settings.executable!r}, which is not there; " if settings.executable else ""
        raise ConfigError(
            f"{named}--browser needs a chromium: install it (apt-get install chromium) or name it by "
            "--set browser.executable=/path/to/chromium"
        )
    return found


def has_sandbox() -> bool:
    """Chromium's own sandbox does not work for root; for everybody else it is kept."""
    return os.geteuid() != 0


class Browser:
    def __init__(
        self,
        settings: BrowserSettings,
        *,
        requests: Callable[[str], PageRequests],
        user_agent: str,
        now: Callable[[], float],
    ) -> None:
        """`requests`: what serves the requests of the page with this URL."""
        self._settings = settings
        self._executable = chromium(settings)
        self._requests = requests
        self._user_agent = user_agent
        self._now = now
        self._places = asyncio.Semaphore(settings.pages)
        self._starting = asyncio.Lock()
        self._mark = ""
        """An argument by which the processes of the running browser are known."""
        self._driver: Any = None
        self._browser: Any = None
        self._rendered = 0
        self._under_way = 0

    async def render(self, response: Response, document: bytes) -> Rendering | Unrendered:
        """The page as it is after its scripts ran. `document`: its body without content encoding."""
        from playwright.async_api import Error

        async with self._places:
            started = self._now()
            try:
                async with asyncio.timeout(self._settings.seconds + CLOSING):
                    browser = await self._running()
            except (TimeoutError, Error) as error:
                await self._kill()
                return Unrendered("browser does not start", _short(error))
            requests = self._requests(response.url)
            self._under_way += 1
            try:
                found = await self._in_context(browser, response, document, requests)
            except TimeoutError:
                found = Unrendered("browser hangs", f"not done after {self._settings.seconds:g} s")
            except Error as error:
                found = Unrendered(
                    "browser crashed" if "crash" in str(error).lower() else "browser failed", _short(error)
                )
            finally:
                self._under_way -= 1
            if isinstance(found, Unrendered):
                return found
            return Rendering(found, tuple(requests.fetched), self._now() - started)

    async def _in_context(
        self, browser: Any, response: Response, document: bytes, requests: PageRequests
    ) -> bytes | Unrendered:
        context = await asyncio.wait_for(
            browser.new_context(
                user_agent=self._user_agent, service_workers="block", accept_downloads=False, permissions=[]
            ),
            CLOSING,
        )
        rendered = _Rendered(context, self._settings, requests)
        try:
            async with asyncio.timeout(self._settings.seconds):
                return await rendered.of(response, document)
        finally:
            rendered.end()
            try:
                async with asyncio.timeout(CLOSING):
                    await context.close()
            except Exception:  # it hangs, or is gone: either way this browser is not to be trusted with another page
                await self._kill()

    async def _running(self) -> Any:
        async with self._starting:
            is_worn = self._rendered >= PAGES_PER_START and not self._under_way
            if self._browser is not None and (is_worn or not self._browser.is_connected()):
                await self._kill()
            if self._browser is None:
                await self._start()
            self._rendered += 1
            return self._browser

    async def _start(self) -> None:
        from playwright.async_api import async_playwright

        self._rendered = 0
        self._mark = f"--lycosa-browser={uuid.uuid4().hex}"
        self._driver = await async_playwright().start()
        self._browser = await self._driver.chromium.launch(
            executable_path=self._executable,
            args=[*ARGUMENTS, self._mark],
            chromium_sandbox=has_sandbox(),
            proxy={"server": NOWHERE},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def _kill(self) -> None:
        """End the browser, with or without its help."""
        browser, driver, mark = self._browser, self._driver, self._mark
        self._browser = self._driver = None
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSING):
                if browser is not None and browser.is_connected():
                    await browser.close()
        for process in _marked(mark):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSING):
                if driver is not None:
                    await driver.stop()
        await _cancel_leftovers()

    async def close(self) -> None:
        await self._kill()


class _Rendered:
    """One page in its context."""

    def __init__(self, context: Any, settings: BrowserSettings, requests: PageRequests) -> None:
        self._context = context
        self._settings = settings
        self._requests = requests
        self._page: Any = None
        self._is_given = False
        """Whether the page has been given its own document."""
        self._serving: set[asyncio.Task[Any]] = set()

    async def of(self, response: Response, document: bytes) -> bytes | Unrendered:
        from playwright.async_api import Error

        context = self._context
        await context.route("**/*", lambda route: self._serve(route, response, document))
        await context.route_web_socket("**/*", lambda socket: socket.close())
        page = self._page = await context.new_page()
        context.on("page", lambda opened: _background(opened.close()))  # pop-ups
        page.on("dialog", lambda dialog: _background(dialog.dismiss()))
        limit = self._settings.seconds * 1000
        await page.goto(response.url, wait_until="domcontentloaded", timeout=limit)
        with contextlib.suppress(Error):  # some ask for ever
            await page.wait_for_load_state("networkidle", timeout=self._settings.settle * 1000)
        return await self._dom()

    async def _dom(self) -> bytes | Unrendered:
        """Read in a world of our own: what scripts of the page have redefined does not count there."""
        session = await self._context.new_cdp_session(self._page)
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "lycosa"})
        most = self._settings.max_bytes
        found = await session.send(
            "Runtime.evaluate",
            {
                "expression": _DOM % (most + 1),
                "contextId": world["executionContextId"],
                "returnByValue": True,
                "timeout": self._settings.seconds * 1000,
            },
        )
        text = found.get("result", {}).get("value")
        if not isinstance(text, str):
            return Unrendered("browser failed", "the document cannot be read")
        dom = text.encode("utf-8", "replace")
        if len(dom) > most:
            return Unrendered("too large", f"the rendered document is over {most} bytes")
        return b"<!DOCTYPE html>" + dom

    async def _serve(self, route: Any, response: Response, document: bytes) -> None:
        from playwright.async_api import Error

        task = asyncio.current_task()
        assert task is not None, "playwright calls it in a task of its own"
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        request = route.request
        with contextlib.suppress(Error):  # the page is gone meanwhile
            if request.is_navigation_request():
                is_own = request.frame == self._page.main_frame and not self._is_given and request.url == response.url
                if not is_own:  # to other pages, reloads, frames: links are what a crawl follows
                    await route.abort()
                    return
                self._is_given = True
                await route.fulfill(status=response.status, headers=_headers(response), body=document)
                return
            got = await self._requests.answer(request.url, method=request.method, kind=request.resource_type)
            if isinstance(got, str):
                await route.abort()
            else:
                await route.fulfill(status=got.status, headers=_headers(got), body=got.body)

    def end(self) -> None:
        """Nobody waits any more for what is being fetched."""
        for task in list(self._serving):
            task.cancel()


_TASKS: set[asyncio.Task[None]] = set()


def _background(work: Awaitable[Any]) -> None:
    async def quietly() -> None:
        with contextlib.suppress(Exception):  # the page may be gone before its dialog is
            await work

    task = asyncio.ensure_future(quietly())
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)


DROPPED = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie", "connection", "location"})


def _headers(response: Response) -> dict[str, str]:
    """Those that mean something to a page whose body is at hand, each once."""
    return {name: value for name, value in response.headers if name not in DROPPED and value.isprintable()}


async def _cancel_leftovers() -> None:
    """Tasks of playwright's that wait for pages which are gone: it does not end them itself."""
    package = f"{os.sep}playwright{os.sep}"
    left = [task for task in asyncio.all_tasks() if package in _file_of(task)]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _file_of(task: asyncio.Task[Any]) -> str:
    code = getattr(task.get_coro(), "cr_code", None)
    return code.co_filename if code is not None else ""


def _marked(mark: str) -> Sequence[int]:
    """The processes that were started with this argument."""
    found = []
    for entry in Path("/proc").glob("[0-9]*") if mark else ():
        with contextlib.suppress(OSError):
            if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def _short(error: BaseException) -> str:
    return " ".join(str(error).split("\n", 1)[0].split())[:200] or type(error).__name__
