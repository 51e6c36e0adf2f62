"""The elements of HTML by how a document is cut into blocks, and which of them are declared to be no content.

Two traversals share these rules: `walk`, which serves the crawl, and `content`, which serves its export. So the blocks
of the one are those of the other. Elements are identified by Lexbor's number of their tag, since getting its name takes
three times as long.
"""

from __future__ import annotations

from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser

# How a traversal treats an element. Nearly all elements are inline or block, so these are tested first.
INLINE, BLOCK, ANCHOR, SKIPPED, AREA, FRAME, IMAGE, TITLE, BASE, LINK, META, HTML = range(12)
LANDMARK, CONTENT, REGION = range(12, 15)

TAGS_OF_KIND = {
    INLINE: """abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label map mark math meter
        noscript output progress q rp rt ruby s samp small span strike strong sub sup svg time tt u var wbr""",
    BLOCK: """address audio blockquote body br button canvas caption center col colgroup dd
        details dialog dir div dl dt fieldset figcaption figure form frameset h1 h2 h3 h4 h5 h6 head
        hgroup hr input legend li listing object ol optgroup option p plaintext pre
        section select summary table tbody td textarea tfoot th thead tr ul video xmp""",
    LANDMARK: "article aside footer header main menu nav search",
    ANCHOR: "a",
    SKIPPED: "script style template noembed noframes",
    AREA: "area",
    FRAME: "frame iframe",
    IMAGE: "img",
    TITLE: "title",
    BASE: "base",
    LINK: "link",
    META: "meta",
    HTML: "html",
}
"""The text of noscript counts: it is for readers without scripts, like us."""


ROLE_OF_TAG = {
    "article": "main",
    "aside": "complementary",
    "footer": "contentinfo",
    "header": "banner",
    "main": "main",
    "menu": "menu",
    "nav": "navigation",
    "search": "search",
}
ROLE_BEARERS = ("div", "form", "section", "ul")
"""Elements besides the landmarks whose role attribute counts."""
FURNITURE_ROLES = frozenset(["navigation", "search", "menu", "menubar"])
OUTER_ROLES = frozenset(["banner", "complementary", "contentinfo"])
"""Roles of furniture outside of the main content; within, such elements are headings, notes and signatures."""
CONTENT_ROLES = frozenset(["article", "main"])


def tag_table(kinds: Mapping[int, str]) -> dict[int, tuple[int, str]]:
    """Kind and name of tags by Lexbor's number, from names of tags by kind."""
    maker = LexborHTMLParser("")
    return {maker.create_node(tag).tag_id: (kind, tag) for kind, tags in kinds.items() for tag in tags.split()}


TAGS = tag_table(TAGS_OF_KIND)
TAGS_WITH_ROLES = TAGS | tag_table({LANDMARK: " ".join(ROLE_BEARERS)})
UNKNOWN_TAG = (INLINE, "")
