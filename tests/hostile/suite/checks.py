"""What a good crawler does, judged by the server's log and by the pages that the crawler kept."""

from __future__ import annotations

from itertools import pairwise
from urllib.parse import urlsplit

from hostile.suite.behaviour import Check, Kept, Seen


def asked(*targets: str) -> Check:
    def check(seen: Seen) -> str:
        missing = [target for target in targets if target not in seen.pages]
        return f"did not ask for {missing[0]}" if missing else ""

    return check


def asked_one_of(*targets: str) -> Check:
    return lambda seen: "" if set(targets) & set(seen.pages) else f"asked for none of {', '.join(targets)}"


def not_asked(*beginnings: str) -> Check:
    def check(seen: Seen) -> str:
        wrong = [target for target in seen.pages if target.startswith(beginnings)]
        return f"asked for {wrong[0][:60]}" if wrong else ""

    return check


def only_robots(seen: Seen) -> str:
    return f"asked for {seen.pages[0][:60]}" if seen.pages else ""


def at_most(count: int, *, of: str = "") -> Check:
    """Requests, all or those for targets that begin so."""

    def check(seen: Seen) -> str:
        found = sum(each.target.startswith(of) for each in seen.asked)
        return f"{found:,} requests{' for ' + of if of else ''}" if found > count else ""

    return check


def at_least(count: int) -> Check:
    return lambda seen: f"only {len(seen.pages)} pages asked for" if len(seen.pages) < count else ""


def took_at_most(size: int) -> Check:
    """Bytes of one answer."""

    def check(seen: Seen) -> str:
        most = max((each.sent for each in seen.asked), default=0)
        return f"took {most / 1e6:.1f} MB of an answer" if most > size else ""

    return check


def gave_up_within(seconds: float) -> Check:
    def check(seen: Seen) -> str:
        longest = max((each.left - each.arrived for each in seen.asked), default=0.0)
        return f"hung on an answer for {longest:.0f} s" if longest > seconds else ""

    return check


def rests(seconds: float, *, after: str = "") -> Check:
    """Between the end of an answer and the next request, of any target or of those that begin so."""

    def check(seen: Seen) -> str:
        in_order = sorted(seen.asked)
        for before, later in pairwise(in_order):
            if before.target.startswith(after) and later.arrived - before.ended < seconds:
                return f"asked again after {max(0.0, later.arrived - before.ended):.2f} s"
        return ""

    return check


def one_at_a_time(seen: Seen) -> str:
    overlap = any(later.arrived < before.ended for before, later in pairwise(sorted(seen.asked)))
    return "several requests at a time" if overlap else ""


def _page(seen: Seen, path: str) -> Kept | None:
    for each in seen.kept:
        parts = urlsplit(each.url)
        if (parts.path or "/") + (f"?{parts.query}" if parts.query else "") == path:
            return each
    return None


def kept(path: str, *, about: str = "") -> Check:
    """The page is kept, with the sentence about it."""

    def check(seen: Seen) -> str:
        found = _page(seen, path)
        if found is None:
            return f"did not keep {path}"
        if about and about not in f"{found.title} {found.text}":
            return f"kept {path} without its text"
        return ""

    return check


def not_kept(path: str) -> Check:
    return lambda seen: f"kept {path}" if _page(seen, path) is not None else ""


def nowhere(words: str) -> Check:
    """No page that was kept has these words."""

    def check(seen: Seen) -> str:
        found = [each.url for each in seen.kept if words in f"{each.title} {each.text}"]
        return f"{words!r} is in {urlsplit(found[0]).path}" if found else ""

    return check


def victim_left_alone(seen: Seen) -> str:
    return f"asked a loopback address for {seen.victim[0][:60]}" if seen.victim else ""


def no_header(name: str, *, holding: str = "") -> Check:
    def check(seen: Seen) -> str:
        for each in seen.asked:
            for header, value in each.headers:
                if header == name and holding in value:
                    return f"sent {name}: {value[:40]}"
        return ""

    return check


def small_requests(seen: Seen) -> str:
    largest = max((sum(len(name) + len(value) for name, value in each.headers) for each in seen.asked), default=0)
    return f"sent {largest:,} bytes of headers" if largest > 16_384 else ""
