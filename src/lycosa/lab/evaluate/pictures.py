"""Curves as pictures. matplotlib is an extra, loaded only when a picture is drawn.

Lines are labelled at their right end instead of in a legend. The colours can be told apart with all common forms of
colour blindness; when they are used up, the dashes change. Bounds are grey.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lycosa.errors import InputError
from lycosa.lab.evaluate.runs import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a2048", "#8a8a00")
"""Okabe and Ito's palette without black and yellow, which are hard to see or too loud, and two darker tones."""
DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
POINTS = 200
"""Maximum number of points of a curve: more cannot be seen, and make large files."""
LABEL_GAP = 0.047
"""Minimum distance between two names, as a share of the height."""


class Style(NamedTuple):
    """How a strategy is drawn in every picture."""

    colour: str
    dash: str | tuple[int, tuple[float, ...]]


BOUNDS = (
    Style("#8c8c8c", (0, (1.2, 1.6))),
    Style("#5c5c5c", (0, (5, 2.5))),
    Style("#a6a6a6", (0, (4, 1.5, 1.2, 1.5))),
)


class Line(NamedTuple):
    """One curve, with a band of ± `error` if that is known."""

    name: str
    values: Floats
    error: Floats | None = None


class Plot(NamedTuple):
    title: str
    x_label: str
    y_label: str
    x: Floats
    lines: Sequence[Line]
    is_share: bool = False
    """The y axis is a percentage."""
    has_points: bool = False
    """The x axis is discrete: each value gets a point."""


class Bars(NamedTuple):
    title: str
    x_label: str
    groups: Sequence[str]
    series: Sequence[Line]
    """Each with a value, and optionally an error, for every group."""
    is_share: bool = False


