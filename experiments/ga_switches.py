"""The paper's algorithm beside others, and the switches of `lycosa evolve`, paper GA's future work: each bred on the
same topics as the plain strategy, by as many trials, and tried against it and against best first, from seeds that
nothing was evolved on.

An evolution is a matter of luck, too. So there are several of each, which differ in their seeds and random numbers, and
strategies of the same luck are compared. Over all topics an evolution counts once, by the mean of its trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from ga_crawls import (
    BEST_FIRST,
    FIXED,
    SEED,
    Case,
    Ground,
    Scale,
    Study,
    bred,
    crawls,
    ground_of,
    training_fitness,
    trial_start,
)

from lycosa.cli.evolve import PATIENCE
from lycosa.lab.evaluate.runs import Floats
from lycosa.lab.evaluate.significance import holm, wilcoxon
from lycosa.lab.evolve.choosing import FINALISTS, choose, first_genomes
from lycosa.lab.evolve.encoding import GENES, Encoding
from lycosa.lab.evolve.fitness import HARVEST, MEASURES, Grading, MeanFitness
from lycosa.lab.evolve.rivals import LimitedTrials, cma_es, random_search
from lycosa.lab.evolve.simulator import CrawlPlan
from lycosa.lab.evolve.task import Fitnesses
from lycosa.lib.evolve import GeneticSettings, evolve
from lycosa.strategies.papers.evolved import EvolvedSettings

GENERATIONS = 30
EVOLUTIONS = 5
TRIALS = 3
"""Of each evolution."""
VALIDATION = 10
"""Crawls that choose the winner where it is not the paper's algorithm."""
SHORTER = 4
"""Earlier winners come from crawls that were so many times shorter."""


@dataclass(frozen=True)
class Switch:
    option: str
    """Of `lycosa evolve`."""
    says: str
    measure: str = HARVEST
    has_more_scores: bool = False
    phases: int = 1
    is_seeded: bool = False
    search: str = "paper"
    """How strategies are bred: `paper`, `trusted` (what `lycosa evolve` does), `random`, `cma`."""


PLAIN = Switch("plain", "paper GA's nine weights, bred for the harvest")
SWITCHES = (
    Switch("--fitness sites", "of a site ten good pages count", measure="sites"),
    Switch("--fitness lengths", "the mean harvest of a quarter, a half and all of the crawl", measure="lengths"),
    Switch("--scores all", "weights for anchors and hosts, too (in generated webs: hosts alone)", has_more_scores=True),
    Switch("--phases 3", "other weights early, in the middle and late", phases=3),
    Switch("--from", f"the winner of crawls {SHORTER} times shorter is in the first generation", is_seeded=True),
)
SEARCHES = (
    Switch(
        "`lycosa evolve`",
        "known strategies first, no copies, new starts, and other crawls choose the winner",
        search="trusted",
    ),
    Switch("random search", "known strategies first, and other crawls choose the winner", search="random"),
    Switch("CMA-ES", "the same", search="cma"),
)
LONG_SWITCHES = tuple(switch for switch in SWITCHES if switch.phases > 1)
"""Compared in long crawls, too: those the paper has in mind for its sub-strategies."""
LONG_EVOLUTIONS = 3
Tried = Mapping[str, Floats]
"""By strategy: trials × measures."""


@dataclass(frozen=True)
class Compared:
    """What one topic gave."""

    study: Study
    case: Case
    has_sites: bool
    tried: Sequence[Tried]
    """By evolution."""

    def values(self, name: str, measure: str) -> Floats:
        """Evolutions × trials."""
        return np.array([each[name][:, list(MEASURES).index(measure)] for each in self.tried])


def in_long_crawls(case: Case) -> Case:
    return replace(case, lengths=(case.lengths[-1],) * 3)


def tried(
    study: Study, case: Case, scale: Scale, number: int, switches: Sequence[Switch] = SWITCHES
) -> tuple[bool, Tried]:
    """Whether the web has several sites; one evolution of each kind, and what its fittest strategy found."""
    ground = ground_of(study, case.labels, has_more_scores=True)
    has_sites = len(np.unique(ground.sites)) > 1
    evolved = {
        switch.option: winner(study, case, scale, ground, switch, number)
        for switch in (PLAIN, *switches)
        if has_sites or switch.measure != "sites"
    }
    pages, found = case.lengths[0], dict[str, list[list[float]]]()
    repeats = range(number * TRIALS, (number + 1) * TRIALS)
    strategies = {BEST_FIRST: FIXED[BEST_FIRST], **evolved}
    for name, way, seeds in crawls(study, ground, strategies, pages, repeats, study.trial_seeds[0]):
        is_good = ground.is_good.copy()
        is_good[ground.examples] = is_good[seeds] = False
        grading = Grading(is_good, ground.sites)
        found.setdefault(name, []).append([measure(way, grading, pages) for measure in MEASURES.values()])
    return has_sites, {name: np.array(rows) for name, rows in found.items()}


