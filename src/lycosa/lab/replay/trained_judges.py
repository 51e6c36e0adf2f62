"""Judges trained for a world as a person would train them: from a few labelled pages, all other labels unseen.

    examples = draw_examples(world, per_topic=20, seed=1)
    classifier = train(world, examples, kind="bayes")          # once for the world: it knows all topics
    task = task_from_examples(world, "databases", examples, distance=0, seeds=10, rng=rng)
    judge = TopicJudge(classifier, ["databases"])              # guides the crawl; the labels grade it

Of each topic some pages are examples: those first in a lottery by a hash of their URLs, the same for all strategies,
topics and repeats. At most half of a topic's pages are taken, so that there is something left to find. An example
shows all its labels. Of the pages without any label the same share is drawn, as examples of no topic: a person who
looks at a part of a web meets such pages too, and a judge that knows only topics would put every page under one.

What keeps it honest: the judge learns from the examples and nothing else, and to find the crawled topic's examples
earns nothing (`Task.given`). The judge that guides is not the one that grades: that is done by labels, of pages whose
labels nobody has seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Classifier, Example
from lycosa.judges.table import CLASSIFIER_NAMES, classifier_class
from lycosa.judges.taxonomy import is_at_or_below
from lycosa.lab.replay.tasks import Task, describe, make_task
from lycosa.lab.worlds.world import Ints, World

KEYWORDS = "keywords"
"""Of the judges the one that is not trained: it is told the words of the topic's path."""
JUDGES = (KEYWORDS, *(kind for kind in CLASSIFIER_NAMES if kind != KEYWORDS))
LARGEST_SHARE = 0.5
"""Of a topic's pages that become examples."""


@dataclass(frozen=True, slots=True, eq=False)
class ExampleSet:
    """Pages whose labels are shown. Examples again and again, in the order of their numbers."""

    world: World
    pages: Ints
    """Ascending; those of no topic are among them."""

    def __iter__(self) -> Iterator[Example]:
        for page in self.pages.tolist():
            yield Example(self.world.page(page), _lowest(self.world.topics_of(page)))

    def __len__(self) -> int:
        return len(self.pages)

    def of(self, topic: str) -> Ints:
        """The examples with this label, whichever topic they were drawn for."""
        return np.intersect1d(self.pages, self.world.pages_of(topic)).astype(np.int32)

    @property
    def topics(self) -> tuple[str, ...]:
        """Those that have an example."""
        return tuple(topic for topic in self.world.topics if len(self.of(topic)))


def draw_examples(world: World, *, per_topic: int, seed: int) -> ExampleSet:
    """`per_topic` pages of each topic, at most half of them, and as large a share of the pages of no topic."""
    if per_topic < 1:
        raise ConfigError(f"compare.examples is {per_topic}: a judge that is trained needs 1 or more of each topic")
    if not world.topics:
        raise InputError(f"{world.path.name} was built without labels: no judge can be trained on it")
    lots = lots_of(world, seed)
    drawn = [np.zeros(0, dtype=np.int32)]
    is_labelled = np.zeros(len(world), dtype=np.bool_)
    for topic in world.topics:
        members = world.pages_of(topic)
        is_labelled[members] = True
        count = min(per_topic, int(len(members) * LARGEST_SHARE))
        drawn.append(members[np.argsort(lots[members])[:count]])
    chosen = np.unique(np.concatenate(drawn))
    unlabelled = np.flatnonzero(~is_labelled & (world.statuses < 300))
    count = round(len(unlabelled) * len(chosen) / int(is_labelled.sum()))
    others = unlabelled[np.argsort(lots[unlabelled])[:count]]
    return ExampleSet(world, np.union1d(chosen, others).astype(np.int32))


def train(world: World, examples: ExampleSet, *, kind: str) -> Classifier:
    """A classifier of all topics that have an example."""
    if kind not in JUDGES or kind == KEYWORDS:
        raise ConfigError(f"there is no judge {kind!r} to train; there are {', '.join(JUDGES[1:])}")
    if not examples.topics:
        raise InputError(f"no topic of {world.path.name} has two pages, one to learn from and one to find")
    classifier: Classifier = classifier_class(kind)().fit(examples, examples.topics)
    return classifier


def task_from_examples(
    world: World, topic: str, examples: ExampleSet, *, distance: int, seeds: int, rng: np.random.Generator
) -> Task:
    """A task of this topic whose examples are no targets. At distance 0 the crawl starts at some of them."""
    own = examples.of(topic)
    members = world.pages_of(topic)
    targets = np.setdiff1d(members, own).astype(np.int32)
    if not len(own) or not len(targets):
        raise InputError(
            f"topic {topic!r} has {len(members)} pages, of which {len(own)} are examples: a trained judge needs one or "
            "more to learn from and one or more to find"
        )
    is_graded = np.ones(len(world), dtype=np.bool_)
    is_graded[own] = False
    if distance:
        task = make_task(world, topic, distance=distance, seeds=seeds, rng=rng)
        is_graded &= task.is_graded  # seeds of a topic that nobody links to
        targets = np.setdiff1d(targets, task.given).astype(np.int32)
        start = task.seeds
    else:
        # make_task would give away further pages of the topic: of the examples a part serves as well.
        task = make_task(world, topic, distance=0, seeds=1, rng=rng)
        start = np.sort(rng.permutation(own)[:seeds])
    return replace(
        task,
        targets=targets,
        is_graded=is_graded,
        description=describe(world, targets),
        seeds=start,
        examples=own,
        seed_distances=world.distances(targets, is_backward=True)[start],
        note=f"{topic}: {len(start)} seeds instead of {seeds}" if len(start) < seeds else task.note,
    )


def lots_of(world: World, seed: int) -> NDArray[np.uint64]:
    """By page: a number that depends on its URL and the seed alone."""
    draws = (blake2b(f"{seed} {world.url(page)}".encode(), digest_size=8).digest() for page in range(len(world)))
    return np.frombuffer(b"".join(draws), dtype=np.uint64)


def _lowest(topics: list[str]) -> tuple[str, ...]:
    """Without those that stand above another: where a world labels a page with a topic and with the one above it."""
    return tuple(topic for topic in topics if not any(is_at_or_below(o, topic) for o in topics if o != topic))
