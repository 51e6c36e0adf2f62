"""What a server is owed."""

from __future__ import annotations

import asyncio

from hostile.suite.behaviour import FAILURE, Ask, Behaviour, Check, Logged, Raw, Seen, Stream, page, response
from hostile.suite.checks import asked, at_least, at_most, one_at_a_time, rests

DELAY = 0.2
PAGES = {"/": page("home", *(f"/p/{n}" for n in range(8))), "*": lambda ask: page(ask.target)}


async def _slow(ask: Ask) -> Stream:
    body = page(ask.target, *(f"/p/{n}" for n in range(6))).data
    yield body[:100]
    await asyncio.sleep(0.6)
    yield body[100:]


def _mean_rest(seconds: float) -> Check:
    """Rests may vary, but not be shorter than asked for on average, measured from request to request."""

    def check(seen: Seen) -> str:
        times = sorted(each.arrived for each in seen.asked)
        mean = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else seconds
        return f"asked every {mean:.2f} s" if mean < 0.8 * seconds else ""

    return check


def _agents(seen: Seen) -> str:
    def agent(request: Logged) -> str:
        return dict(request.headers).get("user-agent", "")

    names = {agent(request) for request in seen.asked}
    return f"{len(names)} names: {', '.join(sorted(names))[:80]}" if len(names) != 1 or "" in names else ""


def _told_nobody(seen: Seen) -> str:
    others = [request for request in seen.asked if request.host.startswith("other.")]
    return "told it in Referer" if any("token" in dict(each.headers).get("referer", "") for each in others) else ""


def _with_cookie(ask: Ask) -> Raw:
    body = f'<a href="http://other.{ask.host}:{ask.port}/q">x</a>'
    return response(body, ("Set-Cookie", "spy=1; Domain=test; Path=/"))


def _no_cookie_elsewhere(seen: Seen) -> str:
    others = [request for request in seen.asked if request.host.startswith("other.")]
    return "sent it to another host" if any("spy" in dict(each.headers).get("cookie", "") for each in others) else ""


BEHAVIOURS = (
    Behaviour("delay", "has nine pages", "asks no faster than it was told to", (_mean_rest(DELAY), at_least(9)), PAGES),
    Behaviour("delay-slow", "takes 0.6 s for an answer", "rests from the end of it", (rests(DELAY), at_least(5)), {"*": _slow}),
    Behaviour("one-by-one", "takes 0.6 s for an answer", "asks for one page at a time", (one_at_a_time, at_least(5)), {"*": _slow}),
    Behaviour("one-address", "has two hosts at one address, and takes 0.6 s for an answer", "asks for one page of both at a time",
              (one_at_a_time, at_least(5)),
              {"/": '<a href="http://second.one-address.test:{port}/p/1">x</a><a href="/p/1">y</a>', "*": _slow}, names=("second",)),
    Behaviour("failing", "answers 500 for every page", "rests longer and longer", (at_most(14),),
              {"/": page("home", *(f"/p/{n}" for n in range(30))), "*": FAILURE}, seeds=("/",)),
    Behaviour("agent", "looks at the User-Agent", "is called the same in every request", (_agents, asked("/p/1")), PAGES),
    Behaviour("referrer", "has a secret in the URL of a page", "does not tell it to others", (_told_nobody, asked("/q")),
              {"/": page("home", "/p?token=secret"), "/p": '<a href="http://other.referrer.test:{port}/q">x</a>', "*": page("x")}, names=("other",)),
    Behaviour("cookies", "sets a cookie for a whole top-level domain", "does not send it to other hosts",
              (_no_cookie_elsewhere, asked("/q")),
              {"/": _with_cookie, "*": page("x")}, names=("other",)),
)  # fmt: skip
