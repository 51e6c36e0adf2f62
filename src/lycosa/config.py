"""The configuration: one frozen model, read once and stored with each run.

Each section is the settings class of the part it configures, so every default is defined in one place. A TOML file
may leave out anything; an unknown key is an error that suggests the nearest known one.
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
from lycosa.crawl.alarms import AlarmSettings
from lycosa.crawl.centrality import DistillingSettings
from lycosa.crawl.link_rules import LinkRules
from lycosa.crawl.lists import ListSettings
from lycosa.crawl.reading import Reading
from lycosa.crawl.stall import StallSettings
from lycosa.crawl.traps import TrapSettings
from lycosa.errors import ConfigError
from lycosa.fetch.access import AccessSettings
from lycosa.fetch.browser import BrowserSettings
from lycosa.fetch.decode import DecodeLimits
from lycosa.fetch.fetcher import FetchSettings
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.robots import RobotsSettings
from lycosa.fetch.transfer import HttpSettings
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.generalise import CONSIDERABLE
from lycosa.judges.protocol import Judge
from lycosa.lib.bounded_file import read_text
from lycosa.lib.bounds import require_above_zero, require_at_least, require_at_most
from lycosa.lib.languages import STEMMERS
from lycosa.lib.nearest import nearest
from lycosa.page.limits import PageLimits
from lycosa.seeds.metasearch.settings import EngineSettings, MetaSearchSettings
from lycosa.stopping.rules import Budget, StopRules


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """How pages are judged, and when one counts as relevant."""

    kind: str = "auto"
    """Judge to use if no topic was trained: contrast (learns from the topic's words and the seeds, and during the crawl
    what the topic is not), keywords (cosine similarity to the words, paper TC), or one of your own: module:Class or the
    name of an entry point. auto: contrast with the hunter, keywords with any other strategy."""
    seeds_are_examples: str = "auto"
    """Whether contrast takes the seeds as examples of the topic: yes or no (they are only places to start from). auto:
    yes if no words are given; otherwise, if at least half of the seeds match the words, the seeds that match and those
    similar to them."""
    meaning: str = "auto"
    """Whether contrast looks at the meaning of words, while it knows no examples: pages that begin with other words for
    the topic are near it, too. on needs lycosa[meaning]; auto: on if that is installed when the crawl begins. off."""
    threshold: float = 0.0
    """Minimum relevance of a relevant page. 0: the judge's own threshold, which is 0.1 for keywords, 0.5 for contrast
    and trained topics, and for a formula the smallest score above 0 among the start pages (paper AR, section 2.3)."""
    widen_by: str = "parent"
    """How tunnelling widens a formula: parent (climb the taxonomy), drop (a frequent topic), weight (the rare one)."""
    is_not_after: bool = False
    """Ignore the NOT of a formula during the crawl and apply it to the pages found (paper AR, section 2.3): pages about
    an excluded topic lead the way like others, and are not reported as relevant."""
    considerable: float = CONSIDERABLE
    """Minimum score for an excluded topic of a page that is left out, where NOT is applied to the pages found."""
    languages: tuple[str, ...] = ()
    """Languages of anchors and URLs, as ISO 639-1 codes: their few words are read in each of them. Empty: those of the
    examples of trained topics; English for a topic given in words."""
    links_by: str = "rarer"
    """What of A AND B scores anchors and URLs, whose few words are seldom about both (paper AR, section 3.2): rarer
    (the rarer of the two topics) or either (A OR B)."""
    rarer_by: str = "score"
    """How tunnelling tells the rarer topic from the pages visited so far: score (its mean score is the smaller) or
    lowering (it was more often the topic with the smallest score of a page). Before that, the examples tell."""
    frequencies: dict[str, float] = field(default_factory=dict)
    """Share of all pages that are about a topic, where you know better than examples and pages visited do:
    {Sailing = 0.001, "Places/Usedom" = 0.02}. Only for topics of a formula and those above them."""

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"judge.threshold is {self.threshold}: it must be between 0 and 1")
        require_above_zero(self, "judge", "considerable")
        require_at_most(self, "judge", considerable=1)
        for language in self.languages:
            if language not in STEMMERS:
                raise ConfigError(f"judge.languages: {language!r} is not one of {', '.join(STEMMERS)}")
        for name, known in (
            ("seeds_are_examples", ("auto", "yes", "no")),
            ("meaning", ("auto", "on", "off")),
            ("widen_by", ("parent", "drop", "weight")),
            ("links_by", ("rarer", "either")),
            ("rarer_by", ("score", "lowering")),
        ):
            if getattr(self, name) not in known:
                *others, last = known
                raise ConfigError(f"judge.{name} is {getattr(self, name)!r}: it must be {', '.join(others)} or {last}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierSettings:
    """Which links are queued."""

    buffer: int = 0
    """Maximum number of waiting links (paper TC: MAX_BUFFER); the worst are dropped. 0 means no limit."""
    links_per_host: int = 100_000
    """Maximum number of waiting links of a host; the worst are dropped, and may come back when they are found again.
    0 means no limit."""
    follow_nofollow: bool = False
    """Follow links that their page marks as nofollow."""
    max_distance: int = -1
    """Maximum number of links between a page and the nearest seed; 0: only the seeds. -1 means no limit."""
    patience: float = 0.25
    """Minimum score of the next link, as a share of the best score: rather than fetch a worse link, wait for the hosts
    that are resting. 0: never wait. Applies only to strategies whose scores are predictions, such as the hunter."""

    def __post_init__(self) -> None:
        require_at_least(self, "frontier", buffer=0, links_per_host=0, max_distance=-1, patience=0)
        if self.patience >= 1:
            raise ConfigError(f"frontier.patience is {self.patience}: it must be less than 1, as it is a share")


MOST_FETCHES = 10_000
MOST_READERS = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings:
    """How the crawler identifies itself, and which addresses it may contact."""

    contact: str = ""
    """E-mail address or URL at which site owners can reach you; it becomes part of the User-Agent."""
    allow: tuple[str, ...] = ()
    """Networks that may be contacted although they are private, loopback, …: 127.0.0.0/8."""
    resolve: dict[str, str] = field(default_factory=dict)
    """Addresses of host names that are not to be looked up: {"intranet.test" = "10.0.0.7", "*.lab.test" = …}."""
    fetches: int = 64
    """Maximum number of simultaneous fetches, over all hosts."""

    def __post_init__(self) -> None:
        require_at_least(self, "network", fetches=1)
        require_at_most(self, "network", fetches=MOST_FETCHES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSettings:
    """The processes that read pages."""

    count: int = 0
    """Number of reader processes; 0 means one for each core but one, which is the crawl's own; at least one."""
    seconds: float = 10.0
    """Time limit for reading one page, after which the page is given up and its reader killed."""
    memory: int = 2 << 30
    """Maximum address space of a reader, in bytes; its libraries alone take 300 MB."""
    confined: str = "auto"
    """Whether readers have no network and cannot change files, where the system can enforce that (Linux): on or off.
    auto: on, unless the judge or the strategy is one of your own, which may need either."""

    def __post_init__(self) -> None:
        if self.confined not in ("auto", "on", "off"):
            raise ConfigError(f"readers.confined is {self.confined!r}: it must be auto, on or off")
        require_at_least(self, "readers", count=0, seconds=0.001, memory=1 << 29)
        require_at_most(self, "readers", count=MOST_READERS)

    @property
    def processes(self) -> int:
        return self.count or max(1, len(os.sched_getaffinity(0)) - 1)

    def confines(self, *parts: object) -> bool:
        """Whether readers are confined that run these parts: a judge, and what a strategy computes."""
        return self.confined == "on" or (self.confined == "auto" and all(map(_is_ours, parts)))


