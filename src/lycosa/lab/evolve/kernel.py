"""Crawls with the evolved rank, compiled: hundreds in the time of one replay.

The rank is that of `strategies.papers.evolved`; the orders are the frontier's own (best rank next) and that of
`strategies.papers.current_list`. Both treat ties, seeds, nofollow, redirects and dead links as `lab.replay` does.
tests/lab/evolve/test_kernel.py compares them download by download.

What makes it fast: URLs are numbered in the order in which they are met, and everything known of one is a record of
64 bytes, next to those met with it on the same page. Nothing is ever cleared: a record is initialised when its URL is
met, and a number is valid only if it is above the `base` of this run, which is above all numbers of earlier runs.

The frontier is a heap of (score, number) in which each waiting link has one valid entry. A better score gets a new
entry at once; a worse one when the better entry reaches the top. When a new phase begins, all waiting links are ranked
again and the heap is rebuilt.

Arrays are passed from function to function one by one: bundled in a tuple, which numba accepts, the same code is half
as fast.
"""

from __future__ import annotations

import numpy as np

from lycosa.lab.evolve.link_arrays import DOCUMENT
from lycosa.lab.replay.replay import MAX_REDIRECTS
from lycosa.lib.compiled import compiled, inlined
from lycosa.strategies.papers.evolved import (
    ANCHOR,
    AUTHORITY,
    BELOW,
    COMM_IN,
    COMM_OUT,
    GENERATIONS,
    HOST,
    HUB,
    LEAST_ABOVE,
    LEAST_SCORE,
    MAX_SCORE,
    MAX_SPREAD,
    PARENT_1,
    SEED_SCORE,
)

# The record of a URL: 16 numbers of 4 bytes, integers in `known`, floats (the same memory) in `scored`.
CITED, BY_COMMUNITY, WIDEST, SIBLINGS, KIN, VISIT, LATEST, STATE = range(8)
ORDERED_SCORE = 8
"""Of the page itself (generation 0), followed by those of its ancestors."""
SCORE, QUEUED = 14, 15
"""Its score, and the score of its entry in the heap."""
WIDTH = 16

HOST_PAGES, HOST_RELEVANT = range(2)
"""Columns of a host's record: pages visited, and relevant ones among them."""
HOST_WIDTH = 2

WAITING, LISTED, DORMANT, COMMUNITY, SEED = (1 << bit for bit in range(5))
HOPS = 8
"""From this bit: the number of redirects in a row that led here."""
TURNED = 0x7FFF_FFFF
"""Inverts the bits of a score of 0 or more: the better the score, the smaller the number (`frontier.keys`)."""


