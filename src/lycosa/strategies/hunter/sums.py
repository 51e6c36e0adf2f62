"""Compiled loops of `evidence`: sums updated by one visit, or all recomputed.

`evidence` defines the sums; `links`, `citations` and `pages` are its columns (`tables`), `hosts` and `folders` its
records of places. Columns are taken from their tables before a loop: each access would change a reference count, which
costs more than the addition. What is a double says so (`features`).
"""

from __future__ import annotations

import math

import numpy as np

from lycosa.lib.compiled import compiled, inlined
from lycosa.strategies.hunter.features import COUNT, hub_odds, unpacked, z_score
from lycosa.strategies.hunter.notes import FOLDER_HASH, HOST_HASH, NEAR, URL_WORDS
from lycosa.strategies.hunter.tables import HUB_RATE, MOST_SIBLINGS, REACH, RING, TEXTS

FADE = 3.0
"""Rate at which the weight for `early` decreases from the top of a page to its end."""
HUB_STEP = 0.3
"""Change of a page's hub value, in log-odds, above which all its links are scored again."""
HANDED_OUT = -1


@compiled
def visit(  # type: ignore[no-untyped-def]
    number, link, relevance, rates, model, gone, targets, words, addresses, begin,
    links, citations, pages, hosts, folders, z_scores, dirty,
):  # fmt: skip
    """Update all sums after the visit to page `number`. Fills `z_scores`, by which it was chosen.

    Returns the number of links that were handed out, and the number of waiting ones in `dirty`, which are distinct.
    """
    link_page, stamp, cited, ring = links.page, links.stamp, links.cited, links.ring
    citation_target, citation_page = citations.target, citations.page
    hub, hub_weight, hub_told = pages.hub, pages.hub_weight, pages.hub_told
    tried = _hand_out(gone, links, hosts, folders) + _hand_out(np.array([link]), links, hosts, folders)
    for at in range(COUNT):
        z_scores[at] = z_score(unpacked(links.features[link, at]), model.mean[at], model.spread[at])
    link_page[link], links.relevance[link], stamp[link] = number, relevance, number
    hosts.relevance[links.host[link]] += relevance
    folders.relevance[links.folder[link]] += relevance
    pages.link[number], pages.relevance[number] = link, relevance
    pages.begin[number], pages.links[number] = begin, len(targets)
    count = 0
    known = min(cited[link], RING)
    if known:
        near, near_weight = citations.near, citations.near_weight
        share = np.float32(1 / np.float64(np.sqrt(np.float32(cited[link]))))
        for place in range(known):
            citation = ring[link, place]
            parent = citation_page[citation]
            hub[parent] += relevance * share
            hub_weight[parent] += share
            for step in range(1, REACH + 1):
                weight = np.float32(1.0 / step)
                for at in (citation - step, citation + step):
                    near[at] += weight * relevance
                    near_weight[at] += weight
                    if citation_page[at] > 0:
                        count = _mark(citation_target[at], number, link_page, stamp, dirty, count)
    _cite(number, begin, relevance, targets, words, addresses.words, addresses.places, links, citations)
    for target in targets:
        count = _mark(target, number, link_page, stamp, dirty, count)
    _neighbours(number, begin, begin + len(targets), links, citations, pages)
    hub_told[number] = hub_odds(hub[number], hub_weight[number], rates[HUB_RATE])
    most = count + MOST_SIBLINGS
    for place in range(known):
        parent = citation_page[ring[link, place]]
        odds = hub_odds(hub[parent], hub_weight[parent], rates[HUB_RATE])
        if abs(odds - hub_told[parent]) > HUB_STEP and count < most:
            hub_told[parent] = odds
            for at in range(pages.begin[parent], pages.begin[parent] + pages.links[parent]):
                if count < most:
                    count = _mark(citation_target[at], number, link_page, stamp, dirty, count)
    return tried, count


@compiled
def _hand_out(chosen, links, hosts, folders):  # type: ignore[no-untyped-def]
    """Mark links as handed out. Returns how many were waiting; a seed whose host is not known yet was not."""
    count = 0
    for link in chosen:
        if links.page[link] == 0 and links.host[link] != 0:
            links.page[link] = HANDED_OUT
            hosts.tries[links.host[link]] += 1
            folders.tries[links.folder[link]] += 1
            count += 1
    return count


