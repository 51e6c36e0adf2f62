"""Why a URL was fetched, skipped, or left waiting: everything the store knows of it, in words.

What the hunter expects of a link is a sum of parts, one for each kind of evidence, against the links that wait. Parts
that tell the same are told together, and only if they matter; what the store can count is counted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from lycosa.errors import InputError
from lycosa.fetch.urls import Urls, url_hash
from lycosa.store.protocol import Store
from lycosa.store.rows import State
from lycosa.strategies.hunter.tables import FEATURES
from lycosa.strategies.protocol import Strategy

MATTERS = 0.15
"""Parts of the log-odds below this are not worth a word."""
SHOWN_PARTS = 6
_PAGES = ("on relevant pages", "on pages that are not relevant")
_TEXT = ("the words near the link speak for it", "the words near the link speak against it")
_URL = ("the words of its URL speak for it", "the words of its URL speak against it")
PHRASES: Mapping[str, tuple[str, str]] = {
    "neighbours": ("near other relevant links", "near links that were not relevant"),
    "hubs": ("on pages whose other links were relevant", "on pages whose other links were not relevant"),
    "parents": _PAGES,
    "best parent": _PAGES,
    "early parents": _PAGES,
    "link text": _TEXT,
    "anchor": _TEXT,
    "link text learned": _TEXT,
    "link words": _TEXT,
    "best link words": _TEXT,
    "URL learned": _URL,
    "URL words": _URL,
    "host": ("a host with many relevant pages", "a host with few relevant pages"),
    "folder": ("a folder that promises more than others", "a folder that promises less than others"),
    "citations": ("cited often", "cited seldom"),
}
"""By kind of the hunter's evidence: what it says where it speaks for a link, and where it speaks against it."""
CITING = """
select count(distinct l.source_id), count(distinct case when j.is_relevant then l.source_id end)
from links l left join judgements j on j.page_id = l.source_id where l.target_id = ?
"""


def explain(store: Store, url: str, *, urls: Urls, strategy: Strategy) -> Iterator[tuple[str, str]]:
    """(heading, text) pairs."""
    canonical, reason = urls.canonical(url)
    if not canonical:
        raise InputError(f"{url!r} is not a URL that can be crawled: {reason}")
    if canonical != url:
        yield "canonical", canonical
    link = _one(store, "select * from frontier where hash = ? and url = ?", url_hash(canonical), canonical)
    if link is None:
        yield "state", "never seen: no page the crawl has read links to it"
        if reason:
            yield "rule", f"it would be turned away: {reason} ({urls.reason_detail(canonical)})"
        return
    host = _one(store, "select * from hosts where id = ?", link["host_id"])
    assert host is not None
    yield "state", _state(link, host)
    yield from _discovery(store, link)
    if link["state"] == State.WAITING:
        is_seed = link["parent_id"] is None and link["score"] == strategy.seed_score()
        yield "score", f"{link['score']:.3f}, as every seed" if is_seed else strategy.reason(link["score"])
        yield from _factors(store, link, host, strategy)
    elif link["state"] != State.EXCLUDED:
        yield "score", f"{link['score']:.3f} when it was fetched"
    if link["reason"] and link["state"] == State.EXCLUDED:
        yield "reason", f"{link['reason']} {link['detail'] or urls.reason_detail(canonical)}".strip()
    yield from _fetches(store, link["id"])
    yield from _page(store, link["id"])
    yield "host", _host(host)


def _factors(store: Store, link: dict[str, Any], host: dict[str, Any], strategy: Strategy) -> Iterator[tuple[str, str]]:
    """What the score is made of, for the citing page that gives the best one."""
    abilities = strategy.abilities
    if not abilities.is_retold:
        return
    citing = []
    for visit, targets in store.visits():
        strategy.tell(visit, targets)
        places = (targets == link["id"]).nonzero()[0]
        if len(places):
            citing.append((visit, targets, int(places[0])))
    best = max(citing, key=lambda each: float(abilities.again(each[0], each[1])[each[2]]), default=None)
    if best is None:
        return
    visit, _, place = best
    assert visit.page is not None
    factors = abilities.factors(visit, visit.page.links[place])
    if factors and tuple(factors) == FEATURES:
        yield "because", _because(store, link, host, visit.page.links[place].anchor, factors)
        strongest = sorted(factors.items(), key=lambda part: -abs(part[1]))[:SHOWN_PARTS]
        yield "factors", ", ".join(f"{name} {value:+.2f}" for name, value in strongest)
    elif factors:
        words = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in factors.items())
        yield "factors", f"{words} (on {visit.page.url})"