@compiled
def crawl(  # type: ignore[no-untyped-def]
    link_offsets, link_urls, nofollow, redirects, ordered_score, is_relevant, anchors, hosts,
    seeds, phases, switches, size, refill, rng,
    base, number_of, url_of, known, scored, targets, sources, previous, starts, marks, changed, heap,
    best_anchors, host_records, downloads,
):  # fmt: skip
    """`crawl.loop.run`, compiled; returns the number of pages downloaded and of URLs met."""
    depth = 0
    for generation in range(GENERATIONS):
        if phases[:, PARENT_1 + generation].max() > 0:
            depth = generation + 1
    has_kin, has_hosts = phases[:, COMM_OUT].max() > 0, phases[:, HOST].max() > 0
    has_anchors = phases[:, ANCHOR].max() > 0
    phase = 0
    weights = phases[phase]
    if has_hosts:
        host_records[:] = 0
    met, seen, visits = 0, 0, 0
    entries = 0  # in the heap
    starts[0] = 1
    current, stamps, count = np.empty(size, np.int32), np.empty(size, np.int64), 0
    changes = np.zeros(GENERATIONS + 1, np.int64)
    for url in seeds:
        met, number = _meet(url, met, base, number_of, url_of, known)
        known[number, STATE] = SEED | WAITING
        entries = _enter(number, np.float32(SEED_SCORE), known, scored, heap, entries)

    while visits < len(downloads):
        if size > 0:
            if count <= size - refill:
                entries, count = _fill(current, stamps, count, refill, known, scored, heap, entries)
            if count == 0:
                break
            number, count = _draw(current, stamps, count, rng)
        else:
            entries, number = _best(known, scored, heap, entries)
            if number == 0:
                break
        known[number, STATE] &= ~(WAITING | LISTED)
        page = url_of[number]
        if page >= len(ordered_score):
            continue  # not recorded: 404
        if len(redirects) and redirects[page] != DOCUMENT:
            url, hops = redirects[page], known[number, STATE] >> HOPS
            if url >= 0 and hops < MAX_REDIRECTS:
                old = met
                met, target = _meet(url, met, base, number_of, url_of, known)
                if met > old:
                    known[target, STATE] |= (known[number, STATE] & SEED) | (hops + 1) << HOPS
                if known[target, STATE] & DORMANT:
                    known[target, STATE] ^= DORMANT | WAITING
                    entries = _enter(target, scored[number, SCORE], known, scored, heap, entries)
            continue

        downloads[visits] = page
        seen += known[number, CITED] == 0
        known[number, VISIT] = visits
        marks[visits] = 0
        is_member = np.int32(is_relevant[page] or known[number, STATE] & SEED != 0)
        if is_member:
            known[number, STATE] |= COMMUNITY
            if has_kin:
                _join_community(known[number, LATEST], known, targets, sources, previous, starts)
        scored[number, ORDERED_SCORE] = ordered_score[page]
        kin = 0
        low = high = starts[visits]
        for at in range(link_offsets[page], link_offsets[page + 1]):
            met, target = _meet(link_urls[at], met, base, number_of, url_of, known)
            seen += known[target, CITED] == 0 and known[target, VISIT] < 0
            kin += known[target, STATE] & COMMUNITY != 0
            targets[high] = target
            sources[high] = visits
            previous[high] = known[target, LATEST]
            known[target, LATEST] = high
            high += 1
        visits += 1
        starts[visits] = high
        _cite(number, is_member, kin, depth, low, high, known, scored, targets, changed, changes)
        _hand_down(number, depth, known, scored, targets, starts, marks, changed, changes)
        mean_out, mean_in = (high - 1) / visits, (high - 1) / seen
        first = link_offsets[page] - low
        if has_anchors:
            for at in range(low, high):
                target = targets[at]
                best = best_anchors[target] if known[target, CITED] > 1 else np.float32(0)
                best_anchors[target] = max(best, anchors[first + at])
        if has_hosts:
            host_records[hosts[page], HOST_PAGES] += 1
            host_records[hosts[page], HOST_RELEVANT] += is_relevant[page]
        is_switched = False
        while phase < len(switches) and visits >= switches[phase]:
            phase += 1
            weights = phases[phase]
            is_switched = True
        for at in range(low, high):
            target = targets[at]
            state = known[target, STATE]
            is_joining = state & DORMANT and not (len(nofollow) and nofollow[first + at])
            if is_joining or (state & WAITING and scored[target, SCORE] < SEED_SCORE):
                # As in `_rank_all`: in one function for both, the same lines take a quarter more time.
                rank = _rank(target, weights, depth, mean_out, mean_in, known, scored)
                if has_anchors:
                    rank += weights[ANCHOR] * np.float64(best_anchors[target])
                if has_hosts:
                    rank += weights[HOST] * _host_share(hosts[url_of[target]], host_records)
                score = np.float32(_link_score(rank))
                scored[target, SCORE] = score
                if is_joining:
                    known[target, STATE] = state ^ (DORMANT | WAITING)
                if is_joining or (score > scored[target, QUEUED] and not state & LISTED):
                    entries = _enter(target, score, known, scored, heap, entries)
        if is_switched:
            entries = _rank_all(
                *(met, weights, depth, mean_out, mean_in, has_anchors, has_hosts),
                *(hosts, url_of, known, scored, heap, best_anchors, host_records),
            )
    return visits, met


