"""What top hubs cite and a crawl has not fetched: is it worth more than what else waits (paper FC, section 4.7)?

A crawl with soft focus may have fetched all that its best hubs cite. Then it says nothing about this, and is left out;
so is a topic all of whose crawls are.
"""

from __future__ import annotations

from typing import NamedTuple

from fc_crawls import SOFT, best_of, dealt

from lycosa.lab.replay.compare import ComparePlan, guide_of, run_of_task


class Citations(NamedTuple):
    """Means over a topic's crawls in which the best hubs cite something that was not fetched."""

    crawls: int
    """How many these are."""
    cited: float
    """Share of relevant pages, by label, among what the best hubs cite."""
    waiting: float
    """The same among all pages that were met and not fetched."""


def citations(plan: ComparePlan, topic: str, has_citations: bool) -> Citations:
    guide = guide_of(plan, topic)
    pairs = []
    for repeat in range(plan.repeats):
        task, hands = dealt(plan, topic, repeat)
        for at, hand in enumerate(hands):
            run = run_of_task(plan, guide, hand, 2 * repeat + at, SOFT)
            best = best_of(run, task, guide.judged.world, has_citations=has_citations)
            if len(best.cited):
                pairs.append((task.relevant[best.cited].mean(), task.relevant[best.waiting].mean()))
    if not pairs:
        return Citations(0, 0.0, 0.0)
    cited, waiting = (float(sum(values) / len(pairs)) for values in zip(*pairs, strict=True))
    return Citations(len(pairs), cited, waiting)
