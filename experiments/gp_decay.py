"""The decay experiments of paper GP (section 4 and figures 2 and 4 of section 5) on recorded webs.

    make reproduce-gp            all of it: a few minutes on two cores
    make reproduce-gp QUICK=1    fewer topics and pages: does it work

A page has a similarity to the topic and a decay. Decay is halved from link to link, set back to 1 where the similarity
is above T_r, and below T_d links are not followed; pages of similarity T_m or more are kept. A topic's crawls are kept
in out/gp-decay/ as soon as they are done. Writes docs/papers/gp-decay.md and its pictures.

The similarity here is the TF-IDF cosine to the mean of a topic's examples, one of the six kinds of evidence that the
paper's genetic programming combines; the evolved combination is the subject of gp.py.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import NOTES, Evidence, Pictures, Results, verdicts
from fc_crawls import webs

from lycosa.judges.tfidf import TermSpace, vocabulary
from lycosa.judges.topic_judges import short_page
from lycosa.lab.evaluate.curves import padded
from lycosa.lab.evaluate.pictures import Line, Plot
from lycosa.lab.evaluate.runs import Floats
from lycosa.lab.evaluate.summary import over_topics
from lycosa.lab.replay.replay import JudgedWorld, Track, replay
from lycosa.lab.replay.tasks import Task
from lycosa.lab.replay.trained_judges import draw_examples, task_from_examples
from lycosa.lab.worlds.world import World
from lycosa.model import Judgement, Page
from lycosa.strategies.table import strategy

RESULTS = Results("gp-decay")
KEPT_FROM = 0.15
"""T_m."""
NO_DECAY, LENIENT, AVERAGE, RIGID = "no decay", "lenient", "average", "rigid"
STRATEGIES = {
    RIGID: "decay-rigid+breadth-first",
    AVERAGE: "decay-average+breadth-first",
    LENIENT: "decay-lenient+breadth-first",
    NO_DECAY: "breadth-first",
}
EXAMPLES = 20
SEEDS = 10
SEED = 1
save = Pictures(RESULTS, tuple(STRATEGIES), (NO_DECAY,)).save
HOLDS = ("**holds**", "**the other way round**", "no difference shown")


class Scale(NamedTuple):
    topics: int
    pages: int
    repeats: int


FULL = Scale(topics=24, pages=3_000, repeats=2)
QUICK = Scale(topics=3, pages=300, repeats=1)
SMALLEST = 80
"""Topics with fewer pages are left out."""

Measures = Mapping[str, Mapping[str, Floats]]
"""By crawler and name: the mean over a topic's crawls."""


@dataclass(frozen=True)
class Figures:
    """What the crawls of one web gave."""

    name: str
    path: Path
    topics: Sequence[str]
    pages: int
    measures: Sequence[Measures]
    """One a topic."""

    def values(self, crawler: str, name: str) -> Floats:
        """By topic."""
        return np.array([each[crawler][name] for each in self.measures])

    def line(self, crawler: str, name: str) -> Line:
        mean, error = over_topics(self.values(crawler, name))
        return Line(crawler, mean, error)

    def mean(self, crawler: str, name: str, form: str) -> str:
        """At the end of the crawls."""
        mean, error = over_topics(self.values(crawler, name).reshape(len(self.measures), -1)[:, -1])
        return f"{mean:{form}} ± {error:{form}}"


# Crawls


class MeanJudge:
    """Similarity to a topic: TF-IDF cosine between a page and the mean of the topic's examples."""

    name = "mean"

    def __init__(self, space: TermSpace, examples: Iterator[Page]) -> None:
        self.keywords: dict[str, int] = {}
        self._space = space
        self._mean = np.zeros(len(space))
        for page in examples:
            columns, values = space.vector(page)
            self._mean[columns] += values
        self._mean /= np.linalg.norm(self._mean)

    def judge(self, page: Page) -> Judgement:
        columns, values = self._space.vector(page)
        similarity = min(1.0, float(self._mean[columns] @ values))
        return Judgement(similarity, similarity >= KEPT_FROM)

    def score_text(self, text: str) -> float:
        return self.judge(short_page(text)).relevance


@lru_cache(maxsize=1)
def _learned(path: Path) -> tuple[World, TermSpace]:
    """The words of all topics' examples, and how many of these have them."""
    world = World.open(path)
    examples = draw_examples(world, per_topic=EXAMPLES, seed=SEED).pages.tolist()
    return world, vocabulary(map(world.page, examples), words=50_000, least_words=2)


def kept_topic(job: tuple[str, Path, str, Scale]) -> Measures:
    name, _, topic, scale = job
    return RESULTS.kept(f"{name}: {topic}", f"{name} {topic} {scale.pages} {scale.repeats}", lambda: run_topic(job))


