"""The hunter's arithmetic over its columns, compiled: one visit taken in, links looked at, all sums made anew.

The definitions are those of `hunter_evidence`, which calls this; names of arguments are those of its columns. A link is
looked at in about a microsecond, so that a visit can afford to look at all links it has changed things for.
"""

from __future__ import annotations

import numpy as np

from lycosa.frontier.hunter_links import MOST_SIBLINGS, MOST_Z, REACH, RING, TEXTS
from lycosa.frontier.hunter_note import NEAR, OWN, URL_WORDS
from lycosa.lib.compiled import compiled, inlined

FADE = 3.0
"""How soon links further down on a page count less for `early`."""
LEAST_ODDS = 0.02
HUB_SMOOTHING = 4.0
PARENT_SMOOTHING = 3.0
PLACE_SMOOTHING = 2.0
HUB_STEP = 0.3
"""Change of a page's hub value, in log-odds, that is told to all its links."""


@compiled
def visit(  # type: ignore[no-untyped-def]
    number,
    link,
    relevance,
    rates,
    targets,
    words,
    words_of_urls,
    places,
    begin,
    url_words,
    host,
    folder,
    link_page,
    link_relevance,
    cited,
    ring,
    near_words,
    sums,
    early,
    best,
    stamp,
    citation_target,
    citation_page,
    citation_near,
    citation_weight,
    page_begin,
    page_links,
    hub,
    hub_weight,
    hub_told,
    dirty,
):
    """Page `number` was visited: sums change. Returns how many waiting links are now in `dirty`, each once."""
    count = 0
    stamp[link] = number
    known = min(cited[link], RING)
    if known:
        share = np.float32(1 / np.sqrt(np.float32(cited[link])))
        for place in range(known):
            citation = ring[link, place]
            parent = citation_page[citation]
            hub[parent] += relevance * share
            hub_weight[parent] += share
            for step in range(1, REACH + 1):
                weight = np.float32(1.0 / step)
                for at in (citation - step, citation + step):
                    citation_near[at] += weight * relevance
                    citation_weight[at] += weight
                    if citation_page[at] > 0:
                        count = _mark(citation_target[at], number, link_page, stamp, dirty, count)
    links = len(targets)
    for place in range(links):
        target = targets[place]
        citation = begin + place
        citation_target[citation] = target
        citation_page[citation] = number
        before = cited[target]
        cited[target] = before + 1
        if host[target] == 0:
            host[target], folder[target] = places[place, 0], places[place, 1]
            for at in range(URL_WORDS):
                url_words[target, at] = words_of_urls[place, at]
        ring[target, before % RING] = citation
        start = before % TEXTS * NEAR
        for at in range(NEAR):
            near_words[target, start + at] = words[place, at]
        sums[target] += relevance
        early[target] += relevance * np.float32(np.exp(-FADE * place / links))
        best[target] = max(best[target], relevance)
        count = _mark(target, number, link_page, stamp, dirty, count)
    _neighbours(
        begin, begin + links, number, link_page, link_relevance, cited, citation_target, citation_near,
        citation_weight, hub, hub_weight,
    )  # fmt: skip
    hub_told[number] = _odds((hub[number] + HUB_SMOOTHING * rates[0]) / (hub_weight[number] + HUB_SMOOTHING))
    most = count + MOST_SIBLINGS
    for place in range(known):
        parent = citation_page[ring[link, place]]
        odds = _odds((hub[parent] + HUB_SMOOTHING * rates[0]) / (hub_weight[parent] + HUB_SMOOTHING))
        if abs(odds - hub_told[parent]) > HUB_STEP and count < most:
            hub_told[parent] = odds
            for at in range(page_begin[parent], page_begin[parent] + page_links[parent]):
                if count < most:
                    count = _mark(citation_target[at], number, link_page, stamp, dirty, count)
    return count


@inlined
def _mark(link, number, link_page, stamp, dirty, count):  # type: ignore[no-untyped-def]
    """A link that waits goes into `dirty`, unless it is there."""
    if link_page[link] == 0 and stamp[link] != number:
        stamp[link] = number
        dirty[count] = link
        count += 1
    return count


@compiled
def _neighbours(  # type: ignore[no-untyped-def]
    begin, end, number, link_page, link_relevance, cited, citation_target, citation_near, citation_weight, hub,
    hub_weight,
):  # fmt: skip
    """What visited pages behind a page's links say of the links beside them, and of the page."""
    hub[number] = 0
    hub_weight[number] = 0
    for at in range(begin, end):
        citation_near[at] = 0
        citation_weight[at] = 0
    for at in range(begin, end):
        target = citation_target[at]
        if link_page[target] <= 0:
            continue
        share = np.float32(1 / np.sqrt(np.float32(cited[target])))
        hub[number] += link_relevance[target] * share
        hub_weight[number] += share
        for step in range(1, REACH + 1):
            weight = np.float32(1.0 / step)
            if at - step >= begin:
                citation_near[at - step] += weight * link_relevance[target]
                citation_weight[at - step] += weight
            if at + step < end:
                citation_near[at + step] += weight * link_relevance[target]
                citation_weight[at + step] += weight


