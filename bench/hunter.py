"""How much the hunter finds, next to every other strategy; and what it costs.

The hunter's judge learns during the crawl, that of the others stays as it was before it. What each half of that is
worth, two further rows say: the hunter with the fixed judge, and best-first with the learning one.

    make bench-hunter                     # about half an hour on two cores
    python bench/hunter.py --quick        # a try
    python bench/hunter.py --half fresh --start words
    python bench/hunter.py --only quality --judges      # judge × strategy alone, a quarter of the time

Figure: the area under the curve of relevant pages found over fetches, as share of the way from a random order to an
oracle (which knows whether a waiting page is relevant) and to a look-ahead oracle (which knows the ways, too). A home
page that is tried though nobody links to it, and is not there, costs a fetch; a dead link does not. Pages that say
nearly the same as an earlier one of the crawl do not count. Errors and tests are over topics, whose repeats (other
seeds) are averaged first; p by Wilcoxon's test, corrected by Holm's method for the number of rows.

On sparse webs (`sparse_webs`) the plain oracle is no bound: where nothing relevant waits it is as blind as anybody, and
the share of the way to it may exceed 1. There the share of the way to the look-ahead oracle counts.

Topics of 30 pages or more are split into halves by `tasks.split_topics`. --half says which topics are crawled for:

    development  the half on which constants were chosen
    test         the other half. It is what counts, but its tables were looked at while the hunter was changed
    fresh        topics no constant was chosen by: of wikispeedia those with 15 to 29 pages, unless most of these are
                 of larger topics, too; and on a generated web of another seed and shape those of made-up words.
                 debian-docs has no topic so small, and is left out. The topics are new, wikispeedia itself is not

The generated sparse webs are one for each set, with topics of 30 pages or more. Webs of one subject (`one_subject`),
four for development and four for the test, are crawled for topics of 15 pages or more, and at most half of their pages.

The judge is told the topic's words. --start says what else a crawl begins with:

    examples     five pages of the topic: the seeds, and the judge's only examples. They are not graded
    one          a single such page
    words        nothing. The seeds are places to start from: five pages off the topic, two links before it at most.
                 The judge is that of `lycosa crawl WORDS --seeds …`, which learns from a seed, too, if that happens to
                 fit the words
"""

from __future__ import annotations

import argparse
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hunter_cost import costs
from hunter_live import live
from lycosa.config import Config, JudgeSettings
from lycosa.judge_choice import judge_of
from lycosa.judges.contrast.judge import ContrastJudge, ContrastSettings, ContrastStudy
from lycosa.judges.meaning import Vector, cosine, vector_of
from lycosa.judges.protocol import Judge
from lycosa.lab.evaluate.significance import holm, wilcoxon
from lycosa.lab.generated.vocabulary import TOPICS
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.look_ahead import LookAhead
from lycosa.lab.replay.oracle import Oracle
from lycosa.lab.replay.replay import JudgedWorld, Track, replay
from lycosa.lab.replay.tasks import Task, make_task, split_topics
from lycosa.lab.worlds.build import build, build_generated
from lycosa.lab.worlds.world import World
from lycosa.lib.near_duplicates import NearDuplicates
from lycosa.model import Judgement, Page
from lycosa.strategies.hunter.hunter import review_interval
from lycosa.strategies.hunter.notes import Digest, digest
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy
from lycosa.workspace import Workspace
from one_subject import SUBJECTS, one_subject, topics_of
from sparse_webs import PLANS as SPARSE
from sparse_webs import THINNED, thinned
from table import table

ONE_SUBJECT = "one subject: "
ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared")
LEAST_PAGES, FRESH_LEAST_PAGES = 30, 15
"""Of a topic of the halves, and of a fresh one, which has fewer than those."""
SEEDS = 5
RANDOMS = 2
OTHERS = ("best-first", "breadth-first", "shark", "evolved", "pagerank", "infospiders")
ABLATIONS: dict[str, dict[str, Any]] = {
    "without citing pages": {"hunter.has_pages": False},
    "without link texts": {"hunter.has_text": False},
    "without URLs": {"hunter.has_urls": False},
    "without hosts and folders": {"hunter.has_places": False},
    "without home pages": {"hunter.home_pages": False},
    "without learning weights": {"hunter.freedom": 0.0},
}
NO_NEGATIVES = "without the judge's negatives"
NO_MEANING = "without meaning"
FIXED_HUNTER, LEARNING_BEST_FIRST = "hunter, fixed judge", "best-first, learning judge"
ABLATED_TOPICS = 10
PLANS = {
    "generated": WebPlan(seed=11, pages=6_000, hosts=240, topics=10, out_degree=12),
    "generated anew": WebPlan(seed=2029, pages=9_000, hosts=600, topics=24, out_degree=20),
    **SPARSE,
}


