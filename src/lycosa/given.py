"""What is given to start a crawl, checked: settings, judges and strategies as objects, seeds, answers, a directory."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lycosa.config import Config, Layer, load_file
from lycosa.errors import ConfigError, InputError, SeedError
from lycosa.fetch.urls import Urls, parse_seed, plain_http
from lycosa.judges.protocol import PlainJudge
from lycosa.page.pdf import MEDIA_TYPE, require_pdf_reader
from lycosa.store.rows import Answer
from lycosa.strategies.table import from_file


def as_layer(config: Config | str | Path | Mapping[str, Any]) -> Layer:
    if isinstance(config, Config):
        return "config", tomllib.loads(config.to_toml())
    return ("config", config) if isinstance(config, Mapping) else (str(config), load_file(Path(config)))


def made_judge(judge: Any) -> PlainJudge | None:
    """A judge that was given as an object; a class is called."""
    if judge is None or isinstance(judge, str):
        return None
    made: PlainJudge = judge() if isinstance(judge, type) else judge
    if not isinstance(getattr(made, "name", None), str) or not callable(getattr(made, "judge", None)):
        raise ConfigError(f"{judge!r} is no judge: it needs a name (a text) and a method judge(page)")
    return made


def name_of(strategy: Any) -> str:
    name = getattr(strategy, "name", "")
    if strategy is not None and not (isinstance(name, str) and name):
        raise ConfigError(f"{strategy!r} is no strategy: let its class inherit from lycosa.Strategy and have a name")
    return str(name)


def with_strategy_inside(config: Config) -> Config:
    """A strategy that is a file is taken over with its constants: the crawl goes on whatever becomes of the file."""
    name, constants = from_file(config.strategy)
    return config.model_copy(update={"strategy": name, "constants": {**config.constants, **constants}})


def with_pdf_fetched(config: Config) -> Config:
    """Where PDF documents are to be read, they are fetched: their media type is kept, and so are names in .pdf."""
    if not config.page.pdf:
        return config
    require_pdf_reader()
    types = tuple(dict.fromkeys([*config.fetch.content_types, MEDIA_TYPE]))
    fetch, urls = replace(config.fetch, content_types=types), config.urls
    urls = replace(urls, excluded_extensions=urls.excluded_extensions - {"pdf"})
    return config.model_copy(update={"fetch": fetch, "urls": urls})


def directory_for(topic: str) -> Path:
    name = "".join(char if char.isalnum() and char.isascii() else "-" for char in topic.lower())
    name = "-".join(filter(None, name.split("-")))[:40].strip("-")
    if not name:
        raise InputError(
            "no topic is given: lycosa crawl 'recreational cycling' --seed https://…; "
            "to crawl for pages like the seeds, or to go on with a crawl, name its directory: lycosa crawl -o cycling/"
        )
    return Path(name)


def canonical_answers(answers: Mapping[str, bool], urls: Urls) -> dict[str, str]:
    """What is said, by canonical URL. A URL that cannot be one is an error: somebody meant a page."""
    said = {}
    for text, is_relevant in answers.items():
        url, reason = urls.canonical(parse_seed(text))
        if not url:
            raise InputError(f"answer on {text!r}: this is no URL that can be crawled: {reason}")
        said[url] = Answer.RELEVANT if is_relevant else Answer.IRRELEVANT
    return said


def checked_seeds(config: Config, urls: Urls) -> dict[str, str]:
    """The seeds in canonical form and, for those without a scheme, what to try where https cannot be connected.

    A seed that a rule turns away is an error: somebody asked for it.
    """
    seeds: dict[str, str] = {}
    for seed in config.seeds:
        whole = parse_seed(seed)
        url, reason = urls.canonical(whole)
        if reason:
            detail = urls.reason_detail(whole)
            raise SeedError(
                f"seed {seed!r} is turned away: {reason} ({detail}); change the seed or the [urls] settings"
            )
        plain = plain_http(seed)
        seeds[url] = (urls.canonical(plain)[0] if plain else "") or seeds.get(url, "")
    return seeds
