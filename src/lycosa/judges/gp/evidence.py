"""Evidence that a page and an example are alike: three kinds for each field (paper GP, section 2.1 and table I).

For the terms of the titles, and for those of the bodies, with d1 the page and d2 the example,

    bag(d1, d2)    = |T1 ∩ T2| / |T1|                                       T: the set of terms
    cosine(d1, d2) = Σ w1·w2 / √(Σ w1² · Σ w2²)                             w = (1 + ln tf) · (ln((1+N)/(1+df)) + 1)
    okapi(d1, d2)  = Σ_{t ∈ T1 ∩ T2} (3 + tf2) / (½ + 1½·len2/len_avg + tf2) · max(0, ln((N−df+½)/(df+½))) · tf1

N, df and len_avg are those of the examples. The paper's equations are lost in its scan; these are their usual forms.
Bag and Okapi are not symmetric. Terms of a page that no example has count in |T1|, in the norm of the cosine (with
df = 0) and in len2: all six are exact, as long as the examples have no more than `MAX_TERMS` distinct terms. Beyond the
paper, the same holds for further fields (`fields`), whose terms are words of URLs or targets of links.

For one page, only the examples that share a term with it are touched: an inverted index, term → examples. For many
documents at once, the same sums are products of sparse matrices, block by block.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.gp.fields import FIELDS, MEASURES, WORD_FIELDS, FieldsOfPage, Terms, evidence_of, fields_of
from lycosa.judges.saved_arrays import AnyArray, array_to_lines, lines_to_array, require
from lycosa.lib.extras import required
from lycosa.model import Page

MAX_TERMS = 500_000
"""Maximum number of terms of a field; the most frequent are kept."""
BLOCK = 512
"""Rows that are computed at once."""

Floats32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class FieldTerms:
    """The terms of documents, by row, in the columns of an index."""

    tf: Any
    """`scipy.sparse.csr_array`: documents × terms."""
    distinct: Floats32
    """|T|, with terms that have no column; so have the following."""
    length: Floats32
    unknown: Floats32
    """Σ (1 + ln tf)² over the terms that have no column."""

    def __len__(self) -> int:
        return len(self.distinct)

    def __getitem__(self, rows: Any) -> FieldTerms:
        return FieldTerms(self.tf[rows], self.distinct[rows], self.length[rows], self.unknown[rows])


class FieldIndex:
    """One field of the examples, such as their titles: term → examples."""

    ARRAYS = ("terms", "starts", "examples", "tf", "distinct", "length", "unknown")

    def __init__(
        self,
        terms: list[str],
        starts: NDArray[np.int64],
        examples: NDArray[np.int32],
        tf: Floats32,
        distinct: Floats32,
        length: Floats32,
        unknown: Floats32,
    ) -> None:
        self._terms, self._starts, self._examples, self._tf = terms, starts, examples, tf
        self._distinct, self._length, self._unknown = distinct, length, unknown
        self._columns = {term: column for column, term in enumerate(terms)}
        self.size = len(distinct)
        sizes = np.diff(starts)
        self._idf = _idf(self.size, sizes)
        self._idf_unknown = _idf(self.size, np.zeros(1))[0]
        odds = (self.size - sizes + 0.5) / (sizes + 0.5)
        self._okapi_idf = np.maximum(0, np.log(odds)).astype(np.float32)
        self._mean_length = max(float(length.mean()), 1e-9) if self.size else 1.0
        weights = dampened(tf) * np.repeat(self._idf, sizes)
        norms = self._norms(np.bincount(examples, weights.astype(np.float64) ** 2, minlength=self.size), unknown)
        self._cosine_weights = (weights / norms[examples]).astype(np.float32)
        self._okapi_weights = self._saturated(tf, length[examples]) * np.repeat(self._okapi_idf, sizes)

    @classmethod
    def fit(cls, documents: Iterable[Terms], *, max_terms: int = MAX_TERMS) -> FieldIndex:
        counted = _CountedField()
        for terms in documents:
            counted.add(terms)
        return counted.index(max_terms)

    def row(self, terms: Terms) -> Floats32:
        """Bag, cosine and Okapi (3 × examples) of a document with these terms, to each example."""
        columns = np.fromiter(map(self._columns.get, terms, repeat(-1)), np.int64, len(terms))
        tf = np.fromiter(terms.values(), np.float32, len(terms))
        is_known = columns >= 0
        unknown = (dampened(tf[~is_known]) ** 2).sum()
        columns, tf = columns[is_known], tf[is_known]
        lows, sizes = self._starts[columns], self._starts[columns + 1] - self._starts[columns]
        ends = np.cumsum(sizes)
        if not len(ends):
            return np.zeros((len(MEASURES), self.size), np.float32)
        places = np.repeat(lows - ends + sizes, sizes) + np.arange(ends[-1])
        examples = self._examples[places]
        weights = dampened(tf) * self._idf[columns]
        norm = self._norms(weights @ weights, unknown)
        cosine = self._cosine_weights[places] * np.repeat(weights / norm, sizes)
        okapi = self._okapi_weights[places] * np.repeat(tf, sizes)
        found = [
            np.bincount(examples, minlength=self.size) / len(terms),
            np.bincount(examples, cosine, self.size),
            np.bincount(examples, okapi, self.size),
        ]
        return np.array(found, np.float32)

    def overlap(self, terms: Terms, weights: NDArray[np.float64]) -> dict[str, float]:
        """By term of a document: its part in the cosines to the examples, multiplied by these weights, summed up."""
        known = [(self._columns[term], term, count) for term, count in terms.items() if term in self._columns]
        found = {}
        for column, term, count in known:
            places = slice(self._starts[column], self._starts[column + 1])
            part = float(weights[self._examples[places]] @ self._cosine_weights[places])
            found[term] = part * float(dampened(np.float32(count)) * self._idf[column])
        return found

    @property
    def matrix(self) -> FieldTerms:
        """The examples themselves."""
        shape = (self.size, len(self._terms))
        tf = _sparse().csc_array((self._tf, self._examples, self._starts), shape=shape).tocsr()
        return FieldTerms(tf, self._distinct, self._length, self._unknown)

    def matrix_of(self, documents: Iterable[Terms]) -> FieldTerms:
        columns, counts, ends = array("i"), array("f"), array("q", [0])
        for terms in documents:
            columns.extend(map(self._columns.get, terms, repeat(-1)))
            counts.extend(terms.values())
            ends.append(len(columns))
        column, tf = np.array(columns, np.int32), np.array(counts, np.float32)
        row = np.repeat(np.arange(len(ends) - 1), np.diff(np.array(ends)))
        is_known = column >= 0
        sums = _sums(row, tf, ~is_known, len(ends) - 1)
        shape = (len(ends) - 1, len(self._terms))
        found = _sparse().csr_array((tf[is_known], (row[is_known], column[is_known])), shape=shape)
        return FieldTerms(found, *sums)

    def blocks(self, queries: FieldTerms, documents: FieldTerms) -> Iterator[tuple[slice, int, Floats32]]:
        """For blocks of queries and each measure: the rows, the number of the measure, and queries × documents."""
        transposed = [self._as_document(documents, measure).T.tocsr() for measure in range(len(MEASURES))]
        for low in range(0, len(queries), BLOCK):
            rows = slice(low, min(low + BLOCK, len(queries)))
            part = queries[rows]
            for measure, other in enumerate(transposed):
                yield rows, measure, (self._as_query(part, measure) @ other).toarray()

    def _as_query(self, queries: FieldTerms, measure: int) -> Any:
        match MEASURES[measure]:
            case "bag":
                return _with_data(queries.tf, np.repeat(1 / np.maximum(queries.distinct, 1), _row_sizes(queries.tf)))
            case "cosine":
                return self._unit_vectors(queries)
            case _:
                return queries.tf

    def _as_document(self, documents: FieldTerms, measure: int) -> Any:
        tf = documents.tf
        match MEASURES[measure]:
            case "bag":
                return _with_data(tf, np.ones(tf.nnz))
            case "cosine":
                return self._unit_vectors(documents)
            case _:
                lengths = np.repeat(documents.length, _row_sizes(tf))
                return _with_data(tf, self._saturated(tf.data, lengths) * self._okapi_idf[tf.indices])

    def _unit_vectors(self, documents: FieldTerms) -> Any:
        tf, sizes = documents.tf, _row_sizes(documents.tf)
        weights = dampened(tf.data) * self._idf[tf.indices]
        rows = np.repeat(np.arange(len(documents)), sizes)
        squares = np.bincount(rows, weights.astype(np.float64) ** 2, minlength=len(documents))
        return _with_data(tf, weights / np.repeat(self._norms(squares, documents.unknown), sizes))

    def _norms(self, squares: Any, unknown: Any) -> Any:
        found = np.sqrt(squares + unknown * self._idf_unknown**2)
        return np.where(found > 0, found, 1.0)

    def _saturated(self, tf: Floats32, length: Floats32) -> Floats32:
        return (3 + tf) / (np.float32(0.5) + np.float32(1.5 / self._mean_length) * length + tf)

    def to_arrays(self, prefix: str) -> dict[str, AnyArray]:
        values: tuple[AnyArray, ...] = (
            lines_to_array(self._terms),
            self._starts,
            self._examples,
            self._tf,
            self._distinct,
            self._length,
            self._unknown,
        )
        return {f"{prefix}_{name}": value for name, value in zip(self.ARRAYS, values, strict=True)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], prefix: str) -> Self:
        lines, starts, examples, tf, *sums = (arrays[f"{prefix}_{name}"] for name in cls.ARRAYS)
        terms = array_to_lines(lines)
        count = len(sums[0])
        require(
            starts.shape == (len(terms) + 1,) and starts[0] == 0 and starts[-1] == len(examples), f"{prefix} starts"
        )
        require(bool((np.diff(starts) >= 0).all()) and tf.shape == examples.shape, f"{prefix} terms")
        require(not len(examples) or (examples.min() >= 0 and examples.max() < count), f"{prefix} examples")
        require(bool((tf > 0).all() and np.isfinite(tf).all()), f"{prefix} counts")
        require(all(each.shape == (count,) and bool(np.isfinite(each).all()) for each in sums), f"{prefix} lengths")
        return cls(terms, starts, examples, tf, *sums)


class _CountedField:
    """The terms of examples, as they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._columns, self._counts, self._ends = array("i"), array("f"), array("q", [0])

    def add(self, terms: Terms) -> None:
        numbers = self._numbers
        self._columns.extend([numbers.setdefault(term, len(numbers)) for term in terms])
        self._counts.extend(terms.values())
        self._ends.append(len(self._columns))

    def index(self, max_terms: int = MAX_TERMS) -> FieldIndex:
        names, count = list(self._numbers), len(self._ends) - 1
        column, tf = np.array(self._columns, np.int64), np.array(self._counts, np.float32)
        row = np.repeat(np.arange(count), np.diff(np.array(self._ends)))
        frequency = np.bincount(column, minlength=len(names))
        # A line break would split the term when the index is saved. Stems have none, but may be given.
        frequency[[at for at, name in enumerate(names) if "\n" in name]] = 0
        kept = np.sort(np.argsort(-frequency, kind="stable")[:max_terms])
        kept = kept[frequency[kept] > 0]
        place = np.full(len(names), -1, np.int64)
        place[kept] = np.arange(len(kept))
        distinct, length, unknown = _sums(row, tf, place[column] < 0, count)
        is_kept = place[column] >= 0
        column, tf, row = place[column][is_kept], tf[is_kept], row[is_kept]
        order = np.argsort(column, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=len(kept)))]).astype(np.int64)
        known = [names[at] for at in kept.tolist()]
        return FieldIndex(known, starts, row[order].astype(np.int32), tf[order], distinct, length, unknown)


