"""Figures over all topics: mean ± standard error (paper TC, section 3.2).

Repeats are averaged within their topic first (`measure`): a topic is one observation however often it was crawled, and
the error estimates how the figure would change with other topics. Ratios (performance/cost, share of the way from one
bound to the other) are ratios of means over topics, as TC defines P; their error is the jackknife's, from leaving out
one topic at a time. With one topic the error is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lycosa.lab.evaluate.cost import performance_per_cost
from lycosa.lab.evaluate.measure import METRICS, Metric
from lycosa.lab.evaluate.runs import Comparison, Floats
from lycosa.lab.evaluate.significance import Pair, least_p, pairwise, stars


class Summary(NamedTuple):
    """Mean and standard error by strategy (rows) and, for a curve, by page (columns)."""

    mean: Floats
    error: Floats


class Cell(NamedTuple):
    mean: float
    error: float
    is_best: bool
    """The best of the strategies that are not bounds, and ahead of each other one by more than the error."""
    stars: str
    """Significance of the difference from the baseline."""


class TableColumn(NamedTuple):
    """One metric at the end of the crawl, for all strategies."""

    name: str
    metric: Metric
    cells: tuple[Cell, ...]


SIGNIFICANT = 0.05
TABLE = (
    "recall", "harvest", "judged", "similarity", "capped_harvest", "distinct", "hosts",
    "community_cohesion", "overall_cohesion", "cost", "frontier",
)  # fmt: skip
"""Metrics of the table of final figures, in order."""
PERFORMANCE = Metric("performance/cost", "⟨recall⟩·⟨similarity⟩ / ⟨cost⟩ (TC, equation 9)", False)


def over_topics(values: Floats) -> Summary:
    """Mean and standard error over the first axis."""
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.full(values.shape[1:], np.nan)
    return Summary(values.mean(axis=0), np.asarray(error))


def curve(comparison: Comparison, name: str) -> Summary:
    """A metric over pages."""
    return over_topics(_stack(comparison, name))


def final_values(comparison: Comparison, name: str) -> Floats:
    """A metric at the end of the crawl: topics × strategies."""
    return np.array([scores.curves[name][:, -1] for scores in comparison.scores], dtype=np.float64)


def performance(comparison: Comparison) -> Summary:
    """Performance per cost over pages (`cost.performance_per_cost`)."""
    parts = [_stack(comparison, name) for name in ("recall", "similarity", "cost")]
    return _ratio_of_means(parts, lambda means: performance_per_cost(*means))


def share_of_way(comparison: Comparison) -> Summary | None:
    """How far each strategy gets from the lower to the upper bound; None where a bound is missing.

    By the area under the curve of relevant pages found, averaged over topics: 0 is the lower bound, 1 the upper one.
    """
    if not {comparison.lower_bound, comparison.upper_bound} <= set(comparison.strategies):
        return None
    low = comparison.strategies.index(comparison.lower_bound)
    high = comparison.strategies.index(comparison.upper_bound)
    areas = np.array([scores.curves["relevant"].mean(axis=1) for scores in comparison.scores], dtype=np.float64)

    def share(means: list[Floats]) -> Floats:
        (area,) = means
        room = area[..., high] - area[..., low]
        way = area - area[..., [low]]
        return np.divide(way, room[..., None], out=np.full_like(way, np.nan), where=room[..., None] > 0)

    return _ratio_of_means([areas], share)


def pairs_of(comparison: Comparison, name: str) -> list[Pair]:
    """Every pair of tested strategies, by a metric at the end of the crawl."""
    places = [comparison.strategies.index(tested) for tested in comparison.tested]
    return pairwise(comparison.tested, final_values(comparison, name)[:, places])


def table(comparison: Comparison) -> list[TableColumn]:
    """The final figures by column, first the share of the way from one bound to the other."""
    columns = []
    share = share_of_way(comparison)
    if share is not None:
        title = f"{comparison.lower_bound} → {comparison.upper_bound}"
        metric = Metric(title, "share of the way between these bounds, by the area under relevant pages found")
        columns.append(_column(comparison, "share_of_way", metric, share, {}))
    for name in TABLE:
        marks = {}
        for pair in pairs_of(comparison, name):
            if comparison.baseline in (pair.first, pair.second):
                other = pair.second if pair.first == comparison.baseline else pair.first
                marks[other] = stars(pair.adjusted)
        figures = over_topics(final_values(comparison, name))
        if name == "cost":
            figures = _without_bounds(comparison, figures)
            marks = {other: mark for other, mark in marks.items() if other not in comparison.bounds}
        columns.append(_column(comparison, name, METRICS[name], figures, marks, final_values(comparison, name)))
    whole = performance(comparison)
    last = _without_bounds(comparison, Summary(whole.mean[:, -1], whole.error[:, -1]))
    return [*columns, _column(comparison, "performance", PERFORMANCE, last, {})]


def rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One row per strategy, topic, repeat and checkpoint, with every metric (`COLUMNS`)."""
    for scores in comparison.scores:
        values = {name: scores.at_checkpoints[name].tolist() for name in METRICS}
        for number, (strategy, repeat) in enumerate(scores.runs):
            for place, pages in enumerate(scores.checkpoints):
                yield {
                    "strategy": strategy,
                    "topic": scores.topic,
                    "repeat": repeat,
                    "pages": pages,
                    "fetched": min(pages, int(scores.fetched[number])),
                    **{name: values[name][number][place] for name in METRICS},
                }


