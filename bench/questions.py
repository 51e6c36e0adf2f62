"""What a few answers of a person are worth: replayed crawls whose questions are answered by the labels.

    python bench/questions.py                                  # development topics, five pages of each as examples
    python bench/questions.py --start words --topics 5

Five questions are asked after 20 pages, and five more each at the further `MOMENTS`. For each number of answers:

    to oracle    the area under the curve of relevant pages found, as share of the way from a random order to an oracle
    precision,   of the final judgement of the pages visited, against their labels; pages that were given or answered do
    recall       not count
    yes          share of the answers that were yes

Next to the questions that a crawl would ask: as many at random among the pages visited, and the bound: every page is
judged by its label.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hunter import RANDOMS, SETS, STARTS, Course, Extent, Result, worlds
from lycosa.crawl.questions import AskablePages, choose
from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.judges.protocol import Judge
from lycosa.lab.replay.oracle import Oracle
from lycosa.lab.replay.person import Choice, Person
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.tasks import Task, make_task
from lycosa.lab.worlds.world import World
from lycosa.model import Judgement, Page
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy
from table import table

MOMENTS = (20, 40, 80, 120, 160, 200, 250, 300)
"""Numbers of pages after which questions are asked."""
AT_ONCE = 5
COUNTS = (0, 5, 10, 20, 40)
LABELS = "labels as judge"


@dataclass(frozen=True, slots=True)
class Row:
    topic: str
    name: str
    share: float
    precision: float
    recall: float
    answers: int
    yes: float


class LabelJudge(Judge):
    """Knows the truth, by URL."""

    name = "labels"

    def __init__(self, world: World, truth: NDArray[np.bool_]) -> None:
        self._relevant = {world.urls[page] for page in np.flatnonzero(truth).tolist()}

    def judge(self, page: Page) -> Judgement:
        return Judgement(float(page.url in self._relevant), page.url in self._relevant)


class RandomChoice:
    """Asks about any pages."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, pages: AskablePages, *, middle: float, count: int) -> list[int]:  # noqa: ARG002 - any pages
        left = np.flatnonzero(~pages.is_settled)
        return [int(place) for place in self._rng.permutation(left)[:count]]


