"""Crawl tasks as in "Topical Web Crawlers: Evaluating Adaptive Algorithms" (Menczer, Pant, Srinivasan 2004), 2.3-2.4.

A topic gives three things: keywords (the words of its path in the directory), which the crawler is told; targets
(its pages) and a description (the targets' text), which only the evaluation knows. Seeds lie D links before the
targets: from the targets, D steps back over links, up to 20 of each page's at random, then a random choice of 10.
So each seed has a path of at most D links to some target; being dense, a web may have shorter ones, and
`seed_distances` says how long they really are. For D = 0 the crawl starts at targets, which then are not graded.

Departures: the description is the targets' own text, as there are no editors' summaries; and some pages of a topic
may be set aside as examples for judges that are trained. They are neither targets nor graded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.lab.generated.graph import gather
from lycosa.lab.worlds.world import Ints, World
from lycosa.lib.stopwords import ENGLISH

BACK_LINKS = 20
"""Of each page, in each step back: what a search engine's link: query gave."""
LONGEST_WALK = 20

_WORD = re.compile(r"[^\W_]+")


class Description(NamedTuple):
    """The words of all targets together, with their counts."""

    indices: Ints
    """Term numbers of the world, ascending."""
    counts: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """One topic to crawl for. Only `keywords`, `seeds` and `examples` are for the crawler."""

    topic: str
    keywords: str
    targets: Ints
    """Pages to be found."""
    relevant: NDArray[np.bool_]
    """By page: the truth, examples and seeds included."""
    is_graded: NDArray[np.bool_]
    """By page: false for examples, and for seeds where they are pages of the topic that were given away."""
    description: Description
    seeds: Ints
    examples: Ints
    wanted_distance: int
    distance: int
    """Steps from the targets back to the seeds: smaller than wanted where no page links that far."""
    seed_distances: Ints
    """By seed: links to the nearest target on the shortest way."""

    note: str = ""
    """What is not as it was asked for, in words."""

    @property
    def given(self) -> Ints:
        """Pages of the topic the crawler was handed: to find them earns nothing."""
        return np.flatnonzero(~self.is_graded).astype(np.int32)


def make_task(
    world: World,
    topic: str,
    *,
    distance: int,
    seeds: int = 10,
    targets: int | None = None,
    examples: int = 0,
    rng: np.random.Generator,
) -> Task:
    """A task of this topic. `targets` of its pages, as a rule all, without `examples` of them set aside before."""
    if not 0 <= distance <= LONGEST_WALK or seeds < 1 or examples < 0 or (targets is not None and targets < 1):
        raise InputError(
            f"no task with distance {distance}, {seeds} seeds, {targets} targets, {examples} examples: distance is "
            f"from 0 to {LONGEST_WALK}, examples 0 or more, the others 1 or more"
        )
    members = world.pages_of(topic)
    drawn = rng.permutation(members)
    set_aside, wanted = drawn[:examples], np.sort(drawn[examples:][:targets])
    if not len(wanted):
        raise InputError(
            f"topic {topic!r} has {_pages(len(members))}: none is left as target after {examples} examples"
        )
    start, reached = _seeds(world, wanted, distance, seeds, rng) if distance else (_choice(wanted, seeds, rng), 0)
    if not reached:
        wanted = np.setdiff1d(wanted, start)
        if not len(wanted):
            raise InputError(
                f"topic {topic!r} has {_pages(len(members))}, and all that are targets would be seeds: there are no "
                f"links to them from {distance} pages away"
                if distance
                else f"topic {topic!r} has {_pages(len(members))}: with {seeds} of them as seeds no target is left"
            )
    relevant = np.zeros(len(world), np.bool_)
    relevant[members] = True
    is_graded = np.ones(len(world), np.bool_)
    is_graded[set_aside] = False
    if not reached:
        is_graded[start] = False
    return Task(
        topic=topic,
        keywords=keywords(topic),
        targets=wanted,
        relevant=relevant,
        is_graded=is_graded,
        description=describe(world, wanted),
        seeds=start,
        examples=np.sort(set_aside),
        wanted_distance=distance,
        distance=reached,
        seed_distances=world.distances(wanted, is_backward=True)[start],
        note=_note(topic, wanted=(seeds, distance), found=(len(start), reached)),
    )


def keywords(topic: str) -> str:
    """The words of a topic's path, each once: `Science/Biology/Birds` is "science biology birds"."""
    words = dict.fromkeys(_WORD.findall(topic.lower()))
    return " ".join([word for word in words if word not in ENGLISH] or words)


def describe(world: World, pages: Ints) -> Description:
    counts, terms, offsets = world.term_matrix()
    places = gather(offsets[pages], offsets[pages + 1] - offsets[pages])
    indices, which = np.unique(terms[places], return_inverse=True)
    sums = np.bincount(which, weights=counts[places], minlength=len(indices))
    return Description(indices, sums.astype(np.int32))


def split_topics(topics: Sequence[str]) -> tuple[list[str], list[str]]:
    """Two halves, development and test, by a hash of the names: the same for everybody, whatever the order."""
    mixed = sorted(set(topics), key=lambda topic: blake2b(topic.encode(), digest_size=8).digest())
    half = (len(mixed) + 1) // 2
    return sorted(mixed[:half]), sorted(mixed[half:])


def _seeds(world: World, targets: Ints, distance: int, seeds: int, rng: np.random.Generator) -> tuple[Ints, int]:
    """Pages `distance` steps back from the targets, or as many steps as there are; and how many those are."""
    found, steps = targets, 0
    wave = targets
    for step in range(1, distance + 1):
        wave = _step_back(world, wave, rng)
        outside = np.setdiff1d(wave, targets)
        if len(outside):
            found, steps = outside, step
    return _choice(found, seeds, rng), steps


def _step_back(world: World, pages: Ints, rng: np.random.Generator) -> Ints:
    """The pages that link to these, at most BACK_LINKS for each, drawn at random."""
    offsets, sources = world.back_graph
    counts = offsets[pages + 1] - offsets[pages]
    found = sources[gather(offsets[pages], counts)]
    owner = np.repeat(np.arange(len(pages)), counts)
    shuffled = np.lexsort((rng.random(len(found)), owner))  # still page by page
    rank = np.arange(len(found)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.unique(found[shuffled[rank < BACK_LINKS]])


def _choice(pages: Ints, count: int, rng: np.random.Generator) -> Ints:
    return pages if len(pages) <= count else np.sort(rng.choice(pages, count, replace=False))


def _note(topic: str, *, wanted: tuple[int, int], found: tuple[int, int]) -> str:
    """Both are a number of seeds and their distance."""
    notes = []
    if found[1] < wanted[1]:
        notes.append(f"no page lies {wanted[1]} links before its targets; {found[1]} is used")
    if found[0] < wanted[0]:
        notes.append(f"{found[0]} seeds instead of {wanted[0]}")
    return f"{topic}: {', '.join(notes)}" if notes else ""


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"
