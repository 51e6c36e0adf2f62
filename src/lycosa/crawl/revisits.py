"""A page that is fetched again, such as a hub.

A strategy is told of a page once, so that one that is told all pages again on resume knows what it knew. When the page
is fetched again, links that are new on it are scored without learning from it (`strategies.rescoring`), and join the
links of the page at positions from LATER on. Links that have vanished from it stay: it did cite them.

The request is a conditional one (`fetch.conditions`): the server is told which version is known, and may answer that
nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ArchiveError
from lycosa.fetch.warc_reader import Location, read
from lycosa.model import Kind, Page, Response, Visit
from lycosa.page.parked import PARKED
from lycosa.store.protocol import Store
from lycosa.store.rows import LATER, PageChange, PageRow
from lycosa.strategies.protocol import Links


def later_edges(
    known: NDArray[np.int64], source: int, page: Page, targets: Links
) -> Iterator[tuple[int, int, int, str, str]]:
    """Rows for the links that are new on a page. `known`: (position, link) of those it has in the store."""
    position = max(LATER, int(known[:, 0].max(initial=-1)) + 1)
    cited = set(known[:, 1].tolist())
    for link, target in zip(page.links, targets.tolist(), strict=True):
        if target not in cited:
            cited.add(target)
            yield source, position, target, link.anchor, link.rel
            position += 1


def change_of(visit: Visit, known: PageRow, was_gone: bool) -> str:
    """What became of a page since it was last looked at (`PageChange`).

    It is the same if title and own text are, read the same way; where the older version is not at hand, if the
    fingerprint is.
    """
    outcome, page = visit.outcome, visit.page
    if outcome.kind is Kind.UNCHANGED or (outcome.kind is Kind.FETCHED and page is not None):
        is_same = visit.is_same or outcome.kind is Kind.UNCHANGED
        if visit.is_same is None and page is not None:
            is_same = (page.fingerprint - known.fingerprint) % 2**64 == 0  # one of them has a sign
        return PageChange.BACK if was_gone else PageChange.SAME if is_same else PageChange.CHANGED
    if outcome.status in (404, 410) or outcome.reason == PARKED:
        return PageChange.GONE
    return PageChange.MOVED if outcome.kind is Kind.REDIRECTED else PageChange.UNKNOWN


def archived_answers(store: Store, archive: Path) -> Callable[[int], Response | None]:
    """The latest answer for a link, by its number, as far as the archive has it."""

    def answer(link: int) -> Response | None:
        place = store.last_answer(link)
        if place is None:
            return None
        try:
            return read(archive, Location(place.file, place.offset, 0))
        except ArchiveError:
            return None  # without it the page is asked for as if it were unknown

    return answer