def _large(world: World) -> list[str]:
    return [topic for topic in world.topics if len(world.pages_of(topic)) >= LEAST_PAGES]


def _half(world: World, *, number: int) -> list[str]:
    return split_topics(_large(world))[number]


def _small(world: World) -> list[str]:
    """Topics that are too small for the halves, and not known from them as part of a larger one."""
    is_known = np.zeros(len(world), np.bool_)
    members = {topic: world.pages_of(topic) for topic in world.topics}
    for pages in members.values():
        is_known[pages] |= len(pages) >= LEAST_PAGES
    found = [
        topic
        for topic, pages in members.items()
        if FRESH_LEAST_PAGES <= len(pages) < LEAST_PAGES and is_known[pages].mean() <= 0.5
    ]
    # Not by name: the first twenty would be of a few branches.
    return sorted(found, key=lambda topic: zlib.crc32(topic.encode()))


def _made_up(world: World) -> list[str]:
    """Topics that other generated webs do not have: those written by hand are on them."""
    return sorted(set(world.topics) - {topic.name for topic in TOPICS})


def _subjects(half: str) -> dict[str, Callable[[World], list[str]]]:
    return {f"{ONE_SUBJECT}{subject}": topics_of for subject in SUBJECTS[half]}


HALVED = ("wikispeedia", "debian-docs", "generated", THINNED)
SETS: dict[str, dict[str, Callable[[World], list[str]]]] = {
    "development": {**dict.fromkeys(HALVED, partial(_half, number=0)), "sparse": _large, **_subjects("development")},
    "test": {**dict.fromkeys(HALVED, partial(_half, number=1)), "sparse, another": _large, **_subjects("test")},
    "fresh": {"wikispeedia": _small, "debian-docs": _small, "generated anew": _made_up, "sparse anew": _made_up},
}
"""By set and world: the topics to crawl for."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a crawl begins with."""

    about: str
    seeds: int
    distance: int = 0
    """Steps back from the topic's pages to the seeds. 0: the seeds are such pages, and examples."""


STARTS = {
    "examples": Start("five pages of the topic, which are seeds and examples, and its words", SEEDS),
    "one": Start("a single page of the topic, which is seed and example, and its words", 1),
    "words": Start("its words alone; seeds are five pages off the topic, two links before it at most", SEEDS, 2),
}


@dataclass(frozen=True, slots=True)
class Result:
    """One crawl's topic. By name of the order: area under the curve, pages found, hosts with one."""

    topic: str
    wanted: int
    """Pages that could be found."""
    area: dict[str, float]
    found: dict[str, float]
    hosts: dict[str, float]

    def share(self, name: str, bound: str = "oracle") -> float:
        low, high = self.area["random"], self.area[bound]
        return (self.area[name] - low) / (high - low)


class LearningJudge(Judge):
    """The hunter's study as a judge for other strategies: it learns from each page it is asked about, in one crawl."""

    name = "contrast, learning"

    def __init__(self, judge: ContrastJudge, seeds: list[int], world: World) -> None:
        self._judge = judge
        self._study = judge.study()
        self._seeds = {world.url(seed) for seed in seeds}
        self._next = 1

    def judge(self, page: Page) -> Judgement:
        host = zlib.crc32(page.url.split("/", 3)[2].encode()) + 1
        taken = Digest.from_bytes(page.digest)
        relevance = self._study.add(
            (taken.words, taken.counts), host=host, is_seed=page.url in self._seeds, meaning=taken.meaning
        )
        count = len(self._study.relevance)
        if count >= self._next:
            self._study.learn()
            relevance = float(self._study.relevance[-1])
            self._next = count + review_interval(count)
        return Judgement(relevance, relevance >= self._judge.threshold)


