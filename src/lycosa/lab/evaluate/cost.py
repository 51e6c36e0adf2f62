"""The cost of a crawl (paper TC, section 3.2.3, equations 8 and 9).

    c_p(i) = t_p(i)·|C| / Σ_{i'∈C} t_MAX(i')          P_p(i) = ⟨ρ_p(i)⟩·⟨σ_p(i)⟩ / ⟨c_p(i)⟩

t_p(i) is the CPU time (of the process, not of the clock) used for p pages by strategy i: its own, that of its queue,
and that of judging pages where it goes by that; C are the strategies compared, and ⟨·⟩ is the mean over topics. The
mean strategy thus costs 1 at the end of the crawl, on any machine.
Differs from TC: the bounds (random, look-ahead, oracle) are not in C, so they change no figure; where there are
repeats, t_MAX is their mean.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lycosa.lab.evaluate.curves import padded
from lycosa.lab.evaluate.runs import Floats


def relative_costs(
    cpu: Mapping[str, Sequence[Floats]], pages: int, *, bounds: Collection[str] = ()
) -> dict[str, list[Floats]]:
    """By strategy: c_p of each run of one topic, from its cumulative CPU seconds."""
    seconds = {name: [padded(np.asarray(run), pages) for run in runs] for name, runs in cpu.items()}
    compared = [name for name in seconds if name not in bounds] or list(seconds)
    mean = float(np.mean([np.mean([run[-1] for run in seconds[name]]) for name in compared]))
    return {name: [run / mean if mean > 0 else np.zeros(pages) for run in runs] for name, runs in seconds.items()}


def performance_per_cost(recall: Floats, similarity: Floats, cost: Floats) -> Floats:
    """P from means over topics; 0 where the cost is 0."""
    return np.divide(recall * similarity, cost, out=np.zeros_like(recall), where=cost > 0)
