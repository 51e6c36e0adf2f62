"""Hierarchical naive Bayes (paper FC, sections 2 and 3.1): down the tree, which child of each inner node it is.

    Pr[c|d] = Pr[parent|d] · Pr[c|d,parent]
    Pr[c|d,parent] ∝ Pr[c|parent] · Π_t θ(c,t)^n(d,t)         over siblings c
    θ(c,t) = (s + n(c,t)) / (s·|T| + n(c))                     T: the features of the parent, `features.py`

in log space, with counts summed up the tree. A page without known words gets the priors, a topic without examples 0.

Differs from FC:
- s is a setting, by default 0.1 (paper: 1). With few words per topic and many in all, ones drown what was counted.
- An inner topic may have examples of its own, and so may ANY (those that belong nowhere). They are one more sibling
  of its children: a page may be about Cycling in general, and its children then get less than Cycling has.
- FC says that a page is written with the die of a leaf, but then uses one die for everything below an inner child.
  Here Pr[d|c] of an inner child is the sum over the topics below it (`tree.Fork`), as the model says.
- Log odds are reduced according to the page's length (`calibration.Temperature`), but never raised: raw posteriors of a
  page of 500 words are 0 or 1 and order nothing. Fitted by node to up to `calibration_examples` of the training
  examples, whose counts are removed meanwhile, fold by fold, which naive Bayes allows exactly: only the selection of
  features has seen them. Nodes with few examples share one fit.
- Memberships, which FC does not have: see `membership`. A few words, as of an anchor, are judged by `short_texts`.

A document in several topics is counted in each, and twice above their fork. Updates change counts and recompute the θ
that depend on them; features and calibration stay as they are until the next `fit`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import compress, repeat
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.judges.bayes.features import WEIGHT, TopicStatistics, choose, term_weights
from lycosa.judges.bayes.held_out import HeldOutScores, set_temperatures
from lycosa.judges.bayes.membership import Memberships
from lycosa.judges.bayes.node import KnownWords, Node
from lycosa.judges.bayes.short_texts import ScoredTitle, ShortTexts
from lycosa.judges.bayes.tree import Tree
from lycosa.judges.classifier import ANY, Example, Judging, parent_of
from lycosa.judges.labels import blocks
from lycosa.judges.saved_arrays import AnyArray, pack, settings_from, unpack
from lycosa.judges.taxonomy import topic_hint
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.model import Page

_KIND = "bayes 2"
_NEGLIGIBLE = 1e-2
"""The children of a topic less probable than this are not evaluated: they share it by their priors."""
_FOLDS = 5
"""Number of parts the examples are divided into, each held out once for calibration."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BayesSettings:
    features: int = 5_000
    """Number of words an inner node uses."""
    smoothing: float = 0.1
    """Added to every count. The paper adds 1."""
    is_damped: bool = False
    """A word that occurs n times in a document counts log₂(1 + n) instead of n."""
    most_terms: int = 400_000
    """Maximum number of distinct words held while counting; the rarest are dropped."""
    calibration_examples: int = 20_000
    """Maximum number of examples scored for calibration; 0: posteriors stay raw, as in the paper."""

    def __post_init__(self) -> None:
        require_at_least(self, "bayes", features=1, most_terms=1, calibration_examples=0)
        require_above_zero(self, "bayes", "smoothing")