class Course:
    """A world, and pages read once for all crawls."""

    has_others = True
    """Whether strategies beside the hunter and best-first crawl, too."""

    def __init__(self, world: World, pages: int, start: Start = STARTS["examples"]) -> None:
        self.world = world
        self.pages = pages
        self.start = start
        self._read: dict[int, Page] = {}
        self._openings: dict[int, Vector | None] = {}
        self._digest = partial(digest, vector=ContrastJudge.fit((), "cycling").study().vector)

    def page(self, number: int) -> Page:
        known = self._read.get(number)
        if known is None:
            page = self.world.page(number)
            known = self._read[number] = replace(page, digest=self._digest(page))  # as readers do
        return known

    def reader(self, judge: ContrastJudge) -> Callable[[int], Page]:
        """Pages as readers hand them over in a crawl with this judge: the cosine with its words is in the digest."""
        meaning = judge.study().meaning
        if meaning is None:
            return self.page
        words = vector_of(meaning.words)

        def read(number: int) -> Page:
            page = self.page(number)
            if number not in self._openings:
                self._openings[number] = vector_of(page.opening)
            near = cosine(words, self._openings[number])
            return replace(page, digest=Digest.from_bytes(page.digest)._replace(meaning=near).to_bytes())

        return read

    def run(self, topic: str, repeat: int, *, has_ablations: bool) -> Result | None:
        """None: there are no such seeds, nothing can be found from them, or as much whatever the order."""
        rng = np.random.default_rng([repeat, zlib.crc32(topic.encode())])
        task = make_task(self.world, topic, distance=self.start.distance, seeds=self.start.seeds, rng=rng)
        if self.start.distance and not task.distance:  # nobody links to the topic from outside: the seeds are of it
            return None
        wanted = task.relevant & task.is_graded
        result = Result(topic, int(wanted.sum()), {}, {}, {})
        judge = self._judge(task)
        read = self.reader(judge)
        judged = JudgedWorld(self.world, judge, read=read)
        for name, kind in (("oracle", Oracle), ("look-ahead", LookAhead)):
            self._grade(result, name, judged, task, lambda found, kind=kind: kind(self.world, wanted, found))
        areas = []
        for number in range(RANDOMS):
            parts = StrategyParts(rng=np.random.default_rng([repeat, number]))
            self._grade(result, "random", judged, task, strategy("random", parts))
            areas.append(result.area["random"])
        result.area["random"] = float(np.mean(areas))
        if result.area["oracle"] - result.area["random"] < 1:
            return None
        for name, order, settings in _orders(has_ablations, self.has_others):
            parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(repeat))
            self._grade(result, name, judged, task, strategy(order, parts, settings))
        parts = replace(StrategyParts.of(judge.abilities, rng=np.random.default_rng(repeat)), study=None)
        self._grade(result, FIXED_HUNTER, judged, task, strategy("hunter", parts))
        parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(repeat))
        learning = JudgedWorld(self.world, LearningJudge(judge, task.seeds.tolist(), self.world), read=read)
        self._grade(result, LEARNING_BEST_FIRST, learning, task, strategy("best-first", parts))
        if self.start.distance and judge.study().meaning is not None:
            parts = StrategyParts.of(self._judge(task, meaning="off").abilities, rng=np.random.default_rng(repeat))
            self._grade(result, NO_MEANING, judged, task, strategy("hunter", parts))
        if has_ablations and not self.start.distance:  # where there are no examples, the setting means nothing
            study = partial(ContrastStudy, judge.study().topic, ContrastSettings(negative_pages=1e9))
            parts = replace(StrategyParts.of(judge.abilities, rng=rng), study=study)
            self._grade(result, NO_NEGATIVES, judged, task, strategy("hunter", parts))
        return result

    def _judge(self, task: Task, meaning: str = "auto") -> ContrastJudge:
        if not self.start.distance:
            return ContrastJudge.fit([self.page(int(seed)) for seed in task.seeds], task.keywords)
        config = Config(topic=task.keywords, strategy="hunter", judge=JudgeSettings(meaning=meaning))
        judge = judge_of(config, Workspace(Path()))  # nothing is written there
        assert isinstance(judge, ContrastJudge), judge
        return judge

    def _grade(self, result: Result, name: str, judged: JudgedWorld, task: Task, order: Any) -> None:
        self.record(result, name, replay(judged, order, task.seeds.tolist(), pages=self.pages), task)

    def record(self, result: Result, name: str, track: Track, task: Task) -> None:
        visited = np.array(track.pages)
        is_found = (task.relevant & task.is_graded)[visited]
        is_found &= _is_new(self.world.fingerprints[visited])
        fetches = np.array(track.fetches)
        is_found &= fetches <= self.pages
        curve = np.cumsum(np.bincount(fetches[is_found] - 1, minlength=self.pages))
        result.area[name] = float(curve.mean())
        result.found[name] = float(curve[-1])
        result.hosts[name] = float(len(np.unique(self.world.host_of[visited[is_found]])))


