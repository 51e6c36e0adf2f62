"""The words that decided on a page, where they were not stored with its judgement.

Judges of a taxonomy store them for relevant pages only: of a large crawl, those of all others would be most of the
database. A judge that learns during the crawl names them when it reads a page, and the first ones it reads knowing
nothing. Both can tell later, from the archived page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lycosa.crawl.resume import Covered, retold
from lycosa.errors import ArchiveError
from lycosa.judges.protocol import Judge, LearnedTopic
from lycosa.model import Page
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.protocol import Reports
from lycosa.strategies.protocol import Strategy

Words = Mapping[str, float]
"""By word: how much it speaks for (above 0) or against (below 0) the topic."""


@dataclass(frozen=True, slots=True)
class DecidingWords:
    store: Reports
    pages: ArchivedPages
    judge: Judge
    begin: Callable[[], tuple[LearnedTopic | None, Strategy, Covered]]
    """Begins the study of the topic that the crawl's strategy makes, if it makes one, with what a snapshot tells it."""

    def __call__(self, page: int) -> Words | None:
        """Those of a page, by the judge as it is now; None if its text is not in the archive."""
        again = self._archived(page)
        if again is None:
            return None
        judge = self._learned()
        return judge.abilities.strongest(again) if judge.abilities.strongest else judge.judge(again).terms

    def reasons(self, page: int) -> Sequence[str]:
        """What else speaks for or against it (`JudgeAbilities.reasons`)."""
        tell = self.judge.abilities.reasons
        again = self._archived(page) if tell else None
        return tell(again) if tell and again else ()

    def _archived(self, page: int) -> Page | None:
        try:
            return self.pages.page_numbered(page)
        except ArchiveError:  # the file is gone
            return None

    def _learned(self) -> Judge:
        """The judge, with what it has learned in the crawl."""
        study, strategy, covered = self.begin()
        if study is None:
            return self.judge
        for _ in retold(self.store, strategy, covered):
            pass
        study.verdicts()
        return study.as_judge(self.judge.abilities.threshold)
