"""Whether forecasts hold: how often the 90 % interval had the true number in it, how wide it was, and the bias.

    make bench-forecast                       # a few minutes of CPU
    python bench/forecast.py --quick          # a try
    python bench/forecast.py --half development

Crawls are set up as in bench/hunter.py. After 100, 200 and 400 pages a forecast is made of the harvest of the next 100
and 200, and of what is left in reach; then the crawl goes on, and shows. A page counts as relevant

    by the judge    the hunter's learned judge at the time of the visit; for what is left, its verdict at the time of
                    the forecast on all pages that links lead to
    by labels       people's labels: forecasts know nothing of them, so this adds the judge's errors

Next to it stand the rate of the latest pages with the drift of `forecast_by_rate`, which serves strategies without
predictions (shown for the hunter, and for best-first), and a naive interval: the rate of the last so many, binomial.
"""

from __future__ import annotations

import argparse
import zlib
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hunter import LEAST_PAGES, SEEDS, Course, worlds
from lycosa.fetch.urls import url_hash
from lycosa.frontier.frontier import Frontier
from lycosa.judges.contrast.judge import ContrastJudge, ContrastSettings, ContrastStudy
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.tasks import Task, make_task, split_topics
from lycosa.lab.worlds.world import World
from lycosa.stopping.forecast import Estimate, Forecast, forecast
from lycosa.stopping.forecast_calibration import Calibration, calibration
from lycosa.stopping.forecaster import forecast_by_rate
from lycosa.strategies.hunter.hunter import Hunter, HunterSettings
from lycosa.strategies.papers.best_first import BestFirst
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import strategy
from table import table

AT = (100, 200, 400)
AHEAD = (100, 200)
THRESHOLD = 0.5


class Watched(Hunter):
    """A hunter that is asked at times what it expects."""

    def __init__(self, parts: StrategyParts, settings: HunterSettings) -> None:
        super().__init__(parts, settings)
        self.moments: dict[int, Moment] = {}
        self.all_pages: list[tuple[NDArray[np.uint16], NDArray[np.uint8]] | None] = []

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        visits = self._evidence.count
        if visits in AT and visits not in self.moments:
            self.moments[visits] = Moment.of(self, frontier)
        return super().ask(count, frontier, now)


@dataclass(frozen=True, slots=True)
class Moment:
    """What was forecast after so many pages."""

    harvest: dict[int, dict[str, Forecast]]
    """By pages ahead, then by method."""
    judged: NDArray[np.bool_]
    """By page of the world: what the judge thought of it then."""

    @classmethod
    def of(cls, hunter: Watched, frontier: Frontier) -> Moment:
        history, waiting = hunter.history(), hunter.waiting(frontier)
        found: dict[int, dict[str, Forecast]] = {}
        for ahead in AHEAD:
            made = {
                "forecast": forecast(history, waiting, pages=ahead),
                "by rate": forecast_by_rate(history.relevant, waiting=len(waiting.scores), pages=ahead),
                "naive": naive(history.relevant, ahead),
            }
            found[ahead] = {name: each for name, each in made.items() if each is not None}
        study = hunter.study
        assert isinstance(study, ContrastStudy), study
        judged = [page is not None and study.verdict_on(page) >= THRESHOLD for page in hunter.all_pages]
        return cls(found, np.array(judged, dtype=np.bool_))


def naive(relevant: NDArray[np.float64], ahead: int) -> Forecast:
    latest = relevant[-ahead:]
    share = (float(latest.sum()) + 0.5) / (len(latest) + 1)
    reach = 1.645 * np.sqrt(share * (1 - share) * ahead) + 0.5
    return Forecast(ahead, Estimate(share * ahead, share * ahead - reach, share * ahead + reach), None)


class Score:
    """Forecasts against what came."""

    def __init__(self) -> None:
        self._rows: list[tuple[bool, float, float]] = []

    def add(self, estimate: Estimate, truth: float, scale: float) -> None:
        is_in = estimate.low <= truth <= estimate.high
        self._rows.append((is_in, (estimate.high - estimate.low) / scale, (estimate.value - truth) / scale))

    def add_left(self, estimate: Estimate, truth: float) -> None:
        """Width and bias of what is left are factors, as logarithms to the base of ten."""
        is_in = estimate.low <= truth <= estimate.high
        width = np.log10((estimate.high + 3) / (estimate.low + 3))
        self._rows.append((is_in, float(width), float(np.log10((estimate.value + 3) / (truth + 3)))))

    def cells(self) -> tuple[str, ...]:
        cover, width, bias = np.mean(np.array(self._rows, dtype=np.float64), axis=0)
        return f"{cover:.2f}", f"{width:.2f}", f"{bias:+.2f}", str(len(self._rows))


def reachable(world: World, seeds: NDArray[np.integer]) -> NDArray[np.bool_]:
    """By page: whether links and redirects that a crawl may follow lead there."""
    is_met = np.zeros(len(world.urls), dtype=np.bool_)
    is_met[seeds] = True
    wave = seeds.tolist()
    while wave:
        later: list[int] = []
        for page in wave:
            if world.is_redirect(page):
                found = world.number_of_hash(np.array([url_hash(world.location(page))]))
                found = found[found >= 0]
            else:
                edges = slice(*world.link_offsets[page : page + 2])
                found = world.link_urls[edges][~world.nofollow[edges]]
            new = np.unique(found[~is_met[found]])
            is_met[new] = True
            later += new[new < len(world)].tolist()
        wave = later
    return is_met[: len(world)]


