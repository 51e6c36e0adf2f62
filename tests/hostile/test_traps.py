"""Sites without end and without content: mazes, soft 404s, session ids, calendars, wildcard subdomains."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from conftest import Answer, Rig
from lycosa.crawl.traps import Traps, TrapSettings
from lycosa.fetch.registrable import registrable_domain
from lycosa.fetch.urls import host_key
from lycosa.frontier.frontier import Frontier
from lycosa.model import Kind, Outcome
from lycosa.stopping.forecaster import Forecaster

WORDS = [f"word{number}" for number in range(2000)]
FAIR_HOSTS = 6
FAIR_PAGES = 30


class EndlessWeb(dict[str, Answer]):
    """Fair hosts with menus, some of whose pages are relevant; other URLs are answered by `invent`."""

    def __init__(
        self, invent: Callable[[str], str], *, fair_hosts: int = FAIR_HOSTS, fair_pages: int = FAIR_PAGES
    ) -> None:
        super().__init__()
        self._invent = invent
        menu = "".join(f'<a href="/{page}">{page}</a> ' for page in range(8))
        for host in range(fair_hosts):
            for page in range(fair_pages):
                more = "".join(f'<a href="/{(page * 3 + step) % fair_pages}">more</a>' for step in range(3))
                topic = "recreational cycling" if page % 5 == 0 else "gardening"
                text = " ".join(random.Random(host * 100_000 + page).choices(WORDS, k=60))
                out = (
                    f'<a href="http://fair-{(host + 1) % fair_hosts}.test/0">next</a><a href="http://trap.test/">x</a>'
                )
                self[f"http://fair-{host}.test/{page}"] = f"<title>{page}</title><p>{topic} {text}</p>{menu}{more}{out}"

    def get(self, url: str, default: Answer = "") -> Answer:  # type: ignore[override]
        found = super().get(url)
        if found is not None or host_key(url).startswith("fair-"):
            return found or Outcome(Kind.HTTP_ERROR, "http 404", status=404)
        return self._invent(url)


def babble(url: str, links: str) -> str:
    text = " ".join(random.Random(url).choices(WORDS, k=80))
    return f"<title>{text[:20]}</title><p>{text}</p>{links}"


def maze(url: str) -> str:
    """Unique pages, each with ten links to pages that nobody has seen."""
    some = random.Random(url)
    return babble(
        url, "".join(f'<a href="/{some.getrandbits(40):x}/{some.getrandbits(40):x}">on</a>' for _ in range(10))
    )


def wildcard(url: str) -> str:
    """The same, on a host of its own each."""
    some = random.Random(url)
    return babble(url, "".join(f'<a href="http://{some.getrandbits(40):x}.trap.test/">on</a>' for _ in range(10)))


def soft_404(url: str) -> str:
    """Always the same words; the links differ."""
    some = random.Random(url)
    links = "".join(f'<a href="/{some.getrandbits(40):x}">a</a>' for _ in range(5))
    return f"<title>Oops</title><p>{' '.join(WORDS[:50])}</p>{links}"


def sessions(url: str) -> str:
    """Twenty pages, each under a new URL whenever it is linked to."""
    some = random.Random(url)
    name = url.partition("page")[2][:1] or "0"
    links = "".join(f'<a href="/page{number}?sid={some.getrandbits(60):x}">a</a>' for number in range(9))
    text = " ".join(random.Random(name).choices(WORDS, k=60))
    return f"<title>Page {name}</title><p>recreational cycling {text}</p>{links}"


def calendar(url: str) -> str:
    """A day after the other; on two of three, nothing happens."""
    day = int(url.rpartition("/")[2] or 0)
    links = f'<a href="/calendar/{day + 1}">next</a><a href="/calendar/{day + 7}">week</a>'
    if day % 3 == 0:
        return babble(url, links)
    return f"<title>Calendar</title><p>{' '.join(WORDS[:60])}</p>{links}"


def mirror(url: str) -> str:
    """What stands on the first fair hosts, under other names."""
    page = int(url.rpartition("/")[2] or 0)
    host, number = divmod(page, FAIR_PAGES)
    links = "".join(f'<a href="/{page + step}">on</a>' for step in range(1, 4))
    topic = "recreational cycling" if number % 5 == 0 else "gardening"
    text = " ".join(random.Random(host % FAIR_HOSTS * 100_000 + number).choices(WORDS, k=60))
    return f"<title>{number}</title><p>{topic} {text}</p>{links}"


def parked(url: str) -> str:
    """For sale, with links to what one might look for instead."""
    some = random.Random(url)
    links = "".join(f'<a href="/search?q={some.getrandbits(40):x}">cycling</a>' for _ in range(5))
    return f"<title>trap.test</title><p>The domain trap.test is for sale. {' '.join(WORDS[:9])}</p>{links}"


def fetched(made: Rig) -> Counter[str]:
    return Counter("fair" if host_key(url).startswith("fair-") else "trap" for url in made.pages)


def events(made: Rig) -> list[str]:
    return [message for (message,) in made.sql("select message from events where kind = 'trap'")]


@pytest.mark.parametrize(
    ("strategy", "invent", "most"),
    [
        ("breadth-first", maze, 460),
        ("best-first", maze, 460),
        ("breadth-first", wildcard, 460),
        ("breadth-first", soft_404, 70),
        ("breadth-first", calendar, 160),
        ("breadth-first", mirror, 130),
    ],
)
def test_a_trap_beside_fair_hosts_is_set_aside_and_they_lose_nothing(rig, invent, most, strategy):
    made = rig(EndlessWeb(invent))
    made.crawl("http://fair-0.test/0", "http://trap.test/", strategy=strategy, pages=3000, width=16, delay=0.1)
    counts = fetched(made)
    assert counts["fair"] == FAIR_HOSTS * FAIR_PAGES
    assert counts["trap"] <= most
    assert len(events(made)) >= 1
    assert "set aside" in events(made)[0]


@pytest.mark.parametrize("invent", [soft_404, sessions, calendar])
def test_copies_are_said_and_set_aside_where_nothing_else_is_crawled(rig, invent):
    made = rig(EndlessWeb(invent, fair_hosts=0))
    made.crawl("http://trap.test/", strategy="breadth-first", pages=3000, width=4)
    assert len(made.pages) <= 250
    assert "copies" in events(made)[0]


def dated(url: str) -> str:
    """A calendar whose days differ by their date alone, and link to days that others link to."""
    number = int(url.rpartition("/")[2] or 0)
    links = "".join(f'<a href="/{number + step}">x</a>' for step in (1, 7, 31))
    return f"<title>Calendar</title><p>day {number * 7919}</p>{links}"


def test_a_calendar_of_days_that_are_all_different_has_an_end(rig):
    made = rig(EndlessWeb(dated, fair_hosts=0))
    made.crawl("http://trap.test/", strategy="breadth-first", pages=3000, width=4)
    assert len(made.pages) <= 250
    assert "next to no text" in events(made)[0]


def test_thin_pages_survive_a_restart():
    traps = Traps()
    for number in range(150):
        assert not traps.add_page(f"http://a.test/{number}", is_copy=False, is_relevant=False, new_links=0.3, words=3)
    again = Traps.restored(traps.save(), TrapSettings())
    found = [
        again.add_page(f"http://a.test/b{n}", is_copy=False, is_relevant=False, new_links=0.3, words=3)
        for n in range(60)
    ]
    assert any(found)


def test_what_was_found_out_survives_a_restart(rig):
    made = rig(EndlessWeb(wildcard))
    made.crawl("http://fair-0.test/0", "http://trap.test/", strategy="breadth-first", pages=3000, width=16, delay=0.1)
    before = fetched(made)
    made.crawl("http://fair-0.test/0", strategy="breadth-first", pages=4000, width=16, delay=0.1)
    assert fetched(made) == before
    states = made.sql("select state, count(*) from frontier where reason = 'trap' group by 1")
    assert all(state == "excluded" for state, _ in states)


def test_whoever_wants_a_trap_gets_it(rig):
    made = rig(EndlessWeb(soft_404, fair_hosts=0))
    made.crawl("http://trap.test/", strategy="breadth-first", pages=300)
    assert len(made.pages) < 100
    made.crawl(strategy="breadth-first", pages=300, traps=TrapSettings(is_on=False))
    assert len(made.pages) == 300


def test_a_site_with_menus_is_no_trap_however_barren():
    traps = Traps()
    for number in range(5000):
        new = 0.3 + 0.2 * (number % 2)
        assert not traps.add_page(f"http://a.test/{number}/", is_copy=False, is_relevant=False, new_links=new)
    assert not traps.extra_rest("a.test", 1.0)


def test_nor_is_one_that_keeps_bringing_something():
    traps = Traps()
    for number in range(5000):
        is_relevant = number % 90 == 1
        assert not traps.add_page(
            f"http://a.test/x/{number}", is_copy=number % 2 == 0, is_relevant=is_relevant, new_links=1
        )


def test_before_it_is_set_aside_it_loses_its_share():
    traps = Traps()
    rests = []
    for number in range(399):
        traps.add_page(f"http://a.test/{number}/", is_copy=False, is_relevant=False, new_links=0.95)
        rests.append(traps.extra_rest("a.test", 1.0))
    assert rests[50] == 0.0
    assert 0 < rests[150] < rests[300]


class TestReaderDeaths:
    HANGS = Outcome(Kind.UNREADABLE, "reader killed after 10 s")

    def test_a_host_whose_pages_hang_readers_is_set_aside(self, rig, html):
        web = {f"http://a.test/{number}": self.HANGS for number in range(10)}
        web["http://a.test/"] = html(*web)
        made = rig(web)
        made.crawl("http://a.test/")
        assert len(made.asked) == 4
        assert made.sql("select set_aside from hosts") == [("trap: 3 of its pages hung or crashed their reader",)]

    def test_so_is_a_site_that_does_it_under_ever_new_names(self, rig, html):
        web = {f"http://{number}.evil.test/": self.HANGS for number in range(40)}
        web["http://a.test/"] = html(*web)
        made = rig(web)
        made.crawl("http://a.test/", width=1)
        assert len(made.asked) == 1 + 9

    def test_others_are_not(self, rig, html):
        web = {f"http://a.test/{number}": Outcome(Kind.UNREADABLE, "reader fault") for number in range(10)}
        web["http://a.test/"] = html(*web)
        made = rig(web)
        made.crawl("http://a.test/")
        assert len(made.asked) == 11


class TestWaitingLinks:
    def test_a_host_keeps_its_best_links(self):
        frontier = Frontier(host_buffer=5)
        links = np.arange(1, 21)
        dropped = frontier.push_many(links, np.ones(20, np.int64), links / 20)
        assert sorted(dropped) == list(range(1, 16))
        assert frontier.push(21, 1, 0.001) == [21]
        assert frontier.push(22, 2, 0.001) == []
        assert frontier.waiting == 6
        assert [frontier.lease(0.0) for _ in range(2)] == [20, 22]

    def test_also_on_resume(self):
        frontier = Frontier(host_buffer=5, buffer=6)
        links = np.arange(1, 31)
        dropped = frontier.load(links, np.where(links <= 20, 1, 2), links / 30)
        assert sorted(dropped) == [*range(1, 16), *range(16, 20), *range(21, 26)]
        assert frontier.waiting == 6

    def test_a_forecast_does_not_count_what_a_trap_offers(self):
        frontier = Frontier()
        links = np.arange(1, 101)
        frontier.push_many(links, np.where(links <= 90, 1, 2), links / 100)
        frontier.set_aside(1)
        assert frontier.reachable == len(frontier.reachable_links()) == 10
        frontier.set_aside(2)
        forecaster = Forecaster(None, frontier, visits=lambda: 100, recent=lambda: [True] * 100, pages=1000)
        assert forecaster() is None


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.example.co.uk:8080", "example.co.uk"),
        ("example.org", "example.org"),
        ("me.github.io", "me.github.io"),
        ("127.0.0.2:80", "127.0.0.2"),
        ("[::1]:80", "[::1]:80"),
        ("localhost", "localhost"),
    ],
)
def test_registrable_domains(host, domain):
    assert registrable_domain(host) == domain


def test_a_parked_domain_brings_neither_pages_nor_links(rig):
    made = rig(EndlessWeb(parked))
    made.crawl("http://fair-0.test/0", "http://trap.test/", strategy="breadth-first", pages=3000, width=16, delay=0.1)
    assert fetched(made) == {"fair": FAIR_HOSTS * FAIR_PAGES}
    ((kind, reason, detail),) = made.sql("select distinct kind, reason, detail from outcomes where reason like 'park%'")
    assert (kind, reason) == ("skipped", "parked domain")
    assert detail == "domain trap.test is for sale"


def test_a_host_with_many_such_pages_is_set_aside(rig):
    urls = [f"http://trap.test/{number}" for number in range(200)]
    index = "".join(f'<a href="{url}">a</a>' for url in urls)
    made = rig({"http://a.test/": f"<p>recreational cycling</p>{index}", **{url: parked(url) for url in urls}})
    made.crawl("http://a.test/", strategy="breadth-first", pages=3000, width=1, delay=0.1)
    assert made.sql("select count(*) from outcomes where reason = 'parked domain'") == [(50,)]
    assert "copies" in events(made)[0]
