"""Paper GP on labelled texts and recorded webs: a similarity evolved by genetic programming, and crawls by it.

    make reproduce-gp            all of it, then gp_decay.py: minutes on two cores
    make reproduce-gp QUICK=1    two splits and a few topics: does it work
    make reproduce-gp LARGE=1    three times as many documents, and longer evolutions

Texts: see gp_texts.py. Crawls: see gp_crawls.py. A split, and a topic's crawls, are kept in out/gp/ as soon as they are
done. Writes docs/papers/gp.md and its pictures (gp_page.py).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from functools import partial
from multiprocessing.pool import Pool

from common import Results
from gp_crawls import CrawlJob, CrawlScale, crawl_jobs, kept_judge, run_crawls
from gp_page import CrawlFigures, TextFigures, page
from gp_texts import VALIDATION, Outcome, TextScale, collections, run_split

RESULTS = Results("gp")
FULL = TextScale(drawn=1_500, tested=400, splits=10, population=50, generations=20)
LARGE = TextScale(drawn=4_000, tested=1_000, splits=12, population=100, generations=30)
QUICK = TextScale(drawn=1_500, tested=300, splits=2, population=10, generations=3)
FULL_CRAWLS = CrawlScale(topics=6, pages=200, population=30, generations=12)
LARGE_CRAWLS = CrawlScale(topics=12, pages=500, population=100, generations=30)
QUICK_CRAWLS = CrawlScale(topics=2, pages=60, population=10, generations=3)
TextJob = tuple[str, int, int, TextScale]


def kept_split(job: TextJob) -> Outcome:
    name, percent, number, scale = job
    key = f"texts {name} {percent} {number} {scale._replace(splits=0)}"
    return RESULTS.kept(f"{name}, {percent} %, split {number}", key, partial(run_split, *job))


def run_texts(pool: Pool, scale: TextScale) -> TextFigures:
    """By collection and percent: the splits. All collections get on at the same time."""
    jobs = [
        (name, percent, number, scale)
        for number in range(scale.splits)
        for name in collections()
        for percent in VALIDATION
    ]
    found: TextFigures = {}
    for (name, percent, _, _), outcome in zip(jobs, pool.imap(kept_split, jobs), strict=True):
        found.setdefault((name, percent), []).append(outcome)
    return found


def kept_crawls(job: tuple[CrawlJob, bytes]) -> CrawlFigures:
    """Of one topic."""
    crawl, model = job
    key = f"crawls {crawl.web} {crawl.topic} {crawl.scale}"
    found = RESULTS.kept(f"{crawl.web}: {crawl.topic}", key, partial(run_crawls, crawl, model))
    return {crawl.web: {crawl.topic: found}}


def run_webs(pool: Pool, scale: CrawlScale) -> CrawlFigures:
    """By web and topic."""
    jobs = crawl_jobs(scale)
    paths = {job.web: job.path for job in jobs}
    models = {web: kept_judge(RESULTS, web, path, scale) for web, path in paths.items()}
    found: CrawlFigures = {}
    for part in pool.imap(kept_crawls, [(job, models[job.web]) for job in jobs]):
        for web, topics in part.items():
            found.setdefault(web, {}).update(topics)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few splits and topics; does not touch docs/")
    parser.add_argument("--large", action="store_true", help="larger draws, populations and crawls: half an hour")
    options = parser.parse_args()
    texts, crawls = (FULL, FULL_CRAWLS)
    if options.quick or options.large:
        texts, crawls = (QUICK, QUICK_CRAWLS) if options.quick else (LARGE, LARGE_CRAWLS)
    with multiprocessing.get_context("spawn").Pool(len(os.sched_getaffinity(0))) as pool:
        of_texts, of_webs = run_texts(pool, texts), run_webs(pool, crawls)
    RESULTS.publish(page(RESULTS, (of_texts, texts), (of_webs, crawls)), is_quick=options.quick)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; what is done is kept")
