"""How well a trained judge orders links by their anchors, each judge's short texts beside the same words as a page.

make bench-judges                                  python bench/short_texts.py --only bayes

Of wikispeedia's labelled pages seven in ten are examples (by a hash of their URL, as in judges.py). Every distinct pair
of an anchor and a labelled page it leads to is one case; it is true for a topic if the page is under it. By topic, the
AUC of the scores that strategies see (`JudgeAbilities.similarity`): the probability that an anchor that leads to the
topic scores higher than one that does not, ties counting half. Means over topics with enough anchors, development and
test topics apart: they are divided by their top-level subject, and constants were chosen on the former alone.

    unseen    anchors that lead to pages the judge has not learned from
    seen      anchors that lead to its examples
    ECE       expected calibration error of the judge's values for unseen anchors, all topics together
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from judges import JUDGES, ROOT, SHARED, is_example
from lycosa.judges.calibration import expected_calibration_error
from lycosa.judges.classifier import Classifier, Example, with_ancestors
from lycosa.judges.topic_judges import short_page
from lycosa.lab.worlds.build import build
from lycosa.lab.worlds.world import World
from lycosa.model import Page
from table import table

LEAST_ANCHORS = 20
"""Minimum number of unseen anchors that lead to a topic."""
LEAST_AUC = 0.85
"""Aim of the default judge on unseen anchors of test topics."""
HEAD = ["judge", "anchors as", "dev unseen", "dev seen", "test unseen", "test seen", "ECE", "µs"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Anchors:
    """Short texts, and by topic whether the page behind the link is under it."""

    pages: list[Page]
    truth: dict[str, Bools]


def opened() -> World | None:
    folder, path = SHARED / "worlds" / "wikispeedia", ROOT / "out" / "wikispeedia.world"
    if not path.exists():
        if not (folder / "pages.warc.gz").exists():
            print(f"skipped: {folder / 'pages.warc.gz'} is not there")
            return None
        path.parent.mkdir(exist_ok=True)
        build([folder / "pages.warc.gz"], folder / "labels.tsv", path)
    return World.open(path)


def examples_of(world: World) -> list[Example]:
    return [
        Example(Page(world.url(page), title=world.title(page), terms=world.terms(page)), tuple(topics))
        for page in range(len(world))
        if (topics := world.topics_of(page)) and is_example(world.url(page))
    ]


def anchors_of(world: World, topics: Sequence[str], *, are_seen: bool) -> Anchors:
    labelled = {page for page in range(len(world)) if world.topics_of(page)}
    wanted = {page for page in labelled if is_example(world.url(page)) == are_seen}
    edges = np.flatnonzero(np.isin(world.link_targets, list(wanted)))
    pairs = sorted({(world.anchor(edge), int(world.link_targets[edge])) for edge in edges.tolist()})
    pairs = [pair for pair in pairs if pair[0].strip()]
    under = {page: set(with_ancestors(world.topics_of(page))) for page in wanted}
    truth = {topic: np.array([topic in under[page] for _, page in pairs]) for topic in topics}
    return Anchors([short_page(anchor) for anchor, _ in pairs], truth)


def is_development(topic: str) -> bool:
    return bool(zlib.crc32(topic.split("/")[0].encode()) % 2)


def auc(scores: Floats, truth: Bools) -> float:
    positive, negative = int(truth.sum()), int((~truth).sum())
    if not positive or not negative:
        return float("nan")
    return float((rankdata(scores)[truth].sum() - positive * (positive + 1) / 2) / (positive * negative))


def measured(
    name: str, manner: str, judge: Classifier, ask: Callable[[Page], Floats], sets: Sequence[Anchors]
) -> list[str]:
    """A row of the table. Scores are what `score_text` makes of the values: what exceeds an empty text's."""
    column = {topic: at for at, topic in enumerate(judge.topics_)}
    began = process_time()
    values = [np.array([ask(page) for page in anchors.pages]) for anchors in sets]
    microseconds = (process_time() - began) / sum(len(anchors.pages) for anchors in sets) * 1e6
    empty = ask(Page(""))
    cells = []
    for wanted in (True, False):
        for anchors, found in zip(sets, values, strict=True):
            of_topics = [
                auc(np.maximum(found[:, column[topic]] - empty[column[topic]], 0.0), truth)
                for topic, truth in anchors.truth.items()
                if is_development(topic) is wanted
            ]
            cells.append(f"{np.nanmean(of_topics):.3f}")
    unseen, columns = sets[0], [column[topic] for topic in sets[0].truth]
    error = expected_calibration_error(values[0][:, columns], np.stack(list(unseen.truth.values()), axis=1))
    return [name, manner, *cells, f"{error:.4f}", f"{microseconds:,.0f}"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--only", default="", help="Only this judge.")
    only = options.parse_args().only
    world = opened()
    if world is None:
        return
    examples = examples_of(world)
    every = with_ancestors({topic for example in examples for topic in example.topics})
    unseen = anchors_of(world, every, are_seen=False)
    topics = [topic for topic in every if unseen.truth[topic].sum() >= LEAST_ANCHORS]
    unseen = Anchors(unseen.pages, {topic: unseen.truth[topic] for topic in topics})
    sets = [unseen, anchors_of(world, topics, are_seen=True)]
    development = sum(map(is_development, topics))
    print(
        f"{len(examples):,} examples; {len(sets[0].pages):,} unseen anchors, {len(sets[1].pages):,} seen; "
        f"{development} development topics, {len(topics) - development} test topics"
    )
    rows = []
    for name in (only,) if only else ("bayes", "svm"):
        print(f"  {name} …", end="\r", file=sys.stderr, flush=True)
        judge = JUDGES[name]().fit(examples, every)
        rows.append(measured(name, "pages: posteriors", judge, judge.posteriors, sets))
        rows.append(measured(name, "pages: memberships", judge, judge.memberships, sets))
        if judge.short_texts is not None:
            rows.append(measured(name, "short texts", judge, judge.short_texts, sets))
            vowels = dict(zip(judge.topics_, judge.short_texts(short_page("vowels")).tolist(), strict=True))
            best = max(vowels, key=lambda topic: vowels[topic])
            print(f"“vowels”: {best} {vowels[best]:.2f}, Religion {vowels['Religion']:.2f}")
    print(table(HEAD, rows))
    reached = max(float(row[4]) for row in rows if row[0] == rows[0][0])
    print(f"test topics, unseen: {reached:.3f}; {'as aimed' if reached >= LEAST_AUC else 'SHORT OF THE AIM'}")


if __name__ == "__main__":
    main()
