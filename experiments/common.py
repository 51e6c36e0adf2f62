"""What the experiments of all papers share: worlds, results that are kept, verdicts, pictures, the page."""

from __future__ import annotations

import hashlib
import pickle
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from code_version import ROOT, code_version
from kept_worlds import built_world as built_world
from kept_worlds import made_once as made_once
from kept_worlds import shared_world as shared_world

from lycosa.lab.evaluate.pictures import Line, Plot, draw, styles
from lycosa.lab.evaluate.runs import Comparison
from lycosa.lab.evaluate.significance import Wilcoxon, holm, wilcoxon
from lycosa.lab.evaluate.summary import curve
from lycosa.lab.replay.compare import ComparePlan

Result = TypeVar("Result")

NOTES = """
“Holds” and its opposite are said only where a difference is significant: p < 0.05, Wilcoxon over topics, corrected for
all rows of this table together (Holm). “No difference shown” is not a proof of equality.
"""


class Results:
    """Results of a paper's experiments under out/, each kept as soon as it is there: an interrupted run goes on.

    A result counts only for the version of the code that made it (`code_version`); an older one is replaced.
    """

    def __init__(self, paper: str, folder: Path | None = None) -> None:
        self.paper = paper
        self.folder = folder or ROOT / "out" / paper

    def kept(self, name: str, key: str, make: Callable[[], Result]) -> Result:
        """What `make` gives, or gave in an earlier run with the same key and the same code behind `make`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = hashlib.sha256(key.encode()).hexdigest()[:16]
        path = self.folder / f"{stem}-{code_version(make)}.pickle"
        if path.exists():
            result: Result = pickle.loads(path.read_bytes())  # noqa: S301 - our own file
            print(f"{name}: kept from an earlier run", flush=True)
            return result
        older = list(self.folder.glob(f"{stem}-*.pickle"))
        print(f"{name}: anew, since the code has changed" if older else name, flush=True)
        result = make()
        draft = path.with_suffix(".new")
        draft.write_bytes(pickle.dumps(result))
        draft.replace(path)
        for each in older:
            each.unlink(missing_ok=True)
        return result

    def publish(self, text: str, *, is_quick: bool) -> None:
        """Write the page, and copy its pictures; a quick run stays under out/."""
        page = f"{self.paper}.md"
        target = self.folder / "papers" / page if is_quick else ROOT / "docs" / "papers" / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        if not is_quick:
            shutil.copytree(self.images, ROOT / "docs" / "images" / self.paper, dirs_exist_ok=True)
        print(f"wrote {target.relative_to(ROOT)}")

    @property
    def images(self) -> Path:
        return self.folder / "images" / self.paper


def plan_key(plan: ComparePlan) -> str:
    """What tells results apart; where the world lies does not."""
    return repr(replace(plan, world=Path(plan.world.name)))


# Pictures


class Pictures:
    """A paper's pictures: a strategy looks the same in all of them."""

    def __init__(self, results: Results, names: Sequence[str], bounds: Collection[str]) -> None:
        self._results = results
        self._looks = styles(names, bounds)

    def save(self, name: str, plot: Plot) -> str:
        """Write a picture; the line that shows it on the page."""
        png, _ = draw(plot, self._looks)
        self._results.images.mkdir(parents=True, exist_ok=True)
        (self._results.images / f"{name}.png").write_bytes(png)
        return f"![{plot.title}](../images/{self._results.paper}/{name}.png)"


def over_pages(comparison: Comparison, metric: str, names: Sequence[str], title: str) -> Plot:
    """A metric over the pages of a comparison, with the bounds."""
    summary = curve(comparison, metric)
    lines = [
        Line(name, summary.mean[at], summary.error[at])
        for at, name in enumerate(comparison.strategies)
        if name in (*names, *comparison.bounds)
    ]
    x = np.arange(1, comparison.pages + 1, dtype=np.float64)
    return Plot(title, "pages fetched", "", x, lines, is_share=metric == "recall")


# Findings


@dataclass(frozen=True)
class Evidence:
    """Paired differences over topics that a claim stands or falls with."""

    figure: str
    says: str
    differences: np.ndarray
    means: str
    words: tuple[str, str, str]
    """What to say if the differences are significantly positive, significantly negative, neither."""


@dataclass(frozen=True)
class Claim:
    """A finding of the paper as a comparison of two strategies by a metric."""

    figure: str
    says: str
    better: str
    worse: str
    metric: str
    at: int = -1

    def against(self, comparison: Comparison) -> Evidence:
        values = np.array([scores.curves[self.metric][:, self.at] for scores in comparison.scores], dtype=np.float64)
        first, second = (values[:, comparison.strategies.index(name)] for name in (self.better, self.worse))
        where = "" if self.at == -1 else f" after {self.at + 1} pages"
        means = f"{self.metric}{where}: {self.better} {first.mean():.3f}, {self.worse} {second.mean():.3f}"
        words = ("**holds**", "**the other way round**", "no difference shown")
        return Evidence(self.figure, self.says, first - second, means, words)


LEVEL = 0.05


def verdicts(evidence: Sequence[Evidence]) -> list[str]:
    """The rows of the table. All claims are tested together, so p values are corrected (Holm)."""
    tests = [wilcoxon(each.differences) for each in evidence]
    adjusted = holm([test.p for test in tests])
    return [
        f"| {each.figure} | {each.says} | {verdict(each, test, p)} | {each.means}, p = {p:.3g} |"
        for each, test, p in zip(evidence, tests, adjusted, strict=True)
    ]


def verdict(evidence: Evidence, test: Wilcoxon, p: float) -> str:
    """In words. The direction is that of the test, by ranks: the mean may owe its sign to a single topic."""
    positive, negative, neither = evidence.words
    if p >= LEVEL:
        return neither
    expected = test.n * (test.n + 1) / 4
    return positive if test.positive_ranks > expected else negative
