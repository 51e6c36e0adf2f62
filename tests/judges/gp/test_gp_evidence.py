"""The six kinds of evidence, against their formulas in plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

import numpy as np
import pytest

from lycosa.judges.gp.evidence import EvidenceIndex, FieldIndex
from lycosa.judges.gp.fields import EVIDENCE, FIELDS, fields_of, title_and_body
from lycosa.lib.text import term_counts
from lycosa.model import Page

Terms = Mapping[str, int]
WORDS = [
    "sail",
    "mast",
    "harbour",
    "keel",
    "wind",
    "anchor",
    "bicycle",
    "wheel",
    "pedal",
    "saddle",
    "quantum",
    "energy",
    "atom",
    "people",
    "world",
    "water",
]


def page(title: str, text: str) -> Page:
    return Page("http://a.test/", title=title, text=text, terms=term_counts(f"{title}\n{text}"))


def pages(count: int, seed: int, words: list[str] = WORDS) -> list[Page]:
    rng = np.random.default_rng(seed)
    return [
        page(" ".join(rng.choice(words, rng.integers(0, 4))), " ".join(rng.choice(words, rng.integers(1, 30))))
        for _ in range(count)
    ]


EXAMPLES = [*pages(30, 1), page("", "sail sail wind"), page("mast", "mast"), page("", "people")]
ASKED = [
    *pages(12, 2, [*WORDS, "unheard", "zebra"]),
    page("", "sail"),
    page("sail", ""),
    page("zebra", "zebra unheard"),
    Page(""),
    EXAMPLES[0],
]


def plain(asked: Page, examples: list[Page]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in EVIDENCE}
    for field in (0, 1):
        collection = [title_and_body(each)[field] for each in examples]
        one = title_and_body(asked)[field]
        for other in collection:
            for name, measure in (("bag", bag), ("cosine", cosine), ("okapi", okapi)):
                found[f"{('title', 'body')[field]}_{name}"].append(measure(one, other, collection))
    return found


def bag(one: Terms, other: Terms, _: list[Terms]) -> float:
    return len(one.keys() & other.keys()) / len(one) if one else 0.0


def df(term: str, collection: list[Terms]) -> int:
    return sum(term in each for each in collection)


def cosine(one: Terms, other: Terms, collection: list[Terms]) -> float:
    def weight(term: str, tf: int) -> float:
        return (1 + log(tf)) * (log((1 + len(collection)) / (1 + df(term, collection))) + 1)

    first, second = ({term: weight(term, tf) for term, tf in each.items()} for each in (one, other))
    norm = sqrt(sum(w * w for w in first.values()) * sum(w * w for w in second.values()))
    return sum(w * second.get(term, 0) for term, w in first.items()) / norm if norm else 0.0


def okapi(one: Terms, other: Terms, collection: list[Terms]) -> float:
    count, mean = len(collection), sum(sum(each.values()) for each in collection) / len(collection)
    total = 0.0
    for term in one.keys() & other.keys():
        tf, idf = other[term], log((count - df(term, collection) + 0.5) / (df(term, collection) + 0.5))
        total += (3 + tf) / (0.5 + 1.5 * sum(other.values()) / mean + tf) * max(0.0, idf) * one[term]
    return total


@pytest.fixture(scope="module")
def index() -> EvidenceIndex:
    return EvidenceIndex.fit(EXAMPLES)


@pytest.mark.parametrize("number", range(len(ASKED)))
def test_of_one_page(index, number):
    found = index.row(fields_of(ASKED[number], FIELDS))
    for name, expected in plain(ASKED[number], EXAMPLES).items():
        assert found[name] == pytest.approx(expected, rel=1e-5, abs=1e-6), name


def test_of_many_pages_at_once(index, monkeypatch):
    monkeypatch.setattr("lycosa.judges.gp.evidence.BLOCK", 5)  # several blocks, the last one not full
    found = index.rows(index.matrices_of(ASKED), index.matrices)
    for number, asked in enumerate(ASKED):
        for name, expected in plain(asked, EXAMPLES).items():
            assert found[name][number] == pytest.approx(expected, rel=1e-5, abs=1e-6), name


def test_of_some_examples_to_some_pages(index):
    """Bag and Okapi are not symmetric: which side is the page matters."""
    found = index.rows(tuple(matrix[[3, 4]] for matrix in index.matrices), index.matrices_of(ASKED))
    collection = [title_and_body(each)[1] for each in EXAMPLES]
    for row, example in enumerate((3, 4)):
        bodies = [title_and_body(each)[1] for each in ASKED]
        for name, measure in (("body_bag", bag), ("body_cosine", cosine), ("body_okapi", okapi)):
            expected = [measure(collection[example], body, collection) for body in bodies]
            assert found[name][row] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert not np.allclose(
        found["body_bag"], index.rows(index.matrices_of(ASKED), index.matrices)["body_bag"][:, 3:5].T
    )


def test_the_body_is_what_the_terms_have_beyond_the_title():
    title, body = title_and_body(page("sail boat", "sail wind wind"))
    assert title == {"sail": 1, "boat": 1}
    assert body == {"sail": 1, "wind": 2}
    assert title_and_body(Page("", terms={"a": 2})) == ({}, {"a": 2})
    assert title_and_body(Page("", title="sail", terms={})) == ({"sail": 1}, {})


def test_titles_that_are_all_empty():
    index = EvidenceIndex.fit([page("", "sail wind"), page("", "quantum")])
    found = index.row({"title": {}, "body": {"sail": 1}})
    assert not any(found[name].any() for name in EVIDENCE if name.startswith("title"))
    assert found["body_cosine"][0] > 0
    rows = index.rows(index.matrices, index.matrices)
    assert all(np.isfinite(rows[name]).all() for name in EVIDENCE)


def test_beyond_the_largest_number_of_terms_the_rarest_are_unknown():
    documents = [{"common": 1, "rare": 2}, {"common": 1, "other": 1}, {"common": 3, "other": 1}]
    cut = FieldIndex.fit(documents, max_terms=2)
    assert cut.row({"rare": 1})[0].tolist() == [0, 0, 0]
    assert cut.row({"common": 1, "rare": 1})[0].tolist() == [0.5, 0.5, 0.5]
    whole = FieldIndex.fit(documents)
    # It counts in norms and lengths nevertheless.
    assert cut.row({"common": 1})[1][0] < 0.7
    assert cut.row({"other": 1})[2] == pytest.approx(whole.row({"other": 1})[2])


def test_what_was_saved_gives_the_same(index):
    loaded = EvidenceIndex.from_arrays(index.to_arrays())
    for asked in ASKED:
        again, found = (each.row(fields_of(asked, FIELDS)) for each in (loaded, index))
        assert all((again[name] == found[name]).all() for name in EVIDENCE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("body_starts", np.array([0, 1])),
        ("body_examples", np.full(3, 7, np.int32)),
        ("title_tf", np.zeros(1, np.float32)),
        ("body_length", np.array([np.nan])),
        ("title_distinct", np.zeros(2, np.float32)),
    ],
)
def test_damaged_arrays_are_refused(index, name, value):
    with pytest.raises(ValueError, match="inconsistent"):
        EvidenceIndex.from_arrays({**index.to_arrays(), name: value})


def test_words_that_overlap(index):
    weights = np.zeros(index.size)
    weights[0] = 1.0
    title, body = title_and_body(EXAMPLES[0])
    parts = index.overlap({"title": title, "body": body}, weights)
    assert set(parts) == {*title, *body}
    assert all(part > 0 for part in parts.values())
    assert not any(index.overlap({"body": {"zebra": 1}}, weights).values())