def run_topic(job: tuple[str, Path, str, Scale]) -> Measures:
    """All crawls of a topic, each repeat from other seeds."""
    path, topic, scale = job[1:]
    world, space = _learned(path)
    examples = draw_examples(world, per_topic=EXAMPLES, seed=SEED)
    judged = JudgedWorld(world, MeanJudge(space, map(world.page, examples.of(topic).tolist())))
    found: dict[str, dict[str, list[Floats]]] = {name: {} for name in STRATEGIES}
    for repeat in range(scale.repeats):
        rng = np.random.default_rng([SEED, repeat, *topic.encode()])
        task = task_from_examples(world, topic, examples, distance=0, seeds=SEEDS, rng=rng)
        for name, rule in STRATEGIES.items():
            track = replay(judged, strategy(rule), task.seeds.tolist(), pages=scale.pages)
            for measure, value in measures_of(track, task, scale.pages):
                found[name].setdefault(measure, []).append(value)
    return {name: {key: np.mean(each, axis=0) for key, each in parts.items()} for name, parts in found.items()}


def measures_of(track: Track, task: Task, pages: int) -> Iterator[tuple[str, Floats]]:
    """The topic's examples, which are given, count neither as right nor as wrong."""
    fetched = np.array(track.pages)
    is_new = task.is_graded[fetched]
    is_right = task.relevant[fetched] & is_new
    is_kept = (np.array(track.relevance) >= KEPT_FROM) & is_new
    yield "accuracy", padded(_share(is_right & is_kept, is_kept), pages)
    yield "fetched right", padded(_share(is_right, is_new), pages)
    yield "fetched similar", padded(_share(is_kept, is_new), pages)
    yield "recall", padded(np.cumsum(is_right) / len(task.targets), pages)
    waiting = np.zeros(pages)
    waiting[: len(fetched)] = track.frontier
    yield "stack", waiting
    yield "kept", np.array(float(is_kept.sum()))
    yield "peak", np.array(float(max(track.frontier)))
    yield "pages", np.array(float(len(fetched)))
    yield "ran dry", np.array(float(len(fetched) < pages))


def _share(part: np.ndarray, whole: np.ndarray) -> Floats:
    """Of those so far."""
    return np.asarray(np.cumsum(part) / np.maximum(1, np.cumsum(whole)))


def run_all(scale: Scale) -> list[Figures]:
    with multiprocessing.get_context("spawn").Pool(len(os.sched_getaffinity(0))) as pool:
        found = []
        for web in webs():
            topics = replace(web, smallest=SMALLEST).topics()[: scale.topics]
            jobs = [(web.name, web.path, topic, scale) for topic in topics]
            found.append(Figures(web.name, web.path, topics, scale.pages, pool.map(kept_topic, jobs, 1)))
        return found


# Findings


def claims(figures: Figures) -> Iterator[Evidence]:
    def ends(name: str) -> dict[str, Floats]:
        return {
            crawler: figures.values(crawler, name).reshape(len(figures.topics), -1)[:, -1] for crawler in STRATEGIES
        }

    right, kept, peak, pages = ends("fetched right"), ends("accuracy"), ends("peak"), ends("pages")
    web = f" (*{figures.name}*)"
    for better, worse in ((RIGID, AVERAGE), (AVERAGE, LENIENT)):
        said = f"{better} {right[better].mean():.4f}, {worse} {right[worse].mean():.4f}"
        says = f"{better} decay fetches fewer irrelevant pages than {worse}{web}"
        yield Evidence(
            "2", says, right[better] - right[worse], f"share of fetched pages that are relevant: {said}", HOLDS
        )
    yield Evidence(
        "2",
        f"with lenient decay half of the fetched pages are irrelevant: no more than half are{web}",
        right[LENIENT] - 0.5,
        f"{1 - right[LENIENT].mean():.0%} are irrelevant, by topic {1 - right[LENIENT].max():.0%} to "
        f"{1 - right[LENIENT].min():.0%}",
        ("**fewer**", "**more**", "neither shown"),
    )
    said = f"{RIGID} {kept[RIGID].mean():.3f}, {NO_DECAY} {kept[NO_DECAY].mean():.3f}"
    says = f"decay makes what is kept (similarity ≥ {KEPT_FROM}) more accurate{web}"
    yield Evidence("2", says, kept[RIGID] - kept[NO_DECAY], f"share of kept pages that are relevant: {said}", HOLDS)
    for better, worse in ((RIGID, AVERAGE), (AVERAGE, LENIENT)):
        said = f"{better} {peak[better].mean():,.0f}, {worse} {peak[worse].mean():,.0f}"
        says = f"{better} decay saves memory against {worse}{web}"
        yield Evidence("4", says, peak[worse] - peak[better], f"most links waiting: {said}", HOLDS)
    recall = ends("recall")
    said = f"recall {RIGID} {recall[RIGID].mean():.3f} with {pages[RIGID].mean():,.0f} pages fetched, "
    said += f"{NO_DECAY} {recall[NO_DECAY].mean():.3f} with {pages[NO_DECAY].mean():,.0f}"
    words = ("**it does**", "**it gains**", "no loss shown")
    yield Evidence(
        "–", f"not in the paper: rigid decay costs recall{web}", recall[NO_DECAY] - recall[RIGID], said, words
    )


def evidence(all_figures: Sequence[Figures]) -> list[Evidence]:
    """Finding by finding, each on every web."""
    rows = [list(claims(figures)) for figures in all_figures]
    return [claim for same in zip(*rows, strict=True) for claim in same]


