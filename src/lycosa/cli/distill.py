"""lycosa distill: the hubs, authorities and specialised sites of a crawl."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import typer
from rich.table import Table

from lycosa.cli.opened import DIRECTORY
from lycosa.cli.terminal import err, json_line, out, plain
from lycosa.crawl.centrality import NAME, DistillSettings
from lycosa.crawl.citation_graph import CitationGraph
from lycosa.crawl.distiller import Distillation, RankedPage
from lycosa.crawl.distiller import distill as run_distiller
from lycosa.errors import InputError
from lycosa.results.check import naming_damage
from lycosa.store.opening import open_graph
from lycosa.workspace import Workspace


def distill(
    directory: Path = DIRECTORY,
    top: int = typer.Option(15, "--top", "-n", help="How many of each to show."),
    admitted: float = typer.Option(
        0.15, "--admitted", help="Share of the pages that may be authorities, the best ones."
    ),
    within_sites: bool = typer.Option(
        False, "--within-sites", help="Count links within a site, too: for crawls of a single site."
    ),
    as_json: bool = typer.Option(False, "--json", help="As one JSON object."),
) -> None:
    """Print the top hubs and authorities of a crawl, and the sites that specialise in its topic."""
    settings = DistillSettings(top=top, admitted=admitted, across_sites=not within_sites)
    workspace = Workspace.existing(directory)
    with naming_damage(workspace), closing(open_graph(workspace)) as store:
        with err.status("reading the graph"):
            citations = CitationGraph(store)
        if not citations.has_relevant_pages:
            raise InputError(f"{directory}: no page with any relevance yet, so there is nothing to distil")
        with err.status("hubs and authorities"):
            found = run_distiller(citations, settings, earlier=store.state(NAME))
        number_of = store.number_of
    if as_json:
        rows = {name: [row._asdict() for row in getattr(found, name)] for name in ("sites", "unvisited")}
        for name in ("hubs", "authorities"):
            rows[name] = [{**row._asdict(), "link": number_of(row.link)} for row in getattr(found, name)]
        figures = {"pages": found.pages, "admitted": found.admitted, "edges": found.edges, "settings": asdict(settings)}
        print(json_line({**figures, **rows}))
        return
    _tell(found, top, settings)


def _tell(found: Distillation, top: int, settings: DistillSettings) -> None:
    which = "links between sites" if settings.across_sites else "links, within sites, too,"
    out.print(
        f"{found.pages:,} pages, {found.edges:,} {which} that count; the {found.admitted:,} pages with "
        f"R above {found.threshold:.3f} may be authorities"
    )
    if not found.edges and settings.across_sites:
        out.print("[yellow]no link between sites leads to such a page;[/] for a single site try --within-sites")
    elif not found.edges:
        out.print("[yellow]no link leads to such a page[/]")
    for name, rows in (("hubs", found.hubs), ("authorities", found.authorities)):
        if rows:
            out.print(_table(name, rows))
    sites = Table("sites", "relevant", "pages", "at least", box=None, pad_edge=False, header_style="bold")
    for site in found.sites:
        sites.add_row(plain(site.name, 60), f"{site.relevant:,}", f"{site.pages:,}", f"{site.bound:.0%}")
    out.print(sites)
    if found.unvisited:
        table = Table("unvisited, cited by hubs", "hubs", box=None, pad_edge=False, header_style="bold")
        for page in found.unvisited[:top]:
            table.add_row(plain(page.url, 100), f"{page.hubs:,}")
        out.print(table)


def _table(name: str, rows: object) -> Table:
    table = Table(name, "R", "title", "topic", "url", box=None, pad_edge=False, header_style="bold")
    assert isinstance(rows, (list, tuple))
    for row in rows:
        assert isinstance(row, RankedPage)
        table.add_row(
            f"{row.score:.4f}", f"{row.relevance:.2f}", plain(row.title, 40), plain(row.topic, 30), plain(row.url, 70)
        )
    return table
