"""lycosa judge: score documents, and show the words that decided."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from lycosa.cli.pages_by_url import pages_by_url
from lycosa.cli.settings import CONFIG, SETTING, how_to_fetch
from lycosa.cli.terminal import json_line, out, plain
from lycosa.cli.topic_examples import BOOK, page_of_file
from lycosa.errors import InputError
from lycosa.fetch.urls import parse_seed
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.protocol import Judge
from lycosa.model import Page
from lycosa.topics.book import TopicBook
from lycosa.topics.importing import Failure
from lycosa.topics.judges import interest_judge, topic_judge

DEFAULT_THRESHOLD = 0.5


def judge(
    documents: list[str] = typer.Argument(help="URLs and files to score."),
    words: str = typer.Option("", "--words", help="Judge by these words instead of a trained topic."),
    topic: list[str] = typer.Option([], "--topic", "-t", help="A topic of the book. Default: those marked good."),
    interest: str = typer.Option("", "--interest", "-i", help="A formula, as in 'tourism AND (Ruegen OR Usedom)'."),
    threshold: float | None = typer.Option(None, "--threshold", help="Minimum relevance of a relevant page."),
    book: Path = BOOK,
    config_file: Path | None = CONFIG,
    setting: list[str] = SETTING,
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object per line."),
) -> None:
    """Score documents as a crawl would: relevance, topics, and the words that speak for and against.

    URLs are fetched as a crawl fetches them, with the same settings (--config, --set).
    """
    chosen = _judge(words, topic, interest, threshold, book)
    for source, page in _pages(documents, how_to_fetch(config_file, setting)):
        if isinstance(page, Failure):
            _print_row({"document": source, "error": page.words}, as_json=as_json)
            continue
        found = chosen.judge(page)
        strongest = chosen.abilities.strongest
        terms = strongest(page) if strongest else found.terms
        reasons = chosen.abilities.reasons
        _print_row(
            {
                "document": source,
                "title": page.title,
                "relevance": round(found.relevance, 4),
                "is_relevant": found.is_relevant,
                "best": found.best,
                "scores": {name: round(score, 4) for name, score in found.scores.items()},
                "terms": {word: round(weight, 4) for word, weight in terms.items()},
                **({"reasons": [*reasons(page)]} if reasons else {}),
            },
            as_json=as_json,
        )


def _judge(words: str, topics: list[str], interest: str, threshold: float | None, book: Path) -> Judge:
    if words:
        return KeywordJudge(words, threshold=threshold or 0.1)
    if not book.exists():
        raise InputError(
            f"{book}: there is no topic book; judge by words with --words 'recreational cycling', or create one with: "
            "lycosa topics import"
        )
    with TopicBook(book) as opened_book:
        if interest:
            return interest_judge(opened_book, interest, threshold=threshold or DEFAULT_THRESHOLD)
        return topic_judge(opened_book, topics, threshold=threshold or DEFAULT_THRESHOLD)


def _pages(documents: list[str], settings: Mapping[str, Any]) -> list[tuple[str, Page | Failure]]:
    urls = [text for text in documents if "://" in text]
    fetched = dict(zip(urls, pages_by_url([parse_seed(url) for url in urls], settings), strict=True))
    found: list[tuple[str, Page | Failure]] = []
    for text in documents:
        if text in fetched:
            found.append((text, fetched[text]))
        elif Path(text).exists():
            found.append((text, page_of_file(Path(text))))
        else:
            raise InputError(f"{text}: neither a URL (https://…) nor a file that exists")
    return found


def _print_row(row: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json_line(row))
        return
    if "error" in row:
        out.print(f"{plain(row['document'])}: [red]{plain(row['error'])}[/]")
        return
    verdict = "[green]relevant[/]" if row["is_relevant"] else "not relevant"
    out.print(f"[bold]{plain(row['title'] or row['document'], 90)}[/]  {verdict}: {row['relevance']:.3f}")
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, score in sorted(row["scores"].items(), key=lambda item: -item[1])[:8]:
        table.add_row(f"  {score:.3f}", plain(name, 80))
    out.print(table)
    if row["terms"]:
        out.print("  " + ", ".join(f"{plain(word, 30)} {weight:+.2f}" for word, weight in row["terms"].items()))
    for reason in row.get("reasons", ()):
        out.print(f"  {plain(reason, 200)}")
