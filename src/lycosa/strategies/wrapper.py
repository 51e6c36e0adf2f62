"""A strategy that wraps another one and passes everything on to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lycosa.frontier.frontier import Frontier
from lycosa.lib.snapshot import Snapshots, Tree
from lycosa.model import Visit
from lycosa.strategies.protocol import Abilities, Links, Scores, Strategy


class Wrapper(Strategy):
    """The inner strategy under another name; subclasses override what differs, including `abilities`."""

    def __init__(self, inner: Strategy, rule: str) -> None:
        self._inner = inner
        self._rule = rule
        self.name = f"{rule}+{inner.name}"

    @property
    def abilities(self) -> Abilities:
        """Scores are stored at once: what the inner strategy restores need not be what a wrapper made of it."""
        return replace(self._inner.abilities, restores_scores=False)

    def rules_inside(self, visit: Visit) -> list[str]:
        """What the rules of the inner strategy do (`Abilities.rules`)."""
        rules = self._inner.abilities.rules
        return rules(visit) if rules is not None else []

    def snapshots_with(self, take: Callable[[], Tree], load: Callable[[Tree], None]) -> Snapshots | None:
        """Snapshots of what a wrapper has learned itself (`take`, `load`) and of the inner strategy.

        None if that would have to be told all visits again; one that is not told again needs no snapshot.
        """
        inner = self._inner.abilities
        if inner.snapshots is None and inner.is_retold:
            return None

        def take_both() -> Tree:
            return {"own": take(), "inner": inner.snapshots.take() if inner.snapshots else {}}

        def load_both(saved: Tree) -> None:
            load(saved["own"])
            known = saved["inner"]
            if inner.snapshots:
                inner.snapshots.load(known)

        return Snapshots(take_both, load_both)

    def seed_score(self) -> float:
        return self._inner.seed_score()

    def search_score(self) -> float:
        return self._inner.search_score()

    def tell(self, visit: Visit, targets: Links) -> Scores:
        return self._inner.tell(visit, targets)

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        return self._inner.ask(count, frontier, now)

    def reason(self, score: float) -> str:
        return f"{self._rule}+{self._inner.reason(score)}"

    def save(self) -> bytes:
        return self._inner.save()

    def restore(self, state: bytes) -> None:
        self._inner.restore(state)
