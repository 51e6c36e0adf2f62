"""How closely the pages found are linked to each other (paper GA, equation for Cohesiveness, figures 5 to 8).

    cohesiveness(G) = Σ_{i∈G} |L_i ∩ C| / |G|

L_i are the out-links of page i, and C the community: the seeds and the relevant pages among those fetched. For
community cohesiveness G = C, for overall cohesiveness G = all fetched pages.
Differs from GA: given after every page, not only at the end, with G and C as they were then; a seed belongs to C from
the start but to G only once it has been fetched, as its links are not known before; relevance is by label where GA asks
the classifier that also guided the crawl.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lycosa.lab.evaluate.runs import Bools, Floats, Ints, rows_of


class Cohesiveness(NamedTuple):
    """Curves over the pages fetched."""

    community: Floats
    overall: Floats


def cohesiveness(
    pages: Ints, *, is_relevant: Bools, seeds: Ints, link_offsets: Ints, link_targets: Ints
) -> Cohesiveness:
    """Of the crawl that fetched `pages` in this order; `is_relevant` has a flag for each of them."""
    count = len(pages)
    never = np.int64(count)
    joined = np.full(len(link_offsets) - 1, never)
    places = np.arange(count, dtype=np.int64)
    joined[pages[is_relevant]] = places[is_relevant]
    joined[seeds] = 0
    is_member = is_relevant | np.isin(pages, seeds)

    links, owner = rows_of(link_offsets, pages)
    target_joined = joined[link_targets[links]]
    # A link counts from the moment when both its page is fetched and its target is in the community.
    moment = np.maximum(owner, target_joined)[target_joined < never]
    from_member = is_member[owner][target_joined < never]
    overall = np.cumsum(np.bincount(moment, minlength=count)) / np.arange(1, count + 1)
    members = np.cumsum(is_member)
    community = np.cumsum(np.bincount(moment[from_member], minlength=count)) / np.maximum(1, members)
    return Cohesiveness(community, overall)