class BayesClassifier:
    name = "bayes"
    words_by_hand = ""
    reasons = None
    topics_: tuple[str, ...]

    def __init__(self, settings: BayesSettings | None = None) -> None:
        self.settings = settings or BayesSettings()

    def fit(self, examples: Iterable[Example], topics: Sequence[str]) -> Self:
        """Pass over the examples once to count, and once per fold to calibrate."""
        self._set_topics(topics)
        statistics = TopicStatistics(is_damped=self.settings.is_damped, most_terms=self.settings.most_terms)
        documents = np.zeros(len(self._tree.position))
        first_topics = array("q")
        for example in examples:
            lowest = self._tree.lowest(example)
            first_topics.append(lowest[0])
            for topic in lowest:
                statistics.add(topic, example.page.terms)
                documents[topic] += 1
        if not documents.any():
            raise InputError("no example to learn from: give at least one page")
        statistics.finish()
        self._select_features(statistics, documents)
        self._derive()
        if self.settings.calibration_examples:
            self._calibrate(examples, np.array(first_topics))
        return self

    def update(self, added: Iterable[Example] = (), removed: Iterable[Example] = ()) -> Self:
        """Count further examples, and remove some that were counted. Words that are not features stay unknown.

        All or nothing: InputError if a topic is unknown or has fewer examples than are to be removed.
        """
        changes = [(1, example, self._tree.lowest(example)) for example in added]
        changes += [(-1, example, self._tree.lowest(example)) for example in removed]
        balance: Counter[int] = Counter()
        for sign, _, lowest in changes:
            balance.update(dict.fromkeys(lowest, sign))
        root = self._nodes[0]
        for column, topic in enumerate(root.fork.ends):
            if root.documents[column] + balance[topic] < 0:
                name = (ANY, *self.topics_)[topic]
                raise InputError(f"cannot remove more examples from {name!r} than it has")
        for sign, example, lowest in changes:
            self._count(self._words(example.page), lowest, sign)
            if self._short is not None:
                self._short.count(example.page.terms, lowest, sign, is_damped=self.settings.is_damped)
        self._derive({fork for topic in balance for fork, _ in self._tree.path[topic]})
        return self

    def posteriors(self, page: Page) -> Floats:
        words = self._words(page)
        shares = np.zeros(len(self._tree.position))
        shares[0] = 1.0
        for node in self._nodes:
            share = shares[node.fork.position]
            local = node.posteriors(words) if share >= _NEGLIGIBLE else node.prior
            shares[node.fork.children] = share * local[:-1]
        return shares[1:]

    def memberships(self, page: Page) -> Floats:
        return self._memberships.of(self._words(page))

    @property
    def short_texts(self) -> Judging | None:
        return None if self._short is None else self._short.of

    def strongest(self, page: Page, topic: str, count: int = 10) -> Mapping[str, float]:
        """By word: how much it changes the log odds of the topic, and of those above it, against their siblings."""
        if topic not in self._tree.position or topic == ANY:
            raise InputError(f"there is no topic {topic!r}{topic_hint(topic, self.topics_)}")
        words = self._words(page)
        total = np.zeros(len(words.rows))
        while topic != ANY:
            node = self._nodes[self._tree.fork_of[parent_of(topic)]]
            group = int(np.searchsorted(node.fork.children, self._tree.position[topic]))
            total += node.shares_of(words, group, self.settings.smoothing)
            topic = parent_of(topic)
        order = np.lexsort((words.rows, -np.abs(total)))[:count]
        return {self._terms[words.rows[place]]: float(total[place]) for place in order if total[place]}

    def save(self) -> bytes:
        meta = {"settings": asdict(self.settings), "topics": self.topics_, "terms": self._terms}
        arrays: dict[str, AnyArray] = self._memberships.to_arrays()
        arrays |= self._short.to_arrays() if self._short is not None else {}
        for number, node in enumerate(self._nodes):
            arrays |= {f"{number}.{name}": values for name, values in node.to_arrays().items()}
        return pack(_KIND, meta, arrays)

    @classmethod
    def load(cls, data: bytes) -> Self:
        meta, arrays = unpack(_KIND, data)
        loaded = cls(settings_from(BayesSettings, meta))
        try:
            loaded._set_topics(meta["topics"])
            loaded._name_terms(meta["terms"])
            for number, node in enumerate(loaded._nodes):
                node.set_arrays({name: arrays[f"{number}.{name}"] for name in Node.SAVED}, len(loaded._terms))
            loaded._memberships.set_arrays({name: arrays[name] for name in Memberships.SAVED})
            if loaded._short is not None and "short_words" in arrays:
                loaded._short.set_arrays({name: arrays[name] for name in ShortTexts.SAVED})
            else:  # saved by an earlier version, which judged short texts like pages
                loaded._short = None
        except (KeyError, TypeError, AttributeError, InputError) as error:
            raise ValueError(f"the parts of a saved Bayes classifier are inconsistent: {error}") from error
        loaded._derive()
        return loaded

    def _set_topics(self, topics: Sequence[str]) -> None:
        self._tree = Tree(topics)
        self.topics_ = self._tree.topics
        self._nodes = [Node(fork) for fork in self._tree.forks]
        self._memberships = Memberships(self._tree)
        self._short: ShortTexts | None = ShortTexts(self._tree)

    def _select_features(self, statistics: TopicStatistics, documents: Floats) -> None:
        """Select features and counts of every node, and the vocabulary they share: the root's features come first."""
        size, names = len(statistics.vocabulary), list(statistics.vocabulary)
        for node in self._nodes:
            ends = list(node.fork.ends)
            node.documents = documents[ends]
            pairs = statistics.of_classes({end: column for column, end in enumerate(ends)})
            if node is self._nodes[0] and self._short is not None:
                self._short.learn(pairs, names)
            node.features = choose(pairs, node.documents, count=self.settings.features, size=size)
            place = np.full(size, -1)
            place[node.features] = np.arange(len(node.features))
            kept = place[pairs.terms] >= 0
            node.counts = np.zeros((len(node.features), len(ends)), dtype=np.float32)
            node.counts[place[pairs.terms[kept]], pairs.classes[kept]] = pairs.sums[kept, WEIGHT]
        head = self._nodes[0].features
        used = np.unique(np.concatenate([node.features for node in self._nodes]))
        vocabulary = np.concatenate([head, np.setdiff1d(used, head, assume_unique=True)])
        row_of = np.zeros(size, np.int64)
        row_of[vocabulary] = np.arange(len(vocabulary))
        self._name_terms([names[number] for number in vocabulary.tolist()])
        for node in self._nodes:
            rows = row_of[node.features]
            order = np.argsort(rows)
            node.features, node.counts = rows[order], node.counts[order]

    def _name_terms(self, terms: Sequence[str]) -> None:
        self._terms = terms
        self._row_of = {term: row for row, term in enumerate(terms)}

    def _words(self, page: Page) -> KnownWords:
        size = len(page.terms)
        rows = np.fromiter(map(self._row_of.get, page.terms, repeat(-1)), np.int64, size)
        counts = np.fromiter(page.terms.values(), np.float32, size)
        order = np.argsort(rows)
        order = order[np.searchsorted(rows[order], 0) :]
        return KnownWords(rows[order], term_weights(counts[order], is_damped=self.settings.is_damped))

    def _count(self, words: KnownWords, lowest: Iterable[int], sign: int) -> None:
        for topic in lowest:
            for fork, column in self._tree.path[topic]:
                self._nodes[fork].count(words, column, sign)

    def _derive(self, forks: Iterable[int] | None = None) -> None:
        """Recompute what depends on the counts of these forks, or of all."""
        for number in range(len(self._nodes)) if forks is None else forks:
            self._nodes[number].derive(self.settings.smoothing)
        self._memberships.derive(self._nodes[0])
        if self._short is not None:
            self._short.derive(self._nodes[0].documents)

    def _calibrate(self, examples: Iterable[Example], first_topics: NDArray[np.int64]) -> None:
        """Remove the examples of each fold from the counts, score them by the rest, and put them back."""
        fold = blocks(first_topics, _FOLDS)
        stride = -(-len(fold) // self.settings.calibration_examples)
        fold[np.arange(len(fold)) % stride > 0] = _FOLDS
        scores = [HeldOutScores() for _ in self._nodes]
        evidence, titles = [], []
        for number in range(_FOLDS):
            held_out = []
            for example in compress(examples, (fold == number).tolist()):
                held_out.append((self._words(example.page), self._tree.lowest(example)))
                titles += self._title(example)
            for words, lowest in held_out:
                self._count(words, lowest, -1)
            self._derive()
            for words, lowest in held_out:
                columns: dict[int, list[int]] = {}
                for fork, column in (step for topic in lowest for step in self._tree.path[topic]):
                    columns.setdefault(fork, []).append(column)
                for fork, own in columns.items():
                    scores[fork].add(self._nodes[fork], self._nodes[fork].scores(words), own)
                evidence.append(self._memberships.evidence(words, columns[0]))
            for words, lowest in held_out:
                self._count(words, lowest, 1)
        self._derive()
        set_temperatures(self._nodes, scores)
        self._memberships.calibrate(evidence)
        if self._short is not None:
            self._short.calibrate(titles)

    def _title(self, example: Example) -> list[ScoredTitle]:
        """One or none."""
        assert self._short is not None, "learned just before"
        lowest = self._tree.lowest(example)
        title = self._short.scored_title(example.page, lowest, is_damped=self.settings.is_damped)
        return [] if title is None else [title]