def _orders(has_ablations: bool, has_others: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield "hunter", "hunter", {}
    for name in OTHERS if has_others else OTHERS[:1]:
        yield name, name, {}
    for name, settings in ABLATIONS.items() if has_ablations else ():
        yield name, "hunter", settings


def _is_new(prints: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which pages say something that no earlier one says."""
    texts = NearDuplicates()
    return np.array([texts.add(text) for text in prints.tolist()])


def report(title: str, results: list[Result]) -> str:
    names = [
        name
        for name in ("hunter", FIXED_HUNTER, LEARNING_BEST_FIRST, *OTHERS, NO_MEANING, *ABLATIONS, NO_NEGATIVES)
        if any(name in r.area for r in results)
    ]
    rows, p_values = [], []
    for name in names:
        known = [result for result in results if name in result.area]
        shares, hunter = _by_topic(known, name), _by_topic(known, "hunter")
        p_values.append(wilcoxon(shares - hunter).p)
        rows.append(
            [
                name,
                f"{shares.mean():.3f} ± {_error(shares):.3f}",
                f"{_by_topic(known, name, 'look-ahead').mean():.3f}",
                "" if name == "hunter" else f"{(shares - hunter).mean():+.3f} ± {_error(shares - hunter):.3f}",
                f"{np.mean([result.found[name] for result in known]):.1f}",
                f"{np.mean([result.found[name] / result.wanted for result in known]):.3f}",
                f"{np.mean([result.hosts[name] for result in known]):.1f}",
                f"{len(shares)} / {len(known)}",
            ]
        )
    for row, p in zip(rows[1:], holm(p_values[1:]), strict=True):
        row.insert(4, f"{p:.3f}")
    rows[0].insert(4, "")
    head = (title, "to oracle", "to look-ahead", "against hunter", "p", "found", "recall", "hosts", "topics / crawls")
    return table(head, rows)


def _by_topic(results: list[Result], name: str, bound: str = "oracle") -> NDArray[np.float64]:
    """The mean share of each topic."""
    topics: dict[str, list[float]] = {}
    for result in results:
        topics.setdefault(result.topic, []).append(result.share(name, bound))
    return np.array([np.mean(shares) for shares in topics.values()])


def _error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def worlds(
    is_quick: bool, half: str = "test", *, has_special: bool = False
) -> Iterator[tuple[str, Callable[[], World]]]:
    out = ROOT / "out"
    out.mkdir(exist_ok=True)
    for name in SETS[half]:
        if not has_special and (name in SPARSE or name == THINNED or name.startswith(ONE_SUBJECT)):
            continue
        if name.startswith(ONE_SUBJECT):
            subject = name.removeprefix(ONE_SUBJECT)
            if (SHARED / "worlds" / "wikispeedia").exists():
                built = out / f"one-subject-{subject}.world"
                yield name, partial(one_subject, SHARED / "worlds" / "wikispeedia", subject, built)
            continue
        source = "wikispeedia" if name == THINNED else name
        shared, path = SHARED / "worlds" / source, out / f"{source}.world"
        if plan := PLANS.get(name):
            if is_quick:
                plan = replace(plan, pages=plan.pages // 3, hosts=plan.hosts // 3)
            file = f"hunter-{name.replace(',', '').replace(' ', '-')}-{plan.pages}.world"
            yield name, partial(_generated, out / file, plan)
        elif path.exists() or (shared / "pages.warc.gz").exists():
            yield name, partial(_opened, shared, path, is_thinned=name == THINNED)
        else:
            print(f"{name} is left out: there is no {shared}")


def _opened(shared: Path, path: Path, *, is_thinned: bool = False) -> World:
    if not path.exists():
        build([shared / "pages.warc.gz"], shared / "labels.tsv", path)
    return thinned(path) if is_thinned else World.open(path)


def _generated(path: Path, plan: WebPlan) -> World:
    if not path.exists():
        build_generated(GeneratedWeb(plan), path)
    return World.open(path)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is crawled."""

    topics: int
    """Of each world, at most."""
    repeats: int
    pages: int
    has_others: bool = True
    """Strategies beside the hunter and best-first, and the hunter without one thing each."""


def measure(name: str, opened: Callable[[], World], half: str, start: str, extent: Extent) -> tuple[str, list[Result]]:
    """What was crawled for, in words; and what was found."""
    world = opened()
    known = SETS[half][name](world)
    topics = known[: extent.topics]
    pages = min(extent.pages, len(world) // 2) if name.startswith(ONE_SUBJECT) else extent.pages
    course, results = Course(world, pages, STARTS[start]), []
    course.has_others = extent.has_others
    for at, topic in enumerate(topics):
        for repeat in range(extent.repeats):
            if result := course.run(topic, repeat, has_ablations=extent.has_others and at < ABLATED_TOPICS):
                results.append(result)
        print(f"  {name}: {topic} ({at + 1} of {len(topics)})", file=sys.stderr, flush=True)
    about = _described(name, world, half, topics, len(known))
    if without := len(topics) * extent.repeats - len(results):
        about += f" {without} crawls do not count: no page off the topic leads there, or any order finds as much."
    return about, results


def _described(name: str, world: World, half: str, topics: list[str], known: int) -> str:
    pages, hosts = np.count_nonzero(world.statuses == 200), len(np.unique(world.host_of))
    web = f"{pages:,} pages on {hosts:,} hosts" if hosts > 1 else f"{pages:,} pages on one host"
    sizes = [len(world.pages_of(topic)) for topic in topics or world.topics]
    if not topics:
        return f"{name} ({web}) is left out: there are no {half} topics, all have {min(sizes)} pages or more."
    return f"{name} ({web}): {len(topics)} of {known} {half} topics, with {min(sizes)} to {max(sizes)} pages."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--half", choices=SETS, default="test", help="which topics, see above (default: test)")
    parser.add_argument(
        "--start", choices=STARTS, default="examples", help="what a crawl begins with, see above (default: examples)"
    )
    parser.add_argument("--topics", type=int, default=20, help="of each world")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--judges", action="store_true", help="the hunter and best-first alone, with either judge")
    parser.add_argument("--world", default="", help="one world alone")
    parser.add_argument("--only", choices=("quality", "cost", "live"), default="", help="one part")
    given = parser.parse_args()
    if given.only in ("", "quality"):
        extent = (
            Extent(2, 1, 150) if given.quick else Extent(given.topics, given.repeats, given.pages, not given.judges)
        )
        print(f"A crawl of {extent.pages} pages begins with {STARTS[given.start].about}.\n", flush=True)
        with ProcessPoolExecutor(2) as pool:
            parts = [
                (name, pool.submit(measure, name, opened, given.half, given.start, extent))
                for name, opened in worlds(given.quick, given.half, has_special=True)
                if given.world in ("", name)
            ]
            for name, part in parts:
                about, results = part.result()
                print(about)
                if results:
                    print(report(f"{name}, {given.half}, {given.start}", results))
                print(flush=True)
    if given.only in ("", "cost"):
        sizes = (3_000, 10_000) if given.quick else (10_000, 100_000, 300_000, 1_000_000, 3_000_000)
        print(costs(sizes), "\n", flush=True)
    if given.only in ("", "live"):
        print(live(is_quick=given.quick))


if __name__ == "__main__":
    main()
