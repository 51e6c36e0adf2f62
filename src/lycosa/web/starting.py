"""A new crawl: what is understood of the form, before anything is fetched or written."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from lycosa.config import Config
from lycosa.engine import Crawl
from lycosa.errors import InputError, SeedError
from lycosa.fetch.urls import Urls, checked_seed
from lycosa.given import directory_for
from lycosa.judge_choice import is_trained
from lycosa.seeds.bookmarks import read_bookmarks
from lycosa.seeds.metasearch.settings import engine_option
from lycosa.web.endpoints import Input

MOST_SEEDS = 5_000
SHOWN_SEEDS = 12


class NewCrawl(Input):
    """What the form for a new crawl asks."""

    words: str = Field("", max_length=2_000, description="What the pages should be about.")
    interest: str = Field("", max_length=2_000, description="A formula over topics of the book.")
    topics: list[str] = Field([], max_length=200, description="Topics of the book.")
    good: bool = Field(False, description="The topics that are marked good in the book.")
    seeds: str = Field("", max_length=2_000_000, description="URLs, one on each line.")
    bookmarks: str = Field("", max_length=6_000_000, description="A file of bookmarks, as browsers export it.")
    metasearch: bool = Field(False, description="Ask search engines for pages; then no seeds are needed.")
    engines: str = Field(
        "",
        max_length=5_000,
        description="Search engines, one on each line: searxng=https://searx.example.org; empty: as in the settings.",
    )
    sites: str = Field("", max_length=20_000, description="Sites to stay on, with their subdomains, one on each line.")
    include: str = Field("", max_length=20_000, description="Patterns of URLs to stay within, one on each line.")
    exclude: str = Field("", max_length=20_000, description="Patterns of URLs to leave out, one on each line.")
    depth: int = Field(0, ge=0, le=1_000, description="Number of links from the nearest seed, at most; 0: any.")
    languages: str = Field("", max_length=500, description="Languages of the pages that are kept: en de; empty: any.")
    pages: int = Field(1_000, ge=1, le=1_000_000_000, description="Stop after this many pages.")
    minutes: float = Field(0, ge=0, le=1_000_000, description="Stop after this many minutes; 0: no limit.")
    relevant: int = Field(0, ge=0, le=1_000_000_000, description="Stop after this many relevant pages; 0: no limit.")
    contact: str = Field("", max_length=300, description="Where site owners reach you.")
    name: str = Field("", max_length=80, description="Name of the crawl's directory; by default from the topic.")
    settings: dict[str, dict[str, Any] | Any] = Field({}, description="Any settings, by section and name.")


class Understood(NamedTuple):
    crawl: Crawl
    notes: list[str]
    """What a person should know before it starts."""

    def plain(self) -> dict[str, Any]:
        config = self.crawl.config
        urls = Urls(config.urls)
        refused = [url for url in config.seeds if urls.canonical(url)[1]]
        return {
            "directory": str(self.crawl.workspace.directory),
            "title": config.title,
            "sentences": _sentences(config),
            "seeds": [str(seed) for seed in config.seeds[:SHOWN_SEEDS]],
            "seed_count": len(config.seeds),
            "refused_seeds": refused[:SHOWN_SEEDS],
            "notes": self.notes,
            "toml": config.to_toml(),
        }


def understood(form: NewCrawl, *, folder: Path, book: Path) -> Understood:
    """The crawl that the form describes: checked, nothing fetched, nothing written."""
    notes: list[str] = []
    seeds = [*_listed(form.seeds), *_bookmarked(form.bookmarks, notes)]
    if len(seeds) > MOST_SEEDS:
        raise InputError(f"{len(seeds):,} seeds are given: {MOST_SEEDS:,} are enough to start from; choose some")
    named = form.name or form.words or form.interest or " ".join(form.topics) or ("good topics" if form.good else "")
    if not named and seeds:
        named = Urls(Config().urls).canonical(seeds[0])[0].partition("://")[2].partition("/")[0]
    if not named:
        raise InputError("nothing is asked for: say what the pages should be about, or give pages of the kind as seeds")
    directory = _free(folder / directory_for(named))
    crawl = Crawl(
        form.words,
        topics=form.topics,
        interest=form.interest,
        good=form.good,
        seeds=seeds,
        directory=directory,
        book=book,
        layers=[("the form", _given(form)), ("settings", form.settings)],
    )
    if crawl.start_note:
        notes.append(crawl.start_note)
    if not crawl.config.network.contact:
        notes.append("no contact is given: site owners cannot reach you if the crawl troubles them")
    if 0 < len(seeds) < 3 and not form.words and not is_trained(crawl.config):
        notes.append("the seeds are the only examples of the topic: three to ten teach it better than one or two")
    return Understood(crawl, notes)


def _given(form: NewCrawl) -> dict[str, Any]:
    """The settings that the form stands for, without those that it leaves as they are."""
    sections: dict[str, dict[str, Any]] = {
        "budget": {"pages": form.pages, "seconds": form.minutes * 60},
        "urls": {"sites": form.sites.split(), "include": form.include.split(), "exclude": form.exclude.split()},
        "frontier": {"max_distance": form.depth},
        "page": {"only_languages": form.languages.lower().replace(",", " ").split()},
        "stop": {"relevant": form.relevant},
        "network": {"contact": form.contact},
        "metasearch": {"is_on": form.metasearch, "engines": [engine_option(word) for word in form.engines.split()]},
    }
    return {
        name: said
        for name, section in sections.items()
        if (said := {key: each for key, each in section.items() if each})
    }


def _listed(text: str) -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.strip()
        if entry and not entry.startswith("#"):
            try:
                found.append(checked_seed(entry))
            except SeedError as error:
                raise SeedError(f"seeds, line {number}: {error}") from error
    return found


def _bookmarked(text: str, notes: list[str]) -> list[str]:
    if not text.strip():
        return []
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8", errors="replace") as file:
        file.write(text)
        file.flush()
        try:
            found = read_bookmarks(Path(file.name), parse=checked_seed)
        except SeedError as error:
            raise SeedError(str(error).replace(file.name, "the bookmarks")) from error
    notes += list(found.notes)
    notes += [f"bookmarks left out: {count:,} {reason}" for reason, count in found.dropped.items()]
    return list(dict.fromkeys(bookmark.url for bookmark in found.entries))


def _free(directory: Path) -> Path:
    """This directory, or the next one that does not exist."""
    number, free = 1, directory
    while free.exists():
        number += 1
        free = directory.with_name(f"{directory.name}-{number}")
    return free


def _sentences(config: Config) -> list[str]:
    """What it will do, in words."""
    if config.interest:
        about = f"Relevant are pages that satisfy the formula {config.interest}."
    elif config.topics:
        about = f"Relevant are pages on {', '.join(config.topics)} of the topic book, and on what is below."
    elif config.topic:
        about = f"Relevant are pages about “{config.topic}”."
    else:
        about = "Relevant are pages like the ones it starts from."
    budget = [f"{config.budget.pages:,} pages"]
    budget += [f"{config.stop.relevant:,} relevant ones"] if config.stop.relevant else []
    budget += [f"{config.budget.seconds / 60:g} minutes"] if config.budget.seconds else []
    delay = f"waits {config.politeness.delay:g} s between two requests to a host and obeys robots.txt"
    return [
        about,
        _start(config),
        _scope(config),
        f"It stops after {' or '.join(budget)}, {delay}.",
        f"Strategy: {config.strategy}.",
    ]


def _start(config: Config) -> str:
    count = len(config.seeds)
    pages = f"{count:,} page{'s' * (count != 1)}"
    search = config.metasearch
    if not search.is_on:
        return f"It starts from {pages}."
    names = ", ".join(f"{engine.label} ({engine.url})" if engine.url else engine.label for engine in search.engines)
    again = f", again every {search.every:,} pages" if search.every else ""
    asked = f"asks search engines for pages: {names}, at the start{again} and when nothing else is left"
    return f"It starts from {pages}, and {asked}." if count else f"It has no page to start from, so it {asked}."


def _scope(config: Config) -> str:
    urls, languages = config.urls, config.page.only_languages
    within = [*urls.sites, *urls.under, *urls.include]
    parts = [f"stays within {' '.join(within)}"] if within else ["goes wherever links lead"]
    if far := config.frontier.max_distance:
        parts.append(f"goes at most {far:,} link{'s' * (far != 1)} away from where it starts")
    parts += [f"keeps pages in {' '.join(languages)} only"] if languages else []
    parts += [f"leaves out {' '.join(urls.exclude)}"] if urls.exclude else []
    return f"It {', '.join(parts)}."
