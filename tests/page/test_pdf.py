"""PDF documents, as pages and as what breaks readers. The documents are written here, byte by byte."""

from __future__ import annotations

import asyncio
import zlib
from pathlib import Path

import pytest

pytest.importorskip("pypdfium2", reason="PDFium is not installed: pip install 'lycosa[pdf]'")

import lycosa
from lycosa.crawl.reader_pool import Readers
from lycosa.crawl.reading import Reading, read_response
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Fetched, Kind, Lease, Response
from lycosa.page.pdf import pdf_as_html

READING = Reading(urls=Urls(UrlRules()), judge=KeywordJudge("cycling"))
LINES = ("Cycling tours are planned with maps, and a bi-", "cycle is repaired on the way.", "A second paragraph <b>.")


def pdf(content: bytes, *, more: bytes = b"", trailer: bytes = b"", stream: bytes = b"") -> bytes:
    """A document of one page."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
        b"/Resources << /Font << /F 5 0 R >> >> /Annots [6 0 R] >>",
        b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), stream, content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Annot /Subtype /Link /Rect [50 690 400 720] /A << /S /URI /URI (http://b.test/maps?a=1&b=2) >> >>",
        b"<< /Title (Cycling <tours>) /Author (A. Rider) >>",
    ]
    document, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(document))
        document += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(document)
    document += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    document += b"".join(b"%010d 00000 n \n" % place for place in places)
    document += b"trailer\n<< /Size %d /Root 1 0 R /Info 7 0 R %s >>\n" % (len(objects) + 1, trailer)
    return document + b"startxref\n%d\n%%%%EOF" % start + more


def text(*lines: str) -> bytes:
    shown = b"".join(b"(%s) Tj 0 -20 Td\n" % line.encode() for line in lines)
    return b"BT /F 12 Tf 50 700 Td\n" + shown + b"ET"


def read(body: bytes):  # type: ignore[no-untyped-def]
    return read_response(Response("http://a.test/x.pdf", 200, [("content-type", "application/pdf")], body), READING)


def test_a_document_is_a_page_with_title_text_and_links() -> None:
    found = read(pdf(text(*LINES)))
    assert found.page is not None
    assert found.page.title == "Cycling <tours>"
    assert "a bicycle is repaired on the way. A second paragraph <b>." in found.page.text.replace("  ", " ")
    (link,) = found.page.links
    assert link.url == "http://b.test/maps?a=1&b=2"
    assert link.anchor.startswith("Cycling tours are planned")
    assert found.judgement is not None
    assert found.judgement.is_relevant


def test_what_is_in_it_does_not_become_markup() -> None:
    document = pdf_as_html(pdf(text("<script>alert(1)</script>")), max_text=1000).document
    assert b"<script>" not in document
    assert b"&lt;script&gt;" in document


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "pdf broken"),
        (b"%PDF-1.4 and nothing else", "pdf broken"),
        (b"<html>no pdf at all", "pdf broken"),
        (
            pdf(text("x"), trailer=b"/Encrypt << /Filter /Standard /V 1 /R 2 /O (%s) /U (%s) /P -4 >> /ID [(a) (a)]"
                % (b"o" * 32, b"u" * 32)),
            "pdf encrypted",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_outcome_with_a_reason(body: bytes, reason: str) -> None:
    found = read(body)
    assert found.page is None
    assert (found.outcome.kind, found.outcome.reason) == (Kind.UNREADABLE, reason)


def test_a_document_that_unpacks_without_end_costs_its_reader_only() -> None:
    line = b"(cycling ) Tj " * 1_000_000
    compressor = zlib.compressobj(1)
    packed = b"".join(compressor.compress(line) for _ in range(30)) + compressor.flush()
    bomb = pdf(zlib.compress(packed, 9), stream=b"/Filter [/FlateDecode /FlateDecode]")
    good = pdf(text(*LINES))

    async def both() -> list[tuple[Kind, str]]:
        readers = Readers(READING, count=1, seconds=2.0, memory=1 << 29)
        await readers.start()
        try:
            visits = []
            for body in (bomb, good):
                lease = Lease(1, "http://a.test/x.pdf", 1, 1.0, 0, 0, 0)
                visits.append(await readers.read(Fetched.page(lease, body, content_type="application/pdf")))
            return [(visit.outcome.kind, visit.outcome.reason) for visit in visits]
        finally:
            await readers.close()

    first, second = asyncio.run(both())
    assert len(bomb) < 500_000
    assert first[0] is Kind.UNREADABLE
    assert first[1].startswith("reader")
    assert second == (Kind.FETCHED, "http 200")


def test_with_pdf_on_documents_are_fetched_judged_and_exported(tmp_path: Path) -> None:
    class Shelf:
        async def fetch(self, lease: lycosa.Lease) -> lycosa.Fetched:
            if lease.url.endswith(".pdf"):
                return lycosa.Fetched.page(lease, pdf(text(*LINES)), content_type="application/pdf")
            return lycosa.Fetched.page(lease, "<p>cycling tours <a href='/tours.pdf'>tours</a>")

    crawl = lycosa.Crawl(
        "cycling",
        seeds=["http://a.test/"],
        directory=tmp_path / "c",
        fetcher=Shelf(),
        page={"pdf": True},
        readers={"count": 1},
        politeness={"delay": 0},
    )
    assert "application/pdf" in crawl.config.fetch.content_types
    rows = {row["url"]: row for row in crawl.run(pages=5).rows("all")}
    found = rows["http://a.test/tours.pdf"]
    assert found["title"] == "Cycling <tours>"
    assert "A second paragraph" in found["text"]
    assert found["author"] == "A. Rider"
