"""Similarity of crawled pages to the description of the topic (paper TC, section 2.4, equations 2 and 3).

    cos(p, V) = Σ_k w_pk·w_Vk / √(Σ_k w_pk² · Σ_k w_Vk²),    w_dk = f_dk · ln(N / n_k)

f_dk is how often term k occurs in d, N how many pages all crawlers of the comparison fetched for the topic, and n_k on
how many of them k occurs: the weights are known only when all crawls are over. σ of a crawl is the mean over its pages
(`curves.mean_so_far`). The paper does not spell out its TF-IDF; this is the plain form. A term of the description that
occurs on no page is taken to occur on one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lycosa.lab.evaluate.runs import Floats, Ints, Terms, TermVector, rows_of

BATCH = 4096
"""Pages at a time: memory does not grow with the crawl."""


def inverse_document_frequency(terms: Terms, pages: Ints) -> Floats:
    """ln(N / n_k) for each term k of the vocabulary, over these pages, each named once."""
    frequency = np.zeros(terms.width, dtype=np.int64)
    for batch in _batches(pages):
        places, _ = rows_of(terms.offsets, batch)
        frequency += np.bincount(terms.indices[places], minlength=terms.width)
    return np.asarray(np.log(max(1, len(pages)) / np.maximum(1, frequency)))


def similarities(terms: Terms, pages: Ints, description: TermVector) -> Floats:
    """cos(p, V) for each of `pages`: all pages that the crawlers of the comparison fetched, each named once."""
    weights = inverse_document_frequency(terms, pages)
    topic = np.zeros(terms.width)
    np.add.at(topic, description.indices, description.counts * weights[description.indices])
    topic_norm = float(np.sqrt(topic @ topic))
    found = [_cosines(terms, batch, weights, topic, topic_norm) for batch in _batches(pages)]
    return np.concatenate(found) if found else np.zeros(0)


def _cosines(terms: Terms, pages: Ints, weights: Floats, topic: Floats, topic_norm: float) -> Floats:
    places, owner = rows_of(terms.offsets, pages)
    indices = terms.indices[places]
    weighted = terms.counts[places] * weights[indices]
    products = np.bincount(owner, weights=weighted * topic[indices], minlength=len(pages)).astype(np.float64)
    norms = np.sqrt(np.bincount(owner, weights=weighted * weighted, minlength=len(pages)))
    # A page of which every word occurs on every page has no direction, and is like nothing.
    return np.divide(products, norms * topic_norm, out=np.zeros(len(pages)), where=norms * topic_norm > 0)


def _batches(pages: Ints) -> Iterator[Ints]:
    for start in range(0, len(pages), BATCH):
        yield pages[start : start + BATCH]
