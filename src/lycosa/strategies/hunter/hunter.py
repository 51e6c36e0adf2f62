"""The hunter: scores every waiting link by all available evidence, and learns while it crawls.

    visit ── note ──▶ study (relevance of the page) ──▶ evidence (features of links) ──▶ learner ──▶ scores

A score is the predicted relevance of the page behind a link. The relevance of a visited page is decided by a `Study`
that learns the topic during the crawl, if the topic's judge can start one, otherwise by the crawl's own judge.

If few links are waiting, all are scored again every few visits (`_review`). If there are many, this would cost too
much, so there are three levels:

    at each visit     the links on the page, and the waiting neighbours of its own citations are scored
    every 30 visits   so are the front, the links that come next, and the next slice of all links
    at a review       judge, sums and weights are recomputed, mean and spread are taken from a sample, and every link is
                      scored by its stored features. The longer the crawl, the rarer are reviews.

A new score is passed on to the frontier only if the link is, or was, near enough to the front to matter; others wait
for a review.

Everything is determined by the visits and their notes (`notes`), so a crawl that is told them again makes the same
choices. A note also lists the links handed out since the last one, so those that never became pages are known. A page
that is a near-duplicate of an earlier one counts as irrelevant for the links that lead to it.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.judges.protocol import Study
from lycosa.lib.bounds import require_at_least
from lycosa.lib.near_duplicates import NearDuplicates
from lycosa.lib.snapshot import Snapshots, Tree, loaded_list, taken_list
from lycosa.model import Link, Visit
from lycosa.stopping.forecast import History, Waiting
from lycosa.strategies.hunter.evidence import Evidence
from lycosa.strategies.hunter.fixed_relevance import FixedRelevance
from lycosa.strategies.hunter.guesses import urls_above
from lycosa.strategies.hunter.learner import Learner
from lycosa.strategies.hunter.notes import MOST_GONE, Digest, LinkAddresses, Note, digest, digest_part
from lycosa.strategies.hunter.predictions import Predictions
from lycosa.strategies.hunter.tables import FEATURES, GROUPS, HUB_RATE
from lycosa.strategies.protocol import Abilities, Strategy, StrategyParts
from lycosa.strategies.saved_state import seal, unseal

Floats = NDArray[np.float32]
Links = NDArray[np.int64]

SEED_SCORE = 2.0
"""Seeds come first: predictions are below 1."""
SEARCH_SCORE = 1.25
"""Then what search engines name, whatever links to it are worth."""
ALL = 6_000
"""Maximum number of waiting links for which a review recomputes the features of all."""
SAMPLE = 2_048
"""Number of links sampled when there are more than that."""
LOOKED_AT = 5_000
"""Number of best links whose features are then recomputed as well; at least a twentieth of all."""
FRONT = 700
"""Number of links that are scored every `FRONT_EVERY` visits."""
FRONT_EVERY = 30
TOLERANCE = 0.05
"""Relative change of a score between reviews up to which it is not passed on to the frontier."""
TOLD = 1_500
"""Minimum number of best links whose latest scores the frontier has."""
PROVED = 0.5
"""Minimum relevance by the study of a page for which the URLs above it are tried."""
MOST_SAVED = 256
SWEEPS = 1
"""Number of times all links are scored, slice by slice, while the length of the crawl doubles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HunterSettings:
    """Which evidence it uses: all of it is best, the rest is for experiments."""

    freedom: float = 0.15
    """How far weights may deviate from the built-in ones, in log-odds per unit of z; 0: not at all."""
    has_pages: bool = True
    """Whether it uses the citing pages, and the other pages these link to."""
    has_text: bool = True
    """Whether it uses the words near links."""
    has_urls: bool = True
    has_places: bool = True
    """Whether it uses the records of hosts and folders."""
    home_pages: bool = True
    """Whether it tries the home page of a host that has a relevant page, and the folders above that page, if nobody
    links to them."""
    diversity: float = 0.0
    """0: as many relevant pages as possible. 1: as many sites; scores on a host with n relevant pages are divided by
    1 + n. In between: both."""

    def __post_init__(self) -> None:
        require_at_least(self, "hunter", freedom=0, diversity=0)

    @property
    def mask(self) -> Floats:
        """1 for each feature that is used, otherwise 0."""
        wanted = {"pages": self.has_pages, "text": self.has_text, "urls": self.has_urls, "places": self.has_places}
        return np.array([wanted[group] for group in GROUPS], dtype=np.float32)


