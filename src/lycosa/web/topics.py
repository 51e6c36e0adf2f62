"""The topic book: the tree, examples, what fits where, further examples, training."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from lycosa.errors import InputError
from lycosa.fetch.urls import checked_seed
from lycosa.judges.classifier import ANY
from lycosa.topics.book import TopicBook
from lycosa.topics.judges import update_judge
from lycosa.web.endpoints import Call, Endpoint, Input, NotThere
from lycosa.web.processes import command_output

FETCH_WITHIN = 180.0
TRAIN_WITHIN = 1_800.0
"""Seconds for what is done in a process of its own."""
MOST_URLS = 50


class Edit(Input):
    do: Literal["add", "rename", "move", "remove", "good", "plain"]
    topic: str = Field(min_length=1, max_length=500)
    to: str = Field("", max_length=500, description="New name, or the topic to move it under; empty: the top.")
    description: str = Field("", max_length=2_000)


class ExamplesOf(Input):
    topic: str = Field(min_length=1, max_length=500)
    count: int = Field(100, ge=1, le=1_000)
    start: int = Field(0, ge=0, le=10_000_000)


class EditExamples(Input):
    do: Literal["move", "remove"]
    ids: list[int] = Field(min_length=1, max_length=1_000)
    away_from: str = Field("", max_length=500, description="The topic that they are taken from; empty: all.")
    to: str = Field("", max_length=500)


class NewExamples(Input):
    topic: str = Field(min_length=1, max_length=500)
    urls: str = Field(min_length=1, max_length=100_000, description="URLs to fetch, one on each line.")


class Classified(Input):
    text: str = Field(min_length=1, max_length=6_000_000, description="URLs, bookmarks, or some text.")


class NearTopic(Input):
    topic: str = Field(min_length=1, max_length=500)
    crawl: str = Field(min_length=1, max_length=200, description="The crawl whose pages are looked at.")


class Training(Input):
    kind: Literal["bayes", "svm", "knn", "keywords"] = "bayes"


@contextmanager
def _book(call: Call, *, is_made: bool = False) -> Iterator[TopicBook]:
    if not is_made and not call.house.book.exists():
        raise NotThere(f"{call.house.book}: there is no topic book yet; add a topic to begin one")
    with TopicBook(call.house.book) as book:
        yield book


def tree(call: Call) -> dict[str, Any]:
    empty: dict[str, Any] = {"book": str(call.house.book), "topics": [], "judges": [], "report": None}
    if not call.house.book.exists():
        return empty
    with _book(call) as book:
        taxonomy, counts, judges = book.taxonomy(), book.example_counts(), book.judges()
    return {
        **empty,
        "topics": [
            {"path": path, "is_good": topic.is_good, "description": topic.description, "examples": counts.get(path, 0)}
            for path, topic in taxonomy.topics.items()
            if path != ANY
        ],
        "elsewhere": counts.get(ANY, 0),
        "judges": [{"version": each.version, "kind": each.kind, "trained_at": each.trained_at} for each in judges],
        "report": judges[-1].report if judges else None,
    }


def edit(call: Call) -> dict[str, Any]:
    body: Edit = call.body
    with _book(call, is_made=body.do == "add") as book:
        if body.do == "add":
            book.add_topic(body.topic, description=body.description)
        elif body.do == "rename":
            book.rename_topic(body.topic, body.to)
        elif body.do == "move":
            book.move_topic(body.topic, body.to or ANY)
        elif body.do == "remove":
            book.remove_topic(body.topic)
        elif body.do == "good":
            book.mark_good(body.topic)
        else:
            book.unmark(body.topic)
    return tree(call)


def examples(call: Call) -> dict[str, Any]:
    query: ExamplesOf = call.query
    with _book(call) as book:
        rows = book.example_rows(query.topic, count=query.count, start=query.start)
    return {"examples": [row._asdict() for row in rows]}


def edit_examples(call: Call) -> dict[str, Any]:
    """The judge follows at once where it can be updated; `version` is 0 where it must be trained again."""
    body: EditExamples = call.body
    with _book(call) as book:
        before = book.examples_numbered(body.ids)
        if body.do == "move":
            book.move_examples(body.ids, body.to, away_from=body.away_from or None)
        else:
            book.remove_examples(body.ids, away_from=body.away_from or None)
        version = update_judge(book, before, book.examples_numbered(body.ids)) if book.newest_version() else 0
    return {**tree(call), "version": version}


def add_examples(call: Call) -> dict[str, Any]:
    """Fetched as a crawl fetches them, in a process of its own."""
    body: NewExamples = call.body
    urls = [checked_seed(line.strip()) for line in body.urls.splitlines() if line.strip()]
    if not 0 < len(urls) <= MOST_URLS:
        raise InputError(f"give between 1 and {MOST_URLS} URLs, one on each line")
    with _book(call) as book:
        path = book.taxonomy().resolve(body.topic)
    added = [f"--add={url if '://' in url else f'https://{url}'}" for url in urls]
    said = command_output(
        "topics", "examples", "--count", "0", "--book", str(call.house.book), *added, "--", path, seconds=FETCH_WITHIN
    )
    return {**tree(call), "said": said.strip().splitlines()[:20]}


def classify(call: Call) -> dict[str, Any]:
    """Where URLs, bookmarks or a text belong in the tree."""
    with _book(call):
        pass
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8", errors="replace") as file:
        file.write(call.body.text)
        file.flush()
        words = ("topics", "suggest", "--json", "--book", str(call.house.book), "--", file.name)
        try:
            found: dict[str, Any] = json.loads(command_output(*words, seconds=FETCH_WITHIN))
        except InputError as error:
            raise InputError(str(error).replace(file.name, "the input")) from error
    return found


def further(call: Call) -> dict[str, Any]:
    """Pages of a crawl near a topic's examples that share its words."""
    query: NearTopic = call.query
    crawl = call.house.find(query.crawl)
    if crawl is None:
        raise NotThere(f"there is no crawl {query.crawl!r} here")
    where = ("--crawl", str(crawl.workspace.directory), "--fetch", "0", "--book", str(call.house.book))
    printed = command_output("topics", "explore", "--json", *where, "--", query.topic, seconds=FETCH_WITHIN)
    return {"pages": json.loads(printed)}


def train(call: Call) -> dict[str, Any]:
    with _book(call):
        pass
    words = ("topics", "train", "--json", "--judge", call.body.kind, "--book", str(Path(call.house.book)))
    command_output(*words, seconds=TRAIN_WITHIN)
    return tree(call)


ENDPOINTS = (
    Endpoint("GET", "/api/topics", "The tree of topics, and how good its judge is.", tree, tag="topics"),
    Endpoint("POST", "/api/topics", "Add, rename, move, remove, mark a topic.", edit, None, Edit, tag="topics"),
    Endpoint("GET", "/api/topics/examples", "Examples of a topic.", examples, ExamplesOf, tag="topics"),
    Endpoint(
        "POST", "/api/topics/examples", "Move or remove examples.", edit_examples, None, EditExamples, tag="topics"
    ),
    Endpoint(
        "POST", "/api/topics/examples/add", "Fetch URLs as examples.", add_examples, None, NewExamples, tag="topics"
    ),
    Endpoint(
        "POST", "/api/topics/classify", "Where pages belong in the tree.", classify, None, Classified, tag="topics"
    ),
    Endpoint("GET", "/api/topics/further", "Pages that may be examples, too.", further, NearTopic, tag="topics"),
    Endpoint("POST", "/api/topics/train", "Train a judge on the examples.", train, None, Training, tag="topics"),
)
