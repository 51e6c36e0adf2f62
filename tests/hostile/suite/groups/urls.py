"""Links in every spelling."""

from __future__ import annotations

from hostile.suite.behaviour import VICTIM, Ask, Behaviour, Check, Raw, Seen, link, page, prose, response
from hostile.suite.checks import asked, asked_one_of, at_most, no_header, not_asked, victim_left_alone

SESSIONS = 60


def _links(
    name: str,
    does: str,
    good: str,
    links: tuple[str, ...],
    *checks: Check,
    is_quick: bool = False,
    names: tuple[str, ...] = (),
) -> Behaviour:
    body = prose("links") + " ".join(map(link, links)) + link("/next")
    return Behaviour(name, does, good, (*checks, asked("/next")), {"/": body, "*": lambda ask: page(ask.target)},
                     is_quick=is_quick, names=names)  # fmt: skip


def once(*beginnings: str) -> Check:
    """All these are spellings of one page."""

    def check(seen: Seen) -> str:
        found = [target for target in seen.pages if target.startswith(beginnings)]
        return f"asked {len(found)} times: {', '.join(found[:3])[:80]}" if len(found) != 1 else ""

    return check


def _new_session(ask: Ask) -> Raw:
    """Every page has a new session in its links."""
    number = ask.number + len(ask.target)
    return response(prose("shop") + "".join(link(f"/shop/{n}?PHPSESSID={number:08x}{n}") for n in range(3)))


def _longer(ask: Ask) -> Raw:
    return response(prose(ask.path) + link("deeper/") + link("again/"))


def _growing(ask: Ask) -> Raw:
    return response(prose(str(len(ask.target))) + link(f"?{ask.query}&amp;x=1"))