def styles(names: Sequence[str], bounds: Collection[str] = ()) -> dict[str, Style]:
    rivals = [name for name in names if name not in bounds]
    looks = {
        name: Style(COLOURS[place % len(COLOURS)], DASHES[place // len(COLOURS) % len(DASHES)])
        for place, name in enumerate(rivals)
    }
    greys = {name: BOUNDS[place % len(BOUNDS)] for place, name in enumerate(name for name in names if name in bounds)}
    return looks | greys


def draw(plot: Plot, looks: Mapping[str, Style]) -> tuple[bytes, bytes]:
    """The picture as PNG and as SVG; the same figures give the same bytes."""
    figure = _figure(7.6, 4.4)
    longest = max((len(_short(line.name)) for line in plot.lines), default=0)
    # Fixed margins: computing them from the text takes as long as drawing.
    figure.subplots_adjust(left=0.095, right=0.945 - 0.0088 * longest, bottom=0.12, top=0.92)
    axis = figure.subplots()
    every = max(1, -(-len(plot.x) // POINTS))
    # Always including the last point, where the names are.
    kept = np.unique(np.append(np.arange(0, len(plot.x), every), max(0, len(plot.x) - 1)))
    for line in plot.lines:
        _draw_line(axis, line, plot, kept, looks[line.name])
    _calm(axis, plot.title, plot.x_label, plot.y_label)
    axis.set_ylim(0, _top(plot))
    axis.set_xlim(float(plot.x[0]) if plot.has_points else 0, float(plot.x[-1]))
    axis.yaxis.set_major_formatter(lambda value, _place: f"{100 * value:.3g} %" if plot.is_share else _number(value))
    axis.xaxis.set_major_formatter(lambda value, _place: _number(value))
    _name_lines(axis, plot, looks)
    return _bytes(figure, "png"), _bytes(figure, "svg")


def draw_bars(bars: Bars, looks: Mapping[str, Style]) -> tuple[bytes, bytes]:
    """The picture as PNG and as SVG: groups side by side, each with a bar for every series."""
    figure = _figure(7.6, 4.4)
    figure.subplots_adjust(left=0.095, right=0.97, bottom=0.12, top=0.92)
    axis = figure.subplots()
    width = 0.8 / len(bars.series)
    places = np.arange(len(bars.groups), dtype=np.float64)
    for number, line in enumerate(bars.series):
        at = places + (number - (len(bars.series) - 1) / 2) * width
        axis.bar(at, line.values, width * 0.9, color=looks[line.name].colour, label=_short(line.name), linewidth=0)
        if line.error is not None:
            axis.errorbar(at, line.values, line.error, fmt="none", ecolor="#444444", elinewidth=0.9, capsize=2)
    _calm(axis, bars.title, bars.x_label, "")
    axis.grid(visible=False, axis="x")
    axis.set_axisbelow(True)
    axis.set_xticks(places, [_short(group) for group in bars.groups], parse_math=False)
    axis.yaxis.set_major_formatter(lambda value, _place: f"{100 * value:.3g} %" if bars.is_share else _number(value))
    if len(bars.series) > 1:
        axis.legend(frameon=False, fontsize=9)
    return _bytes(figure, "png"), _bytes(figure, "svg")


def draw_curves(
    panels: Sequence[tuple[str, str, Mapping[str, Sequence[float]]]], path: Path, *, title: str, x_label: str
) -> None:
    """Panels side by side, each (heading, y label, {name: curve}), written as PNG or SVG by the path's suffix."""
    figure = _figure(5.2 * len(panels), 3.8)
    figure.set_layout_engine("tight")
    axes = figure.subplots(1, len(panels), squeeze=False)
    for axis, (heading, y_label, curves) in zip(axes[0], panels, strict=True):
        for colour, (name, curve) in zip(COLOURS, curves.items(), strict=False):
            axis.plot(range(1, len(curve) + 1), curve, label=name, color=colour, linewidth=1.8)
        _calm(axis, heading, x_label, y_label)
        axis.set_ylim(0, None)
        axis.set_xlim(0, None)
        axis.legend(frameon=False)
    figure.suptitle(title, fontsize=12)
    path.write_bytes(_bytes(figure, path.suffix.lstrip(".")))


def save(path: Path, png: bytes, svg: bytes) -> None:
    path.with_suffix(".png").write_bytes(png)
    path.with_suffix(".svg").write_bytes(svg)


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("pictures need matplotlib: pip install 'lycosa[plots]'") from error
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def _draw_line(axis: Axes, line: Line, plot: Plot, kept: Floats, look: Style) -> None:
    x, values = plot.x[kept], line.values[kept]
    marker = {"marker": "o", "markersize": 3.5} if plot.has_points else {}
    axis.plot(x, values, color=look.colour, linestyle=look.dash, linewidth=1.7, clip_on=False, **marker)  # type: ignore[arg-type] # mypy cannot see through **
    if line.error is not None and np.isfinite(line.error).all():
        error = line.error[kept]
        axis.fill_between(x, np.maximum(0, values - error), values + error, color=look.colour, alpha=0.13, linewidth=0)


def _name_lines(axis: Axes, plot: Plot, looks: Mapping[str, Style]) -> None:
    """Put each name beside the end of its line; move names apart where ends are close."""
    top = axis.get_ylim()[1]
    order = sorted(plot.lines, key=lambda line: float(line.values[-1]))
    ends = [min(1.0, float(line.values[-1]) / top) for line in order]
    for line, end, place in zip(order, ends, spread_out(ends, LABEL_GAP), strict=True):
        colour = looks[line.name].colour
        axis.plot(
            [1.005, 1.03], [end, place], transform=axis.transAxes, color=colour, linewidth=0.8, alpha=0.7, clip_on=False
        )
        axis.text(
            1.036, place, _short(line.name), transform=axis.transAxes, color=colour, fontsize=9, va="center",
            parse_math=False,
        )  # fmt: skip


def spread_out(places: Sequence[float], gap: float) -> list[float]:
    """Ascending places in [0, 1], moved as little as necessary (by least squares) for neighbours to be `gap` apart.

    Crowded ones are spread around their common middle: isotonic regression, by pooling neighbours that collide.
    """
    gap = min(gap, 1 / max(1, len(places) - 1))
    pools: list[tuple[float, int]] = []
    for number, place in enumerate(places):
        total, size = place - number * gap, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / size:
            before, members = pools.pop()
            total, size = total + before, size + members
        pools.append((total, size))
    ceiling = 1 - (len(places) - 1) * gap
    starts = [min(max(total / size, 0.0), ceiling) for total, size in pools for _ in range(size)]
    return [start + number * gap for number, start in enumerate(starts)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _short(name: str) -> str:
    shown = "".join(char if char.isprintable() else " " for char in name)
    return shown if len(shown) <= 28 else shown[:27] + "…"


def _top(plot: Plot) -> float:
    """A little above the highest line; bands may be cut off."""
    highest = max((float(np.nanmax(line.values)) for line in plot.lines if len(line.values)), default=0.0)
    return highest * 1.06 if highest > 0 else 1.0


def _calm(axis: Axes, title: str, x_label: str, y_label: str) -> None:
    axis.set_title(title, fontsize=11, loc="left")
    axis.set_xlabel(x_label, fontsize=9)
    axis.set_ylabel(y_label, fontsize=9)
    axis.tick_params(labelsize=9, length=3, color="#999999")
    axis.grid(alpha=0.2, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color("#999999")


def _bytes(figure: Figure, form: str) -> bytes:
    from matplotlib import rc_context

    stream = io.BytesIO()
    # Text stays text in SVG; no date and no random names, which would make equal reports differ.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "lycosa"}):
        metadata = {"Date": None, "Creator": "lycosa"} if form == "svg" else {"Software": "lycosa"}
        figure.savefig(stream, format=form, dpi=130, metadata=metadata)
    return stream.getvalue()
