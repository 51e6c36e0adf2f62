"""What of a page is compared with the same of the examples: fields, each a mapping of terms to counts.

    title, body     words; the paper's two. A page's body is what its terms have beyond those of its title.
    url             words of its own address. A file has none: its folders may be named after topics.
    links           targets of its own links, as hashes: what two pages both link to (bibliographic coupling). Links
                    that a rule of the crawl rejects count as well: a page has the same ones in crawls with other rules.
                    (Recorded webs do not keep those.)

A judge sees a page alone, in a process of its own. So links that point at the page are no field here: neither their
texts, nor the pages that they are on (co-citation).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from lycosa.errors import ConfigError
from lycosa.judges.topic_judges import url_words
from lycosa.lib.nearest import did_you_mean
from lycosa.lib.text import term_counts
from lycosa.model import Page

Terms = Mapping[str, int]
FieldsOfPage = Mapping[str, Terms]
"""Terms by field."""

FIELDS = ("title", "body")
LINK_FIELDS = ("url", "links")
WORD_FIELDS = ("title", "body", "url")
"""Those whose terms are words that can be shown."""
PAPER = "paper"
FIELDS_BY_CHOICE: Mapping[str, tuple[str, ...]] = {PAPER: FIELDS, "links": (*FIELDS, *LINK_FIELDS)}
"""What the setting `evidence` may be."""
MEASURES = ("bag", "cosine", "okapi")


def evidence_of(fields: Collection[str]) -> tuple[str, ...]:
    """The names of the evidence that these fields give."""
    return tuple(f"{field}_{measure}" for field in fields for measure in MEASURES)


EVIDENCE = evidence_of(FIELDS)
LINK_EVIDENCE = evidence_of(LINK_FIELDS)


def chosen_fields(choice: str) -> tuple[str, ...]:
    """Those of a setting; ConfigError if there is no such choice."""
    if choice not in FIELDS_BY_CHOICE:
        hint = did_you_mean(choice, FIELDS_BY_CHOICE)
        raise ConfigError(f"gp-knn.evidence is {choice!r}: {hint}there are {', '.join(FIELDS_BY_CHOICE)}")
    return FIELDS_BY_CHOICE[choice]


def fields_of(page: Page, fields: Collection[str]) -> dict[str, Terms]:
    """The terms of a page by field, of these fields alone."""
    found: dict[str, Terms] = {}
    if "title" in fields or "body" in fields:
        both = dict(zip(FIELDS, title_and_body(page), strict=True))
        found.update((field, terms) for field, terms in both.items() if field in fields)
    if "url" in fields:
        found["url"] = term_counts(url_words(page.url), language=page.stemmed_in)
    if "links" in fields:
        found["links"] = linked(page)
    return found


def title_and_body(page: Page) -> tuple[Terms, Terms]:
    """The terms of both, with their counts."""
    title = term_counts(page.title, language=page.stemmed_in)
    if not title:
        return title, page.terms
    rest = ((term, count - title.get(term, 0)) for term, count in page.terms.items())
    return title, {term: count for term, count in rest if count > 0}


def linked(page: Page) -> Terms:
    """What a page links to, each target once; nothing, if the page came without hashes of its links."""
    return dict.fromkeys(map(str, np.frombuffer(page.link_hashes, np.int64).tolist()), 1)
