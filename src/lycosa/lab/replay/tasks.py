"""Crawl tasks as in "Topical Web Crawlers: Evaluating Adaptive Algorithms" (Menczer, Pant, Srinivasan 2004), 2.3-2.4.

A topic provides three things: keywords (the words of its path in the directory), which the crawler is given; targets
(its pages) and a description (the targets' text), which only the evaluation knows. Seeds are D links before the
targets: D steps back over links, following up to 20 random back links of each page, then a random choice of 10.
Each seed thus has a path of at most D links to some target; in a dense web there may be shorter ones. For D = 0 the
crawl starts at targets, which then are not graded.

Departures: the description is the targets' own text, as there are no editors' summaries; some pages of a topic may be
set aside as examples for judges that are trained, and are then neither targets nor graded; several topics may be one
task, with the pages of any of them as targets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.lab.evaluate.runs import TermVector
from lycosa.lab.generated.graph import gather
from lycosa.lab.worlds.world import Ints, World
from lycosa.lib.stopwords import ENGLISH

BACK_LINKS = 20
"""Back links followed of each page in each step: what a search engine's link: query returned."""
LONGEST_WALK = 20

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A topic to crawl for. The crawler gets only `keywords`, `seeds` and `examples`."""

    topic: str
    keywords: str
    targets: Ints
    """Pages to find."""
    relevant: NDArray[np.bool_]
    """By page: the truth, including examples and seeds."""
    is_graded: NDArray[np.bool_]
    """By page: false for examples, and for seeds that are pages of the topic."""
    description: TermVector
    """The words of all targets, by number, ascending."""
    seeds: Ints
    examples: Ints
    distance: int
    """Steps from the targets back to the seeds: less than wanted where the back links do not reach that far."""

    @property
    def given(self) -> Ints:
        """Pages of the topic the crawler was given: finding them does not count."""
        return np.flatnonzero(~self.is_graded).astype(np.int32)


def make_task(
    world: World,
    topic: str,
    *,
    distance: int,
    seeds: int = 10,
    targets: int | None = None,
    examples: int = 0,
    topics: Sequence[str] = (),
    rng: np.random.Generator,
) -> Task:
    """A task with `targets` of the topic's pages, by default all, after `examples` of them have been set aside.

    `topics`: several labels that are one task under the name `topic`; pages with any of them are relevant.
    """
    if not 0 <= distance <= LONGEST_WALK or seeds < 1 or examples < 0 or (targets is not None and targets < 1):
        raise InputError(
            f"no task with distance {distance}, {seeds} seeds, {targets} targets, {examples} examples: distance must "
            f"be from 0 to {LONGEST_WALK}, examples 0 or more, the others 1 or more"
        )
    topics = topics or (topic,)
    members = world.pages_of(*topics)
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
                f"topic {topic!r} has {_pages(len(members))}, and all targets would be seeds: no page links to them "
                f"from outside, at up to {distance} links"
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
        keywords=keywords(*topics),
        targets=wanted,
        relevant=relevant,
        is_graded=is_graded,
        description=describe(world, wanted),
        seeds=start,
        examples=np.sort(set_aside),
        distance=reached,
    )


def joint_name(patterns: Sequence[str]) -> str:
    """What the topics that match these patterns are called as one task."""
    return f"{', '.join(patterns)} (together)"


def keywords(*topics: str) -> str:
    """The words of the topics' paths, each once: `Science/Biology/Birds` gives "science biology birds"."""
    words = dict.fromkeys(_WORD.findall(" ".join(topics).lower()))
    return " ".join([word for word in words if word not in ENGLISH] or words)


def describe(world: World, pages: Ints) -> TermVector:
    counts, terms, offsets = world.term_matrix()
    places = gather(offsets[pages], offsets[pages + 1] - offsets[pages])
    indices, which = np.unique(terms[places], return_inverse=True)
    sums = np.bincount(which, weights=counts[places], minlength=len(indices))
    return TermVector(sums.astype(np.int32), indices)


def split_topics(topics: Sequence[str]) -> tuple[list[str], list[str]]:
    """Two halves, development and test, by a hash of the names: always the same, whatever the order."""
    mixed = sorted(set(topics), key=lambda topic: blake2b(topic.encode(), digest_size=8).digest())
    half = (len(mixed) + 1) // 2
    return sorted(mixed[:half]), sorted(mixed[half:])


def _seeds(world: World, targets: Ints, distance: int, seeds: int, rng: np.random.Generator) -> tuple[Ints, int]:
    """Pages `distance` steps back from the targets, or as far as links reach; and how many steps that is."""
    found, steps = targets, 0
    wave = targets
    for step in range(1, distance + 1):
        wave = _step_back(world, wave, rng)
        outside = np.setdiff1d(wave, targets)
        if len(outside):
            found, steps = outside, step
    return _choice(found, seeds, rng), steps


def _step_back(world: World, pages: Ints, rng: np.random.Generator) -> Ints:
    """Pages that link to these: for each, up to BACK_LINKS drawn at random."""
    offsets, sources = world.back_graph
    counts = offsets[pages + 1] - offsets[pages]
    found = sources[gather(offsets[pages], counts)]
    owner = np.repeat(np.arange(len(pages)), counts)
    shuffled = np.lexsort((rng.random(len(found)), owner))  # within each page
    rank = np.arange(len(found)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.unique(found[shuffled[rank < BACK_LINKS]])


def _choice(pages: Ints, count: int, rng: np.random.Generator) -> Ints:
    return pages if len(pages) <= count else np.sort(rng.choice(pages, count, replace=False))


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"
