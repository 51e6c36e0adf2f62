from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from lycosa.errors import ConfigError
from lycosa.fetch.dns import Resolution, Resolver, look_up

T = TypeVar("T")


class Names:
    """A name server that records the questions and answers with addresses or an error."""

    def __init__(self, answers: dict[str, tuple[str, ...] | Exception] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> tuple[str, ...]:
        self.asked.append(host)
        answer = self.answers.get(host, ("192.0.2.1",))
        if isinstance(answer, Exception):
            raise answer
        return answer


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def run(use: Callable[[Resolver], Coroutine[Any, Any, T]], **options: Any) -> T:
    async def main() -> T:
        resolver = Resolver(**options)
        try:
            return await use(resolver)
        finally:
            await resolver.close()

    return asyncio.run(main())


def resolve(host: str, **options: Any) -> Resolution:
    return run(lambda resolver: resolver.resolve(host, 80), **options)


def test_an_answer_is_kept_for_its_time() -> None:
    names, clock = Names({"a.test": ("192.0.2.1", "2001:db8::1")}), Clock()

    async def use(resolver: Resolver) -> None:
        first = await resolver.resolve("a.test", 80)
        assert first == Resolution(("192.0.2.1", "2001:db8::1"))
        assert resolver.known("a.test") == first
        clock.now += 299
        assert await resolver.resolve("a.test", 443) == first
        assert names.asked == ["a.test"]
        clock.now += 2
        assert resolver.known("a.test") is None
        await resolver.resolve("a.test", 80)
        assert names.asked == ["a.test"] * 2

    run(use, look_up=names, clock=clock, ttl=300)


def test_a_failure_is_kept_for_its_own_time() -> None:
    names, clock = Names({"a.test": socket.gaierror(socket.EAI_NONAME, "unknown")}), Clock()

    async def use(resolver: Resolver) -> None:
        assert await resolver.resolve("a.test", 80) == Resolution(failure="unknown")
        clock.now += 59
        await resolver.resolve("a.test", 80)
        assert names.asked == ["a.test"]
        clock.now += 2
        await resolver.resolve("a.test", 80)
        assert names.asked == ["a.test"] * 2

    run(use, look_up=names, clock=clock, negative_ttl=60)


@pytest.mark.parametrize(
    ("error", "is_transient"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no such name"), False),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), True),
        (OSError("something"), False),
    ],
)
def test_failures_say_whether_another_try_is_worth_it(error: Exception, is_transient: bool) -> None:
    result = resolve("a.test", look_up=Names({"a.test": error}))
    assert result.addresses == ()
    assert result.failure
    assert result.is_transient == is_transient


def test_an_empty_answer_is_a_failure() -> None:
    assert resolve("a.test", look_up=Names({"a.test": ()})) == Resolution(failure="no address")


def test_a_slow_name_server_is_a_failure_that_may_pass() -> None:
    release = threading.Event()

    def slow(host: str, port: int) -> tuple[str, ...]:
        release.wait(10)
        return ("192.0.2.1",)

    async def use(resolver: Resolver) -> Resolution:
        try:
            return await resolver.resolve("a.test", 80)
        finally:
            release.set()

    result = run(use, look_up=slow, timeout=0.05)
    assert result.is_transient
    assert "0.05 s" in result.failure


def test_many_ask_once() -> None:
    names = Names()

    async def use(resolver: Resolver) -> list[Resolution]:
        return await asyncio.gather(*(resolver.resolve("a.test", 80) for _ in range(50)))

    results = run(use, look_up=names)
    assert set(results) == {Resolution(("192.0.2.1",))}
    assert names.asked == ["a.test"]


def test_cancelling_who_asked_first_leaves_the_others_their_answer() -> None:
    asked, release = threading.Event(), threading.Event()

    def wait(host: str, port: int) -> tuple[str, ...]:
        asked.set()
        release.wait(10)
        return ("192.0.2.1",)

    async def use(resolver: Resolver) -> Resolution:
        first = asyncio.create_task(resolver.resolve("a.test", 80))
        await asyncio.to_thread(asked.wait, 10)
        second = asyncio.create_task(resolver.resolve("a.test", 80))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        release.set()
        return await second

    assert run(use, look_up=wait).addresses == ("192.0.2.1",)


def test_the_cache_is_bounded_and_drops_what_was_not_asked_for_longest() -> None:
    names = Names()

    async def use(resolver: Resolver) -> None:
        for host in ("a.test", "b.test", "a.test", "c.test"):
            await resolver.resolve(host, 80)
        assert resolver.known("a.test")
        assert resolver.known("b.test") is None
        assert resolver.known("c.test")

    run(use, look_up=names, max_entries=2)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("2001:DB8::7", "2001:db8::7"),
    ],
)
def test_addresses_pass_through(host: str, address: str) -> None:
    names = Names()
    assert resolve(host, look_up=names) == Resolution((address,))
    assert names.asked == []


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("site.test", "127.0.0.1"),
        ("www.site.test", "127.0.0.2"),
        ("a.b.deep.test", "127.0.0.3"),
        ("deep.test", "127.0.0.9"),
        ("other.example", "192.0.2.1"),
        ("notsite.test", "127.0.0.9"),
        ("test", "192.0.2.1"),
    ],
)
def test_overrides(host: str, address: str) -> None:
    overrides = {
        "*.test": "127.0.0.9",
        "Site.Test": "127.0.0.1",
        "*.site.test": "127.0.0.2",
        "*.deep.test": ["127.0.0.3", "::1"],
    }
    assert resolve(host, overrides=overrides, look_up=Names()).addresses[0] == address


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        ({"a.test": "localhost"}, "'localhost' for 'a.test'"),
        ({"a.test": []}, "has no address"),
        ({"a*.test": "127.0.0.1"}, r"'a\*\.test' is not a host"),
        ({"": "127.0.0.1"}, "is not a host"),
    ],
)
def test_overrides_that_make_no_sense(overrides: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        Resolver(overrides=overrides)


def test_no_more_addresses_than_anyone_would_try() -> None:
    flood = tuple(f"192.0.2.{n}" for n in range(200))
    assert resolve("a.test", look_up=Names({"a.test": flood})).addresses == flood[:16]


@pytest.mark.parametrize("host", ["a" * 70 + ".test", "ä.test", ".", "a..b"])
def test_names_that_cannot_be_asked_for_are_failures(host: str) -> None:
    assert resolve(host).failure


def test_the_system_knows_loopback() -> None:
    assert set(look_up("localhost", 80)) <= {"127.0.0.1", "::1"}
    assert look_up("127.0.0.1", 80) == ("127.0.0.1",)
