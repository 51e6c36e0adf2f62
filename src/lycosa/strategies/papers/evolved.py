"""The evolved rank: a weighted sum of features of the pages that cite a link (paper GA, section 2.2).

P_u are the downloaded pages that link to u, L_p the links of page p, D the downloaded pages, U the URLs seen, and C the
community: seeds, and downloaded pages that were judged relevant.

    rank(u)   = Σ w_i · S_i(u),  Σ w_i = 1
    HUB       = |L_p| / mean of |L_i| over D, for the p in P_u with the most links
    AUTHORITY = |P_u| / mean of |P_i| over U
    COMM_in   = |P_u ∩ C| / |P_u|
    COMM_out  = Σ |L_i ∩ C| / Σ |L_i|, i in P_u
    PARENT_k  = of the signed scores of the pages k links up: the largest if one of them is positive, otherwise the
                smallest (the one of the largest magnitude); 0 if there is no such page
    ANCHOR    = the largest similarity of the link's texts to the topic                  (the paper's future work)
    HOST      = (relevant pages + 1) / (pages + 2) of the link's host                    (the paper's future work)

When a page is downloaded, the ranks of the links on it are recomputed, and may rise or fall; other waiting links keep
theirs, though the means, the community and the ancestors have changed a little. Current values are always used:
COMM_out the current community, PARENT_k every chain of k links among the pages downloaded so far. The score of a link
is rank + 1, because scores below 0 are those of links that failed before; ranks of −1 and less, which only very
negative margins give, keep their order in a small interval above 0 (`LEAST_SCORE`).

A crawl may have phases (the paper's future work, section 4), each with its own weights: when `middle_from` pages have
been visited, and again at `late_from`, all waiting links are ranked again by the new weights, as ranks by different
weights cannot be compared.

The signed score of a page is the judge's raw margin, as in the paper: the signed distance from the SVM's plane; a page
on its positive side, at a margin above 0, joins the community. For judges without a margin (`Judgement.margin`) it is
2 · relevance − 1, and pages they call relevant join. Best-first is the special case PARENT_1 = 1.

Differs from GA: HUB takes the largest of several parents (the paper does not say). When a page changes the ancestors of
more than `MAX_SPREAD` links at once, the rest are not updated: otherwise a web designed to change them with every page
could make each visit take as long as the whole crawl. A URL counts as seen when it, or a page that links to it, was
downloaded.

All this takes about 70 bytes per link and 12 per citation: too much to be saved with every commit, so the strategy is
told all visits again on resume. The margin of each is kept as the note of its visit.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.lib.bounds import require_at_least
from lycosa.lib.snapshot import Snapshots, Tree, loaded_list, taken_list
from lycosa.model import Judgement, Visit
from lycosa.strategies.papers.citations import Citations, CitedLinks
from lycosa.strategies.protocol import Abilities, Strategy, StrategyParts

GENERATIONS = 5
"""Number of links up to which the scores of ancestors are known."""
SEED_SCORE = float(1 << 30)
"""Seeds come first: they have no parents to be ranked by."""
MAX_SCORE = float(1 << 29)
MAX_SPREAD = 1 << 18
"""Maximum number of links updated in one visit after a change of one generation of ancestors."""
BELOW = 2.0**-64
"""Factor on scores of 0 and less: see `ordered_score`."""
LEAST_ABOVE = 2.0**-58
MAX_MARGIN = 32.0
"""Larger ones count as this: SVMs on vectors of length 1 give margins around 1, and scaled ones must stay below
LEAST_ABOVE."""
LEAST_SCORE = 2.0**-10
"""Below it the score is not rank + 1 = x, but LEAST_SCORE² / (2 · LEAST_SCORE − x): it never reaches 0."""
DUE = 1 << 16
NOTE = struct.Struct("<d")
"""What is kept of a visit: the margin of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolvedSettings:
    """The weights, of which only the ratios matter. A crawl starts with the first eleven; defaults: see `GA2003`."""

    hub: float = 10.0
    authority: float = 10.0
    comm_in: float = 76.0
    comm_out: float = 121.0
    parent_1: float = 97.0
    parent_2: float = 36.0
    parent_3: float = 31.0
    parent_4: float = 2.0
    parent_5: float = 4.0
    anchor: float = 0.0
    host: float = 0.0
    middle_from: int = 0
    """Number of visits after which the weights of the middle phase apply; 0: never, there is only one phase."""
    middle_hub: float = 0.0
    middle_authority: float = 0.0
    middle_comm_in: float = 0.0
    middle_comm_out: float = 0.0
    middle_parent_1: float = 0.0
    middle_parent_2: float = 0.0
    middle_parent_3: float = 0.0
    middle_parent_4: float = 0.0
    middle_parent_5: float = 0.0
    middle_anchor: float = 0.0
    middle_host: float = 0.0
    late_from: int = 0
    """Number of visits after which those of the late phase apply; 0: never."""
    late_hub: float = 0.0
    late_authority: float = 0.0
    late_comm_in: float = 0.0
    late_comm_out: float = 0.0
    late_parent_1: float = 0.0
    late_parent_2: float = 0.0
    late_parent_3: float = 0.0
    late_parent_4: float = 0.0
    late_parent_5: float = 0.0
    late_anchor: float = 0.0
    late_host: float = 0.0

    def __post_init__(self) -> None:
        require_at_least(self, "evolved", **dict.fromkeys((field.name for field in dataclasses.fields(self)), 0))
        if self.late_from and not 0 < self.middle_from <= self.late_from:
            raise ConfigError(
                f"evolved.late_from is {self.late_from}, middle_from {self.middle_from}: the middle one must come first"
            )
        for phase, name in enumerate(PHASES):
            has_weights = any(getattr(self, each) for each in weight_names(phase))
            if phase < self.phases and not has_weights:
                where = "" if self.phases == 1 else f" of the {name} phase"
                raise ConfigError(f"evolved: all weights{where} are 0: at least one must be above 0")
            if phase >= self.phases and has_weights:
                raise ConfigError(f"evolved: there are weights for a {name} phase, but evolved.{name}_from is 0: never")

    @property
    def phases(self) -> int:
        return 1 + (self.middle_from > 0) + (self.late_from > 0)

    def weights(self, phase: int = 0) -> NDArray[np.float64]:
        """In the order of `WEIGHTS`; their sum is 1."""
        values = np.array([getattr(self, name) for name in weight_names(phase)], dtype=np.float64)
        return np.asarray(values / values.sum())

    def switches(self) -> list[int]:
        """Numbers of visits after which the second and the third phase start, if there are any."""
        return [self.middle_from, self.late_from][: self.phases - 1]


