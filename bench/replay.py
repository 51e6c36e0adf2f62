"""How fast a crawl is replayed: best-first on a recorded web, on one core, and where the time goes.

make bench-replay
"""

from __future__ import annotations

import cProfile
import os
import pstats
import resource
import time
from pathlib import Path

import numpy as np

from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.worlds.build import build, build_generated
from lycosa.lab.worlds.world import World
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy
from table import table

ROOT = Path(__file__).resolve().parents[1]
AIM = 10_000
PAGES = 1_000
CRAWLS = 10


def find_world() -> tuple[str, World, str]:
    """wikispeedia where it is at hand, else a generated web of the same size."""
    shared = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared") / "worlds" / "wikispeedia"
    out = ROOT / "out"
    out.mkdir(exist_ok=True)
    if (shared / "pages.warc.gz").exists():
        path = out / "wikispeedia.world"
        if not path.exists():
            build([shared / "pages.warc.gz"], shared / "labels.tsv", path)
        return "wikispeedia", World.open(path), "science biology birds"
    path = out / "generated.world"
    web = GeneratedWeb(WebPlan(pages=5_000, hosts=1, out_degree=27))
    if not path.exists():
        build_generated(web, path, is_rendered=True)
    return "generated", World.open(path), web.topic_keywords(0)


def measure(judged: JudgedWorld, judge: KeywordJudge, name: str, buffer: int | None) -> tuple[float, float]:
    """Visits a second, and the strategy's own µs a visit, over several crawls with everything judged already."""
    rng = np.random.default_rng(1)
    visits, spent, own = 0, 0.0, 0.0
    for number in range(CRAWLS + 3):
        seeds = rng.choice(len(judged.world), 10, replace=False).tolist()
        parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(number), buffer=buffer)
        began = time.process_time()
        track = replay(judged, strategy(name, parts), seeds, pages=PAGES, buffer=buffer)
        if number >= 3:  # the first crawls read and judge pages; later ones find them judged
            spent += time.process_time() - began
            visits += len(track.pages)
            own += track.cpu[-1]
    return visits / spent, own / visits * 1e6


def main() -> None:
    name, world, topic = find_world()
    judge = KeywordJudge(topic)
    began = time.process_time()
    judged = JudgedWorld(world, judge)
    for page in range(len(world)):
        if not world.is_redirect(page):
            judged.visit(page)
    judging = (time.process_time() - began) / len(world) * 1e6
    print(f"{name}: {len(world):,} pages, crawls of {PAGES:,} pages; judging a page once: {judging:.0f} µs")
    rows = []
    for chosen in ("best-first", "breadth-first", "best-first-256", "shark", "pagerank", "infospiders"):
        for buffer in (None, 2048, 256):
            speed, own = measure(judged, judge, chosen, buffer)
            size = "no limit" if buffer is None else str(buffer)
            bound = f"{speed / AIM:.2f}×" if chosen == "best-first" else ""
            rows.append([chosen, size, f"{speed:,.0f}", f"{own:.0f}", bound])
    print(table(["strategy", "buffer", "visits/s a core", "strategy's own µs", f"of the aim ({AIM:,}/s)"], rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MB (aim: under 2,000)")
    print("\nwhere the time of best-first goes (profiled, so slower than above):")
    profile = cProfile.Profile()
    seeds = list(range(10))
    profile.enable()
    replay(
        judged,
        strategy("best-first", StrategyParts.of(judge.abilities, rng=np.random.default_rng(0))),
        seeds,
        pages=PAGES,
    )
    profile.disable()
    pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(12)


if __name__ == "__main__":
    main()
