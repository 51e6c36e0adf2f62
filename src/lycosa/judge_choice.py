"""Which judge a crawl has: for words and examples, for topics of its book, or for a formula over them."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from lycosa import __version__
from lycosa.config import Config
from lycosa.errors import ConfigError, InputError
from lycosa.fetch.urls import parse_seed
from lycosa.judges import meaning
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.generalise import ForLinks, RarerBy, Way
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.protocol import Judge
from lycosa.judges.table import CLASSIFIER_NAMES, own_judge
from lycosa.judges.topic_judges import FormulaJudge, TopicJudge
from lycosa.lib.text import term_counts
from lycosa.strategies.table import AnyStrategy
from lycosa.strategies.table import strategy as strategy_named
from lycosa.topics.book import TopicBook
from lycosa.topics.judges import interest_judge, topic_judge
from lycosa.workspace import Workspace

FOR_WORDS, FOR_TOPICS = 0.1, 0.5
"""Thresholds where none is set."""

UNTRAINED = ("contrast", "keywords")
TrainedJudge = TopicJudge | FormulaJudge


def is_trained(config: Config) -> bool:
    return bool(config.topics or config.interest)


def settled(config: Config, strategy: AnyStrategy | None = None) -> Config:
    """With the kind of judge decided, and whether meaning counts: a crawl goes on with it, whatever a later version
    would choose, or what is installed later."""
    if is_trained(config):
        return config
    judge = config.judge
    if judge.kind == "auto":
        judge = replace(judge, kind="contrast" if _is_learning(config, strategy) else "keywords")
    if judge.meaning == "auto":
        has_use = judge.kind == "contrast" and bool(config.topic)
        judge = replace(judge, meaning="on" if has_use and meaning.is_installed() else "off")
    return config.model_copy(update={"judge": judge})


def require_vectors(config: Config) -> None:
    """Refuse to crawl by the meaning of words without their vectors. Whoever only looks at a crawl needs none."""
    if not is_trained(config) and config.judge.kind == "contrast" and config.judge.meaning == "on":
        meaning.require_installed()


def _is_learning(config: Config, strategy: AnyStrategy | None = None) -> bool:
    """Whether the strategy begins a study of the topic; one that a program made is handed in."""
    return strategy_named(strategy or config.strategy, settings=config.constants).abilities.studies_topic


def has_open_threshold(config: Config) -> bool:
    """Whether the start pages decide from which relevance on a page counts as relevant."""
    return bool(config.interest) and not config.judge.threshold


def judge_of(config: Config, workspace: Workspace, *, threshold: float | None = None) -> Judge:
    """The crawl's judge: for a trained one, the newest version in the crawl's own copy of the topic book."""
    chosen = threshold or config.judge.threshold
    if not is_trained(config):
        config = settled(config)
        if config.judge.kind in UNTRAINED:
            return _untrained(config, chosen)
        available = {
            "topic": config.topic,
            "seeds": tuple(map(parse_seed, config.seeds)),
            "threshold": chosen or FOR_TOPICS,
        }
        return own_judge(config.judge.kind, available, known=UNTRAINED, threshold=chosen)
    if not workspace.topics.exists():
        raise InputError(
            f"{workspace.topics}: the crawl's copy of the topic book is missing; begin the crawl with --book FILE"
        )
    with TopicBook(workspace.topics) as book:
        return judge_from(book, config, chosen)


def _untrained(config: Config, threshold: float) -> KeywordJudge | ContrastJudge:
    if config.topic and not term_counts(config.topic):
        raise ConfigError(
            f"topic {config.topic!r} has no word to look for: give at least one that is not a stop word, such as "
            "'recreational cycling'"
        )
    wanted = config.judge.seeds_are_examples
    if not config.topic and (config.judge.kind == "keywords" or wanted == "no" or not _is_learning(config)):
        hindrance = (
            "judge.seeds_are_examples is no"
            if wanted == "no"
            else f"strategy {config.strategy!r} with judge {config.judge.kind} needs words"
        )
        raise InputError(
            f"no topic is given, and {hindrance}: say what the pages should be about, lycosa crawl 'recreational "
            "cycling' …, or let the seeds be examples: --strategy hunter, which has the judge contrast"
        )
    if config.judge.kind == "keywords":
        return KeywordJudge(config.topic, threshold=threshold or FOR_WORDS, languages=_languages(config) or ("en",))
    return ContrastJudge.fit(
        (),
        config.topic,
        learns_from_seeds=wanted != "no",
        seeds_must_fit=wanted == "auto" and bool(config.topic),
        has_meaning=config.judge.meaning == "on",
        threshold=threshold or FOR_TOPICS,
    )


def judge_from(book: TopicBook, config: Config, threshold: float = 0.0) -> TrainedJudge:
    chosen = threshold or config.judge.threshold or FOR_TOPICS
    _require_kind(book, config.judge.kind)
    if config.interest:
        return interest_judge(
            book,
            config.interest,
            threshold=chosen,
            given=config.judge.frequencies,
            languages=_languages(config),
            not_after=config.judge.is_not_after,
            considerable=config.judge.considerable,
            way=Way(config.judge.widen_by),
            links=ForLinks(config.judge.links_by),
            rarer_by=RarerBy(config.judge.rarer_by),
        )
    return topic_judge(book, config.topics, threshold=chosen, languages=_languages(config))


def _require_kind(book: TopicBook, kind: str) -> None:
    """ConfigError if a kind of trained judge was asked for, and the book's newest one is of another."""
    if kind in CLASSIFIER_NAMES and kind not in UNTRAINED and (found := book.load_judge().kind) != kind:
        raise ConfigError(
            f"judge {kind} is asked for, but the newest in {book.path} is {found}: train one with lycosa topics train "
            f"--judge {kind}, or leave --judge out"
        )


def _languages(config: Config) -> tuple[str, ...]:
    """Those that anchors and URLs may be in, as far as it was said."""
    if config.judge.languages or config.page.language == "auto":
        return config.judge.languages
    return (config.page.language,)


def newest_version(config: Config, workspace: Workspace) -> int:
    """Of the trained judge in the crawl's own book; 0 if the crawl has another."""
    return Versions(workspace.topics, config).newest() if is_trained(config) else 0


def snapshot_settings(config: Config, strategy: str, *, version: int) -> dict[str, Any]:
    """What a strategy's knowledge depends on besides the visits. `version`: of the trained judge."""
    kept = tomllib.loads(config.to_toml())
    names = ("topic", "topics", "interest", "constants", "judge")
    return {
        "version": __version__,
        "strategy": strategy,
        **{name: kept[name] for name in names},
        "trained judge": version,
    }


class Versions:
    """Looks for a newer judge in the crawl's book: somebody may give feedback while the crawl runs."""

    def __init__(self, path: Path, config: Config) -> None:
        self._path = path
        self._config = config

    def newest(self) -> int:
        with TopicBook(self._path) as book:
            return book.newest_version()

    def newer(self, version: int) -> tuple[int, TrainedJudge, str] | None:
        with TopicBook(self._path) as book:
            if book.newest_version() <= version:
                return None
            trained = book.load_judge()
            marked = trained.report.get("marked_pages", 0)
            after = f" after feedback on {marked:,} {'page' if marked == 1 else 'pages'}" if marked else ""
            lesson = f"version {trained.version} ({trained.kind}) took over{after}"
            return trained.version, judge_from(book, self._config), lesson