class Bench:
    """One world."""

    def __init__(self, world: World, pages: int) -> None:
        self.world = world
        self.course = Course(world, pages)
        self.scores: defaultdict[tuple[str, str], Score] = defaultdict(Score)
        self.calibrations: list[Calibration] = []
        self._vectors: list[tuple[NDArray[np.uint16], NDArray[np.uint8]] | None] = []

    def run(self, topic: str) -> None:
        rng = np.random.default_rng([0, zlib.crc32(topic.encode())])
        task = make_task(self.world, topic, distance=0, seeds=SEEDS, rng=rng)
        examples = [self.course.page(int(seed)) for seed in task.seeds]
        judge = ContrastJudge.fit(examples, task.keywords, settings=ContrastSettings())
        parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(0))
        self._read_all(judge)
        hunter = Watched(parts, HunterSettings())
        hunter.all_pages = self._vectors
        judged = JudgedWorld(self.world, judge, read=self.course.page)
        visited = self._crawl(judged, hunter, task)
        history = hunter.history()
        self.calibrations.append(calibration(history.scores, history.relevant))
        is_near = reachable(self.world, task.seeds)
        for at, moment in hunter.moments.items():
            self._grade(at, moment, history.relevant, task.relevant[visited])
            left = moment.harvest[AHEAD[0]]["forecast"].left if "forecast" in moment.harvest[AHEAD[0]] else None
            is_open = is_near.copy()
            is_open[visited[:at]] = False
            for truth, relevant in (("judge", moment.judged), ("labels", task.relevant)):
                if left is not None:
                    self.scores["left in reach", truth].add_left(left, float((relevant & is_open).sum()))
        self._compare(judged, strategy("best-first", StrategyParts.of(judge.abilities, rng=rng)), task)

    def _read_all(self, judge: ContrastJudge) -> None:
        if not self._vectors:
            study, world = judge.study(), self.world
            is_page = [not world.is_redirect(page) and world.status(page) == 200 for page in range(len(world))]
            self._vectors = [
                study.vector(self.course.page(page).terms) if is_page[page] else None for page in range(len(world))
            ]

    def _crawl(self, judged: JudgedWorld, order: Strategy, task: Task) -> NDArray[np.int64]:
        track = replay(judged, order, task.seeds.tolist(), pages=self.course.pages)
        return np.array(track.pages)

    def _grade(self, at: int, moment: Moment, relevant: NDArray[np.float64], labelled: NDArray[np.bool_]) -> None:
        for ahead, made in moment.harvest.items():
            if len(relevant) < at + ahead:
                continue
            for name, each in made.items():
                what = f"next {ahead}, {name}"
                self.scores[what, "judge"].add(each.harvest, float(relevant[at : at + ahead].sum()), ahead)
                self.scores[what, "labels"].add(each.harvest, float(labelled[at : at + ahead].sum()), ahead)

    def _compare(self, judged: JudgedWorld, other: Strategy, task: Task) -> None:
        """A strategy without predictions."""
        assert isinstance(other, BestFirst), other
        visited = self._crawl(judged, other, task)
        relevant = np.array([judged.visit(int(page))[1].is_relevant for page in visited], dtype=np.float64)
        for at in AT:
            for ahead in AHEAD:
                made = forecast_by_rate(relevant[:at], waiting=1, pages=ahead)
                if made is not None and len(relevant) >= at + ahead:
                    truth = float(relevant[at : at + ahead].sum())
                    self.scores[f"next {ahead}, by rate, best-first", "judge"].add(made.harvest, truth, ahead)

    def report(self, title: str) -> str:
        rows = []
        for what in sorted({name for name, _ in self.scores}):
            by_judge = self.scores[what, "judge"].cells()
            by_labels = self.scores[what, "labels"].cells() if (what, "labels") in self.scores else ("",) * 4
            rows.append((what, *by_judge[:3], *by_labels[:3], by_judge[3]))
        head = (title, "in interval", "width", "bias", "by labels: in", "width", "bias", "forecasts")
        brier = np.mean([(each.brier, each.brier_of_base_rate, each.error) for each in self.calibrations], axis=0)
        return table(head, rows) + (
            f"\nThe hunter's scores as predictions: Brier score {brier[0]:.3f}, by the base rate {brier[1]:.3f}; "
            f"calibration error {brier[2]:.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--half", choices=("development", "test"), default="test")
    parser.add_argument("--topics", type=int, default=8, help="of each world")
    parser.add_argument("--world", default="", help="only this one")
    given = parser.parse_args()
    count = 1 if given.quick else given.topics
    pages = AT[-1] + AHEAD[-1]
    for name, opened in worlds(given.quick):
        if given.world not in ("", name):
            continue
        bench = Bench(opened(), pages)
        world = bench.world
        halves = split_topics([topic for topic in world.topics if len(world.pages_of(topic)) >= LEAST_PAGES])
        for topic in halves[0 if given.half == "development" else 1][:count]:
            bench.run(topic)
        print(bench.report(f"{name}, {given.half} topics"), "\n", flush=True)


if __name__ == "__main__":
    main()
