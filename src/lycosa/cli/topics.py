"""lycosa topics: a book of topics, examples, and judges trained on them. Here the tree and the training."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.tree import Tree

from lycosa.cli import topic_examples, topic_explore, topic_import
from lycosa.cli.terminal import err, json_line, out, plain
from lycosa.cli.topic_examples import BOOK, example_ids, existing_book, report_update
from lycosa.errors import InputError
from lycosa.judges.classifier import ANY
from lycosa.judges.gp.formula_file import read_formula
from lycosa.judges.table import CLASSIFIER_NAMES
from lycosa.judges.taxonomy import Taxonomy
from lycosa.topics.book import TopicBook
from lycosa.topics.evolving import DEFAULTS, GP_KNN, EvolutionChoice, saved_formula
from lycosa.topics.judges import train_judge
from lycosa.topics.training import TrainingReport, TrainingSettings

app = typer.Typer(
    help="Manage the topics to crawl for: a tree, examples, and judges trained on them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    add_completion=False,
)
app.command("import")(topic_import.import_examples)


@app.command()
def export(
    target: Path = typer.Argument(help="TOML file to write."),
    book: Path = BOOK,
) -> None:
    """Write the tree, with the addresses of its examples, to a TOML file."""
    with existing_book(book) as opened_book:
        target.write_text(opened_book.export_toml(), encoding="utf-8")
    out.print(f"wrote {plain(target)}")


@app.command()
def show(
    topic: str = typer.Argument("", help="Show only this topic and its subtopics."),
    book: Path = BOOK,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show the tree with the number of examples and the good marks, and the trained judges."""
    with existing_book(book) as opened_book:
        taxonomy, counts, judges = opened_book.taxonomy(), opened_book.example_counts(), opened_book.judges()
    root = taxonomy.resolve(topic) if topic else ANY
    if as_json:
        topics = {
            path: {"examples": counts.get(path, 0), "is_good": each.is_good, "keywords": dict(each.keywords)}
            for path, each in taxonomy.topics.items()
        }
        print(json_line({"topics": topics, "judges": [each.kind for each in judges]}))
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
    topic: str = typer.Argument(help="Path of the new topic, such as Recreation/Cycling."),
    keyword: list[str] = typer.Option([], "--keyword", "-k", help="A keyword, optionally with a weight: tandem=2."),
    description: str = typer.Option("", "--description", help="Description of the topic."),
    book: Path = BOOK,
) -> None:
    """Add a topic, and missing topics above it."""
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
    what: str = typer.Argument(help="A topic or, with --example, the number or URL of an example."),
    under: str = typer.Argument(help="The topic to move it to; '' is the top level."),
    is_example: bool = typer.Option(False, "--example", "-e", help="Move an example instead of a topic."),
    book: Path = BOOK,
) -> None:
    """Move a topic and its subtopics, or an example, to another topic."""
    with existing_book(book) as opened_book:
        if is_example:
            ids = example_ids(opened_book, [what])
            before = opened_book.examples_numbered(ids)
            path = opened_book.move_examples(ids, under)
            report_update(opened_book, before, opened_book.examples_numbered(ids))
        else:
            path = opened_book.move_topic(what, under)
    out.print(f"now at {plain(path)}")


@app.command()
def rename(
    topic: str = typer.Argument(help="The topic."),
    name: str = typer.Argument(help="Its new name, without the topics above it."),
    book: Path = BOOK,
) -> None:
    """Rename a topic."""
    with existing_book(book) as opened_book:
        out.print(f"now {plain(opened_book.rename_topic(topic, name))}")


@app.command()
def remove(topic: str, book: Path = BOOK) -> None:
    """Remove a topic, its subtopics, and the examples under no other topic."""
    with existing_book(book) as opened_book:
        out.print(f"removed, with {opened_book.remove_topic(topic):,} examples")


@app.command("mark-good")
def mark_good(topic: str, book: Path = BOOK) -> None:
    """Mark a topic good: pages on it and its subtopics are what you want."""
    with existing_book(book) as opened_book:
        out.print(f"{plain(opened_book.mark_good(topic))} is good")


@app.command()
def unmark(topic: str, book: Path = BOOK) -> None:
    """Remove the good mark from a topic."""
    with existing_book(book) as opened_book:
        out.print(f"{plain(opened_book.unmark(topic))} is no longer marked good")