def _is_ours(part: object) -> bool:
    made_by = getattr(part, "func", part)  # of a partial
    module = getattr(made_by, "__module__", None) or type(made_by).__module__
    return part is None or str(module).partition(".")[0] == "lycosa"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSettings:
    """The answers of the web, kept as WARC files."""

    is_on: bool = True
    """Keep an archive. Without one, pages cannot be exported with their text."""
    max_bytes: int = 1 << 30
    """Size of a WARC file, in bytes, beyond which the next one is started."""
    target: str = ""
    """Where finished WARC files go: a directory, or a URL such as s3://bucket/crawl. Empty: they stay in archive/."""

    def __post_init__(self) -> None:
        require_at_least(self, "archive", max_bytes=1)


class Config(BaseModel):
    """All settings. TOML sections are named after these fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: str = ""
    """Words that describe the topic; or, with `topics` or `interest`, a title for the crawl. Empty: the seeds are
    examples of the topic."""
    topics: tuple[str, ...] = ()
    """Topics of the topic book: pages on these or on their subtopics are relevant."""
    interest: str = ""
    """Formula over topics of the topic book: tourism AND (Ruegen OR Usedom) AND NOT camping."""
    seeds: tuple[str, ...] = ()
    """URLs to start from. Where the scheme is left out (`example.org`), https is tried, then http."""
    strategy: str = "hunter"
    """Strategy that orders the frontier: hunter, best-first, best-first-16, breadth-first, shark, fish, pagerank,
    infospiders, …"""
    constants: dict[str, bool | int | float] = {}
    """Constants of the strategy that differ from its defaults: {"shark.depth" = 2}."""
    seed: int = 0
    """Seed of the random number generator, for strategies that use one."""
    cache: str = ""
    """Directory of a page cache shared between crawls."""
    judge: JudgeSettings = JudgeSettings()
    distill: DistillingSettings = DistillingSettings()
    budget: Budget = Budget()
    stop: StopRules = StopRules()
    metasearch: MetaSearchSettings = MetaSearchSettings()
    stall: StallSettings = StallSettings()
    politeness: Politeness = Politeness()
    robots: RobotsSettings = RobotsSettings()
    urls: UrlRules = UrlRules()
    fetch: FetchSettings = FetchSettings()
    http: HttpSettings = HttpSettings()
    decode: DecodeLimits = DecodeLimits()
    network: NetworkSettings = NetworkSettings()
    access: AccessSettings = AccessSettings()
    page: PageLimits = PageLimits()
    readers: ReaderSettings = ReaderSettings()
    browser: BrowserSettings = BrowserSettings()
    frontier: FrontierSettings = FrontierSettings()
    lists: ListSettings = ListSettings()
    archive: ArchiveSettings = ArchiveSettings()
    traps: TrapSettings = TrapSettings()
    alarms: AlarmSettings = AlarmSettings()

    @property
    def title(self) -> str:
        """A heading for the crawl: its topic, or its first seed."""
        if self.topic or not self.seeds:
            return self.topic
        others = len(self.seeds) - 1
        return f"pages like {self.seeds[0]}" + (f" and {others:,} more" if others else "")

    def user_agent(self) -> str:
        """Our User-Agent: the product token that robots.txt files can name, the version, and a contact."""
        contact = self.network.contact
        return self.http.user_agent or f"Lycosa/{__version__}" + (f" (+{contact})" if contact else "")

    def http_settings(self) -> HttpSettings:
        return dataclasses.replace(self.http, user_agent=self.user_agent())

    def reading(self, judge: Judge) -> Reading:
        """How the crawl reads pages; whoever reads them again later must read them the same way."""
        return Reading(
            urls=Urls(self.urls),
            judge=judge,
            words=judge.abilities.words if self.topics or self.interest else self.topic,
            limits=self.page,
            decode_limits=self.decode,
            product_token=self.robots.product_token,
            purpose=self.robots.purpose,
        )

    def link_rules(self) -> LinkRules:
        return LinkRules(
            follow_nofollow=self.frontier.follow_nofollow,
            max_distance=None if self.frontier.max_distance < 0 else self.frontier.max_distance,
            max_links_per_host=self.politeness.max_links_per_host,
            max_redirects=self.fetch.max_redirects,
        )

    def to_toml(self) -> str:
        return tomli_w.dumps(_plain(self.model_dump()))


MOST_SETTINGS = 16 << 20
"""Bytes of a file of settings."""
GREATEST = 2**53
"""Greatest whole number in the settings: larger ones do not fit where they are used."""


def load_file(path: Path) -> dict[str, Any]:
    """A TOML file as nested dictionaries."""
    try:
        return tomllib.loads(read_text(path, most=MOST_SETTINGS))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: there is no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def load_crawl(path: Path, *, is_begun: bool) -> dict[str, Any]:
    """A crawl's own lycosa.toml. A crawl begun by a version without some setting goes on as that version did."""
    stored = load_file(path)
    before = (("judge", "kind", "keywords"), ("judge", "meaning", "off"), ("page", "language", "en"))
    for section, name, value in before:
        settings = stored.setdefault(section, {})
        if is_begun and isinstance(settings, dict):
            settings.setdefault(name, value)
    return stored


