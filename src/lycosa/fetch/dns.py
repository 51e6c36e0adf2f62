"""Resolves names to addresses before a connection is made.

The crawl has to know the address of a host in advance: politeness is owed to a machine behind ten names as much as to
each of the names. So names are looked up here, and libcurl is given the answer.

`getaddrinfo` blocks and does not report a time to live. It runs in a few threads of its own, answers and failures are
kept for a configurable time, and simultaneous requests for one name share one look-up. A look-up that takes long does
not keep others waiting: after a second its place goes to the next, up to a number of slow ones. Overrides supply the
addresses of hosts that no name server knows, for tests and intranets.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_address

from lycosa.errors import ConfigError

SLOW = 1.0
"""Seconds after which a look-up counts as slow, and no longer for `max_threads`."""
MOST_SLOW = 64
"""Number of slow look-ups, each with a thread that cannot be ended, beyond which others have to wait."""
_MAX_ADDRESSES = 16
"""Maximum number of addresses per name. libcurl tries one after the other; a hostile zone could list thousands."""
_PERMANENT = {getattr(socket, name, None) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY")} - {None}


@dataclass(frozen=True, slots=True)
class Resolution:
    """The result of a look-up: addresses, or the reason why there are none."""

    addresses: tuple[str, ...] = ()
    """In the order in which they should be tried; empty if the look-up failed."""
    failure: str = ""
    is_transient: bool = False
    """The name may exist: another try later may succeed."""


def look_up(host: str, port: int) -> tuple[str, ...]:
    """Ask the system's resolver. Blocks; raises OSError (`socket.gaierror`) if there is no answer."""
    # As bytes: Python would apply its own IDNA rules to a str, but URLs have been through IDNA already.
    answers = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))


class Resolver:
    """Looks up names, caches the answers, and merges simultaneous requests for one name."""

    def __init__(
        self,
        *,
        overrides: Mapping[str, str | Sequence[str]] | None = None,
        ttl: float = 300.0,
        negative_ttl: float = 60.0,
        max_entries: int = 100_000,
        max_threads: int = 16,
        timeout: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        look_up: Callable[[str, int], Sequence[str]] = look_up,
    ) -> None:
        self._exact: dict[str, Resolution] = {}
        self._suffixes: list[tuple[str, Resolution]] = []
        for pattern, addresses in (overrides or {}).items():
            self._override(pattern, (addresses,) if isinstance(addresses, str) else tuple(addresses))
        self._suffixes.sort(key=lambda entry: -len(entry[0]))
        self._ttl = ttl
        self._negative_ttl = negative_ttl
        self._max_entries = max_entries
        self._timeout = timeout
        self._clock = clock
        self._look_up = look_up
        self._threads = ThreadPoolExecutor(max_threads + MOST_SLOW, thread_name_prefix="dns")
        self._turns = asyncio.Semaphore(max_threads)
        self._slow = 0
        self._cache: OrderedDict[str, tuple[float, Resolution]] = OrderedDict()
        self._pending: dict[str, asyncio.Task[Resolution]] = {}

    def known(self, host: str) -> Resolution | None:
        """The answer, if it is known without a look-up: an override, an IP literal, or a cached answer."""
        entry = self._cache.get(host)
        if entry is not None:
            if entry[0] > self._clock():
                self._cache.move_to_end(host)
                return entry[1]
            del self._cache[host]
        found = self._exact.get(host)
        if found is not None:
            return found
        for suffix, resolution in self._suffixes:
            if host.endswith(suffix):
                return resolution
        return _literal(host)

    async def resolve(self, host: str, port: int) -> Resolution:
        """The addresses of a host, given as a name in lower case (with IDNA applied) or an IP literal."""
        known = self.known(host)
        if known is not None:
            return known
        task = self._pending.get(host)
        if task is None:
            # A separate task: whoever asked first may be cancelled while others wait.
            task = asyncio.get_running_loop().create_task(self._ask(host, port))
            self._pending[host] = task
            task.add_done_callback(lambda _: self._pending.pop(host, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancel look-ups in progress. A thread that hangs in the system's resolver is left behind."""
        tasks = list(self._pending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _ask(self, host: str, port: int) -> Resolution:
        try:
            addresses = await self._looked_up(host, port)
        except TimeoutError:
            resolution = Resolution(failure=f"no answer within {self._timeout:g} s", is_transient=True)
        except socket.gaierror as error:
            resolution = Resolution(failure=error.strerror or "", is_transient=error.errno not in _PERMANENT)
        except (OSError, UnicodeError) as error:
            resolution = Resolution(failure=str(error))
        else:
            resolution = Resolution(tuple(addresses[:_MAX_ADDRESSES]), "" if addresses else "no address")
        ttl = self._ttl if resolution.addresses else self._negative_ttl
        self._cache[host] = (self._clock() + ttl, resolution)
        self._cache.move_to_end(host)
        while len(self._cache) > self._max_entries:
            self._cache.popitem(last=False)
        return resolution

    async def _looked_up(self, host: str, port: int) -> Sequence[str]:
        """The answer of the system's resolver; TimeoutError if there is none in time."""
        await self._turns.acquire()
        look_up = asyncio.get_running_loop().run_in_executor(self._threads, self._look_up, host, port)
        look_up.add_done_callback(_retrieve)
        is_slow = False
        try:
            await asyncio.wait([look_up], timeout=min(SLOW, self._timeout))
            is_slow = not look_up.done() and self._slow < MOST_SLOW
            if is_slow:
                self._slow += 1
                # Until its thread has ended, which may be long after anybody waits for it.
                look_up.add_done_callback(self._slow_one_ended)
                self._turns.release()
            async with asyncio.timeout(max(0.0, self._timeout - SLOW)):
                return await asyncio.shield(look_up)
        finally:
            if not is_slow:
                self._turns.release()

    def _slow_one_ended(self, _: object) -> None:
        self._slow -= 1

    def _override(self, pattern: str, addresses: tuple[str, ...]) -> None:
        if not addresses:
            raise ConfigError(f"host overrides: {pattern!r} has no address; give one, such as '127.0.0.1'")
        for address in addresses:
            try:
                ip_address(address)
            except ValueError as error:
                raise ConfigError(
                    f"host overrides: {address!r} for {pattern!r} is not an address;"
                    " write it like '127.0.0.1' or 'fd12::1'"
                ) from error
        host = pattern.lower()
        if host.startswith("*."):
            self._suffixes.append((host[1:], Resolution(addresses)))
        elif "*" in host or not host:
            raise ConfigError(f"host overrides: {pattern!r} is not a host; write a whole name, or '*.example.org'")
        else:
            self._exact[host] = Resolution(addresses)


def _retrieve(look_up: asyncio.Future[Sequence[str]]) -> None:
    """Nobody may be waiting for it any more: asyncio would complain about an error that nobody has seen."""
    if not look_up.cancelled():
        look_up.exception()


def _literal(host: str) -> Resolution | None:
    # The last character rules out most names, which is cheaper than parsing.
    if not (host[-1:].isdigit() or ":" in host):
        return None
    text = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        return Resolution((str(ip_address(text)),))
    except ValueError:
        return None
