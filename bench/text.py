"""How well the main text of a page is extracted, next to trafilatura, resiliparse, readability and justext.

    make bench-text                     # a few minutes
    python bench/text.py --pages        # also the worst pages, to look at
    python bench/text.py --half dev     # the hosts on which rules and constants were chosen

A set of recorded pages, three of each of 60 hosts of manuals and thirty of an encyclopedia, drawn by chance once and
for all, is labelled by rules written by hand, one for each host (`text_gold`). Graded are the words, each as often as
it stands there: precision is the share of the extracted words that are labelled, recall the share of the labelled words
that are extracted. A heading is kept if it stands on a line of its own, code if each of its lines does. Means are over
hosts, each by the mean of its pages. Time is that of the processor, from bytes to plain text, the best of three rounds;
Markdown is made from the same tree, and its time is given apart.

Ours is measured twice: as in a crawl, when 40 other pages of the host have been seen and what repeats on them is known,
and as the first page of a host, when there is only the page itself to go by, which is all the others ever have.

Rules and constants were chosen on every second host (dev). The figures to be trusted are those of the other half.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import islice
from statistics import fmean
from typing import NamedTuple

import justext
import trafilatura
from readability import Document as ReadabilityDocument
from resiliparse.extract.html2text import extract_plain_text

from hunter import SHARED
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.fetch.warc_reader import iterate
from lycosa.model import Response
from lycosa.page.clean import clean_document
from lycosa.page.furniture import Furniture
from lycosa.page.html import read_document
from table import table
from text_gold import RULES, Gold, host_of, label, words

WORLDS = {"debian-docs": 3, "wikispeedia": 30}
"""Pages of each host."""
SEEN = 40
"""Number of other pages of the host that the crawl has seen."""
SEED = 18
ROUNDS = 3
URLS = Urls(UrlRules())
_MARKUP = re.compile(r"^[\s#>*+\-|\d.]*|\\(?=\W)|[*`_|]")


class Sample(NamedTuple):
    response: Response
    html: str
    gold: Gold
    furniture: bytes


class Grade(NamedTuple):
    precision: float
    recall: float
    headings: float
    code: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / max(1e-9, self.precision + self.recall)


Extractor = Callable[[Sample], str]


def ours(sample: Sample) -> str:
    return _clean(sample, sample.furniture)


def ours_first(sample: Sample) -> str:
    return _clean(sample, b"")


def _clean(sample: Sample, furniture: bytes) -> str:
    response = sample.response
    content_type = response.header("content-type")
    return clean_document(
        response.url, response.body, content_type=content_type, resolver=URLS.resolver, furniture=furniture
    ).text


def our_markdown(sample: Sample) -> str:
    response = sample.response
    content_type = response.header("content-type")
    return clean_document(
        response.url, response.body, content_type=content_type, resolver=URLS.resolver, furniture=sample.furniture
    ).markdown


def own_text(sample: Sample) -> str:
    response = sample.response
    return read_document(
        response.url,
        response.body,
        content_type=response.header("content-type"),
        resolver=URLS.resolver,
        furniture=sample.furniture,
    ).own_text


def by_trafilatura(sample: Sample) -> str:
    return trafilatura.extract(sample.html, include_comments=False) or ""


def by_resiliparse(sample: Sample) -> str:
    return str(extract_plain_text(sample.html, main_content=True, preserve_formatting=True))


def by_readability(sample: Sample) -> str:
    return str(extract_plain_text(ReadabilityDocument(sample.html).summary(), preserve_formatting=True))


def by_justext(sample: Sample) -> str:
    paragraphs = justext.justext(sample.response.body, justext.get_stoplist("English"))
    return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)


def everything(sample: Sample) -> str:
    return str(extract_plain_text(sample.html, main_content=False, preserve_formatting=True))


EXTRACTORS: dict[str, Extractor] = {
    "lycosa, as in a crawl": ours,
    "lycosa, first page": ours_first,
    "what judges read (own_text)": own_text,
    "trafilatura": by_trafilatura,
    "resiliparse": by_resiliparse,
    "readability-lxml": by_readability,
    "justext": by_justext,
    "all text": everything,
}


def samples() -> list[Sample]:
    """The labelled pages."""
    found = []
    for world, count in WORLDS.items():
        pages: dict[str, list[Response]] = defaultdict(list)
        for response in iterate(SHARED / "worlds" / world / "pages.warc.gz"):
            pages[host_of(response.url)].append(response)
        for host, responses in sorted(pages.items()):
            responses.sort(key=lambda response: response.url)
            random.Random(f"{SEED} {host}").shuffle(responses)
            known = furniture_of(responses[: count + SEEN])
            for response in responses[:count]:
                html = response.body.decode("utf-8", "replace")
                found.append(Sample(response, html, label(response.url, response.body), known))
    return found


def furniture_of(responses: list[Response]) -> bytes:
    """What a crawl of these pages of a host has learned of it."""
    furniture = Furniture()
    for response in responses:
        page = read_document(
            response.url, response.body, content_type=response.header("content-type"), resolver=URLS.resolver
        )
        furniture.add(1, page.blocks)
    return furniture.of(1)


def grade(text: str, gold: Gold) -> Grade:
    found = Counter(words(text))
    right = sum((found & gold.words).values())
    excess = found - gold.words
    counted = sum(found.values()) - sum((excess & gold.either).values())
    lines = {" ".join(_MARKUP.sub("", line).split()) for line in text.splitlines()}
    exact = {line.strip() for line in text.splitlines()}
    headings = [" ".join(_MARKUP.sub("", heading).split()) in lines for heading in gold.headings]
    codes = [all(line in exact for line in code) for code in gold.codes]
    return Grade(
        right / counted if counted else 0.0,
        right / max(1, sum(gold.words.values())),
        fmean(headings) if headings else float("nan"),
        fmean(codes) if codes else float("nan"),
    )


def halves() -> dict[str, frozenset[str]]:
    hosts = sorted(RULES)
    return {"dev": frozenset(hosts[::2]), "test": frozenset(hosts[1::2]), "all": frozenset(hosts)}


def over_hosts(graded: dict[str, list[Grade]], value: Callable[[Grade], float]) -> float:
    means = []
    for grades in graded.values():
        values = [number for grade in grades if (number := value(grade)) == number]
        if values:
            means.append(fmean(values))
    return fmean(means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["dev", "test", "all"], default="", help="only this half of the hosts")
    parser.add_argument("--only", default="", help="only the extractors whose names begin so")
    parser.add_argument("--pages", action="store_true", help="the worst pages of the first extractor, too")
    options = parser.parse_args()
    print("labelling …", file=sys.stderr)
    every = [sample for sample in samples() if sum(sample.gold.words.values()) >= 5]
    print(f"{len(every)} pages of {len({host_of(sample.response.url) for sample in every})} hosts\n")
    for half in [options.half] if options.half else ["dev", "test"]:
        chosen = [sample for sample in every if host_of(sample.response.url) in halves()[half]]
        show(half, chosen, options.only, with_pages=options.pages)


def show(half: str, chosen: list[Sample], only: str, *, with_pages: bool) -> None:
    rows = []
    for name, extract in EXTRACTORS.items():
        if not name.startswith(only):
            continue
        print(f"  {name} …", file=sys.stderr)
        for sample in islice(chosen, 5):
            extract(sample)  # what is loaded on first use is not a page's cost
        texts, cpu = timed(extract, chosen)
        graded: dict[str, list[Grade]] = defaultdict(list)
        for sample, text in zip(chosen, texts, strict=True):
            graded[host_of(sample.response.url)].append(grade(text, sample.gold))
        columns = [over_hosts(graded, value) for value in COLUMNS.values()]
        empty = sum(not text.strip() for text in texts)
        rows.append([name, *(f"{column:.3f}" for column in columns), str(empty), f"{cpu:.2f}"])
        if with_pages:
            worst(chosen, texts)
    print(f"{half} hosts: {len(chosen)} pages\n")
    print(table(["", *COLUMNS, "empty", "ms a page"], rows))
    print(f"\nMarkdown instead of text: {timed(our_markdown, chosen)[1]:.2f} ms a page\n")


def timed(extract: Extractor, chosen: list[Sample]) -> tuple[list[str], float]:
    """The texts, and milliseconds of the processor a page, in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        texts = [extract(sample) for sample in chosen]
        best = min(best, time.process_time() - started)
    return texts, 1000 * best / len(chosen)


COLUMNS: dict[str, Callable[[Grade], float]] = {
    "precision": lambda grade: grade.precision,
    "recall": lambda grade: grade.recall,
    "F1": lambda grade: grade.f1,
    "headings": lambda grade: grade.headings,
    "code": lambda grade: grade.code,
}


def worst(chosen: list[Sample], texts: list[str], count: int = 25) -> None:
    """The pages with the lowest F1, and which words are missing or too many."""
    graded = sorted(
        ((grade(text, sample.gold), sample, text) for sample, text in zip(chosen, texts, strict=True)),
        key=lambda entry: entry[0].f1,
    )
    for graded_page, sample, text in graded[:count]:
        found = Counter(words(text))
        missing = " ".join(list(sample.gold.words - found)[:12])
        excess = " ".join(list(found - sample.gold.words - sample.gold.either)[:12])
        print(f"{graded_page.precision:.2f} {graded_page.recall:.2f} {sample.response.url}")
        print(f"      missing: {missing}\n      too many: {excess}")


if __name__ == "__main__":
    main()
