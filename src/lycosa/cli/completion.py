"""What the shell completes: strategies, judges, topics of the book, settings (lycosa --install-completion)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

Candidates = list[tuple[str, str]]
"""Words and what they are."""


def strategies(incomplete: str) -> Candidates:
    from lycosa.lib.plugins import entry_point_names
    from lycosa.strategies.table import STRATEGIES

    return _starting(incomplete, [*STRATEGIES, *entry_point_names("lycosa.strategies")])


def judges(incomplete: str) -> Candidates:
    from lycosa.judges.table import CLASSIFIER_NAMES
    from lycosa.lib.plugins import entry_point_names

    return _starting(incomplete, ["contrast", "keywords", *CLASSIFIER_NAMES, *entry_point_names("lycosa.judges")])


def topics(ctx: Any, incomplete: str) -> Candidates:
    """Of the book that --book or LYCOSA_TOPICS names; none if there is none, or it cannot be read."""
    from lycosa.errors import LycosaError
    from lycosa.topics.start import open_book

    path = Path(ctx.params.get("book") or os.environ.get("LYCOSA_TOPICS") or "topics.db")
    try:
        with open_book(path) as book:
            return _starting(incomplete, list(book.taxonomy().topics))
    except (LycosaError, OSError):
        return []


def settings(incomplete: str) -> Candidates:
    """Names of settings with what they are; a value is for the person to write."""
    from lycosa.settings_texts import sections

    found = [
        (f"{section.name}.{setting.name}=" if section.name else f"{setting.name}=", setting.text)
        for section in sections()
        for setting in section.settings
    ]
    return [(name, text.partition(". ")[0][:80]) for name, text in found if name.startswith(incomplete)]


def _starting(incomplete: str, words: list[str]) -> Candidates:
    return [(word, "") for word in words if word.startswith(incomplete)]
