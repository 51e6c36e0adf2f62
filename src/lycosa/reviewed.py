"""A crawl that a person is asked about, by `lycosa review` or the dashboard, also while it runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

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


@contextmanager
def reviewing(workspace: Workspace) -> Iterator[Reviewed]:
    with closing(open_store(workspace)) as store:
        yield Reviewed(workspace, config_of(workspace), store)
