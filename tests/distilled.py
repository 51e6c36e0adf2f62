"""Distilling in a test's crawl."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lycosa.crawl.centrality import DistillingSettings
from lycosa.crawl.distiller import Distilling


def distilling(crawl: Any, settings: DistillingSettings) -> Callable[[], None]:
    """The `watch` of a rig's crawl, which has a ledger only once it runs."""
    made: list[Distilling] = []

    def look() -> None:
        if not made:
            made.append(Distilling(settings, ledger=crawl.ledger, clock=crawl.clock))
        made[0].look()

    return look
