"""The hunter's arithmetic over its columns, compiled: one visit taken in, links looked at, all sums made anew.

The definitions are those of `hunter_evidence`, which calls this; `links`, `citations` and `pages` are its columns
(`hunter_links`), `hosts` and `folders` its records of places, `near` and `urls` those of words. A link is looked at
in about a microsecond, so that a visit can afford to look at all links it has changed things for.

Columns are taken from their tables before a loop: inside it each time would cost a count of references, and that more
than the sum it is for.
"""

from __future__ import annotations

import numpy as np

from lycosa.frontier.hunter_links import FEATURES, MOST_SIBLINGS, MOST_Z, REACH, RING, TEXTS, WORDS_FROM, WORDS_TO
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
HANDED_OUT = -1
COUNT = len(FEATURES)


# ── visits ────────────────────────────────────────────────────────────────────────────────────────────────


@compiled
def visit(  # type: ignore[no-untyped-def]
    number, link, relevance, rates, model, gone, targets, words, addresses, begin,
    links, citations, pages, hosts, folders, standing, dirty,
):  # fmt: skip
    """Page `number` was visited: sums change. Fills `standing`, the z by which it was chosen.

    Returns how many links had waited until they were handed out, and how many waiting ones are in `dirty`, each once.
    """
    link_page, stamp, cited, ring = links.page, links.stamp, links.cited, links.ring
    citation_target, citation_page = citations.target, citations.page
    hub, hub_weight, hub_told = pages.hub, pages.hub_weight, pages.hub_told
    tried = _hand_out(gone, links, hosts, folders) + _hand_out(np.array([link]), links, hosts, folders)
    for at in range(COUNT):
        standing[at] = _standing(_unpacked(links.features[link, at]), model.mean[at], model.spread[at])
    link_page[link], links.relevance[link], stamp[link] = number, relevance, number
    hosts.relevance[links.host[link]] += relevance
    folders.relevance[links.folder[link]] += relevance
    pages.link[number], pages.relevance[number] = link, relevance
    pages.begin[number], pages.links[number] = begin, len(targets)
    count = 0
    known = min(cited[link], RING)
    if known:
        near, near_weight = citations.near, citations.near_weight
        share = np.float32(1 / np.sqrt(np.float32(cited[link])))
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
    hub_told[number] = _hub(hub[number], hub_weight[number], rates[0])
    most = count + MOST_SIBLINGS
    for place in range(known):
        parent = citation_page[ring[link, place]]
        odds = _hub(hub[parent], hub_weight[parent], rates[0])
        if abs(odds - hub_told[parent]) > HUB_STEP and count < most:
            hub_told[parent] = odds
            for at in range(pages.begin[parent], pages.begin[parent] + pages.links[parent]):
                if count < most:
                    count = _mark(citation_target[at], number, link_page, stamp, dirty, count)
    return tried, count


@compiled
def _hand_out(chosen, links, hosts, folders):  # type: ignore[no-untyped-def]
    """Links do not wait any more. Returns how many did; a seed whose place is not known yet does not."""
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
    """What the links on a page say of their targets."""
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
            host[target], folder[target] = places[place, 0], places[place, 1]
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
    """From a place on a page to the next."""
    return np.exp(-FADE / max(length, 1))


@inlined
def _mark(link, number, link_page, stamp, dirty, count):  # type: ignore[no-untyped-def]
    """A link that waits goes into `dirty`, unless it is there."""
    if link_page[link] == 0 and stamp[link] != number:
        stamp[link] = number
        dirty[count] = link
        count += 1
    return count


@inlined
def _hub(hub, weight, rate):  # type: ignore[no-untyped-def]
    return _odds((hub + HUB_SMOOTHING * rate) / (weight + HUB_SMOOTHING))


@inlined
def _odds(share):  # type: ignore[no-untyped-def]
    inside = min(max(share, LEAST_ODDS), 1 - LEAST_ODDS)
    return np.log(inside / (1 - inside))


@compiled
def _neighbours(number, begin, end, links, citations, pages):  # type: ignore[no-untyped-def]
    """What visited pages behind a page's links say of the links beside them, and of the page."""
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
        share = np.float32(1 / np.sqrt(np.float32(cited[target])))
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


# ── all sums anew ─────────────────────────────────────────────────────────────────────────────────────────


@compiled
def restate(count, size, links, citations, pages):  # type: ignore[no-untyped-def]
    """The relevance of pages and links being new."""
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
    """By word: Σ r and Σ (1 − r) over the rows chosen that say it, each of which counts it once."""
    for row in range(len(chosen)):
        for at in range(words.shape[1]):
            word = words[chosen[row], at]
            if word and seen[word] != row + 1:
                seen[word] = row + 1
                speaks_for[word] += relevance[row]
                speaks_against[word] += 1 - relevance[row]


