"""Curves as pictures. matplotlib is an extra and is loaded only when a picture is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lycosa.errors import InputError

COLOURS = ("#1b7837", "#b2182b", "#2166ac", "#e08214", "#762a83", "#4d4d4d")


def draw_curves(
    panels: Sequence[tuple[str, str, Mapping[str, Sequence[float]]]], path: Path, *, title: str, x_label: str
) -> None:
    """One panel beside the other, each (heading, y label, {name: curve}); written as PNG or SVG by its ending."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise InputError("pictures need matplotlib: pip install 'lycosa[plots]'") from error
    figure, axes = pyplot.subplots(1, len(panels), figsize=(5.2 * len(panels), 3.8), squeeze=False)
    for axis, (heading, y_label, curves) in zip(axes[0], panels, strict=True):
        for colour, (name, curve) in zip(COLOURS, curves.items(), strict=False):
            axis.plot(range(1, len(curve) + 1), curve, label=name, color=colour, linewidth=1.8)
        axis.set_title(heading, fontsize=11)
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        axis.set_ylim(0, None)
        axis.set_xlim(0, None)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False)
    figure.suptitle(title, fontsize=12)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
