"""What distilling is worth to a crawl, and what the distiller finds (paper FC, sections 4.6 and 4.7, figure 10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from common import NOTES, Evidence, Pictures, verdicts
from fc_crawls import BEST, DISTILLING, EVERY, LISTED, SOFT, Resource
from fc_findings import HOLDS, SHOWN, Figures, evidence

from lycosa.lab.evaluate.pictures import Plot

METRICS = ("harvest", "raised and fetched", "relevant of the raised", "revisits")
PURE = ("**holds**", "**the other way round: less**", "no difference shown")


def claims(figures: Figures) -> Iterator[Evidence]:
    hubs, harvest = figures.values(SOFT, "relevant of the hubs"), figures.values(SOFT, "harvest")
    means = f"relevant by label: {hubs.mean():.2f} of the {BEST} best hubs, {harvest.mean():.2f} of all pages fetched"
    yield Evidence("4.6", "hubs are topically pure: more so than the crawl", hubs - harvest, means, PURE)
    yield from _citations(figures)
    for name, how in DISTILLING.items():
        yield _worth(figures, name, how.base, "found", f"distilling helps: {name}")
    name = next(iter(DISTILLING))
    says = f"… and pays for the hubs that are fetched again: {name}"
    yield _worth(figures, name, DISTILLING[name].base, "found, revisits paid", says)


def _citations(figures: Figures) -> Iterator[Evidence]:
    found = [each for each in figures.citations if each.crawls]
    if found:
        cited, waiting = (np.array([getattr(each, name) for each in found]) for name in ("cited", "waiting"))
        crawls = 2 * figures.plan.repeats * len(figures.citations)
        shares = f"{cited.mean():.3f} of what the best hubs cite, {waiting.mean():.3f} of all that waits"
        left = f"something was left to cite in {sum(each.crawls for each in found)} of {crawls} crawls"
        means = f"relevant by label: {shares}; {left}, {len(found)} topics"
        says = "unvisited pages that top hubs cite are worth crawling: more so than others that wait"
        yield Evidence("4.7", says, cited - waiting, means, PURE)


def _worth(figures: Figures, name: str, base: str, metric: str, says: str) -> Evidence:
    values = figures.values(name, metric)
    distilled = values[:, -1] if values.ndim > 1 else values
    plain = figures.values(base, "found")[:, -1]
    differences = distilled - plain
    counts = f"better in {(differences > 0).sum()}, worse in {(differences < 0).sum()} of {len(plain)} topics"
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else 0.0
    means = (
        f"relevant pages found: {distilled.mean():.1f}, {SHOWN[base]} alone {plain.mean():.1f}, "
        f"difference {differences.mean():+.1f} ± {error:.1f}; {counts}"
    )
    return Evidence("4.7", says, differences, means, HOLDS)


def section(all_figures: Sequence[Figures], pictures: Pictures) -> Iterator[str]:
    yield HEAD.format(every=EVERY, best=BEST)
    yield "| section | the paper's finding | here | evidence |\n|---|---|---|---|"
    yield from verdicts(evidence(all_figures, claims))
    yield NOTES
    yield _table(all_figures)
    yield READING
    for figures in all_figures:
        yield _picture(figures, pictures)
    for figures in all_figures:
        yield from _resources(figures)


def _table(all_figures: Sequence[Figures]) -> str:
    lines = [
        "| web | crawl | relevant pages found | harvest rate | raised links fetched | of these relevant "
        "| hubs that would be fetched again |",
        "|---|---|---|---|---|---|---|",
    ]
    for figures in all_figures:
        for base in dict.fromkeys(how.base for how in DISTILLING.values()):
            plain_cells = (_found(figures, base), figures.mean(base, "harvest"), "", "", "")
            lines.append(f"| {figures.web.name} | {SHOWN[base]} | {' | '.join(plain_cells)} |")
            for name in (name for name, how in DISTILLING.items() if how.base == base):
                cells = (_found(figures, name), *(figures.mean(name, metric) for metric in METRICS))
                lines.append(f"| {figures.web.name} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _found(figures: Figures, strategy: str) -> str:
    values = figures.values(strategy, "found")[:, -1]
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.1f} ± {error:.1f}"


def _picture(figures: Figures, pictures: Pictures) -> str:
    web = figures.web.name
    pages = np.arange(1, figures.plan.pages + 1, dtype=np.float64)
    names = [name for name, how in DISTILLING.items() if how.base == SOFT]
    # Without bands: topics differ far more than crawls for one topic do, and those are what is compared.
    lines = [figures.line(SOFT, "found"), *(figures.line(name, "found", name) for name in names)]
    lines = [line._replace(error=None) for line in lines]
    title = f"Section 4.7, {web}: relevant pages found, with the distiller and without"
    return pictures.save(f"4.7-distilling-{web}", Plot(title, "pages fetched", "", pages, lines))


def _resources(figures: Figures) -> Iterator[str]:
    """Figure 10."""
    hubs, authorities, cited = figures.resources
    web, topic = figures.web.name, figures.shown_topic
    yield f"\n### Figure 10, {web}: the best hubs and authorities for `{topic}`\n"
    yield "| | hub | R | by label | authority | R | by label |\n|---|---|---|---|---|---|---|"
    for place in range(max(len(hubs), len(authorities))):
        cells = [*_cells(hubs, place), *_cells(authorities, place)]
        yield f"| {place + 1} | {' | '.join(cells)} |"
    if cited:
        yield f"\nUnvisited pages that the best hubs cite, the {LISTED} best by the scores of these hubs:\n"
        yield from (f"- {plain(each.title)} {code(each.url)}: {each.kind}" for each in cited)


def _cells(found: Sequence[Resource], place: int) -> tuple[str, str, str]:
    if place >= len(found):
        return "", "", ""
    each = found[place]
    title = plain(each.title)[:60]
    return f"{title} {code(each.url)}", f"{each.relevance:.2f}", each.kind


def plain(text: str) -> str:
    """A title of somebody else's page, harmless in a table."""
    return "".join(" " if character in "|`<>[]\n\r\t\\*_" else character for character in text).strip()