@compiled
def tell_hubs(count, pages, rate):  # type: ignore[no-untyped-def]
    """Links are being looked at with the hub values as they are."""
    hub, hub_weight, hub_told = pages.hub, pages.hub_weight, pages.hub_told
    for page in range(1, count + 1):
        hub_told[page] = _hub(hub[page], hub_weight[page], rate)


# ── looking at links ──────────────────────────────────────────────────────────────────────────────────────


@compiled
def look(chosen, rates, links, citations, pages, near, urls, hosts, folders, found):  # type: ignore[no-untyped-def]
    """Fill `found`, links × FEATURES."""
    _look_at_pages(chosen, rates, links, citations, pages, hosts, folders, found)
    cited, link_near, link_url = links.cited, links.near, links.url
    for row in range(len(chosen)):
        _look_at_words(chosen[row], row, cited, link_near, link_url, near, urls, found)


@compiled
def keep(chosen, found, state, links):  # type: ignore[no-untyped-def]
    """The features of links as just looked at."""
    read, features = links.read, links.features
    for row in range(len(chosen)):
        read[chosen[row]] = state
        _pack(found, row, features, chosen[row])


@compiled
def score(  # type: ignore[no-untyped-def]
    chosen, state, model, bar, tolerance, rates, links, citations, pages, near, urls, hosts, folders, found, above,
    changed,
):  # fmt: skip
    """Look at links and score them; words again only if there are other ones, or their records are in another state.

    Returns how many links are now in `above`, those that reach the bar, and in `changed`, those of which the frontier
    is to hear.
    """
    _look_at_pages(chosen, rates, links, citations, pages, hosts, folders, found)
    cited, read, features, link_near, link_url = links.cited, links.read, links.features, links.near, links.url
    for row in range(len(chosen)):
        link = chosen[row]
        if read[link] == state:
            for at in range(WORDS_FROM, WORDS_TO):
                found[row, at] = _unpacked(features[link, at])
        else:
            _look_at_words(link, row, cited, link_near, link_url, near, urls, found)
            read[link] = state
        _pack(found, row, features, link)
    scores, told, is_above, is_changed = links.score, links.told, 0, 0
    host, relevance = links.host, hosts.relevance
    mean, spread, weights, intercept, diversity = model
    for row in range(len(chosen)):
        link = chosen[row]
        predicted = _predicted(found, row, mean, spread, weights, intercept)
        worth = _worth(predicted, relevance[host[link]], diversity)
        scores[link] = worth
        if worth >= bar:
            above[is_above] = link
            is_above += 1
        if _is_news(told[link], worth, bar, tolerance):
            told[link] = worth
            changed[is_changed] = link
            is_changed += 1
    return is_above, is_changed


@compiled
def score_again(chosen, model, links, hosts):  # type: ignore[no-untyped-def]
    """By what was last seen of links."""
    scores, features, host, relevance = links.score, links.features, links.host, hosts.relevance
    found = np.empty((1, COUNT), np.float32)
    mean, spread, weights, intercept, diversity = model
    for link in chosen:
        for at in range(COUNT):
            found[0, at] = _unpacked(features[link, at])
        predicted = _predicted(found, 0, mean, spread, weights, intercept)
        scores[link] = _worth(predicted, relevance[host[link]], diversity)


@compiled
def hand_on(chosen, bar, links, changed):  # type: ignore[no-untyped-def]
    """Returns how many links are now in `changed`: the frontier is to hear of them."""
    told, scores, count = links.told, links.score, 0
    for link in chosen:
        if _is_news(told[link], scores[link], bar, 0.0):
            told[link] = scores[link]
            changed[count] = link
            count += 1
    return count


@inlined
def _is_news(told, now, bar, tolerance):  # type: ignore[no-untyped-def]
    """A score matters if it is, or was, above the bar, and has changed by more than a share."""
    return told > 0 and max(now, told) >= bar and abs(now - told) > tolerance * told


@compiled
def tell(targets, links, answer):  # type: ignore[no-untyped-def]
    """Fill `answer`: what the frontier is to know of the links on a page."""
    told, scores = links.told, links.score
    for row in range(len(targets)):
        link = targets[row]
        if told[link] == 0:
            told[link] = scores[link]
        answer[row] = told[link]


