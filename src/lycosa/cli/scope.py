"""The scope of a crawl in plain words: which sites, how far, in which languages, how many pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import typer

from lycosa.cli.settings import split_setting
from lycosa.config import Layer, load_file

SITE = typer.Option([], "--site", help="Stay on this site and its subdomains: example.org. May be repeated.")
UNDER = typer.Option([], "--under", help="Stay under this URL: https://docs.org/guide/. May be repeated.")
NOT = typer.Option([], "--not", help="Leave out URLs like this: '*/print/*', '*.example.org'. May be repeated.")
DEPTH = typer.Option(None, "--depth", min=0, help="Go at most this many links away from the nearest seed.")
LANGUAGE = typer.Option([], "--language", help="Keep pages in this language only: en, de, … May be repeated.")
RELEVANT = typer.Option(
    None,
    "--relevant",
    min=1,
    help="Stop when this many relevant pages have been found. Unless --pages is given as well, 50 times as many pages "
    "may be fetched for it.",
)
MAX_PER_SITE = typer.Option(None, "--max-per-site", min=1, help="Fetch at most this many pages of a host.")
PAGES_FOR_ONE = 50
"""Number of pages that may be fetched for each relevant page asked for."""


class Scope(NamedTuple):
    """What the options say; the settings they stand for are in docs/settings.md."""

    sites: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    depth: int | None = None
    languages: tuple[str, ...] = ()
    relevant: int | None = None
    max_per_site: int | None = None

    def starts(self) -> list[str]:
        """Where to start if nobody says it: from the sites themselves."""
        return [place for place in (*self.sites, *self.under) if "*" not in place]

    def layers(self, config_file: Path | None, settings: list[str], *, pages: int | None) -> list[Layer]:
        """The settings, as layers. What an option says replaces what the file says."""
        given: dict[str, dict[str, Any]] = {
            "urls": {"sites": self.sites, "under": self.under, "exclude": self.exclude},
            "page": {"only_languages": tuple(code.lower() for code in self.languages)},
            "frontier": {"max_distance": self.depth},
            "stop": {"relevant": self.relevant},
            "politeness": {"max_pages_per_host": self.max_per_site},
        }
        if self.relevant is not None and pages is None and not _has_page_budget(config_file, settings):
            given["budget"] = {"pages": PAGES_FOR_ONE * self.relevant}
        kept = {
            section: said
            for section, values in given.items()
            if (said := {name: value for name, value in values.items() if value not in (None, ())})
        }
        return [("command line", kept)] if kept else []


def _has_page_budget(config_file: Path | None, settings: list[str]) -> bool:
    """Whether somebody has said how many pages may be fetched."""
    if any(split_setting(text)[0] == "budget.pages" for text in settings):
        return True
    section = load_file(config_file).get("budget") if config_file else None
    return isinstance(section, dict) and "pages" in section
