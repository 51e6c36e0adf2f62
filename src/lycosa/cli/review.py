"""lycosa review: answer a few questions; the judge learns from them, also while the crawl runs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path

import typer

from lycosa.cli.dialogue import WIDTH, Dialogue
from lycosa.cli.keys import Keys, PressedKeys, TypedLines, pressed
from lycosa.cli.opened import DIRECTORY
from lycosa.cli.progress import Asking
from lycosa.cli.taking_over import take_over
from lycosa.cli.terminal import err, out, plain, printable
from lycosa.cluster.partitions import shard_of_url
from lycosa.crawl.answers import new_answers
from lycosa.crawl.answers_file import read_answers
from lycosa.errors import LycosaError
from lycosa.fetch.urls import Urls, parse_seed
from lycosa.given import canonical_answers
from lycosa.results.open_questions import Question
from lycosa.reviewed import Reviewed, reviewing
from lycosa.store.rows import Batch
from lycosa.teaching import teach
from lycosa.workspace import Workspace

QUESTIONS = 10
COLUMNS = "url\tanswer\trelevance\twaiting\ttitle"


def review(
    directory: Path = DIRECTORY,
    count: int = typer.Option(QUESTIONS, "--count", "-n", min=1, help="Number of questions."),
    as_list: bool = typer.Option(
        False,
        "--list",
        help="Print the questions as a table with tabs instead of asking; fill in its second column, and give it back "
        "with --answers.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the questions as JSON lines instead of asking."),
    answers: Path | None = typer.Option(
        None, "--answers", help="A file of answers instead of questions: on each line a URL, a tab, and yes or no."
    ),
) -> None:
    """Answer a few questions about pages: is this one? The judge learns from each answer.

    The pages are those that teach it most: it is in doubt about them, many waiting links depend on them, and no two
    are alike. No page is asked about twice. Your answer is final: no judge overrules it.

    Press y or n; s skips a page; b goes back and takes the last answer back; q ends it. Every answer is kept at once.

    Works while the crawl runs, which takes the answers over within seconds, and when it has stopped.
    """
    workspace = Workspace.existing(directory)
    with reviewing(workspace) as crawl:
        before = [(part, len(part.store.answers()), part.store.judged_pages()) for part in crawl.parts]
        if answers is not None:
            given = _keep_all(crawl, answers)
        elif as_list or as_json:
            _print(crawl.questions(count), as_json=as_json)
            return
        else:
            has_keys = sys.stdin.isatty()
            with pressed() if has_keys else nullcontext():
                given = converse(crawl, PressedKeys() if has_keys else TypedLines(), count)
        answered = [(part, judged) for part, count, judged in before if len(part.store.answers()) > count]
    if given:
        for part, judged in answered:
            name = f"shard {part.workspace.directory.name}: " if workspace.has_shards else ""
            for line in take_over(part.workspace, part.config, judged):
                out.print(f"{name}{line}")


def _keep_all(crawl: Reviewed, answers: Path) -> int:
    """The answers of a file; how many are on pages that the crawl has."""
    said = canonical_answers(read_answers(answers, parse=parse_seed), Urls(crawl.config.urls))
    news: list[tuple[float, str, int | None, str]] = []
    for part in crawl.parts:
        own = {url: answer for url, answer in said.items() if _is_of(part, crawl, url)}
        new = new_answers(part.store, own, at=time.time())
        part.store.write(Batch(answers=new))
        news += new
    waiting = sum(page is None for _, _, page, _ in news)
    rest = f"; {waiting:,} on pages that have not been fetched: they wait for them" if waiting else ""
    out.print(f"{len(news):,} new answers of {len(said):,} in {plain(answers)}{rest}")
    return len(news) - waiting


def _is_of(part: Reviewed, crawl: Reviewed, url: str) -> bool:
    return part is crawl or part.workspace.directory == shard_of_url(crawl.workspace.directory, url)


def converse(crawl: Reviewed, keys: Keys, count: int) -> int:
    """Ask; return the number of answers. Ctrl-C ends it like q."""
    questions = crawl.questions(count)
    if not questions:
        out.print("nothing to ask: no page is in doubt, or all of them were asked about")
        return 0
    dialogue = Dialogue(keys, crawl.keep, partial(crawl.lines, width=WIDTH))
    try:
        dialogue.ask(questions)
    except KeyboardInterrupt:
        out.print()
    out.print(dialogue.summary)
    return len(dialogue.given)


def asking(workspace: Workspace) -> Asking:
    """Questions about a crawl that runs in this process, for a thread of their own."""

    def ask(is_over: Callable[[], bool]) -> None:
        try:
            with reviewing(workspace) as crawl:
                if converse(crawl, PressedKeys(is_over), QUESTIONS):
                    out.print("the crawl takes them over within seconds")
                    teach(workspace, crawl.config)
                if is_over():
                    out.print("the crawl has ended; more questions: lycosa review")
        except LycosaError as error:
            err.print(f"[red]lycosa:[/] {plain(error)}")

    return ask


def _print(questions: list[Question], *, as_json: bool) -> None:
    if as_json:
        for question in questions:
            print(json.dumps(asdict(question)))
        return
    print(COLUMNS)
    for question in questions:
        fields = (question.url, "", f"{question.relevance:.3f}", str(question.waiting), question.title)
        print("\t".join(printable(text) for text in fields))
