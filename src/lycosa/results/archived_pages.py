"""The pages of a crawl, read again from its archive: for export, as examples, for a judge that has changed.

They are read with the furniture that the crawl has come to know of their hosts by now, which is more than it knew when
it read the first of them. The page of a damaged record is skipped and counted. A missing file is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from lycosa.crawl.furniture_state import stored_furniture
from lycosa.crawl.reading import HTML, Read, Reading, read_response
from lycosa.crawl.resume import known_robots
from lycosa.errors import ArchiveAway, ArchiveError
from lycosa.fetch.archive_places import has_file
from lycosa.fetch.decode import decode
from lycosa.fetch.robots import Robots, RobotsSettings
from lycosa.fetch.urls import UrlRules, Urls, host_key, origin, url_hash
from lycosa.fetch.warc_reader import Location
from lycosa.fetch.warc_reader import read as read_archived
from lycosa.judges.protocol import NoJudge
from lycosa.model import Judgement, Page, Response
from lycosa.page.clean import CleanDocument, clean_document
from lycosa.page.html import PRODUCT_TOKEN
from lycosa.page.pdf import is_pdf, pdf_as_html
from lycosa.page.usage import USAGE_HEADERS
from lycosa.store.protocol import Reports
from lycosa.usage import Usage, strictest


class Reread(NamedTuple):
    """A page of the crawl, judged by the judge of the `Reading`."""

    id: int
    page: Page
    judgement: Judgement


class ArchivedPages:
    """The pages that a crawl has archived, read as the `Reading` says."""

    def __init__(self, archive: Path, store: Reports, reading: Reading) -> None:
        self.directory = archive
        self._store = store
        self._reading = reading
        self._furniture = stored_furniture(store)
        # Shards of a cluster also know hosts of others: the one with the pages counts.
        self._hosts = {host.name: host.id for host in sorted(store.hosts(), key=lambda host: host.pages)}
        self.damaged = 0
        """Number of records that could not be read so far."""

    @classmethod
    def of_text(cls, archive: Path, store: Reports, *, product_token: str = PRODUCT_TOKEN) -> ArchivedPages:
        """For the text of pages alone: nobody judges them."""
        return cls(archive, store, Reading(urls=Urls(UrlRules()), judge=NoJudge(), product_token=product_token))

    def __iter__(self) -> Iterator[Reread]:
        """Every archived page that can be read, in order of fetching."""
        for place in self._store.archive_places():
            again = self.at(place.file, place.offset)
            if again is not None and again.page is not None and again.judgement is not None:
                yield Reread(place.page_id, again.page, again.judgement)

    def page_of(self, url: str) -> Page | None:
        """The page of a canonical URL, if the crawl has archived it."""
        link = self._store.find_link(url, url_hash(url))
        return self.page_numbered(link.id) if link else None

    def page_numbered(self, number: int) -> Page | None:
        """The page with the number of this link, if the crawl has archived it."""
        row = self._store.page(number)
        again = self.at(row.archive_file, row.archive_offset) if row and row.archive_file else None
        return again.page if again else None

    def at(self, file: str, offset: int) -> Read | None:
        """The record at this place; None if it is damaged."""
        response = self._response(file, offset)
        if response is None:
            return None
        return read_response(response, self._reading, self._furniture_of(response.url))

    def clean_at(self, file: str, offset: int) -> CleanDocument | None:
        """The same as people read it: main text with its structure, and what the document says of itself."""
        response = self._response(file, offset)
        if response is None:
            return None
        reading = self._reading
        decoded = decode(response.body, response.header("content-encoding"), limits=reading.decode_limits)
        body, content_type = decoded.body, response.header("content-type")
        if is_pdf(content_type):
            body, content_type = pdf_as_html(body, max_text=reading.limits.max_text).document, HTML
        return clean_document(
            response.url,
            body,
            content_type=content_type,
            usage_headers=[pair for pair in response.headers if pair[0] in USAGE_HEADERS],
            product_token=reading.product_token,
            resolver=reading.urls.resolver,
            limits=reading.limits,
            furniture=self._furniture_of(response.url),
        )

    def usage(self, url: str, document: CleanDocument | None) -> Usage:
        """What the owner of a URL says about its use: in robots.txt, and in the document, if there is one."""
        robots = self._robots.get(origin(url))
        return strictest(robots.usage(url) if robots else {}, document.usage if document else {})

    @cached_property
    def _robots(self) -> dict[str, Robots]:
        """By origin: those that may say something about use."""
        settings = RobotsSettings(product_token=self._reading.product_token)
        files = (file for file in known_robots(self._store) if "content-" in file.body.lower())
        return {file.origin: Robots(file, settings) for file in files}

    def _furniture_of(self, url: str) -> bytes:
        shard, host = self._store.shard_of(self._hosts.get(host_key(url), 0))
        return self._furniture[shard].of(host) if shard in self._furniture else b""

    def _response(self, file: str, offset: int) -> Response | None:
        try:
            return read_archived(self.directory, Location(file, offset, 0))
        except ArchiveAway:
            raise
        except ArchiveError:
            if not has_file(self.directory / file):
                raise
            self.damaged += 1
            return None
