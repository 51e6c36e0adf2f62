"""How good and how fast every judge is, next to scikit-learn's MultinomialNB and LinearSVC on the same words.

make bench-judges                                  python bench/judges.py wikispeedia         for one of the three alone

Three sets of labelled documents: 20newsgroups (the split by date; dots in the groups' names make a tree), Reuters-21578
(the ModApte split; topics that have examples on both sides), and the pages of wikispeedia (seven of ten to learn
from, by a hash of their URL; words only, as a recorded world has no text). Figures:

    accuracy     the best class is among the document's own topics; documents of no topic are left out
    macro-F1     the mean over topics, of the decision that the documents ask for: where each has one topic, the best
                 class; where some have several or none, membership of ½ or more, and for the peers what
                 OneVsRestClassifier predicts
    micro-F1     the same decision, all topics taken together
    ECE          expected calibration error, 15 bins: what the best class was promised against how often it was among
                 the document's own topics, over all documents
    µs           CPU time a document; to judge: one document at a time for our judges, all in one batch for the peers

Settings were chosen on the training halves alone (docs/decisions/0005-judges.md).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from lycosa.judges.bayes.bayes import BayesClassifier
from lycosa.judges.calibration import expected_calibration_error
from lycosa.judges.classifier import Classifier, Example, parent_of, with_ancestors
from lycosa.judges.knn import KnnClassifier
from lycosa.judges.svm import SvmClassifier
from lycosa.judges.weighted_keywords import WeightedKeywordsClassifier
from lycosa.lab.worlds.build import build
from lycosa.lab.worlds.world import World
from lycosa.lib.text import term_counts
from lycosa.model import Page
from table import table

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared")
JUDGES: dict[str, Callable[[], Classifier]] = {
    "bayes": BayesClassifier,
    "svm": SvmClassifier,
    "knn": KnnClassifier,
    "keywords": WeightedKeywordsClassifier,
}
HEAD = ["judge", "accuracy", "macro-F1", "micro-F1", "ECE", "µs to learn", "µs to judge"]
LONG_PAGE = 530
MOST_CALIBRATION_ERROR = 0.05
MOST_MICROSECONDS = 300
NEAR = 0.005

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Corpus:
    name: str
    train: list[Example]
    test: list[Example]

    @property
    def classes(self) -> list[str]:
        return sorted({topic for example in self.train for topic in example.topics})


@dataclass(frozen=True, slots=True)
class Predictions:
    """Documents × classes."""

    shares: Floats
    """The higher, the better; probabilities, where the judge gives them."""
    is_member: Bools
    """Membership of ½ or more, or what a peer says one against the rest."""
    has_probabilities: bool
    learning: float
    judging: float
    """Microseconds a document."""


def labelled_texts(name: str, *, separator: str = "") -> Corpus | None:
    path = SHARED / "texts" / f"{name}.jsonl.gz"
    if not path.exists():
        print(f"{name}: skipped, {path} is not there")
        return None
    parts: dict[str, list[Example]] = {"train": [], "test": []}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            title, text = record["title"], record["body"]
            terms = term_counts(f"{title}\n{text}")
            page = Page(record["id"], title=title, text=text, terms=terms, words=sum(terms.values()))
            topics = [label.replace(separator, "/") if separator else label for label in record["labels"]]
            parts[record["split"]].append(Example(page, tuple(topics)))
    return on_both_sides(Corpus(name, parts["train"], parts["test"]))


def labelled_world(name: str) -> Corpus | None:
    folder = SHARED / "worlds" / name
    if not (folder / "pages.warc.gz").exists():
        print(f"{name}: skipped, {folder / 'pages.warc.gz'} is not there")
        return None
    path = ROOT / "out" / f"{name}.world"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        build([folder / "pages.warc.gz"], folder / "labels.tsv", path)
    world = World.open(path)
    train: list[Example] = []
    test: list[Example] = []
    for number in range(len(world)):
        if topics := world.topics_of(number):
            url, terms = world.url(number), world.terms(number)
            page = Page(url, title=world.title(number), terms=terms, words=int(world.words[number]))
            (train if is_example(url) else test).append(Example(page, tuple(topics)))
    return on_both_sides(Corpus(name, train, test))


def is_example(url: str) -> bool:
    """Seven pages in ten."""
    return hashlib.blake2b(url.encode(), digest_size=2).digest()[0] % 10 < 7


def on_both_sides(corpus: Corpus) -> Corpus:
    """Only topics that can be learned and tested."""
    known = {t for e in corpus.train for t in e.topics} & {t for e in corpus.test for t in e.topics}

    def cut(examples: Iterable[Example]) -> list[Example]:
        return [Example(page, tuple(topic for topic in topics if topic in known)) for page, topics in examples]

    return Corpus(corpus.name, cut(corpus.train), cut(corpus.test))


def indicator(examples: Sequence[Example], classes: Sequence[str]) -> Bools:
    number = {name: column for column, name in enumerate(classes)}
    truth = np.zeros((len(examples), len(classes)), np.bool_)
    for row, example in enumerate(examples):
        truth[row, [number[topic] for topic in example.topics]] = True
    return truth


def ask(judge: Classifier, corpus: Corpus) -> Predictions:
    """Learn, then judge one page after the other, as a crawl does."""
    began = process_time()
    judge.fit(corpus.train, with_ancestors(corpus.classes))
    learning = process_time() - began
    began = process_time()
    posteriors = np.array([judge.posteriors(example.page) for example in corpus.test])
    judging = process_time() - began
    memberships = np.array([judge.memberships(example.page) for example in corpus.test])
    # What a topic has beyond its children is what is put under the topic itself.
    own = posteriors.copy()
    number = {topic: column for column, topic in enumerate(judge.topics_)}
    for topic, column in number.items():
        if parent := parent_of(topic):
            own[:, number[parent]] -= posteriors[:, column]
    columns = [number[topic] for topic in corpus.classes]
    return Predictions(
        shares=own[:, columns].clip(0, 1),
        is_member=memberships[:, columns] >= 0.5,
        has_probabilities=True,
        learning=learning / len(corpus.train) * 1e6,
        judging=judging / len(corpus.test) * 1e6,
    )


def ask_peer(vectoriser: Any, learner: Any, corpus: Corpus) -> Predictions:
    """scikit-learn, one against the rest where documents have several topics or none; else as it comes."""
    truth = indicator(corpus.train, corpus.classes)
    began = process_time()
    vectors = vectoriser.fit_transform(example.page for example in corpus.train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if is_single(truth):
            learner.fit(vectors, truth.argmax(axis=1))
        else:
            learner = OneVsRestClassifier(learner).fit(vectors, truth.astype(np.int8))
    learning = process_time() - began
    began = process_time()
    vectors = vectoriser.transform(example.page for example in corpus.test)
    has_probabilities = hasattr(learner, "predict_proba")
    shares = learner.predict_proba(vectors) if has_probabilities else learner.decision_function(vectors)
    judging = process_time() - began
    return Predictions(
        shares=shares,
        is_member=shares >= (0.5 if has_probabilities else 0.0),
        has_probabilities=has_probabilities,
        learning=learning / len(corpus.train) * 1e6,
        judging=judging / len(corpus.test) * 1e6,
    )


def peers() -> dict[str, tuple[Any, Any]]:
    return {
        "MultinomialNB": (CountVectorizer(analyzer=words), MultinomialNB()),
        "MultinomialNB α=.1": (CountVectorizer(analyzer=words), MultinomialNB(alpha=0.1)),
        "LinearSVC": (TfidfVectorizer(analyzer=words, sublinear_tf=True), LinearSVC(random_state=0)),
    }


def words(page: Page) -> Iterable[str]:
    return Counter(page.terms).elements()


def f1(predicted: Bools, truth: Bools) -> tuple[float, float]:
    """Mean over the topics, and of all taken together."""
    hits = (predicted & truth).sum(axis=0)
    both = predicted.sum(axis=0) + truth.sum(axis=0)
    return float((2 * hits / np.maximum(both, 1)).mean()), float(2 * hits.sum() / max(both.sum(), 1))


@dataclass(frozen=True, slots=True)
class Figures:
    accuracy: float
    macro: float
    micro: float
    error: float


def figures_of(found: Predictions, truth: Bools) -> Figures:
    rows, best = np.arange(len(truth)), found.shares.argmax(axis=1)
    is_right, has_topic = truth[rows, best], truth.any(axis=1)
    if is_single(truth):
        chosen = np.zeros_like(truth)
        chosen[rows, best] = True
    else:
        chosen = found.is_member
    error = expected_calibration_error(found.shares.max(axis=1), is_right) if found.has_probabilities else float("nan")
    return Figures(float(is_right[has_topic].mean()), *f1(chosen, truth), error)


def is_single(truth: Bools) -> bool:
    return bool((truth.sum(axis=1) == 1).all())


def compare(corpus: Corpus) -> dict[str, Classifier]:
    """Print the table of one corpus; the fitted judges."""
    truth = indicator(corpus.test, corpus.classes)
    print(
        f"\n{corpus.name}: {len(corpus.train):,} to learn from, {len(corpus.test):,} to judge, "
        f"{truth.shape[1]} classes; F1 of {'the best class' if is_single(truth) else 'membership ≥ ½'}"
    )
    judges = {name: make() for name, make in JUDGES.items()}
    rows, figures = [], {}
    for name in (*judges, *peers()):
        print(f"  {name} …", end="\r", file=sys.stderr, flush=True)
        found = ask(judges[name], corpus) if name in judges else ask_peer(*peers()[name], corpus)
        figures[name] = got = figures_of(found, truth)
        calibration = f"{got.error:.3f}" if found.has_probabilities else "–"
        cells = [f"{got.accuracy:.3f}", f"{got.macro:.3f}", f"{got.micro:.3f}", calibration]
        rows.append([name, *cells, f"{found.learning:,.0f}", f"{found.judging:,.0f}"])
    print(table(HEAD, rows))
    for ours, peer, near in (("bayes", "MultinomialNB", 0.0), ("svm", "LinearSVC", NEAR)):
        ahead = figures[ours].macro - figures[peer].macro
        print(f"{ours} against {peer}: macro-F1 {100 * ahead:+.1f} points; {verdict(ahead >= -near)}")
    bad = [name for name in judges if figures[name].error > MOST_CALIBRATION_ERROR]
    print(f"calibration error above {MOST_CALIBRATION_ERROR}: {', '.join(bad) or 'none'}; {verdict(not bad)}")
    return judges


def verdict(is_met: bool) -> str:
    return "as aimed" if is_met else "SHORT OF THE AIM"


def judge_several(judges: dict[str, Classifier], corpus: Corpus) -> None:
    """Pages in several topics: do they belong to each of them, and to nothing else?"""
    pages = [example for example in corpus.test if len(example.topics) > 1]
    if not pages:
        return
    truth = indicator(pages, corpus.classes)
    rows = []
    for name, judge in judges.items():
        columns = [judge.topics_.index(topic) for topic in corpus.classes]
        found = np.array([judge.memberships(example.page)[columns] for example in pages])
        least = np.where(truth, found, 1.0).min(axis=1)
        rows.append([name, f"{found[truth].mean():.2f}", f"{least.mean():.2f}", f"{found[~truth].mean():.3f}"])
    print(f"memberships of the {len(pages)} documents in several topics:")
    print(table(["judge", "in their own", "in the least of them", "in others"], rows))


def judge_long_page(judges: dict[str, Classifier], corpus: Corpus) -> None:
    """What a page costs that has as many different words as an encyclopaedia's, text and all where there is text."""
    page = min((example.page for example in corpus.test), key=lambda page: abs(len(page.terms) - LONG_PAGE))
    if page.text:
        texts = [example.page.text for example in corpus.test]
        count = next(count for count in range(len(texts)) if len(term_counts("\n".join(texts[:count]))) >= LONG_PAGE)
        text = "\n".join(texts[:count])
        terms = term_counts(text)
        page = Page("http://a.test/", text=text, terms=terms, words=sum(terms.values()))
    print(f"a page of {page.words:,} words, {len(page.terms)} of them different; CPU time, best and median of 300:")
    rows, slow = [], []
    for name, judge in judges.items():
        times = [cpu_times(ask, page) for ask in (judge.posteriors, judge.memberships)]
        rows.append([name, *(f"{least:.0f} / {median:.0f}" for least, median in times)])
        slow += [name] if max(median for _, median in times) > MOST_MICROSECONDS else []
    print(table(["judge", "µs posteriors", "µs memberships"], rows))
    print(f"above {MOST_MICROSECONDS} µs (median): {', '.join(slow) or 'none'}; {verdict(not slow)}", flush=True)


def cpu_times(ask: Callable[[Page], object], page: Page) -> tuple[float, float]:
    times = []
    for _ in range(300):
        began = process_time()
        ask(page)
        times.append((process_time() - began) * 1e6)
    return min(times), float(np.median(times))


def main() -> None:
    began = process_time()
    corpora: dict[str, Callable[[str], Corpus | None]] = {
        "20newsgroups": lambda name: labelled_texts(name, separator="."),
        "reuters21578": labelled_texts,
        "wikispeedia": labelled_world,
    }
    for name in sys.argv[1:] or corpora:
        if corpus := corpora[name](name):
            judges = compare(corpus)
            judge_several(judges, corpus)
            judge_long_page(judges, corpus)
    print(f"\n{process_time() - began:.0f} s of CPU time")


if __name__ == "__main__":
    main()
