"""Why a URL of a crawl was fetched, skipped or left waiting: what `results.explain` needs, put together."""

from __future__ import annotations

import numpy as np

from lycosa.config import Config
from lycosa.fetch.urls import Urls
from lycosa.judge_choice import judge_of
from lycosa.judges.protocol import LearnedTopic
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.deciding_words import DecidingWords
from lycosa.results.explain import explain
from lycosa.store.protocol import Reports
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import studying_strategy
from lycosa.workspace import Workspace


def explanation(workspace: Workspace, config: Config, store: Reports, url: str) -> list[tuple[str, str]]:
    """(heading, text) pairs."""
    judge = judge_of(config, workspace)

    def begin() -> tuple[LearnedTopic | None, Strategy]:
        parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(config.seed))
        return studying_strategy(config.strategy, parts, config.constants)

    words = DecidingWords(store, ArchivedPages(workspace.archive, store, config.reading(judge)), judge, begin)
    return list(
        explain(store, url, urls=Urls(config.urls), strategy=begin()[1], words=words, rules=judge.abilities.rules)
    )