def code(url: str) -> str:
    """A URL as it is; canonical ones have none of the characters that end a code span or a table's cell."""
    return f"`{url.replace('`', '%60').replace('|', '%7C')}`"


HEAD = """
## What distilling is worth: sections 4.6 and 4.7, figure 10

Crawls that distil do so every {every} pages: hubs and authorities of the pages fetched so far, of which the most
relevant 15 % may be authorities; what the {best} best hubs cite and nobody has fetched is then put before all other
links, at most 500 of it (Lycosa's setting by default), or at most 20. Each is compared with the same crawl, from the
same seeds, that does not distil; by topic the mean over all hands of seeds. On the generated web only links between
hosts count, on the other two all do.

Hubs are fetched again, too, up to five after each distillation. A recorded web does not change, so nothing can come of
it here, and only the price can be told: “paying” means that these fetches are taken off the crawl's end. What second
visits bring on a web that grows is not measured.
"""

READING = """
- The distiller finds what it should: top hubs are purer than the crawl, on every web.
- What they cite is worth more than what else waits, where anything is left to cite. That is not enough to gain by it:
  soft focus orders the same links by the relevance of the pages that cite them, and does as well or better by itself.
  To put hundreds of links before all others costs it 7 % of its finds on the generated web, and less if few
  links are put first. On the other webs nothing is gained or lost that can be told from chance.
- Hard focus, which takes links in any order, gains by the order that the distiller gives it: a quarter on the generated
  web, and 15 % on wikispeedia, which may be chance. FC motivates the step with pages abandoned after a
  misclassification; those are not brought back here, as only links that wait are put first, and a link that hard focus
  turned away does not wait.
- Second visits to hubs cost one fetch in ten in these short crawls. Lycosa's default of an hour between two fetches
  of a hub would spend none in them.
- So the distiller does not steer by default (`distill.every` is 0): it is there to look at what was found.
"""
