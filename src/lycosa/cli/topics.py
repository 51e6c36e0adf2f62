"""lycosa topics: say what you are interested in. A book of topics with examples, and judges that learn from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.tree import Tree

from lycosa.cli.look import opened
from lycosa.cli.pages_by_url import gather
from lycosa.cli.terminal import err, out, plain
from lycosa.engine import reading_of
from lycosa.errors import InputError
from lycosa.fetch.urls import parse_seed
from lycosa.judges.classifier import ANY, Example
from lycosa.judges.table import CLASSIFIER_NAMES
from lycosa.judges.taxonomy import Taxonomy
from lycosa.judges.taxonomy_file import load_taxonomy
from lycosa.lab.worlds.world import World
from lycosa.model import Page
from lycosa.results.archived_pages import ArchivedPages
from lycosa.seeds.bookmarks import read_bookmarks
from lycosa.topics.book import TopicBook
from lycosa.topics.importing import (
    Skips,
    fetched_pages,
    file_page,
    folder_examples,
    json_examples,
    label_examples,
    taxonomy_examples,
    text_page,
)
from lycosa.topics.judges import load_classifier, train_judge, update_judge
from lycosa.topics.rows import Added
from lycosa.topics.suggest import (
    Candidate,
    Fits,
    JudgedPage,
    distinctive_words,
    fitting_topics,
    further_examples,
    neighbouring_topics,
)
from lycosa.topics.training import Report, TrainingSettings

app = typer.Typer(
    help="Topics to crawl for: a tree, examples, and judges that learn from them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
BOOK = typer.Option(Path("topics.db"), "--book", "-b", envvar="LYCOSA_TOPICS", help="The topic book.")
AROUND = """
with cited as (
    select l.target_id as id, count(*) as relevant from links l join judgements s on s.page_id = l.source_id
    where s.is_relevant group by 1
)
select j.scores, coalesce(cited.relevant, 0) from judgements j left join cited on cited.id = j.page_id
"""
"""Topics of each page, and how many relevant pages link to it."""


@app.command("import")
def import_command(
    source: Path = typer.Argument(
        help="A taxonomy (.toml), a folder whose sub-folders are topics, a table url/topic (.tsv), JSON lines (.jsonl)."
    ),
    world: Path | None = typer.Option(None, "--world", "-w", help="The world that has the pages of a .tsv table."),
    crawl: Path | None = typer.Option(None, "--crawl", help="The crawl that has them."),
    split: str = typer.Option("", "--split", help="Of JSON lines, only those of this split: train."),
    offline: bool = typer.Option(False, "--offline", help="Leave out examples that would have to be fetched."),
    book: Path = BOOK,
) -> None:
    """Put topics and examples into the book. What is there already stays."""
    skips = Skips()
    with TopicBook(book) as opened_book:
        if source.is_dir():
            added = _add(opened_book, folder_examples(source, skips))
        elif source.suffix == ".toml":
            taxonomy = load_taxonomy(source)
            opened_book.import_taxonomy(taxonomy)
            fetch = None if offline else gather
            added = _add(opened_book, taxonomy_examples(taxonomy, source.parent, skips, fetch=fetch))
        elif source.suffix in (".jsonl", ".gz"):
            added = _add(opened_book, json_examples(source, skips, splits=[split] if split else ()))
        elif source.suffix == ".tsv":
            added = _add_labels(opened_book, source, world, crawl, skips)
        else:
            raise InputError(
                f"{source}: cannot tell what to import; give a .toml taxonomy, a folder, a .tsv table with --world or "
                "--crawl, or .jsonl lines"
            )
        topics = len(opened_book.taxonomy())
    out.print(
        f"{plain(book)}: {topics:,} topics; {added.added:,} examples added, {added.elsewhere:,} known ones put under a "
        f"further topic, {added.duplicates:,} were there already, {added.empty:,} without words"
    )
    for reason, count in skips.counts.most_common():
        out.print(f"  left out: {count:,} × {plain(reason)}")
    for name, reason in skips.first[:5]:
        out.print(f"    [dim]{plain(name, 80)}: {plain(reason)}[/]")


def _add(book: TopicBook, examples: Iterator[Example]) -> Added:
    return book.add_examples(_counted(examples), makes_topics=True)


def _add_labels(book: TopicBook, table: Path, world: Path | None, crawl: Path | None, skips: Skips) -> Added:
    if world is not None:
        recorded = World.open(world)

        def of_world(url: str) -> Page | None:
            number = recorded.page_of(url)
            return None if number is None else recorded.page(number)

        return _add(book, label_examples(table, of_world, skips))
    if crawl is not None:
        with opened(crawl) as (workspace, config, store):
            pages = ArchivedPages(workspace.archive, store, reading_of(config, workspace))
            return _add(book, label_examples(table, pages.page_of, skips))
    raise InputError(f"{table}: say where the pages are: --world FILE or --crawl DIR")


def _counted(examples: Iterator[Example]) -> Iterator[Example]:
    with Progress(TextColumn("reading"), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn(), console=err) as bar:
        task = bar.add_task("", total=None)
        for example in examples:
            bar.advance(task)
            yield example


@app.command()
def export(
    target: Path = typer.Argument(help="The TOML file to write."),
    book: Path = BOOK,
) -> None:
    """Write the tree, with the addresses of its examples, as TOML."""
    with _existing(book) as opened_book:
        target.write_text(opened_book.export_toml(), encoding="utf-8")
    out.print(f"wrote {plain(target)}")


@app.command()
def show(
    topic: str = typer.Argument("", help="Only this topic and what is below it."),
    book: Path = BOOK,
    as_json: bool = typer.Option(False, "--json", help="As JSON."),
) -> None:
    """The tree, with the number of examples and the good marks; and the trained judges."""
    with _existing(book) as opened_book:
        taxonomy, counts, judges = opened_book.taxonomy(), opened_book.example_counts(), opened_book.judges()
    root = taxonomy.resolve(topic) if topic else ANY
    if as_json:
        topics = {
            path: {"examples": counts.get(path, 0), "is_good": each.is_good, "keywords": dict(each.keywords)}
            for path, each in taxonomy.topics.items()
        }
        print(json.dumps({"topics": topics, "judges": [each.kind for each in judges]}, ensure_ascii=False))
        return
    path_topics = set(taxonomy.path_topics)
    tree = Tree(plain(root or "ANY"))
    _grow(tree, taxonomy, root, counts, path_topics)
    out.print(tree)
    for judge in judges:
        report = judge.report
        out.print(
            f"judge {judge.version}: {plain(judge.kind)}, accuracy {report.get('accuracy', 0):.1%}, "
            f"macro-F1 {report.get('macro_f1', 0):.1%}"
        )


def _grow(tree: Tree, taxonomy: Taxonomy, above: str, counts: dict[str, int], path_topics: set[str]) -> None:
    for path in taxonomy.children(above):
        name = plain(path.rpartition("/")[2])
        mark = " [green]good[/]" if taxonomy.topics[path].is_good else " [dim]path[/]" if path in path_topics else ""
        branch = tree.add(f"{name} [dim]{counts.get(path, 0):,}[/]{mark}")
        _grow(branch, taxonomy, path, counts, path_topics)


@app.command()
def add(
    topic: str = typer.Argument(help="The new topic's path: Recreation/Cycling."),
    keyword: list[str] = typer.Option([], "--keyword", "-k", help="A word, with a weight if you like: tandem=2."),
    description: str = typer.Option("", "--description", help="What it is about."),
    book: Path = BOOK,
) -> None:
    """Make a topic, and those above it where they are missing."""
    with TopicBook(book) as opened_book:
        path = opened_book.add_topic(topic, description=description, keywords=_keywords(keyword))
    out.print(f"added {plain(path)}")


def _keywords(given: list[str]) -> dict[str, float]:
    words = {}
    for text in given:
        word, sign, weight = text.partition("=")
        try:
            words[word] = float(weight) if sign else 1.0
        except ValueError as error:
            raise InputError(f"--keyword {text!r}: write word or word=2.5") from error
    return words


@app.command()
def move(
    what: str = typer.Argument(help="A topic; or, with --to-topic, the number or URL of an example."),
    under: str = typer.Argument(help="The topic to put it under; '' is the top."),
    is_example: bool = typer.Option(False, "--example", "-e", help="Move an example, not a topic."),
    book: Path = BOOK,
) -> None:
    """Move a topic with all below it, or an example, under another topic."""
    with _existing(book) as opened_book:
        if is_example:
            ids = _example_ids(opened_book, [what])
            before = opened_book.examples_numbered(ids)
            path = opened_book.move_examples(ids, under)
            _tell_judge(opened_book, before, opened_book.examples_numbered(ids))
        else:
            path = opened_book.move_topic(what, under)
    out.print(f"now at {plain(path)}")


def _tell_judge(book: TopicBook, before: list[Example], after: list[Example]) -> None:
    """Examples have changed: a judge that can takes them in at once."""
    if version := update_judge(book, before, after):
        out.print(f"judge {version} has taken it in")
    elif book.newest_version():
        out.print("[dim]the judge learns of it when it is trained again: lycosa topics train[/]")


@app.command()
def rename(topic: str, name: str, book: Path = BOOK) -> None:
    """Give a topic another name."""
    with _existing(book) as opened_book:
        out.print(f"now {plain(opened_book.rename_topic(topic, name))}")


@app.command()
def remove(topic: str, book: Path = BOOK) -> None:
    """Remove a topic, all below it, and the examples that were nowhere else."""
    with _existing(book) as opened_book:
        out.print(f"removed, with {opened_book.remove_topic(topic):,} examples")


@app.command("mark-good")
def mark_good(topic: str, book: Path = BOOK) -> None:
    """Mark a topic good: pages on it, or on what is below it, are what you want."""
    with _existing(book) as opened_book:
        out.print(f"{plain(opened_book.mark_good(topic))} is good")


@app.command()
def unmark(topic: str, book: Path = BOOK) -> None:
    """Take a good mark away."""
    with _existing(book) as opened_book:
        out.print(f"{plain(opened_book.unmark(topic))} is no longer marked")


@app.command()
def examples(
    topic: str = typer.Argument(help="The topic."),
    add_: list[str] = typer.Option([], "--add", help="A URL or a file to add. May be given several times."),
    remove_: list[str] = typer.Option([], "--remove", help="The number or URL of an example to take away."),
    count: int = typer.Option(20, "--count", "-n", help="How many to show."),
    book: Path = BOOK,
) -> None:
    """Show a topic's examples, add some, take some away."""
    with TopicBook(book) as opened_book:
        path = opened_book.taxonomy().resolve(topic)
        if add_:
            skips = Skips()
            pages = [Example(page, (path,)) for page in _pages_of(add_, skips)]
            known = {number for page, _ in pages for number in _ids_from(opened_book, page.url)}
            added = opened_book.add_examples(pages)
            fresh = [number for page, _ in pages for number in _ids_from(opened_book, page.url) if number not in known]
            _tell_judge(opened_book, [], opened_book.examples_numbered(fresh))
            out.print(f"{added.added + added.elsewhere:,} added, {added.duplicates:,} were there already")
            for name, reason in skips.first:
                out.print(f"  left out: {plain(name)}: {plain(reason)}")
        if remove_:
            ids = _example_ids(opened_book, remove_)
            before = opened_book.examples_numbered(ids)
            opened_book.remove_examples(ids, away_from=path)
            _tell_judge(opened_book, before, opened_book.examples_numbered(ids))
        rows = opened_book.example_rows(path, count=count)
    table = Table("number", "words", "title", "source", "topics", box=None, pad_edge=False, header_style="dim")
    for row in rows:
        table.add_row(
            str(row.id), f"{row.words:,}", plain(row.title, 40), plain(row.source, 60), plain(", ".join(row.topics), 40)
        )
    out.print(table)