def moments(answers: int) -> dict[int, int]:
    return dict.fromkeys(MOMENTS[: answers // AT_ONCE], AT_ONCE)


class AnsweredCourse(Course):
    """Crawls with a person."""

    def answered(self, topic: str, repeat: int) -> list[Row]:
        rng = np.random.default_rng([repeat, zlib.crc32(topic.encode())])
        task = make_task(self.world, topic, distance=self.start.distance, seeds=self.start.seeds, rng=rng)
        if self.start.distance and not task.distance:
            return []
        wanted = task.relevant & task.is_graded
        result = Result(topic, int(wanted.sum()), {}, {}, {})
        judge = self._judge(task)
        judged = JudgedWorld(self.world, judge, read=self.reader(judge))
        self._grade(result, "oracle", judged, task, lambda found: Oracle(self.world, wanted, found))
        areas = []
        for number in range(RANDOMS):
            parts = StrategyParts(rng=np.random.default_rng([repeat, number]))
            self._grade(result, "random", judged, task, strategy("random", parts))
            areas.append(result.area["random"])
        result.area["random"] = float(np.mean(areas))
        if result.area["oracle"] - result.area["random"] < 1:
            return []
        rows = []
        for count in COUNTS:
            rows.append(self._asked(result, f"{count} answers", judge, judged, task, count, choose))
            if count:
                rows.append(self._asked(result, f"{count} at random", judge, judged, task, count, RandomChoice(repeat)))
        labels = JudgedWorld(self.world, LabelJudge(self.world, task.relevant), read=self.page)
        parts = StrategyParts.of(replace(judge.abilities, study=None), rng=np.random.default_rng(repeat))
        self._grade(result, LABELS, labels, task, strategy("hunter", parts))
        rows.append(Row(topic, LABELS, result.share(LABELS), 1.0, 1.0, 0, float("nan")))
        return rows

    def _asked(
        self, result: Result, name: str, judge: ContrastJudge, judged: JudgedWorld, task: Task, count: int, how: Choice
    ) -> Row:
        studies: list[ContrastStudy] = []

        def study() -> ContrastStudy:
            studies.append(judge.study())
            return studies[0]

        parts = replace(StrategyParts.of(judge.abilities, rng=np.random.default_rng(0)), study=study)
        hunter = strategy("hunter", parts)
        person = Person(
            task.relevant,
            moments=moments(count),
            relevance=lambda: studies[0].verdicts(),
            threshold=judge.threshold,
            choice=how,
        )
        track = replay(judged, hunter, task.seeds.tolist(), pages=self.pages, person=person)
        self.record(result, name, track, task)
        studies[0].learn()
        visited = np.array(track.pages)
        counts = task.is_graded[visited] & ~np.isin(visited, list(person.answers))
        found, truth = (studies[0].verdicts() >= judge.threshold)[counts], task.relevant[visited][counts]
        hits = int(np.count_nonzero(found & truth))
        return Row(
            task.topic,
            name,
            result.share(name),
            hits / max(1, int(found.sum())),
            hits / max(1, int(truth.sum())),
            len(person.answers),
            float(np.mean(list(person.answers.values()))) if person.answers else float("nan"),
        )


def measure(name: str, opened: Callable[[], World], half: str, start: str, extent: Extent) -> list[Row]:
    world = opened()
    course = AnsweredCourse(world, extent.pages, STARTS[start])
    rows = []
    chosen = SETS[half][name](world)[: extent.topics]
    for at, topic in enumerate(chosen):
        for repeat in range(extent.repeats):
            rows += course.answered(topic, repeat)
        print(f"  {name}: {topic} ({at + 1} of {len(chosen)})", file=sys.stderr, flush=True)
    return rows


def report(title: str, rows: list[Row]) -> str:
    names = list(dict.fromkeys(row.name for row in rows))
    baseline = _by_topic([row for row in rows if row.name == names[0]])
    lines = []
    for name in names:
        mine = [row for row in rows if row.name == name]
        shares = _by_topic(mine)
        gains = np.array([shares[topic] - baseline[topic] for topic in shares])
        error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else float("nan")
        yes = [row.yes for row in mine if row.answers]
        lines.append(
            [
                name,
                f"{np.mean(list(shares.values())):.3f}",
                "" if name == names[0] else f"{gains.mean():+.3f} ± {error:.3f}",
                f"{np.mean([row.precision for row in mine]):.3f}",
                f"{np.mean([row.recall for row in mine]):.3f}",
                f"{np.mean(yes):.2f}" if yes else "",
                f"{len(shares)} / {len(mine)}",
            ]
        )
    return table((title, "to oracle", "gain", "precision", "recall", "yes", "topics / crawls"), lines)


def _by_topic(rows: list[Row]) -> dict[str, float]:
    topics: dict[str, list[float]] = {}
    for row in rows:
        topics.setdefault(row.topic, []).append(row.share)
    return {topic: float(np.mean(shares)) for topic, shares in topics.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=SETS, default="development", help="which topics (default: development)")
    parser.add_argument("--start", choices=STARTS, default="examples", help="what a crawl begins with")
    parser.add_argument("--topics", type=int, default=8, help="of each world")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--world", default="", help="one world alone")
    given = parser.parse_args()
    print(f"A crawl of {given.pages} pages begins with {STARTS[given.start].about}.\n", flush=True)
    extent = Extent(given.topics, given.repeats, given.pages)
    with ProcessPoolExecutor(2) as pool:
        parts = [
            (
                name,
                pool.submit(measure, name, opened, given.half, given.start, extent),
            )
            for name, opened in worlds(False, given.half)
            if given.world in ("", name)
        ]
        for name, part in parts:
            rows = part.result()
            print(report(f"{name}, {given.half}, {given.start}", rows) if rows else f"{name}: nothing", flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
