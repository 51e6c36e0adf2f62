"""The pages of a crawl, read once more from its archive: for export, for examples, for a judge that has changed.

A record that is damaged costs itself only: its page is missing, and counted. A file that is gone is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lycosa.crawl.reading import Read, Reading, read_response
from lycosa.errors import ArchiveError
from lycosa.fetch.urls import UrlRules, Urls, url_hash
from lycosa.fetch.warc_reader import Location
from lycosa.fetch.warc_reader import read as read_archived
from lycosa.judges.protocol import Judge
from lycosa.model import Judgement, Page
from lycosa.store.protocol import Store

PLACES = "select id, archive_file, archive_offset from pages where archive_file != '' order by number"
PLACE = """
select p.archive_file, p.archive_offset from pages p join frontier f on f.id = p.id
where f.hash = ? and f.url = ? and p.archive_file != ''
"""


class Reread(NamedTuple):
    """A page of the crawl, with what the judge of the `Reading` thinks of it."""

    id: int
    page: Page
    judgement: Judgement


class _NoJudge(Judge):
    name = "none"

    def judge(self, page: Page) -> Judgement:  # noqa: ARG002 - whatever the page is
        return Judgement(0.0, False)


class ArchivedPages:
    """What a crawl fetched, read as the `Reading` says."""

    def __init__(self, archive: Path, store: Store, reading: Reading) -> None:
        self._archive = archive
        self._store = store
        self._reading = reading
        self.damaged = 0
        """Records that could not be read so far."""

    @classmethod
    def of_text(cls, archive: Path, store: Store) -> ArchivedPages:
        """For the text of pages alone: nobody judges them."""
        return cls(archive, store, Reading(urls=Urls(UrlRules()), judge=_NoJudge()))

    def __iter__(self) -> Iterator[Reread]:
        """Every page that is archived and can be read, in the order of the crawl."""
        for number, file, offset in self._store.query(PLACES)[1]:
            again = self.at(file, offset)
            if again is not None and again.page is not None and again.judgement is not None:
                yield Reread(number, again.page, again.judgement)

    def page_of(self, url: str) -> Page | None:
        """The page of a URL in its canonical form, if the crawl has it."""
        place = next(self._store.query(PLACE, (url_hash(url), url))[1], None)
        again = self.at(*place) if place else None
        return again.page if again else None

    def at(self, file: str, offset: int) -> Read | None:
        """The record at a place; None where it is damaged."""
        try:
            return read_response(read_archived(self._archive, Location(file, offset, 0)), self._reading)
        except ArchiveError:
            if not (self._archive / file).exists():
                raise
            self.damaged += 1
            return None