# The page


def page(all_figures: Sequence[Figures], scale: Scale) -> str:
    parts = [
        HEAD.format(examples=EXAMPLES, seeds=SEEDS, repeats=scale.repeats, pages=scale.pages, kept=KEPT_FROM),
        *_worlds(all_figures),
        "\n## What holds here\n",
        "| figure | the paper's finding | here | evidence |\n|---|---|---|---|",
        *verdicts(evidence(all_figures)),
        NOTES,
        WHY,
    ]
    for figures in all_figures:
        parts += [f"\n## {figures.name}\n", *_pictures(figures), *_table(figures)]
    return "\n".join(parts) + "\n"


def _worlds(all_figures: Sequence[Figures]) -> Iterator[str]:
    yield "| web | pages | topics crawled for | pages of a topic |\n|---|---|---|---|"
    for figures in all_figures:
        world = World.open(figures.path)
        sizes = [len(world.pages_of(topic)) for topic in figures.topics]
        count = int((world.statuses < 300).sum())
        yield f"| {figures.name} | {count:,} | {len(sizes)} | {min(sizes):,} to {max(sizes):,} |"


def _pictures(figures: Figures) -> Iterator[str]:
    pages = np.arange(1, figures.pages + 1, dtype=np.float64)
    for name, metric, title, is_share in (
        ("2-fetched", "fetched right", "Figure 2: relevant by label, of the pages fetched", True),
        ("2-kept", "accuracy", f"Relevant by label, of the pages kept (similarity ≥ {KEPT_FROM})", True),
        ("4-stack", "stack", "Figure 4: links waiting", False),
    ):
        lines = [figures.line(crawler, metric) for crawler in STRATEGIES]
        plot = Plot(f"{title} ({figures.name})", "pages fetched", "", pages, lines, is_share=is_share)
        yield save(f"{name}-{figures.name}", plot)


def _table(figures: Figures) -> Iterator[str]:
    yield f"\nMean ± standard error over {len(figures.topics)} topics:\n"
    yield "| decay | pages fetched | stopped by itself (share of crawls) | kept | most links waiting | recall |"
    yield "|---|---|---|---|---|---|"
    for crawler in STRATEGIES:
        cells = [figures.mean(crawler, "pages", ",.0f"), figures.mean(crawler, "ran dry", ".2f")]
        cells += [figures.mean(crawler, name, ",.0f") for name in ("kept", "peak")]
        yield f"| {crawler} | {' | '.join([*cells, figures.mean(crawler, 'recall', '.3f')])} |"


HEAD = """# Paper GP: decay

*Focused crawling with genetic programming*: section 4 (decay) and the experiment with three reset thresholds. This
page is made by `make reproduce-gp`; its figures carry the paper's numbers. The evolved similarity has [a page of its
own](gp.md).

Crawls are breadth-first. A page begins with half of the decay of the page that links to it; a similarity above T_r sets
it back to 1; links of pages with a decay below T_d = 0.3 are not followed, so one page in a row may be off the topic.
T_r is 0.3 (rigid), 0.2 (average) or 0.1 (lenient); pages with a similarity of {kept} (T_m) and more are kept. **No
decay** is plain breadth-first. The similarity is the TF-IDF cosine between a page and the mean of up to {examples}
examples of the topic; {seeds} of the examples, drawn anew for each crawl, are its start pages. Examples count neither
as right nor as wrong. What is relevant is told by labels, not by the similarity. A crawl ends after {pages:,} pages or
when no link is left. Crawls for each topic: {repeats}. Bands and ± are one standard error over topics.
"""

WHY = """
How to read this:

- Decay works where a topic has an outside. On debian-docs every manual is a host of its own and few links leave it:
  rigid crawls stop by themselves, with nearly all there is to find and less than half of the fetches. On wikispeedia
  two or three links lead from anywhere to most pages, and on the generated web three in ten links are meant to leave
  their topic: there hardly a crawl stops, and after the same number of pages lenient crawls have fetched nearly the
  same ones as those without decay, rigid ones a little more of the topic.
- That is due to breadth-first: links are taken in the order in which they were found, and decay only keeps some from
  joining the end of the queue. So it shows in the queue's length (figure 4) long before it shows in what is fetched.
- The thresholds suit the similarity they were made for. A plain cosine to the mean of examples is above T_m for two
  thirds of the pages fetched from an encyclopedia, whatever they are about (see *kept* below), and lenient decay is
  hardly different from none. The same presets with another similarity are other presets.
- Decay alone does not keep a crawl to its topic: on wikispeedia and the generated web most of what is fetched is
  irrelevant. What strategies that choose among waiting links achieve is on the pages of papers [TC](tc.md) and
  [FC](fc.md).
- Curves of shares begin at 0, as the start pages do not count. A crawl that has stopped keeps its share; its queue is
  empty.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few topics and pages; does not touch docs/")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    RESULTS.publish(page(run_all(scale), scale), is_quick=options.quick)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; the topics that are done are kept")
