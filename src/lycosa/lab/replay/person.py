"""A person who answers a replayed crawl's questions, played by the labels of the recorded web.

The questions are chosen as those of a live crawl are (`crawl.questions`), from what the replay knows at that moment;
the strategy learns from the answers as it does there (`Abilities.answer`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.questions import EXAMPLE_RELEVANCE, AskablePages, choose, middle_of_doubt


class Choice(Protocol):
    """Chooses pages to ask about: `crawl.questions.choose`, or another one for comparison."""

    def __call__(self, pages: AskablePages, *, middle: float, count: int) -> list[int]: ...


class AskedReplay(NamedTuple):
    """What a replay knows when questions are asked; by position in the order of its visits."""

    pages: list[int]
    """Numbers in the world."""
    links: list[int]
    is_seed: list[bool]
    askable: Callable[[NDArray[Any], NDArray[np.bool_]], AskablePages]
    """From the pages' relevance, and which need not be asked about."""


class Person:
    """Answers by `truth`, which says of each page of the world whether it is relevant."""

    def __init__(
        self,
        truth: NDArray[np.bool_],
        *,
        moments: Mapping[int, int],
        relevance: Callable[[], NDArray[Any]],
        threshold: float = 0.5,
        choice: Choice = choose,
    ) -> None:
        """`moments`: number of questions, by the number of pages after which they are asked. `relevance`: of the pages
        visited so far, in their order, by the study of the strategy."""
        self._truth = truth
        self._moments = sorted(moments.items())
        self._relevance = relevance
        self._threshold = threshold
        self._choice = choice
        self.answers: dict[int, bool] = {}
        """By number of the page in the world."""

    def is_due(self, pages: int) -> bool:
        """Whether it is time for questions after this many pages."""
        return bool(self._moments) and pages >= self._moments[0][0]

    def answer(self, crawl: AskedReplay) -> dict[int, bool | None]:
        """What the person says, by link."""
        count = 0
        while self.is_due(len(crawl.pages)):
            count += self._moments.pop(0)[1]
        is_asked = np.array([page in self.answers for page in crawl.pages], dtype=np.bool_)
        relevance = self._relevance()
        are_examples = np.array(crawl.is_seed) & ~is_asked & (relevance >= EXAMPLE_RELEVANCE)
        pages = crawl.askable(relevance, is_asked | are_examples)
        middle = middle_of_doubt(self._threshold, self.answers.values(), examples=int(are_examples.sum()))
        places = self._choice(pages, middle=middle, count=count)
        said = {place: bool(self._truth[crawl.pages[place]]) for place in places}
        self.answers |= {crawl.pages[place]: is_relevant for place, is_relevant in said.items()}
        return {crawl.links[place]: is_relevant for place, is_relevant in said.items()}