def _pages_of(sources: list[str], skips: Skips) -> Iterator[Page]:
    """Pages of URLs and files."""
    urls = [source for source in sources if "://" in source]
    for source in sources:
        if source not in urls:
            path = Path(source)
            if not path.exists():
                raise InputError(f"{source}: neither a URL nor a file that exists")
            yield page_of_file(path)
    yield from fetched_pages([parse_seed(url) for url in urls], skips, fetch=gather)


def page_of_file(path: Path) -> Page:
    """A document from the disk, as it would be read from the web."""
    skips = Skips()
    page = file_page(path, skips)
    if page is None:
        raise InputError(f"{path}: {skips.first[0][1]}; give a .html, .txt or .md file")
    return page


def _example_ids(book: TopicBook, given: list[str]) -> list[int]:
    numbers = []
    for text in given:
        if text.isdecimal():
            numbers.append(int(text))
            continue
        found = _ids_from(book, text)
        if not found:
            raise InputError(f"no example comes from {text!r}; lycosa topics examples TOPIC lists them")
        numbers += found
    return numbers


def _ids_from(book: TopicBook, source: str) -> list[int]:
    return [row.id for row in book.example_rows(source=source)]


@app.command()
def suggest(
    source: Path = typer.Argument(help="Bookmarks as your browser exports them, a list of URLs, or a text."),
    topics: int = typer.Option(3, "--topics", help="How many topics to name for each."),
    book: Path = BOOK,
) -> None:
    """Which topics fit best: for each example, and for all together."""
    found = read_bookmarks(source, parse=parse_seed)
    for note in found.notes:
        err.print(f"[yellow]note:[/] {plain(note)}")
    skips = Skips()
    pages = list(fetched_pages([entry.url for entry in found.entries], skips, fetch=gather))
    if found.text:
        pages.append(text_page(str(source), "", found.text))
    if not pages:
        raise InputError(f"{source}: none of its {len(found.entries)} addresses gave a page to judge")
    with _existing(book) as opened_book:
        fits = fitting_topics(load_classifier(opened_book.load_judge()), pages, count=topics)
    _tell_fits(fits)
    for name, reason in skips.first:
        out.print(f"left out: {plain(name, 80)}: {plain(reason)}")