WEIGHTS = tuple(field.name for field in dataclasses.fields(EvolvedSettings))[:11]
PHASES = ("early", "middle", "late")


def weight_names(phase: int) -> list[str]:
    """The names of the weights of a phase in the settings."""
    return [f"{PHASES[phase]}_{name}" if phase else name for name in WEIGHTS]


GA2003: Mapping[str, float] = {name: getattr(EvolvedSettings(), name) for name in WEIGHTS[:9]}
"""The best individual of paper GA, table 1 (middle eastern dance, 10,000 pages)."""
HUB, AUTHORITY, COMM_IN, COMM_OUT, PARENT_1 = range(5)
ANCHOR, HOST = PARENT_1 + GENERATIONS, PARENT_1 + GENERATIONS + 1


def ordered_score(score: float) -> float:
    """A signed score as a number that can be compared: of several ancestors the one with the largest counts.

    Positive scores are unchanged. All others become smaller positive ones, ordered by magnitude; scaling by a power of
    two loses no bit. 0 is also the value of an ancestor that does not exist, and of scores too small to be told apart.
    """
    return score if score > LEAST_ABOVE else max(0.0, -score) * BELOW


def signed_score(judgement: Judgement) -> float:
    """What PARENT_k is made of: positive for pages of the topic."""
    if judgement.margin is None:
        return 2.0 * judgement.relevance - 1.0
    return min(max(judgement.margin, -MAX_MARGIN), MAX_MARGIN)


def is_of_community(judgement: Judgement) -> bool:
    return judgement.is_relevant if judgement.margin is None else judgement.margin > 0


