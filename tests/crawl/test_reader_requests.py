"""Bodies on their way to a reader: each arrives as it was, and no reader can change any."""

from __future__ import annotations

import marshal
import mmap
import os
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.crawl import reader_requests
from lycosa.crawl.reader_requests import NOWHERE, ROOM, Bodies, Request, mapped, unpacked
from lycosa.model import Response

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory")


def create() -> Bodies:
    bodies = Bodies.create()
    assert bodies is not None
    return bodies


def page(body: bytes) -> Response:
    return Response("http://a.test/", 200, [("content-type", "text/html"), ("set-cookie", "a=b")], body)


@pytest.mark.parametrize("known", [None, page(b"as it was before")])
@pytest.mark.parametrize("body", [b"", b"x", b"<p>" * 10_000, b"x" * ROOM, b"x" * (ROOM + 1)])
def test_a_page_arrives_as_it_was(body, known):
    bodies = create()
    memory = mapped(bodies.file)
    request = Request(page(body), b"furniture", known)
    place = bodies.add(body)
    assert (place == NOWHERE) == (not 0 < len(body) <= ROOM)
    message = request.packed(place)
    assert place == NOWHERE or len(message) < 500 + len(known.body if known else b"")
    got = unpacked(marshal.loads(message), memory)
    for sent, came in ((request.response, got.response), (request.known, got.known)):
        assert (sent is None) == (came is None)
        if sent is not None:
            assert (came.url, came.status, came.body) == (sent.url, sent.status, sent.body)
            assert came.headers == [("content-type", "text/html")]
    assert got.furniture == b"furniture"


def test_without_such_memory_the_body_travels_with_its_page(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    assert Bodies.create() is None
    assert unpacked(marshal.loads(Request(page(b"body"), b"").packed()), mapped(-1)).response.body == b"body"


class TestMemory:
    @given(
        st.lists(
            st.one_of(st.integers(0, 40), st.just("took")),
            max_size=60,
        )
    )
    def test_no_body_overwrites_one_that_waits(self, steps):
        """In memory of 64 bytes, of which bodies take up to 40."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader_requests, "ROOM", 64)
            bodies = create()
            memory = mapped(bodies.file)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader_requests, "ROOM", 64)
            waiting: deque[tuple[int, bytes]] = deque()
            for number, step in enumerate(steps):
                if step == "took" and waiting:
                    bodies.took(waiting.popleft()[0])
                elif isinstance(step, int):
                    body = bytes([number]) * step
                    waiting.append((bodies.add(body), body))
                assert sum(len(body) for place, body in waiting if place != NOWHERE) <= 64
                for place, body in waiting:
                    assert place == NOWHERE or memory[place : place + len(body)] == body

    def test_all_of_it_is_used_again_and_again(self):
        bodies, size = create(), ROOM // 4 - 100
        waiting: deque[int] = deque()
        for number in range(40):
            if len(waiting) == 3:
                bodies.took(waiting.popleft())
            place = bodies.add(bytes([number]) * size)
            assert place != NOWHERE
            waiting.append(place)
        assert len(set(waiting)) == 3

    def test_a_reader_can_neither_write_nor_cut_it(self):
        bodies = create()
        bodies.add(b"body")
        with pytest.raises(PermissionError):
            mmap.mmap(bodies.file, ROOM)
        with pytest.raises(PermissionError):
            os.pwrite(bodies.file, b"evil", 0)
        with pytest.raises(PermissionError):
            os.ftruncate(bodies.file, 0)
        memory = mapped(bodies.file)
        with pytest.raises(TypeError, match="readonly"):
            memory[:4] = b"evil"
