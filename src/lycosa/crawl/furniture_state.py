"""What is known of the furniture of hosts, in the store: all of it now and then, and what came since with each commit.

All of it may be megabytes. What came since is cut into pieces, and a commit writes those that have changed: the last
one, or the last two. In one piece it was up to 200 KB that each commit wrote again.
"""

from __future__ import annotations

from typing import Protocol

from lycosa.page.furniture import Furniture

FURNITURE, FURNITURE_SINCE = "furniture", "furniture since"
"""Names of state in the store; further pieces are called `furniture since 1`, `furniture since 2`, …"""
PIECE = 8_000
"""Bytes."""


class States(Protocol):
    def states(self, name: str) -> dict[int, bytes]: ...


def stored_furniture(store: States) -> dict[int, Furniture]:
    """By shard; a crawl of one process is shard 0."""
    saved, journals = store.states(FURNITURE), _stored_pieces(store)
    return {
        shard: Furniture.restored(saved.get(shard), b"".join(journals.get(shard, ()))) for shard in saved | journals
    }


class SinceThen:
    """The pages since all was written, as the store has them."""

    def __init__(self, store: States) -> None:
        """`store`: of a crawl of one process, or of one shard."""
        self._written = _stored_pieces(store).get(0, [])

    def changes(self, journal: bytes) -> dict[str, bytes]:
        """What is to be written so that the store has this journal (`Furniture.journal`)."""
        pieces = [journal[at : at + PIECE] for at in range(0, len(journal), PIECE)]
        pieces += [b""] * (len(self._written) - len(pieces))
        written = self._written + [b""] * (len(pieces) - len(self._written))
        changed = {_name(at): new for at, (new, old) in enumerate(zip(pieces, written, strict=True)) if new != old}
        self._written = pieces
        return changed


def _stored_pieces(store: States) -> dict[int, list[bytes]]:
    pieces: dict[int, list[bytes]] = {}
    at = 0
    while found := store.states(_name(at)):
        for shard, piece in found.items():
            pieces.setdefault(shard, []).append(piece)
        at += 1
    return pieces


def _name(piece: int) -> str:
    return f"{FURNITURE_SINCE} {piece}" if piece else FURNITURE_SINCE