BEHAVIOURS = (
    _links("fragments", "links to parts of one page", "asks once", ("/p#a", "/p#b", "/p"), once("/p"), is_quick=True),
    _links("dots", "links to /a/../p, /./p and /%2e/p", "asks once", ("/a/../p", "/./p", "/p"), once("/p")),
    _links("escape-case", "writes %7e, %7E and ~", "asks once", ("/%7ep", "/%7Ep", "/~p"), once("/~p", "/%7")),
    _links("escape-hex", "writes %c3%a9 and %C3%A9", "asks once", ("/caf%c3%a9", "/caf%C3%A9", "/café"), once("/caf")),
    _links("query-order", "changes the order of parameters", "asks once", ("/p?a=1&b=2", "/p?b=2&a=1"), once("/p")),
    _links("query-empty", "links to /p and /p?", "asks once", ("/p", "/p?"), once("/p")),
    _links("query-tracking", "adds utm_source, fbclid and gclid", "asks once",
           ("/p?utm_source=a", "/p?fbclid=b", "/p?gclid=c", "/p"), once("/p"), is_quick=True),
    _links("session-path", "adds ;jsessionid=… to a path", "asks once",
           tuple(f"/p;jsessionid={n:032x}" for n in range(20)), once("/p"), is_quick=True),
    Behaviour("session-query", "puts a new session into every link", "does not fetch a page for each",
              (at_most(SESSIONS),), {"*": _new_session}, is_quick=True),
    _links("trailing-dot", "writes its host with a dot at the end", "asks once",
           ("http://trailing-dot.test.:{port}/p", "/p"), once("/p")),
    _links("capital-host", "writes its host in capitals", "asks once",
           ("http://CAPITAL-HOST.TEST:{port}/p", "/p"), once("/p")),
    _links("wide-host", "writes its host in full-width letters", "asks once",
           ("http://\uff57\uff49\uff44\uff45-host.test:{port}/p", "/p"), once("/p")),
    _links("scheme-case", "writes HTTP: in capitals", "asks once", ("HTTP://{here}/p", "/p"), once("/p")),
    _links("idn", "links to bücher, in Unicode and as xn--bcher-kva", "asks once",
           ("http://bücher.idn.test:{port}/p", "http://xn--bcher-kva.idn.test:{port}/p"), once("/p"),
           names=("xn--bcher-kva",)),
    _links("idn-broken", "links to hosts that are no names: xn--a, a..b, -a-, 300 characters", "survives",
           ("http://xn--a.test/", "http://a..b/", "http://-a-/", f"http://{'a' * 300}.test/", "http://%00.test/", "http://[::1/")),
    _links("userinfo", "links to a URL with a password", "sends no password", ("http://user:secret@{here}/p",), no_header("authorization")),
    _links("userinfo-trick", "links to http://good.example@127.0.0.1", "does not ask there",
           ("http://good.example@127.0.0.1:{victim}/userinfo-trick",), victim_left_alone),
    _links("link-loopback", "links to 127.0.0.1", "does not ask there", ("http://127.0.0.1:{victim}/link-loopback",),
           victim_left_alone, is_quick=True),
    _links("link-decimal", "links to 2130706433 and 0x7f.1", "does not ask there",
           ("http://2130706433:{victim}/link-decimal", "http://0x7f.1:{victim}/link-decimal"), victim_left_alone),
    _links("link-internal", "links to a name with a loopback address", "does not ask there",
           (f"http://{VICTIM}:{{victim}}/link-internal",), victim_left_alone),
    _links("link-sixth", "links to [::1] and [::ffff:127.0.0.1]", "does not ask there",
           ("http://[::1]:{victim}/link-sixth", "http://[::ffff:7f00:1]:{victim}/link-sixth"), victim_left_alone),
    _links("ports", "links to ports 0, 99999, -1 and x", "survives",
           tuple(f"http://ports.test:{port}/" for port in ("0", "99999", "-1", "x", ""))),
    _links("port-services", "links to the ports of mail, SSH and databases", "survives",
           tuple(f"http://port-services.test:{port}/" for port in (22, 25, 110, 3306, 5432, 6379))),
    _links("long", "has a link of 70,000 characters", "does not ask for it", ("/" + "x" * 70_000,), not_asked("/xxx"), is_quick=True),
    _links("many-parameters", "has a link with 500 parameters", "does not ask for it",
           ("/p?" + "&".join(f"p{n}=1" for n in range(500)),), not_asked("/p")),
    _links("slash-escaped", "links to /a%2Fb", "asks for just that", ("/a%2Fb",), asked_one_of("/a%2Fb", "/a%2fb")),
    _links("escape-double", "links to /a%252Fb", "asks for just that", ("/a%252Fb",), asked("/a%252Fb")),
    _links("escape-broken", "links to /a%zz, /a% and /a%u1234", "survives", ("/a%zz", "/a%", "/a%u1234")),
    _links("nul", "links to /a%00b", "survives", ("/a%00b", "/a\x01b")),
    _links("newline", "links to /p%0d%0aX-Injected:1", "sends no header of its making",
           ("/p%0d%0aX-Injected:%201", "/q\r\nX-Injected: 1"), no_header("x-injected")),
    _links("unicode-path", "links to /straße", "asks in UTF-8", ("/straße",), asked("/stra%C3%9Fe"), is_quick=True),
    _links("unicode-forms", "links to é in two forms", "survives", ("/p\u00e9", "/pe\u0301")),
    _links("scheme-relative", "links to //host/p", "asks for /p", ("//{here}/p",), asked("/p")),
    _links("only-query", "links to ?q=1", "asks for /?q=1", ("?q=1",), asked("/?q=1")),
    _links("empty-links", "links to nothing, # and .", "asks for nothing twice", ("", "#", "."), once("/n")),
    Behaviour("repeating", "has relative links that repeat for ever", "stops soon", (at_most(150),), {"*": _longer}),
    Behaviour("growing-query", "has a query that grows with every page", "stops soon", (at_most(150),), {"*": _growing}),
    Behaviour("slashes", "links to itself with one slash more each time", "stops soon", (at_most(150),),
              {"*": lambda ask: response(prose(str(len(ask.path))) + link(f"http://{ask.host}:{ask.port}{ask.path}/"))}),
)  # fmt: skip
