"""InfoSpiders: agents that crawl in parallel, learn and multiply (paper TC, sections 3.1.5 and 5, figure 10).

The agents take turns. Each picks a link λ of its own list with probability ∝ e^{β·μ(λ)}, and with the page behind it:

    energy  += sim(agent's keywords, page)
    learning   the net takes one step towards that similarity, from its inputs for the link
    links      μ = α · sim(agent's keywords, page) + (1 − α) · net(words near the link); a full list drops the worst
    moving     to the new page with probability 1 / (1 + e^{−δ/T}), where δ is the gain in similarity over its own page
    offspring  at an energy above θ, while there are fewer than `agents`: both start again from energy 0, each with half
               of the list and half of its size; the child gets the most frequent term of its parent's page as another
               keyword, and its parent's net with an input for it

All lists together hold no more links than the frontier's buffer, and only their own agents drop links from them: the
buffer is spared what is on a list. Without evolution there is one agent; without learning the nets keep their initial,
equal weights.

Differs from TC: the distance between a keyword and a link is measured in words of the link's context, not in links over
the whole page, whose text may not be available (`page_words`). A link that is dropped from its agent's list and is on
no other remains in the frontier, behind all others, until it is found again or the buffer drops it; so does one that
failed. If no agent has a link whose host is ready, the agent whose turn it is takes the frontier's best; its net learns
nothing from that link. Seeds and targets of redirects join the list of one agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.frontier.links import LinkState
from lycosa.lib.bounds import require_above_zero, require_at_least, require_at_most
from lycosa.model import Visit
from lycosa.strategies.papers.page_words import PageWords
from lycosa.strategies.papers.spider import PageSeen, Spider, sigmoid
from lycosa.strategies.protocol import Abilities, Strategy, StrategyParts
from lycosa.strategies.saved_state import rng_state, seal, unseal

DISMISSED = -1_000.0
"""Added to the score of a link that is on no list."""
VARIANTS: Mapping[tuple[bool, bool], str] = {
    (True, True): "infospiders",
    (False, True): "infospiders-no-learning",
    (True, False): "infospiders-no-evolution",
    (False, False): "infospiders-neither",
}
"""Names by (is_learning, is_evolving)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoSpidersSettings:
    parent_share: float = 0.5
    """α: share of the page's similarity in a score; the rest is the net's prediction for the link."""
    greediness: float = 5.0
    """β: the larger, the more often the best links are picked; at 0 all are equally likely."""
    learning_rate: float = 0.5
    first_weight: float = 1.0
    """Initial weight of each keyword in a net."""
    temperature: float = 0.1
    """T: the larger, the more often an agent moves to a page that is less similar than its own."""
    threshold: float = 2.0
    """θ: the energy above which an agent has offspring."""
    agents: int = 8
    """Maximum number of agents."""
    links: int = 2_048
    """Maximum number of links on all lists together, if the frontier has no buffer."""
    is_learning: bool = True
    is_evolving: bool = True

    def __post_init__(self) -> None:
        require_at_least(self, "infospiders", parent_share=0, greediness=0, learning_rate=0, agents=1, links=1)
        require_above_zero(self, "infospiders", "temperature", "threshold")
        require_at_most(self, "infospiders", parent_share=1)


@dataclass(frozen=True, slots=True)
class Errand:
    """A leased link: the number of its agent, and the inputs of the net, if there were any."""

    spider: int
    score: float
    inputs: NDArray[np.float32] | None


