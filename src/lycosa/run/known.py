"""What a run goes on from: judge, strategy and seeds by the settings, and what the store knows.

What refuses a setting comes first: a configuration that cannot work must not become the crawl's own. Nothing is written
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from lycosa.config import Config
from lycosa.crawl.clock_watch import settle_clocks
from lycosa.crawl.own_study import OwnStudy
from lycosa.crawl.reading import Reading
from lycosa.crawl.resume import NOTHING, THRESHOLD, Covered, CrawlState, resume
from lycosa.crawl.snapshots import Refused, load
from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.given import canonical_answers, checked_seeds
from lycosa.judge_choice import newest_version, snapshot_settings
from lycosa.judges.protocol import Judge, LearnedTopic
from lycosa.lib.clock import SystemClock
from lycosa.run.given import Given
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import studying_strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    judge: Judge
    strategy: Strategy
    study: LearnedTopic | None
    """That the strategy began."""
    covered: Covered
    """What strategy and study know from a snapshot."""
    refused: str
    """Why it is none, in words."""
    reading: Reading
    seeds: Mapping[str, str]
    answers: Mapping[str, str]
    """By canonical URL."""
    clock: SystemClock
    started: float
    moved: str
    """By how much the machine's clock was set since the last run, in words."""
    state: CrawlState


def known_by(given: Given) -> Known:
    config, store, shard = given.config, given.store, given.shard
    found = store.state(THRESHOLD)
    judge = given.judge_for(float(found) if found else None)
    study, strategy, covered, refused = _known_strategy(given, judge)
    reading = replace(config.reading(judge), digest=strategy.abilities.digest)
    seeds = checked_seeds(config, reading.urls)
    answers = canonical_answers(given.answers, reading.urls)
    if shard is not None:
        seeds = {url: plain for url, plain in seeds.items() if shard.owns(url)}
        answers = {url: answer for url, answer in answers.items() if shard.owns(url)}
    clock = SystemClock()
    started = clock.now()
    moved = settle_clocks(store, now=started)
    state = resume(
        store,
        frontier=_frontier(config, strategy),
        strategy=strategy,
        politeness=config.politeness,
        links=config.link_rules(),
        rules=config.stop,
        rest_from=started if store.was_cut_off() else None,
        begun_with=given.begun_with,
        covered=covered,
        traps=config.traps,
    )
    if study is not None and shard is not None:
        study = OwnStudy(study, state.foreign)
    return Known(
        judge=judge,
        strategy=strategy,
        study=study,
        covered=covered._replace(urls=None),  # views of the snapshot's file, which would stay in memory
        refused=refused,
        reading=reading,
        seeds=seeds,
        answers=answers,
        clock=clock,
        started=started,
        moved=moved,
        state=state,
    )


def _frontier(config: Config, strategy: Strategy) -> Frontier:
    frontier = Frontier(
        buffer=config.frontier.buffer or None,
        host_buffer=config.frontier.links_per_host or None,
        slots_per_host=config.politeness.connections_per_host,
        slots_per_address=config.politeness.connections_per_address,
    )
    if strategy.abilities.forecasting is not None:  # its scores are predictions
        frontier.be_patient(config.frontier.patience)
    return frontier


def _known_strategy(given: Given, judge: Judge) -> tuple[LearnedTopic | None, Strategy, Covered, str]:
    """The strategy, the study that it began, what they know from a snapshot, and why it is none."""
    config, workspace = given.config, given.workspace
    study, strategy = studied_strategy(config, judge, given.strategy)
    try:
        settings = snapshot_settings(config, strategy.name, version=newest_version(config, workspace))
        return study, strategy, load(strategy, given.store, workspace.snapshots, settings), ""
    except Refused as error:
        why = f"the snapshot is not used: {error}; all visits were told again"
        return *studied_strategy(config, judge, given.strategy), NOTHING, why


def studied_strategy(
    config: Config, judge: Judge, own: Strategy | Callable[..., Strategy] | None
) -> tuple[LearnedTopic | None, Strategy]:
    """The strategy, a person's own or by its name, and the study of the topic that it began, if it did."""
    parts = StrategyParts.of(
        judge.abilities, rng=np.random.default_rng(config.seed), buffer=config.frontier.buffer or None
    )
    study, strategy = studying_strategy(own or config.strategy, parts, config.constants)
    if strategy.abilities.advice is not None and judge.abilities.interest is None:
        raise ConfigError(
            f"strategy {config.strategy!r} widens topics of a taxonomy, and this crawl has only words; crawl for a "
            "--topic or an --interest, or leave tunnel+ out"
        )
    return study, strategy