class EvidenceIndex:
    """All evidence between pages and the examples, of these fields."""

    def __init__(self, indexes: Mapping[str, FieldIndex]) -> None:
        """`indexes`: by field; the evidence is in their order."""
        self._indexes = dict(indexes)
        self.fields = tuple(self._indexes)
        self.evidence = evidence_of(self.fields)
        self.size = next(iter(self._indexes.values())).size

    @classmethod
    def fit(cls, pages: Iterable[Page], fields: Collection[str] = FIELDS) -> Self:
        return cls.fit_fields((fields_of(page, fields) for page in pages), fields)

    @classmethod
    def fit_fields(cls, documents: Iterable[FieldsOfPage], fields: Collection[str]) -> Self:
        """Of documents with fields that a page alone does not have."""
        counted = {field: _CountedField() for field in fields}
        for document in documents:
            for field, counts in counted.items():
                counts.add(document[field])
        return cls({field: counts.index() for field, counts in counted.items()})

    def only(self, fields: Collection[str]) -> EvidenceIndex:
        """The same without the other fields."""
        return EvidenceIndex({field: index for field, index in self._indexes.items() if field in fields})

    def row(self, document: FieldsOfPage, fields: Collection[str] | None = None) -> dict[str, Floats32]:
        """By name: the evidence of one page to each example, of these fields or of all.

        What the page does not have is evidence of nothing: zeros.
        """
        wanted = self.fields if fields is None else fields
        found: dict[str, Floats32] = {}
        for field in wanted:
            found.update(zip(evidence_of([field]), self._indexes[field].row(document.get(field, {})), strict=True))
        return found

    def overlap(self, document: FieldsOfPage, weights: NDArray[np.float64]) -> dict[str, float]:
        """By word, of all fields that have words together (`FieldIndex.overlap`)."""
        found: Counter[str] = Counter()
        for field in WORD_FIELDS:
            if field in self._indexes:
                for term, part in self._indexes[field].overlap(document.get(field, {}), weights).items():
                    found[term] += part  # type: ignore[assignment]  # a counter of parts
        return dict(found)

    @property
    def matrices(self) -> tuple[FieldTerms, ...]:
        """The examples themselves, by field."""
        return tuple(index.matrix for index in self._indexes.values())

    def matrices_of(self, pages: Iterable[Page]) -> tuple[FieldTerms, ...]:
        return self.matrices_of_fields([fields_of(page, self.fields) for page in pages])

    def matrices_of_fields(self, documents: Collection[FieldsOfPage]) -> tuple[FieldTerms, ...]:
        return tuple(
            index.matrix_of(document[field] for document in documents) for field, index in self._indexes.items()
        )

    def rows(self, queries: tuple[FieldTerms, ...], documents: tuple[FieldTerms, ...]) -> dict[str, Floats32]:
        """By name: queries × documents."""
        shape = (len(queries[0]), len(documents[0]))
        found = {name: np.empty(shape, np.float32) for name in self.evidence}
        for at, index in enumerate(self._indexes.values()):
            for rows, measure, values in index.blocks(queries[at], documents[at]):
                found[self.evidence[at * len(MEASURES) + measure]][rows] = values
        return found

    def to_arrays(self) -> dict[str, AnyArray]:
        parts = (index.to_arrays(field) for field, index in self._indexes.items())
        return {name: value for part in parts for name, value in part.items()}

    @staticmethod
    def names_of_arrays(fields: Collection[str]) -> tuple[str, ...]:
        return tuple(f"{field}_{name}" for field in fields for name in FieldIndex.ARRAYS)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], fields: Collection[str] = FIELDS) -> Self:
        found = cls({field: FieldIndex.from_arrays(arrays, field) for field in fields})
        require(len({index.size for index in found._indexes.values()}) == 1, "fields")
        return found