class InfoSpiders(Strategy):
    def __init__(self, parts: StrategyParts, settings: InfoSpidersSettings) -> None:
        self.name = VARIANTS[settings.is_learning, settings.is_evolving]
        self._settings = settings
        self._rng = parts.rng
        self._words_of = parts.words_of
        keywords = {word: float(count) for word, count in parts.keywords.items()}
        weights = np.full(len(keywords) + 1, settings.first_weight)
        weights[-1] = 0.0
        self._spiders = [Spider(keywords, parts.buffer or settings.links, weights)]
        self._turn = 0
        self._errands: dict[int, Errand] = {}
        self._joined: list[NDArray[np.int64]] = []
        """Links that may have joined a list since the last `ask`."""

    @property
    def abilities(self) -> Abilities:
        return Abilities(needs_whole_pages=True, uses_judgement=False)

    # Picking links.

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        leased: list[int] = []
        if count <= 0:
            return leased
        self._put_in_order(frontier)
        while len(leased) < count and (link := self._pick(frontier, now)) is not None:
            leased.append(link)
        return leased

    def _pick(self, frontier: Frontier, now: float) -> int | None:
        count = len(self._spiders)
        for number in (*range(self._turn, count), *range(self._turn)):
            spider = self._spiders[number]
            row = self._draw(spider, frontier, now)
            if row is not None:
                link = int(spider.links[row])
                self._errands[link] = Errand(number, float(spider.scores[row]), spider.inputs[link])
                spider.remove(row)
                self._turn = (number + 1) % count
                return link
        best = frontier.lease(now)
        if best is not None:
            self._errands[best] = Errand(self._turn, -1.0, None)
            self._turn = (self._turn + 1) % count
        return best

    def _draw(self, spider: Spider, frontier: Frontier, now: float) -> int | None:
        """Lease a link of the list, drawn with probability ∝ e^{β·score} from those whose hosts are ready; its row.

        The largest of β·score plus Gumbel noise is a draw with these probabilities, the next one a draw from the rest.
        """
        if not len(spider.links):
            return None
        lots = self._settings.greediness * spider.scores + self._rng.gumbel(size=len(spider.links))
        best = int(lots.argmax())
        if frontier.take(int(spider.links[best]), now):
            return best
        for row in np.argsort(-lots).tolist():
            if frontier.take(int(spider.links[row]), now):
                return int(row)
        return None

    def _put_in_order(self, frontier: Frontier) -> None:
        """Remove links that are no longer waiting, and the worst of lists that are too long; adopt orphans."""
        heir = self._take_back(frontier)
        held = self._held()
        is_kept = frontier.is_waiting(held)
        is_kept[is_kept] = ~frontier.is_tried(held[is_kept])  # it may have failed, and then been found again
        if np.count_nonzero(is_kept) < len(is_kept):
            self._forget(is_kept)
        dropped = [spider.trim() for spider in self._spiders if len(spider.links) > spider.size]
        if dropped:
            self._dismiss(np.concatenate(dropped), frontier)
        if heir is None and not any(len(spider.links) for spider in self._spiders):
            heir = self._spiders[0]
        if heir is not None:
            self._adopt(heir, frontier)
        if self._joined:
            joined = np.unique(np.concatenate(self._joined))
            frontier.spare(joined[self._is_held(joined)])
            self._joined.clear()

    def _forget(self, is_kept: NDArray[np.bool_]) -> None:
        """Remove links from the lists; `is_kept` has a value for each of `_held`."""
        end = 0
        for spider in self._spiders:
            start, end = end, end + len(spider.links)
            kept = is_kept[start:end]
            if np.count_nonzero(kept) < len(kept):
                spider.keep(kept)

    def _take_back(self, frontier: Frontier) -> Spider | None:
        """Deal with links that were leased but whose visits were not told.

        Those that are waiting again return to their agent's list (`_put_in_order` removes the ones that failed). One
        that is gone may have been a redirect: its agent, which is returned, has to adopt the target.
        """
        heir = None
        for link, errand in list(self._errands.items()):
            state = frontier.state_of(link)
            if state is LinkState.LEASED:
                continue
            del self._errands[link]
            spider = self._spiders[errand.spider]
            if state is not LinkState.WAITING:
                heir = spider
            elif errand.inputs is not None:
                spider.add(np.array([link]), np.array([errand.score]), errand.inputs[None, :])
                self._joined.append(np.array([link]))
        return heir

    def _dismiss(self, links: NDArray[np.int64], frontier: Frontier) -> None:
        """Move links that were dropped from a list, and are on no other, behind all others."""
        links = links[~self._is_held(links)]
        frontier.spare(links, is_spared=False)
        scores = frontier.scores(links).astype(np.float64)
        is_new = (scores >= 0) & ~frontier.is_tried(links)  # neither dismissed before nor failed
        frontier.revise(links[is_new], scores[is_new] + DISMISSED)

    def _adopt(self, spider: Spider, frontier: Frontier) -> None:
        """Add the waiting links that are on no list to this agent's: seeds, targets of redirects."""
        links = frontier.waiting_links()
        scores = frontier.scores(links).astype(np.float64)
        is_orphan = (scores >= 0) & ~frontier.is_tried(links) & ~self._is_held(links)
        links, scores = links[is_orphan], scores[is_orphan]
        inputs = np.zeros((len(links), len(spider.weights)), dtype=np.float32)
        inputs[:, -1] = 1.0
        spider.add(links, scores, inputs)
        self._joined.append(links)
        if len(spider.links) > spider.size:
            self._dismiss(spider.trim(), frontier)

    def _held(self) -> NDArray[np.int64]:
        """The links of all lists, concatenated."""
        return np.concatenate([spider.links for spider in self._spiders])

    def _is_held(self, links: NDArray[np.int64]) -> NDArray[np.bool_]:
        held = np.sort(self._held())
        if not len(held):
            return np.zeros(len(links), dtype=np.bool_)
        is_held: NDArray[np.bool_] = held.take(held.searchsorted(links), mode="clip") == links
        return is_held

    # Learning from pages.

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        errand = self._errands.pop(visit.lease.id, None) or Errand(self._turn, 0.0, None)
        page, settings = visit.page, self._settings
        if page is None:
            return np.full(len(targets), np.nan)
        spider = self._spiders[errand.spider]
        words = self._words_of(page)
        similarity = spider.similarity(words.terms, words.norm)
        spider.energy += similarity
        if settings.is_learning and errand.inputs is not None:
            spider.learn(errand.inputs, similarity, settings.learning_rate)
        inputs = words.evidence(spider.keywords)
        share = settings.parent_share
        scores = share * similarity + (1.0 - share) * spider.predict(inputs)
        spider.add(targets, scores, inputs)
        self._joined.append(targets)
        self._move(spider, words, similarity)
        has_energy = spider.energy > settings.threshold and spider.size > 1
        if settings.is_evolving and has_energy and len(self._spiders) < settings.agents:
            self._spiders.append(spider.child(self._rng, settings.first_weight))
        return scores

    def _move(self, spider: Spider, words: PageWords, similarity: float) -> None:
        place = spider.place
        if place is not None:
            gain = similarity - spider.similarity(place.terms, place.norm)
            if self._rng.random() >= sigmoid(gain / self._settings.temperature):
                return
        spider.place = PageSeen.of(words, spider.keywords)

    def reason(self, score: float) -> str:
        if score <= DISMISSED / 2:
            return f"{self.name}: no agent has it on its list; its score was {score - DISMISSED:.3f}"
        return f"{self.name}: {score:.3f} is the highest score given by an agent that found it"

    def save(self) -> bytes:
        head: dict[str, Any] = {"rng": rng_state(self._rng), "turn": self._turn}
        head["spiders"] = [
            (s.keywords, s.size, s.weights.tolist(), s.energy, s.place and (s.place.terms, s.place.norm))
            for s in self._spiders
        ]
        head["errands"] = [
            (link, e.spider, e.score, None if e.inputs is None else e.inputs.tolist())
            for link, e in self._errands.items()
        ]
        columns = [column for s in self._spiders for column in (s.links, s.scores, s.all_inputs())]
        return seal(self.name, head, *columns)

    def restore(self, state: bytes) -> None:
        if not state:
            return
        head, columns = unseal(self.name, state)
        self._rng.bit_generator.state = head["rng"]
        self._turn = head["turn"]
        self._spiders = []
        for number, (keywords, size, weights, energy, place) in enumerate(head["spiders"]):
            spider = Spider(keywords, size, np.array(weights), energy, PageSeen(*place) if place else None)
            spider.links, spider.scores, inputs = columns[3 * number : 3 * number + 3]
            spider.inputs = dict(zip(spider.links.tolist(), inputs, strict=True))
            self._spiders.append(spider)
        self._joined = [self._held()]
        self._errands = {
            link: Errand(spider, score, None if inputs is None else np.array(inputs, dtype=np.float32))
            for link, spider, score, inputs in head["errands"]
        }
