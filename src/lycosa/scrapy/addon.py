"""The add-on: scheduler and middleware with one setting."""

from __future__ import annotations

from typing import Any

SCHEDULER = "lycosa.scrapy.Scheduler"
MIDDLEWARE = "lycosa.scrapy.JudgeMiddleware"
ORDER = 25
"""Nearer to the engine than Scrapy's own spider middlewares: it sees the requests that they have let through."""


class Addon:
    """ADDONS = {"lycosa.scrapy.Addon": 500}"""

    def update_settings(self, settings: Any) -> None:
        settings.set("SCHEDULER", SCHEDULER, priority="addon")
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", _middleware(), ORDER)


def _middleware() -> type[Any]:
    from lycosa.scrapy.middleware import JudgeMiddleware

    return JudgeMiddleware
