"""What people say of pages (`lycosa feedback`, `lycosa review`, `--answers`), taken over by a running crawl.

An answer is a row of the store, written by whichever process asked. The store itself sees to it that the last answer on
a page decides the page's relevance, whatever a judge says of it then or later. The rest happens here, within seconds:
the strategy is told, its study learns from the page, waiting links get other scores, and all pages are judged again.

An answer on a page that has not been fetched waits for it.

A strategy that is told its visits again on resume is told the answers where it was told them first (`resume.retold`):
with each answer the store keeps the number of pages the crawl had by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lycosa.crawl.commit import CrawlLedger
from lycosa.fetch.urls import url_hash
from lycosa.lib.clock import Clock
from lycosa.store.protocol import Reports, Store
from lycosa.store.rows import Answer, AnswerRow, Batch

LOOK_EVERY = 1.0
"""Seconds between two looks for new answers."""

NewAnswer = tuple[float, str, int | None, str]
"""A row of `Batch.answers`."""


class Answers:
    """Looks for new answers. `look` is called after each turn of the loop and mostly does nothing."""

    def __init__(self, *, ledger: CrawlLedger, clock: Clock, learn: Callable[[], None] = lambda: None) -> None:
        """`learn`: called after answers were taken over, to judge all pages again."""
        self._ledger = ledger
        self._store = ledger.state.store
        self._clock = clock
        self._learn = learn
        self._looked_at = 0.0
        self._read = 0
        """Number of the last answer that was read."""
        self._waiting: dict[str, list[AnswerRow]] = {}
        """Answers on pages that have not been fetched, by URL."""
        self._matched = ledger.pages
        """Number of the last page that was looked up there."""

    def look(self, *, is_last: bool = False) -> None:
        """With `is_last`, the crawl is about to end: what has been said by now is taken over."""
        found = self._fetched()
        now = self._clock.now()
        if is_last or now - self._looked_at >= LOOK_EVERY:
            self._looked_at = now
            found += self._new()
        if found:
            self._take_over(sorted(found))

    def _new(self) -> list[tuple[AnswerRow, int]]:
        """New answers with their pages; those on pages that have not been fetched are kept."""
        found = []
        for row in self._store.answers(after=self._read):
            self._read = row.id
            if row.after_pages is not None or row.answer == Answer.SKIPPED:
                continue
            page = row.page_id or self._ledger.state.urls.find(row.url)
            if page is not None and self._store.page(page) is not None:
                found.append((row, page))
            else:
                self._waiting.setdefault(row.url, []).append(row)
        return found

    def _fetched(self) -> list[tuple[AnswerRow, int]]:
        """Answers that waited for pages fetched since the last look."""
        pages, before = self._ledger.pages, self._matched
        self._matched = pages
        found: list[tuple[AnswerRow, int]] = []
        if self._waiting and pages > before:
            for page in self._store.pages_since(before).ids.tolist():
                link = self._store.link(page)
                found += [(row, page) for row in self._waiting.pop(link.url if link else "", ())]
        return found

    def _take_over(self, found: list[tuple[AnswerRow, int]]) -> None:
        """Of several answers on a page the last one counts."""
        said = {page: row.is_relevant for row, page in found}
        answer = self._ledger.state.strategy.abilities.answer
        if answer is not None:
            answer(said)
        pages = self._ledger.pages
        batch = Batch(recounts_hosts=True, taken_over=[(page, pages, row.id) for row, page in found])
        self._ledger.write(batch, event=("answers", _in_words(said.values())))
        self._ledger.state.recount()
        if answer is None:
            self._ledger.score_again("what a person said of pages")
        self._learn()


def _in_words(said: Iterable[bool | None]) -> str:
    counted = list(said)
    parts = {"relevant": counted.count(True), "not relevant": counted.count(False), "taken back": counted.count(None)}
    words = ", ".join(f"{count:,} {what}" for what, count in parts.items() if count)
    noun = "page" if len(counted) == 1 else "pages"
    return f"a person's answers on {len(counted):,} {noun} took over: {words}"


def standing_answers(store: Store) -> dict[str, bool]:
    """What people say of pages now: by URL, whether it is relevant."""
    last = {row.url: row.is_relevant for row in store.answers()}
    return {url: is_relevant for url, is_relevant in last.items() if is_relevant is not None}


def new_answers(store: Reports, said: Mapping[str, str], *, at: float) -> list[NewAnswer]:
    """Rows for what is said of canonical URLs, where that differs from what was said of them before."""
    before = {row.url: row.answer for row in store.answers()}
    news = {url: answer for url, answer in said.items() if before.get(url) != answer}
    pages = store.pages_with([url_hash(url) for url in news]) if news else {}
    return [(at, url, pages.get(url), answer) for url, answer in news.items()]
