"""lycosa feedback: say which pages of a crawl are useful; the judge learns from it, also while the crawl runs."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

import typer

from lycosa.cli.opened import DIRECTORY
from lycosa.cli.pages_by_url import pages_by_url
from lycosa.cli.taking_over import take_over
from lycosa.cli.terminal import err, out, plain
from lycosa.cluster.partitions import shard_of_url
from lycosa.config import Config
from lycosa.crawl.answers import new_answers, standing_answers
from lycosa.errors import InputError, LycosaError
from lycosa.fetch.urls import Urls, parse_seed, url_hash
from lycosa.judge_choice import is_trained
from lycosa.judges.protocol import NoJudge
from lycosa.model import Page
from lycosa.opened import config_of
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.opening import open_store
from lycosa.store.protocol import Reports
from lycosa.store.rows import Answer, Batch
from lycosa.topics.importing import Failure
from lycosa.workspace import Workspace

HOW_TO_FETCH = ("network", "politeness", "robots", "urls", "http")
"""Sections of the crawl's settings that hold for further pages, too."""
SAID = {Answer.RELEVANT: "useful", Answer.IRRELEVANT: "not useful", Answer.WITHDRAWN: "taken back"}


def feedback(
    directory: Path = DIRECTORY,
    useful: list[str] = typer.Option([], "--useful", "-u", help="A page that is what you want. May be repeated."),
    not_useful: list[str] = typer.Option([], "--not-useful", "-n", help="A page that is not. May be repeated."),
    forget: list[str] = typer.Option(
        [], "--forget", "-f", help="A page of which you said so before: that is taken back. May be repeated."
    ),
) -> None:
    """Say which pages of a crawl are useful and which are not: the judge learns from it.

    Works for every crawl, from words, examples, bookmarks, topics or formulas, while it runs and when it has stopped.
    What you say of a page is final: no judge overrules it, and only --forget takes it back. A page that has not been
    fetched is awaited.

    The judge learns from the pages, and all pages of the crawl are judged again. If its topic comes from a topic book,
    useful pages become examples in the crawl's own copy of the book, and others counter-examples; a marked page that
    the crawl does not have is fetched for that. A running crawl follows within seconds, and orders what waits by it.

    The same as answering the questions of lycosa review.
    """
    workspace = Workspace.existing(directory)
    config = config_of(workspace)
    by_part: dict[Path, dict[str, str]] = {}
    for url, answer in _said(config, useful, not_useful, forget).items():
        by_part.setdefault(shard_of_url(directory, url), {})[url] = answer
    for part, said in by_part.items():
        if workspace.has_shards:
            out.print(f"shard {part.name}:")
        _keep(Workspace.existing(part), config_of(Workspace(part)), said)


def _keep(workspace: Workspace, config: Config, said: Mapping[str, str]) -> None:
    """What is said of pages of one crawl, or of one shard of a cluster, whose judge learns from it."""
    with closing(open_store(workspace)) as store:
        _check_forgotten(store, said)
        fetched = _fetched(workspace, config, store, said) if is_trained(config) else {}
        before, relevance_before = store.judged_pages(), _relevance(store, said)
        news = new_answers(store, said, at=time.time())
        store.write(Batch(answers=news, recounts_hosts=True))
    lines = take_over(workspace, config, before, fetched=fetched)
    with closing(open_store(workspace, read_only=True)) as store:
        relevance_after = _relevance(store, said)
    new = {url for _, url, _, _ in news}
    for url, answer in said.items():
        known = "" if url in new else ", as you said before"
        out.print(f"{plain(url, 80)}: {SAID[answer]}{known}; {_change(relevance_before[url], relevance_after[url])}")
    for line in lines:
        out.print(line)


def _said(config: Config, useful: list[str], not_useful: list[str], forget: list[str]) -> dict[str, str]:
    """What is said, by canonical URL."""
    given = {Answer.RELEVANT: useful, Answer.IRRELEVANT: not_useful, Answer.WITHDRAWN: forget}
    canonical = Urls(config.urls).canonical
    said: dict[str, str] = {}
    for answer, texts in given.items():
        for text in texts:
            url, reason = canonical(parse_seed(text))
            if not url:
                raise InputError(f"{text!r} is no URL that can be crawled: {reason}")
            if said.setdefault(url, answer) != answer:
                raise InputError(f"{url}: said to be {SAID[said[url]]} and {SAID[answer]}; decide for one of them")
    if not said:
        raise InputError("no page is marked: give --useful URL, --not-useful URL or --forget URL")
    return said


def _check_forgotten(store: Reports, said: Mapping[str, str]) -> None:
    marked = standing_answers(store)
    for url, answer in said.items():
        if answer == Answer.WITHDRAWN and url not in marked:
            some = f"; marked are {', '.join(list(marked)[-5:])}" if marked else ", nor of any other page"
            raise InputError(f"{url}: nothing was said of this page{some}")


def _fetched(workspace: Workspace, config: Config, store: Reports, said: Mapping[str, str]) -> dict[str, Page]:
    """Marked pages that the crawl has not archived, from the web. A judge trained on a book learns from their text."""
    archived = ArchivedPages(workspace.archive, store, config.reading(NoJudge()))
    wanted = [url for url, answer in said.items() if answer != Answer.WITHDRAWN]
    missing = [url for url in wanted if not _is_archived(archived, url)]
    kept = {name: part for name, part in tomllib.loads(config.to_toml()).items() if name in HOW_TO_FETCH}
    crawled = store.pages_with([url_hash(url) for url in missing]) if missing else {}
    found = {}
    for url, page in zip(missing, pages_by_url(missing, kept), strict=True):
        if isinstance(page, Page):
            found[url] = page
        elif isinstance(page, Failure) and url not in crawled:
            raise InputError(f"{url}: not a page of this crawl, and it cannot be fetched: {page.words}")
        else:
            err.print(f"[yellow]note:[/] {plain(url)}: its text cannot be had; the judge learns nothing from it")
    return found


def _is_archived(pages: ArchivedPages, url: str) -> bool:
    try:
        return pages.page_of(url) is not None
    except LycosaError:  # the file is gone
        return False


def _relevance(store: Reports, urls: Iterable[str]) -> dict[str, tuple[float, float | None] | None]:
    """By URL: the relevance in the store, and that of the judge itself where a person has decided."""
    own = {row.page_id: row.own_relevance for row in store.answers()}
    pages = store.pages_with([url_hash(url) for url in urls])
    found: dict[str, tuple[float, float | None] | None] = dict.fromkeys(urls)
    for url, page in pages.items():
        judgement = store.judgement(page)
        if judgement is not None:
            found[url] = judgement.relevance, own.get(page)
    return found


def _change(before: tuple[float, float | None] | None, after: tuple[float, float | None] | None) -> str:
    if before is None or after is None:
        return "not fetched by the crawl yet; it counts as soon as it is"
    (was, was_own), (now, now_own) = before, after
    words = f"relevance {was:.2f} → {now:.2f}"
    if now_own is None:
        return words
    return f"{words}; by the judge alone {was if was_own is None else was_own:.2f} → {now_own:.2f}"
