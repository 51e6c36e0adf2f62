"""What ranking by the SVM's raw margin is worth to the paper's own weights, beside a calibrated 2p − 1.

    python experiments/ga_margins.py

The same judge, seeds and luck, 15 crawls of 200 pages from 5 pages each, on two broad topics of wikispeedia. Takes half
a minute; docs/papers/ga.md quotes what it prints.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from common import built_world
from ga_crawls import FIXED, PAPER, SEED, Case, Study, crawls, fitness_of, ground_of

from lycosa.lab.evaluate.significance import wilcoxon
from lycosa.lab.evolve.link_arrays import ordered_scores
from lycosa.lab.evolve.task import EvolutionPlan, good_pages, trained_judge
from lycosa.lab.worlds.world import World
from lycosa.strategies.papers.current_list import CurrentListSettings

TOPICS = ("Science/Biology/*", "Geography*")
PAGES, REPEATS, SEEDS = 200, 15, 5


def main() -> None:
    path = built_world("wikispeedia")
    if path is None:
        print("skipped: the world wikispeedia is not at ../shared/worlds (or $LYCOSA_SHARED/worlds)")
        return
    world = World.open(path)
    for pattern in TOPICS:
        labels = tuple(world.match(pattern))
        case = Case("broad", labels, (PAGES, PAGES, PAGES))
        order = CurrentListSettings(size=10, refill=5)
        study = Study("wikispeedia", (case,), (), seeds=10, trial_seeds=(SEEDS, SEEDS), order=order, path=path)
        ground = ground_of(study, labels)
        plan = EvolutionPlan(world=path, topics=labels, seed=SEED)
        _, judge = trained_judge(world, plan, good_pages(world, plan))
        relevance = np.array([judge.judge(world.page(page)).relevance for page in range(len(world))])
        webs = {
            "margin": ground.web,
            "2p − 1": replace(ground.web, ordered_score=ordered_scores(relevance), is_relevant=relevance >= 0.5),
        }
        found: dict[str, list[float]] = {}
        for name, web in webs.items():
            there = replace(ground, web=web)
            for _, way, seeds in crawls(study, there, {PAPER: FIXED[PAPER]}, PAGES, range(REPEATS), SEEDS):
                found.setdefault(name, []).append(float(fitness_of(way, there, seeds, (PAGES,))[0]))
        p = wilcoxon(np.subtract(found["margin"], found["2p − 1"])).p
        differing = int((webs["margin"].is_relevant != webs["2p − 1"].is_relevant).sum())
        means = ", ".join(f"{name} {np.mean(values):.3f}" for name, values in found.items())
        print(f"{pattern}: {PAPER} by {means}, p = {p:.2g}; {differing:,} of {len(world):,} signs differ")


if __name__ == "__main__":
    main()
