"""PDF documents as HTML, for the same readers as pages: title, author, paragraphs, links with their texts.

PDFium does the reading (pip install 'lycosa[pdf]'): on two manuals it took 46 and 18 ms of CPU, where pypdf took 595
and 237, and pdfminer.six 930 and 424, for the same words. It is C++, and fuzzed as part of Chromium; and it runs in the
reader processes, which may be killed, and whose memory and time are limited. What is inside a document (scripts, forms,
files) is not touched.
"""

from __future__ import annotations

import ctypes
import html
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

from lycosa.errors import ConfigError

MEDIA_TYPE = "application/pdf"
MAX_PAGES = 2_000
"""Pages of a document that are read."""
MAX_LINKS = 1_000
"""Links of a page."""
LONGEST_URI = 4_096
_BREAK = re.compile(r"[\u00ad\ufffe\u0002](?:\r?\n)?|-\r?\n(?=[a-zà-ÿ])")
"""Where a word goes on in the next line; PDFium has characters of its own for that."""
_END = re.compile(r"[.:!?]\W?$")
SHORT_LINE = 0.8
"""Share of the usual length below which a line that ends a sentence ends a paragraph."""


class ReadPdf(NamedTuple):
    """A document as HTML in UTF-8; or why there is none."""

    document: bytes = b""
    reason: str = ""
    """A fixed phrase: `pdf encrypted`, `pdf broken`."""
    detail: str = ""


def is_pdf(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == MEDIA_TYPE


def require_pdf_reader() -> None:
    """ConfigError if PDFium is not installed."""
    if find_spec("pypdfium2") is None:
        raise ConfigError("page.pdf is on, which needs pypdfium2: pip install 'lycosa[pdf]'")


def pdf_as_html(body: bytes, *, max_text: int) -> ReadPdf:
    """`max_text`: number of characters after which no further page is read."""
    require_pdf_reader()
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        is_locked = "password" in str(error).lower() or "security" in str(error).lower()
        return ReadPdf(reason="pdf encrypted" if is_locked else "pdf broken", detail=str(error)[:200])
    try:
        about = document.get_metadata_dict(skip_empty=True)
        parts, size = [], 0
        for number in range(min(len(document), MAX_PAGES)):
            try:
                page = document[number]
            except pypdfium2.PdfiumError:
                continue  # a broken page among others
            try:
                part = _page(document, page)
            finally:
                page.close()
            parts.append(part)
            size += len(part)
            if size >= max_text:
                break
    finally:
        document.close()
    title = html.escape(about.get("Title", "").strip() or _first_line(parts))
    author = html.escape(about.get("Author", ""), quote=True)
    head = f'<title>{title}</title><meta name="author" content="{author}">' if author else f"<title>{title}</title>"
    text = f"<!DOCTYPE html><html><head>{head}</head><body>{''.join(parts)}</body></html>"
    return ReadPdf(text.encode("utf-8", "replace"))


def _page(document: Any, page: Any) -> str:
    text_page = page.get_textpage()
    try:
        paragraphs: list[list[_Piece]] = [[_Piece(text)] for text in _paragraphs(text_page.get_text_bounded())]
        for uri, text in _links(document, page, text_page):
            if not _put_in(paragraphs, uri, text):
                paragraphs.append([_Piece(text, uri)])
    finally:
        text_page.close()
    return "".join(f"<p>{''.join(map(_as_html, parts))}</p>\n" for parts in paragraphs)


class _Piece(NamedTuple):
    """A piece of a paragraph, and where it leads to."""

    text: str
    uri: str = ""


def _as_html(part: _Piece) -> str:
    text = html.escape(part.text)
    return f'<a href="{html.escape(part.uri, quote=True)}">{text}</a>' if part.uri else text


def _put_in(paragraphs: list[list[_Piece]], uri: str, text: str) -> bool:
    """Make a link of the first place where its text stands; False if it stands nowhere."""
    for parts in paragraphs if text else ():
        for at, part in enumerate(parts):
            before, found, behind = part.text.partition(text)
            if found and not part.uri:
                parts[at : at + 1] = [_Piece(before), _Piece(text, uri), _Piece(behind)]
                return True
    return False


def _paragraphs(text: str) -> Iterator[str]:
    """Lines put together: a paragraph ends at an empty line, or at a short one that ends a sentence."""
    lines = _BREAK.sub("", text).replace("\r\n", "\n").split("\n")
    lengths = sorted(len(line) for line in lines if line.strip())
    usual = lengths[len(lengths) * 3 // 4] if lengths else 0
    kept: list[str] = []
    for line in lines:
        line = line.strip()
        if line:
            kept.append(line)
        if kept and (not line or (_END.search(line) and len(line) < SHORT_LINE * usual)):
            yield " ".join(kept)
            kept = []
    if kept:
        yield " ".join(kept)


def _links(document: Any, page: Any, text_page: Any) -> Iterator[tuple[str, str]]:
    """The web addresses that parts of a page lead to, each with the text of that part."""
    from pypdfium2 import raw

    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    for _ in range(MAX_LINKS):
        if not raw.FPDFLink_Enumerate(page.raw, ctypes.byref(position), ctypes.byref(link)):
            return
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        length = raw.FPDFAction_GetURIPath(document.raw, action, None, 0)
        if not 1 < length <= LONGEST_URI:
            continue
        buffer = ctypes.create_string_buffer(length)
        raw.FPDFAction_GetURIPath(document.raw, action, buffer, length)
        box = raw.FS_RECTF()
        text = ""
        if raw.FPDFLink_GetAnnotRect(link, ctypes.byref(box)):
            shown = text_page.get_text_bounded(box.left, box.bottom, box.right, box.top)
            text = " ".join(_BREAK.sub("", shown).split())
        yield buffer.value.decode("utf-8", "replace"), text


def _first_line(parts: list[str]) -> str:
    """What stands first, as the title of a document that has none."""
    found = re.search(r"<p>([^<\n]{1,150})", "".join(parts[:1]))
    return html.unescape(found[1]) if found else ""