def _because(
    store: Store, link: dict[str, Any], host: dict[str, Any], anchor: str, factors: Mapping[str, float]
) -> str:
    """linked from 4 relevant pages, near other relevant links, anchor “touring bikes”; host 31 of 40 relevant"""
    pages, relevant = next(store.query(CITING, (link["id"],))[1])
    parts: dict[tuple[str, str], float] = {}
    for name, value in factors.items():
        phrase = PHRASES.get(name, (f"{name} speaks for it", f"{name} speaks against it"))
        parts[phrase] = parts.get(phrase, 0.0) + value
    told = sorted(((value, phrase) for phrase, value in parts.items() if abs(value) >= MATTERS), reverse=True)
    # What citing pages and the host are like is counted below.
    counted = {_PAGES, PHRASES["host"]}
    reasons = [phrase[0] for value, phrase in told if value > 0 and phrase not in counted]
    doubts = [phrase[1] for value, phrase in reversed(told) if value < 0 and phrase not in counted]
    noun = "page" if relevant == 1 else "pages"
    others = f" and {pages - relevant} other{'s' * (pages - relevant > 1)}" if pages > relevant else ""
    cited = f"linked from {relevant} relevant {noun}{others}"
    words = [cited, *reasons]
    if anchor:
        words.append(f"anchor “{anchor}”")
    text = f"{', '.join(words)}; host {host['relevant']} of {host['pages']} relevant"
    return text + (f"; but {', '.join(doubts)}" if doubts else "")


def _state(link: dict[str, Any], host: dict[str, Any]) -> str:
    state = str(link["state"])
    if state == State.WAITING and host["set_aside"]:
        return f"waiting on a host that was set aside: {host['set_aside']}"
    if state == State.WAITING and link["tries"]:
        return f"waiting to be tried again: {link['reason']} at try {link['tries']}"
    if state == State.WAITING:
        return "waiting in the frontier"
    if state == State.DROPPED:
        return "dropped: the frontier's buffer was full of better links"
    return {State.DONE: "fetched", State.FAILED: "failed", State.EXCLUDED: "excluded"}.get(state, state)


def _discovery(store: Store, link: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if link["parent_id"] is None:
        yield "found", "given as a seed"
    else:
        how = "by a redirect from" if link["redirects"] else "on"
        anchor = f" with the anchor “{link['anchor']}”" if link["anchor"] else ""
        yield "found", f"{how} {store.url_of(link['parent_id'])}{anchor}"
        yield "distance", f"{link['distance']} links from the nearest seed"
    _, rows = store.query(
        "select f.url, l.anchor, j.relevance from links l join frontier f on f.id = l.source_id"
        " left join judgements j on j.page_id = l.source_id"
        " where l.target_id = ? order by j.relevance desc limit 5",
        (link["id"],),
    )
    for source, anchor, relevance in rows:
        judged = f", relevance {relevance:.3f}" if relevance is not None else ""
        yield "cited by", f"{source} (“{anchor}”{judged})"


def _fetches(store: Store, link: int) -> Iterator[tuple[str, str]]:
    _, rows = store.query("select * from outcomes where link_id = ? order by id", (link,))
    names, _ = store.query("select * from outcomes limit 0")
    for row in rows:
        fetch = dict(zip(names, row, strict=True))
        words = [_when(fetch["at"]), fetch["kind"], fetch["reason"], fetch["detail"]]
        if fetch["bytes"]:
            words.append(f"{fetch['bytes']:,} bytes in {fetch['seconds']:.2f} s from {fetch['address']}")
        if fetch["from_cache"]:
            words.append("out of the page cache")
        if fetch["archive_file"]:
            words.append(f"kept in {fetch['archive_file']} at {fetch['archive_offset']}")
        yield "fetch", "  ".join(word for word in words if word)


def _page(store: Store, link: int) -> Iterator[tuple[str, str]]:
    page = _one(store, "select * from pages where id = ?", link)
    if page is None:
        return
    yield "page", f"number {page['number']}: {page['title'] or '(no title)'}  [{page['language'] or '?'}]"
    if page["duplicate_of"]:
        yield "duplicate", f"same text as {store.url_of(page['duplicate_of'])}"
    judgement = _one(store, "select * from judgements where page_id = ?", link)
    if judgement:
        verdict = "relevant" if judgement["is_relevant"] else "not relevant"
        terms = json.loads(judgement["terms"])
        best = sorted(terms.items(), key=lambda item: -item[1])[:8]
        deciding = ", ".join(f"{term} {share:.3f}" for term, share in best) or "none of the topic's words"
        yield "judgement", f"{verdict}: {judgement['relevance']:.3f} by {judgement['judge']} ({deciding})"


def _host(host: dict[str, Any]) -> str:
    words = f"{host['name']}: {host['relevant']} of {host['pages']} pages relevant, {host['failed']} failures"
    if host["crawl_delay"]:
        words += f", asks for {host['crawl_delay']:g} s between requests"
    return words + (f", set aside: {host['set_aside']}" if host["set_aside"] else "")


def _one(store: Store, sql: str, *parameters: Any) -> dict[str, Any] | None:
    names, rows = store.query(sql, parameters)
    row = next(rows, None)
    return None if row is None else dict(zip(names, row, strict=True))


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
