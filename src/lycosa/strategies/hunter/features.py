"""Compiled loops of `evidence`: from sums and records to features, and from features to scores.

`evidence` defines the features; `links`, `citations` and `pages` are its columns (`tables`), `hosts` and `folders` its
records of places, `near` and `urls` those of words. Scoring a link takes about a microsecond, so each visit can score
all links that it affects. Columns are taken from their tables before a loop, as in `sums`.

What is a double says so: to numpy, which runs these functions where nothing can compile them, the sum of a float and a
number of Python's is a float. Logarithms and exponentials are the C library's, as numpy has its own.
"""

from __future__ import annotations

import math

import numpy as np

from lycosa.lib.compiled import compiled, inlined
from lycosa.strategies.hunter import tables
from lycosa.strategies.hunter.notes import NEAR, OWN, URL_WORDS
from lycosa.strategies.hunter.tables import FEATURES, MOST_Z, RING, TEXTS, WORDS_FROM, WORDS_TO

LEAST_ODDS = np.float64(0.02)
HUB_SMOOTHING = np.float64(4.0)
PARENT_SMOOTHING = np.float64(3.0)
PLACE_SMOOTHING = np.float64(2.0)
NOTHING = np.float64(0.0)
COUNT = len(FEATURES)


@compiled
def look(chosen, rates, links, citations, pages, near, urls, hosts, folders, found):  # type: ignore[no-untyped-def]
    """Fill `found`, links × FEATURES."""
    _look_at_pages(chosen, rates, links, citations, pages, hosts, folders, found)
    cited, link_near, link_url = links.cited, links.near, links.url
    for row in range(len(chosen)):
        _look_at_words(chosen[row], row, cited, link_near, link_url, near, urls, found)


@compiled
def keep(chosen, found, state, links):  # type: ignore[no-untyped-def]
    """Store the features of links."""
    read, features = links.read, links.features
    for row in range(len(chosen)):
        read[chosen[row]] = state
        _pack(found, row, features, chosen[row])


@compiled
def score(  # type: ignore[no-untyped-def]
    chosen, state, model, bar, tolerance, rates, links, citations, pages, near, urls, hosts, folders, found, above,
    changed,
):  # fmt: skip
    """Compute features and scores. Words are evaluated again only if they or their records have changed.

    Returns the numbers of links in `above`, those that reach the bar, and in `changed`, those to be passed on to the
    frontier.
    """
    _look_at_pages(chosen, rates, links, citations, pages, hosts, folders, found)
    cited, read, features, link_near, link_url = links.cited, links.read, links.features, links.near, links.url
    for row in range(len(chosen)):
        link = chosen[row]
        if read[link] == state:
            for at in range(WORDS_FROM, WORDS_TO):
                found[row, at] = unpacked(features[link, at])
        else:
            _look_at_words(link, row, cited, link_near, link_url, near, urls, found)
            read[link] = state
        _pack(found, row, features, link)
    scores, told, is_above, is_changed = links.score, links.told, 0, 0
    host, relevance, ring, page = links.host, hosts.relevance, links.ring, citations.page
    mean, spread, weights, intercept, diversity = model
    for row in range(len(chosen)):
        link = chosen[row]
        predicted = _predicted(found, row, mean, spread, weights, intercept)
        predicted *= _found_share(link, cited, ring, page, rates)
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
def score_again(chosen, model, rates, links, citations, hosts):  # type: ignore[no-untyped-def]
    """Score links by their stored features."""
    scores, features, host, relevance = links.score, links.features, links.host, hosts.relevance
    cited, ring, page = links.cited, links.ring, citations.page
    found = np.empty((1, COUNT), np.float32)
    mean, spread, weights, intercept, diversity = model
    for link in chosen:
        for at in range(COUNT):
            found[0, at] = unpacked(features[link, at])
        predicted = _predicted(found, 0, mean, spread, weights, intercept)
        predicted *= _found_share(link, cited, ring, page, rates)
        scores[link] = _worth(predicted, relevance[host[link]], diversity)


@compiled
def hand_on(chosen, bar, links, changed):  # type: ignore[no-untyped-def]
    """Returns the number of links in `changed`: those to be passed on to the frontier."""
    told, scores, count = links.told, links.score, 0
    for link in chosen:
        if _is_news(told[link], scores[link], bar, 0.0):
            told[link] = scores[link]
            changed[count] = link
            count += 1
    return count


@inlined
def _is_news(told, now, bar, tolerance):  # type: ignore[no-untyped-def]
    """Whether a score is, or was, above the bar, and has changed by more than the share `tolerance`."""
    return told > 0 and np.float64(max(now, told)) >= bar and abs(now - told) > tolerance * np.float64(told)


