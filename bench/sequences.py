"""The pages every strategy visits, in order, recorded and compared: a refactoring keeps them bit for bit.

    make sequences                            # compare with bench/sequences.json, about five minutes
    python bench/sequences.py --record        # after a change that is meant to alter crawls: record them anew
    python bench/sequences.py --record --only hunter

Replays of 800 pages on a generated web and, where they are at hand, on two recorded ones; two topics each, with and
without a limit on waiting links, under each kind of judge. A crawl is recorded as the number of pages visited and a
digest of their numbers and of the relevance they were given.

The last digits of a sum depend on the processor, so a recording is compared only where it was made or on a machine of
the same kind; elsewhere, record at the older commit first.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.formula import parse
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.topic_judges import FormulaJudge, TopicJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.tasks import make_task
from lycosa.lab.replay.trained_judges import draw_examples, train
from lycosa.lab.worlds.build import build, build_generated
from lycosa.lab.worlds.world import World
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

ROOT = Path(__file__).resolve().parents[1]
RECORDED = Path(__file__).with_suffix(".json")
PAGES = 800
BUFFERS = (None, 256)
TOPICS = 2
LEAST_PAGES = 30

WITH_KEYWORDS = (
    "breadth-first",
    "random",
    "best-first",
    "best-first-16",
    "shark",
    "shark-16",
    "fish",
    "evolved",
    "ga2003",
    "ariadne",
    "pagerank",
    "infospiders",
    "infospiders-no-learning",
    "infospiders-no-evolution",
    "infospiders-neither",
    "hunter",
    "hard+best-first",
    "decay+breadth-first",
    "decay-lenient+best-first",
    "current-list+evolved",
)
WITH_CONTRAST = ("hunter", "best-first", "hard+hunter", "decay+hunter")
WITH_TOPICS = ("best-first", "hunter", "hard+best-first", "tunnel+ariadne", "tunnel+best-first", "hard+tunnel+ariadne")
GENERATED = WebPlan(seed=11, pages=6_000, hosts=240, topics=10, out_degree=12)


def worlds() -> Iterator[tuple[str, World]]:
    """The generated web, and the recorded ones that are here."""
    out = ROOT / "out"
    out.mkdir(exist_ok=True)
    path = out / "sequences.world"
    if not path.exists():
        build_generated(GeneratedWeb(GENERATED), path, is_rendered=True)
    yield "generated", World.open(path)
    shared = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared") / "worlds"
    for name in ("wikispeedia", "debian-docs"):
        source, path = shared / name, out / f"{name}.world"
        if not (source / "pages.warc.gz").exists():
            print(f"{name} is not in {shared}: left out", file=sys.stderr)
            continue
        if not path.exists():
            build([source / "pages.warc.gz"], source / "labels.tsv", path)
        yield name, World.open(path)


def crawls(name: str, world: World) -> Iterator[tuple[str, Callable[[], str]]]:
    """Each crawl's name, and how to make it."""
    fitting = [topic for topic in world.topics if len(world.pages_of(topic)) >= LEAST_PAGES]
    examples = draw_examples(world, per_topic=10, seed=1)
    classifier = train(world, examples, kind="bayes")
    known = sorted(set(fitting) & set(examples.topics), key=lambda topic: zlib.crc32(topic.encode()))
    for at, topic in enumerate(known[:TOPICS]):
        task = make_task(world, topic, distance=0, seeds=5, rng=np.random.default_rng(at))
        other = known[at + TOPICS]
        pages = [world.page(page) for page in task.seeds.tolist()]
        judges: list[tuple[str, Any, tuple[str, ...]]] = [
            ("keywords", KeywordJudge(task.keywords), WITH_KEYWORDS),
            ("contrast", ContrastJudge.fit(pages, task.keywords), WITH_CONTRAST),
            ("words", ContrastJudge.fit((), task.keywords, learns_from_seeds=True, seeds_must_fit=True), WITH_CONTRAST),
            ("topic", TopicJudge(classifier, [topic]), WITH_TOPICS),
            ("formula", FormulaJudge(classifier, parse(f'"{topic}" OR "{other}"'), threshold=0.2), WITH_TOPICS),
        ]
        for judge_name, judge, names in judges:
            judged = JudgedWorld(world, judge)
            for chosen in names:
                for buffer in BUFFERS:
                    key = f"{name} | {topic} | {judge_name} | {chosen} | {buffer or 'no limit'}"
                    yield key, partial(crawl, judged, judge, chosen, buffer, task.seeds.tolist())


def crawl(judged: JudgedWorld, judge: Any, name: str, buffer: int | None, seeds: list[int]) -> str:
    parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(3), buffer=buffer)
    track = replay(judged, strategy(name, parts), seeds, pages=PAGES, buffer=buffer)
    columns = (np.array(track.pages, np.int64), np.array(track.relevance), np.array(track.distance, np.int64))
    digest = hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()[:16]
    return f"{len(track.pages)} {digest}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--record", action="store_true", help="Write bench/sequences.json instead of comparing.")
    options.add_argument("--world", default="", help="Only this world.")
    options.add_argument(
        "--only", default="", metavar="STRATEGY", help="Only strategies of this name; --record leaves the others alone."
    )
    given = options.parse_args()
    recorded: dict[str, str] = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    found: dict[str, str] = {}
    differing: list[str] = []
    began = time.monotonic()
    for name, world in worlds():
        if given.world not in ("", name):
            continue
        for key, run in crawls(name, world):
            if given.only not in key.split(" | ")[3]:
                continue
            found[key] = run()
            if not given.record and recorded.get(key) != found[key]:
                differing.append(key)
                print(f"differs: {key}: recorded {recorded.get(key)}, now {found[key]}", flush=True)
        print(f"{name}: {len(found)} crawls, {time.monotonic() - began:.0f} s", flush=True)
    if given.record:
        kept = recorded if given.only or given.world else {}
        RECORDED.write_text(
            json.dumps(kept | found, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        print(f"recorded {len(found)} crawls in {RECORDED.relative_to(ROOT)}")
        return
    print(f"{len(found) - len(differing)} of {len(found)} crawls are as recorded")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
