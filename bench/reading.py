"""make bench-reading: where the time of reading a page goes, part by part, on recorded pages.

Pages of the recorded worlds are read as reader processes read them, in this process: decoded, parsed, judged, the
hunter's digest taken, the answer marshalled. A part's time is its own, without that of the parts it calls. Each page
is read several times, and the fastest time of each part counts: what others do on the machine disturbs that least. The
memo of URLs is emptied before each round, so that a link is known only if an earlier page of the round had it.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from selectolax.lexbor import LexborHTMLParser

from lycosa.crawl import reader_answers, reading
from lycosa.crawl.reader_process import GARBAGE
from lycosa.crawl.reading import Reading
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges import meaning
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Page, Response
from lycosa.page.language import detect_language
from lycosa.strategies.hunter import notes
from sites import worlds
from stages import FOREIGN, READER_PARTS, Parts, Stopwatch, cost_of_measuring
from table import table

SIZES = {"wikispeedia": (36_000, 42_000), "debian-docs": (17_000, 21_000)}
"""Bytes of the pages that are read, by world."""
TOPIC = "database index"
PLAIN, HUNTER = "best-first, keywords", "hunter, contrast"
REST = "reading, the rest"
WHOLE = "the whole"
PARTS: Parts = (
    *READER_PARTS,
    ("judge", ContrastJudge, ("judge",)),
    ("digest: the words of the page", notes, ("digest",)),
    ("digest: words near links", notes, ("words_near",)),
    ("digest: words and places of URLs", notes.LinkAddresses, ("of",)),
    ("digest: meaning of the beginning", meaning, ("vector_of",)),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """Pages of one world."""

    responses: list[Response]
    examples: list[Page]


def sample(world: Path, smallest: int, largest: int, count: int) -> Sample:
    """The first pages of a recorded world within these sizes, read once."""
    responses: list[Response] = []
    with world.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            body = record.reader.read()
            if smallest <= len(body) <= largest:
                kind = str(record.http_headers.get("Content-Type", "text/html"))
                url = str(record.headers["WARC-Target-URI"])
                responses.append(Response(url, 200, [("content-type", kind)], body))
            if len(responses) == count:
                break
    plain = Reading(urls=Urls(UrlRules()), judge=KeywordJudge(TOPIC))
    pages = [found for response in responses[:5] if (found := reading.read_response(response, plain).page)]
    return Sample(responses, pages)


def manners(found: Sample) -> dict[str, Reading]:
    """The two ways in which pages are read: with a strategy that asks for nothing, and with the hunter's digest. The
    meaning of pages counts where its vectors are installed, as in a crawl."""
    judge = ContrastJudge.fit(found.examples, TOPIC, has_meaning=meaning.is_installed())
    study = judge.study()
    return {
        PLAIN: Reading(urls=Urls(UrlRules()), judge=KeywordJudge(TOPIC)),
        HUNTER: Reading(
            urls=Urls(UrlRules()), judge=judge, digest=lambda page: notes.digest(page, study.vector, study.meaning)
        ),
    }


def fastest(found: Sample, how: Reading, *, rounds: int) -> dict[str, float]:
    """By part: the microseconds that a page takes, each page at its fastest."""
    watch = Stopwatch()
    watch.put_on(PARTS)
    read_again = watch.timed(_read, WHOLE)
    best: list[dict[str, int]] = [{} for _ in found.responses]
    calls: dict[str, int] = {}
    for _ in range(rounds):
        how = replace(how, urls=Urls(UrlRules()))
        for at, response in enumerate(found.responses):
            watch.cpu, watch.calls = defaultdict(int), defaultdict(int)
            read_again(response, how)
            whole = sum(watch.cpu.values())
            if whole < best[at].get(WHOLE, whole + 1):
                best[at] = {**watch.cpu, REST: watch.cpu[WHOLE], WHOLE: whole}
            calls = watch.calls
    watch.take_off()
    overhead = sum(calls.values()) * cost_of_measuring()
    parts = {part for each in best for part in each}
    means = {part: sum(each.get(part, 0) for each in best) / len(best) / 1e3 for part in parts}
    means[REST] -= overhead
    means[WHOLE] -= overhead
    return means


def _read(response: Response, how: Reading) -> None:
    reader_answers.pack(reading.read_response(response, how), whole_pages=False)


def parsed(found: Sample, *, rounds: int) -> float:
    """The microseconds that Lexbor's parser takes for a page, each page at its fastest: reading cannot take less."""
    best = [1 << 62] * len(found.responses)
    for _ in range(rounds):
        for at, response in enumerate(found.responses):
            began = time.thread_time_ns()
            LexborHTMLParser(response.body)
            best[at] = min(best[at], time.thread_time_ns() - began)
    return sum(best) / len(best) / 1e3


def report(name: str, found: Sample, *, rounds: int) -> str:
    size = sum(len(response.body) for response in found.responses) / len(found.responses) / 1e3
    columns = {label: fastest(found, how, rounds=rounds) for label, how in manners(found).items()}
    parts = sorted(
        {part for column in columns.values() for part in column}, key=lambda part: -columns[HUNTER].get(part, 0)
    )
    rows = [[part, *(f"{column.get(part, 0):.0f}" for column in columns.values())] for part in parts]
    head, bound = ["µs of CPU a page", *columns], parsed(found, rounds=rounds)
    shares = ", ".join(f"{column[WHOLE] / bound:.1f} ({label})" for label, column in columns.items())
    return (
        f"{name}: {len(found.responses)} pages of {size:.1f} KB, fastest of {rounds}\n{table(head, rows)}\n"
        f"Lexbor's parser alone: {bound:.0f}; the whole takes that many times as long: {shares}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Where the time of reading a page goes.")
    parser.add_argument("--pages", type=int, default=200, help="of each world")
    parser.add_argument("--rounds", type=int, default=7, help="how often each page is read")
    options = parser.parse_args()
    detect_language(FOREIGN)  # loads the model
    for name, (smallest, largest) in SIZES.items():
        world = worlds() / name / "pages.warc.gz"
        if not world.is_file():
            print(f"{name}: {world} is not there; LYCOSA_SHARED names the directory above worlds/")
            continue
        found = sample(world, smallest, largest, options.pages)
        gc.collect()
        gc.freeze()
        gc.set_threshold(GARBAGE)  # as readers do
        print(report(name, found, rounds=options.rounds), flush=True)


if __name__ == "__main__":
    main()