@compiled
def _rank_all(  # type: ignore[no-untyped-def]
    met, weights, depth, mean_out, mean_in, has_anchors, has_hosts,
    hosts, url_of, known, scored, heap, best_anchors, host_records,
):  # fmt: skip
    """A new phase begins: rank all waiting links again and rebuild the heap. Seeds stay first, and the target of a
    redirect keeps its score until it is cited."""
    entries = 0
    for number in range(1, met + 1):
        if not known[number, STATE] & WAITING:
            continue
        if known[number, CITED] and scored[number, SCORE] < SEED_SCORE:
            rank = _rank(number, weights, depth, mean_out, mean_in, known, scored)
            if has_anchors:
                rank += weights[ANCHOR] * np.float64(best_anchors[number])
            if has_hosts:
                rank += weights[HOST] * _host_share(hosts[url_of[number]], host_records)
            scored[number, SCORE] = np.float32(_link_score(rank))
        if not known[number, STATE] & LISTED:
            entries = _enter(number, scored[number, SCORE], known, scored, heap, entries)
    return entries


@inlined
def _meet(url, met, base, number_of, url_of, known):  # type: ignore[no-untyped-def]
    """The number of URLs met so far, and the number of this one."""
    number = np.int64(number_of[url]) - base
    if number <= 0:
        met += 1
        number = np.int64(met)
        number_of[url] = base + number
        url_of[number] = url
        for column in range(WIDTH):
            known[number, column] = 0
        known[number, VISIT] = -1
        known[number, STATE] = DORMANT
    return met, number


@inlined
def _join_community(citation, known, targets, sources, previous, starts):  # type: ignore[no-untyped-def]
    """A page joins the community: each link of each page that cites it has one more sibling in it."""
    while citation:
        visit = sources[citation]
        for at in range(starts[visit], starts[visit + 1]):
            known[targets[at], KIN] += 1
        citation = previous[citation]


@inlined
def _cite(number, is_member, kin, depth, low, high, known, scored, targets, changed, changes):  # type: ignore[no-untyped-def]
    """A page cites its links, and its ancestors become theirs. `changed` gets the downloaded ones this changes."""
    changes[:] = 0
    links = high - low
    for at in range(low, high):
        target = targets[at]
        known[target, CITED] += 1
        known[target, BY_COMMUNITY] += is_member
        known[target, SIBLINGS] += links
        known[target, KIN] += kin
        known[target, WIDEST] = max(known[target, WIDEST], links)
        if known[target, VISIT] < 0:
            for above in range(ORDERED_SCORE, ORDERED_SCORE + depth):
                value, had = scored[number, above], scored[target, above + 1]
                scored[target, above + 1] = value if had < value else had
        else:
            for above in range(ORDERED_SCORE, ORDERED_SCORE + depth):
                if scored[target, above + 1] < scored[number, above]:
                    scored[target, above + 1] = scored[number, above]
                    generation = above + 1 - ORDERED_SCORE
                    changed[generation, changes[generation]] = target
                    changes[generation] += 1


@compiled
def _hand_down(number, depth, known, scored, targets, starts, marks, changed, changes):  # type: ignore[no-untyped-def]
    """Pass changes of ancestors down to the links of downloaded pages, one generation after the other."""
    for generation in range(1, depth):
        own, below = ORDERED_SCORE + generation, ORDERED_SCORE + generation + 1
        count = changes[generation]
        if count == 0:
            continue
        spread = 0
        for i in range(count):
            visit = known[changed[generation, i], VISIT]
            if changed[generation, i] != number:
                spread += starts[visit + 1] - starts[visit]
        tag = known[number, VISIT] * GENERATIONS + generation
        count_below = changes[generation + 1]
        for i in range(count_below):
            marks[known[changed[generation + 1, i], VISIT]] = tag
        for i in range(count):
            page = changed[generation, i]
            if page != number and spread > MAX_SPREAD:
                continue
            visit = known[page, VISIT]
            value = scored[page, own]
            for at in range(starts[visit], starts[visit + 1]):
                target = targets[at]
                if scored[target, below] < value:
                    scored[target, below] = value
                    visit_there = known[target, VISIT]
                    if visit_there >= 0 and marks[visit_there] != tag:
                        marks[visit_there] = tag
                        changed[generation + 1, count_below] = target
                        count_below += 1
        changes[generation + 1] = count_below


