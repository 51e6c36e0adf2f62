"""Whether what a crawl says of its pages can be trusted.

    make bench-trust                              # half an hour on two cores
    python bench/trust.py --only prevalence       # a minute
    python bench/trust.py --only crawls --start words --meaning off
    python bench/trust.py --quick

prevalence   800 pages, a share of them on the topic, drawn at random and studied at once: AUC, and judged / true share
crawls       the final judgement of replayed crawls of 500 pages (fewer on webs of one subject), against labels: AUC,
             judged and true share, precision and recall of "relevant", and the calibration error (of the pages said to
             be 70 % likely, how far from 70 % are; ten bins, weighted by their pages)
demo         `lycosa demo` with 40,000 pages of 300,000, live: judged against true share after so many pages
words        two crawls of debian-docs through the whole machine, from two words each: how many pages are called
             relevant, and which share of them contains the person's words; the first also from examples

"nearness" is the relevance that guides the crawl, which was reported as the judgement before there were verdicts. Means
over topics. Topics and halves are those of bench/hunter.py; webs of one subject those of `one_subject`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hunter import PLANS, ROOT, SHARED, Course, Start, _generated, _half, _opened
from lycosa.engine import Crawl
from lycosa.fetch.warc_reader import iterate
from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.judges.meaning import UNKNOWN, Vector, cosine, is_installed, vector_of
from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.tasks import keywords, make_task
from lycosa.lab.worlds.world import World
from lycosa.lib.text import stems
from lycosa.model import Fetched, Lease
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.sqlite import SqliteStore
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy
from one_subject import SUBJECTS, one_subject, topics_of
from table import table

PREVALENCES = (0.05, 0.2, 0.5, 0.8, 0.95)
DRAWN = 800
SIZES = {"wikispeedia": (150, 800), "debian-docs": (150, 2000), "generated": (150, 2000)}
"""Of topics whose prevalence is varied, in pages."""
STARTS = {"1 example": Start("", 1), "5 examples": Start("", 5), "20 examples": Start("", 20), "words": Start("", 5, 2)}
DEMO_STEPS = (200, 500, 1000, 2000, 5000, 10_000, 15_000, 20_000, 30_000, 40_000)
WISHES = {"Debian packaging": "debian-handbook", "relational databases": "postgresql"}
"""What is looked for in debian-docs, and the host on whose first page the crawl begins."""

Values = NDArray[np.float64]


class Quality(NamedTuple):
    auc: float
    judged: float
    true: float
    precision: float
    recall: float
    calibration: float

    @classmethod
    def of(cls, said: NDArray[Any], is_true: NDArray[np.bool_], threshold: float = 0.5) -> Quality:
        is_said = said >= threshold
        hits = float((is_said & is_true).sum())
        return cls(
            _auc(said, is_true),
            float(is_said.mean()),
            float(is_true.mean()),
            hits / is_said.sum() if is_said.any() else np.nan,
            hits / is_true.sum(),
            _calibration_error(said.astype(np.float64), is_true),
        )


def _auc(said: NDArray[Any], is_true: NDArray[np.bool_]) -> float:
    from scipy.stats import rankdata

    inside, outside = int(is_true.sum()), int((~is_true).sum())
    return float((rankdata(said)[is_true].sum() - inside * (inside + 1) / 2) / (inside * outside))


def _calibration_error(said: Values, is_true: NDArray[np.bool_], bins: int = 10) -> float:
    place = np.minimum((said * bins).astype(int), bins - 1)
    gaps = [abs(said[place == at].sum() - is_true[place == at].sum()) for at in range(bins)]
    return float(sum(gaps)) / len(said)


def _mean(found: list[Quality]) -> Quality:
    return Quality(*np.nanmean(np.array(found), axis=0).tolist())


# ── prevalence ────────────────────────────────────────────────────────────────────────────────────────────


def _web(name: str) -> World:
    if name in PLANS:
        return _generated(ROOT / "out" / f"hunter-{PLANS[name].pages}.world", PLANS[name])
    if name.startswith("one subject: "):
        subject = name.partition(": ")[2]
        return one_subject(SHARED / "worlds" / "wikispeedia", subject, ROOT / "out" / f"one-subject-{subject}.world")
    return _opened(SHARED / "worlds" / name, ROOT / "out" / f"{name}.world")


def prevalence(name: str, has_meaning: bool) -> list[tuple[str, ...]]:
    """A row for each start, and for nearness and verdict."""
    web = _web(name)
    vector = ContrastJudge.fit((), "cycling").study().vector
    is_page = web.statuses == 200
    openings: dict[int, Vector | None] = {}
    found: dict[tuple[str, str, float], list[Quality]] = {}
    for topic in web.topics:
        members = web.pages_of(topic)
        if not SIZES[name][0] <= len(members) <= SIZES[name][1]:
            continue
        rng = np.random.default_rng(zlib.crc32(topic.encode()))
        drawn = rng.permutation(members)
        others = rng.permutation(np.setdiff1d(np.flatnonzero(is_page), members))
        vectors = {int(page): vector(web.terms(int(page))) for page in (*drawn, *others[:DRAWN])}
        words = vector_of(keywords(topic)) if has_meaning else None
        for page in vectors if has_meaning else ():
            if page not in openings:
                openings[page] = vector_of(web.page(page).opening)
        for share in PREVALENCES:
            inside = min(int(DRAWN * share), len(drawn) - 5)
            pages = np.concatenate([drawn[5 : 5 + inside], others[: min(DRAWN, int(inside / share)) - inside]])
            is_true = np.arange(len(pages)) < inside
            for start, given in (("5 examples", drawn[:5]), ("words", drawn[:0])):
                topic_given = ContrastJudge.fit((), keywords(topic), has_meaning=has_meaning).study().topic
                study = ContrastStudy(replace(topic_given, examples=tuple(vectors[int(page)] for page in given)))
                for page in pages.tolist():
                    near = cosine(words, openings[page]) if has_meaning else UNKNOWN
                    study.add(vectors[page], host=int(web.host_of[page]) + 1, meaning=near)
                study.learn()
                for how, said in (("nearness", study.relevance.copy()), ("verdict", study.verdicts())):
                    found.setdefault((start, how, share), []).append(Quality.of(said, is_true))
    rows = []
    for start in ("5 examples", "words"):
        for how in ("nearness", "verdict"):
            means = [_mean(found[start, how, share]) for share in PREVALENCES]
            cells = [f"{mean.auc:.2f}  {mean.judged:.2f}/{mean.true:.2f}" for mean in means]
            rows.append((f"{name}, {start}", how, *cells))
    return rows


# ── crawls ────────────────────────────────────────────────────────────────────────────────────────────────


class Judged(NamedTuple):
    web: str
    start: str
    nearness: Quality
    verdict: Quality


def crawls(name: str, half: str, limit: int, only: str = "", meaning: str = "auto") -> list[Judged]:
    web = _web(name)
    is_one_subject = name.startswith("one subject: ")
    topics = topics_of(web) if is_one_subject else _half(web, number=("development", "test").index(half))
    pages = 500 if not is_one_subject else 250 if len(web) > 400 else 120
    found = []
    for start, setup in STARTS.items():
        if only not in ("", start):
            continue
        course = Course(web, pages, setup)
        for topic in topics[:limit]:
            if len(web.pages_of(topic)) < setup.seeds + 10:
                continue
            rng = np.random.default_rng([0, zlib.crc32(topic.encode())])
            task = make_task(web, topic, distance=setup.distance, seeds=setup.seeds, rng=rng)
            if setup.distance and not task.distance:
                continue
            judge = course._judge(task, meaning)
            hunter: Any = strategy("hunter", StrategyParts.of(judge.abilities, rng=np.random.default_rng(0)))
            judged = JudgedWorld(web, judge, read=course.reader(judge))
            track = replay(judged, hunter, task.seeds.tolist(), pages=pages)
            visited = np.array(track.pages)
            counts = task.is_graded[visited]
            is_true = task.relevant[visited][counts]
            if 2 <= is_true.sum() <= len(is_true) - 2:
                hunter.study.learn()
                nearness, verdict = hunter.study.relevance.copy(), hunter.study.verdicts()
                kind = "one subject" if is_one_subject else name
                found.append(
                    Judged(kind, start, Quality.of(nearness[counts], is_true), Quality.of(verdict[counts], is_true))
                )
        print(f"  {name}, {start}", file=sys.stderr, flush=True)
    return found


def crawl_rows(found: list[Judged]) -> Iterator[tuple[str, ...]]:
    for web in dict.fromkeys(one.web for one in found):
        for start in STARTS:
            here = [one for one in found if (one.web, one.start) == (web, start)]
            if not here:
                continue
            for how in ("nearness", "verdict"):
                mean = _mean([getattr(one, how) for one in here])
                figures = (mean.auc, mean.judged, mean.true, mean.precision, mean.recall, mean.calibration)
                yield (f"{web}, {start}", how, *(f"{figure:.2f}" for figure in figures), str(len(here)))


# ── the demo ──────────────────────────────────────────────────────────────────────────────────────────────


def demo(steps: tuple[int, ...], size: int) -> Iterator[tuple[str, ...]]:
    """Judged and true share of all pages so far, after so many. The crawl is stopped there and continued."""
    plan = WebPlan(seed=7, pages=size, hosts=300, topics=10)
    web = GeneratedWeb(plan)
    topic = web.topic_names.index("cycling")
    seeds = web.seeds(topic, 3, np.random.default_rng(7))
    with tempfile.TemporaryDirectory() as folder, served(plan, addresses=100) as server:
        for step in steps:
            crawl = Crawl(
                web.topic_keywords(topic),
                seeds=[web.url(page, port=server.port) for page in seeds],
                directory=Path(folder) / "crawl",
                strategy="hunter",
                budget={"pages": step},
                politeness={"delay": 0.02, "fetch_time_factor": 0.0},
                network={"fetches": 4, "allow": ["127.0.0.0/8"], "resolve": server.overrides},
            )
            crawl.run()
            rows = _judged(crawl)
            numbers = [web.page_of(url) for url, _ in rows]
            true = np.mean([number is not None and web.topic_of(number) == topic for number in numbers])
            judged = np.mean([is_relevant for _, is_relevant in rows])
            print(f"  demo: {len(rows):,} pages", file=sys.stderr, flush=True)
            yield f"{len(rows):,}", f"{true:.3f}", f"{judged:.3f}", f"{judged / true - 1:+.1%}"


def _judged(crawl: Crawl) -> list[tuple[str, bool]]:
    store = SqliteStore(crawl.workspace.database, read_only=True)
    try:
        return [(page.url, bool(page.is_relevant)) for page in store.pages() if page.is_relevant is not None]
    finally:
        store.close()


# ── two wishes ────────────────────────────────────────────────────────────────────────────────────────────


class Recorded:
    """A fetcher that answers from a recording."""

    def __init__(self, warc: Path) -> None:
        self.bodies = {response.url: response.body for response in iterate(warc)}

    async def fetch(self, lease: Lease) -> Fetched:
        body = self.bodies.get(lease.url)
        return Fetched.missing(lease) if body is None else Fetched.page(lease, body, content_type="text/html")


def wishes(pages: int) -> Iterator[tuple[str, ...]]:
    recorded = Recorded(SHARED / "worlds" / "debian-docs" / "pages.warc.gz")
    for wish, host in WISHES.items():
        home = [url for url in recorded.bodies if url.startswith(f"http://{host}.docs.test/")]
        starts = {"words": home[:1], "words and examples": home[5:30:5]}
        for start, seeds in starts.items():
            with tempfile.TemporaryDirectory() as folder:
                crawl = Crawl(
                    wish,
                    seeds=seeds,
                    directory=Path(folder) / "crawl",
                    strategy="hunter",
                    fetcher=recorded,
                    budget={"pages": pages},
                    politeness={"delay": 0.0, "fetch_time_factor": 0.0},
                    config={} if start == "words" else {"judge": {"seeds_are_examples": "yes"}},
                )
                crawl.run()
                yield (wish, start, *_about(crawl, wish, host))


def _about(crawl: Crawl, wish: str, host: str) -> tuple[str, ...]:
    wanted = set(stems(wish))
    judged = _judged(crawl)
    relevant = [url for url, is_relevant in judged if is_relevant]
    store = SqliteStore(crawl.workspace.database, read_only=True)
    said = []
    try:
        archived = ArchivedPages.of_text(crawl.workspace.archive, store)
        for url in relevant:
            page = archived.page_of(url)
            said.append(len(wanted & set(stems(f"{page.title} {page.text}"))) / len(wanted) if page else 0.0)
    finally:
        store.close()
    at_home = sum(url.startswith(f"http://{host}.") for url in relevant)
    return (
        f"{len(judged):,}",
        f"{len(relevant):,}",
        f"{at_home:,}",
        f"{np.mean([share == 1 for share in said]):.2f}" if said else "",
        f"{np.mean([share > 0 for share in said]):.2f}" if said else "",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--half", choices=("development", "test"), default="test")
    parser.add_argument("--start", choices=("", *STARTS), default="", help="of crawls: one start alone")
    parser.add_argument("--meaning", choices=("auto", "off"), default="auto", help="off: as if it were not installed")
    parser.add_argument("--topics", type=int, default=20, help="of each web")
    parser.add_argument("--only", choices=("prevalence", "crawls", "demo", "words"), default="", help="one part")
    given = parser.parse_args()
    (ROOT / "out").mkdir(exist_ok=True)
    has_shared = (SHARED / "worlds").is_dir()
    if not has_shared:
        print(f"only the generated webs: there is no {SHARED / 'worlds'}")
    webs = ("wikispeedia", "debian-docs", "generated") if has_shared else ("generated",)
    with ProcessPoolExecutor(2) as pool:
        if given.only in ("", "prevalence"):
            has_meaning = given.meaning == "auto" and is_installed()
            rows = [row for part in pool.map(partial(prevalence, has_meaning=has_meaning), webs) for row in part]
            head = ("AUC, judged/true share", "by", *(f"{share:.2f}" for share in PREVALENCES))
            print(table(head, rows), "\n", flush=True)
        if given.only in ("", "crawls"):
            subjects = [f"one subject: {subject}" for subject in SUBJECTS[given.half]] if has_shared else []
            limit = 2 if given.quick else given.topics
            part: Callable[[str], list[Judged]] = partial(
                crawls, half=given.half, limit=limit, only=given.start, meaning=given.meaning
            )
            found = [one for some in pool.map(part, (*webs, *subjects)) for one in some]
            head = (given.half, "by", "AUC", "judged", "true", "precision", "recall", "calibration error", "crawls")
            print(table(head, list(crawl_rows(found))), "\n", flush=True)
    if given.only in ("", "words") and has_shared:
        head = ("wish", "given", "pages", "relevant", "on its host", "contain all words", "contain one")
        print(table(head, list(wishes(300 if given.quick else 2_000))), "\n", flush=True)
    if given.only in ("", "demo"):
        steps, size = (DEMO_STEPS[:4], 20_000) if given.quick else (DEMO_STEPS, 300_000)
        print(table(("pages", "true share", "judged share", "off by"), list(demo(steps, size))), flush=True)


if __name__ == "__main__":
    main()