def dampened(tf: Any) -> Any:
    """1 + ln tf."""
    return np.log(tf) + np.float32(1)


def _idf(documents: int, frequencies: AnyArray) -> Floats32:
    return (np.log((1 + documents) / (1 + frequencies)) + 1).astype(np.float32)


def _sums(
    row: NDArray[np.int64], tf: Floats32, is_unknown: NDArray[np.bool_], count: int
) -> tuple[Floats32, Floats32, Floats32]:
    """Distinct terms, length, and squares of unknown terms, by document."""
    distinct = np.bincount(row, minlength=count)
    length = np.bincount(row, tf, minlength=count)
    unknown = np.bincount(row[is_unknown], dampened(tf[is_unknown]) ** 2, minlength=count)
    return distinct.astype(np.float32), length.astype(np.float32), unknown.astype(np.float32)


def _row_sizes(matrix: Any) -> NDArray[np.int64]:
    sizes: NDArray[np.int64] = np.diff(matrix.indptr)
    return sizes


def _with_data(matrix: Any, data: AnyArray) -> Any:
    """A sparse matrix with the same places and other values."""
    return type(matrix)((data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def _sparse() -> Any:
    """When it is needed: it loads slowly, and only learning does."""
    return required("scipy.sparse", extra="learn", what="gp-knn")