COLUMNS = {
    "strategy": "varchar",
    "topic": "varchar",
    "repeat": "integer",
    "pages": "integer",
    "fetched": "integer",
    **dict.fromkeys(METRICS, "double"),
}


def too_few_topics(comparison: Comparison) -> str:
    """A warning where no difference can be significant, however large; empty where one can be."""
    topics, names = len(comparison.scores), len(comparison.tested)
    tests = names * (names - 1) // 2
    if not tests or least_p(topics, tests) < SIGNIFICANT:
        return ""
    enough = next(n for n in range(topics, 64) if least_p(n, tests) < SIGNIFICANT)
    return (
        f"{topics} topic{'s' * (topics != 1)}: too few for any difference between {names} strategies to be significant "
        f"(p below {SIGNIFICANT:g}); {enough} or more may do"
    )


def _column(
    comparison: Comparison,
    name: str,
    metric: Metric,
    summary: Summary,
    marks: dict[str, str],
    values: Floats | None = None,
) -> TableColumn:
    """`values`: topics × strategies, by which strategies are compared in pairs."""
    rivals = [strategy not in comparison.bounds for strategy in comparison.strategies]
    judged = [
        float(metric.better * mean) if metric.better and is_rival and np.isfinite(mean) else None
        for is_rival, mean in zip(rivals, summary.mean, strict=True)
    ]
    best = max((place for place, value in enumerate(judged) if value is not None), key=judged.__getitem__, default=-1)  # type: ignore[arg-type] # those that are None are left out
    others = [place for place, value in enumerate(judged) if value is not None and place != best]
    is_clear = all(abs(summary.mean[best] - summary.mean[o]) > _apart(summary, values, best, o) for o in others)
    cells = tuple(
        Cell(float(mean), float(error), place == best and is_clear, marks.get(strategy, ""))
        for place, (strategy, mean, error) in enumerate(
            zip(comparison.strategies, summary.mean, summary.error, strict=True)
        )
    )
    return TableColumn(name, metric, cells)


def _apart(summary: Summary, values: Floats | None, one: int, other: int) -> float:
    """The standard error of a difference: paired over topics, or of two figures whose errors alone are known."""
    if values is None:
        return float(np.hypot(summary.error[one], summary.error[other]))
    differences = values[:, one] - values[:, other]
    return float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else np.inf


def _without_bounds(comparison: Comparison, summary: Summary) -> Summary:
    """Without the figures of bounds: what they cost is meaningless."""
    is_bound = np.array([name in comparison.bounds for name in comparison.strategies])
    return Summary(np.where(is_bound, np.nan, summary.mean), np.where(is_bound, np.nan, summary.error))


def _stack(comparison: Comparison, name: str) -> Floats:
    return np.array([scores.curves[name] for scores in comparison.scores], dtype=np.float64)


def _ratio_of_means(parts: list[Floats], statistic: Callable[[list[Floats]], Floats]) -> Summary:
    """A statistic of means over topics, with its jackknife error √((n−1)/n · Σ (θ₍ᵢ₎ − θ₍·₎)²)."""
    value = statistic([part.mean(axis=0) for part in parts])
    n = len(parts[0])
    if n < 2:
        return Summary(value, np.full(value.shape, np.nan))
    without = statistic([(part.sum(axis=0) - part) / (n - 1) for part in parts])
    spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return Summary(value, np.asarray(np.sqrt(spread * (n - 1) / n)))
