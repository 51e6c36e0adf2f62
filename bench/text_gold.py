"""The labelled set of `bench/text.py`: which words of a recorded page are its main text.

The pages come from 61 hosts, and nearly all of these were made by a documentation generator that puts the text of a
page into an element of its own. So the labels are rules written by hand, one for each host: the elements that hold the
content, and within them the elements that do not (permalinks, rows of links to the next page, "edit this page").

Some words may be in an extracted text or not, and count neither way: tables of contents of the page itself, alternative
texts of images, numbers of list items, lists of languages. Some people want them and some do not.

No rule here is known to the program that is measured.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

WORD = re.compile(r"\w+")
_NEVER = "script, style, template, head, noscript, iframe, button, input, select, textarea, svg"


@dataclass(frozen=True, slots=True)
class Rule:
    """Where the main text of a host's pages stands."""

    keep: str = "body"
    """Selector of the elements that hold it; of nested ones, the outermost counts."""
    drop: str = ""
    """Selector of what is no content within them."""
    either: str = ""
    """Selector of what counts neither way."""
    cut: str = ""
    """Pattern of what is removed from the source, where no element holds it."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The labels of one page."""

    words: Counter[str]
    either: Counter[str]
    codes: list[list[str]]
    """Lines of each block of code."""
    headings: list[str]


_LINKS = ".headerlink, .viewcode-link, .viewcode-back"
_SPHINX = Rule("[role=main]", drop=_LINKS, either=".contents, .topic.contents, nav.contents")
_READ_THE_DOCS = Rule("[itemprop=articleBody]", drop=_LINKS, either=".contents")
_OPENSTACK = Rule(
    "h2.docs-none, .docs-body, .docs-book-wrapper > .row > div:first-child > .row:first-child h2, "
    ".docs-book-wrapper > .row > div:first-child > .row:nth-of-type(3)",
    drop=_LINKS,
    either=".contents",
)
_DOCBOOK = Rule("body", drop=".navheader, .navfooter, .NAVHEADER, .NAVFOOTER", either=".toc, .TOC")
_TEXINFO = Rule("body", drop="div.header, .nav-panel", either=".contents, .shortcontents, table.menu, ul.menu")
_DOXYGEN = Rule("div.contents, .headertitle", drop=".dynheader, .ttc, .permalink", either="div.toc, .summary")

RULES: dict[str, Rule] = {
    "anarchism": Rule(".content", drop=".book-navigation"),
    "apache2": Rule("#page-content", drop=".toplang, .permalink, .up, .top", either="#quickview"),
    "ase": _READ_THE_DOCS,
    "astropy": _SPHINX,
    "astroquery": _SPHINX,
    "beets": _SPHINX,
    "bibletime": _DOCBOOK,
    "certbot": _READ_THE_DOCS,
    "cmake": _SPHINX,
    "csound": _DOCBOOK,
    "debian-handbook": Rule("body", drop="#banner, .docnav", either=".toc"),
    "django": Rule("#yui-main", drop=_LINKS, either=".contents"),
    "doxygen": _DOXYGEN,
    "flask": _SPHINX,
    "geographiclib": _DOXYGEN,
    "gimp-help": _DOCBOOK,
    "git-annex": Rule("#pagebody, .pageheader .title", drop=".sidebar, .addcomment", either="#comments, .toc"),
    "git": Rule("body", drop="#footer", either="#toc"),
    "gnucash": _DOCBOOK,
    "gnuplot": Rule("body", drop=".navigation, address", either="ul.ChildLinks"),
    "gpsbabel": _DOCBOOK,
    "grass": Rule("#container", drop=".footer, #footer", either="div.toc"),
    "h5py": _SPHINX,
    "keystone": _OPENSTACK,
    "krb5": _SPHINX,
    "libreoffice-help": Rule("#DisplayArea"),
    "llvm": _SPHINX,
    "mdanalysis": _READ_THE_DOCS,
    "micropolis": Rule("body", cut=r"<h2>Micropolis, Unix Version.*"),  # its licence, on every page
    "mit-scheme": _TEXINFO,
    "mopidy": _READ_THE_DOCS,
    "neutron": _OPENSTACK,
    "nova": _OPENSTACK,
    "pgpool2": _DOCBOOK,
    "pgrouting": _SPHINX,
    "pil": _SPHINX,
    "postfix": Rule("body"),
    "postgresql": _DOCBOOK,
    "pspp": _TEXINFO,
    "psycopg2": _SPHINX,
    "pycryptodome": _READ_THE_DOCS,
    "pydicom": _READ_THE_DOCS,
    "pytest": _SPHINX,
    "python3": _SPHINX,
    "quantlib": _DOXYGEN,
    "renpy": _SPHINX,
    "requests": _SPHINX,
    "rsyslog": _SPHINX,
    "scipy": Rule("main", drop=f"{_LINKS}, .prev-next-area, .bd-toc", either=".contents"),
    "scrapy": _READ_THE_DOCS,
    "skbio": _SPHINX,
    "sklearn": _SPHINX,
    "solfege": _DOCBOOK,
    "sphinx": _SPHINX,
    "sqlalchemy": _SPHINX,
    "sqlite3": Rule("body", drop=".nosearch, #mtimelink", either=".toc, p[align=center]:last-of-type"),
    "swi-prolog": Rule("body", drop=".navigate, .nav-panel", either=".toc"),
    "topcat": Rule("body", cut=r"<hr>\s*<a href=[^>]*>(?:Next|Previous|Up|Contents).*?<hr>|<i>TOPCAT - Tool.*"),
    "werkzeug": _SPHINX,
    "wireshark": _DOCBOOK,
    "wikispeedia": Rule("#content", drop=".printfooter, .editsection, .magnify", either="#toc, #nav"),
}


