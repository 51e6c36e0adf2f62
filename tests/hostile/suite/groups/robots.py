"""What a site can do with its robots.txt."""

from __future__ import annotations

import asyncio
import gzip

from hostile.suite.behaviour import (
    TOKENS,
    VICTIM,
    Ask,
    Behaviour,
    Raw,
    Served,
    Stream,
    html,
    moved,
    page,
    raw,
    response,
    text,
)
from hostile.suite.checks import (
    asked,
    at_most,
    gave_up_within,
    kept,
    not_asked,
    only_robots,
    rests,
    took_at_most,
    victim_left_alone,
)

PAGES: dict[str, Served] = {
    "/": page("home", "/a", "/private/x", "/open/b"),
    "/a": page("a"),
    "/open/b": page("b"),
    "/private/x": page("private"),
}
RULES = "User-agent: *\nDisallow: /private\n"
OBEYED = (asked("/a"), not_asked("/private"))
FOR_US = "".join(f"User-agent: {token}\n" for token in TOKENS)


def _rules(body: str | bytes, *headers: tuple[str, str], kind: str = "text/plain") -> Raw:
    return text(body, *headers, kind=kind)


async def _silence(_: Ask) -> Stream:
    await asyncio.sleep(3600)
    yield b""


async def _endless(_: Ask) -> Stream:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + RULES.encode()
    for _line in range(4000):
        yield b"# nothing in particular, but much of it\n" * 256


async def _late(_: Ask) -> Stream:
    await asyncio.sleep(1.5)
    yield _rules(RULES).data


def _closes(_: Ask) -> Raw:
    return Raw(b"")


def _obeys(name: str, does: str, robots: Served, *, good: str = "obeys the rule", is_quick: bool = False) -> Behaviour:
    return Behaviour(name, does, good, OBEYED, PAGES, robots, is_quick=is_quick)


def _holds_back(name: str, does: str, robots: Served, *, good: str, is_quick: bool = False) -> Behaviour:
    return Behaviour(name, does, good, (only_robots, at_most(8)), PAGES, robots, is_quick=is_quick)


