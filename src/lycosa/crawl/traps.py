"""Places that take fetches and bring nothing: recognised by what their pages have in common, and set aside.

Three sizes of places are watched: a directory of a host (its first path segment), a host, and a site, which is all
hosts of one registrable domain, since their owner can invent names without end. Of the latest pages of a place we keep,
as moving averages,

    copies    the share that had exactly the text of a page fetched before: soft 404s, session ids, empty calendars,
              mirrors; and of pages that say that their domain is parked
    novelty   the share of their links that nobody had seen before: menus make it small on a site made by people; where
              pages are invented as they are asked for it stays near 1
    thin      the share that had next to no text of their own: a calendar without events

and how many pages in a row were not relevant, or copies (`barren`). A place is a trap if almost all of its pages are
copies; if half of them are, or almost all are thin, and it has been barren for long; or if it has been barren for
longer and its links are still new. Before that, a host that may be endless loses its share of the crawl: it rests
longer with every page. A host whose pages hang or crash readers is set aside, too.

Each is said as an event, with the reason. A link that was a seed is fetched in any case. Replays have no traps.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from lycosa.fetch.registrable import registrable_domain
from lycosa.fetch.urls import host_key, origin
from lycosa.lib.bounds import require_above_zero, require_at_least, require_at_most
from lycosa.model import Fetched, Kind, Lease, Outcome
from lycosa.store.rows import TRAP

WINDOW = 100
"""Number of latest pages over which averages are taken."""
MOST_PLACES = 50_000
"""Number of places that are watched; beyond it, those with the fewest pages are forgotten."""
MOST_KEPT = 2_000
"""Number of places whose averages survive a restart."""
LEAST_REST = 0.05
"""Seconds, where the delay is shorter: what the growing rest of an endless host is a multiple of."""
REST_GROWS_EVERY = 20
"""Number of barren pages after which this rest is one delay longer."""
FEW_WORDS = 10
"""Number of words, without stop words, below which a page has next to no text."""
THIN = 0.9
"""Share of such pages that makes a place a trap if it is barren."""
SITE_FACTOR = 3
"""How many times as many reader deaths a site may have as a host."""
READER_DEATHS = ("reader killed", "reader crashed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapSettings:
    """When a directory, a host or a site is taken for a trap."""

    is_on: bool = True
    """Set traps aside. If not, what was set aside before is tried again."""
    least_pages: int = 50
    """Number of pages of a place before it can be taken for a trap."""
    copies: float = 0.9
    """Share of copies among its latest pages that makes a place a trap."""
    barren: int = 400
    """Number of pages in a row without a new relevant one after which a place is a trap if its links are still new; a
    quarter of it if half of its pages are copies, half of it if they have next to no text. A host loses its share of
    the crawl from a quarter of it on."""
    novelty: float = 0.7
    """Share of new links among those of its latest pages, from which a place may be endless."""
    reader_deaths: int = 3
    """Number of its pages that hang or crash a reader after which a host is set aside."""

    def __post_init__(self) -> None:
        require_at_least(self, "traps", least_pages=1, barren=4, reader_deaths=1)
        require_above_zero(self, "traps", "copies", "novelty")
        require_at_most(self, "traps", copies=1, novelty=1)


@dataclass(slots=True)
class Place:
    """What is known of the pages of a place."""

    pages: int = 0
    copies: float = 0.0
    novelty: float = 0.0
    barren: int = 0
    deaths: int = 0
    thin: float = 0.0

    def add(self, *, is_copy: bool, is_useful: bool, new_links: float, is_thin: bool) -> None:
        self.pages += 1
        weight = 1 / min(self.pages, WINDOW)
        self.copies += weight * (is_copy - self.copies)
        self.novelty += weight * (new_links - self.novelty)
        self.thin += weight * (is_thin - self.thin)
        self.barren = 0 if is_useful else self.barren + 1

    def why_a_trap(self, settings: TrapSettings, *, is_site: bool) -> str:
        """Why it is one; empty if it is not. The hosts of a site are many, and each may have an accident."""
        if self.deaths >= settings.reader_deaths * (SITE_FACTOR if is_site else 1):
            return f"{self.deaths} of its pages hung or crashed their reader"
        if self.pages < settings.least_pages:
            return ""
        if self.copies >= settings.copies:
            return f"{self.copies:.0%} of its latest pages are copies of pages fetched before"
        since = f"{self.barren:,} pages in a row without a new relevant one"
        if self.barren >= settings.barren / 4 and self.copies >= 0.5:
            return f"{since}, {self.copies:.0%} of the latest are copies"
        if self.barren >= settings.barren / 2 and self.thin >= THIN:
            return f"{since}, {self.thin:.0%} of the latest have next to no text of their own"
        if self.barren >= settings.barren and self.novelty >= settings.novelty:
            return f"{since}, and {self.novelty:.0%} of their links were never seen before: it may be endless"
        return ""


@dataclass(slots=True)
class Traps:
    """All places, by name: `host/directory`, `host`, `*.site`."""

    settings: TrapSettings = field(default_factory=TrapSettings)
    _places: dict[str, Place] = field(default_factory=dict)
    _sites: dict[str, str] = field(default_factory=dict)
    """Site of each host."""
    condemned: dict[str, str] = field(default_factory=dict)
    """Traps, with the reason."""
    is_changed: bool = False
    """A trap was found, or a reader died, since `save`."""

    def add_page(
        self, url: str, *, is_copy: bool, is_relevant: bool, new_links: float, words: int = FEW_WORDS
    ) -> list[str]:
        """A page was fetched; the places that are traps from now on. `new_links`: share of its links never seen."""
        if not self.settings.is_on:
            return []
        is_useful = is_relevant and not is_copy
        found = []
        for name in self._names(url):
            place = self._place(name)
            place.add(is_copy=is_copy, is_useful=is_useful, new_links=new_links, is_thin=words < FEW_WORDS)
            found += self._judged(name, place)
        return found

    def add_copy(self, url: str) -> list[str]:
        """A page was fetched that is the same wherever it is found; the places that are traps from now on."""
        return self.add_page(url, is_copy=True, is_relevant=False, new_links=0.0)

    def add_death(self, url: str) -> list[str]:
        """A page hung or crashed its reader; the places that are traps from now on."""
        if not self.settings.is_on:
            return []
        self.is_changed = True
        found = []
        for name in self._names(url)[1:]:  # a host is answerable for its directories
            place = self._place(name)
            place.deaths += 1
            found += self._judged(name, place)
        return found

    def extra_rest(self, host: str, delay: float) -> float:
        """Seconds for which a host rests longer than others, as it may be endless."""
        place = self._places.get(host)
        settings = self.settings
        if place is None or place.novelty < settings.novelty or place.barren < settings.barren / 4:
            return 0.0
        return max(delay, LEAST_REST) * (1 + (place.barren - settings.barren / 4) / REST_GROWS_EVERY)

    def why_not(self, url: str) -> str:
        """Why a URL is not fetched; empty if it is not in a trap."""
        if not self.condemned:
            return ""
        return next((f"{name}: {why}" for name in self._names(url) if (why := self.condemned.get(name))), "")

    def site(self, host: str) -> str:
        found = self._sites.get(host)
        if found is None:
            found = self._sites[host] = f"*.{registrable_domain(host)}"
        return found

    def save(self) -> bytes:
        self.is_changed = False
        largest = sorted(self._places.items(), key=lambda item: -item[1].pages - 100 * item[1].deaths)[:MOST_KEPT]
        kept = {name: [p.pages, p.copies, p.novelty, p.barren, p.deaths, p.thin] for name, p in largest}
        return json.dumps({"places": kept, "traps": self.condemned}).encode()

    @classmethod
    def restored(cls, kept: bytes | None, settings: TrapSettings) -> Traps:
        """What an earlier run saved; nothing, if that cannot be read or traps are not set aside any more."""
        traps = cls(settings)
        if not kept or not settings.is_on:
            return traps
        try:
            read = json.loads(kept)
            for name, (pages, copies, novelty, barren, deaths, *thin) in read["places"].items():
                place = Place(
                    int(pages), float(copies), float(novelty), int(barren), int(deaths), *map(float, thin[:1])
                )
                traps._places[str(name)] = place
            traps.condemned = {str(name): str(why) for name, why in read["traps"].items()}
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls(settings)
        return traps

    def _names(self, url: str) -> tuple[str, str, str]:
        """The directory, the host and the site of a canonical URL."""
        host = host_key(url)
        path = url[len(origin(url)) + 1 :].partition("?")[0]
        segment, slash, _ = path.partition("/")
        return f"{host}/{segment if slash else ''}", host, self.site(host)

    def _place(self, name: str) -> Place:
        place = self._places.get(name)
        if place is None:
            if len(self._places) >= MOST_PLACES:
                self._forget()
            place = self._places[name] = Place()
        return place

    def _forget(self) -> None:
        largest = sorted(self._places.items(), key=lambda item: -item[1].pages)[: MOST_PLACES // 2]
        self._places = dict(largest)
        self._sites.clear()

    def _judged(self, name: str, place: Place) -> list[str]:
        if name in self.condemned or not (why := place.why_a_trap(self.settings, is_site=name.startswith("*."))):
            return []
        self.condemned[name] = TRAP + why
        self.is_changed = True
        return [name]


def is_reader_death(outcome: Outcome) -> bool:
    """Whether the page hung or crashed the process that was to read it."""
    return outcome.kind is Kind.UNREADABLE and outcome.reason.startswith(READER_DEATHS)


def kept_out(traps: Traps, lease: Lease) -> Fetched | None:
    """The result of a visit that is not made, since it would lead into a trap; None if it does not."""
    if not lease.distance or not (why := traps.why_not(lease.url)):
        return None
    return Fetched(lease, Outcome(Kind.EXCLUDED, "trap", why[:300]))
