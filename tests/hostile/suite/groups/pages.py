"""What a page can do to whoever reads it, or say to robots."""

from __future__ import annotations

from hostile.suite.behaviour import FINE, VICTIM, Behaviour, Check, Served, html, link, page, prose, response
from hostile.suite.checks import (
    asked,
    asked_one_of,
    at_most,
    kept,
    not_asked,
    not_kept,
    nowhere,
    victim_left_alone,
)

NEXT = link("/next")
STILL = kept("/fine", about="named fine")
SPIDER = "what a page says to robots is left to the spider"


def _heavy(
    name: str, does: str, body: str | bytes, *checks: Check, good: str = "survives", is_quick: bool = False
) -> Behaviour:
    """A page that costs; the other pages of the crawl must not pay."""
    served = response(body if isinstance(body, bytes) else html(body))
    pages: dict[str, Served] = {"/": served, "/fine": FINE, "/next": page("next")}
    return Behaviour(name, does, good, (*checks, STILL), pages, seeds=("/", "/fine"), is_quick=is_quick)


def _reads(name: str, does: str, good: str, body: str, *checks: Check, is_quick: bool = False) -> Behaviour:
    return Behaviour(name, does, good, checks, {"/": body, "*": page("another")}, is_quick=is_quick)


def _tells(name: str, does: str, good: str, served: Served, *checks: Check, is_quick: bool = False) -> Behaviour:
    pages: dict[str, Served] = {"/": served, "*": page("another")}
    return Behaviour(name, does, good, checks, pages, is_quick=is_quick, left_to_the_spider=SPIDER)


def _meta(name: str, content: str) -> str:
    return f'<meta name="{name}" content="{content}">'


