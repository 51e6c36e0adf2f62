from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import duckdb
import numpy as np
import pytest
from rich.console import Console

from lycosa.errors import InputError
from lycosa.lab.evaluate.measure import METRICS
from lycosa.lab.evaluate.page import figure_text, render
from lycosa.lab.evaluate.pictures import Line, Plot, draw, draw_curves, spread_out, styles
from lycosa.lab.evaluate.report import plots, print_table, write_report
from lycosa.lab.evaluate.runs import Comparison, Scores, Skipped
from lycosa.lab.evaluate.summary import Cell

HOSTILE = "<script>alert('x')</script>\"&$\\frac{\x1b[31m\u202e"
PAGES = 12


def comparison(topics: int = 3, **more) -> Comparison:
    strategies = ("breadth-first", HOSTILE, "random", "look-ahead")
    rng = np.random.default_rng(5)
    scores = []
    for topic in range(topics):
        curves = {name: np.cumsum(rng.random((4, PAGES), dtype=np.float32) / PAGES, axis=1) for name in METRICS}
        scores.append(
            Scores(
                topic=f"{HOSTILE} {topic}",
                strategies=strategies,
                curves=curves,
                runs=tuple((name, 0) for name in strategies),
                fetched=np.array([PAGES, PAGES, 5, PAGES]),
                checkpoints=(6, PAGES),
                at_checkpoints={name: curve[:, [5, -1]] for name, curve in curves.items()},
                distances=np.full((4, 21), 1 / 21),
                relevances=np.full((4, 20), 1 / 20),
            )
        )
    return Comparison(f"Title {HOSTILE}", {"world": HOSTILE, HOSTILE: "3"}, strategies, scores, PAGES, **more)


def narrowed(made: Comparison, count: int) -> Comparison:
    """The same with the last `count` strategies only."""
    scores = [
        replace(
            each,
            strategies=each.strategies[-count:],
            curves={name: curve[-count:] for name, curve in each.curves.items()},
            distances=each.distances[-count:],
            relevances=each.relevances[-count:],
            runs=each.runs[-count:],
            fetched=each.fetched[-count:],
            at_checkpoints={name: values[-count:] for name, values in each.at_checkpoints.items()},
        )
        for each in made.scores
    ]
    return replace(made, strategies=made.strategies[-count:], scores=scores)


class Page(HTMLParser):
    """What the page has in it; a tag that is closed without having been opened is an error."""

    VOID = ("meta", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    directory = tmp_path_factory.mktemp("report") / "new"
    ramp = np.linspace(0, 0.9, PAGES)
    end = np.array([0.625])
    overlap = {"pages": ramp, "hosts of the first": ramp, "top pages": end, "top hosts": end}
    made = comparison(
        skipped=[Skipped(f"left out {HOSTILE}", "only 2 targets")],
    )
    made = replace(made, scores=[replace(each, overlaps={"breadth-first": overlap}) for each in made.scores])
    index = write_report(made, directory)
    assert index == directory / "index.html"
    return directory, Page(index.read_text(encoding="utf-8"))


class TestPage:
    def test_refers_to_nothing_outside_itself(self, report):
        _, page = report
        sources = [value for _, name, value in page.attributes if name in ("src", "href", "srcset", "action", "data")]
        assert len(sources) > 10
        assert all(value.startswith("data:image/svg+xml;base64,") for value in sources)
        assert not {"script", "link", "iframe", "object", "form", "base", "a", "svg"} & set(page.tags)
        assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "style"]

    def test_forbids_itself_everything_but_its_style_and_pictures(self, report):
        _, page = report
        policy = next(value for _, name, value in page.attributes if name == "content" and "default-src" in value)
        assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
        assert "unsafe" not in policy

    def test_hostile_names_are_text(self, report):
        _, page = report
        assert page.text.count("<script>alert('x')</script>\"&$\\frac{") > 8
        assert "\x1b" not in page.text
        assert "\u202e" not in page.text

    def test_says_what_was_found(self, report):
        _, page = report
        for text in ("only 2 targets", "Topics left out (1)", "3 topics",
                     "12, of which 3 ended early", "random → look-ahead", "Which differences are real",
                     "rated highest by the judge: breadth-first 62%"):  # fmt: skip
            assert text in page.text, text

    def test_pictures_inside_are_svg_without_scripts_or_references(self, report):
        _, page = report
        for source in (value for _, name, value in page.attributes if name == "src"):
            picture = base64.b64decode(source.partition(",")[2])
            tree = ElementTree.fromstring(picture)
            references = [value for node in tree.iter() for name, value in node.attrib.items() if name.endswith("href")]
            assert all(value.startswith("#") for value in references)
            assert not any(node.tag.endswith("script") for node in tree.iter())


