"""The text half of paper GP's experiments: labelled documents, splits, and every way to classify them.

A split draws `drawn` documents of a collection, the same share of each class: 10 % or 30 % of them are examples, and
the classes of up to `tested` others are to be told. 7 % or 25 % of the examples are for validation, as in the paper,
and the rest for training. GP evolves on the training part (each document by its neighbours among the others), the
validation part chooses among the best of each generation, and what is reported is on the other documents, whose
nearest neighbours are looked for among all examples. What has to be chosen for another method is chosen by the same
two parts; the cost of support vector machines by a cross-validation over both.

Where the documents have links, GP evolves on further evidence as well (`CITED_FIELDS`): what the judge gp-knn can have
of a page, which are the words of its URL and the targets of its links, and what it cannot have, as it sees pages alone:
which pages link to it, and with what text. Of the latter, only links of examples count. Those of the other documents
are not known when a page is judged.
"""

from __future__ import annotations

import gzip
import json
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from common import ROOT
from fc_crawls import webs
from sklearn.svm import SVC, LinearSVC

from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.contrast.page_vector import telling_words
from lycosa.judges.gp.evidence import EvidenceIndex
from lycosa.judges.gp.fields import EVIDENCE, FIELDS, LINK_FIELDS, FieldsOfPage, evidence_of, fields_of
from lycosa.judges.gp.fitness import ClassCounts, NeighbourFitness, macro_f1
from lycosa.judges.gp.learning import NoCheckpoints, SimilarityLearning, run_generations, tell_nobody
from lycosa.judges.tfidf import vocabulary
from lycosa.lab.worlds.world import World
from lycosa.lib.gp.evolution import ProgramSettings, TreeGeneration
from lycosa.lib.gp.operators import ramped_start
from lycosa.lib.gp.text import written
from lycosa.lib.gp.trees import Expression, Language
from lycosa.lib.text import term_counts
from lycosa.model import Page

SHARED = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared")
VALIDATION = {10: 0.07, 30: 0.25}
"""By share of examples, in percent: the part of them that is for validation."""
K = 10
QUERIES = 500
"""Maximum number of training documents that a similarity is tried on."""
COSTS = (1.0, 10.0, 100.0, 0.1)
"""Of support vector machines; a cross-validation over all examples chooses, as the validation part is small."""
FOLDS = 3
FACTORS = (0.0, 0.25, 0.5, 2.0, 4.0)
SMALLEST_CLASS = 30
"""Documents; smaller classes are left out."""
GP, GP_PAPER, RANDOM = "GP + kNN", "GP + kNN, the paper's F", "random search + kNN"
LINEAR, LEAST_SQUARES = "linear fusion, coordinate search", "linear fusion, least squares"
CONTENT_SVM, COMBINATION_SVM, LINEAR_SVC = "content SVM", "combination SVM", "LinearSVC"
CONTRAST = "the hunter's judge"
ALONE = {name: f"{name} alone + kNN" for name in EVIDENCE}
LINKED_FIELDS = (*FIELDS, *LINK_FIELDS)
CITING_FIELDS = ("citing", "anchors")
"""The examples that link to a document, which two documents may have in common (co-citation); the words of these
links."""
CITED_FIELDS = (*LINKED_FIELDS, *CITING_FIELDS)
GP_LINKS, GP_CITED = "GP + kNN, with links", "GP + kNN, with links and citations"
LINKS_ALONE = {f"{field}_cosine": f"{field}_cosine alone + kNN" for field in CITED_FIELDS if field not in FIELDS}
METHODS_BY_LINKS = (GP_LINKS, GP_CITED, *LINKS_ALONE.values())
"""Only where the documents have links."""
METHODS = (
    GP, GP_PAPER, RANDOM, LINEAR, LEAST_SQUARES, *ALONE.values(), CONTENT_SVM, COMBINATION_SVM, LINEAR_SVC, CONTRAST,
    *METHODS_BY_LINKS,
)  # fmt: skip


class TextScale(NamedTuple):
    drawn: int
    """Documents of a split."""
    tested: int
    """Maximum number of documents whose class is to be told."""
    splits: int
    population: int
    generations: int