@compiled
def _look_at_pages(chosen, rates, links, citations, pages, hosts, folders, found):  # type: ignore[no-untyped-def]
    cited, ring, sums, early, best = links.cited, links.ring, links.sum, links.early, links.best
    host, folder = links.host, links.folder
    citation_page, citation_near, citation_weight = citations.page, citations.near, citations.near_weight
    hub, hub_weight = pages.hub, pages.hub_weight
    host_relevance, host_tries = hosts.relevance, hosts.tries
    folder_relevance, folder_tries = folders.relevance, folders.tries
    for row in range(len(chosen)):
        link = chosen[row]
        near, near_weight, own, hubs, hubs_weight = 0.0, 0.0, 0.0, 0.0, 0.0
        known = min(cited[link], RING)
        for place in range(known):
            citation = ring[link, place]
            near += citation_near[citation]
            near_weight += citation_weight[citation]
            page = citation_page[citation]
            own += (hub[page] + HUB_SMOOTHING * rates[0]) / (hub_weight[page] + HUB_SMOOTHING)
            hubs += hub[page]
            hubs_weight += hub_weight[page]
        found[row, 0] = _odds((near + own + HUB_SMOOTHING * rates[0]) / (near_weight + known + HUB_SMOOTHING))
        found[row, 1] = _odds((hubs + HUB_SMOOTHING * rates[0]) / (hubs_weight + HUB_SMOOTHING))
        found[row, 2] = _odds((sums[link] + PARENT_SMOOTHING * rates[1]) / (cited[link] + PARENT_SMOOTHING))
        found[row, 3] = _odds(best[link])
        found[row, 4] = np.log(0.05 + early[link])
        found[row, 12] = _place(host_relevance[host[link]], host_tries[host[link]], rates[2])
        found[row, 13] = _place(folder_relevance[folder[link]], folder_tries[folder[link]], rates[3])
        found[row, 14] = np.log(np.float64(max(cited[link], 1)))


@inlined
def _place(relevance, tries, rate):  # type: ignore[no-untyped-def]
    return _odds((relevance + PLACE_SMOOTHING * rate) / (tries + PLACE_SMOOTHING))


@compiled
def _look_at_words(link, row, cited, link_near, link_url, near, urls, found):  # type: ignore[no-untyped-def]
    times = cited[link]
    squares, judged, learned, odds = 0.0, 0.0, 0.0, 0.0
    most, texts, anchor = -1e9, 0, -1e9
    for text in range(min(times, TEXTS)):
        before, said, own_squares, own_judged = squares, 0.0, 0.0, 0.0
        for at in range(NEAR):
            word = link_near[link, text * NEAR + at]
            if word:
                weight = 2.0 if at < OWN else 1.0
                squares += weight * weight * near[word, 0]
                judged += weight * near[word, 1]
                learned += weight * near[word, 2]
                said += weight * near[word, 3]
                if at < OWN:
                    own_squares += near[word, 0]
                    own_judged += near[word, 1]
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
        word = link_url[link, at]
        if word:
            squares += urls[word, 0]
            learned += urls[word, 2]
            odds += urls[word, 3]
    found[row, 9] = learned / (np.sqrt(squares) + 1e-6)
    found[row, 10] = odds
    found[row, 11] = anchor if times else 0.0


# ── from features to a score ──────────────────────────────────────────────────────────────────────────────


@compiled
def predict(features, model, scores):  # type: ignore[no-untyped-def]
    """By row: the relevance that is expected."""
    mean, spread, weights, intercept, _ = model
    for row in range(len(features)):
        scores[row] = _predicted(features, row, mean, spread, weights, intercept)


@inlined
def _predicted(features, row, mean, spread, weights, intercept):  # type: ignore[no-untyped-def]
    """`hunter_learner`: a + w · z, through the logistic function."""
    total = intercept
    for at in range(COUNT):
        total += weights[at] * _standing(features[row, at], mean[at], spread[at])
    return 1 / (1 + np.exp(-min(max(total, -30.0), 15.0)))


@inlined
def _standing(feature, mean, spread):  # type: ignore[no-untyped-def]
    """z."""
    return min(max((feature - mean) / spread, -MOST_Z), MOST_Z)


@inlined
def _worth(predicted, found, diversity):  # type: ignore[no-untyped-def]
    """What a link comes to, if a relevant page counts the less the more its host has of them."""
    return predicted / (1 + found) ** diversity if diversity > 0 else predicted


@inlined
def _pack(found, row, features, link):  # type: ignore[no-untyped-def]
    """As floats of two bytes; what is too small for them becomes 0, what is too large the largest."""
    for at in range(COUNT):
        bits = np.float32(found[row, at]).view(np.uint32) + np.uint32(0x1000)  # rounds
        exponent = (bits >> np.uint32(23)) & np.uint32(0xFF)
        half = np.uint32(0)
        if exponent > 142:
            half = np.uint32(0x7BFF)
        elif exponent > 112:
            half = (exponent - np.uint32(112)) << np.uint32(10) | (bits >> np.uint32(13)) & np.uint32(0x3FF)
        features[link, at] = half | (bits >> np.uint32(16)) & np.uint32(0x8000)


@inlined
def _unpacked(kept):  # type: ignore[no-untyped-def]
    half = np.uint32(kept)
    bits = (half & np.uint32(0x8000)) << np.uint32(16)
    if half & np.uint32(0x7C00):
        bits |= ((half & np.uint32(0x7FFF)) << np.uint32(13)) + np.uint32(112 << 23)
    return np.uint32(bits).view(np.float32)
