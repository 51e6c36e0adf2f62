"""Redirects of every kind, and to every place."""

from __future__ import annotations

from hostile.suite.behaviour import FINE, VICTIM, Ask, Behaviour, Check, Raw, Served, link, moved, page, prose, response
from hostile.suite.checks import (
    asked,
    asked_one_of,
    at_most,
    kept,
    no_header,
    not_asked,
    not_kept,
    nowhere,
    victim_left_alone,
)

FORBIDDEN = response(b"User-agent: *\nDisallow: /private\n", kind="text/plain")


def _to(name: str, does: str, good: str, location: str, *checks: Check, is_quick: bool = False) -> Behaviour:
    pages: dict[str, Served] = {"/": moved(location), "/fine": FINE, "/target": page("target")}
    still = kept("/fine", about="named fine")
    return Behaviour(name, does, good, (*checks, still, at_most(30)), pages, seeds=("/", "/fine"), is_quick=is_quick)


def _to_victim(name: str, does: str, host: str, *, is_quick: bool = False) -> Behaviour:
    location = f"http://{host}:{{victim}}/{name}"
    return _to(name, f"redirects to {does}", "does not ask there", location, victim_left_alone, is_quick=is_quick)


def _followed(status: str) -> Behaviour:
    number = status[:3]
    return Behaviour(f"redirect-{number}", f"redirects by {number}", "follows", (kept("/target", about="named target"),),
                     {"/": moved("/target", status=status), "/target": page("target")}, is_quick=number == "301")  # fmt: skip


def _refresh(target: str) -> str:
    return f'<meta http-equiv="refresh" content="0; url={target}">' + prose("refresh")


def _deeper(ask: Ask) -> Raw:
    return response(b"", ("Location", f"/r{len(ask.target)}/{ask.target[1:20]}"), status="302 Found")


BEHAVIOURS = (
    *map(_followed, ("301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect")),
    _to("redirect-self", "redirects to itself", "gives up soon", "/", is_quick=True),
    Behaviour("redirect-pair", "has two pages that redirect to each other", "gives up soon", (at_most(30),),
              {"/": moved("/b"), "/b": moved("/")}),
    Behaviour("redirect-endless", "redirects to a new URL each time", "gives up soon", (at_most(30),), {"*": _deeper}),
    Behaviour("redirect-query", "redirects to itself with a longer query", "gives up soon", (at_most(30),),
              {"/": lambda ask: moved(f"/?{ask.query}x=1&")(ask)}),
    Behaviour("redirect-cookie", "redirects until a cookie comes back", "gives up soon", (at_most(30),),
              {"/": lambda ask: response(b"", ("Location", "/check"), ("Set-Cookie", "seen=1"), status="302 Found"),
               "/check": moved("/")}),
    _to_victim("to-loopback", "127.0.0.1", "127.0.0.1", is_quick=True),
    _to_victim("to-internal", "a name with a loopback address", VICTIM, is_quick=True),
    _to_victim("to-localhost", "localhost", "localhost"),
    _to_victim("to-zero", "0.0.0.0", "0.0.0.0"),
    _to_victim("to-decimal", "2130706433, which is 127.0.0.1", "2130706433"),
    _to_victim("to-hexadecimal", "0x7f000001, which is 127.0.0.1", "0x7f000001"),
    _to_victim("to-octal", "0177.0.0.1, which is 127.0.0.1", "0177.0.0.1"),
    _to_victim("to-short", "127.1, which is 127.0.0.1", "127.1"),
    _to_victim("to-sixth", "[::1]", "[::1]"),
    _to_victim("to-mapped", "[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
    _to_victim("to-wide", "１２７.0.0.1 in full-width digits", "\uff11\uff12\uff17.0.0.1"),
    _to("to-file", "redirects to file:///etc/passwd", "does not read it", "file:///etc/passwd", nowhere("root:"), is_quick=True),
    _to("to-data", "redirects to a data: URL", "keeps no page of it", "data:text/html,<p>evil</p>", nowhere("evil")),
    _to("to-javascript", "redirects to javascript:", "does nothing", "javascript:location='/target'", not_asked("/target")),
    _to("to-ftp", "redirects to ftp://", "does nothing", "ftp://127.0.0.1:{victim}/to-ftp", victim_left_alone),
    _to("to-gopher", "redirects to gopher://", "does nothing", "gopher://127.0.0.1:{victim}/_GET%20/to-gopher", victim_left_alone),
    Behaviour("to-private-path", "redirects to a page that its robots.txt forbids", "does not ask for it",
              (not_asked("/private"),), {"/": moved("/private"), "/private": page("private")}, FORBIDDEN, is_quick=True),
    _to("to-credentials", "redirects to a URL with a password", "does not send the password",
        "http://user:secret@{here}/target", no_header("authorization")),
    _to("location-empty", "gives an empty Location", "keeps no page", "", not_kept("/")),
    _to("location-nowhere", "gives http:// as Location", "survives", "http://"),
    _to("location-odd", "gives ///:::/ as Location", "survives", "///:::/"),
    _to("location-fragment", "redirects to /target#part", "asks for /target", "/target#part", asked("/target")),
    _to("location-relative", "redirects to ../../target", "asks for /target", "../../target", asked("/target")),
    _to("location-scheme-relative", "redirects to //host/target", "asks for /target", "//{here}/target", asked("/target")),
    _to("location-space", "has a space in its Location", "escapes it", "/a b", asked_one_of("/a%20b", "/a+b")),
    _to("location-utf8", "has raw UTF-8 in its Location", "reads it as browsers do", "/café", asked("/caf%C3%A9")),
    _to("location-newline", "has %0d%0a in its Location", "sends no header of its making",
        "/target%0d%0aX-Injected:%20yes", no_header("x-injected")),
    _to("location-long", "gives a Location of 100 KB", "does not ask for it", "/" + "x" * 100_000, not_asked("/xxx")),
    Behaviour("location-twice", "gives two Locations", "survives", (kept("/fine"),),
              {"/": response(b"", ("Location", "/a"), ("Location", "/b"), status="302 Found"), "*": FINE}, seeds=("/", "/fine")),
    Behaviour("refresh-loop", "has two pages that refresh to each other", "gives up soon", (at_most(30),),
              {"/": _refresh("/b"), "/b": _refresh("/")}),
    Behaviour("refresh-loopback", "refreshes to a loopback address", "does not ask there", (victim_left_alone,),
              {"/": _refresh("http://127.0.0.1:{victim}/refresh-loopback")}, is_quick=True),
    Behaviour("refresh-header", "refreshes to itself by a header, with ever new queries", "gives up soon", (at_most(40),),
              {"/": lambda ask: response(prose("x"), ("Refresh", f"0; url=/?n={ask.query[2:]}1"))}),
    Behaviour("refresh-javascript", "refreshes to javascript:", "does nothing", (not_asked("/target"),),
              {"/": _refresh("javascript:location='/target'"), "/target": page("target")}),
    Behaviour("redirect-storm", "has fifty links that all redirect to one page", "asks for that page once",
              (at_most(1, of="/one"), asked("/one")),
              {"/": prose("home") + "".join(link(f"/go/{n}") for n in range(50)), "/one": page("one"), "*": moved("/one")}),
)  # fmt: skip