class Evolved(Strategy):
    name = "evolved"

    def __init__(self, parts: StrategyParts, settings: EvolvedSettings) -> None:
        self._weights: list[float] = settings.weights().tolist()
        """Those of the current phase."""
        self._phases = [(switch, settings.weights(at + 1).tolist()) for at, switch in enumerate(settings.switches())]
        """The phases to come: the number of visits after which each starts, and its weights."""
        self._ever = np.max([self._weights, *(weights for _, weights in self._phases)], axis=0).tolist()
        """The largest of all phases, by weight: what any of them needs is counted from the start."""
        self._similarity = parts.similarity
        parents = self._ever[PARENT_1 : PARENT_1 + GENERATIONS]
        self._depth = max((k + 1 for k, weight in enumerate(parents) if weight), default=0)
        """Number of generations that are needed."""
        self._links = CitedLinks(self._depth)
        self._citations = Citations()
        self._seen = 0
        self._hosts: dict[str, int] = {}
        self._host_pages: list[int] = []
        self._host_relevant: list[int] = []
        self._due: list[NDArray[np.int64]] = []
        """Links ranked since the last `ask`: the frontier may have better scores for them."""
        self._due_limit = DUE
        self._note = b""

    @property
    def abilities(self) -> Abilities:
        snapshots = Snapshots(self._take, self._load)
        return Abilities(is_retold=True, note=lambda: self._note, again=self.again, snapshots=snapshots)

    def seed_score(self) -> float:
        return SEED_SCORE

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        page = visit.lease.id
        links, citations = self._links, self._citations
        links.reserve(max(page, int(targets.max()) if len(targets) else 0))
        judgement = _with_margin(visit)
        self._note = b"" if judgement is None or judgement.margin is None else NOTE.pack(judgement.margin)
        is_relevant = judgement is not None and is_of_community(judgement)
        if links.visit[page] >= 0:  # visited again: its links are counted already
            return self._scores(targets)
        self._seen += links.cited[page] == 0
        links.visit[page] = citations.visits
        self._seen += int(np.count_nonzero((links.cited[targets] == 0) & (links.visit[targets] < 0)))
        if is_relevant or visit.lease.distance == 0:
            self._welcome(page)
            links.by_community[targets] += 1
        citations.add(page, targets, links.latest)
        count = len(targets)
        links.cited[targets] += 1
        links.widest[targets] = np.maximum(links.widest[targets], count)
        links.siblings[targets] += count
        links.kin[targets] += np.count_nonzero(links.is_community[targets])
        if self._depth:
            links.ordered_score[0][page] = ordered_score(signed_score(judgement)) if judgement else 0.0
            self._hand_down(page, targets)
        if self._ever[ANCHOR]:
            self._hear_anchors(visit, targets)
        if self._ever[HOST]:
            self._keep_host_records(visit, targets, is_relevant)
        if self._enter_phase():
            self._rank(np.flatnonzero(links.cited))
        return self._rank(targets)

    def again(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:  # noqa: ARG002 - all visits are known
        return self._scores(targets)

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        self._settle(frontier)
        return super().ask(count, frontier, now)

    def reason(self, score: float) -> str:
        if score >= SEED_SCORE:
            return f"{self.name}: a seed, or what a seed redirects to"
        rank = score - 1 if score >= LEAST_SCORE else 2 * LEAST_SCORE - LEAST_SCORE**2 / max(score, BELOW) - 1
        return f"{self.name}: {rank:.3f} is its rank by the visited pages that link to it"

    def _enter_phase(self) -> bool:
        """Switch to the weights that apply after this visit. Returns whether they have changed."""
        is_new = False
        while self._phases and self._citations.visits >= self._phases[0][0]:
            self._weights = self._phases.pop(0)[1]
            is_new = True
        return is_new

    def _rank(self, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rank these links; the frontier is updated at the next `ask`."""
        scores = self._scores(targets)
        self._links.score[targets] = scores
        self._due.append(targets)
        if len(self._due) > self._due_limit:  # on resume, there are many visits without an `ask`
            self._due = [np.unique(np.concatenate(self._due))]
            self._due_limit = DUE + len(self._due[0]) // DUE
        return scores

    def _welcome(self, page: int) -> None:
        """Add a page to the community: every link on a page that cites it has one more sibling there."""
        links, citations = self._links, self._citations
        links.is_community[page] = True
        if self._ever[COMM_OUT] and (citing := citations.of(links.latest.item(page))):
            np.add.at(links.kin, citations.targets_of(links.visit[citing]), 1)

    def _hand_down(self, page: int, targets: NDArray[np.int64]) -> None:
        """Propagate the scores of ancestors, generation by generation, as far as they change anything."""
        links, citations = self._links, self._citations
        changed: NDArray[np.int64] = targets[:0]
        for generation in range(self._depth):
            own, below = links.ordered_score[generation], links.ordered_score[generation + 1]
            is_better = below[targets] < own[page]
            heard = targets[is_better]
            below[heard] = own[page]
            changed = changed[changed != page]
            visits = links.visit[changed]
            if len(visits) and citations.counts(visits).sum() <= MAX_SPREAD:
                children = citations.targets_of(visits)
                handed = np.repeat(own[changed], citations.counts(visits))
                is_better = below[children] < handed
                children = children[is_better]
                np.maximum.at(below, children, handed[is_better])
                heard = np.unique(np.concatenate([heard, children]))
            changed = heard[links.visit[heard] >= 0]

    def _scores(self, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """rank + 1, summed in the order of the weights, as in `lab.evolve.kernel`, which computes the same."""
        links, citations, weights = self._links, self._citations, self._weights
        if not citations.size or not len(targets):
            return np.ones(len(targets))
        links.reserve(int(targets.max()))
        mean_out, mean_in = citations.size / citations.visits, citations.size / self._seen
        cited = np.maximum(links.cited[targets], 1).astype(np.float64)
        ranks = weights[HUB] * (links.widest[targets] / mean_out)
        ranks += weights[AUTHORITY] * (links.cited[targets] / mean_in)
        ranks += weights[COMM_IN] * (links.by_community[targets] / cited)
        ranks += weights[COMM_OUT] * (links.kin[targets] / np.maximum(links.siblings[targets], 1))
        for generation in range(1, self._depth + 1):
            value = links.ordered_score[generation][targets].astype(np.float64)
            ranks += weights[PARENT_1 + generation - 1] * np.where(value > LEAST_ABOVE, value, -value / BELOW)
        if weights[ANCHOR]:
            ranks += weights[ANCHOR] * links.anchor[targets].astype(np.float64)
        if weights[HOST]:
            ranks += weights[HOST] * self._host_records(links.host[targets])
        return _link_scores(ranks)

    def _settle(self, frontier: Frontier) -> None:
        """Move waiting links whose rank has fallen down; the commit has moved up those whose rank has risen."""
        if not self._due:
            return
        links = np.unique(np.concatenate(self._due)) if len(self._due) > 1 else self._due[0]
        self._due.clear()
        self._due_limit = DUE
        before = frontier.scores(links)
        scores = self._links.score[links]
        has_news = (before < SEED_SCORE) & (scores.astype(np.float32) != before)
        if has_news.any():
            frontier.revise(links[has_news], scores[has_news])

    def _take(self) -> Tree:
        return {
            "links": self._links.take(),
            "citations": self._citations.take(),
            "seen": int(self._seen),
            "hosts": list(self._hosts),
            "host_pages": list(self._host_pages),
            "host_relevant": [int(count) for count in self._host_relevant],
            "due": taken_list(self._due),
            "due_limit": self._due_limit,
        }

    def _load(self, saved: Tree) -> None:
        self._links.load(saved["links"])
        self._citations.load(saved["citations"])
        self._seen = saved["seen"]
        self._hosts = {host: number for number, host in enumerate(saved["hosts"])}
        self._host_pages, self._host_relevant = saved["host_pages"], saved["host_relevant"]
        self._due, self._due_limit = loaded_list(saved["due"]), saved["due_limit"]
        self._enter_phase()

    def _hear_anchors(self, visit: Visit, targets: NDArray[np.int64]) -> None:
        assert visit.page is not None
        heard = np.fromiter((self._similarity(link.anchor) for link in visit.page.links), np.float32, len(targets))
        self._links.anchor[targets] = np.maximum(self._links.anchor[targets], heard)

    def _keep_host_records(self, visit: Visit, targets: NDArray[np.int64], is_relevant: bool) -> None:
        assert visit.page is not None
        own = self._host(visit.lease.url)
        self._host_pages[own] += 1
        self._host_relevant[own] += is_relevant
        self._links.host[targets] = [self._host(link.url) for link in visit.page.links]

    def _host(self, url: str) -> int:
        number = self._hosts.setdefault(url.split("/", 3)[2], len(self._hosts))
        if number == len(self._host_pages):
            self._host_pages.append(0)
            self._host_relevant.append(0)
        return number

    def _host_records(self, hosts: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.array([(self._host_relevant[host] + 1) / (self._host_pages[host] + 2) for host in hosts.tolist()])


def _link_scores(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """As `lab.evolve.kernel` computes them, to the bit."""
    above = ranks + 1.0
    with np.errstate(divide="ignore"):  # where `above` serves instead
        small = LEAST_SCORE * LEAST_SCORE / (2.0 * LEAST_SCORE - above)
    return np.minimum(np.where(above < LEAST_SCORE, small, above), MAX_SCORE)


def _with_margin(visit: Visit) -> Judgement | None:
    """The judgement, with its margin from the note of the visit if that is told again."""
    if visit.judgement is None or len(visit.note) != NOTE.size:
        return visit.judgement
    return dataclasses.replace(visit.judgement, margin=NOTE.unpack(visit.note)[0])


class Ga2003(Evolved):
    """The evolved rank with the paper's weights."""

    name = "ga2003"