class TestFiles:
    def test_every_picture_as_png_and_svg(self, report):
        directory, _ = report
        names = {path.stem for path in directory.glob("*.png")}
        assert names == {path.stem for path in directory.glob("*.svg")}
        assert {"recall", "harvest", "similarity", "performance", "frontier", "distance", "overlap_pages"} <= names
        assert (directory / "recall.png").read_bytes().startswith(b"\x89PNG")

    def test_the_figures_as_parquet(self, report):
        directory, _ = report
        path = directory / "results.parquet"
        found = duckdb.sql(
            f"select count(*), count(distinct topic), max(pages), min(fetched) from '{path}'"
        ).fetchall()[0]
        assert found == (3 * 4 * 2, 3, PAGES, 5)
        names = {row[0] for row in duckdb.sql(f"select distinct strategy from '{path}'").fetchall()}
        assert HOSTILE in names

    def test_a_directory_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match="cannot be written"):
            write_report(comparison(1), tmp_path / "file" / "report")

    def test_without_a_topic_there_is_nothing_to_report(self, tmp_path):
        with pytest.raises(InputError, match="no topic could be compared: birds: no targets"):
            write_report(comparison(0, skipped=[Skipped("birds", "no targets")]), tmp_path)


class TestTerminal:
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_few_strategies_or_bounds_alone_make_a_page_and_a_table(self, count, tmp_path):
        few = narrowed(comparison(1), count)
        assert Page(render(few, [])).text.count("look-ahead") > 0
        with (tmp_path / "out").open("w", encoding="utf-8") as stream:
            print_table(few, Console(width=200, file=stream, force_terminal=False))
        lines = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
        assert sum(line.startswith(few.strategies[-1]) for line in lines) == 1
        assert all(plot.title for _, plot, _ in plots(few))

    def test_a_row_for_each_strategy(self, tmp_path):
        with (tmp_path / "out").open("w", encoding="utf-8") as stream:
            console = Console(width=200, file=stream, force_terminal=False)
            print_table(comparison(), console)
        shown = (tmp_path / "out").read_text(encoding="utf-8")
        assert re.search(r"^breadth-first +\d", shown, re.MULTILINE)
        assert "<script>" in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "over 3 topics after 12 pages\nworld: <script>" in shown

    @pytest.mark.parametrize(("width", "columns"), [(30, 1), (62, 4), (200, 6)])
    def test_columns_that_do_not_fit_are_left_out(self, width, columns, tmp_path):
        with (tmp_path / "out").open("w", encoding="utf-8") as stream:
            print_table(narrowed(comparison(), 2), Console(width=width, file=stream, force_terminal=False))
        lines = (tmp_path / "out").read_text(encoding="utf-8").splitlines()
        (row,) = (line for line in lines if line.startswith("look-ahead  "))
        assert len(row) <= width
        assert row.count("±") + row.count("–") == columns


@pytest.mark.parametrize(
    ("cell", "metric", "expected"),
    [
        (Cell(0.1234, 0.0056, False, "**"), "recall", "12.3 ± 0.6 % **"),
        (Cell(0.5, float("nan"), False, ""), "recall", "50.0 %"),
        (Cell(float("nan"), float("nan"), False, ""), "cost", "–"),
        (Cell(0.00234, 0.0001, False, ""), "similarity", "0.00234 ± 0.00010"),
        (Cell(1234.5, 10.2, False, ""), "distinct", "1,234 ± 10"),
        (Cell(0.0, 0.0, False, ""), "cost", "0 ± 0"),
    ],
)
def test_figures_are_readable(cell, metric, expected):
    assert figure_text(cell, METRICS[metric]) == expected


class TestPictures:
    def test_names_are_moved_apart_as_little_as_need_be(self):
        assert spread_out([0.1, 0.5, 0.9], 0.1) == pytest.approx([0.1, 0.5, 0.9])
        assert spread_out([0.5, 0.5, 0.5], 0.1) == pytest.approx([0.4, 0.5, 0.6])
        assert spread_out([0.0, 0.0], 0.1) == pytest.approx([0.0, 0.1])
        assert spread_out([0.95, 1.0, 1.0], 0.1) == pytest.approx([0.8, 0.9, 1.0])
        assert spread_out([], 0.1) == []

    def test_more_names_than_there_is_room_for_are_spread_evenly(self):
        assert spread_out([0.5] * 5, 0.9) == pytest.approx([0, 0.25, 0.5, 0.75, 1])

    def test_no_two_strategies_look_alike(self):
        bounds = ("random", "look-ahead", "oracle")
        looks = styles([f"s{number}" for number in range(30)] + list(bounds), bounds)
        assert len(set(looks.values())) == 33

    def test_a_flat_zero_and_a_single_page_can_be_drawn(self):
        plot = Plot("t", "x", "y", np.array([1.0]), [Line("a", np.zeros(1), np.full(1, np.nan))])
        png, svg = draw(plot, styles(["a"]))
        assert png.startswith(b"\x89PNG")
        assert b">a<" in svg

    def test_the_same_figures_give_the_same_bytes(self):
        plot = Plot("t", "x", "y", np.arange(1.0, 4.0), [Line("a", np.arange(3.0), np.ones(3))])
        assert draw(plot, styles(["a"])) == draw(plot, styles(["a"]))

    def test_panels(self, tmp_path):
        panels = [("left", "share", {"a": [0.1, 0.2]}), ("right", "share", {"b": [0.3]})]
        draw_curves(panels, tmp_path / "two.svg", title="both", x_label="pages")
        assert {"left", "right", "both", "a", "b"} <= set(
            re.findall(r">([^<>\n]+)</text>", (tmp_path / "two.svg").read_text())
        )