@compiled
def restate(  # type: ignore[no-untyped-def]
    count,
    size,
    link_page,
    link_relevance,
    cited,
    sums,
    early,
    best,
    citation_target,
    citation_near,
    citation_weight,
    page_relevance,
    page_begin,
    page_links,
    hub,
    hub_weight,
):
    """All sums anew, the relevance of pages and links being new."""
    sums[:size] = 0
    early[:size] = 0
    best[:size] = 0
    for number in range(1, count + 1):
        relevance = page_relevance[number]
        begin, links = page_begin[number], page_links[number]
        for place in range(links):
            target = citation_target[begin + place]
            sums[target] += relevance
            early[target] += relevance * np.float32(np.exp(-FADE * place / links))
            best[target] = max(best[target], relevance)
        _neighbours(
            begin, begin + links, number, link_page, link_relevance, cited, citation_target, citation_near,
            citation_weight, hub, hub_weight,
        )  # fmt: skip


@compiled
def hub_odds(hub, hub_weight, rate):  # type: ignore[no-untyped-def]
    """By page: its hub value."""
    odds = np.empty(len(hub), np.float32)
    for page in range(len(hub)):
        odds[page] = _odds((hub[page] + HUB_SMOOTHING * rate) / (hub_weight[page] + HUB_SMOOTHING))
    return odds


@compiled
def look(  # type: ignore[no-untyped-def]
    chosen,
    rates,
    cited,
    ring,
    near_words,
    url_words,
    host,
    folder,
    sums,
    early,
    best,
    citation_page,
    citation_near,
    citation_weight,
    hub,
    hub_weight,
    near_table,
    url_table,
    host_tries,
    host_relevance,
    folder_tries,
    folder_relevance,
    found,
):
    """Fill `found`, links × FEATURES."""
    hub_rate, parent_rate, host_rate, folder_rate = rates[0], rates[1], rates[2], rates[3]
    for row in range(len(chosen)):
        link = chosen[row]
        times = cited[link]
        near, near_weight, own, hubs, hubs_weight = 0.0, 0.0, 0.0, 0.0, 0.0
        known = min(times, RING)
        for place in range(known):
            citation = ring[link, place]
            near += citation_near[citation]
            near_weight += citation_weight[citation]
            page = citation_page[citation]
            own += (hub[page] + HUB_SMOOTHING * hub_rate) / (hub_weight[page] + HUB_SMOOTHING)
            hubs += hub[page]
            hubs_weight += hub_weight[page]
        found[row, 0] = _odds((near + own + HUB_SMOOTHING * hub_rate) / (near_weight + known + HUB_SMOOTHING))
        found[row, 1] = _odds((hubs + HUB_SMOOTHING * hub_rate) / (hubs_weight + HUB_SMOOTHING))
        found[row, 2] = _odds((sums[link] + PARENT_SMOOTHING * parent_rate) / (times + PARENT_SMOOTHING))
        found[row, 3] = _odds(best[link])
        found[row, 4] = np.log(0.05 + early[link])
        squares, judged, learned, odds = 0.0, 0.0, 0.0, 0.0
        most, texts, anchor = -1e9, 0, -1e9
        for text in range(min(times, TEXTS)):
            before, said, own_squares, own_judged = squares, 0.0, 0.0, 0.0
            for at in range(NEAR):
                word = near_words[link, text * NEAR + at]
                if word:
                    weight = 2.0 if at < OWN else 1.0
                    squares += weight * weight * near_table[word, 0]
                    judged += weight * near_table[word, 1]
                    learned += weight * near_table[word, 2]
                    said += weight * near_table[word, 3]
                    if at < OWN:
                        own_squares += near_table[word, 0]
                        own_judged += near_table[word, 1]
            texts += squares > before
            anchor = max(anchor, own_judged / (np.sqrt(own_squares) + 1e-6))
            odds += said
            most = max(most, said)
        norm = np.sqrt(squares) + 1e-6
        found[row, 5] = judged / norm
        found[row, 6] = learned / norm
        found[row, 7] = odds / np.sqrt(max(texts, 1))
        found[row, 8] = most if times else 0.0
        squares, learned, odds = 0.0, 0.0, 0.0
        for at in range(URL_WORDS):
            word = url_words[link, at]
            if word:
                squares += url_table[word, 0]
                learned += url_table[word, 2]
                odds += url_table[word, 3]
        found[row, 9] = learned / (np.sqrt(squares) + 1e-6)
        found[row, 10] = odds
        place = host[link]
        found[row, 11] = _odds(
            (host_relevance[place] + PLACE_SMOOTHING * host_rate) / (host_tries[place] + PLACE_SMOOTHING)
        )
        place = folder[link]
        found[row, 12] = _odds(
            (folder_relevance[place] + PLACE_SMOOTHING * folder_rate) / (folder_tries[place] + PLACE_SMOOTHING)
        )
        found[row, 13] = np.log(np.float64(max(times, 1)))
        found[row, 14] = anchor if times else 0.0


@inlined
def _odds(share):  # type: ignore[no-untyped-def]
    inside = min(max(share, LEAST_ODDS), 1 - LEAST_ODDS)
    return np.log(inside / (1 - inside))


@compiled
def predict(features, mean, spread, weights, intercept, scores):  # type: ignore[no-untyped-def]
    """`hunter_learner`: a + w · z, through the logistic function."""
    for row in range(len(features)):
        total = 0.0
        for at in range(len(weights)):
            z = (features[row, at] - mean[at]) / spread[at]
            total += weights[at] * min(max(z, -MOST_Z), MOST_Z)
        scores[row] = 1 / (1 + np.exp(-min(max(intercept + total, -30.0), 15.0)))
