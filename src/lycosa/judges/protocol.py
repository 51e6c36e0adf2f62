"""The seam between reading a page and deciding what it is worth."""

from __future__ import annotations

from typing import Protocol

from lycosa.model import Judgement, Page


class Judge(Protocol):
    """Pure: the same page gets the same judgement. It is shipped to the reader processes, so it can be pickled."""

    name: str
    """Stored with every judgement."""
    keywords: dict[str, int]
    """Stems that name the topic, with their weights: strategies that look for words look for these."""

    def judge(self, page: Page) -> Judgement: ...

    def score_text(self, text: str) -> float:
        """Relevance in [0, 1] of an anchor, a heading, the words of a URL."""
        ...