@inlined
def _rank(target, weights, depth, mean_out, mean_in, known, scored):  # type: ignore[no-untyped-def]
    """What the paper's scores add up to, in the same order as in `strategies.papers.evolved`."""
    cited = known[target, CITED]
    rank = weights[HUB] * (known[target, WIDEST] / mean_out)
    rank += weights[AUTHORITY] * (cited / mean_in)
    rank += weights[COMM_IN] * (known[target, BY_COMMUNITY] / cited)
    rank += weights[COMM_OUT] * (known[target, KIN] / known[target, SIBLINGS])
    for generation in range(depth):
        value = np.float64(scored[target, ORDERED_SCORE + 1 + generation])
        rank += weights[PARENT_1 + generation] * (value if value > LEAST_ABOVE else -value / BELOW)
    return rank


@inlined
def _link_score(rank):  # type: ignore[no-untyped-def]
    above = rank + 1.0
    if above < LEAST_SCORE:
        return LEAST_SCORE * LEAST_SCORE / (2.0 * LEAST_SCORE - above)
    return min(above, MAX_SCORE)


@inlined
def _host_share(host, host_records):  # type: ignore[no-untyped-def]
    return (host_records[host, HOST_RELEVANT] + 1) / (host_records[host, HOST_PAGES] + 2)


@inlined
def _enter(number, score, known, scored, heap, entries):  # type: ignore[no-untyped-def]
    """Give the link a new entry with this score; earlier entries become invalid."""
    scored[number, SCORE] = score
    scored[number, QUEUED] = score
    key = np.uint64(known[number, SCORE] ^ TURNED) << np.uint64(32) | np.uint64(number)
    return _push(heap, entries, key)


@compiled
def _best(known, scored, heap, entries):  # type: ignore[no-untyped-def]
    """Remove the best waiting link from the heap; 0 if there is none."""
    while entries:
        key = heap[0]
        number = np.int64(key & np.uint64(0xFFFF_FFFF))
        is_current = np.int64(key >> np.uint64(32)) == known[number, QUEUED] ^ TURNED
        if not is_current or known[number, STATE] & (WAITING | LISTED) != WAITING:
            entries = _pop(heap, entries)
        elif scored[number, SCORE] == scored[number, QUEUED]:
            return _pop(heap, entries), number
        else:
            scored[number, QUEUED] = scored[number, SCORE]
            key = np.uint64(known[number, SCORE] ^ TURNED) << np.uint64(32) | np.uint64(number)
            _sink(heap, entries, key)
    return entries, 0


@compiled
def _fill(current, stamps, count, refill, known, scored, heap, entries):  # type: ignore[no-untyped-def]
    """Move the best waiting links to the current list."""
    old = count
    while count < old + refill:
        entries, number = _best(known, scored, heap, entries)
        if number == 0:
            break
        known[number, STATE] |= LISTED
        current[count] = number
        stamps[count] = 1
        count += 1
    if count > old:
        for at in range(old):
            stamps[at] += 1
    return entries, count


@compiled
def _draw(current, stamps, count, rng):  # type: ignore[no-untyped-def]
    """Remove a link from the current list, by roulette on the stamps."""
    total = 0
    for at in range(count):
        total += stamps[at]
    ball = rng.random() * total
    running = 0
    chosen = count - 1
    for at in range(count):
        running += stamps[at]
        if running > ball:
            chosen = at
            break
    number = current[chosen]
    for at in range(chosen + 1, count):
        current[at - 1] = current[at]
        stamps[at - 1] = stamps[at]
    return number, count - 1


@inlined
def _push(heap, size, key):  # type: ignore[no-untyped-def]
    at = size
    while at:
        above = (at - 1) >> 1
        if heap[above] <= key:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = key
    return size + 1


@inlined
def _pop(heap, size):  # type: ignore[no-untyped-def]
    """Remove the smallest key."""
    size -= 1
    _sink(heap, size, heap[size])
    return size


@compiled
def _sink(heap, size, key):  # type: ignore[no-untyped-def]
    """Replace the smallest key."""
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= key:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = key