def winner(study: Study, case: Case, scale: Scale, ground: Ground, switch: Switch, number: int) -> EvolvedSettings:
    pages = case.lengths[0]
    more = ("anchor", "host") if len(ground.web.anchors) else ("host",)
    names = (*GENES, *more) if switch.has_more_scores else GENES
    encoding = Encoding(names=names, phases=switch.phases, pages=pages)
    start = []
    if switch.is_seeded:
        shorter = replace(case, lengths=(max(1, pages // SHORTER), *case.lengths[1:]))
        start = [encoding.genome(winner(study, shorter, scale, ground, PLAIN, number))]
    settings = GeneticSettings(
        population=scale.population,
        generations=min(GENERATIONS, scale.generations),
        genes=len(encoding.genes),
    )
    luck = [SEED, 5, number]
    if switch.search != "paper":
        return searched(study, ground, pages, settings, switch.search, luck)
    *_, last = bred(study, ground, pages, settings, encoding, measure=switch.measure, start=start, luck=luck)
    found = encoding.settings(last.best)
    assert found is not None, "the fittest strategy has no weights"
    return found


def searched(
    study: Study, ground: Ground, pages: int, settings: GeneticSettings, search: str, luck: Sequence[int]
) -> EvolvedSettings:
    """The winner of another search with as many trials, chosen by crawls from other pages of the topic."""
    encoding = Encoding(pages=pages)
    on = fitness_on(study, ground, pages, encoding, luck=luck)
    start, rng = first_genomes(encoding, []), np.random.default_rng([*luck, 7])
    if search == "trusted":
        settings = replace(settings, is_diverse=True, patience=PATIENCE)
        populations = list(evolve(on.bred, settings, rng=rng, start=start))
        candidates = [each.best for each in reversed(populations)]
        candidates += populations[-1].genomes[:FINALISTS]
    else:
        trials = LimitedTrials(on.bred, settings.population * (settings.generations + 1), map)
        {"random": random_search, "cma": cma_es}[search](trials, settings, start=start, rng=rng)
        candidates = trials.fittest(settings.generations + FINALISTS)
    return choose(candidates, encoding, on).winner


def fitness_on(study: Study, ground: Ground, pages: int, encoding: Encoding, *, luck: Sequence[int]) -> Fitnesses:
    """On the crawls that `bred` has, and on others that start at pages of the topic which no trial starts at."""
    rng = np.random.default_rng([*luck, 6])
    unseen = np.setdiff1d(np.flatnonzero(ground.is_good), ground.examples)
    given = [trial_start(ground, repeat, study.trial_seeds[0]) for repeat in range(EVOLUTIONS * TRIALS)]
    others = np.setdiff1d(unseen, np.concatenate(given))
    pool = others if len(others) >= study.trial_seeds[0] else unseen
    size = min(study.trial_seeds[0], len(pool))
    chosen = [rng.choice(pool, size, replace=False) for _ in range(VALIDATION)]
    first = training_fitness(study, ground, pages, encoding, luck=luck)
    plans = [CrawlPlan(seeds=np.sort(seeds).astype(np.int64), pages=pages, order=study.order) for seeds in chosen]
    validation = MeanFitness([replace(first, plans=plans)])
    return Fitnesses(MeanFitness([first]), validation, validation)


# The table


def table(all_compared: Sequence[Compared], switches: Sequence[Switch] = SWITCHES) -> Iterator[str]:
    """A line for each switch: the harvest with it minus the harvest without, on each topic and over all."""
    names = [f"{each.study.name.split(',')[0]}, {each.case.kind}" for each in all_compared]
    yield (
        f"| switch | {' | '.join(names)} | all topics: against plain | against best-first | "
        "by its own measure, against plain |"
    )
    yield "|---" * (len(names) + 4) + "|"
    rows = {switch: list(_differences(switch, all_compared)) for switch in switches}
    plain = _pooled(all_compared, PLAIN, BEST_FIRST, HARVEST)
    cells = [plain, *(each for row in rows.values() for each in row if each is not None)]
    tested = iter(holm([wilcoxon(each).p for each in cells]))
    yield _of_plain(all_compared, _cell(plain, next(tested)))
    for switch, row in rows.items():
        cells = ["–" if each is None else _cell(each, next(tested)) for each in row]
        option = f"`{switch.option}`" if switch.option.startswith("--") else switch.option
        yield f"| {option}: {switch.says} | {' | '.join(cells)} |"


def _differences(switch: Switch, all_compared: Sequence[Compared]) -> Iterator[Floats | None]:
    """By cell: paired differences; None: it cannot be compared there."""
    here = [each for each in all_compared if each.has_sites or switch.measure != "sites"]
    if not here:
        yield from [None] * (len(all_compared) + 3)
        return
    for each in all_compared:
        is_here = each in here
        yield _minus(each, switch, PLAIN.option, HARVEST).ravel() if is_here else None
    yield _pooled(here, switch, PLAIN.option, HARVEST)
    yield _pooled(here, switch, BEST_FIRST, HARVEST)
    yield None if switch.measure == HARVEST else _pooled(here, switch, PLAIN.option, switch.measure)


def _minus(compared: Compared, switch: Switch, other: str, measure: str) -> Floats:
    return compared.values(switch.option, measure) - compared.values(other, measure)


def _pooled(here: Sequence[Compared], switch: Switch, other: str, measure: str) -> Floats:
    """Each evolution on each topic once."""
    return np.concatenate([_minus(each, switch, other, measure).mean(axis=1) for each in here])


def _of_plain(all_compared: Sequence[Compared], against_best_first: str) -> str:
    """What the differences start from."""
    cells = [
        f"{each.values(PLAIN.option, HARVEST).mean():.3f} (best-first {each.values(BEST_FIRST, HARVEST).mean():.3f})"
        for each in all_compared
    ]
    mean = np.mean([each.values(PLAIN.option, HARVEST).mean() for each in all_compared])
    return f"| {PLAIN.option}: {PLAIN.says} | {' | '.join(cells)} | {mean:.3f} | {against_best_first} | – |"


def _cell(differences: Floats, p: float) -> str:
    said = f"{differences.mean():+.3f}"
    return f"**{said}** (p = {p:.2g})" if p < 0.05 else said
