"""Reads documents: from HTML or plain text to `Page`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from selectolax.lexbor import LexborHTMLParser

from lycosa.lib.languages import stemmed_as
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.page.charset import as_utf8, find_charset
from lycosa.page.fingerprint import simhash
from lycosa.page.language import detect_language
from lycosa.page.limits import PageLimits
from lycosa.page.links import Resolve, resolve_links
from lycosa.page.own_text import OwnText, block_hashes
from lycosa.page.robots import read_directives
from lycosa.page.slow_documents import simplified
from lycosa.page.walk import Document, walk

PRODUCT_TOKEN = "lycosa"  # noqa: S105 - our name in robots rules, not a secret


def read_document(
    url: str,
    body: bytes,
    *,
    content_type: str = "",
    x_robots_tag: Sequence[str] = (),
    resolver: Callable[[str], Resolve],
    product_token: str = PRODUCT_TOKEN,
    limits: PageLimits = PageLimits(),  # noqa: B008 - frozen
    furniture: bytes = b"",
) -> Page:
    """Read a document by its media type: `text/plain` as text, everything else as HTML, however broken.

    Plain text has no title and no links, even if it contains URLs. `body` must be without its content encoding.
    `resolver` returns, for a base URL, the function that turns an href into a URL or a reason (see `links.Resolve`).
    `furniture`: what is known of the page's host (`Furniture.of`).
    """
    charset = find_charset(body, content_type)
    # The walk marks links with NULs, so the document must have none. The parser would drop or replace them anyway.
    source = as_utf8(body, charset).replace(b"\0", b"")
    if content_type.partition(";")[0].strip().lower() == "text/plain":
        document = Document(text=" ".join(source.decode("utf-8", "replace").split()))  # one text, without blocks
    else:
        parser = LexborHTMLParser(simplified(source))
        document = walk(parser, path_depth=limits.path_depth, has_roles=b"role" in source)
    own = OwnText(document, furniture)
    found = resolve_links(document, own, url=url, resolver=resolver, limits=limits)
    directives = read_directives(document.metas, x_robots_tag, product_token=product_token)
    title = document.title[: limits.max_title]
    own_text = _cut(own.text, limits.max_text)
    language = detect_language(own_text, declared=document.language)
    stemmed_in = stemmed_as(language if limits.language == "auto" else limits.language)
    terms = term_counts(f"{title} {own_text}", language=stemmed_in)
    return Page(
        url=url,
        title=title,
        text=_cut(document.text, limits.max_text),
        language=language,
        charset=charset.name,
        links=found.links,
        rejected=found.rejected,
        dropped=found.dropped,
        canonical=_canonical(document.canonical, found.base, resolver, limits),
        is_noindex=directives.is_noindex,
        is_nofollow=directives.is_nofollow,
        fingerprint=simhash(terms) if own_text else 0,
        terms=terms,
        own_text=own_text,
        blocks=block_hashes(document),
        stemmed_in=stemmed_in,
    )


def _cut(text: str, length: int) -> str:
    """The beginning of a text, cut at the end of a word if possible."""
    if len(text) <= length:
        return text
    end = text.rfind(" ", 0, length + 1)
    return text[: end if end > 0 else length]


def _canonical(href: str | None, base: str, resolver: Callable[[str], Resolve], limits: PageLimits) -> str:
    if not href or len(href) > limits.max_href:
        return ""
    # It is a claim, not a link to follow, so it is kept even if a URL rule rejects it.
    return resolver(base)(href.partition("#")[0])[0]
