"""lycosa demo: a focused crawl against breadth-first on a generated web, where the true relevance is known."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import typer
from rich.table import Table

from lycosa.cli.progress import Lines, Panels
from lycosa.cli.runs import leave, start
from lycosa.cli.terminal import is_terminal, out, plain
from lycosa.crawl.watching import Watcher
from lycosa.engine import Crawl
from lycosa.errors import InputError
from lycosa.lab.evaluate.curves import harvest_rate, recall
from lycosa.lab.evaluate.pictures import draw_curves
from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.store.opening import open_store
from lycosa.workspace import Workspace

STRATEGIES = ("hunter", "breadth-first")
ADDRESSES = 100


@dataclass(frozen=True, slots=True)
class Result:
    """One crawl, by its own judge and by the truth."""

    judged: list[bool]
    true: list[bool]
    """Whether each page is on the topic, copies included."""
    recall: list[float]
    """Share of the topic's reachable pages found so far, without copies."""
    seconds: float


def demo(
    output: Path = typer.Option(Path("demo"), "--output", "-o", help="Directory of the two crawls and the picture."),
    pages: int = typer.Option(2_000, "--pages", "-n", help="Pages each crawl may fetch."),
    size: int = typer.Option(20_000, "--size", help="Number of pages of the generated web."),
    seed: int = typer.Option(7, "--seed", help="Seed of the random number generator: another seed gives another web."),
) -> None:
    """Watch a focused crawl beat breadth-first on a generated web.

    Serves a generated web of several hosts on 127.0.0.x, crawls it twice with the same seeds, topic and number of
    pages, and compares both crawls with the truth.
    """
    plan = WebPlan(seed=seed, pages=size, hosts=300, topics=10)
    web = GeneratedWeb(plan)
    topic = web.topic_names.index("cycling")
    keywords = web.topic_keywords(topic)
    seeds = web.seeds(topic, 3, np.random.default_rng(seed))
    targets = web.targets(topic, seeds)
    out.print(
        f"a generated web: {size:,} pages on {plan.hosts} hosts, of which {len(targets):,} are about "
        f"[bold]{web.topic_names[topic]}[/] and can be reached from the {len(seeds)} seeds"
    )
    results: dict[str, Result] = {}
    with served(plan, addresses=ADDRESSES) as server:
        for strategy in STRATEGIES:
            workspace = Workspace(output / strategy)
            if workspace.directory.exists():
                if not workspace.has_crawl:
                    raise InputError(f"{workspace.directory}: not a crawl directory; choose another with -o")
                shutil.rmtree(workspace.directory)
            crawl = Crawl(
                keywords,
                seeds=[web.url(page, port=server.port) for page in seeds],
                directory=workspace.directory,
                strategy=strategy,
                budget={"pages": pages},
                politeness={"delay": 0.02, "fetch_time_factor": 0.0},
                # Few at a time: the more fetches run at once, the fewer results each can take into account.
                network={"fetches": 4, "allow": ["127.0.0.0/8"], "resolve": server.overrides},
            )
            began = time.monotonic()
            watcher = _watcher(f"{strategy}: {keywords}")
            report = start(partial(crawl.run, watcher=watcher))
            leave(report)
            ending = report.reason
            results[strategy] = _result(workspace, web, topic, targets, time.monotonic() - began)
            out.print(f"[bold]{strategy}[/]: {plain(ending)} in {results[strategy].seconds:.0f} s")
    _show(results)
    picture = output / "harvest.png"
    curves = {name: harvest_rate(result.true).tolist() for name, result in results.items()}
    found = {name: result.recall for name, result in results.items()}
    draw_curves(
        [
            ("harvest rate", "share of fetched pages on the topic", curves),
            ("recall", "share of the topic found", found),
        ],
        picture,
        title=f"“{keywords}” on a generated web of {size:,} pages",
        x_label="pages fetched",
    )
    out.print(f"picture: {plain(picture)}   crawls: {', '.join(f'{output / name}/' for name in STRATEGIES)}")
    out.print(f"[dim]next: lycosa status {output}/hunter   lycosa sql {output}/hunter 'select * from sites'[/]")


def _watcher(title: str) -> Watcher:
    return Panels(title) if is_terminal() else Lines(every=2.0)


def _result(workspace: Workspace, web: GeneratedWeb, topic: int, targets: set[int], seconds: float) -> Result:
    store = open_store(workspace, read_only=True)
    try:
        rows = [(page.url, page.is_relevant) for page in store.pages() if page.is_relevant is not None]
    finally:
        store.close()
    numbers = [web.page_of(url) for url, _ in rows]
    true = [number is not None and web.topic_of(number) == topic for number in numbers]
    found = recall([number in targets for number in numbers], len(targets)).tolist()
    return Result([is_relevant for _, is_relevant in rows], true, found, seconds)


def _show(results: dict[str, Result]) -> None:
    table = Table("", "pages", "judged relevant", "truly relevant", "true harvest rate", "recall", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, result in results.items():
        pages = max(1, len(result.true))
        table.add_row(
            f"[bold]{name}[/]",
            f"{len(result.true):,}",
            f"{sum(result.judged):,} ({sum(result.judged) / pages:.1%})",
            f"{sum(result.true):,}",
            f"{sum(result.true) / pages:.1%}",
            f"{result.recall[-1] if result.recall else 0:.1%}",
        )
    out.print(table)
    focused, plain_order = (results[name] for name in STRATEGIES)
    factor = sum(focused.true) / max(1, sum(plain_order.true))
    out.print(f"with the same number of fetches the focused crawl found [bold green]{factor:.1f} times[/] as much")
