"""Reads documents: from HTML or plain text to `Page`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lycosa.lib.languages import stemmed_as
from lycosa.lib.text import counted
from lycosa.model import Link, Page
from lycosa.page.charset import as_utf8, find_charset
from lycosa.page.declared import Declared, read_declared
from lycosa.page.fingerprint import simhash
from lycosa.page.language import detect_language
from lycosa.page.limits import PageLimits
from lycosa.page.links import Glance, Resolve, ResolvedLinks, resolve_links
from lycosa.page.own_text import OwnText, block_hashes
from lycosa.page.robots import read_directives
from lycosa.page.slow_documents import simplified
from lycosa.page.usage import read_usage
from lycosa.page.walk import Document, walk

EXTENSION = "file extension"
"""Reason for which URL rules turn away what has the name of a file and not of a page."""
PRODUCT_TOKEN = "lycosa"  # noqa: S105 - our name in robots rules, not a secret


def read_document(
    url: str,
    body: bytes,
    *,
    content_type: str = "",
    x_robots_tag: Sequence[str] = (),
    usage_headers: Sequence[tuple[str, str]] = (),
    resolver: Callable[[str], Resolve],
    glance: Glance | None = None,
    product_token: str = PRODUCT_TOKEN,
    limits: PageLimits = PageLimits(),  # noqa: B008 - frozen
    furniture: bytes = b"",
) -> Page:
    """Read a document by its media type: `text/plain` as text, everything else as HTML, however broken.

    Plain text has no title and no links, even if it contains URLs. `body` must be without its content encoding.
    `resolver` returns, for a base URL, the function that turns an href into a URL or a reason (see `links.Resolve`).
    `glance`: does the same for most hrefs at once (see `links.Glance`).
    `usage_headers`: those of `page.usage`. `furniture`: what is known of the page's host (`Furniture.of`).
    """
    charset = find_charset(body, content_type)
    # The walk marks links with NULs, so the document must have none. The parser would drop or replace them anyway.
    source = as_utf8(body, charset).replace(b"\0", b"")
    if content_type.partition(";")[0].strip().lower() == "text/plain":
        declared = Declared()
        document = Document(text=" ".join(source.decode("utf-8", "replace").split()))  # one text, without blocks
    else:
        source = simplified(source)
        document = walk(source, path_depth=limits.path_depth, has_roles=b"role" in source)
        declared = read_declared(document)
    own = OwnText(document, furniture)
    found = resolve_links(document, own, url=url, resolver=resolver, limits=limits, glance=glance)
    directives = read_directives(document.metas, x_robots_tag, product_token=product_token)
    title = document.title[: limits.max_title]
    own_text = _cut(own.text, limits.max_text)
    language = detect_language(own_text, declared=document.language)
    stemmed_in = stemmed_as(language if limits.language == "auto" else limits.language)
    terms = counted(f"{title} {own_text}", language=stemmed_in)
    canonical = _canonical(document.canonical, found.base, resolver, limits)
    resolve = resolver(found.base)
    _add_declared(found, declared, resolve, url, limits)
    continued_at, continued_by = _continued(declared, resolve, canonical, language, limits)
    if continued_at in ("", url):
        continued_at = continued_by = ""
    return Page(
        url=url,
        title=title,
        text=_cut(document.text, limits.max_text),
        language=language,
        charset=charset.name,
        links=found.links,
        rejected=found.rejected,
        dropped=found.dropped,
        canonical=canonical,
        continued_at=continued_at,
        continued_by=continued_by,
        is_noindex=directives.is_noindex,
        is_nofollow=directives.is_nofollow,
        usage=read_usage(document.metas, usage_headers, product_token=product_token),
        fingerprint=simhash(terms) if own_text else 0,
        terms=terms,
        own_text=own_text,
        blocks=block_hashes(document),
        stemmed_in=stemmed_in,
    )


def _continued(
    declared: Declared, resolve: Resolve, canonical: str, language: str, limits: PageLimits
) -> tuple[str, str]:
    """Where the document says that it is to be found instead of here, and how it says so."""
    if declared.refresh and len(declared.refresh) <= limits.max_href:
        return resolve(declared.refresh.partition("#")[0])[0], "meta refresh"
    if declared.is_amp and canonical:
        return canonical, "amp"
    wanted = limits.only_languages
    if wanted and language and language not in wanted:
        href = next((declared.in_language[code] for code in wanted if code in declared.in_language), "")
        if href and len(href) <= limits.max_href:
            return resolve(href.partition("#")[0])[0], "hreflang"
    return "", ""


def _add_declared(found: ResolvedLinks, declared: Declared, resolve: Resolve, url: str, limits: PageLimits) -> None:
    """Links of the head that are worth following: the next page of several, and feeds if these are asked for."""
    hrefs = [(declared.next, "", "next")] if declared.next else []
    if limits.feeds:
        hrefs += [(href, title, "alternate") for href, title in declared.feeds]
    known = {link.url for link in found.links} if hrefs else set()
    for href, title, rel in hrefs:
        if len(href) > limits.max_href or len(found.links) >= limits.max_links:
            continue
        target, reason = resolve(href.partition("#")[0])
        if reason == EXTENSION and rel == "alternate":
            reason = ""  # .rss, .atom and .json are no pages, which feeds are not either
        if target and not reason and target != url and target not in known:
            known.add(target)
            anchor = " ".join(title.split())[: limits.max_anchor]
            found.links.append(Link(target, anchor, anchor, "html/head/link", rel, len(found.links)))


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
