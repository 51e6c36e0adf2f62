"""lycosa status: where a crawl stands."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import typer
from rich.table import Table

from lycosa.cli.opened import DIRECTORY, opened
from lycosa.cli.terminal import out, plain
from lycosa.crawl.certainty import CERTAINTY, Certainty
from lycosa.crawl.seeds import seed_troubles
from lycosa.crawl.start_threshold import START_THRESHOLD, StartThreshold
from lycosa.seeds.metasearch.panel import FINE
from lycosa.stopping.outlook import OUTLOOK
from lycosa.store.rows import Answer, EngineCount, RunRow
from lycosa.workspace import Workspace

SHOWN_SEEDS = 20


def status(
    directory: Path = DIRECTORY, as_json: bool = typer.Option(False, "--json", help="As one JSON object.")
) -> None:
    """Where a crawl stands: pages, harvest rate, what happened, what waits."""
    with opened(directory, over_shards=True) as (workspace, config, store):
        totals = store.totals()
        recent = store.recent_relevance(1000)
        run = store.last_run()
        outcomes = store.outcome_counts(15)
        excluded = store.exclusions(15)
        set_aside = store.hosts_set_aside(10)
        seeds = seed_troubles(store)
        outlook = json.loads(store.state(OUTLOOK) or "{}")
        certainty = Certainty.from_bytes(store.state(CERTAINTY))
        threshold = StartThreshold.from_bytes(store.state(START_THRESHOLD))
        engines = store.engine_counts()
        troubles = Counter((row.engine, row.outcome) for row in store.search_answers() if row.outcome not in FINE)
        said = Counter({row.url: row.answer for row in store.answers()}.values())
    answers = {answer: said[answer] for answer in (Answer.RELEVANT, Answer.IRRELEVANT)}
    harvest = totals.relevant / max(1, totals.pages)
    harvest_recent = sum(relevant for _, relevant in recent) / max(1, len(recent))
    if as_json:
        figures = {
            "topic": config.topic,
            "strategy": config.strategy,
            "pages": totals.pages,
            "relevant": totals.relevant,
            "harvest": round(harvest, 4),
            "harvest_1000": round(harvest_recent, 4),
            "links": totals.links,
            "waiting": totals.waiting,
            "forecast": outlook.get("forecast"),
            "calibration": outlook.get("calibration"),
            "certainty": certainty and certainty._asdict(),
            "threshold": threshold and {**threshold._asdict(), "warning": threshold.warning},
            "answers": answers,
            "is_running": workspace.holder() is not None,
            "stop_reason": run.stop_reason if run else None,
            "outcomes": [{"kind": kind, "reason": reason, "count": count} for kind, reason, count in outcomes],
            "excluded": excluded,
            "set_aside": set_aside,
            "search_engines": {
                row.engine: {
                    **row._asdict(),
                    "failures": {why: n for (name, why), n in troubles.items() if name == row.engine},
                }
                for row in engines
            },
            "seeds_not_started": {trouble.url: trouble.why for trouble in seeds},
        }
        print(json.dumps(figures))
        return
    out.print(f"[bold]{plain(config.title)}[/]  ({plain(config.strategy)})")
    out.print(_run_line(workspace, run))
    out.print(
        f"{totals.pages:,} pages of {config.budget.pages:,}, [green]{totals.relevant:,} relevant[/]: harvest rate "
        f"{harvest:.1%}, last 1,000 {harvest_recent:.1%}"
    )
    out.print(f"{totals.links:,} URLs seen, {totals.waiting:,} wait")
    if threshold:
        out.print(plain(threshold.in_words, 300))
        if threshold.warning:
            out.print(f"[yellow]{plain(threshold.warning, 600)}[/]")
    if any(answers.values()):
        count = sum(answers.values())
        noun = "page" if count == 1 else "pages"
        relevant, others = answers[Answer.RELEVANT], answers[Answer.IRRELEVANT]
        out.print(f"{count:,} {noun} judged by a person: {relevant:,} relevant, {others:,} not")
    if certainty and certainty.in_words:
        out.print(certainty.in_words)
    for line in outlook.get("words", []):
        out.print(plain(line, 300))
    _table("what happened", [(f"{kind}: {reason}", f"{count:,}") for kind, reason, count in outcomes])
    _table("left out", [(reason, f"{count:,}") for reason, count in excluded.items()])
    _table("search engines", [(row.engine, _engine_line(row, troubles)) for row in engines])
    _table("hosts set aside", list(set_aside.items()))
    _table("seeds that could not start", [(trouble.url, trouble.why) for trouble in seeds[:SHOWN_SEEDS]], width=300)
    if len(seeds) > SHOWN_SEEDS:
        out.print(f"and {len(seeds) - SHOWN_SEEDS:,} more seeds: lycosa status --json")


def _engine_line(row: EngineCount, troubles: Counter[tuple[str, str]]) -> str:
    failed = ", ".join(f"{why} {count:,}×" for (name, why), count in troubles.items() if name == row.engine)
    pages = f"{row.pages:,} page{'s' * (row.pages != 1)} fetched, {row.relevant:,} relevant"
    return f"{row.answered:,} of {row.asked:,} queries answered; {pages}" + (f"; {failed}" if failed else "")


def _run_line(workspace: Workspace, run: RunRow | None) -> str:
    if run is None:
        return "never run"
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.started_at))
    holder = workspace.holder()
    if holder is not None:
        return f"running since {since} (process {holder})"
    if run.stop_reason is None:
        return f"cut off: the run of {since} was killed or met an error; the same command goes on from its last commit"
    return f"stopped: {plain(run.stop_reason)} (run of {since})"


def _table(title: str, rows: list[tuple[str, str]], width: int = 100) -> None:
    if not rows:
        return
    table = Table(box=None, pad_edge=False, show_header=False, title=title, title_justify="left", title_style="dim")
    for name, value in rows:
        table.add_row(plain(name, 60), plain(value, width))
    out.print(table)