class Hunter(Strategy):
    name = "hunter"

    def __init__(self, parts: StrategyParts, settings: HunterSettings) -> None:
        self.study: Study = parts.study() if parts.study else FixedRelevance(parts.keywords)
        self._digest = partial(digest, vector=self.study.vector, meaning=self.study.meaning)
        self._threshold = parts.threshold if parts.study else None
        """Minimum relevance of a relevant page by the study; None: the crawl's judge decides."""
        self._evidence = Evidence(self.study.idf_of_table)
        self._settings = settings
        self._learner = Learner(settings.freedom, settings.mask, settings.diversity)
        self._note: Note | None = None
        self._above: list[str] = []
        """URLs above the page visited last; none if it is not relevant."""
        self._guessed: dict[str, int] = {}
        """Links that were adopted, by URL."""
        self._handed_out: list[int] = []
        self._texts = NearDuplicates()
        self._is_new_text = array("b")
        self._predictions = Predictions()
        self._tried = 0
        self._next_review = 1
        self._front: Links = np.zeros(0, dtype=np.int64)
        self._newcomers: list[Links] = []
        self._bar = 0.0
        """Scores from this value are passed on to the frontier."""
        self._swept = 0
        self._due: list[Links] = []

    @property
    def abilities(self) -> Abilities:
        return Abilities(
            digest=self._digest,
            digest_part=digest_part,
            studies_topic=True,
            is_retold=True,
            restores_scores=True,
            note=lambda: self._note.to_bytes() if self._note else b"",
            again=self.again,
            revisit=self.revisit,
            factors=self.factors,
            answer=self.answer,
            forecasting=self,
            snapshots=Snapshots(self._take, self._load) if self.study.snapshots else None,
            guessing=self if self._settings.home_pages else None,
        )

    def seed_score(self) -> float:
        return SEED_SCORE

    def search_score(self) -> float:
        return SEARCH_SCORE

    def tell(self, visit: Visit, targets: Links) -> NDArray[np.float64]:
        page = visit.page
        assert page is not None, "only visits to pages are told"
        evidence, link = self._evidence, visit.lease.id
        evidence.place(link, visit.lease.url)
        evidence.reserve(targets)
        self._note = None
        if evidence.links.page[link] <= 0:  # nothing is learned from a page visited again
            if visit.note:
                kept = Note.from_bytes(visit.note, len(targets))
                addresses = LinkAddresses.of([found.url for found in page.links])
            else:
                taken = Digest.from_bytes(page.digest or self._digest(page))
                kept = Note(
                    taken.words, taken.counts, taken.near, self._gone(), page.fingerprint, meaning=taken.meaning
                )
                addresses = taken.addresses
                self._note = kept
            self._learn(visit, kept, targets, addresses)
            for number, url in zip(kept.guesses, urls_above(visit.lease.url), strict=False):
                if number:
                    self.adopt(url, number)
        return evidence.tell(targets)

    # URLs nobody links to (`protocol.Guessing`).

    def guesses(self, visit: Visit) -> Sequence[str]:
        is_relevant = visit.judgement is not None and visit.judgement.is_relevant
        if self._threshold is not None:
            page = int(self._evidence.links.page[visit.lease.id])
            is_relevant = float(self._evidence.pages.relevance[page]) >= PROVED
        is_first_visit = self._note is not None
        self._above = urls_above(visit.lease.url) if is_relevant and is_first_visit else []
        return self._above

    def adopt(self, url: str, link: int) -> float:
        evidence, chosen = self._evidence, np.array([link], dtype=np.int64)
        evidence.guess(link, url)
        self._guessed[url] = link
        self._score(chosen)
        if self._note is not None:
            numbers = self._note.guesses or (0,) * len(self._above)
            adopted = (link if each == url else number for number, each in zip(numbers, self._above, strict=True))
            self._note = self._note._replace(guesses=tuple(adopted))
        return float(evidence.tell(chosen)[0])

    def _gone(self) -> Links:
        """Links handed out that are in no note yet."""
        gone = np.array(self._handed_out[:MOST_GONE], dtype=np.int64)
        del self._handed_out[:MOST_GONE]
        return gone

    def _learn(self, visit: Visit, kept: Note, targets: Links, addresses: LinkAddresses) -> None:
        evidence, link = self._evidence, visit.lease.id
        is_cited = bool(evidence.links.cited[link])
        is_expected = is_cited and visit.lease.distance > 0
        expected = self._expected(link) if is_expected else np.nan
        relevance = self.study.add(
            (kept.words, kept.counts),
            host=int(evidence.links.host[link]),
            is_seed=visit.lease.distance == 0,
            relevance=visit.judgement.relevance if visit.judgement else 0.0,
            meaning=kept.meaning,
        )
        is_new_text = self._texts.add(kept.fingerprint)
        self._is_new_text.append(is_new_text)
        met = evidence.highest
        dirty, z_scores, tried = evidence.visit(
            link,
            relevance * is_new_text,
            targets,
            kept.near,
            addresses,
            gone=kept.gone,
            model=self._learner.model,
        )
        self._tried += tried
        self._learner.add(z_scores if is_cited else None)
        self._predictions.add(
            expected=expected,
            is_relevant=visit.judgement is not None and visit.judgement.is_relevant,
            met=met,
            tried=self._tried,
        )
        if evidence.count % FRONT_EVERY == 0:
            front = evidence.waiting_of(np.concatenate([self._front, *self._newcomers]))
            self._front = _best(front, evidence.links.score[front], FRONT)[0]
            self._newcomers.clear()
            dirty = np.unique(np.concatenate([dirty, self._front, self._slice()]))
        self._score(dirty)
        if evidence.count >= self._next_review:
            self._review()

    def _slice(self) -> Links:
        """The next slice of all links; none if there are so few that reviews score all."""
        evidence = self._evidence
        size = FRONT_EVERY * SWEEPS * evidence.highest // evidence.count
        if evidence.highest < ALL:
            return np.zeros(0, dtype=np.int64)
        begin = self._swept
        self._swept = begin + size if begin + size < evidence.highest else 0
        return evidence.waiting(begin, begin + size)

    def _score(self, chosen: Links) -> None:
        above, changed = self._evidence.score(chosen, self._learner.model, self._bar, TOLERANCE)
        self._newcomers.append(above)
        self._hand_on(changed)

    def _hand_on(self, changed: Links) -> None:
        """Pass the scores of these links on to the frontier at the next `ask`."""
        if len(changed):
            self._due.append(changed)
            if len(self._due) > FRONT:  # on resume, there are many visits without an `ask`
                self._due = [np.unique(np.concatenate(self._due))]

    def answer(self, answers: Mapping[int, bool | None]) -> None:
        """A person has said which of these visited pages are relevant. Links are scored by it at once."""
        for link, is_relevant in answers.items():
            self.study.answer(int(self._evidence.links.page[link]) - 1, is_relevant)
        self._review()

    def _review(self) -> None:
        """Recompute judge, sums and weights, and score every waiting link by them."""
        evidence, learner, count = self._evidence, self._learner, self._evidence.count
        interval = review_interval(count)
        self._next_review = count + interval
        self.study.learn()
        relevance = self.study.relevance * np.array(self._is_new_text, dtype=np.float32)
        evidence.restate(relevance, self.study.weights)
        waiting = evidence.waiting(0, evidence.highest)
        self._newcomers.clear()
        if not len(waiting):
            return
        is_small = len(waiting) <= ALL
        sample = waiting if is_small else waiting[count % 7 :: len(waiting) // SAMPLE]
        features = evidence.features(sample)
        evidence.keep(sample, features)
        learner.measure(features[~evidence.is_guess(sample)])
        learner.learn(relevance, evidence.leads_on())
        scores = evidence.score_again(waiting, learner.model)
        if not is_small:
            best = _best(waiting, scores, max(LOOKED_AT, len(waiting) // 20))[0]
            evidence.score(best, learner.model, np.inf, 0.0)
            scores = evidence.links.score[best]
            best, self._bar = _best(best, scores, max(TOLD, 4 * interval))
            self._front = _best(best, evidence.links.score[best], FRONT)[0]
        self._hand_on(evidence.hand_on(waiting, self._bar))

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        if self._due:
            self._settle(frontier)
        leased = super().ask(count, frontier, now)
        self._handed_out += leased
        return leased

    def _settle(self, frontier: Frontier) -> None:
        """Give waiting links their new scores; those returned by `tell` can only move links up."""
        chosen = self._due[0] if len(self._due) == 1 else np.unique(np.concatenate(self._due))
        self._due.clear()
        before = frontier.scores(chosen)
        scores = self._evidence.links.told[chosen]
        has_news = (before < SEARCH_SCORE) & (scores != before)  # NaN if it is not waiting
        if has_news.any():
            frontier.revise(chosen[has_news], scores[has_news].astype(np.float64))

    def save(self) -> bytes:
        """What is not in the notes yet; the rest follows from the visits told again."""
        return seal(self.name, {}, np.array(self._handed_out[-MOST_SAVED:], dtype=np.int64))

    def restore(self, state: bytes) -> None:
        if state:
            _, columns = unseal(self.name, state)
            if len(columns) != 1:
                raise ValueError(f"{self.name}: the saved state has {len(columns)} columns, not 1")
            self._handed_out = columns[0].tolist()

    def _take(self) -> Tree:
        assert self.study.snapshots is not None
        return {
            "study": self.study.snapshots.take(),
            "evidence": self._evidence.take(),
            "learner": self._learner.take(),
            "texts": self._texts.take(),
            "is_new_text": np.array(self._is_new_text, dtype=np.bool_),
            "predictions": self._predictions.take(),
            "handed_out": list(self._handed_out),
            "guessed": list(self._guessed.items()),
            "counts": [self._tried, self._next_review, self._swept],
            "bar": self._bar,
            "front": self._front.copy(),
            "newcomers": taken_list(self._newcomers),
            "due": taken_list(self._due),
        }

    def _load(self, saved: Tree) -> None:
        assert self.study.snapshots is not None
        self.study.snapshots.load(saved["study"])
        self._evidence.load(saved["evidence"])
        self._learner.load(saved["learner"])
        self._texts.load(saved["texts"])
        self._is_new_text = array("b", saved["is_new_text"].astype(np.int8).tobytes())
        self._predictions.load(saved["predictions"])
        self._handed_out, self._guessed = saved["handed_out"], dict(saved["guessed"])
        self._tried, self._next_review, self._swept = saved["counts"]
        self._bar, self._front = saved["bar"], saved["front"].copy()
        self._newcomers, self._due = loaded_list(saved["newcomers"]), loaded_list(saved["due"])

    @property
    def bytes_in_use(self) -> int:
        """Size of its tables of links, citations and pages, as far as they are filled."""
        return self._evidence.bytes_in_use

    def look(self, chosen: Links) -> Floats:
        """The scores that these links would get now; nothing is changed."""
        worth = self._learner.predict(self._evidence.features(chosen)) * self._evidence.found_share(chosen)
        if self._settings.diversity:
            worth /= (1 + self._evidence.hosts.relevance[self._evidence.links.host[chosen]]) ** self._settings.diversity
        return worth

    # Predictions (`forecast.Forecasting`).

    def _expected(self, link: int) -> float:
        """The predicted relevance for which a link was chosen; with diversity, the current one."""
        links = self._evidence.links
        if not self._settings.diversity:
            return float(links.told[link])
        return float(self._learner.predict(self._evidence.kept(link)[None])[0])

    def history(self) -> History:
        is_relevant = None if self._threshold is None else self.study.recent_verdicts() >= self._threshold
        return self._predictions.history(self._evidence, is_relevant)

    def waiting(self, frontier: Frontier) -> Waiting:
        evidence, chosen = self._evidence, frontier.reachable_links()
        evidence.reserve(chosen)
        chosen = chosen[evidence.links.cited[chosen] > 0]
        expected = self._learner.predict(evidence.kept(chosen)) * evidence.found_share(chosen)
        return self._predictions.waiting(evidence, chosen, expected)

    # Rescoring and explanations.

    def again(self, visit: Visit, targets: Links) -> NDArray[np.float64]:  # noqa: ARG002 - all pages count together
        self._evidence.reserve(targets)
        links = self._evidence.links
        return np.where(links.cited[targets] > 0, links.told[targets].astype(np.float64), np.nan)

    def revisit(self, visit: Visit, targets: Links) -> NDArray[np.float64]:  # noqa: ARG002 - nothing is learned from it
        """Links that no page told so far has are worth what any link is."""
        evidence = self._evidence
        scores = np.full(len(targets), float(evidence.rates[HUB_RATE]))
        is_met = targets < evidence.highest
        is_met[is_met] = evidence.links.cited[targets[is_met]] > 0
        scores[is_met] = evidence.links.told[targets[is_met]]
        return scores

    def factors(self, visit: Visit, link: Link) -> Mapping[str, float]:
        """The contribution of each feature to the log-odds of relevance, relative to the waiting links."""
        assert visit.page is not None, "only pages have links"
        number = self._guessed.get(link.url)
        if link in visit.page.links:
            number = self._evidence.target(visit.lease.id, visit.page.links.index(link))
        if number is None:
            return {}
        parts = self._learner.parts(self._evidence.features(np.array([number], dtype=np.int64)))[0]
        return dict(zip(FEATURES, parts.tolist(), strict=True))

    def reason(self, score: float) -> str:
        if score >= SEED_SCORE:
            return f"{self.name}: {score:.3f}, a seed, before all links that were found"
        if score >= SEARCH_SCORE:
            return f"{self.name}: {score:.3f}, named by a search engine, before all links that were found"
        what = "predicted relevance" + (", reduced for its host's other pages" if self._settings.diversity else "")
        return f"{self.name}: {score:.3f} is its {what}, by all pages that link to it"


def review_interval(count: int) -> int:
    """Visits until the next review."""
    if count < 15:
        return 1
    if count < 30:
        return 2
    if count < 150:
        return 5
    return max(10, min(count // 16, 200 + count // 40))


def _best(links: Links, scores: Floats, count: int) -> tuple[Links, float]:
    """The `count` best links, in ascending order, and the score of the worst of them; 0 if these are all links."""
    if count >= len(links):
        return links, 0.0
    at = np.argpartition(-scores, count - 1)[:count]
    return np.sort(links[at]), float(scores[at].min())
