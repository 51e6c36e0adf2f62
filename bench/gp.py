"""What an evolved similarity costs: the evidence, the evolution, and judging a page by it.

    make bench-gp                              python bench/gp.py evidence         for one of the three alone

evidence     all six kinds between each two of 5,000 documents, next to scikit-learn's cosine_similarity of the same
             bodies, which is one of the six
evolution    30 generations of 100 similarities on 2,000 examples, as `lycosa topics train --judge gp-knn` does once for
             each fold, next to the same without a cache of sub-trees
judging      one page after the other against 5,000 examples, as a crawl does, next to the judge knn, which has one
             kind of evidence and looks up no more than 40 words of a page

Documents are posts of 20newsgroups where they are here; otherwise words drawn by Zipf's law. CPU time; memory is the
peak of a process of its own, with everything it imports.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from lycosa.judges.classifier import Example
from lycosa.judges.gp.evidence import EvidenceIndex
from lycosa.judges.gp.fields import EVIDENCE, title_and_body
from lycosa.judges.gp.judge import GpKnnClassifier, GpKnnSettings
from lycosa.judges.gp.learning import NoCheckpoints, Parts, SimilarityLearning, run_generations, tell_nobody
from lycosa.judges.knn import KnnClassifier
from lycosa.judges.labels import Labels
from lycosa.lib.gp.evolution import ProgramSettings
from lycosa.lib.gp.trees import Expression
from lycosa.lib.text import term_counts
from lycosa.model import Page
from table import ratio, table

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared")
EXAMPLES, EVOLVED_ON, JUDGED = 5_000, 2_000, 300
FORMULA = "body_cosine * sqrt(body_okapi) + body_cosine * (title_okapi + body_bag) + title_cosine / (1 + title_bag)"
"""For judging: all six kinds of evidence, as large as those that evolve."""
MOST_SECONDS, MOST_BYTES, MOST_MILLISECONDS, MOST_EVOLUTION = 60.0, 3e9, 5.0, 300.0


def documents(count: int) -> list[Example]:
    """Distinct ones."""
    found: dict[str, Example] = {}
    path = SHARED / "texts" / "20newsgroups.jsonl.gz"
    source = _posts(path) if path.exists() else _drawn(2 * count)
    order = np.random.default_rng(1).permutation(len(source))
    for at in order.tolist():
        title, text, topic = source[at]
        terms = term_counts(f"{title}\n{text}")
        if terms:
            page = Page(f"http://a.test/{at}", title=title, text=text, terms=terms)
            found.setdefault(f"{title}\n{text}", Example(page, (topic,)))
        if len(found) == count:
            break
    return list(found.values())


def _posts(path: Path) -> list[tuple[str, str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [(each["title"], each["body"], each["labels"][0]) for each in map(json.loads, lines)]


def _drawn(count: int) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(2)
    found = []
    for number in range(count):
        topic = number % 20
        words = rng.zipf(1.3, rng.integers(40, 400)) % 50_000 + 50_000 * (rng.random() < 0.2) * topic
        named = [f"word{word}" for word in words.tolist()]
        found.append((" ".join(named[:5]), " ".join(named[5:]), f"topic{topic}"))
    return found


def evidence() -> dict[str, float]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    pages = [example.page for example in documents(EXAMPLES)]
    began = process_time()
    index = EvidenceIndex.fit(pages)
    indexed = process_time()
    found = index.rows(index.matrices, index.matrices)
    seconds = process_time()
    assert len(found) == len(EVIDENCE)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    vectoriser = TfidfVectorizer(analyzer=lambda terms: [t for t, count in terms.items() for _ in range(count)])
    vectors = vectoriser.fit_transform(title_and_body(page)[1] for page in pages)
    peer = process_time()
    cosine_similarity(vectors)
    return {"index": indexed - began, "seconds": seconds - indexed, "peak": peak, "peer": process_time() - peer}


def evolution() -> dict[str, float]:
    index, by_class = _indexed(documents(EVOLVED_ON))
    learning = SimilarityLearning(program=ProgramSettings(population=100, generations=30))
    began = process_time()
    parts = Parts(index, by_class, learning)
    parts.training(Expression("body_cosine"))  # compiles, or loads what was compiled
    warm = process_time()
    fitness = parts.training
    evaluations = fitness.evaluations
    last = run_generations(fitness, learning, NoCheckpoints(), "", tell_nobody)
    seconds = process_time() - warm
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    evaluations = fitness.evaluations - evaluations
    without = Parts(index, by_class, replace(learning, cache_bytes=0)).training
    began_peer = process_time()
    run_generations(without, learning, NoCheckpoints(), "", tell_nobody)
    return {
        "seconds": seconds,
        "evaluations": evaluations,
        "best": last.fitness[0],
        "peak": peak,
        "peer": process_time() - began_peer,
        "preparing": warm - began,
    }


def judging() -> dict[str, float]:
    found = documents(EXAMPLES + JUDGED)
    known, asked = found[:EXAMPLES], [example.page for example in found[EXAMPLES:]]
    topics = tuple({topic for example in found for topic in example.topics})
    ours = GpKnnClassifier(GpKnnSettings(formula=FORMULA)).fit(known, topics)
    ours = GpKnnClassifier.load(ours.save())
    times = [_timed(ours.posteriors, page) for page in asked]
    nearest = KnnClassifier().fit(known, topics)
    peer = [_timed(nearest.posteriors, page) for page in asked]
    return {"mean": float(np.mean(times)), "most": float(np.quantile(times, 0.99)), "peer": float(np.mean(peer))}


def _indexed(examples: list[Example]) -> tuple[EvidenceIndex, Any]:
    labels = Labels(tuple({topic for example in examples for topic in example.topics}))
    kept = [example.page for example in examples if labels.add(example.page, example.topics)]
    return EvidenceIndex.fit(kept), labels.by_class(labels.classes())


def _timed(judge: Callable[[Page], object], page: Page) -> float:
    """Milliseconds of CPU."""
    began = process_time()
    judge(page)
    return (process_time() - began) * 1000


PARTS: dict[str, Callable[[], dict[str, float]]] = {"evidence": evidence, "evolution": evolution, "judging": judging}


def measured(part: str) -> dict[str, float]:
    """In a process of its own."""
    done = subprocess.run([sys.executable, __file__, part, "--json"], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def rows_of(part: str, found: dict[str, float]) -> list[tuple[str, ...]]:
    def row(what: str, value: float, unit: str, bound: float, peer: str = "") -> tuple[str, ...]:
        return what, f"{value:,.2f} {unit}", f"{bound:g} {unit}", "yes" if value <= bound else "NO", peer

    memory = ("memory at its peak", found.get("peak", 0) / 1e9, "GB", MOST_BYTES / 1e9)
    if part == "evidence":
        seconds = found["index"] + found["seconds"]
        peer = f"{ratio(seconds, found['peer'])} cosine_similarity ({found['peer']:.2f} s)"
        return [row(f"evidence of {EXAMPLES:,} × {EXAMPLES:,} × 6", seconds, "s", MOST_SECONDS, peer), row(*memory)]
    if part == "evolution":
        peer = f"{ratio(found['peer'], found['seconds'])} without cached sub-trees ({found['peer']:.1f} s)"
        what = f"evolution, 100 × 30 on {EVOLVED_ON:,} ({found['evaluations']:,.0f} tried)"
        return [row(what, found["seconds"], "s", MOST_EVOLUTION, peer), row(*memory)]
    peer = f"{ratio(found['mean'], found['peer'])} judge knn ({found['peer']:.2f} ms)"
    what = f"judging a page against {EXAMPLES:,}"
    return [
        row(what, found["mean"], "ms", MOST_MILLISECONDS, peer),
        row(f"{what}, 99 % of pages", found["most"], "ms", MOST_MILLISECONDS),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=list(PARTS), help="default: all")
    parser.add_argument("--json", action="store_true", help="the raw figures of one part")
    options = parser.parse_args()
    if options.json:
        print(json.dumps(PARTS[options.part or "evidence"]()))
        return
    rows = [row for part in ([options.part] if options.part else PARTS) for row in rows_of(part, measured(part))]
    print(table(["what", "CPU or memory", "at most", "kept", "next to"], rows))


if __name__ == "__main__":
    main()
