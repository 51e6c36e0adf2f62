"""A document as people want it exported: its main text as Markdown and as plain text, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser

from lycosa.page.charset import as_utf8, find_charset
from lycosa.page.content import Content, structured
from lycosa.page.html import PRODUCT_TOKEN
from lycosa.page.inline import Absolute, escaped_text, has_unprintable, printable
from lycosa.page.limits import PageLimits
from lycosa.page.links import Resolve
from lycosa.page.main_text import main_blocks
from lycosa.page.markdown import Markdown, PlainText
from lycosa.page.metadata import Metadata, read_metadata
from lycosa.page.slow_documents import simplified
from lycosa.page.usage import read_usage
from lycosa.page.walk import walk
from lycosa.usage import Usage

_MAX_FRAGMENT = 200


class CleanDocument:
    """The main text of a document. Text, Markdown and metadata are made when they are asked for."""

    usage: Usage
    """What its owner says about its use (`page.usage`)."""

    def __init__(
        self, parser: LexborHTMLParser, content: Content, absolute: Absolute, max_text: int, usage: Usage
    ) -> None:
        self.usage = usage
        self._parser = parser
        self._root = content.root
        self._absolute = absolute
        self._max_text = max_text

    @cached_property
    def text(self) -> str:
        """Plain text: a line for each heading, paragraph, item or row, empty lines between paragraphs."""
        return PlainText(self._max_text).write(self._root)

    @cached_property
    def markdown(self) -> str:
        return Markdown(self._max_text, self._absolute).write(self._root)

    @cached_property
    def metadata(self) -> Metadata:
        return read_metadata(self._parser, self._absolute)


class CleanPlainText(CleanDocument):
    """A document that was plain text from the start: it stays as it is, and Markdown has a line for each of its."""

    def __init__(self, text: str, max_text: int, usage: Usage) -> None:
        self.usage = usage
        lines = [line.rstrip() for line in printable(text[:max_text]).replace("\r\n", "\n").split("\n")]
        self.text = "\n".join(lines).strip("\n")
        self.markdown = "\n".join(escaped_text(line) for line in self.text.split("\n"))
        self.metadata = Metadata()


def clean_document(
    url: str,
    body: bytes,
    *,
    content_type: str = "",
    usage_headers: Sequence[tuple[str, str]] = (),
    product_token: str = PRODUCT_TOKEN,
    resolver: Callable[[str], Resolve],
    limits: PageLimits = PageLimits(),  # noqa: B008 - frozen
    furniture: bytes = b"",
) -> CleanDocument:
    """Read a document as `html.read_document` does, for its structure. Every input yields a result."""
    source = as_utf8(body, find_charset(body, content_type)).replace(b"\0", b"")
    if content_type.partition(";")[0].strip().lower() == "text/plain":
        usage = read_usage((), usage_headers, product_token=product_token)
        return CleanPlainText(source.decode("utf-8", "replace"), limits.max_text, usage)
    source = simplified(source)
    document = walk(source, path_depth=2, has_roles=b"role" in source)
    parser = LexborHTMLParser(source)
    content = structured(parser)
    is_unclean = content.has_soft_hyphens or has_unprintable(document.text)  # nearly never
    for block, is_kept in zip(content.blocks, main_blocks(content, document, furniture), strict=True):
        block.is_kept = is_kept
        if is_unclean and is_kept:
            block.parts = [printable(part) if type(part) is str else part for part in block.parts]
    base = url
    if document.base and len(document.base) <= limits.max_href:
        base = resolver(url)(document.base.partition("#")[0])[0] or url
    usage = read_usage(document.metas, usage_headers, product_token=product_token)
    return CleanDocument(parser, content, _absolute(resolver(base), limits), limits.max_text, usage)


def _absolute(resolve: Resolve, limits: PageLimits) -> Absolute:
    def absolute(href: str) -> str:
        if len(href) > limits.max_href:
            return ""
        page, sign, fragment = href.partition("#")
        url = resolve(page)[0] if page else ""
        return f"{url}{sign}{fragment}" if url and len(fragment) <= _MAX_FRAGMENT else url

    return absolute