def _tell_fits(fits: Fits) -> None:
    table = Table("example", "fits", box=None, pad_edge=False, header_style="dim")
    for fit in (*fits.pages, fits.overall):
        leaves = "  ".join(f"{plain(leaf.topic)} {leaf.probability:.0%}" for leaf in fit.leaves)
        name = plain(fit.title or fit.url, 50) if fit is not fits.overall else "[bold]all together[/]"
        table.add_row(name, leaves)
    out.print(table)
    cover = fits.overall.cover
    if cover.topic:
        out.print(f"they are about [bold]{plain(cover.topic)}[/]: lycosa topics mark-good '{plain(cover.topic)}'")
    else:
        out.print("they have no topic in common; mark several good, or add a topic of your own")


@app.command()
def train(
    judge: str = typer.Option("bayes", "--judge", "-j", help=f"What is to learn: {', '.join(CLASSIFIER_NAMES)}."),
    folds: int = typer.Option(5, "--folds", help="Parts in which the examples are judged by what the others taught."),
    confusions: int = typer.Option(10, "--confusions", help="How many confusions to show."),
    book: Path = BOOK,
    as_json: bool = typer.Option(False, "--json", help="The whole report as JSON."),
) -> None:
    """Train a judge on the book's examples, and say how good it is: cross-validated, topic by topic."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with _existing(book) as opened_book, Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=None)
        version, report = train_judge(
            opened_book,
            judge,
            settings=TrainingSettings(folds=folds),
            progress=lambda step, done, total: bar.update(task, description=step, completed=done, total=total),
        )
    if as_json:
        print(json.dumps({"version": version, **report.plain()}, ensure_ascii=False))
        return
    tell_report(report, confusions)
    out.print(
        f"judge {version} ({plain(judge)}) is in {plain(book)}; next: lycosa crawl --topic NAME --book {plain(book)} …"
    )


def tell_report(report: Report, confusions: int = 10) -> None:
    """How good a judge is, as tables."""
    out.print(
        f"[bold]accuracy {report.accuracy:.1%}, macro-F1 {report.macro_f1:.1%}[/], calibration error "
        f"{report.calibration_error:.3f}, over {report.tested:,} examples that it had not seen ({report.folds} folds)"
    )
    if report.relevance is not None:
        good = report.relevance
        out.print(f"good topics: precision {good.precision:.1%}, recall {good.recall:.1%} at R ≥ ½")
    table = Table("topic", "examples", "precision", "recall", "F1", box=None, pad_edge=False, header_style="dim")
    for topic in report.topics:
        table.add_row(
            plain(topic.topic, 60),
            f"{topic.examples:,}",
            f"{topic.precision:.0%}",
            f"{topic.recall:.0%}",
            f"{topic.f1:.0%}",
        )
    for column in table.columns[1:]:
        column.justify = "right"
    out.print(table)
    for each in report.confusions[:confusions]:
        out.print(f"  {each.count:,} × {plain(each.topic)} taken for {plain(each.taken_for)} ({each.share:.0%})")
    if report.untested:
        out.print(f"[dim]too few examples to test: {plain(', '.join(report.untested), 200)}[/]")
    if report.without_examples:
        out.print(f"[yellow]no examples: {plain(', '.join(report.without_examples), 200)}[/]")


@app.command()
def explore(
    topic: str = typer.Argument(help="The topic."),
    crawl: Path | None = typer.Option(None, "--crawl", help="Look around in this crawl."),
    world: Path | None = typer.Option(None, "--world", "-w", help="Look around in this world."),
    count: int = typer.Option(20, "--count", "-n", help="How many URLs to propose."),
    book: Path = BOOK,
) -> None:
    """Propose further examples for a topic; and, of a crawl, say which other topics stand around the focus."""
    with _existing(book) as opened_book:
        path = opened_book.taxonomy().resolve(topic)
        with opened_book.examples() as stream:
            words = distinctive_words(stream, path)
        known = {row.source for row in opened_book.example_rows(path, count=100_000)}
    proposals = further_examples(_candidates(crawl, world), words, known=known, count=count)
    table = Table("score", "title", "shared words", "url", box=None, pad_edge=False, header_style="dim")
    for each in proposals:
        table.add_row(f"{each.score:.2f}", plain(each.title, 50), plain(" ".join(each.words), 40), plain(each.url, 70))
    out.print(table)
    if crawl is not None:
        with opened(crawl) as (_, _, store):
            rows = store.query(AROUND)[1]
            around = neighbouring_topics((JudgedPage(json.loads(scores), citing) for scores, citing in rows), [path])
        out.print(
            f"of {around.pages:,} pages that relevant pages link to, {around.focus:.0%} are on the topic; the others:"
        )
        for near in around.neighbours:
            out.print(f"  {near.share:5.1%} {plain(near.topic)} [dim]({near.share_elsewhere:.1%} elsewhere)[/]")
        for advice in around.advice:
            out.print(f"[yellow]advice:[/] mark {plain(advice.widen_to)} good: {plain(advice.reason)}")


def _candidates(crawl: Path | None, world: Path | None) -> Iterator[Candidate]:
    if crawl is None and world is None:
        raise InputError("say where to look: --crawl DIR or --world FILE")
    if world is not None:
        recorded = World.open(world)
        for number in range(len(recorded)):
            if not recorded.is_redirect(number):
                yield Candidate(recorded.url(number), recorded.title(number))
    if crawl is not None:
        with opened(crawl) as (_, _, store):
            _, rows = store.query("select f.url, p.title from pages p join frontier f on f.id = p.id order by p.number")
            for url, title in rows:
                yield Candidate(url, title)


def _existing(book: Path) -> TopicBook:
    """A book to read or change; not one made by a misspelt name."""
    if not book.exists():
        raise InputError(
            f"{book}: there is no topic book; make one with: lycosa topics import, or lycosa topics add, "
            "or name another with --book"
        )
    return TopicBook(book)