@compiled
def tell(targets, links, answer):  # type: ignore[no-untyped-def]
    """Fill `answer` with the scores for the frontier; links that it does not know yet get their latest."""
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
        near, near_weight, own, hubs, hubs_weight = NOTHING, NOTHING, NOTHING, NOTHING, NOTHING
        known = min(cited[link], RING)
        for place in range(known):
            citation = ring[link, place]
            near += citation_near[citation]
            near_weight += citation_weight[citation]
            page = citation_page[citation]
            own += (hub[page] + HUB_SMOOTHING * rates[tables.HUB_RATE]) / (hub_weight[page] + HUB_SMOOTHING)
            hubs += hub[page]
            hubs_weight += hub_weight[page]
        usual = HUB_SMOOTHING * rates[tables.HUB_RATE]
        found[row, tables.NEIGHBOURS] = odds((near + own + usual) / (near_weight + known + HUB_SMOOTHING))
        found[row, tables.HUBS] = odds((hubs + usual) / (hubs_weight + HUB_SMOOTHING))
        parents = sums[link] + PARENT_SMOOTHING * rates[tables.PARENT_RATE]
        found[row, tables.PARENTS] = odds(parents / (cited[link] + PARENT_SMOOTHING))
        found[row, tables.BEST_PARENT] = odds(best[link])
        found[row, tables.EARLY_PARENTS] = math.log(0.05 + np.float64(early[link]))
        found[row, tables.HOST] = _place(host_relevance[host[link]], host_tries[host[link]], rates[tables.HOST_RATE])
        found[row, tables.FOLDER] = _place(
            folder_relevance[folder[link]], folder_tries[folder[link]], rates[tables.FOLDER_RATE]
        )
        found[row, tables.CITATIONS] = math.log(np.float64(max(cited[link], 1)))


@inlined
def odds(share):  # type: ignore[no-untyped-def]
    inside = np.float64(min(max(share, LEAST_ODDS), 1 - LEAST_ODDS))
    return np.float64(math.log(inside / (1 - inside)))


@inlined
def hub_odds(hub, weight, rate):  # type: ignore[no-untyped-def]
    return odds((hub + HUB_SMOOTHING * rate) / (weight + HUB_SMOOTHING))


@inlined
def _place(relevance, tries, rate):  # type: ignore[no-untyped-def]
    return odds((relevance + PLACE_SMOOTHING * rate) / (tries + PLACE_SMOOTHING))


@compiled
def _look_at_words(link, row, cited, link_near, link_url, near, urls, found):  # type: ignore[no-untyped-def]
    times = cited[link]
    squares, judged, learned, odds = NOTHING, NOTHING, NOTHING, NOTHING
    most, texts, anchor = -1e9, 0, -1e9
    for text in range(min(times, TEXTS)):
        before, said, own_squares, own_judged = squares, NOTHING, NOTHING, NOTHING
        for at in range(NEAR):
            word = link_near[link, text * NEAR + at]
            if word:
                weight = np.float64(2.0 if at < OWN else 1.0)
                squares += weight * weight * near[word, tables.SQUARE]
                judged += weight * near[word, tables.JUDGED]
                learned += weight * near[word, tables.LEARNED]
                said += weight * near[word, tables.LOG_ODDS]
                if at < OWN:
                    own_squares += near[word, tables.SQUARE]
                    own_judged += near[word, tables.JUDGED]
        if squares > before:
            texts += 1
        anchor = max(anchor, own_judged / (np.sqrt(own_squares) + 1e-6))
        odds += said
        most = max(most, said)
    norm = np.sqrt(squares) + 1e-6
    found[row, tables.LINK_TEXT] = judged / norm
    found[row, tables.LINK_TEXT_LEARNED] = learned / norm
    found[row, tables.LINK_WORDS] = odds / np.sqrt(max(texts, 1))
    found[row, tables.BEST_LINK_WORDS] = most if times else 0.0
    squares, learned, odds = NOTHING, NOTHING, NOTHING
    for at in range(URL_WORDS):
        word = link_url[link, at]
        if word:
            squares += urls[word, tables.SQUARE]
            learned += urls[word, tables.LEARNED]
            odds += urls[word, tables.LOG_ODDS]
    found[row, tables.URL_LEARNED] = learned / (np.sqrt(squares) + 1e-6)
    found[row, tables.WORDS_OF_URL] = odds
    found[row, tables.ANCHOR] = anchor if times else 0.0


@compiled
def predict(features, model, scores):  # type: ignore[no-untyped-def]
    """Fill `scores` with the expected relevance of each row."""
    mean, spread, weights, intercept, _ = model
    for row in range(len(features)):
        scores[row] = _predicted(features, row, mean, spread, weights, intercept)


@inlined
def _predicted(features, row, mean, spread, weights, intercept):  # type: ignore[no-untyped-def]
    """`learner`: a + w · z, through the logistic function."""
    total = intercept
    for at in range(COUNT):
        total += weights[at] * z_score(features[row, at], mean[at], spread[at])
    return np.float64(1 / (1 + math.exp(-min(max(total, -30.0), 15.0))))


@inlined
def z_score(feature, mean, spread):  # type: ignore[no-untyped-def]
    return np.float64(min(max((feature - mean) / spread, -MOST_Z), MOST_Z))


@inlined
def _found_share(link, cited, ring, page, rates):  # type: ignore[no-untyped-def]
    """Probability that there is a page behind a guess; 1 for a link that a page cites."""
    return rates[tables.FOUND_RATE] if cited[link] == 1 and page[ring[link, 0]] == tables.GUESSED else 1.0


@inlined
def _worth(predicted, found, diversity):  # type: ignore[no-untyped-def]
    """The score of a link: with diversity, the more relevant pages its host has, the less another one counts."""
    return predicted / (1 + np.float64(found)) ** diversity if diversity > 0 else predicted


@inlined
def _pack(found, row, features, link):  # type: ignore[no-untyped-def]
    """Store features as 16-bit floats; values that are too small become 0, too large ones the largest."""
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
def unpacked(kept):  # type: ignore[no-untyped-def]
    half = np.uint32(kept)
    bits = (half & np.uint32(0x8000)) << np.uint32(16)
    if half & np.uint32(0x7C00):
        bits |= ((half & np.uint32(0x7FFF)) << np.uint32(13)) + np.uint32(112 << 23)
    return np.uint32(bits).view(np.float32)
