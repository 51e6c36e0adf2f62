"""Rules that keep a crawl to its topic and can wrap any strategy: `hard+best-first`, `decay+breadth-first`.

Soft focus needs no rule: the score of a link is the largest R of the pages that cite it (paper FC, section 3.1), and
links that were tried less often come first (FC, section 3.3; the frontier sees to it). That is `best-first`.

Hard focus (FC, section 3.1): a page's links are followed only where the leaf of the taxonomy that fits it best is a
good topic or lies under one. With a judge without a taxonomy, they are followed if the page is relevant.

Decay (paper GP, section 4): seeds have decay 1, and the pages that a page links to have half of its own. A page with a
similarity above T_r starts again at 1; the links of a page whose decay is below T_d are not followed. Which pages are
kept (T_m in the paper) is decided by the judge's threshold. GP follows links breadth-first: `decay+breadth-first`.
Differs from GP: a link found on several pages has the largest of its decays; the target of a redirect, and a link found
when its page was fetched again, which are not reported to strategies, have that of a seed's child.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.bounds import require_above_zero, require_at_least, require_at_most
from lycosa.lib.growing import grown
from lycosa.lib.snapshot import Tree
from lycosa.model import Visit
from lycosa.strategies.protocol import Abilities, Guessing, Strategy
from lycosa.strategies.rescoring import scores_of_revisit
from lycosa.strategies.wrapper import Wrapper

RESETS = {"lenient": 0.1, "average": 0.2, "rigid": 0.3}
"""T_r of the presets (GP, section 5)."""
UNKNOWN = 255


@dataclass(frozen=True, slots=True)
class _FocusedGuessing:
    """What a strategy guesses, after visits to pages whose links are followed."""

    inner: Guessing
    follows: Callable[[Visit], bool]

    def guesses(self, visit: Visit) -> Sequence[str]:
        return self.inner.guesses(visit) if self.follows(visit) else ()

    def adopt(self, url: str, link: int) -> float:
        return self.inner.adopt(url, link)


def guessing_where(strategy: Strategy, follows: Callable[[Visit], bool]) -> Guessing | None:
    inner = strategy.abilities.guessing
    return None if inner is None else _FocusedGuessing(inner, follows)


class HardFocus(Wrapper):
    def __init__(self, inner: Strategy, is_good: Callable[[str], bool]) -> None:
        super().__init__(inner, "hard")
        self._is_good = is_good

    @property
    def abilities(self) -> Abilities:
        guessing = guessing_where(self._inner, self._follows)
        return replace(super().abilities, again=self.again, revisit=self.revisit, rules=self.rules, guessing=guessing)

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = super().tell(visit, targets)
        return scores if self._follows(visit) else np.full(len(targets), np.nan)

    def again(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        inner = self._inner.abilities.again
        return inner(visit, targets) if self._follows(visit) else np.full(len(targets), np.nan)

    def revisit(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        if not self._follows(visit):
            return np.full(len(targets), np.nan)
        return scores_of_revisit(self._inner, visit, targets)

    def rules(self, visit: Visit) -> list[str]:
        is_on_topic, best = self._follows(visit), visit.judgement.best if visit.judgement else ""
        what = f"its best topic, {best}, is {'a' if is_on_topic else 'no'} good one" if best else ""
        why = what or f"the page is {'' if is_on_topic else 'not '}relevant"
        return [f"hard focus: links {'' if is_on_topic else 'not '}followed, as {why}", *self.rules_inside(visit)]

    def _follows(self, visit: Visit) -> bool:
        judgement = visit.judgement
        if judgement is None:
            return False
        return self._is_good(judgement.best) if judgement.best else judgement.is_relevant


@dataclass(frozen=True, slots=True, kw_only=True)
class DecaySettings:
    reset: float = RESETS["rigid"]
    """T_r: a page with a higher relevance starts again with decay 1."""
    stop: float = 0.3
    """T_d: the links of a page with a smaller decay are not followed."""

    def __post_init__(self) -> None:
        require_at_least(self, "decay", reset=0)
        require_above_zero(self, "decay", "stop")
        require_at_most(self, "decay", reset=1, stop=1)

    @property
    def steps(self) -> int:
        """Number of irrelevant pages that may be passed in a row: halvings that leave decay at `stop` or above."""
        return math.floor(-math.log2(self.stop) + 1e-12)


class Decay(Wrapper):
    def __init__(self, inner: Strategy, settings: DecaySettings, name: str = "decay") -> None:
        super().__init__(inner, name)
        self._reset = settings.reset
        self._steps = min(settings.steps, UNKNOWN - 2)
        self._halvings = np.full(1024, UNKNOWN, dtype=np.uint8)
        """Number of times the decay of a link was halved, by link number."""

    @property
    def abilities(self) -> Abilities:
        return replace(
            super().abilities,
            is_retold=True,
            again=self.again,
            revisit=self.revisit,
            rules=self.rules,
            snapshots=self.snapshots_with(self._take, self._load),
            guessing=guessing_where(self._inner, self._follows),
        )

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        scores = super().tell(visit, targets)
        halvings = self._of(visit)
        if halvings > self._steps:
            return np.full(len(targets), np.nan)
        if len(targets):
            self._halvings = grown(self._halvings, int(targets.max()) + 1, fill=UNKNOWN)
            self._halvings[targets] = np.minimum(self._halvings[targets], halvings + 1)
        return scores

    def again(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        inner = self._inner.abilities.again
        return inner(visit, targets) if self._follows(visit) else np.full(len(targets), np.nan)

    def _follows(self, visit: Visit) -> bool:
        return self._of(visit) <= self._steps

    def revisit(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        if not self._follows(visit):
            return np.full(len(targets), np.nan)
        return scores_of_revisit(self._inner, visit, targets)

    def rules(self, visit: Visit) -> list[str]:
        depth = self._of(visit)
        left = self._steps - depth
        decay = (
            f"decay {0.5**depth:g}, {depth} page{'s' * (depth != 1)} beyond one with a relevance above {self._reset:g}"
        )
        if left < 0:
            return [
                f"decay: links not followed at {decay}; at most {self._steps} may be passed",
                *self.rules_inside(visit),
            ]
        return [f"decay: links followed at {decay}; {left} more may be passed", *self.rules_inside(visit)]

    def _take(self) -> Tree:
        return {"halvings": self._halvings.copy()}

    def _load(self, saved: Tree) -> None:
        self._halvings = saved["halvings"].copy()

    def _of(self, visit: Visit) -> int:
        """Number of halvings of the decay of the visited page itself, given its relevance."""
        link = visit.lease.id
        if visit.judgement is not None and visit.judgement.relevance > self._reset:
            return 0
        known = int(self._halvings[link]) if link < len(self._halvings) else UNKNOWN
        return known if known != UNKNOWN else min(1, visit.lease.distance)
