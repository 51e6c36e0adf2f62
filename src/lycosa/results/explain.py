"""Why a URL was fetched, skipped, or left waiting: everything the store knows about it, as text.

The hunter's score of a link is a sum of parts, one for each kind of evidence, relative to the other waiting links.
Parts with the same meaning are added up and reported only if they matter; what the store can count is counted.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from lycosa.crawl.change_rate import DAY, GUESSED_RATE, Looks, change_rates
from lycosa.crawl.resume import NOTHING, Covered
from lycosa.crawl.seeds import robots_trouble
from lycosa.crawl.start_threshold import START_THRESHOLD, StartThreshold
from lycosa.errors import InputError
from lycosa.fetch.urls import Urls, origin, url_hash
from lycosa.model import Link
from lycosa.results.rulings import Rulings, in_words, rulings
from lycosa.store.protocol import Reports
from lycosa.store.rows import NOT_WORTH, RAISED, REVISIT, Answer, HostRow, LinkRow, PageChange, State
from lycosa.strategies.hunter.tables import FEATURES
from lycosa.strategies.protocol import Strategy

MATTERS = 0.15
"""Parts of the log-odds smaller than this are not mentioned."""
SHOWN_PARTS = 6
SHOWN_CITATIONS = 5
SHOWN_TERMS = 8
SHOWN_CHECKS = 10
WordsOfPage = Callable[[int], Mapping[str, float] | None]
ReasonsOfPage = Callable[[int], Sequence[str]]
UsageOfLink = Callable[[LinkRow], str]
Known = Callable[[], tuple[Strategy, Covered]]
"""A new strategy with what a snapshot has told it, which must be nothing if it has rules."""
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
"""What each kind of the hunter's evidence says when it speaks for a link, and when it speaks against it."""


def _unknown(page: int) -> None:  # noqa: ARG001 - whatever the page is
    return None


def _nothing_said(link: LinkRow) -> str:  # noqa: ARG001
    return ""


def _no_reasons(page: int) -> tuple[str, ...]:  # noqa: ARG001
    return ()


def explain(
    store: Reports,
    url: str,
    *,
    urls: Urls,
    strategy: Strategy,
    known: Known | None = None,
    words: WordsOfPage = _unknown,
    reasons: ReasonsOfPage = _no_reasons,
    rules: Sequence[str] = (),
    usage: UsageOfLink = _nothing_said,
    citing: Reports | None = None,
) -> Iterator[tuple[str, str]]:
    """(heading, text) pairs. `known`: asked for a strategy that knows something already, if what it knows matters;
    `words`: those that decided on a page, for pages that were stored without; `reasons`: what else did; `rules`: how
    the crawl's judge decides (`JudgeAbilities.rules`); `usage`: what the owner says about use; `citing`: who knows
    all citing pages, if `store` does not."""
    canonical, reason = urls.canonical(url)
    if not canonical:
        raise InputError(f"{url!r} is not a URL that can be crawled: {reason}")
    if canonical != url:
        yield "canonical", canonical
    link = store.find_link(canonical, url_hash(canonical))
    if link is None:
        yield "state", "never seen: no page the crawl has read links to it"
        if reason:
            yield "rule", f"it would be rejected: {reason} ({urls.reason_detail(canonical)})"
        return
    host = store.host(link.host_id)
    assert host is not None
    yield "state", _state(store, link, host)
    yield from _discovery(store, link, citing or store)
    found = _rulings(store, strategy, link, known)
    if link.state == State.WAITING:
        is_seed = not link.distance and link.parent_id is None and link.score == strategy.seed_score()
        yield "score", f"{link.score:.3f}, like every seed" if is_seed else strategy.reason(link.score)
        if link.tries:
            yield "turn", f"after all links that were {'never tried' if link.tries == 1 else 'tried less often'}"
        yield from _factors(store, link, host, found)
        yield from (("rule", rule) for rule in rules)
    elif link.state != State.EXCLUDED:
        yield "score", f"{link.score:.3f} when it was fetched"
    if link.reason and link.state == State.EXCLUDED:
        yield "reason", f"{link.reason} {link.detail or urls.reason_detail(canonical)}".strip()
    yield from _rules(link, found)
    yield from _fetches(store, link.id)
    yield from _history(store, link.id)
    yield from _page(store, link.id, words)
    if store.judgement(link.id):
        yield from (("nearest", reason) for reason in reasons(link.id))
    if said := usage(link):
        yield "usage", said
    yield "host", _host(host)


def _rulings(store: Reports, strategy: Strategy, link: LinkRow, known: Known | None) -> Rulings | None:
    """What strategy and rules made of the link; None if there is nothing to tell but its score."""
    is_followed_up = link.state == State.WAITING or strategy.abilities.rules is not None
    has_parts = strategy.abilities.is_retold or strategy.abilities.rules is not None
    if not is_followed_up or not has_parts:
        return None
    strategy, covered = known() if known is not None else (strategy, NOTHING)
    return rulings(store, strategy, link.id, link.parent_id, covered=covered)


