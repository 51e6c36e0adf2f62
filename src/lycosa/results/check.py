"""Whether a crawl's database and archive are whole and agree; and what can be mended.

integrity    SQLite's own check of the file
strangers    tables and views that are not as Lycosa makes them
values       wrong types, unknown states, half documents, rows that lead nowhere (`store.damage`)
archive      the files end where the last commit says, and every page is where the database says it is
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lycosa.errors import ArchiveAway, ArchiveError, LycosaError, StoreError
from lycosa.fetch.archive import Position
from lycosa.fetch.archive_places import MovedFile
from lycosa.fetch.warc_reader import Location, read
from lycosa.store.damage import Flaw, damage_words
from lycosa.store.opening import open_store
from lycosa.store.protocol import Reports
from lycosa.store.rows import Batch
from lycosa.workspace import Workspace

ARCHIVE = "archive"
MOST_NAMED = 5
"""Number of damaged records that are named one by one."""


@contextmanager
def naming_damage(workspace: Workspace) -> Iterator[None]:
    """If something fails that should not, and the crawl's database is damaged, say so instead of how it failed."""
    try:
        yield
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError, MemoryError) as error:
        if workspace.has_crawl and (found := check_database(workspace)):
            raise StoreError(damage_words(workspace.store_name, workspace.directory, found)) from error
        raise


def check_database(workspace: Workspace) -> list[Flaw]:
    """All that is wrong with crawl.db; empty if nothing is."""
    try:
        store = open_store(workspace, read_only=True)
    except LycosaError as error:
        return [Flaw(workspace.store_name, str(error))]
    try:
        return store.damage()
    finally:
        store.close()


def check_archive(
    workspace: Workspace, store: Reports, *, look: Callable[[int], None] = lambda _: None
) -> Iterator[Flaw]:
    """What is missing from the archive or not what the database says. `look` is told how many pages were read."""
    position = Position(*json.loads(store.state(ARCHIVE) or b'["", 0]'))
    if position.file:
        path = workspace.archive / position.file
        moved = MovedFile.of(path)
        size = path.stat().st_size if path.is_file() else moved.size if moved else 0
        if size < position.offset:
            yield Flaw(f"archive/{position.file}", f"{position.offset - size:,} committed bytes are missing")
    broken = 0
    for count, (url, file, offset) in enumerate(store.archived_urls(), start=1):
        look(count)
        why = _why_broken(workspace.archive, url, file, offset)
        broken += bool(why)
        if why and broken <= MOST_NAMED:
            yield Flaw(f"archive/{file}", f"byte {offset:,}: {why}", can_be_mended=True)
    if broken > MOST_NAMED:
        yield Flaw("archive", f"{broken - MOST_NAMED:,} more pages cannot be read", can_be_mended=True)


def repair(workspace: Workspace) -> list[Flaw]:
    """Mend what can be; the caller holds the lock. Returns what was mended. A copy of the database is kept."""
    with_copy = workspace.directory / _free_name(workspace.directory)
    store = open_store(workspace)
    try:
        store.copy_to(with_copy)
        mended = store.mend()
        _restore_position(workspace, store)
        lost = [
            (file, offset)
            for url, file, offset in store.archived_urls()
            if _why_broken(workspace.archive, url, file, offset)
        ]
        store.forget_archived(lost)
        mended += [Flaw(f"archive/{file}", f"byte {offset:,}: pages without text") for file, offset in lost]
        return mended
    finally:
        store.close()


def _restore_position(workspace: Workspace, store: Reports) -> None:
    """If it is not known where the archive ends: at the end of the last file that a page is in."""
    last = max((file for _, file, _ in store.archived_urls()), default="")
    if last and not store.state(ARCHIVE) and (workspace.archive / last).is_file():
        position = Position(last, (workspace.archive / last).stat().st_size)
        store.write(Batch(state={ARCHIVE: json.dumps(position).encode()}))


def _why_broken(archive: Path, url: str, file: str, offset: int) -> str:
    try:
        found = read(archive, Location(file, offset, 0))
    except ArchiveAway:  # which says nothing about the page
        raise
    except ArchiveError as error:
        return str(error)
    return "" if found.url == url else f"holds {found.url[:100]}, not {url[:100]}"


def _free_name(directory: Path) -> str:
    number = 1
    while (directory / f"crawl.db.damaged-{number}").exists():
        number += 1
    return f"crawl.db.damaged-{number}"
