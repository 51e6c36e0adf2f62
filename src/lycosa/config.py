"""The configuration: one frozen model per part, read once, stored with each run.

Each section is the settings class of the part it configures, so a default stands in one place. A TOML file
may leave out anything; an unknown key is an error that names the nearest known one.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ConfigDict, ValidationError

from lycosa import __version__
from lycosa.crawl.stall import StallSettings
from lycosa.crawl.steering import DistillingSettings
from lycosa.errors import ConfigError
from lycosa.fetch.decode import DecodeLimits
from lycosa.fetch.fetcher import FetchSettings
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.robots import RobotsSettings
from lycosa.fetch.transfer import HttpSettings
from lycosa.fetch.urls import UrlRules
from lycosa.lib.bounds import require_at_least
from lycosa.lib.nearest import nearest
from lycosa.page.limits import PageLimits
from lycosa.stopping.rules import Budget, StopRules


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """When a page counts as relevant."""

    kind: str = "auto"
    """What judges pages where no topic was trained: contrast (learns from words, from seeds, and in the crawl what the
    topic is not), keywords (the cosine to the words, paper TC). auto: contrast with hunter, keywords with other
    strategies."""
    seeds_are_examples: str = "auto"
    """Whether contrast learns from the seeds what the topic is: yes, no (they are places to start from), auto: without
    words, yes; with words, if half of the seeds fit these: those that do, and those that resemble one that does."""
    threshold: float = 0.0
    """Relevance from which on a page counts as relevant. 0: the judge's own, which is 0.1 for keywords, 0.5 for
    contrast and trained topics, and for a formula the smallest score above 0 among the start pages (paper AR, section
    2.3)."""
    widen_by: str = "parent"
    """How tunnelling widens a formula: parent (climb the taxonomy), drop (a frequent topic), weight (the rare one)."""
    is_not_after: bool = False
    """Crawl without a formula's NOT, and apply it to what was found (paper AR, section 2.3)."""

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"judge.threshold is {self.threshold}: it must lie between 0 and 1")
        for name, known in (
            ("kind", ("auto", "contrast", "keywords")),
            ("seeds_are_examples", ("auto", "yes", "no")),
            ("widen_by", ("parent", "drop", "weight")),
        ):
            if getattr(self, name) not in known:
                *others, last = known
                raise ConfigError(f"judge.{name} is {getattr(self, name)!r}: it must be {', '.join(others)} or {last}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierSettings:
    """Which links wait."""

    buffer: int = 0
    """At most so many links wait (paper TC: MAX_BUFFER); the worst are dropped. 0 means no limit."""
    follow_nofollow: bool = False
    """Follow links that their page asks crawlers not to follow."""
    max_distance: int = -1
    """Links from the nearest seed that are followed at most; 0: the seeds alone. -1 means no limit."""
    patience: float = 0.25
    """Wait for hosts that rest rather than fetch a link with less than this share of the best score; 0: never wait.
    Only for strategies whose scores are predictions, such as the hunter."""

    def __post_init__(self) -> None:
        require_at_least(self, "frontier", buffer=0, max_distance=-1, patience=0)
        if self.patience >= 1:
            raise ConfigError(f"frontier.patience is {self.patience}: it is a share, less than 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings:
    """Who we are, and whom we talk to."""

    contact: str = ""
    """An e-mail address or URL where site owners reach you; it becomes part of the User-Agent."""
    allow: tuple[str, ...] = ()
    """Networks that may be talked to although they are private, loopback, …: 127.0.0.0/8."""
    resolve: dict[str, str] = field(default_factory=dict)
    """Addresses for host names, before any look-up: {"intranet.test" = "10.0.0.7", "*.lab.test" = …}."""
    fetches: int = 64
    """Fetches under way at the same time, over all hosts."""

    def __post_init__(self) -> None:
        require_at_least(self, "network", fetches=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSettings:
    """The processes that read pages."""

    count: int = 0
    """Reader processes; 0 means one per core."""
    seconds: float = 10.0
    """A page that takes longer to read is given up, and its reader killed."""
    memory: int = 2 << 30
    """Bytes of address space a reader may use; its libraries alone take 300 MB."""

    def __post_init__(self) -> None:
        require_at_least(self, "readers", count=0, seconds=0.001, memory=1 << 29)

    @property
    def processes(self) -> int:
        return self.count or len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSettings:
    """What the web answered, kept as WARC."""

    is_on: bool = True
    """Without an archive pages cannot be exported with their text."""
    max_bytes: int = 1 << 30
    """A WARC file is closed and the next one begun when it has grown past this."""

    def __post_init__(self) -> None:
        require_at_least(self, "archive", max_bytes=1)


class Config(BaseModel):
    """Everything that can be set. TOML sections have the names of these fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: str = ""
    """What the pages should be about, in words; or a name for what `topics` or `interest` say. Empty: the seeds are
    examples of it."""
    topics: tuple[str, ...] = ()
    """Topics of the topic book: pages on these, or on what is below them, are relevant."""
    interest: str = ""
    """A formula over topics of the book: tourism AND (Ruegen OR Usedom) AND NOT camping."""
    seeds: tuple[str, ...] = ()
    """URLs to start from."""
    strategy: str = "hunter"
    """The order of the frontier: hunter, best-first, best-first-16, breadth-first, shark, fish, pagerank, infospiders,
    …"""
    constants: dict[str, bool | int | float] = {}
    """Constants of the strategy that are not its defaults: {"shark.depth" = 2}."""
    seed: int = 0
    """Of the random numbers, for strategies that use any."""
    cache: str = ""
    """Directory of a page cache shared between crawls."""
    judge: JudgeSettings = JudgeSettings()
    distill: DistillingSettings = DistillingSettings()
    budget: Budget = Budget()
    stop: StopRules = StopRules()
    stall: StallSettings = StallSettings()
    politeness: Politeness = Politeness()
    robots: RobotsSettings = RobotsSettings()
    urls: UrlRules = UrlRules()
    fetch: FetchSettings = FetchSettings()
    http: HttpSettings = HttpSettings()
    decode: DecodeLimits = DecodeLimits()
    network: NetworkSettings = NetworkSettings()
    page: PageLimits = PageLimits()
    readers: ReaderSettings = ReaderSettings()
    frontier: FrontierSettings = FrontierSettings()
    archive: ArchiveSettings = ArchiveSettings()

    @property
    def title(self) -> str:
        """What the crawl is about, for a heading."""
        if self.topic or not self.seeds:
            return self.topic
        others = len(self.seeds) - 1
        return f"pages like {self.seeds[0]}" + (f" and {others:,} more" if others else "")

    def user_agent(self) -> str:
        """Who we say we are: the product token robots.txt files can name, the version, and a contact."""
        contact = self.network.contact
        return self.http.user_agent or f"Lycosa/{__version__}" + (f" (+{contact})" if contact else "")

    def http_settings(self) -> HttpSettings:
        return dataclasses.replace(self.http, user_agent=self.user_agent())

    def to_toml(self) -> str:
        return tomli_w.dumps(_plain(self.model_dump()))


def load_file(path: Path) -> dict[str, Any]:
    """A TOML file as nested dictionaries."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: there is no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def load_crawl(path: Path, *, is_begun: bool) -> dict[str, Any]:
    """A crawl's own file. What one that was begun by an older version does not say is as it was then."""
    stored = load_file(path)
    judge = stored.setdefault("judge", {})
    if is_begun and isinstance(judge, dict):
        judge.setdefault("kind", "keywords")
    return stored


def build(*layers: tuple[str, Mapping[str, Any]]) -> Config:
    """One configuration from several layers, later ones winning. Each comes with a name for messages."""
    merged: dict[str, Any] = {}
    for name, layer in layers:
        _check_keys(layer, Config, where=name)
        _merge(merged, layer)
    try:
        return Config.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{key} is {first['input']!r}: {first['msg'][:1].lower()}{first['msg'][1:]}") from error


def known_keys(model: type[Any]) -> dict[str, Any]:
    """Names of a model's or a settings class's fields, with the class of a nested section."""
    if issubclass(model, BaseModel):
        return {name: info.annotation for name, info in model.model_fields.items()}
    return {item.name: None for item in dataclasses.fields(model)}


def _check_keys(layer: Mapping[str, Any], model: type[Any], *, where: str, section: str = "") -> None:
    known = known_keys(model)
    for key, value in layer.items():
        name = f"{section}{key}"
        if key not in known:
            raise ConfigError(f"{where}: unknown setting '{name}'{_nearest(name)}")
        nested = known[key]
        if _is_section(nested):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{where}: '{name}' is a section: write [{name}] and its settings below")
            _check_keys(value, nested, where=where, section=f"{name}.")


def _nearest(name: str) -> str:
    """The known setting that looks most like this one; if none does, what there is."""
    every = {key: list(known_keys(nested)) if _is_section(nested) else [] for key, nested in known_keys(Config).items()}
    section, dot, last = name.partition(".")
    if not every.get(section):
        section, dot, last = "", "", name
    near = [f"{other}.{last}" for other, inner in every.items() if last in inner]
    if not near:
        near = [f"{section}{dot}{found}" for found in nearest(last, every[section] if dot else every, cutoff=0.5)]
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; [{section}] has {', '.join(every[section])}" if dot else f"; there are {', '.join(every)}"


def _is_section(annotation: Any) -> bool:
    return dataclasses.is_dataclass(annotation)


def _merge(into: dict[str, Any], layer: Mapping[str, Any]) -> None:
    for key, value in layer.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            into[key] = {**into[key], **value}
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def _plain(value: Any) -> Any:
    """Only what TOML knows."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value
