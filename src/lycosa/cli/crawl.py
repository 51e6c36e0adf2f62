"""lycosa crawl: start a crawl, or go on with one."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from lycosa.cli import completion
from lycosa.cli.access import COOKIES, HEADER, LOGINS, PROXY, access
from lycosa.cli.dashboard import beside
from lycosa.cli.progress import Lines, Panels
from lycosa.cli.review import asking
from lycosa.cli.runs import leave, start
from lycosa.cli.scope import DEPTH, LANGUAGE, MAX_PER_SITE, NOT, RELEVANT, SITE, UNDER, Scope
from lycosa.cli.settings import CONFIG, SETTING, parse_setting
from lycosa.cli.shown_pages import OnlyPages, Show
from lycosa.cli.terminal import err, going_on_unread, is_terminal, out, plain
from lycosa.crawl.answers_file import read_answers
from lycosa.crawl.certainty import CERTAINTY, Certainty
from lycosa.crawl.commit import STEERED
from lycosa.crawl.seeds import NO_SEED, seed_troubles
from lycosa.crawl.watching import Watcher
from lycosa.engine import Crawl
from lycosa.errors import ConfigError, SeedError
from lycosa.fetch.urls import checked_seed, parse_seed
from lycosa.seeds.bookmarks import read_bookmarks
from lycosa.seeds.files import read_seeds
from lycosa.seeds.metasearch.panel import FINE
from lycosa.seeds.metasearch.settings import engine_option
from lycosa.stopping.outlook import OUTLOOK
from lycosa.store.opening import open_store, require_postgres
from lycosa.workspace import Workspace


def crawl(
    topic: str = typer.Argument(
        "", help="What the pages should be about: 'recreational cycling'. Without words the seeds are examples of it."
    ),
    topics: list[str] = typer.Option(
        [],
        "--topic",
        "-t",
        help="A topic of the book instead of words: Recreation/Cycling. May be given several times. Without seeds the "
        "crawl starts from the topics' own examples.",
        autocompletion=completion.topics,
    ),
    good: bool = typer.Option(
        False, "--good", help="All topics that are marked good in the book (lycosa topics mark-good)."
    ),
    interest: str = typer.Option(
        "", "--interest", "-i", help="A formula over topics: 'tourism AND (Ruegen OR Usedom) AND NOT camping'."
    ),
    book: Path = typer.Option(Path("topics.db"), "--book", "-b", envvar="LYCOSA_TOPICS", help="The topic book."),
    seed: list[str] = typer.Option([], "--seed", "-s", help="A URL to start from. May be given several times."),
    seeds: Path | None = typer.Option(
        None, "--seeds", help="A file with a URL on each line, or bookmarks as browsers export them."
    ),
    with_examples: bool = typer.Option(
        False, "--with-examples", help="Start from the topics' examples in addition to the seeds given."
    ),
    metasearch: bool | None = typer.Option(
        None,
        "--metasearch/--no-metasearch",
        help="Ask search engines for pages: at the start, every 100 pages, and when nothing else is left. Needs no "
        "seeds. Engines are named in the settings (docs/metasearch.md) or by --engine.",
    ),
    engines: list[str] = typer.Option(
        [],
        "--engine",
        help="A search engine, instead of those in the settings: searxng=https://searx.example.org, "
        "opensearch=https://…/opensearch.xml, brave=BRAVE_KEY (the environment variable with the key), sitemaps, "
        "workspace=DIR. May be given several times; turns --metasearch on.",
    ),
    pages: int | None = typer.Option(
        None, "--pages", "-n", help="Stop after this many pages, over all runs (default 1000)."
    ),
    minutes: float | None = typer.Option(None, "--minutes", help="Stop after this many minutes."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="The crawl's directory. Default: named after the topic."
    ),
    store: str = typer.Option(
        "",
        "--store",
        help="Keep what the crawl knows in a PostgreSQL database instead of a file: postgresql://user@host/name. Given "
        "once; the directory remembers it (docs/scale.md).",
    ),
    cluster: int = typer.Option(
        0, "--cluster", min=0, help="Crawl with up to this many crawlers on Ray; needs --store and lycosa[cluster]."
    ),
    shards: int = typer.Option(
        0, "--shards", min=0, help="Of a new cluster's crawl: the most crawlers it can ever have (default: --cluster)."
    ),
    ray: str = typer.Option("", "--ray", help="A Ray cluster: ray://host:10001. Without it, one is started here."),
    site: list[str] = SITE,
    under: list[str] = UNDER,
    exclude: list[str] = NOT,
    depth: int | None = DEPTH,
    language: list[str] = LANGUAGE,
    relevant: int | None = RELEVANT,
    max_per_site: int | None = MAX_PER_SITE,
    strategy: str | None = typer.Option(
        None,
        "--strategy",
        help="The order of the crawl: hunter (default: learns the topic, and where it is found, while it crawls), "
        "best-first, shark, infospiders, … (docs/quickstart.md), a file that lycosa evolve wrote: best.toml, or one of "
        "your own: module:Class.",
        autocompletion=completion.strategies,
    ),
    judge: str | None = typer.Option(
        None,
        "--judge",
        help="What decides relevance: contrast (learns as it crawls), keywords, or one of your own: module:Class. With "
        "--topic it is the judge that was trained last, and may be named here: bayes, svm, knn, gp-knn.",
        autocompletion=completion.judges,
    ),
    threshold: float | None = typer.Option(
        None, "--threshold", help="Minimum relevance of a relevant page (default: the judge's own)."
    ),
    browser: bool | None = typer.Option(
        None,
        "--browser/--no-browser",
        help="Render pages that are empty without JavaScript in a headless chromium; all others are read as they come. "
        "Needs lycosa[browser] and a chromium on this machine (docs/browser.md).",
    ),
    requisites: bool | None = typer.Option(
        None,
        "--requisites/--no-requisites",
        help="Archive also what relevant pages need to look right in a replay: style sheets, images, fonts. Turns "
        "--browser on.",
    ),
    pdf: bool | None = typer.Option(
        None, "--pdf/--no-pdf", help="Fetch and read PDF documents, too. Needs lycosa[pdf]."
    ),
    delay: float | None = typer.Option(None, "--delay", help="Seconds between requests to a host (default 1)."),
    contact: str = typer.Option(
        "", "--contact", envvar="LYCOSA_CONTACT", help="E-mail or URL where site owners reach you."
    ),
    cache: Path | None = typer.Option(None, "--cache", help="A directory in which crawls share what they download."),
    proxy: str | None = PROXY,
    logins: Path | None = LOGINS,
    cookies: Path | None = COOKIES,
    header: list[str] = HEADER,
    sitemaps: bool = typer.Option(
        False, "--sitemaps", help="Ask hosts that proved relevant for their sitemaps, and queue what these list."
    ),
    feeds: bool = typer.Option(False, "--feeds", help="Follow the feeds that pages name in their head."),
    config_file: Path | None = CONFIG,
    setting: list[str] = SETTING,
    answers: Path | None = typer.Option(
        None,
        "--answers",
        help="A file that says of pages whether they are what you want: on each line a URL, a tab, and yes or no. No "
        "judge overrules it; pages that have not been fetched are awaited. To be asked instead: lycosa review.",
    ),
    show: Show = typer.Option(
        Show.NONE,
        "--show",
        help="Print pages as they are found: relevance, address and title of the relevant ones, or of all. With -q, "
        "nothing else is printed.",
    ),
    with_dashboard: bool = typer.Option(
        False, "--dashboard", help="Show the crawl in a browser, too, while it runs (lycosa dashboard)."
    ),
    as_json: bool = typer.Option(False, "--json", help="Progress and summary as JSON lines."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no summary; only seeds that cannot start."),
) -> None:
    """Crawl the web for pages on a topic.

    Say in words what they are about, or give three to ten pages of the kind as seeds, or both. While it crawls it
    learns what the topic is and is not, and which links lead to it. Or name a topic you have trained (lycosa topics).

    --site, --under, --not, --depth, --language and --max-per-site limit what is fetched; --relevant says how much is
    enough. Without a seed, the crawl starts from the sites named: lycosa crawl "bicycle repair" --site example.org
    With --metasearch no seed is needed: search engines that you name give the first pages.

    A seed may be written without its scheme: https is tried, then http. One that cannot start is said at once; if none
    can, the crawl ends with exit code 2, and the same command tries again.

    The crawl lives in a directory: what it found, what it will do next, and what the web answered. Run the same
    command again to go on where it stopped, however it stopped. Ctrl-C finishes what is under way first.

    --show relevant prints each relevant page when it is found; a page that becomes relevant later, as the judge learns,
    is printed then.

    In a terminal, the key r asks you about ten pages that would teach the judge most, while the crawl goes on.
    """
    has_topics = bool(topics or interest or good)
    scope = Scope(tuple(site), tuple(under), tuple(exclude), depth, tuple(language), relevant, max_per_site)
    crawl = Crawl(
        topic,
        topics=topics,
        interest=interest,
        good=good,
        with_examples=with_examples,
        book=book,
        seeds=[*seed, *(_seeds_in(seeds) if seeds else [])] or ([] if has_topics else scope.starts()),
        directory=output,
        store=store,
        judge=judge,
        strategy=strategy,
        answers=read_answers(answers, parse=parse_seed) if answers else None,
        config=config_file,
        layers=[
            *scope.layers(config_file, setting, pages=pages),
            (
                "command line",
                _given(
                    cache=str(cache.resolve()) if cache else None,
                    judge={"threshold": threshold},
                    budget={"pages": pages, "seconds": None if minutes is None else minutes * 60},
                    browser={"is_on": True if requisites and browser is None else browser, "requisites": requisites},
                    page={"pdf": pdf, "feeds": feeds or None},
                    politeness={"delay": delay},
                    metasearch={
                        "is_on": True if engines and metasearch is None else metasearch,
                        "engines": [engine_option(text) for text in engines] or None,
                    },
                    network={"contact": contact or None},
                    lists={"sitemaps": sitemaps or None},
                    access=access(proxy, logins, cookies, header),
                ),
            ),
            *(("--set", parse_setting(text)) for text in setting),
        ],
    )
    if crawl.start_note and not quiet:
        err.print(f"[yellow]note:[/] {plain(crawl.start_note)}")
    network = crawl.config.network
    if not network.contact and not network.allow and not quiet:
        err.print("[yellow]note:[/] no contact is set; --contact you@example.org lets site owners reach you")
    if not cluster and (shards or ray):
        raise ConfigError("--shards and --ray are for a crawl by several crawlers: give their number: --cluster 4")
    with beside(crawl.workspace.directory, book) if with_dashboard else nullcontext():
        if cluster:
            require_postgres()
            from lycosa.cli.clustered import run_cluster

            report = start(
                lambda: run_cluster(
                    crawl, store=store, crawlers=cluster, shards=shards, ray=ray, as_json=as_json, quiet=quiet
                )
            )
        else:
            watcher = _watcher(crawl, show, as_json=as_json, quiet=quiet)
            report = start(lambda: crawl.run(watcher=watcher))
    if not quiet:
        with going_on_unread():
            summary(crawl.workspace, report.reason, as_json=as_json)
            sys.stdout.flush()
    leave(report)
    _check_any_page(crawl.workspace, report.reason)


def _seeds_in(path: Path) -> list[str]:
    """A list of URLs, in which a mistake is an error; or bookmarks, of which what cannot be fetched is skipped."""
    try:
        with path.open("rb") as file:
            head = file.read(SNIFFED).lower()
    except OSError:
        head = b""  # `read_seeds` says what is wrong
    if not any(sign in head for sign in (b"netscape-bookmark-file", b"<dl", b"<a ")):
        return read_seeds(path, parse=checked_seed)
    found = read_bookmarks(path, parse=checked_seed)
    skipped = [f"{count:,} {reason}" for reason, count in found.dropped.items()]
    for note in (*found.notes, *([f"skipped: {', '.join(skipped)}"] if skipped else [])):
        err.print(f"[yellow]note:[/] {plain(path)}: {plain(note)}")
    return list(dict.fromkeys(bookmark.url for bookmark in found.entries))


def _given(**options: Any) -> dict[str, Any]:
    """Only what was given on the command line."""
    kept: dict[str, Any] = {}
    for name, value in options.items():
        if isinstance(value, dict):
            inner = {key: item for key, item in value.items() if item is not None}
            if inner:
                kept[name] = inner
        elif value not in (None, "", []):
            kept[name] = value
    return kept


SNIFFED = 4096
"""Bytes of a seeds file that tell what it is."""


def _watcher(crawl: Crawl, show: Show, *, as_json: bool, quiet: bool) -> Watcher:
    if quiet:
        return OnlyPages(show, as_json=as_json)
    if as_json or not is_terminal():
        return Lines(as_json=as_json, show=show)
    return Panels(crawl.config.title, asking(crawl.workspace), show)


def _check_any_page(workspace: Workspace, ending: str) -> None:
    """If nothing at all was fetched, and it is not that somebody stopped the crawl, the seeds are to blame: say so."""
    with closing(open_store(workspace, read_only=True, over_shards=True)) as store:
        totals = store.totals()
        if totals.pages or (totals.waiting and not ending.startswith(NO_SEED)):
            return
        troubles = seed_troubles(store)
        answers = [row for row in store.search_answers() if row.outcome not in FINE]
        is_searched = bool(store.searches())
    if is_searched and not troubles:
        why = "; ".join(dict.fromkeys(f"{row.engine}: {row.outcome} {row.detail}".strip() for row in answers))
        raise SeedError(
            f"no page could be fetched: search engines named none that could be; {why or 'they found nothing'}; other "
            "words, other engines or a --seed would help; the same command goes on"
        )
    if troubles:
        others = f" (and {len(troubles) - 1:,} more: lycosa status)" if len(troubles) > 1 else ""
        raise SeedError(
            f"no page could be fetched: {troubles[0]}{others}; check the seed's spelling and the network, or give "
            "another --seed; the same command tries again"
        )


def summary(workspace: Workspace, ending: str, *, as_json: bool) -> None:
    """What was found, and where it is."""
    store = open_store(workspace, read_only=True, over_shards=True)
    try:
        totals = store.totals()
        sites = [site for site in islice(store.sites(), 10) if site.relevant]
        changes = [(event.at, event.kind, event.message) for event in store.events(STEERED)]
        outlook = json.loads(store.state(OUTLOOK) or "{}")
        certainty = Certainty.from_bytes(store.state(CERTAINTY))
    finally:
        store.close()
    harvest = totals.relevant / max(1, totals.pages)
    if as_json:
        print(
            json.dumps(
                {
                    "event": "end",
                    "stop_reason": ending,
                    "pages": totals.pages,
                    "relevant": totals.relevant,
                    "harvest": round(harvest, 4),
                    "waiting": totals.waiting,
                    "forecast": outlook.get("forecast"),
                    "calibration": outlook.get("calibration"),
                    "certainty": certainty and certainty._asdict(),
                    "changes": [{"at": at, "kind": kind, "message": message} for at, kind, message in changes],
                    "sites": [{"name": site.name, "relevant": site.relevant, "pages": site.pages} for site in sites],
                    "directory": str(workspace.directory),
                }
            )
        )
        return
    out.print(f"[bold]stopped[/]: {plain(ending)}")
    out.print(
        f"{totals.pages:,} pages, [green]{totals.relevant:,} relevant[/] (harvest rate {harvest:.1%}), "
        f"{totals.waiting:,} links still wait"
    )
    if certainty and certainty.in_words:
        out.print(certainty.in_words)
    for line in outlook.get("words", []):
        out.print(plain(line, 300))
    for _, kind, message in changes:
        if kind == "advice":
            out.print(f"[yellow]advice[/]: {plain(message, 400)}")
    courses = [(kind, message) for _, kind, message in changes if kind != "advice"]
    if courses:
        out.print(f"{len(courses)} changes of course; the latest:")
        for kind, message in courses[-5:]:
            out.print(f"  [dim]{plain(kind)}[/] {plain(message, 160)}")
    if sites:
        table = Table("site", "relevant", "pages", "density", box=None, pad_edge=False, header_style="dim")
        for column in table.columns[1:]:
            column.justify = "right"
        for site in sites:
            table.add_row(plain(site.name, 50), f"{site.relevant:,}", f"{site.pages:,}", f"{site.density:.0%}")
        out.print(table)
    where = os.path.join(workspace.directory, "")  # noqa: PTH118 - the closing slash says that it is a directory
    out.print(f"in {plain(where)}: {workspace.store_name} (lycosa sql), archive/*.warc.gz, lycosa.toml")
    out.print(f"[dim]next: lycosa export {plain(where)} --to pages.jsonl   lycosa explain {plain(where)} URL[/]")
