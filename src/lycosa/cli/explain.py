"""lycosa explain: why a URL was fetched, skipped or left waiting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer
from rich.table import Table

from lycosa.cli.opened import DIRECTORY, opened
from lycosa.cli.terminal import json_line, out, plain
from lycosa.crawl.resume import NOTHING, Covered
from lycosa.crawl.snapshots import Refused, load
from lycosa.fetch.urls import Urls
from lycosa.judge_choice import judge_of, newest_version, snapshot_settings
from lycosa.judges.protocol import LearnedTopic
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.deciding_words import DecidingWords
from lycosa.results.explain import explain as explain_url
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import studying_strategy


def explain(
    directory: Path = DIRECTORY,
    url: str = typer.Argument(help="Any URL, also one that was never fetched."),
    as_json: bool = typer.Option(False, "--json", help="As JSON: a list of [heading, text]."),
) -> None:
    """Why a URL was fetched, skipped or left waiting: its origin, score, fetches, judgement.

    In a crawl with hard focus, decay or tunnelling: also the rule that let it in, moved it or turned it away.
    """
    with opened(directory) as (workspace, config, store):
        judge = judge_of(config, workspace)

        def begin() -> tuple[LearnedTopic | None, Strategy]:
            parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(config.seed))
            return studying_strategy(config.strategy, parts, config.constants)

        def known() -> tuple[LearnedTopic | None, Strategy, Covered]:
            """Begun with what a snapshot tells, where one fits."""
            study, strategy = begin()
            if strategy.abilities.rules is not None:  # it has to pass through all changes of focus again
                return study, strategy, NOTHING
            settings = snapshot_settings(config, strategy.name, version=newest_version(config, workspace))
            try:
                return study, strategy, load(strategy, store, workspace.snapshots, settings)
            except Refused:
                return *begin(), NOTHING

        words = DecidingWords(store, ArchivedPages(workspace.archive, store, config.reading(judge)), judge, known)
        facts = list(
            explain_url(
                store,
                url,
                urls=Urls(config.urls),
                strategy=begin()[1],
                known=lambda: known()[1:],
                words=words,
                reasons=words.reasons,
                rules=judge.abilities.rules,
            )
        )
    if as_json:
        print(json_line(facts))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, text in facts:
        table.add_row(heading, plain(text))
    out.print(plain(url), style="bold")
    out.print(table)
