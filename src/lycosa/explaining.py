"""Why a URL of a crawl was fetched, skipped or left waiting: what `results.explain` needs, put together."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lycosa.config import Config
from lycosa.crawl.resume import NOTHING, Covered
from lycosa.crawl.snapshots import Refused, load
from lycosa.fetch.urls import Urls, url_hash
from lycosa.judge_choice import judge_of, newest_version, snapshot_settings
from lycosa.judges.protocol import LearnedTopic
from lycosa.opened import opened
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.deciding_words import DecidingWords
from lycosa.results.explain import explain
from lycosa.store.protocol import Reports
from lycosa.store.rows import LinkRow, State
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import studying_strategy
from lycosa.usage import in_words
from lycosa.workspace import Workspace


def explanation_in(directory: Path, url: str) -> list[tuple[str, str]]:
    """The same of a crawl in a directory, or of a cluster's, whose shard that knows the URL is asked."""
    with opened(directory, over_shards=True) as (workspace, config, whole):
        if not workspace.has_shards:
            return explanation(workspace, config, whole, url)
        canonical, _ = Urls(config.urls).canonical(url)
        link = whole.find_link(canonical, url_hash(canonical)) if canonical else None
        if link is not None and link.state == State.ELSEWHERE:
            return [("state", "found, and on its way to the shard that fetches it")]
        shard, _ = whole.shard_of(link.id) if link is not None else (0, 0)
        with opened(workspace.shards / f"{shard:04d}") as own:
            return explanation(*own, url, citing=whole)


def explanation(
    workspace: Workspace, config: Config, store: Reports, url: str, *, citing: Reports | None = None
) -> list[tuple[str, str]]:
    """(heading, text) pairs. `citing`: the store of all shards, if `store` is that of one."""
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

    pages = ArchivedPages(workspace.archive, store, config.reading(judge))
    words = DecidingWords(store, pages, judge, known)

    def usage(link: LinkRow) -> str:
        page = store.page(link.id)
        document = pages.clean_at(page.archive_file, page.archive_offset) if page and page.archive_file else None
        return in_words(pages.usage(link.url, document))

    return list(
        explain(
            store,
            url,
            urls=Urls(config.urls),
            strategy=begin()[1],
            known=lambda: known()[1:],
            words=words,
            reasons=words.reasons,
            rules=judge.abilities.rules,
            usage=usage,
            citing=citing,
        )
    )
