"""One crawl with its changes of focus marked: the picture paper AR's figure 5 tells in words."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from ar_crawls import Crawl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lycosa.lab.evaluate.pictures import Style

WIDENED, NARROWED = "#b03030", "#2f7d32"


def marked(title: str, crawls: Mapping[str, Crawl], changing: Crawl, looks: Mapping[str, Style]) -> bytes:
    """Pages found by some crawls; the changes of focus of one of them as lines across, their words beside."""
    figure = Figure(figsize=(7.6, 4.4))
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    figure.subplots_adjust(left=0.095, right=0.8, bottom=0.12, top=0.92)
    for name, crawl in crawls.items():
        x = np.arange(1, len(crawl.found) + 1)
        axis.plot(x, 100 * crawl.found, color=looks[name].colour, linewidth=1.8, label=name)
    for after, change in changing.changes:
        is_wider = change.startswith("widened")
        axis.axvline(after, color=WIDENED if is_wider else NARROWED, linewidth=0.9, linestyle=(0, (4, 2)))
    axis.plot([], [], color=WIDENED, linewidth=0.9, linestyle=(0, (4, 2)), label="focus widened")
    axis.plot([], [], color=NARROWED, linewidth=0.9, linestyle=(0, (4, 2)), label="focus narrowed")
    axis.set_title(title, fontsize=11, loc="left", parse_math=False)
    axis.set_xlabel("pages fetched", fontsize=9)
    axis.yaxis.set_major_formatter(lambda value, _place: f"{value:g} %")
    axis.set_ylim(0, None)
    axis.set_xlim(0, len(changing.found))
    axis.tick_params(labelsize=9, length=3, color="#999999")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=130, metadata={"Software": "lycosa"})
    return stream.getvalue()
