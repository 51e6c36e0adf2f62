"""A crawl that a person is asked about, by `lycosa review` or the dashboard, also while it runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest

from lycosa.config import Config
from lycosa.crawl.resume import THRESHOLD
from lycosa.errors import LycosaError
from lycosa.judge_choice import FOR_TOPICS, is_trained, judge_of
from lycosa.judges.protocol import JudgeAbilities
from lycosa.opened import config_of
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.open_questions import Question, first_lines, open_questions
from lycosa.store.opening import open_store
from lycosa.store.protocol import Reports
from lycosa.store.rows import Batch
from lycosa.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A crawl that a person is asked about."""

    workspace: Workspace
    config: Config
    store: Reports

    def questions(self, count: int) -> list[Question]:
        config = self.config
        found = self.store.state(THRESHOLD)
        try:
            abilities = judge_of(config, self.workspace, threshold=float(found) if found else None).abilities
        except LycosaError:  # the judge was an object of a program
            abilities = JudgeAbilities(threshold=config.judge.threshold or FOR_TOPICS)
        return open_questions(
            self.store,
            threshold=abilities.threshold,
            count=count,
            has_words=bool(config.topic) and not is_trained(config) and config.judge.seeds_are_examples == "auto",
            is_learning=abilities.study is not None,
        )

    def keep(self, question: Question, answer: str) -> None:
        self.store.write(Batch(answers=[(time.time(), question.url, question.page, answer)]))

    def lines(self, question: Question, *, width: int) -> list[str]:
        texts = ArchivedPages.of_text(self.workspace.archive, self.store)
        return first_lines(self.store, texts, question.page, width=width)

    @property
    def parts(self) -> Sequence[Reviewed]:
        """The crawls that were asked about: this one, or all shards of a cluster."""
        return (self,)


@dataclass(frozen=True, slots=True)
class ReviewedCluster(Reviewed):
    """All shards of a cluster: each has its judge, and learns from answers on its own pages."""

    shards: Sequence[Reviewed]
    """Each with its own store; `store` is that of all."""

    def questions(self, count: int) -> list[Question]:
        """The most telling of each shard first, then the second of each, and so on."""
        asked = [
            [replace(question, page=self.store.number_in(shard, question.page)) for question in part.questions(count)]
            for shard, part in enumerate(self.shards)
        ]
        return [question for each in zip_longest(*asked) for question in each if question is not None][:count]

    def keep(self, question: Question, answer: str) -> None:
        part, own = self._own(question)
        part.keep(own, answer)

    def lines(self, question: Question, *, width: int) -> list[str]:
        part, own = self._own(question)
        return part.lines(own, width=width)

    @property
    def parts(self) -> Sequence[Reviewed]:
        return self.shards

    def _own(self, question: Question) -> tuple[Reviewed, Question]:
        shard, page = self.store.shard_of(question.page)
        return self.shards[shard], replace(question, page=page)


@contextmanager
def reviewing(workspace: Workspace, *, read_only: bool = False) -> Iterator[Reviewed]:
    with ExitStack() as stack:

        def store_of(part: Workspace) -> Reports:
            is_whole = part.has_shards
            return stack.enter_context(closing(open_store(part, read_only=read_only or is_whole, over_shards=is_whole)))

        crawl = Reviewed(workspace, config_of(workspace), store_of(workspace))
        if workspace.has_shards:
            shards = [Reviewed(part, config_of(part), store_of(part)) for part in workspace.parts()]
            crawl = ReviewedCluster(crawl.workspace, crawl.config, crawl.store, shards)
        yield crawl
