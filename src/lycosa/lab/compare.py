"""Strategies compared on a recorded web, from Python: `lycosa.compare`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lycosa.lab.evaluate.runs import Comparison
from lycosa.lab.replay.compare import ComparePlan
from lycosa.lab.replay.compare import compare as run_comparison
from lycosa.lab.replay.trained_judges import CONTRAST, KEYWORDS
from lycosa.lab.worlds.world import World
from lycosa.strategies.protocol import Strategy

STRATEGIES = ("hunter", "best-first", "breadth-first")


def compare(
    world: World | str | Path,
    *,
    topics: Iterable[str] = ("*",),
    strategies: Sequence[str | Callable[..., Strategy]] = STRATEGIES,
    judge: str = CONTRAST,
    pages: int = 500,
    seeds: int = 5,
    distance: int = 0,
    repeats: int = 3,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Crawl each topic with each strategy from the same seeds, and measure by the world's labels.

    `topics`: names or patterns. `strategies`: names, `module:Class`, or classes. At `distance` 0 the seeds are pages of
    the topic, which are not graded; otherwise they lie that many links before its pages. `progress` is called with each
    topic that is done. `Comparison.means("harvest")` has the figures; `lab.evaluate.report.write_report` writes the
    report of `lycosa compare`.
    """
    opened = world if isinstance(world, World) else World.open(Path(world))
    plan = ComparePlan(
        world=opened.path,
        topics=tuple(opened.match(*topics)),
        strategies=tuple(strategies),
        distance=distance,
        pages=pages,
        buffer=0,
        repeats=repeats,
        seeds=seeds,
        seed=seed,
        threshold=0.1 if judge == KEYWORDS else 0.5,
        judge=judge,
        is_timed=False,
    )
    return run_comparison(plan, progress=progress)