BEHAVIOURS = (
    Behaviour("robots-404", "has no robots.txt", "fetches its pages", (asked("/a", "/private/x"),), PAGES,
              response("<p>none</p>", status="404 Not Found"), is_quick=True),
    Behaviour("robots-410", "answers 410", "fetches its pages", (asked("/a"),), PAGES,
              response(b"", status="410 Gone")),
    Behaviour("robots-204", "answers 204: no content", "fetches its pages", (asked("/a"),), PAGES,
              Raw(b"HTTP/1.1 204 No Content\r\n\r\n", keeps_alive=True)),
    _holds_back("robots-500", "answers 500", response(b"", status="500 Internal Server Error"),
                good="fetches nothing (RFC 9309)", is_quick=True),
    _holds_back("robots-503", "answers 503 with Retry-After: 3600",
                response(b"", ("Retry-After", "3600"), status="503 Service Unavailable"), good="fetches nothing"),
    _holds_back("robots-429", "answers 429", response(b"", ("Retry-After", "3600"), status="429 Too Many Requests"),
                good="fetches nothing"),
    Behaviour("robots-silent", "never answers", "gives up, and fetches nothing", (only_robots, gave_up_within(25)),
              PAGES, _silence),
    _holds_back("robots-closed", "closes the connection", _closes, good="fetches nothing"),
    _holds_back("robots-cut", "breaks off before its length", response(RULES[:20].encode(), length="500"),
                good="fetches nothing: the missing rule may be the one that matters"),
    _obeys("robots-late", "answers after 1.5 s", _late, good="waits for the rules"),
    Behaviour("robots-loop", "redirects to itself", "gives up soon", (at_most(30, of="/robots.txt"),), PAGES,
              moved("/robots.txt")),
    Behaviour("robots-chain", "redirects without end", "gives up soon", (at_most(30),),
              {**PAGES, "*": lambda ask: moved(f"/r{ask.target}")(ask)}, moved("/r/"), seeds=("/a",)),
    Behaviour("robots-moved", "has moved to /rules.txt", "obeys the rule", OBEYED, {**PAGES, "/rules.txt": _rules(RULES)},
              moved("/rules.txt")),
    Behaviour("robots-to-loopback", "redirects to a loopback address", "does not ask there", (victim_left_alone,),
              PAGES, moved("http://127.0.0.1:{victim}/robots.txt?robots-to-loopback"), is_quick=True),
    Behaviour("robots-to-internal", "redirects to a name with a loopback address", "does not ask there",
              (victim_left_alone,), PAGES, moved(f"http://{VICTIM}:{{victim}}/robots.txt?robots-to-internal")),
    Behaviour("robots-endless", "goes on without end after its rules", "reads some 500 KB, and obeys them",
              (*OBEYED, took_at_most(8_000_000)), PAGES, _endless),
    _obeys("robots-bom", "begins with a byte order mark", _rules(b"\xef\xbb\xbf" + RULES.encode()), is_quick=True),
    _obeys("robots-crlf", "has lines that end in CR LF", _rules(RULES.replace("\n", "\r\n"))),
    _obeys("robots-cr", "has lines that end in CR alone", _rules(RULES.replace("\n", "\r"))),
    _obeys("robots-utf16", "is in UTF-16", _rules(RULES.encode("utf-16"))),
    _obeys("robots-nul", "has NUL bytes between its lines", _rules(b"\0\0\n" + RULES.encode() + b"\0")),
    _obeys("robots-html-type", "says that it is HTML", _rules(RULES, kind="text/html")),
    _obeys("robots-no-type", "has no Content-Type", response(RULES.encode(), kind="")),
    Behaviour("robots-html", "is an HTML page, as for any URL", "finds no rules in it", (asked("/a"),), PAGES,
              response(html("<h1>Welcome</h1>"))),
    _obeys("robots-noise", "has binary noise before its rules", _rules(bytes(range(128, 256)) * 20 + b"\n" + RULES.encode())),
    _obeys("robots-comment", "has comments after its values", _rules("User-agent: * # all\nDisallow: /private # no\n")),
    _obeys("robots-spaces", "has spaces around names and values", _rules(" User-agent :  *\n\tDisallow :   /private  \n")),
    _obeys("robots-case", "is in capitals", _rules("USER-AGENT: *\nDISALLOW: /private\n")),
    _obeys("robots-unknown", "has directives that nobody knows", _rules("Host: x\nUser-agent: *\nNoise: 1\nDisallow: /private\n")),
    _obeys("robots-wildcard", "forbids /*ivate", _rules("User-agent: *\nDisallow: /*ivate\n"), is_quick=True),
    Behaviour("robots-dollar", "forbids /private/x$ and nothing else", "obeys the anchor",
              (asked("/private/xy"), lambda seen: "asked for /private/x" if "/private/x" in seen.pages else ""),
              {**PAGES, "/": page("home", "/private/x", "/private/xy"), "/private/xy": page("xy")},
              _rules("User-agent: *\nDisallow: /private/x$\n")),
    Behaviour("robots-longest", "forbids /open and allows /open/b", "obeys the longer rule",
              (asked("/open/b"), not_asked("/open/c")),
              {**PAGES, "/": page("home", "/open/b", "/open/c"), "/open/c": page("c")},
              _rules("User-agent: *\nAllow: /open/b\nDisallow: /open\n")),
    Behaviour("robots-tie", "forbids and allows the same path", "may fetch it (RFC 9309)", (asked("/open/b"),), PAGES,
              _rules("User-agent: *\nDisallow: /open\nAllow: /open\n")),
    _obeys("robots-ours", "has a group for the crawler, and a looser one for all",
           _rules(f"User-agent: *\nAllow: /\n\n{FOR_US}Disallow: /private\n"), is_quick=True),
    Behaviour("robots-others", "forbids everything to other crawlers", "is not meant", (asked("/a"),), PAGES,
              _rules(f"User-agent: somebot\nDisallow: /\n\n{FOR_US}Allow: /\n")),
    Behaviour("robots-merged", "names the crawler in two groups", "obeys both", (not_asked("/private", "/open"), asked("/a")),
              PAGES, _rules(f"{FOR_US}Disallow: /private\n\nUser-agent: *\nAllow: /\n\n{FOR_US}Disallow: /open\n")),
    Behaviour("robots-escaped", "forbids /caf%C3%A9", "knows that /café is the same", (asked("/a"), not_asked("/caf")),
              {**PAGES, "/": page("home", "/a", "/café")}, _rules("User-agent: *\nDisallow: /caf%C3%A9\n")),
    Behaviour("robots-unescaped", "forbids /café in UTF-8", "knows that /caf%C3%A9 is the same",
              (asked("/a"), not_asked("/caf")), {**PAGES, "/": page("home", "/a", "/caf%C3%A9")},
              _rules("User-agent: *\nDisallow: /café\n")),
    Behaviour("robots-query", "forbids /*?", "fetches no URL with a query", (asked("/a"), not_asked("/a?")),
              {**PAGES, "/": page("home", "/a", "/a?x=1")}, _rules("User-agent: *\nDisallow: /*?\n")),
    Behaviour("robots-empty-rule", "has an empty Disallow", "may fetch everything", (asked("/a", "/private/x"),), PAGES,
              _rules("User-agent: *\nDisallow:\n")),
    Behaviour("robots-closed-site", "forbids everything", "fetches nothing", (only_robots,), PAGES,
              _rules("User-agent: *\nDisallow: /\n"), is_quick=True),
    _obeys("robots-gzip", "is compressed", _rules(gzip.compress(RULES.encode()), ("Content-Encoding", "gzip"))),
    _holds_back("robots-gzip-cut", "is compressed and breaks off",
                _rules(gzip.compress(("# " + "padding " * 900 + "\n" + RULES).encode(), 0)[:-40], ("Content-Encoding", "gzip")),
                good="fetches nothing", is_quick=True),
    Behaviour("robots-gzip-lie", "claims to be compressed, and is not", "fetches nothing that it forbids",
              (not_asked("/private"),), PAGES, _rules(RULES, ("Content-Encoding", "gzip"))),
    Behaviour("robots-bomb", "unpacks to 200 MB", "does not unpack it all, and fetches nothing private",
              (not_asked("/private"),), PAGES,
              lambda _: _rules(gzip.compress(RULES.encode() + b"#" * 200_000_000, 1), ("Content-Encoding", "gzip"))),
    Behaviour("robots-many-rules", "has 30,000 rules", "obeys them in reasonable time",
              (not_asked("/private"), asked("/a")), PAGES,
              _rules("User-agent: *\nDisallow: /private\n" + "".join(f"Disallow: /{n}\n" for n in range(30_000)))),
    Behaviour("robots-slow-rule", "has a rule that regular expressions take ages over", "obeys it in reasonable time",
              (asked("/a"), kept("/a")), {**PAGES, "/": page("home", "/" + "a" * 200, "/a")},
              _rules("User-agent: *\nDisallow: /" + "*a" * 60 + "b\n")),
    Behaviour("robots-delay", "asks for a Crawl-delay of 1.5 s", "rests that long", (rests(1.5), asked("/a")), PAGES,
              _rules("User-agent: *\nCrawl-delay: 1.5\n")),
    Behaviour("robots-delay-years", "asks for a Crawl-delay of 300 years", "stays away",
              (at_most(2),), PAGES, _rules("User-agent: *\nCrawl-delay: 9999999999\n")),
    Behaviour("robots-delay-odd", "asks for a Crawl-delay of NaN, -5, 1e9 and 1,5", "takes no notice", (asked("/a"),), PAGES,
              _rules("User-agent: *\nCrawl-delay: NaN\nCrawl-delay: -5\nCrawl-delay: 1e9\nCrawl-delay: 1,5\nDisallow: /private\n")),
    Behaviour("robots-once", "has twenty pages", "asks for robots.txt once", (at_most(1, of="/robots.txt"), asked("/p/19")),
              {"/": page("home", *(f"/p/{n}" for n in range(20))), "*": lambda ask: page(ask.target)}),
    Behaviour("robots-raw", "answers without a head (HTTP/0.9)", "fetches nothing", (only_robots,), PAGES, raw(RULES)),
)  # fmt: skip
