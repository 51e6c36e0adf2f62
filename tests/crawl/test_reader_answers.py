"""Answers of readers come back as they were; what no reader of ours would send is refused before it costs anything."""

from __future__ import annotations

import json
import struct
import tracemalloc
from dataclasses import replace

import pytest

from lycosa.crawl.reader_answers import LENGTH, BadAnswerError, pack, unpack
from lycosa.crawl.reading import Read, Reading, read_response
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Guidance, Kind, Outcome, Response

READING = Reading(urls=Urls(UrlRules()), judge=KeywordJudge("recreational cycling"))
BODY = (
    "<title>Cycling \ud83d\udeb2</title><nav><a href=/menu>Menu</a></nav><p>Recreational cycling, with "
    "<a href='/a' rel='nofollow'>one</a>, <a href='/a'>another text</a>, <a href='/b.zip'>a file</a> and "
    "<a href='mailto:x@y.test'>mail</a>"
).encode("utf-8", "surrogatepass")


@pytest.fixture
def answer() -> Read:
    response = Response("http://a.test/x", 200, [("content-type", "text/html")], BODY)
    read = read_response(response, READING)
    assert read.page is not None
    assert read.judgement is not None
    guided = replace(read.judgement, guide=Guidance(0.25, False), margin=-1.5)
    return replace(read, judgement=guided, is_same=True)


def test_whole_pages_come_back_as_they_were(answer):
    assert unpack(memoryview(pack(answer, whole_pages=True))) == answer


def test_otherwise_without_what_the_ledger_does_not_need(answer):
    back = unpack(memoryview(pack(answer, whole_pages=False)))
    links = [link._replace(context="", path="") for link in answer.page.links]
    assert back.page == replace(answer.page, links=links, text="", own_text="", terms={})
    assert (back.judgement, back.is_same) == (answer.judgement, True)


def test_an_outcome_alone():
    read = Read(Outcome(Kind.REDIRECTED, "meta refresh", "x", 200, location="http://a.test/\udc80"))
    assert unpack(memoryview(pack(read, whole_pages=False))) == read


def test_a_line_end_in_a_text_does_not_shift_the_others(answer):
    first, *others = answer.page.links
    broken = replace(answer, page=replace(answer.page, links=[first._replace(anchor="two\nlines"), *others]))
    back = unpack(memoryview(pack(broken, whole_pages=True)))
    assert [link.anchor for link in back.page.links] == ["two lines", *(link.anchor for link in others)]


def changed(answer: Read, change) -> bytes:
    """The answer with another head."""
    message = pack(answer, whole_pages=True)
    (length,) = LENGTH.unpack_from(message)
    head = json.loads(message[LENGTH.size : LENGTH.size + length])
    change(head)
    new = json.dumps(head).encode()
    return LENGTH.pack(len(new)) + new + message[LENGTH.size + length :]


OUTCOME, PAGE, VERDICT, IS_SAME, LENGTHS = range(5)


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head[OUTCOME].__setitem__(0, "taken over"),
        lambda head: head[OUTCOME].__setitem__(3, "200"),
        lambda head: head[PAGE].__setitem__(1, ["no", "title"]),
        lambda head: head[PAGE].__setitem__(8, 2**64),
        lambda head: head[PAGE].__setitem__(9, -1),
        lambda head: head[PAGE].__setitem__(11, 10**9),
        lambda head: head[PAGE].__setitem__(11, 1),
        lambda head: head[PAGE].__setitem__(4, {"other": "many"}),
        lambda head: head[VERDICT].__setitem__(0, float("nan")),
        lambda head: head[VERDICT].__setitem__(0, "1.0"),
        lambda head: head[VERDICT].__setitem__(2, {"topic": []}),
        lambda head: head[VERDICT].__setitem__(5, [1.0]),
        lambda head: head.__setitem__(IS_SAME, 7),
        lambda head: head[LENGTHS].__setitem__(0, head[LENGTHS][0] + 1),
        lambda head: head[LENGTHS].__setitem__(0, -1),
        lambda head: head[LENGTHS].pop(),
        lambda head: head.append("more"),
    ],
)
def test_what_is_no_answer_is_refused(answer, change):
    with pytest.raises(BadAnswerError):
        unpack(memoryview(changed(answer, change)))


@pytest.mark.parametrize(
    "message",
    [
        b"", b"\x01", struct.pack("=I", 2**32 - 1), struct.pack("=I", 5) + b"[1,2]",
        struct.pack("=I", 200_000) + b"[" * 200_000, struct.pack("=I", 50_000) + b"9" * 50_000,
        struct.pack("=I", 5 << 20) + b" " * (5 << 20),
    ],
    ids=["nothing", "a byte", "a length", "too few", "nested", "digits", "a long head"],
)  # fmt: skip
def test_nor_is_this(message):
    with pytest.raises(BadAnswerError):
        unpack(memoryview(message))


def test_millions_of_line_ends_do_not_become_millions_of_links(answer):
    """32 MB of line ends where two links were promised: split, they would take half a gigabyte."""
    flood = b"\n" * (32 << 20)

    def longer(head):
        head[LENGTHS][0] += len(flood)

    message = changed(answer, longer)
    start = LENGTH.size + LENGTH.unpack_from(message)[0]
    message = memoryview(message[:start] + flood + message[start:])
    tracemalloc.start()
    with pytest.raises(BadAnswerError, match="value for each link"):
        unpack(message)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 80 << 20
