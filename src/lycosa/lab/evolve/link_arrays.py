"""A world as the kernel sees it: links as numbers, a score for each page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.fetch.urls import url_hash
from lycosa.lab.worlds.world import World
from lycosa.model import Judgement
from lycosa.strategies.papers.evolved import is_of_community, ordered_score, signed_score

DOCUMENT = -1
NOWHERE = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkArrays:
    """URLs are numbered: recorded pages first, then those only linked to (`lab.worlds.world`)."""

    urls: int
    """Number of URLs."""
    link_offsets: NDArray[np.int64]
    """By page: where its links begin; one more entry at the end."""
    link_urls: NDArray[np.int32]
    nofollow: NDArray[np.bool_]
    """By link; empty if there is none."""
    redirects: NDArray[np.int32]
    """By page: the URL it redirects to, `DOCUMENT`, or `NOWHERE`; empty if there is no redirect."""
    ordered_score: NDArray[np.float32]
    """By page: `evolved.ordered_score` of its signed score."""
    is_relevant: NDArray[np.bool_]
    """By page: whether it joins the community when it is downloaded (`evolved.is_of_community`)."""
    anchors: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    """By link: the similarity of its text to the topic. Empty: anchors cannot be weighed."""
    hosts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """By URL: the number of its host. Empty: hosts cannot be weighed."""

    def __post_init__(self) -> None:
        pages, links = len(self), len(self.link_urls)
        if pages < 1 or self.link_offsets[0] != 0 or self.link_offsets[-1] != links or pages > self.urls:
            raise InputError("the link offsets of a web do not fit its links, or it has no pages")
        for name in ("ordered_score", "is_relevant"):
            if len(getattr(self, name)) != pages:
                raise InputError(f"a web of {pages:,} pages has {len(getattr(self, name)):,} entries for {name}")
        if len(self.nofollow) not in (0, links) or len(self.redirects) not in (0, pages):
            raise InputError("a web's nofollow is by link and its redirects by page, or they are empty")
        if len(self.anchors) not in (0, links) or len(self.hosts) not in (0, self.urls):
            raise InputError("a web's anchors are by link and its hosts by URL, or they are empty")
        if len(self.hosts) and not 0 <= int(self.hosts.min()) <= int(self.hosts.max()) < self.urls:
            raise InputError(f"a web's hosts must be numbers from 0 to {self.urls - 1:,}")
        if links and not 0 <= int(self.link_urls.min()) <= int(self.link_urls.max()) < self.urls:
            raise InputError(f"a web's links must lead to URLs from 0 to {self.urls - 1:,}")

    def __len__(self) -> int:
        """Number of recorded pages, redirects included."""
        return len(self.link_offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdicts:
    """What the judge says of a world. Small beside it, and all that is sent to another process."""

    redirects: NDArray[np.int32]
    ordered_score: NDArray[np.float32]
    is_relevant: NDArray[np.bool_]
    anchors: NDArray[np.float32]


def verdicts_of(
    world: World, judge: Callable[[int], Judgement], similarity: Callable[[str], float] | None = None
) -> Verdicts:
    """Judge every page of the world, by number; and every anchor if `similarity` is given."""
    pages = len(world)
    redirects = np.full(pages, DOCUMENT, dtype=np.int32)
    signed = np.zeros(pages)
    is_relevant = np.zeros(pages, dtype=np.bool_)
    for page in range(pages):
        if world.is_redirect(page):
            number = int(world.number_of_hash(np.array([url_hash(world.location(page))]))[0])
            redirects[page] = number if number >= 0 else NOWHERE
        else:
            judgement = judge(page)
            signed[page], is_relevant[page] = signed_score(judgement), is_of_community(judgement)
    anchors = np.zeros(0, dtype=np.float32)
    if similarity is not None:
        cached = lru_cache(maxsize=1 << 20)(similarity)
        anchors = np.fromiter((cached(world.anchor(edge)) for edge in range(len(world.link_urls))), np.float32)
    scores = np.array([ordered_score(value) for value in signed.tolist()], dtype=np.float32)
    return Verdicts(redirects=redirects, ordered_score=scores, is_relevant=is_relevant, anchors=anchors)


def link_arrays_of(world: World, verdicts: Verdicts) -> LinkArrays:
    """The arrays of a world. Its links stay in the file, which processes share."""
    redirects = verdicts.redirects
    return LinkArrays(
        urls=len(world.urls),
        link_offsets=np.asarray(world.link_offsets),
        link_urls=np.asarray(world.link_urls),
        nofollow=world.nofollow if world.nofollow.any() else np.zeros(0, dtype=np.bool_),
        redirects=redirects if (redirects != DOCUMENT).any() else np.zeros(0, dtype=np.int32),
        ordered_score=verdicts.ordered_score,
        is_relevant=verdicts.is_relevant,
        anchors=verdicts.anchors,
        hosts=np.asarray(world.url_hosts),
    )


def ordered_scores(relevance: NDArray[Any]) -> NDArray[np.float32]:
    """Of judges without margins: 2 · relevance − 1, in the order of `evolved.ordered_score`."""
    return np.array([ordered_score(2.0 * value - 1.0) for value in relevance.tolist()], dtype=np.float32)
