"""From a response to a judged page, whatever the response is."""

from __future__ import annotations

import gzip
import pickle
import struct

import pytest

from lycosa.crawl.reading import Reading, read, read_response
from lycosa.fetch.decode import DecodeLimits
from lycosa.fetch.urls import UrlRules, Urls, url_hash
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Fetched, Kind, Lease, Outcome, Response
from lycosa.page.limits import PageLimits

URL = "http://a.test/dir/"
HTML = ("content-type", "text/html; charset=utf-8")


def reading(**settings) -> Reading:
    rules = settings.pop("rules", UrlRules())
    return Reading(urls=Urls(rules), judge=KeywordJudge("recreational cycling"), **settings)


def response(body: bytes | str, *headers: tuple[str, str]) -> Response:
    data = body.encode() if isinstance(body, str) else body
    return Response(URL, 200, headers or (HTML,), data)


def fetched(answer: Response | None, outcome: Outcome) -> Fetched:
    return Fetched(Lease(1, URL, 1, 0.0, 0, 0, 0), outcome, answer)


class TestDocument:
    def test_it_is_parsed_judged_and_its_links_resolved(self):
        body = "<title>Bikes</title><p>Recreational cycling.</p><a href=x>one</a><a href='/y.pdf'>two</a><a href='m:x'>"
        result = read_response(response(body), reading())
        assert result.outcome == Outcome(Kind.FETCHED, "http 200", "", 200)
        assert result.page.title == "Bikes"
        assert [link.url for link in result.page.links] == ["http://a.test/dir/x"]
        assert result.page.rejected == {"http://a.test/y.pdf": "file extension"}
        assert sum(result.page.dropped.values()) == 1
        assert result.judgement.is_relevant

    def test_hashes_are_those_of_links_then_of_rejected_urls(self):
        page = read_response(response("<a href=x></a><a href=/y.pdf></a><a href=z></a>"), reading()).page
        urls = ["http://a.test/dir/x", "http://a.test/dir/z", "http://a.test/y.pdf"]
        assert list(struct.unpack("=3q", page.link_hashes)) == [url_hash(url) for url in urls]

    def test_words_are_counted_without_stop_words(self):
        page = read_response(response("<p>the road and the river and the road"), reading()).page
        assert (page.words, page.terms) == (3, {"road": 2, "river": 1})

    def test_content_encoding_is_taken_off(self):
        packed = gzip.compress(b"<title>Bikes</title>")
        page = read_response(response(packed, HTML, ("content-encoding", "gzip")), reading()).page
        assert page.title == "Bikes"

    def test_plain_text_is_read_as_text(self):
        page = read_response(response("<a href=x>cycling</a>", ("content-type", "text/plain")), reading()).page
        assert not page.links
        assert page.text == "<a href=x>cycling</a>"

    @pytest.mark.parametrize("tag", ["nofollow", "lycosa: nofollow"])
    def test_headers_for_robots(self, tag):
        assert read_response(response("<p>x", HTML, ("x-robots-tag", tag)), reading()).page.is_nofollow

    def test_headers_for_other_robots_do_not_concern_us(self):
        assert not read_response(
            response("<p>x", HTML, ("x-robots-tag", "otherbot: nofollow")), reading()
        ).page.is_nofollow

    def test_limits_are_handed_down(self):
        page = read_response(response("<p>" + "word " * 100), reading(limits=PageLimits(max_text=20))).page
        assert len(page.text) <= 20

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"\x00" * 100,
            bytes(range(256)) * 10,
            b"<" * 10_000,
            b"<div>" * 50_000,
            b"<a href='" + b"x" * 100_000 + b"'>",
            b"<a href='http://[::1'>x</a>" * 10,
            b"<title>\xff\xfe</title>",
            b"<base href='javascript:1'><a href=x>",
            "<p>\ud800".encode("utf-8", "surrogatepass"),
        ],
    )
    def test_whatever_the_bytes_there_is_a_page(self, body):
        result = read_response(response(body), reading())
        assert result.outcome.kind is Kind.FETCHED
        assert result.page is not None
        assert result.judgement is not None
        result.page.title.encode()
        result.page.text.encode()


class TestRefused:
    def test_a_bomb(self):
        bomb = gzip.compress(b" " * 5_000_000)
        answer = response(bomb, HTML, ("content-encoding", "gzip"))
        result = read_response(answer, reading(decode_limits=DecodeLimits(max_bytes=1_000_000)))
        assert (result.outcome.kind, result.outcome.reason) == (Kind.REFUSED, "too large")
        assert result.outcome.status == 200
        assert result.page is None

    def test_an_encoding_nobody_knows(self):
        result = read_response(response(b"\x00\x01\x02", HTML, ("content-encoding", "magic")), reading())
        assert (result.outcome.kind, result.outcome.reason) == (Kind.REFUSED, "bad encoding")


class TestVisit:
    def test_other_outcomes_pass_through(self):
        outcome = Outcome(Kind.REDIRECTED, "http 301", location="http://b.test/")
        visit = read(fetched(response(""), outcome), reading())
        assert (visit.outcome, visit.page, visit.judgement) == (outcome, None, None)

    def test_a_document_becomes_a_visit(self):
        given = fetched(response("<title>x</title>"), Outcome(Kind.FETCHED, "http 200", status=200))
        visit = read(given, reading())
        assert visit.fetched is given
        assert visit.page.title == "x"

    def test_the_same_page_reads_the_same(self):
        given = fetched(response("<title>x</title><a href=y>z</a>"), Outcome(Kind.FETCHED))
        assert read(given, reading()) == read(given, pickle.loads(pickle.dumps(reading())))