def host_of(url: str) -> str:
    return url.split("/")[2].partition(".")[0]


def label(url: str, body: bytes) -> Gold:
    """What a perfect extractor would find on a page."""
    rule = RULES[host_of(url)]
    if rule.cut:
        body = re.sub(rule.cut.encode(), b" ", body, flags=re.DOTALL | re.IGNORECASE)
    tree = LexborHTMLParser(body)
    if host_of(url) == "geographiclib" and tree.css_first("div.contents") is None:
        rule = Rule("body", either="#_podtop_, ul#index")  # manual pages, which Doxygen did not make
    for node in tree.css(_NEVER):
        node.decompose()
    for node in tree.css(rule.drop) if rule.drop else ():
        node.decompose()
    either: Counter[str] = Counter()
    kept = _outermost(tree, rule.keep)
    if rule.either:
        inner = [node for node in tree.css(rule.either) if any(_is_within(node, outer) for outer in kept)]
        for node in inner:
            either.update(words(node.text(separator=" ")))
        for node in inner:
            node.decompose()
    gold: Counter[str] = Counter()
    codes, headings = [], []
    for node in kept:
        either.update(str(number) for ol in node.css("ol") for number in range(1, 1 + len(ol.css("li"))))
        either.update(words(" ".join(image.attributes.get("alt") or "" for image in node.css("img"))))
        # Inline elements do not part words, blocks do.
        gold.update(words(_text(node)))
        codes += [lines for pre in node.css("pre") if (lines := _lines(pre.text()))]
        found = (_flat(heading.text()) for heading in node.css("h1, h2, h3, h4, h5, h6"))
        headings += [heading for heading in found if heading]
    return Gold(gold, either, codes, headings)


def words(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("\xad", ""))


_BLOCKS = frozenset(
    """address article blockquote br caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3
    h4 h5 h6 header hr li main ol p pre section summary table tbody td tfoot th thead tr ul""".split()  # noqa: SIM905
)


def _text(node: LexborNode) -> str:
    pieces: list[str] = []
    for inner in node.traverse(include_text=True):
        if inner.tag == "-text":
            pieces.append(inner.text_content or "")
        elif inner.tag in _BLOCKS:
            pieces.append(" ")
    return "".join(pieces)


def _outermost(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    found = tree.css(selector)
    numbers = {node.mem_id for node in found}
    return [node for node in found if not any(outer.mem_id in numbers for outer in _ancestors(node))]


def _ancestors(node: LexborNode) -> list[LexborNode]:
    outer, found = node.parent, []
    while outer is not None:
        found.append(outer)
        outer = outer.parent
    return found


def _is_within(node: LexborNode, outer: LexborNode) -> bool:
    return any(other.mem_id == outer.mem_id for other in [node, *_ancestors(node)])


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _flat(text: str) -> str:
    return " ".join(text.split())
