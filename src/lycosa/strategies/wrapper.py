"""A strategy that wraps another one and passes everything on to it."""

from __future__ import annotations

from lycosa.frontier.frontier import Frontier
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
        return self._inner.abilities

    def rules_inside(self, visit: Visit) -> list[str]:
        """What the rules of the inner strategy do (`Abilities.rules`)."""
        rules = self._inner.abilities.rules
        return rules(visit) if rules is not None else []

    def seed_score(self) -> float:
        return self._inner.seed_score()

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
