"""A small web in which relevant pages lie behind irrelevant ones, made for paper AR's experiments.

The webs of `lab/generated` have one flat list of topics, and a page has one of them: nothing there to widen. Here
every page is about a subject and a place, each from a tree of its own (`subjects 1/sailing`, `region 2/place 3`) like
those of AR (figure 1). The pages about one subject in one place are a few communities, each on a host of its own,
that do not cite each other. A page's links go

    within       to its own community
    outward      related web:  to a community of another subject of the same group in the same place
                 unrelated web: to any community but those of its own subject in its place
    anywhere     to any page of other subjects and other places

So a crawl from one community reaches the others only through irrelevant pages. In the related web those are pages of
the wider topic, as AR supposes ("pages of generalized topics more frequently lead to pages of the specialized topics",
section 3.3). The unrelated web is the control: the same in all but that.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from lycosa.fetch.urls import url_hash
from lycosa.lab.generated.vocabulary import GENERAL, topics
from lycosa.lab.worlds.writer import WorldWriter
from lycosa.lib.text import term_counts
from lycosa.model import Link, Page

GROUPS = 2
"""Groups of subjects, and regions."""
MEMBERS = 6
"""Subjects of a group, and places of a region."""
COMMUNITIES = 5
"""Of a subject in a place."""
COMMUNITY = 8
"""Pages of a community."""
LINKS = (3, 2, 5)
"""On a page: within, outward, anywhere."""
WORDS = (12, 12, 60)
"""Of the subject, of the place, and of neither, in a page's text."""


class Cell(NamedTuple):
    """A subject in a place."""

    subject: int
    place: int


def subject_paths() -> list[str]:
    names = [topic.name for topic in topics(GROUPS * MEMBERS)]
    return [f"subjects {number // MEMBERS + 1}/{name}" for number, name in enumerate(names)]


def place_paths() -> list[str]:
    return [f"region {number // MEMBERS + 1}/place {number % MEMBERS + 1}" for number in range(GROUPS * MEMBERS)]


def build_web(target: Path, *, is_related: bool, told: float, seed: int = 4) -> None:
    """Write the world file. `told`: share of links whose anchor names subject and place; the others say nothing."""
    rng = np.random.default_rng(seed)
    count = GROUPS * MEMBERS
    cells = [Cell(subject, place) for subject in range(count) for place in range(count)]
    cell_of = np.repeat(np.arange(len(cells)), COMMUNITIES * COMMUNITY)
    subject_of, place_of = cell_of // count, cell_of % count
    words = [topic.words for topic in topics(2 * count)]
    targets = [_targets(page, subject_of, place_of, rng, is_related=is_related) for page in range(len(cell_of))]
    titles = [
        f"{_draw(words[subject], rng, 1)[0]} {_draw(words[count + place], rng, 1)[0]}"
        for subject, place in zip(subject_of.tolist(), place_of.tolist(), strict=True)
    ]
    with WorldWriter(target) as writer:
        for page, out in enumerate(targets):
            subject, place = int(subject_of[page]), int(place_of[page])
            vocabularies = (words[subject], words[count + place], GENERAL)
            text = [word for part, many in zip(vocabularies, WORDS, strict=True) for word in _draw(part, rng, many)]
            links = [
                Link(_url(to), titles[to] if rng.random() < told else "more", position=at) for at, to in enumerate(out)
            ]
            writer.add_page(_page(page, titles[page], text, links))
            writer.label_page(page, subject_paths()[subject])
            writer.label_page(page, place_paths()[place])
        writer.finish({"source": [f"paper AR, {'related' if is_related else 'unrelated'}, seed {seed}"]})


def community_of(page: int) -> int:
    return page // COMMUNITY


def _targets(
    page: int, subject_of: np.ndarray, place_of: np.ndarray, rng: np.random.Generator, *, is_related: bool
) -> list[int]:
    subject, place = subject_of[page], place_of[page]
    is_kin = (place_of == place) & (subject_of // MEMBERS == subject // MEMBERS) & (subject_of != subject)
    is_other = (subject_of != subject) | (place_of != place)
    own = np.arange(page - page % COMMUNITY, page - page % COMMUNITY + COMMUNITY)
    pools = (
        own[own != page],
        np.flatnonzero(is_kin if is_related else is_other),
        np.flatnonzero((subject_of != subject) & (place_of != place)),
    )
    drawn = np.concatenate([rng.choice(pool, many, replace=False) for pool, many in zip(pools, LINKS, strict=True)])
    return list(dict.fromkeys(rng.permutation(drawn).tolist()))


def _draw(words: tuple[str, ...], rng: np.random.Generator, count: int) -> list[str]:
    """Some words, the first of a list more often than the last."""
    return [words[int(len(words) * chance**2)] for chance in rng.random(count)]


def _url(page: int) -> str:
    return f"http://c{community_of(page)}.test/{page % COMMUNITY + 1}.html"


def _page(page: int, title: str, text: list[str], links: list[Link]) -> Page:
    terms = term_counts(" ".join([title, *text]))
    hashes = np.array([url_hash(link.url) for link in links], dtype=np.int64)
    return Page(
        _url(page), title=title, language="en", links=links, terms=terms, words=sum(terms.values()),
        link_hashes=hashes.tobytes(),
    )  # fmt: skip
