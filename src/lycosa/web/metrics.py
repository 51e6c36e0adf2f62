"""Figures of all crawls for Prometheus, in its text format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lycosa.errors import LycosaError
from lycosa.web.endpoints import Call, Download, Endpoint

FIGURES = {
    "pages": ("lycosa_pages_total", "counter", "Pages fetched."),
    "relevant": ("lycosa_relevant_pages", "gauge", "Pages that are relevant as things stand."),
    "harvest_recent": ("lycosa_harvest_ratio", "gauge", "Share of the last 1,000 pages that is relevant."),
    "mean_relevance": ("lycosa_mean_relevance", "gauge", "Mean relevance of the last 1,000 pages."),
    "bytes": ("lycosa_downloaded_bytes_total", "counter", "Bytes downloaded."),
    "waiting": ("lycosa_waiting_links", "gauge", "Links in the frontier."),
    "in_flight": ("lycosa_fetches_in_flight", "gauge", "Fetches under way."),
    "hosts": ("lycosa_hosts", "gauge", "Hosts with a fetched page."),
    "hosts_cooling": ("lycosa_hosts_cooling", "gauge", "Hosts that may not be asked yet."),
    "hosts_set_aside": ("lycosa_hosts_set_aside", "gauge", "Hosts that get no more requests."),
    "is_running": ("lycosa_running", "gauge", "1 while the crawl runs."),
    "is_paused": ("lycosa_paused", "gauge", "1 while the crawl is paused."),
}
OUTCOMES = ("lycosa_outcomes_total", "counter", "Attempts at URLs, by what became of them.")


def metrics(call: Call) -> Download:
    found: list[tuple[str, dict[str, Any]]] = []
    for crawl in call.house.crawls():
        try:
            found.append((crawl.id, call.house.watch(crawl).refresh()))
        except LycosaError:  # one that cannot be read must not hide the others
            continue
    lines = "\n".join(_lines(found)) + "\n"
    return Download(lines.encode(), "text/plain; version=0.0.4; charset=utf-8")


def _lines(found: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    for figure, (name, kind, text) in FIGURES.items():
        yield f"# HELP {name} {text}"
        yield f"# TYPE {name} {kind}"
        for crawl, figures in found:
            if figures.get(figure) is not None:
                yield f'{name}{{crawl="{_escaped(crawl)}"}} {float(figures[figure]):.15g}'
    name, kind, text = OUTCOMES
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
    for crawl, figures in found:
        for row in figures["outcomes"]:
            labels = f'crawl="{_escaped(crawl)}",kind="{_escaped(row["kind"])}",reason="{_escaped(row["reason"])}"'
            yield f"{name}{{{labels}}} {row['count']}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


ENDPOINTS = (Endpoint("GET", "/metrics", "Figures for Prometheus.", metrics, media="text/plain", tag="metrics"),)