def _rules(link: LinkRow, found: Rulings | None) -> Iterator[tuple[str, str]]:
    """The rules that let the link in, or turned it away."""
    if found is None:
        return
    if link.state == State.EXCLUDED:
        refusals = found.refusals if link.reason == NOT_WORTH else []
        yield from (("rule", in_words(ruling)) for ruling in refusals[-SHOWN_CITATIONS:] if ruling.words)
    else:
        behind = found.behind(link.score)
        if behind is not None and behind.words:
            yield "rule", in_words(behind)


def _factors(store: Reports, link: LinkRow, host: HostRow, found: Rulings | None) -> Iterator[tuple[str, str]]:
    """The parts of the score, on the citing page that gave it or, if none did, gives the best one now."""
    if found is None:
        return
    behind = found.behind(link.score)
    is_exact = behind is not None and behind.factors and behind.gave(link.score)
    best = behind if is_exact else found.best_now() or behind
    if best is not None and best.visit.page is not None:
        visit, cited = best.visit, best.visit.page.links[best.place]
    elif found.parent is not None:  # nobody cites it: it was derived from the URL of a page
        visit, cited = found.parent, Link(link.url)
    else:
        return
    factors = (best.factors if best is not None else {}) or found.strategy.abilities.factors(visit, cited)
    if factors and tuple(factors) == FEATURES:
        yield "because", _because(store, link, host, cited.anchor, factors)
        strongest = sorted(factors.items(), key=lambda part: -abs(part[1]))[:SHOWN_PARTS]
        yield "factors", ", ".join(f"{name} {value:+.2f}" for name, value in strongest)
    elif factors:
        words = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in factors.items())
        yield "factors", f"{words} (on {visit.lease.url})"


def _because(store: Reports, link: LinkRow, host: HostRow, anchor: str, factors: Mapping[str, float]) -> str:
    """linked from 4 relevant pages, near other relevant links, anchor “touring bikes”; host 31 of 40 relevant"""
    pages, relevant = store.citation_counts(link.id)
    parts: dict[tuple[str, str], float] = {}
    for name, value in factors.items():
        phrase = PHRASES.get(name, (f"{name} speaks for it", f"{name} speaks against it"))
        parts[phrase] = parts.get(phrase, 0.0) + value
    weighty = sorted(((value, phrase) for phrase, value in parts.items() if abs(value) >= MATTERS), reverse=True)
    # Citing pages and the host are described below, by counts.
    counted = {_PAGES, PHRASES["host"]}
    reasons = [phrase[0] for value, phrase in weighty if value > 0 and phrase not in counted]
    doubts = [phrase[1] for value, phrase in reversed(weighty) if value < 0 and phrase not in counted]
    noun = "page" if relevant == 1 else "pages"
    others = f" and {pages - relevant} other{'s' * (pages - relevant > 1)}" if pages > relevant else ""
    cited = f"linked from {relevant} relevant {noun}{others}"
    words = [cited if pages else "linked from no page", *reasons]
    if anchor:
        words.append(f"anchor “{anchor}”")
    text = f"{', '.join(words)}; host {host.relevant} of {host.pages} relevant"
    return text + (f"; but {', '.join(doubts)}" if doubts else "")


def _state(store: Reports, link: LinkRow, host: HostRow) -> str:
    if link.state == State.WAITING and host.set_aside:
        return f"waiting on a host that was set aside: {host.set_aside}"
    if link.state == State.WAITING and (robots := robots_trouble(store, origin(link.url))) is not None:
        again = f"next try at {_when(robots.retry_at)}"
        return f"waiting: robots.txt is unreachable ({robots.failure}), so nothing may be fetched there; {again}"
    if link.state == State.WAITING and link.reason == RAISED:
        return f"waiting before all other links: cited by {link.detail} (lycosa distill)"
    if link.state == State.WAITING and link.reason == REVISIT:
        return "fetched, and waiting before all other links to be fetched again, as a hub (lycosa distill)"
    if link.state == State.WAITING and link.tries:
        return f"waiting for another try: {link.reason} on try {link.tries}"
    if link.state == State.WAITING:
        return "waiting in the frontier"
    if link.state == State.DROPPED:
        return "dropped: the frontier's buffer was full of better links"
    return "fetched" if link.state == State.DONE else link.state


def _discovery(store: Reports, link: LinkRow, citing: Reports) -> Iterator[tuple[str, str]]:
    searches = store.found_by_search(link.id)
    if link.parent_id is not None:
        yield "found", _found(store, link, link.parent_id)
    else:
        yield "found", "by a search" if searches and link.distance else "given as a seed"
    for found in searches[:SHOWN_CITATIONS]:
        yield "search", f"{found.engine} named it for “{found.query}”, rank {found.rank}, on {_when(found.at)}"
    if link.parent_id is not None:
        yield "distance", f"{link.distance} link{'s' * (link.distance != 1)} from the nearest seed"
    known = citing.find_link(link.url, url_hash(link.url))
    for source, anchors, relevance in citing.citing_pages(known.id if known else link.id, SHOWN_CITATIONS):
        judged = f", relevance {relevance:.3f}" if relevance is not None else ""
        shown = ", ".join(f"“{anchor}”" for anchor in anchors.split("\n"))
        yield "cited by", f"{source} ({shown}{judged})"


