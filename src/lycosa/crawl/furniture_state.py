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
    def state(self, name: str) -> bytes | None: ...


def stored_furniture(store: States) -> Furniture:
    return Furniture.restored(store.state(FURNITURE), b"".join(_stored_pieces(store)))


class SinceThen:
    """The pages since all was written, as the store has them."""

    def __init__(self, store: States) -> None:
        self._written = _stored_pieces(store)

    def changes(self, journal: bytes) -> dict[str, bytes]:
        """What is to be written so that the store has this journal (`Furniture.journal`)."""
        pieces = [journal[at : at + PIECE] for at in range(0, len(journal), PIECE)]
        pieces += [b""] * (len(self._written) - len(pieces))
        written = self._written + [b""] * (len(pieces) - len(self._written))
        changed = {_name(at): new for at, (new, old) in enumerate(zip(pieces, written, strict=True)) if new != old}
        self._written = pieces
        return changed


def _stored_pieces(store: States) -> list[bytes]:
    pieces: list[bytes] = []
    while (piece := store.state(_name(len(pieces)))) is not None:
        pieces.append(piece)
    return pieces


def _name(piece: int) -> str:
    return f"{FURNITURE_SINCE} {piece}" if piece else FURNITURE_SINCE
