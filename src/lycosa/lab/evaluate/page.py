"""The HTML page of a report. Every text goes through `_text`; pictures are embedded as data."""

from __future__ import annotations

import base64
import hashlib
import html
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lycosa.lab.evaluate.measure import METRICS, Metric
from lycosa.lab.evaluate.runs import Comparison
from lycosa.lab.evaluate.significance import Pair, stars
from lycosa.lab.evaluate.summary import Cell, TableColumn, pairs_of, table, too_few_topics

TESTED = ("recall", "harvest", "similarity")
"""Metrics whose pairwise tests are shown."""
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1180px; margin: 2rem auto;
       padding: 0 1.2rem; }
h1 { font-size: 1.5rem; margin-bottom: .3rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p.note, figcaption, caption { color: #666; font-size: .86rem; } caption { text-align: left; padding-bottom: .3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .86rem; }
th, td { padding: .28rem .7rem .28rem 0; text-align: right; white-space: nowrap; border-bottom: 1px solid #eee; }
th { font-weight: 600; vertical-align: bottom; } thead th { white-space: normal; }
th:first-child, td:first-child, table.text td, table.text th { text-align: left; }
table.text td { white-space: normal; overflow-wrap: anywhere; vertical-align: top; }
p.warning { border-left: 3px solid #d55e00; padding-left: .7rem; }
td.best { font-weight: 700; } tr.bound { color: #888; } td.sure { font-weight: 700; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 1.4rem 1.8rem; }
figure { margin: 0; } figure img { width: 100%; height: auto; }
""".strip()
NOTES = (
    "Each figure is a mean over topics, after averaging the repeats of each topic; ± and the bands are one standard "
    "error over topics. Errors of ratios (share between bounds, performance/cost) are by jackknife.",
    "A crawl that ended before its page budget because no link was left keeps its last value to the end.",
    "Tests are Wilcoxon's signed-rank test, paired over topics and two-sided, with Holm's correction over all pairs of "
    "a metric; topics without a difference are left out.",
    "Random takes any waiting link. Two orders know the truth: the oracle takes a waiting link to a relevant page "
    "wherever there is one; look-ahead also knows the graph, and otherwise takes the path on which relevant pages cost "
    "the fewest fetches. None of the three counts when the best is marked or the mean cost is taken.",
)


class Picture(NamedTuple):
    title: str
    caption: str
    svg: bytes


def render(comparison: Comparison, pictures: Sequence[Picture]) -> str:
    # Only the style sheet is allowed, by its hash; scripts, frames, forms and external addresses are not.
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(comparison.title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{_text(comparison.title)}</h1>",
        _about(comparison),
        _warning(too_few_topics(comparison)),
        _final(comparison, table(comparison)),
        "<h2>Over the crawl</h2>",
        f'<div class="figures">{"".join(_figure(picture) for picture in pictures)}</div>',
        _differences(comparison),
        _tests(comparison),
        _skipped(comparison),
        "<h2>How this was measured</h2>",
        "".join(f'<p class="note">{_text(note)}</p>' for note in NOTES),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def figure_text(cell: Cell, metric: Metric, *, has_unit: bool = True) -> str:
    """`12.3 ± 0.4 % **`, or a dash where there is no figure."""
    if not math.isfinite(cell.mean):
        return "–"
    factor = 100.0 if metric.is_share else 1.0
    digits = 1 if metric.is_share else _digits(cell.mean)
    error = f" ± {factor * cell.error:,.{digits}f}" if math.isfinite(cell.error) else ""
    unit = " %" if metric.is_share and has_unit else ""
    mark = f" {cell.stars}" if cell.stars else ""
    return f"{factor * cell.mean:,.{digits}f}{error}{unit}{mark}"


def sample_text(comparison: Comparison) -> str:
    """`over 50 topics after 1,000 pages`."""
    topics, pages = len(comparison.scores), comparison.pages
    return f"over {topics:,} topic{'s' * (topics != 1)} after {pages:,} page{'s' * (pages != 1)}"


def _digits(value: float) -> int:
    """Decimals for three significant digits."""
    return min(6, max(0, 2 - math.floor(math.log10(abs(value))))) if value else 0


def printable(text: str) -> str:
    """Text without control or direction characters."""
    return "".join(char if char.isprintable() else " " for char in text)


def _text(value: object) -> str:
    return html.escape(printable(str(value)), quote=True)


def _about(comparison: Comparison) -> str:
    lengths = [int(fetched) for scores in comparison.scores for fetched in scores.fetched]
    early = sum(fetched < comparison.pages for fetched in lengths)
    facts = {
        **comparison.about,
        "strategies": ", ".join(comparison.strategies),
        "topics compared": str(len(comparison.scores)),
        "pages per crawl": f"{comparison.pages:,}",
        "crawls": f"{len(lengths):,}, of which {early:,} ended early: no link was left",
    }
    lines = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in facts.items())
    return f'<h2>What was compared</h2><table class="text">{lines}</table>'


def _final(comparison: Comparison, columns: Sequence[TableColumn]) -> str:
    head = "".join(
        f'<th title="{_text(column.metric.explanation)}">{_text(column.metric.title)}</th>' for column in columns
    )
    lines = []
    for place, strategy in enumerate(comparison.strategies):
        cells = "".join(_cell(column.cells[place], column.metric) for column in columns)
        kind = ' class="bound"' if strategy in comparison.bounds else ""
        lines.append(f"<tr{kind}><th>{_text(strategy)}</th>{cells}</tr>")
    caption = (
        f"Mean ± standard error {_text(sample_text(comparison))}. Bold: ahead of all others by more than the error. "
        f"Stars: differs from {_text(comparison.baseline)} with p &lt; 0.05 (*), 0.01 (**), 0.001 (***)."
    )
    return (
        f'<h2>At the end of the crawl</h2><div class="wide"><table><caption>{caption}</caption>'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(cell: Cell, metric: Metric) -> str:
    kind = ' class="best"' if cell.is_best else ""
    return f"<td{kind}>{_text(figure_text(cell, metric))}</td>"


def _figure(picture: Picture) -> str:
    data = base64.b64encode(picture.svg).decode()
    return (
        f'<figure><img alt="{_text(picture.title)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{_text(picture.title)}: {_text(picture.caption)}</figcaption></figure>"
    )


def _warning(text: str) -> str:
    return f'<p class="warning">{_text(text)}</p>' if text else ""


def _differences(comparison: Comparison) -> str:
    """How much each strategy is ahead of the baseline, and how sure that is."""
    if len(comparison.tested) < 2 or len(comparison.scores) < 2:
        return ""
    lines = []
    for name in TESTED:
        metric = METRICS[name]
        factor, unit = (100.0, " %") if metric.is_share else (1.0, "")
        for pair in pairs_of(comparison, name):
            if comparison.baseline not in (pair.first, pair.second):
                continue
            sign = -1.0 if pair.first == comparison.baseline else 1.0
            low, high = sorted((sign * pair.low, sign * pair.high))
            other = pair.second if pair.first == comparison.baseline else pair.first
            digits = 1 if metric.is_share else 4
            cells = (
                f"{factor * sign * pair.difference:+.{digits}f}{unit}",
                f"{factor * low:+.{digits}f} … {factor * high:+.{digits}f}{unit}",
                f"{sign * pair.effect:+.2f}",
                "< 0.001" if pair.adjusted < 0.001 else f"{pair.adjusted:.3f}",
            )
            filled = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
            lines.append(f"<tr><th>{_text(metric.title)}: {_text(other)}</th>{filled}</tr>")
    head = "".join(f"<th>{title}</th>" for title in ("difference", "95 % interval", "effect size", "p (Holm)"))
    return (
        f"<h2>Differences from {_text(comparison.baseline)}</h2>"
        '<p class="note">Means over topics at the end of the crawl, with the 95 % confidence interval (Student\'s t), '
        "the matched-pairs rank-biserial correlation (1: ahead on all topics) and Wilcoxon's p.</p>"
        f'<div class="wide"><table><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def _tests(comparison: Comparison) -> str:
    names = comparison.tested
    if len(names) < 2 or len(comparison.scores) < 2:
        return ""
    matrices = "".join(_matrix(METRICS[name].title, names, pairs_of(comparison, name)) for name in TESTED)
    return (
        '<h2>Significance of differences</h2><p class="note">Holm-corrected p of each pair at the end of the crawl. + '
        f"means that the row is above the column, − below. Bold: p below 0.05.</p>{matrices}"
    )


def _matrix(title: str, names: Sequence[str], pairs: Iterable[Pair]) -> str:
    signed: dict[tuple[str, str], tuple[float, float]] = {}
    for pair in pairs:
        signed[pair.first, pair.second] = (pair.difference, pair.adjusted)
        signed[pair.second, pair.first] = (-pair.difference, pair.adjusted)
    lines = []
    for row in names:
        cells = "".join(_p_cell(*signed[row, other]) if row != other else "<td></td>" for other in names)
        lines.append(f"<tr><th>{_text(row)}</th>{cells}</tr>")
    head = "".join(f"<th>{_text(name)}</th>" for name in names)
    return (
        f'<h3>{_text(title)}</h3><div class="wide"><table><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _p_cell(difference: float, p: float) -> str:
    sign = "+" if difference > 0 else "−" if difference < 0 else ""
    kind = ' class="sure"' if stars(p) else ""
    shown = "&lt; 0.001" if p < 0.001 else f"{p:.3f}"
    return f"<td{kind}>{sign} {shown}</td>"


def _skipped(comparison: Comparison) -> str:
    if not comparison.skipped:
        return ""
    lines = "".join(f"<tr><td>{_text(topic)}</td><td>{_text(why)}</td></tr>" for topic, why in comparison.skipped)
    return f'<h2>Topics left out ({len(comparison.skipped)})</h2><table class="text">{lines}</table>'