app.command()(topic_examples.examples)
app.command()(topic_examples.suggest)


@app.command()
def train(
    judge: str = typer.Option("bayes", "--judge", "-j", help=f"Kind of judge: {', '.join(CLASSIFIER_NAMES)}."),
    folds: int = typer.Option(5, "--folds", help="Number of cross-validation folds."),
    confusions: int = typer.Option(10, "--confusions", help="Number of confused pairs of topics to show."),
    generations: int | None = typer.Option(
        None, "--generations", help=f"gp-knn: number of generations. Default: {DEFAULTS.generations}."
    ),
    population: int | None = typer.Option(
        None, "--population", help=f"gp-knn: similarities in a generation. Default: {DEFAULTS.population}."
    ),
    evidence: str | None = typer.Option(
        None,
        "--evidence",
        help="gp-knn: what similarities are made of: paper (titles and bodies), or links (also words of the URL, and "
        f"common links). Default: {DEFAULTS.evidence}.",
    ),
    formula: Path | None = typer.Option(
        None, "--formula", help="gp-knn: use the similarity of this file, as written by an earlier training."
    ),
    book: Path = BOOK,
    as_json: bool = typer.Option(False, "--json", help="Print the whole report as JSON."),
) -> None:
    """Train a judge on the book's examples, and report its quality by topic, cross-validated.

    gp-knn evolves the similarity by which it finds a page's nearest examples, once for each fold and once on all of
    them. The formula is printed, and written to a file that you may edit and train with (--formula). Interrupted with
    Ctrl-C, the same command goes on from the last generation; fewer --generations take the best so far.
    """
    evolution = _evolution(judge, generations, population, evidence, formula)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with existing_book(book) as opened_book, Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("", total=None)
        try:
            version, report = train_judge(
                opened_book,
                judge,
                settings=TrainingSettings(folds=folds),
                evolution=evolution,
                progress=lambda step, done, total: bar.update(task, description=step, completed=done, total=total),
            )
        except KeyboardInterrupt:
            bar.stop()
            kept = "; the same command goes on from the last generation" if judge == GP_KNN else ""
            err.print(f"interrupted: no judge was trained{kept}")
            raise typer.Exit(130) from None
        written = saved_formula(opened_book, version, report) if judge == GP_KNN else None
    if as_json:
        more = {"formula": written.formula, "formula_file": str(written.path)} if written else {}
        print(json_line({"version": version, **report.plain(), **more}))
        return
    print_report(report, confusions)
    if written:
        out.print(f"similarity: [bold]{plain(written.formula)}[/]\n{plain(written.note)}")
        out.print(
            f"the formula is in {plain(written.path)}; edit it and train with it: lycosa topics train --judge gp-knn "
            f"--formula {plain(written.path)}"
        )
    out.print(
        f"judge {version} ({plain(judge)}) is in {plain(book)}; next: lycosa crawl --topic NAME --book {plain(book)} …"
    )


def _evolution(
    judge: str, generations: int | None, population: int | None, evidence: str | None, formula: Path | None
) -> EvolutionChoice | None:
    sizes = {"--generations": generations, "--population": population}
    options = {**sizes, "--evidence": evidence, "--formula": formula}
    given = [name for name, value in options.items() if value is not None]
    if judge != GP_KNN:
        if given:
            raise InputError(f"{given[0]} is for the judge {GP_KNN}: lycosa topics train --judge {GP_KNN} {given[0]} …")
        return None
    if formula is not None:
        if any(name in sizes for name in given):
            raise InputError(f"{given[0]}: a formula that is given (--formula) does not evolve; leave one of them out")
        return EvolutionChoice(evidence=evidence, given=read_formula(formula))
    return EvolutionChoice(
        population=DEFAULTS.population if population is None else population,
        generations=DEFAULTS.generations if generations is None else generations,
        evidence=evidence,
    )


def print_report(report: TrainingReport, confusions: int = 10) -> None:
    out.print(
        f"[bold]accuracy {report.accuracy:.1%}, macro-F1 {report.macro_f1:.1%}[/], calibration error "
        f"{report.calibration_error:.3f}, on {report.tested:,} examples it had not seen ({report.folds} folds)"
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


app.command()(topic_explore.explore)
