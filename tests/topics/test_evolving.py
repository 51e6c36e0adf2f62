"""Training the judge gp-knn from a book: interrupted and resumed, its formula written and given, feedback."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.errors import InputError
from lycosa.judges.classifier import Example
from lycosa.judges.formula import parse
from lycosa.judges.gp.formula_file import SavedFormula, read_formula
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.topics.book import TopicBook
from lycosa.topics.evolving import GP_KNN, CheckpointFolder, EvolutionChoice, saved_formula
from lycosa.topics.feedback import teach
from lycosa.topics.judges import load_classifier, train_judge
from lycosa.topics.training import TrainingSettings

WORDS = {
    "Sport/Cycling": "bicycle tandem saddle pedal spoke tyre wheel rider",
    "Sport/Rowing": "oar boat scull river regatta coxswain stroke crew",
    "Science/Physics": "quark electron field photon mass energy particle wave",
}
SMALL = EvolutionChoice(population=6, generations=3)
FOLDS = TrainingSettings(folds=2)


def page(number: int, topic: str) -> Page:
    words = WORDS[topic].split()
    text = " ".join(words[(number + step) % len(words)] for step in range(5)) + f" number{number}"
    return Page(f"http://a.test/{topic}/{number}", title=words[number % 8], text=text, terms=term_counts(text))


@pytest.fixture
def book(tmp_path):
    with TopicBook(tmp_path / "topics.db") as opened:
        opened.add_examples([Example(page(n, topic), (topic,)) for topic in WORDS for n in range(8)], makes_topics=True)
        yield opened


def formula_of(book: TopicBook, version: int | None = None) -> str:
    return load_classifier(book.load_judge(version)).evolved_.formula


def test_progress_tells_of_folds_and_generations(book):
    told = []
    train_judge(book, GP_KNN, settings=FOLDS, evolution=SMALL, progress=lambda *each: told.append(each))
    steps = [step.partition(":")[0] + "|" + step.rpartition(",")[2].partition(":")[0] for step, _, _ in told]
    assert "fold 2 of 2| evolving" in steps
    assert ("learning from all examples|learning from all examples") in steps
    generations = [(done, total) for step, done, total in told if "learning from all examples, evolving" in step]
    assert generations == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_interrupted_it_goes_on_from_the_last_generation(book, tmp_path):
    version, report = train_judge(book, GP_KNN, settings=FOLDS, evolution=SMALL)
    whole = book.load_judge(version).model

    def stop(step: str, done: int, _total: int) -> None:
        if "fold 2" in step and "evolving" in step and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_judge(book, GP_KNN, settings=FOLDS, evolution=SMALL, progress=stop)
    assert book.newest_version() == version
    folder = CheckpointFolder(book.path).path
    assert len(list(folder.glob("*.json"))) == 2
    told = []
    again, second = train_judge(book, GP_KNN, settings=FOLDS, evolution=SMALL, progress=lambda *each: told.append(each))
    assert [done for step, done, _ in told if "fold 1" in step and "evolving" in step] == []
    assert [done for step, done, _ in told if "fold 2" in step and "evolving" in step] == [3]
    assert second == report
    assert book.load_judge(again).model == whole
    assert not folder.exists()


def test_fewer_generations_take_the_best_so_far(book):
    def stop(step: str, done: int, _total: int) -> None:
        if "learning from all examples, evolving" in step and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_judge(book, GP_KNN, settings=FOLDS, evolution=SMALL, progress=stop)
    told = []
    fewer = EvolutionChoice(population=6, generations=2)
    version, _ = train_judge(book, GP_KNN, settings=FOLDS, evolution=fewer, progress=lambda *each: told.append(each))
    assert not [step for step, _, _ in told if "learning from all examples, evolving" in step]
    assert load_classifier(book.load_judge(version)).evolved_.generations == 2


def test_a_damaged_checkpoint_begins_anew(book):
    folder = CheckpointFolder(book.path)
    folder.save("key", {"a": 1})
    assert folder.load("key") == {"a": 1}
    (folder.path / "key.json").write_text("{")
    assert folder.load("key") is None
    assert folder.load("other") is None


def test_the_formula_is_written_beside_the_book_and_can_be_given(book):
    version, report = train_judge(book, GP_KNN, settings=FOLDS, evolution=SMALL)
    written = saved_formula(book, version, report)
    assert written.path == book.path.with_name("topics.gp-knn-1.toml")
    assert read_formula(written.path).formula == written.formula == formula_of(book)
    assert "evolved in 3 generations of 6" in written.note
    assert f"{report.macro_f1:.1%} on examples it never saw" in written.note
    written.path.write_text("formula = 'body_okapi + 2 * title_bag'\nk = 3\n")
    given = EvolutionChoice(given=read_formula(written.path))
    second, _ = train_judge(book, GP_KNN, settings=FOLDS, evolution=given)
    assert formula_of(book) == "body_okapi + 2 * title_bag"
    assert load_classifier(book.load_judge(second)).settings.k == 3
    assert read_formula(written.path).k == 3  # the edited file stays


def test_links_of_the_book_are_evidence(tmp_path):
    """Words that say nothing: only what the examples link to tells the topics apart."""
    with TopicBook(tmp_path / "topics.db") as opened:
        linked = [
            Example(Page(f"id{at}{n}", terms={"word": 1, f"w{at}{n}": 1}, link_hashes=hashes(10 * at, n)), (topic,))
            for at, topic in enumerate(WORDS)
            for n in range(8)
        ]
        opened.add_examples(linked, makes_topics=True)
        choice = EvolutionChoice(population=20, generations=2, evidence="links")
        version, report = train_judge(opened, GP_KNN, settings=FOLDS, evolution=choice)
        assert report.accuracy == 1
        assert "links_" in formula_of(opened)
        written = saved_formula(opened, version, report)
        given = EvolutionChoice(given=read_formula(written.path))
        assert given.settings.evidence == "links"
        assert train_judge(opened, GP_KNN, settings=FOLDS, evolution=given)[1].accuracy == 1


def hashes(first: int, number: int) -> bytes:
    return np.array([first + number % 3, first + 3], np.int64).tobytes()


def test_what_is_said_beside_a_given_formula_goes_before_what_its_file_says():
    given = SavedFormula("body_bag", None, "links")
    assert EvolutionChoice(given=given).settings.evidence == "links"
    assert EvolutionChoice(given=given, evidence="paper").settings.evidence == "paper"
    assert EvolutionChoice(given=given._replace(evidence=None)).settings.evidence == "paper"
    assert EvolutionChoice().settings.evidence == "paper"


def test_feedback_keeps_the_similarity(book):
    train_judge(book, GP_KNN, settings=FOLDS, evolution=SMALL)
    before = formula_of(book)
    extra = page(20, "Sport/Rowing")
    lesson = teach(book, parse("Sport/Cycling"), {extra.url: True}, lambda _: extra)
    assert lesson.is_new
    assert formula_of(book, lesson.version) == before
    assert load_classifier(book.load_judge(lesson.version)).similarity.index.size == 25


def test_a_single_class_is_refused(tmp_path):
    with TopicBook(tmp_path / "one.db") as opened:
        opened.add_examples([Example(page(n, "Sport/Rowing"), ("Sport/Rowing",)) for n in range(6)], makes_topics=True)
        with pytest.raises(InputError, match="all examples are under 'Sport/Rowing', with nothing to tell them from"):
            train_judge(opened, GP_KNN, settings=FOLDS, evolution=SMALL)
        assert opened.newest_version() == 0