class Documents(NamedTuple):
    """A collection: each document has one class."""

    pages: list[Page]
    classes: np.ndarray

    @property
    def has_links(self) -> bool:
        return any(page.link_hashes for page in self.pages)

    def rows(self, chosen: np.ndarray) -> list[Page]:
        return [self.pages[at] for at in chosen.tolist()]


class Outcome(NamedTuple):
    """What came of one split."""

    quality: Mapping[str, tuple[float, float, float]]
    """By method: precision, recall and F1, each the mean over the classes."""
    formula: str
    evaluations: int
    training: float
    validation: float
    """Of the evolved similarity."""
    examples: int
    tested: int
    seconds: Mapping[str, float]
    """CPU time by method."""
    link_formulas: tuple[tuple[str, str], ...] = ()
    """Methods by links that evolve, and what evolved."""


# Collections


@lru_cache(maxsize=3)
def documents(name: str) -> Documents:
    found = _pages_of_web() if name == "wikispeedia" else _texts(name)
    sizes = Counter(label for _, label in found)
    kept = [(page, label) for page, label in found if sizes[label] >= SMALLEST_CLASS]
    names = sorted({label for _, label in kept})
    number = {label: at for at, label in enumerate(names)}
    return Documents([page for page, _ in kept], np.array([number[label] for _, label in kept]))