Layer = tuple[str, Mapping[str, Any]]
"""Settings, with a name for error messages."""


def build(*layers: Layer) -> Config:
    """One configuration from several layers, of which later ones win."""
    merged: dict[str, Any] = {}
    for name, layer in layers:
        _check_keys(layer, Config, where=name)
        _merge(merged, layer)
    try:
        return Config.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        # What stands in the table of a search engine is not repeated: it may be a key, in the wrong place.
        shown = "" if key.startswith("metasearch.engines") else f" is {first['input']!r}"
        raise ConfigError(f"{key}{shown}: {first['msg'][:1].lower()}{first['msg'][1:]}") from error


def known_keys(model: type[Any]) -> dict[str, Any]:
    """Fields of a model or settings class by name, each with the class of its section, if it is one."""
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
        if name == "metasearch.engines":
            _check_engines(value, where=where)
        if _is_section(nested):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{where}: '{name}' is a section: write [{name}] and its settings below")
            _check_keys(value, nested, where=where, section=f"{name}.")
        elif isinstance(value, int) and abs(value) > GREATEST:
            raise ConfigError(f"{where}: {name} is {value:.3e}: a whole number in the settings is at most 2**53")


def _check_engines(engines: Any, *, where: str) -> None:
    known = known_keys(EngineSettings)
    for engine in engines if isinstance(engines, (list, tuple)) else [None]:
        if not isinstance(engine, Mapping):
            raise ConfigError(f"{where}: metasearch.engines: write a table [[metasearch.engines]] for each engine")
        for key in engine:
            if key in ("key", "api_key", "token"):
                raise ConfigError(
                    f"{where}: metasearch.engines: a key does not belong in a file; put it into an environment "
                    f'variable and name that: key_env = "SEARCH_KEY"'
                )
            if key not in known:
                near = nearest(key, known, cutoff=0.5)
                hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"
                raise ConfigError(f"{where}: unknown setting '{key}' of a search engine; {hint}")


def _nearest(name: str) -> str:
    """End of an error message: the known setting most similar to this one; if there is none, the settings there are."""
    every = {key: list(known_keys(nested)) if _is_section(nested) else [] for key, nested in known_keys(Config).items()}
    section, dot, last = name.partition(".")
    if not every.get(section):
        section, dot, last = "", "", name
    near = [f"{other}.{last}" for other, inner in every.items() if last in inner]
    if not near:
        near = [f"{section}{dot}{found}" for found in nearest(last, every[section] if dot else every, cutoff=0.5)]
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; [{section}] has {', '.join(every[section])}" if dot else f"; known are {', '.join(every)}"


def _is_section(annotation: Any) -> bool:
    return dataclasses.is_dataclass(annotation)


def _merge(into: dict[str, Any], layer: Mapping[str, Any]) -> None:
    for key, value in layer.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            into[key] = {**into[key], **value}
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def _plain(value: Any) -> Any:
    """The value in types that TOML has."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value