def _found(store: Reports, link: LinkRow, parent: int) -> str:
    page = _url(store, parent)
    if link.redirects:
        return f"by a redirect from {page}"
    if store.page(parent) is not None and not store.has_link(parent, link.id):
        is_home = link.url == f"{origin(link.url)}/"
        what = "home page of a host" if is_home else "folder of a page"
        return f"on no page: {what} that proved relevant, by the URL of {page}"
    return f"on {page}" + (f" with the anchor “{link.anchor}”" if link.anchor else "")


def _fetches(store: Reports, link: int) -> Iterator[tuple[str, str]]:
    for fetch in store.outcomes(link):
        words = [_when(fetch.at), fetch.kind, fetch.reason, fetch.detail]
        if fetch.bytes:
            words.append(f"{fetch.bytes:,} bytes in {fetch.seconds:.2f} s from {fetch.address}")
        if fetch.from_cache:
            words.append("from the page cache")
        if fetch.archive_file:
            words.append(f"archived in {fetch.archive_file} at {fetch.archive_offset}")
        yield "fetch", "  ".join(word for word in words if word)


def _history(store: Reports, link: int) -> Iterator[tuple[str, str]]:
    """What was found when the page was looked at again, and how often it seems to change."""
    checks = store.checks(link)
    if not checks:
        return
    counts = Counter(row.change for row in checks)
    found = ", ".join(f"{count}× {change}" for change, count in counts.items())
    told = [row for row in checks if row.change in (PageChange.SAME, PageChange.CHANGED, PageChange.BACK)]
    looks = Looks(
        np.zeros(len(told), np.int64),
        np.array([row.at - row.since for row in told], dtype=np.float64),
        np.array([row.change != PageChange.SAME for row in told], dtype=np.bool_),
    )
    days = 1 / change_rates(looks, np.array([GUESSED_RATE]))[0] / DAY
    yield "history", f"looked at again {len(checks)}×: {found}; changes about every {days:,.1f} days"
    for row in checks[-SHOWN_CHECKS:]:
        yield "look", f"{_when(row.at)}  {row.change}"
    if checks[-1].change == PageChange.GONE:
        yield "gone", f"since {_when(checks[-1].at)}; its last version is kept"


def _page(store: Reports, link: int, words: WordsOfPage) -> Iterator[tuple[str, str]]:
    page = store.page(link)
    if page is None:
        return
    yield "page", f"number {page.number}: {page.title or '(no title)'}  [{page.language or '?'}]"
    if page.duplicate_of:
        yield "duplicate", f"same text as {_url(store, page.duplicate_of)}"
    judgement = store.judgement(link)
    if judgement:
        verdict = "relevant" if judgement.is_relevant else "not relevant"
        deciding = _deciding(json.loads(judgement.terms) or words(link))
        said = [row for row in store.answers() if row.page_id == link and row.answer != Answer.SKIPPED]
        if said and said[-1].is_relevant is not None:
            own = said[-1].own_relevance or 0.0
            who = f"a person said so on {_when(said[-1].at)}; {judgement.judge} gave it {own:.3f}"
            yield "judgement", f"{verdict}: {who} ({deciding})"
        else:
            yield "judgement", f"{verdict}: {judgement.relevance:.3f} by {judgement.judge} ({deciding})"
            if judgement.guide_relevance is not None and judgement.guide_relevance != judgement.relevance:
                guides = f"{judgement.guide_relevance:.3f}, the relevance without NOT, which is applied afterwards"
                yield "guides", f"the crawl by {guides}"
        if threshold := StartThreshold.from_bytes(store.state(START_THRESHOLD)):
            yield "threshold", threshold.in_words + (f"; {threshold.warning}" if threshold.warning else "")


def _deciding(words: Mapping[str, float] | None) -> str:
    """Those that speak most for or against the topic."""
    if words is None:
        return "the words that decided cannot be told: the text of the page is not in the archive"
    best = sorted(words.items(), key=lambda item: -abs(item[1]))[:SHOWN_TERMS]
    return ", ".join(f"{term} {share:.3f}" for term, share in best) or "none of the topic's words"


def _host(host: HostRow) -> str:
    words = f"{host.name}: {host.relevant} of {host.pages} pages relevant, {host.failed} failures"
    if host.crawl_delay:
        words += f", asks for {host.crawl_delay:g} s between requests"
    return words + (f", set aside: {host.set_aside}" if host.set_aside else "")


def _url(store: Reports, link: int) -> str:
    row = store.link(link)
    return row.url if row else ""


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