@compiled
def _cite(number, begin, relevance, targets, words, url_words, places, links, citations):  # type: ignore[no-untyped-def]
    """Add a page's citations of its targets."""
    citation_target, citation_page = citations.target, citations.page
    cited, ring, read, host, folder, near, url = (
        links.cited, links.ring, links.read, links.host, links.folder, links.near, links.url
    )  # fmt: skip
    sums, early, best = links.sum, links.early, links.best
    share, fading = np.float64(relevance), _fading(len(targets))
    for place in range(len(targets)):
        target = targets[place]
        citation_target[begin + place] = target
        citation_page[begin + place] = number
        before = cited[target]
        cited[target] = before + 1
        ring[target, before % RING] = begin + place
        read[target] = 0
        if host[target] == 0:
            host[target], folder[target] = places[place, HOST_HASH], places[place, FOLDER_HASH]
            for at in range(URL_WORDS):
                url[target, at] = url_words[place, at]
        start = before % TEXTS * NEAR
        for at in range(NEAR):
            near[target, start + at] = words[place, at]
        sums[target] += relevance
        early[target] += share
        best[target] = max(best[target], relevance)
        share *= fading


@inlined
def _fading(length):  # type: ignore[no-untyped-def]
    """Factor on the weight for `early` from one link on a page to the next."""
    return math.exp(-FADE / max(length, 1))


@inlined
def _mark(link, number, link_page, stamp, dirty, count):  # type: ignore[no-untyped-def]
    """Add a waiting link to `dirty`, once."""
    if link_page[link] == 0 and stamp[link] != number:
        stamp[link] = number
        dirty[count] = link
        count += 1
    return count


@compiled
def _neighbours(number, begin, end, links, citations, pages):  # type: ignore[no-untyped-def]
    """Sum up what the visited pages behind a page's links contribute to the links beside them, and to its hub value."""
    link_page, link_relevance, cited = links.page, links.relevance, links.cited
    target_of, near, near_weight = citations.target, citations.near, citations.near_weight
    hub, hub_weight = np.float32(0), np.float32(0)
    for at in range(begin, end):
        near[at] = 0
        near_weight[at] = 0
    for at in range(begin, end):
        target = target_of[at]
        if link_page[target] <= 0:
            continue
        relevance = link_relevance[target]
        share = np.float32(1 / np.float64(np.sqrt(np.float32(cited[target]))))
        hub += relevance * share
        hub_weight += share
        for step in range(1, REACH + 1):
            weight = np.float32(1.0 / step)
            if at - step >= begin:
                near[at - step] += weight * relevance
                near_weight[at - step] += weight
            if at + step < end:
                near[at + step] += weight * relevance
                near_weight[at + step] += weight
    pages.hub[number], pages.hub_weight[number] = hub, hub_weight


@compiled
def restate(count, size, links, citations, pages):  # type: ignore[no-untyped-def]
    """Recompute all sums after the relevance of pages and links has changed."""
    sums, early, best, target_of = links.sum, links.early, links.best, citations.target
    for link in range(size):
        sums[link] = 0
        early[link] = 0
        best[link] = 0
    for number in range(1, count + 1):
        relevance = pages.relevance[number]
        begin, length = pages.begin[number], pages.links[number]
        share, fading = np.float64(relevance), _fading(length)
        for at in range(begin, begin + length):
            target = target_of[at]
            sums[target] += relevance
            early[target] += share
            best[target] = max(best[target], relevance)
            share *= fading
        _neighbours(number, begin, begin + length, links, citations, pages)


@compiled
def count_words(chosen, words, relevance, seen, speaks_for, speaks_against):  # type: ignore[no-untyped-def]
    """Add up Σ r and Σ (1 − r) for each word, over the chosen rows that contain it."""
    for row in range(len(chosen)):
        for at in range(words.shape[1]):
            word = words[chosen[row], at]
            if word and seen[word] != row + 1:
                seen[word] = row + 1
                speaks_for[word] += relevance[row]
                speaks_against[word] += 1 - np.float64(relevance[row])


@compiled
def tell_hubs(count, pages, rate):  # type: ignore[no-untyped-def]
    """Record the hub values with which all links are scored now."""
    hub, hub_weight, hub_told = pages.hub, pages.hub_weight, pages.hub_told
    for page in range(1, count + 1):
        hub_told[page] = hub_odds(hub[page], hub_weight[page], rate)