BODY = prose("odd") + NEXT
HEAVY = (
    _heavy("deep-divs", "nests 200,000 elements", "<div>" * 200_000 + BODY, is_quick=True),
    _heavy("deep-tables", "nests 5,000 tables", "<table><tr><td>" * 5000 + BODY),
    _heavy("deep-fonts", "nests 3,000 formatting elements, and closes none", "<b><i><font><p>" * 3000 + BODY),
    _heavy("many-attributes", "has an element with 100,000 attributes",
           "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">" + BODY, is_quick=True),
    _heavy("long-attribute", "has an attribute of 5 MB", f'<p title="{"x" * 5_000_000}">' + BODY),
    _heavy("entities", "has a million character references", "&lt;&amp;&#x41;" * 400_000 + BODY),
    _heavy("unclosed", "opens 100,000 links and closes none", BODY + "".join(f'<a href="/u/{n}">x' for n in range(100_000)),
           at_most(20_100)),
    _heavy("table", "has a table of 100,000 rows", BODY + "<table>" + "<tr><td>x<td>y" * 100_000, good="keeps the page"),
    _heavy("one-word", "is one word of 8 MB", "<p>" + "x" * 8_000_000),
    _heavy("one-line", "has 2 MB of style, and of script", f"<style>{'a{b:c}' * 300_000}</style><script>{'f();' * 300_000}</script>" + BODY),
    _heavy("comment-open", "opens a comment and never closes it", BODY + '<!-- <a href="/hidden">x</a>' + "x" * 100_000,
           not_asked("/hidden")),
    _heavy("title-open", "opens its title and never closes it", b"<title>" + b"x " * 500_000),
    _heavy("title-long", "has a title of 1 MB", b"<title>" + b"long " * 200_000 + b"</title>" + BODY.encode()),
    _heavy("selects", "nests select, svg and math", "<select><svg><math><mtext><option>" * 2000 + BODY),
    _heavy("markup-only", "has 500,000 empty elements", "<p></p>" * 500_000 + BODY),
    _heavy("invisible", "has 200,000 invisible characters and right-to-left marks", "<p>" + "\u200b\u202e\u2066\ufeff" * 50_000 + BODY),
    _heavy("many-links", "has 200,000 links", BODY + "".join(f'<a href="/l/{n}">x</a>' for n in range(200_000)), at_most(20_100)),
    _heavy("many-hosts", "links to 2,000 names that do not exist", BODY + "".join(f'<a href="http://n{n}.invalid/">x</a>' for n in range(2000))),
    Behaviour("xhtml-bomb", "has entities that multiply in XHTML", "survives", (STILL,),
              {"/": response(b'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "aaaaaaaaaa">' + b"".join(
                  b'<!ENTITY %s "%s">' % (bytes([98 + n]), b"&%s;" % bytes([97 + n]) * 10) for n in range(9)) +
                  b"]><html xmlns='http://www.w3.org/1999/xhtml'><body>&j;</body></html>", kind="application/xhtml+xml"),
               "/fine": FINE}, seeds=("/", "/fine")),
    Behaviour("xhtml-external", "asks for a file by an entity in XHTML", "does not read it", (nowhere("root:"), STILL),
              {"/": response(b'<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><html><body>&x;</body></html>',
                             kind="application/xhtml+xml"), "/fine": FINE}, seeds=("/", "/fine")),
)  # fmt: skip
BEHAVIOURS = (
    _reads("link-in-script", "has a link in a script and in a comment", "does not follow it",
           prose("x") + '<script>document.write(\'<a href="/hidden">x</a>\')</script><!--<a href="/hidden2">x</a>-->' + NEXT,
           not_asked("/hidden"), asked("/next"), is_quick=True),
    _reads("link-in-text", "has a link in a textarea and in a title", "does not follow it",
           prose("x") + '<textarea><a href="/hidden">x</a></textarea><xmp><a href="/hidden2">x</a></xmp>' + NEXT,
           not_asked("/hidden"), asked("/next")),
    _reads("base-loopback", "has a base at a loopback address", "does not ask there",
           f'<base href="http://127.0.0.1:{{victim}}/base-loopback/">{BODY}{link("x")}', victim_left_alone, is_quick=True),
    _reads("base-internal", "has a base at a name with a loopback address", "does not ask there",
           f'<base href="http://{VICTIM}:{{victim}}/base-internal/">{link("x")}', victim_left_alone),
    _reads("base-twice", "has two bases", "takes the first", f'<base href="/one/"><base href="/two/">{link("x")}',
           asked("/one/x"), not_asked("/two")),
    _reads("base-javascript", "has a base of javascript:", "survives", f'<base href="javascript:alert(1)">{link("/next")}', at_most(5)),
    _reads("links-odd", "links to javascript:, data:, file:, mailto:, tel:, blob:, about: and ws:", "follows none of them",
           prose("x") + " ".join(link(f"{scheme}:/hidden") for scheme in
                                 ("javascript", "data", "file", "mailto", "tel", "blob", "about", "ws", "view-source", "feed")) + NEXT,
           not_asked("/hidden"), asked("/next"), nowhere("root:"), is_quick=True),
    _reads("link-file", "links to file:///etc/passwd", "does not read it", prose("x") + link("file:///etc/passwd") + NEXT,
           nowhere("root:"), asked("/next")),
    _reads("link-newline", "has a line break within a link", "reads it as browsers do", link("/ne\nxt"), asked("/next")),
    _reads("link-spaces", "has spaces around a link", "reads it as browsers do", link(" \t/next  "), asked("/next")),
    _reads("link-backslash", "has backslashes in a link", "reads it as browsers do", link("\\\\{here}\\next"), asked("/next")),
    _reads("link-entities", "has &amp;amp; in a link", "asks for an ampersand", link("/next?a=1&amp;b=2"), asked("/next?a=1&b=2")),
    _reads("link-odd-script", "hides javascript: behind a tab", "does nothing", link("java\tscript:location='/hidden'") + NEXT,
           not_asked("/hidden"), asked("/next")),
    _reads("form", "has a form and a button that delete something", "does not send it",
           prose("x") + '<form action="/delete"><input name=id value=1><button formaction="/delete2">go</button></form>' + NEXT,
           not_asked("/delete"), asked("/next"), is_quick=True),
    _reads("handlers", "has links in onclick and in style", "does not follow them",
           prose("x") + '<p onclick="location=\'/hidden\'" style="background:url(/hidden2)">x</p>' + NEXT, not_asked("/hidden")),
    _reads("frames", "frames itself in a frame with ever new names", "does not sink into it",
           prose("x") + '<iframe src="/?f=1"></iframe>' + NEXT, at_most(40)),
    _tells("meta-nofollow", "says nofollow in a meta element", "follows no link of it",
           _meta("robots", "nofollow") + BODY, not_asked("/next"), is_quick=True),
    _tells("meta-none", "says none, in capitals", "follows no link of it", _meta("ROBOTS", " NONE ") + BODY, not_asked("/next")),
    _tells("meta-ours", "says nofollow to the crawler alone", "follows no link of it", _meta("lycosa", "nofollow") + BODY, not_asked("/next")),
    _tells("meta-others", "says nofollow to another crawler", "is not meant", _meta("somebot", "nofollow") + BODY, asked("/next")),
    _tells("rel-nofollow", "has a link with rel=nofollow", "does not follow it",
           prose("x") + '<a rel="external NOFOLLOW" href="/hidden">x</a>' + NEXT, not_asked("/hidden"), asked("/next"), is_quick=True),
    _tells("tag-nofollow", "says nofollow in X-Robots-Tag", "follows no link of it",
           response(BODY, ("X-Robots-Tag", "noarchive, nofollow")), not_asked("/next"), is_quick=True),
    _tells("tag-ours", "says none to the crawler alone in X-Robots-Tag", "follows no link of it",
           response(BODY, ("X-Robots-Tag", "somebot: index, lycosa: none")), not_asked("/next")),
    _tells("tag-others", "says nofollow to another crawler in X-Robots-Tag", "is not meant",
           response(BODY, ("X-Robots-Tag", "somebot: nofollow")), asked("/next")),
    _tells("tag-date", "says unavailable_after with a date in X-Robots-Tag, and nofollow", "reads both",
           response(BODY, ("X-Robots-Tag", "unavailable_after: 25 Jun 2030 15:00:00 PST"), ("X-Robots-Tag", "nofollow")), not_asked("/next")),
    _reads("canonical-lie", "says that another host has the original", "keeps the page as its own",
           f'<link rel="canonical" href="http://{VICTIM}:{{victim}}/canonical-lie">' + BODY, kept("/", about="named odd"), victim_left_alone),
    _reads("canonical-home", "says on every page that the home page is the original", "keeps the pages",
           '<link rel="canonical" href="/">' + BODY, asked("/next")),
    _reads("image-links", "links to pictures, videos and archives", "does not download them",
           prose("x") + " ".join(link(f"/big.{kind}") for kind in ("zip", "iso", "mp4", "jpg", "exe")) + NEXT,
           not_asked("/big"), asked("/next")),
    _reads("noscript-link", "has a link in noscript", "may follow it", prose("x") + f"<noscript>{link('/plain')}</noscript>", asked_one_of("/plain", "/")),
    Behaviour("soft-empty", "has a page without any text", "survives", (at_most(5),), {"/": response(b"")}),
    Behaviour("wrong-end", "is HTML that says text/plain", "follows no link of it", (not_asked("/next"),),
              {"/": response(html(BODY), kind="text/plain"), "*": page("x")}),
    Behaviour("json", "is JSON that says text/html", "survives", (not_kept("/nowhere"), at_most(5)),
              {"/": response(b'{"href": "/next", "text": "<a href=/x>"}')}),
)  # fmt: skip
