"""The judges of a comparison by name, and those trained on a world as a person would: from a few labelled pages.

    examples = draw_examples(world, per_topic=20, seed=1)
    classifier = train(world, examples, kind="bayes")          # once for the world: it knows all topics
    task = task_from_examples(world, "databases", examples, distance=0, seeds=10, rng=rng)
    judge = TopicJudge(classifier, ["databases"])              # guides the crawl; the labels grade it

Some pages of each topic are examples: the first ones in the order of a hash of their URLs, the same for all strategies,
topics and repeats. At most half of a topic's pages are taken, to leave something to find. An example shows all its
labels. The same share of the pages without any label is drawn as examples of no topic: a person who looks at a part of
a web meets such pages too, and a judge that knows only topics would assign every page to one.

What keeps it honest: the judge learns from the examples and nothing else, and finding the crawled topic's examples
does not count (`Task.given`). The judge guides the crawl but does not grade it: that is done by the labels of pages
that no judge has seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
"""Counts the words of the topic's path."""
CONTRAST = "contrast"
"""The judge of `lycosa crawl`: it is given these words, and learns from the seeds and in the crawl itself."""
TRAINED = tuple(kind for kind in CLASSIFIER_NAMES if kind != KEYWORDS)
"""Learn from labelled examples before the crawl."""
JUDGES = (KEYWORDS, CONTRAST, *TRAINED)
LARGEST_SHARE = 0.5
"""Largest share of a topic's pages that become examples."""


@dataclass(frozen=True, slots=True, eq=False)
class ExampleSet:
    """Pages whose labels are shown; can be iterated repeatedly, in the order of the pages' numbers."""

    world: World
    pages: Ints
    """Ascending, including those of no topic."""

    def __iter__(self) -> Iterator[Example]:
        for page in self.pages.tolist():
            yield Example(self.world.page(page), _lowest(self.world.topics_of(page)))

    def __len__(self) -> int:
        return len(self.pages)

    def of(self, *topics: str) -> Ints:
        """The examples with any of these labels, whichever topic they were drawn for."""
        return np.intersect1d(self.pages, self.world.pages_of(*topics)).astype(np.int32)

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that have an example."""
        return tuple(topic for topic in self.world.topics if len(self.of(topic)))


def draw_examples(world: World, *, per_topic: int, seed: int) -> ExampleSet:
    """`per_topic` pages of each topic, but at most half of them, and the same share of the pages of no topic."""
    if per_topic < 1:
        raise ConfigError(f"compare.examples is {per_topic}: a trained judge needs 1 or more of each topic")
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


def require_judge(name: str, known: Sequence[str] = JUDGES) -> None:
    """The only place where the name of a judge is checked."""
    if name not in known:
        raise ConfigError(f"there is no judge {name!r}; there are {', '.join(known)}")


def new_classifier(kind: str) -> Classifier:
    """An untrained classifier of this name."""
    require_judge(kind, TRAINED)
    classifier: Classifier = classifier_class(kind)()
    return classifier


def train(world: World, examples: ExampleSet, *, kind: str) -> Classifier:
    """A classifier of all topics that have an example."""
    classifier = new_classifier(kind)
    if not examples.topics:
        raise InputError(f"no topic of {world.path.name} has two pages, one to learn from and one to find")
    return classifier.fit(examples, examples.topics)


def task_from_examples(
    world: World,
    topic: str,
    examples: ExampleSet,
    *,
    distance: int,
    seeds: int,
    topics: Sequence[str] = (),
    rng: np.random.Generator,
) -> Task:
    """As `make_task`, but the examples are not targets. At distance 0 the crawl starts at some of them."""
    topics = topics or (topic,)
    own = examples.of(*topics)
    members = world.pages_of(*topics)
    targets = np.setdiff1d(members, own).astype(np.int32)
    if not len(own) or not len(targets):
        raise InputError(
            f"topic {topic!r} has {len(members)} pages, of which {len(own)} are examples: there must be one or more to "
            "learn from and one or more to find"
        )
    is_graded = np.ones(len(world), dtype=np.bool_)
    is_graded[own] = False
    if distance:
        task = make_task(world, topic, distance=distance, seeds=seeds, topics=topics, rng=rng)
        is_graded &= task.is_graded  # excludes seeds of a topic that no page links to
        targets = np.setdiff1d(targets, task.given).astype(np.int32)
        start = task.seeds
    else:
        # Seeds drawn by make_task would give away more pages of the topic; some of the examples serve as well.
        task = make_task(world, topic, distance=0, seeds=1, topics=topics, rng=rng)
        start = np.sort(rng.permutation(own)[:seeds])
    return replace(
        task,
        targets=targets,
        is_graded=is_graded,
        description=describe(world, targets),
        seeds=start,
        examples=own,
    )


def lots_of(world: World, seed: int) -> NDArray[np.uint64]:
    """By page: a number that depends only on its URL and the seed."""
    draws = (blake2b(f"{seed} {world.url(page)}".encode(), digest_size=8).digest() for page in range(len(world)))
    return np.frombuffer(b"".join(draws), dtype=np.uint64)


def highest(topics: Sequence[str]) -> tuple[str, ...]:
    """The topics that are not below another of them."""
    return tuple(topic for topic in topics if not any(is_at_or_below(topic, o) for o in topics if o != topic))


def _lowest(topics: list[str]) -> tuple[str, ...]:
    """The topics that are not above another of them: some worlds label a page with a topic and the one above it."""
    return tuple(topic for topic in topics if not any(is_at_or_below(o, topic) for o in topics if o != topic))
