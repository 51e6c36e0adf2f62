"""The tree of topics as naive Bayes walks it: topics by number, and an example's path through the inner nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.judges.classifier import ANY, Example, parent_of, with_ancestors
from lycosa.judges.taxonomy import topic_hint


class Fork(NamedTuple):
    """An inner topic, or ANY: a choice between its children and itself."""

    position: int
    children: NDArray[np.int64]
    """Numbers of its children, ascending."""
    ends: tuple[int, ...]
    """By column: the topic whose own examples it counts. There is a column for each topic at or below this one."""
    groups: NDArray[np.int64]
    """By column: the child it is at or below, from 0; the inner topic's own column is the group after the last."""


class Tree:
    """Topics are numbered in sorted order from 1; 0 is ANY. Forks are in the same order, so parents come first."""

    def __init__(self, topics: Sequence[str]) -> None:
        self.topics = with_ancestors(topics)
        if not self.topics:
            raise InputError("no topic to learn: give at least one below the root")
        names = (ANY, *self.topics)
        self.position = {name: number for number, name in enumerate(names)}
        children: dict[str, list[int]] = {}
        for name in self.topics:
            children.setdefault(parent_of(name), []).append(self.position[name])
        inner = sorted(children, key=self.position.__getitem__)
        self.fork_of = {name: number for number, name in enumerate(inner)}
        columns: list[list[tuple[int, int]]] = [[] for _ in inner]
        self.path: list[list[tuple[int, int]]] = []
        """For an example of each topic: the forks it passes, lowest first, and the column that counts it there."""
        for end, name in enumerate(names):
            steps = [(name, len(children[name]))] if name in children else []
            while name != ANY:
                parent = parent_of(name)
                steps.append((parent, children[parent].index(self.position[name])))
                name = parent
            path = []
            for parent, group in steps:
                fork = self.fork_of[parent]
                path.append((fork, len(columns[fork])))
                columns[fork].append((end, group))
            self.path.append(path)
        self.forks = [
            Fork(
                self.position[name],
                np.array(children[name]),
                tuple(end for end, _ in of_fork),
                np.array([group for _, group in of_fork]),
            )
            for name, of_fork in zip(inner, columns, strict=True)
        ]

    def below(self) -> NDArray[np.float32]:
        """Columns of the root × topics (without ANY): 1 where the column's examples are at or below the topic."""
        found = np.zeros((len(self.position), len(self.topics)), np.float32)
        for column, end in enumerate(self.forks[0].ends):
            for name in with_ancestors([(ANY, *self.topics)[end]]):
                found[column, self.position[name] - 1] = 1.0
        return found

    def lowest(self, example: Example) -> list[int]:
        """Numbers of the example's topics, except those above another of them; ANY if it has none."""
        for topic in example.topics:
            if topic not in self.position:
                raise InputError(
                    f"example {example.page.url}: there is no topic {topic!r}{topic_hint(topic, self.topics)}"
                )
        above = {parent_of(topic) for topic in with_ancestors(example.topics)}
        lowest = [topic for topic in dict.fromkeys(example.topics) if topic not in above]
        return [self.position[topic] for topic in lowest or [ANY]]
