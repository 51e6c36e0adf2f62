"""Runs and truth in the format of TREC, for ir_measures, ranx, trec_eval and the like.

    qrels.txt          query 0 document 1          the pages that a crawl could be credited for
    runs/<name>.txt    query Q0 document rank score strategy      the pages it fetched, in order

A query is a topic and the number of a repeat, since each repeat is given other seeds, and what a crawl was given is not
in its truth. A document is a URL. The score falls with the rank. Precision at n is the harvest rate after n pages,
recall at n the target recall.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np

from lycosa.lab.evaluate.runs import Comparison

SAFE = "/:?#[]@!$&'()*+,;=-._~%"
"""Kept in URLs and topics; all else is percent-encoded, so that nothing contains a space or ends a line."""


def write_trec(comparison: Comparison, directory: Path, url_of: Callable[[int], str]) -> list[Path]:
    """Write the truth and a file for each strategy; returns their paths."""
    runs = directory / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    target = directory / "qrels.txt"
    _write(target, _truth(comparison, url_of))
    written = [target]
    for number, name in enumerate(comparison.strategies, start=1):
        written.append(runs / f"{number:02d}-{re.sub('[^A-Za-z0-9_.+-]', '_', name)[-60:]}.txt")
        _write(written[-1], _run(comparison, name, url_of))
    return written


def query(topic: str, repeat: int) -> str:
    return f"{quote(topic, safe=SAFE)}:{repeat}"


def _truth(comparison: Comparison, url_of: Callable[[int], str]) -> Iterator[str]:
    for scores in comparison.scores:
        for repeat, crawled in enumerate(scores.crawled):
            for page in np.setdiff1d(scores.targets, crawled.given).tolist():
                yield f"{query(scores.topic, repeat)} 0 {quote(url_of(page), safe=SAFE)} 1"


def _run(comparison: Comparison, name: str, url_of: Callable[[int], str]) -> Iterator[str]:
    tag = quote(name, safe=SAFE)
    for scores in comparison.scores:
        for repeat, crawled in enumerate(scores.crawled):
            way = crawled.ways[name].tolist()
            for rank, page in enumerate(way, start=1):
                url = quote(url_of(page), safe=SAFE)
                yield f"{query(scores.topic, repeat)} Q0 {url} {rank} {len(way) + 1 - rank} {tag}"


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
