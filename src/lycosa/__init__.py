"""Lycosa, a focused web crawler.

    import lycosa
    crawl = lycosa.Crawl("recreational cycling", seeds=["https://…"], directory="cycling")
    report = crawl.run(pages=500)
    report.pages("relevant")

docs/library.md shows the rest, docs/extending.md a judge, a strategy and a fetcher of your own. The modules behind
these names may change; the names do not.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lycosa.config import Config as Config
    from lycosa.crawl.consequences import FoundPage as FoundPage
    from lycosa.crawl.visits import Fetcher as Fetcher
    from lycosa.crawl.watching import Event as Event
    from lycosa.engine import Crawl as Crawl
    from lycosa.errors import LycosaError as LycosaError
    from lycosa.judges.protocol import Judge as Judge
    from lycosa.judges.protocol import JudgeAbilities as JudgeAbilities
    from lycosa.lab.compare import compare as compare
    from lycosa.lab.worlds.world import World as World
    from lycosa.model import Fetched as Fetched
    from lycosa.model import Judgement as Judgement
    from lycosa.model import Lease as Lease
    from lycosa.model import Link as Link
    from lycosa.model import Page as Page
    from lycosa.model import Visit as Visit
    from lycosa.results.report import Report as Report
    from lycosa.results.search import FoundText as FoundText
    from lycosa.results.search import search as search
    from lycosa.strategies.protocol import Abilities as Abilities
    from lycosa.strategies.protocol import Strategy as Strategy
    from lycosa.strategies.protocol import StrategyParts as StrategyParts

__version__ = "0.1.0"

_HOMES = {
    "Abilities": "lycosa.strategies.protocol",
    "Config": "lycosa.config",
    "Crawl": "lycosa.engine",
    "Event": "lycosa.crawl.watching",
    "Fetched": "lycosa.model",
    "Fetcher": "lycosa.crawl.visits",
    "FoundPage": "lycosa.crawl.consequences",
    "FoundText": "lycosa.results.search",
    "Judge": "lycosa.judges.protocol",
    "JudgeAbilities": "lycosa.judges.protocol",
    "Judgement": "lycosa.model",
    "Lease": "lycosa.model",
    "Link": "lycosa.model",
    "LycosaError": "lycosa.errors",
    "Page": "lycosa.model",
    "Report": "lycosa.results.report",
    "Strategy": "lycosa.strategies.protocol",
    "StrategyParts": "lycosa.strategies.protocol",
    "Visit": "lycosa.model",
    "World": "lycosa.lab.worlds.world",
    "compare": "lycosa.lab.compare",
    "search": "lycosa.results.search",
}
"""The public names and where they are. Each is imported when it is first used, so that `lycosa --help` starts fast."""

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lycosa' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
