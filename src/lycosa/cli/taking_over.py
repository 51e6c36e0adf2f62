"""What follows from what a person has said of pages, for `lycosa feedback` and `lycosa review`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lycosa.cli.terminal import err, plain
from lycosa.config import Config
from lycosa.engine import Crawl
from lycosa.errors import LycosaError
from lycosa.model import Page
from lycosa.store.opening import open_store
from lycosa.store.rows import Batch, JudgedPages
from lycosa.teaching import teach
from lycosa.topics.feedback import Lesson
from lycosa.workspace import Workspace

LEARNED_AT_ONCE = 5_000
"""Number of pages up to which a crawl that does not run learns from the answers now: it takes seconds."""


def take_over(
    workspace: Workspace, config: Config, before: JudgedPages, *, fetched: Mapping[str, Page] | None = None
) -> list[str]:
    """Let the crawl learn from what was said; return in plain words what that changes.

    `before`: its judgements before anything was said. `fetched`: marked pages that the crawl does not have, by URL.
    """
    lesson = _taught(workspace, config, fetched)
    lines = [_consequences(workspace, lesson, before)]
    if lesson is not None and lesson.untaught:
        noun = "page" if len(lesson.untaught) == 1 else "pages"
        lines.append(
            f"{len(lesson.untaught):,} marked {noun} whose text is not known yet: nothing is learned from that"
        )
    with closing(open_store(workspace, read_only=True)) as store:
        lines += _harvest(before, store.judged_pages())
    return lines


def _taught(workspace: Workspace, config: Config, fetched: Mapping[str, Page] | None) -> Lesson | None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("learning", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, description="judging again", completed=done, total=total)

        return teach(workspace, config, fetched=fetched, progress=progress)


def _consequences(workspace: Workspace, lesson: Lesson | None, before: JudgedPages) -> str:
    if workspace.holder() is not None:
        version = f"judge version {lesson.version} knows them; " if lesson else ""
        return f"{version}the running crawl takes them over within seconds, and orders what waits by them"
    pages = len(np.unique(before.ids))
    if pages > LEARNED_AT_ONCE:
        with closing(open_store(workspace)) as store:
            store.write(Batch(recounts_hosts=True))
        if lesson is not None:
            return f"{_learned(workspace, before)}; links are ordered by it when the crawl goes on"
        return (
            f"these pages are judged as you said; what follows for the other {pages:,} the crawl learns when it "
            f"goes on: lycosa crawl -o {plain(workspace.directory)}"
        )
    try:
        is_learning = Crawl(directory=workspace.directory).learn_answers()
    except LycosaError as error:  # the judge was an object of a program, or somebody has just begun to crawl here
        return f"these pages are judged as you said; the crawl learns when it goes on ({plain(error)})"
    if not is_learning:
        return "these pages are judged as you said, and the links on them are ordered by it"
    return _learned(workspace, before) + (f" (judge version {lesson.version})" if lesson else "")


def _learned(workspace: Workspace, before: JudgedPages) -> str:
    with closing(open_store(workspace, read_only=True)) as store:
        after = store.judged_pages()
        said = {row.page_id for row in store.answers()}
    now = dict(zip(after.ids.tolist(), after.is_relevant.tolist(), strict=True))
    then = dict(zip(before.ids.tolist(), before.is_relevant.tolist(), strict=True))
    changed = sum(now.get(page, was) is not was for page, was in then.items() if page not in said)
    others = "1 other page" if changed == 1 else f"{changed:,} other pages"
    return f"the judge has learned from them: {others} of {len(then):,} changed sides"


def _harvest(before: JudgedPages, after: JudgedPages) -> list[str]:
    """The crawl's own figures, of the pages it had before: R is the mean relevance, as in paper FC."""
    same = np.isin(after.ids, before.ids)
    if not len(before.ids) or not same.any():
        return []
    values = (before.relevance.mean(), after.relevance[same].mean())
    shares = (before.is_relevant.mean(), after.is_relevant[same].mean())
    counts = (int(before.is_relevant.sum()), int(after.is_relevant[same].sum()))
    return [
        f"of {len(before.ids):,} pages: mean relevance R {values[0]:.3f} → {values[1]:.3f}; relevant "
        f"{counts[0]:,} → {counts[1]:,}, {shares[0]:.1%} → {shares[1]:.1%}"
    ]