def _texts(name: str) -> list[tuple[Page, str]]:
    """Those with exactly one label."""
    found = []
    with gzip.open(SHARED / "texts" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if len(record["labels"]) == 1:
                title = record["title"]
                terms = term_counts(f"{title}\n{record['body']}")
                if terms:
                    found.append((Page(record["id"], title=title, terms=terms), record["labels"][0]))
    return found


def _pages_of_web() -> list[tuple[Page, str]]:
    """Articles with exactly one subject, the highest level of the categories."""
    world = World.open(next(web.path for web in webs() if web.name == "wikispeedia"))
    found = []
    for number in range(len(world)):
        subjects = {topic.partition("/")[0] for topic in world.topics_of(number)}
        if len(subjects) == 1 and (terms := world.terms(number)):
            whole = world.page(number)
            page = Page(
                whole.url, title=whole.title, terms=terms, links=list(whole.links), link_hashes=whole.link_hashes
            )
            found.append((page, subjects.pop()))
    return found


class Citations:
    """What examples say of the documents that they link to."""

    def __init__(self, examples: list[Page]) -> None:
        self._citing: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._anchors: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for source in examples:
            for link in source.links:
                if link.url != source.url:
                    self._citing[link.url][source.url] = 1
                    self._anchors[link.url].update(term_counts("\n".join([link.anchor, *link.other_anchors])))

    def fields_of(self, page: Page) -> FieldsOfPage:
        """All of `CITED_FIELDS`."""
        cited = {"citing": self._citing.get(page.url, {}), "anchors": self._anchors.get(page.url, {})}
        return {**fields_of(page, LINKED_FIELDS), **cited}


def collections() -> list[str]:
    """Those whose sources are here."""
    names = [name for name in ("20newsgroups", "reuters21578") if (SHARED / "texts" / f"{name}.jsonl.gz").exists()]
    return [*names, *(["wikispeedia"] if any(web.name == "wikispeedia" for web in webs()) else [])]


# Splits


@dataclass(frozen=True)
class Split:
    training: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    @property
    def examples(self) -> np.ndarray:
        return np.concatenate([self.training, self.validation])


def split_of(classes: np.ndarray, percent: int, number: int, *, drawn: int, tested: int) -> Split:
    """Stratified: each class in the same shares; at least two of a class are examples, and one is for training."""
    rng = np.random.default_rng([percent, number])
    parts: tuple[list[np.ndarray], ...] = ([], [], [])
    for label in range(int(classes.max()) + 1):
        rows = rng.permutation(np.flatnonzero(classes == label))
        rows = rows[: max(3, round(len(rows) * min(1.0, drawn / len(classes))))]
        examples = max(2, round(len(rows) * percent / 100))
        validated = min(examples - 1, int(examples * VALIDATION[percent] + rng.random()))
        for part, chosen in zip(parts, np.split(rows, [examples - validated, examples]), strict=True):
            part.append(chosen)
    training, validation, rest = (np.concatenate(part) for part in parts)
    return Split(np.sort(training), np.sort(validation), np.sort(rng.permutation(rest)[:tested]))


class Trial:
    """A split with all that the methods share: evidence, and fitness on each part."""

    def __init__(self, name: str, percent: int, number: int, scale: TextScale) -> None:
        found = documents(name)
        self.scale, self.number = scale, number
        self.split = split = split_of(found.classes, percent, number, drawn=scale.drawn, tested=scale.tested)
        self.classes = found.classes
        self.pages = {part: found.rows(getattr(split, part)) for part in ("training", "validation", "test")}
        self.examples = [*self.pages["training"], *self.pages["validation"]]
        if found.has_links:
            citations = Citations(self.examples)
            self.index = EvidenceIndex.fit_fields(map(citations.fields_of, self.examples), CITED_FIELDS)
            self.asked = self.index.matrices_of_fields([citations.fields_of(page) for page in self.pages["test"]])
        else:
            self.index = EvidenceIndex.fit(self.examples)
            self.asked = self.index.matrices_of(self.pages["test"])
        self.known = self.index.matrices
        self._truth = np.eye(int(found.classes.max()) + 1, dtype=np.bool_)
        trained = np.arange(len(split.training))
        rng = np.random.default_rng(number)
        self.queries = np.sort(rng.permutation(trained)[:QUERIES])
        documents_of = tuple(matrix[trained] for matrix in self.known)
        self.evidence = self.index.rows(tuple(matrix[self.queries] for matrix in self.known), documents_of)
        checked = tuple(matrix[len(trained) :] for matrix in self.known)
        self.validation_evidence = self.index.rows(checked, documents_of)
        self.test_evidence = self.index.rows(self.asked, self.known)

    def labels(self, part: str) -> np.ndarray:
        return self.classes[getattr(self.split, part)]

    @property
    def has_links(self) -> bool:
        return self.index.evidence != EVIDENCE

    def training(self, measure: str = "macro-f1", names: tuple[str, ...] = EVIDENCE) -> NeighbourFitness:
        """`names`: the evidence that similarities are made of."""
        own = self.labels("training")
        truth, evidence = self._truth[own], {name: self.evidence[name] for name in names}
        return NeighbourFitness(evidence, truth[self.queries], truth, k=K, measure=measure, own=self.queries)

    def validation(self) -> NeighbourFitness:
        truth = (self._truth[self.labels("validation")], self._truth[self.labels("training")])
        return NeighbourFitness(self.validation_evidence, *truth, k=K)

    def test(self) -> NeighbourFitness:
        return NeighbourFitness(
            self.test_evidence, self._truth[self.labels("test")], self._truth[self.classes[self.split.examples]], k=K
        )

    def quality(self, predicted: np.ndarray) -> tuple[float, float, float]:
        counts = ClassCounts.of(predicted, self._truth[self.labels("test")])
        tested = counts.tested
        return float(counts.precision[tested].mean()), float(counts.recall[tested].mean()), macro_f1(counts)


# Methods


def best_of(trees: list[Expression], validation: NeighbourFitness) -> Expression:
    """By the validation part; of equals the smaller, then the earlier."""
    return min(trees, key=lambda tree: (-validation(tree), tree.size, trees.index(tree)))


def evolved(
    trial: Trial, measure: str, names: tuple[str, ...] = EVIDENCE
) -> tuple[Expression, TreeGeneration, NeighbourFitness]:
    fitness = trial.training(measure, names)
    program = ProgramSettings(population=trial.scale.population, generations=trial.scale.generations)
    learning = SimilarityLearning(program=program, k=K, measure=measure, seed=trial.number)
    last = run_generations(fitness, learning, NoCheckpoints(), "", tell_nobody)
    return best_of(list(last.champions), trial.validation()), last, fitness


def random_search(trial: Trial, evaluations: int, candidates: int) -> Expression:
    """As many random trees as evolution evaluated; the validation part chooses among as many of the best."""
    settings = ProgramSettings()
    alone = [Expression(name) for name in EVIDENCE]
    drawn = ramped_start(
        Language(EVIDENCE),
        max(0, evaluations - len(alone)),
        start_depth=settings.start_depth,
        limits=settings.limits,
        rng=np.random.default_rng([7, trial.number]),
    )
    fitness = trial.training()
    ranked = sorted([*alone, *drawn], key=lambda tree: settings.parsimony * tree.size - fitness(tree))
    return best_of(ranked[:candidates], trial.validation())


def linear(weights: np.ndarray, evidence: Mapping[str, np.ndarray]) -> np.ndarray:
    total = np.zeros_like(next(iter(evidence.values())))
    for weight, name in zip(weights.tolist(), EVIDENCE, strict=True):
        if weight:
            total += np.float32(weight) * evidence[name]
    return total


def coordinate_search(trial: Trial, evaluations: int) -> np.ndarray:
    """Weights of a sum: each in turn is multiplied or dropped, if that is better on the training part.

    Units are the similarity of the nearest other example, in the median. The validation part chooses among the steps.
    """
    fitness, validation = trial.training(), trial.validation()
    units = np.array([1 / fitness.nearest(Expression(name)) for name in EVIDENCE])
    weights, left = np.ones(len(EVIDENCE)), evaluations - 1
    best = fitness.score(linear(weights * units, trial.evidence))
    steps, is_moving = [weights], True
    while is_moving and left > 0:
        is_moving = False
        for at in range(len(EVIDENCE)):
            for factor in FACTORS:
                tried = weights.copy()
                tried[at] = factor if weights[at] == 0 else weights[at] * factor
                if left <= 0 or not tried.any() or (tried == weights).all():
                    continue
                left -= 1
                score = fitness.score(linear(tried * units, trial.evidence))
                if score > best:
                    best, weights, is_moving = score, tried, True
                    steps.append(weights)
    evidence = trial.validation_evidence
    scores = [validation.score(linear(step * units, evidence)) for step in steps]
    return steps[int(np.argmax(scores))] * units


def least_squares(trial: Trial) -> np.ndarray:
    """Weights by which the sum tells pairs of the same class from others, which weigh as much."""
    own = trial.labels("training")
    is_same = own[trial.queries][:, None] == own[None, :]
    is_pair = np.ones(is_same.shape, np.bool_)
    is_pair[np.arange(len(trial.queries)), trial.queries] = False
    columns = np.stack([*(trial.evidence[name][is_pair] for name in EVIDENCE), np.ones(int(is_pair.sum()))])
    target = is_same[is_pair].astype(np.float64)
    weight = np.where(target > 0, 0.5 / max(target.sum(), 1), 0.5 / max((1 - target).sum(), 1))
    columns = columns.astype(np.float64)
    normal = (columns * weight) @ columns.T
    return np.linalg.lstsq(normal, (columns * weight) @ target, rcond=None)[0][:-1]


def vectors(trial: Trial) -> tuple[Any, Any]:
    """TF-IDF of title and body together: examples, and the documents to be told."""
    space = vocabulary(trial.examples, words=100_000)
    known, asked = (space.matrix(map(space.vector, pages)) for pages in (trial.examples, trial.pages["test"]))
    return known, asked


def by_machine(trial: Trial, make: Callable[[float], Any], known: Any, asked: Any, *, is_kernel: bool) -> np.ndarray:
    """Predictions of a machine trained on all examples, with the cost that is best in a cross-validation over them."""
    labels = trial.classes[trial.split.examples]
    fold = np.empty(len(labels), np.int64)
    fold[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % FOLDS
    truth = np.eye(int(trial.classes.max()) + 1, dtype=np.bool_)[labels]

    def part(rows: np.ndarray, columns: np.ndarray) -> Any:
        return known[np.ix_(rows, columns)] if is_kernel else known[rows]

    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cost in COSTS:
            predicted = np.empty(len(labels), np.int64)
            for number in range(FOLDS):
                out, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
                predicted[out] = make(cost).fit(part(rest, rest), labels[rest]).predict(part(out, rest))
            scores.append(macro_f1(ClassCounts.of(predicted, truth)))
        return make(COSTS[int(np.argmax(scores))]).fit(known, labels).predict(asked)


def combined_kernel(trial: Trial) -> tuple[np.ndarray, np.ndarray]:
    """The sum of the six kinds of evidence, each symmetric and with 1 for the mean of an example to itself."""
    own = trial.index.rows(trial.known, trial.known)
    back = trial.index.rows(trial.known, trial.asked)
    known, asked = np.zeros_like(own[EVIDENCE[0]]), np.zeros_like(trial.test_evidence[EVIDENCE[0]])
    for name in EVIDENCE:
        unit = max(float(own[name].diagonal().mean()), 1e-9) * 2 * len(EVIDENCE)
        known += (own[name] + own[name].T) / unit
        asked += (trial.test_evidence[name] + back[name].T) / unit
    return known, asked


def by_contrast(trial: Trial) -> np.ndarray:
    """A judge for each class, which is told the other examples as pages of a crawl; the most relevant class."""
    labels = trial.classes[trial.split.examples]
    asked = [telling_words(page.terms, 10**6) for page in trial.pages["test"]]
    told = [telling_words(page.terms, 10**6) for page in trial.examples]
    scores = np.zeros((len(asked), int(trial.classes.max()) + 1))
    for label in range(scores.shape[1]):
        study = ContrastJudge.fit(
            [page for page, own in zip(trial.examples, labels, strict=True) if own == label]
        ).study()
        for vector, own in zip(told, labels, strict=True):
            if own != label:
                study.add(vector)
        study.learn()
        scores[:, label] = [study.view.relevance(vector) for vector in asked]
    return scores.argmax(axis=1)


def _kernel_machine(cost: float) -> Any:
    return SVC(C=cost, kernel="precomputed")


def _linear_machine(cost: float) -> Any:
    # The iterations are bounded, as at high costs most of the time of a split would go here.
    return LinearSVC(C=cost, max_iter=200, tol=1e-2)


def by_links(trial: Trial, timed: Callable[[str, Callable[[], np.ndarray]], None]) -> tuple[tuple[str, str], ...]:
    """Tell `timed` of the methods by links, and return what evolved."""
    test, formulas = trial.test(), []

    def by_evolution(method: str, fields: tuple[str, ...]) -> np.ndarray:
        tree, _, _ = evolved(trial, "macro-f1", evidence_of(fields))
        formulas.append((method, written(tree)))
        return test.predictions(tree)

    timed(GP_LINKS, lambda: by_evolution(GP_LINKS, LINKED_FIELDS))
    timed(GP_CITED, lambda: by_evolution(GP_CITED, CITED_FIELDS))
    for evidence, method in LINKS_ALONE.items():
        timed(method, lambda evidence=evidence: test.predictions(Expression(evidence)))
    return tuple(formulas)


def run_split(name: str, percent: int, number: int, scale: TextScale) -> Outcome:
    trial = Trial(name, percent, number, scale)
    test = trial.test()
    predicted: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}

    def timed(method: str, make: Callable[[], np.ndarray]) -> None:
        began = process_time()
        predicted[method] = make()
        seconds[method] = process_time() - began

    began = process_time()
    tree, last, fitness = evolved(trial, "macro-f1")
    predicted[GP] = test.predictions(tree)
    seconds[GP] = process_time() - began
    evaluations = fitness.evaluations
    timed(GP_PAPER, lambda: test.predictions(evolved(trial, "paper")[0]))
    timed(RANDOM, lambda: test.predictions(random_search(trial, evaluations, len(last.champions))))
    timed(LINEAR, lambda: test.predictions_by(linear(coordinate_search(trial, evaluations), trial.test_evidence)))
    timed(LEAST_SQUARES, lambda: test.predictions_by(linear(least_squares(trial), trial.test_evidence)))
    for evidence, method in ALONE.items():
        timed(method, lambda evidence=evidence: test.predictions(Expression(evidence)))
    known, asked = vectors(trial)
    content = ((known @ known.T).toarray(), (asked @ known.T).toarray())
    kernels = {CONTENT_SVM: content, COMBINATION_SVM: combined_kernel(trial)}
    for method, pair in kernels.items():
        timed(method, lambda pair=pair: by_machine(trial, _kernel_machine, *pair, is_kernel=True))
    timed(LINEAR_SVC, lambda: by_machine(trial, _linear_machine, known, asked, is_kernel=False))
    timed(CONTRAST, lambda: by_contrast(trial))
    link_formulas = by_links(trial, timed) if trial.has_links else ()
    return Outcome(
        quality={method: trial.quality(found) for method, found in predicted.items()},
        formula=written(tree),
        evaluations=evaluations,
        training=fitness(tree),
        validation=trial.validation()(tree),
        examples=len(trial.examples),
        tested=len(trial.pages["test"]),
        seconds=seconds,
        link_formulas=link_formulas,
    )
