"""The loop with real parts on a web in a dictionary: what is fetched, when, how often, and what is stored."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from lycosa.errors import ArchiveError
from lycosa.stopping.figures import Figures
from lycosa.stopping.rules import StopRules
from lycosa.strategies.table import STRATEGIES

A, B, C, D = (f"http://a.test/{name}" for name in ("", "b", "c", "d"))
CYCLING = "Recreational cycling on quiet roads. " * 3
COOKING = "Soup needs salt, onions and time. " * 3


def ring(html, hosts: int, pages: int) -> dict[str, str]:
    """A connected web over several hosts: each page links to the next two and to the first page of the next host."""
    web = {}
    for host in range(hosts):
        for page in range(pages):
            links = [f"http://h{host}.test/{(page + step) % pages}" for step in (1, 2)]
            links.append(f"http://h{(host + 1) % hosts}.test/0")
            text = CYCLING if page % 2 else COOKING
            web[f"http://h{host}.test/{page}"] = html(*links, text=f"{text} Host {host}, page {page}.")
    return web


class TestReach:
    # shark and fish give up on pages too far from a relevant one
    @pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"shark", "fish"}))
    def test_every_reachable_page_is_fetched_once(self, rig, html, strategy):
        web = ring(html, hosts=5, pages=8)
        web["http://island.test/"] = html("http://h0.test/0")
        crawl = rig(web)
        reason = crawl.crawl("http://h0.test/0", strategy=strategy)
        found = [url for url in web if "island" not in url]
        guesses = [f"http://h{host}.test/" for host in range(5)] if strategy == "hunter" else []  # nothing is there
        assert sorted(crawl.asked) == sorted([*found, *guesses])
        assert sorted(crawl.pages) == sorted(found)
        assert reason == "frontier empty: every link found has been dealt with"

    def test_an_error_is_an_outcome_and_not_a_page(self, rig, html):
        crawl = rig({A: html("/nowhere")})
        crawl.crawl(A)
        assert crawl.pages == [A]
        assert crawl.state("http://a.test/nowhere") == "failed"
        assert crawl.sql("select kind, reason, status from outcomes order by id") == [
            ("fetched", "http 200", 200),
            ("http-error", "http 404", 404),
        ]

    def test_best_first_goes_where_the_topic_is(self, rig, html):
        good, bad = "http://good.test/", "http://bad.test/"
        web = {
            A: html(bad, good),
            good: html(*(f"http://good{n}.test/" for n in range(3)), text=CYCLING),
            bad: html(*(f"http://bad{n}.test/" for n in range(3)), text=COOKING),
        }
        web |= {f"http://{kind}{n}.test/": html() for kind in ("good", "bad") for n in range(3)}
        crawl = rig(web)
        crawl.crawl(A, width=1)
        assert crawl.asked[:3] == [A, bad, good]
        assert [url[7:10] for url in crawl.asked[3:]] == ["goo"] * 3 + ["bad"] * 3

    def test_breadth_first_keeps_to_the_order_of_discovery(self, rig, html):
        web = {A: html("http://b.test/", "http://c.test/"), "http://b.test/": html("http://d.test/", text=CYCLING)}
        crawl = rig(web)
        crawl.crawl(A, width=1, strategy="breadth-first")
        assert crawl.asked == [A, "http://b.test/", "http://c.test/", "http://d.test/"]

    def test_distances_count_from_the_nearest_seed_found_first(self, rig, html):
        crawl = rig({A: html(B), B: html(C)})
        crawl.crawl(A, strategy="breadth-first")
        assert [crawl.row(url)["distance"] for url in (A, B, C)] == [0, 1, 2]

    def test_a_fault_in_the_fetcher_costs_its_page_only(self, rig, html, caplog):
        crawl = rig({A: html(B, C), B: html(D), C: html()})
        fetch = crawl.fetcher.fetch

        async def falter(lease):
            if lease.url == B:
                raise RuntimeError("no luck")
            return await fetch(lease)

        crawl.fetcher.fetch = falter
        crawl.crawl(A)
        assert crawl.pages == [A, C]
        assert crawl.sql("select kind, reason, detail from outcomes where kind = 'unreadable'") == [
            ("unreadable", "fault", "RuntimeError: no luck")
        ]
        assert "no luck" in caplog.text

    def test_an_error_a_person_must_see_to_ends_the_crawl_and_loses_nothing(self, rig, html):
        crawl = rig({A: html(B, C), B: html(), C: html()})
        fetch = crawl.fetcher.fetch

        async def fill_the_disk(lease):
            if lease.url == B:
                raise ArchiveError("no space left")
            return await fetch(lease)

        crawl.fetcher.fetch = fill_the_disk
        with pytest.raises(ArchiveError, match="no space left"):
            crawl.crawl(A, strategy="breadth-first")
        assert crawl.pages == [A]
        assert (crawl.state(B), crawl.row(B)["tries"]) == ("waiting", 0)
        crawl.fetcher.fetch = fetch
        crawl.crawl(A, strategy="breadth-first")
        assert sorted(crawl.pages) == [A, B, C]


class TestPoliteness:
    def test_a_host_rests_between_requests(self, rig, html):
        crawl = rig(ring(html, hosts=3, pages=6))
        crawl.crawl("http://h0.test/0", delay=2.0)
        for host in range(3):
            times = crawl.times(f"http://h{host}.test/")
            assert len(times) == 6
            assert min(later - earlier for earlier, later in pairwise(times)) >= 2.0

    def test_hosts_of_one_address_rest_together(self, rig, html):
        crawl = rig(ring(html, hosts=3, pages=4))
        crawl.addresses.update({"h0.test": "192.0.2.1", "h1.test": "192.0.2.1", "h2.test": "192.0.2.2"})
        crawl.crawl(*(f"http://h{host}.test/0" for host in range(3)), delay=1.0)
        shared = sorted(crawl.times("http://h0.test/") + crawl.times("http://h1.test/"))
        # Before its first answer the crawl cannot know where a host is: the very first two may go together.
        assert min(later - earlier for earlier, later in pairwise(shared[1:])) >= 1.0
        assert crawl.sql("select address from addresses order by address") == [("192.0.2.1",), ("192.0.2.2",)]

    def test_a_host_that_asks_to_stay_away_is_left_alone(self, rig, html, unavailable):
        crawl = rig({A: html(B), B: [unavailable(retry_after=120.0), html()]})
        crawl.crawl(A)
        first, second, third = crawl.times()
        assert third - second >= 120.0
        assert second - first >= 1.0

    def test_failures_in_a_row_double_the_wait(self, rig, unavailable):
        crawl = rig({A: unavailable()})
        crawl.crawl(A, first_backoff=10.0, max_tries=4)
        waits = [later - earlier for earlier, later in pairwise(crawl.times())]
        assert [round(wait) for wait in waits] == [10, 20, 40]


class TestEnd:
    def test_the_budget_is_kept_to_the_page(self, rig, html):
        crawl = rig(ring(html, hosts=10, pages=5))
        reason = crawl.crawl("http://h0.test/0", pages=17, width=64)
        assert reason == "page budget: 17 of 17 pages fetched"
        assert len(crawl.pages) == 17
        assert crawl.sql("select stop_reason from runs") == [(reason,)]

    def test_a_spent_budget_fetches_nothing(self, rig, html):
        crawl = rig(ring(html, hosts=2, pages=5))
        crawl.crawl("http://h0.test/0", pages=3)
        before = len(crawl.asked)
        assert crawl.crawl(pages=3).startswith("page budget")
        assert len(crawl.asked) == before

    def test_errors_do_not_count_against_the_budget(self, rig, html):
        crawl = rig({A: html(*(f"/no/{n}" for n in range(5)), B), B: html()})
        crawl.crawl(A, pages=2)
        assert crawl.pages == [A, B]

    def test_time_runs_out(self, rig, html):
        crawl = rig(ring(html, hosts=1, pages=50))
        assert crawl.crawl("http://h0.test/0", seconds=10) == "time budget: 10 s used up"
        assert 9 <= len(crawl.pages) <= 11

    def test_somebody_asks_for_an_end(self, rig, html):
        crawl = rig(ring(html, hosts=3, pages=10))

        def watch():
            if len(crawl.asked) >= 6:
                crawl.stop.request("enough")

        assert crawl.crawl("http://h0.test/0", watch=watch) == "enough"
        assert sorted(crawl.pages) == sorted(crawl.asked), "what was under way is committed"

    def test_links_on_hosts_set_aside_are_told(self, rig, html, unavailable):
        crawl = rig({A: html(B, C), B: unavailable(), C: unavailable(), D: unavailable()})
        reason = crawl.crawl(A, max_failures=2, max_tries=9)
        assert reason == "nothing left to fetch: the 2 waiting links are on hosts that were set aside"


def chain(html, relevance: str) -> dict[str, str]:
    """Pages on hosts of their own, each linking to the next; R is relevant, - is not."""
    return {
        f"http://p{at}.test/": html(f"http://p{at + 1}.test/", text=f"{CYCLING if mark == 'R' else COOKING} Page {at}.")
        for at, mark in enumerate(relevance)
    }


class TestStopRules:
    @pytest.mark.parametrize(
        ("rules", "pages", "reason"),
        [
            (StopRules(relevant=3), 5, "enough found: 3 relevant pages, 3 were asked for"),
            (StopRules(irrelevant=4), 7, "irrelevant pages: 4 fetched, 4 allowed"),
            (
                StopRules(irrelevant_in_a_row=3),
                8,
                "irrelevant pages in a row: 3 since the last relevant one, 3 allowed",
            ),
            (
                StopRules(precision=0.3, window=4),
                6,
                "precision: 25.0% of the last 4 pages are relevant, 30.0% is required",
            ),
            (
                StopRules(community=0.1, community_size=2),
                2,
                "community closed: 1 of 2 links on 2 relevant pages lead to each other, more than 10%",
            ),
            (StopRules(relevant=4, irrelevant_in_a_row=2), 4, "irrelevant pages in a row: 2 since the last relevant"),
            (StopRules(relevant=3, irrelevant_in_a_row=3), 5, "enough found"),
        ],
        ids=lambda value: value.partition(":")[0] if isinstance(value, str) else "",
    )
    def test_each_ends_the_crawl_and_the_store_knows_why(self, rig, html, rules, pages, reason):
        crawl = rig(chain(html, "RR--R---RR----"))
        ending = crawl.crawl("http://p0.test/", stop=rules)
        assert ending.startswith(reason)
        assert len(crawl.pages) == pages
        assert crawl.sql("select stop_reason from runs") == [(ending,)]

    def test_bytes(self, rig, html):
        web = chain(html, "R" * 9)
        sizes = [len(body) for body in web.values()]
        crawl = rig(web)
        reason = crawl.crawl("http://p0.test/", bytes=sum(sizes[:3]) + 1)
        assert len(crawl.pages) == 4
        assert reason == f"byte budget: {sum(sizes[:4]):,} bytes downloaded, {sum(sizes[:3]) + 1:,} allowed"

    def test_best_score(self, rig, html):
        crawl = rig(chain(html, "RR----"))
        reason = crawl.crawl("http://p0.test/", stop=StopRules(best_score=0.05))
        assert len(crawl.pages) == 3
        assert reason == "best score: 0 is the best of 1 waiting links, 0.05 is required"

    def test_what_was_under_way_can_change_the_verdict(self, rig, html):
        hosts = [f"http://h{n}.test/" for n in range(6)]
        web = {A: html(*hosts, text=CYCLING)}
        web |= {url: html(text=f"{COOKING} {url}") for url in hosts[:3]}
        web |= {url: html(text=f"{CYCLING} {url}") for url in hosts[3:]}
        one_by_one, at_once = rig(web, name="narrow"), rig(web, name="wide")
        rules = StopRules(irrelevant_in_a_row=3)
        assert one_by_one.crawl(A, stop=rules, width=1).startswith("irrelevant pages in a row")
        assert at_once.crawl(A, stop=rules, width=6).startswith("frontier empty")
        assert len(one_by_one.pages) == 4
        assert len(at_once.pages) == 7

    def test_figures_go_on_after_a_resume(self, rig, html):
        web = chain(html, "RR--R---RR----")
        rules = StopRules(community=0.9, community_size=100, window=5)
        whole, parts = rig(web, name="whole"), rig(web, name="parts")
        for pages in range(1, 14):
            whole.crawl("http://p0.test/", pages=13, stop=rules)
            parts.crawl("http://p0.test/", pages=pages, stop=rules, is_killed=pages % 2 == 0)
        figures = whole.ledger.figures()
        assert parts.ledger.figures() == figures
        bodies = sum(len(body) for body in list(web.values())[:13])
        assert figures == Figures(
            pages=13, relevant=5, since_relevant=3, bytes=bodies, precision=2 / 5, links=5, inward=2
        )

    def test_a_rule_holds_over_runs(self, rig, html):
        crawl = rig(chain(html, "R-----R--"))
        crawl.crawl("http://p0.test/", pages=3)
        rules = StopRules(irrelevant_in_a_row=4)
        assert crawl.crawl(stop=rules).startswith("irrelevant pages in a row: 4")
        assert len(crawl.pages) == 5
        assert crawl.crawl(stop=rules).startswith("irrelevant pages in a row: 4"), "nothing has changed"
        assert len(crawl.pages) == 5
        assert crawl.crawl().startswith("frontier empty")

    def test_what_came_out_of_the_cache_was_not_downloaded(self, rig, html, monkeypatch):
        crawl = rig(chain(html, "R-R"))
        fetch = crawl.fetcher.fetch

        async def from_cache(lease):
            return dataclasses.replace(await fetch(lease), from_cache=True)

        monkeypatch.setattr(crawl.fetcher, "fetch", from_cache)
        crawl.crawl("http://p0.test/", pages=2)
        assert crawl.ledger.figures().bytes == 0
        monkeypatch.undo()
        crawl.crawl(pages=3)
        assert crawl.ledger.figures().bytes == len(crawl.web["http://p2.test/"])


class TestResume:
    def test_parts_make_the_same_whole(self, rig, html):
        web = ring(html, hosts=4, pages=9)
        whole = rig(web, name="whole")
        whole.crawl("http://h0.test/0")
        parts = rig(web, name="parts")
        for pages in (1, 2, 9, 10, 25, 1000):
            parts.crawl("http://h0.test/0", pages=pages)
        assert sorted(parts.asked) == sorted(whole.asked), "nothing twice, nothing left out"
        assert sorted(parts.pages) == sorted(whole.pages)
        numbers = [number for (number,) in parts.sql("select number from pages order by number")]
        assert numbers == list(range(1, len(web) + 1))
        assert len(parts.sql("select id from runs")) == 6

    def test_the_order_is_that_of_an_uninterrupted_crawl(self, rig, html):
        web = ring(html, hosts=4, pages=9)
        whole, parts = rig(web, name="whole"), rig(web, name="parts")
        whole.crawl("http://h0.test/0", width=1)
        for pages in range(1, len(web) + 1):
            parts.crawl("http://h0.test/0", width=1, pages=pages)
        assert parts.asked == whole.asked

    def test_clocks_outlive_the_process(self, rig, html):
        crawl = rig(ring(html, hosts=1, pages=3))
        crawl.crawl("http://h0.test/0", pages=1, delay=30.0)
        crawl.crawl(pages=3, delay=30.0)
        assert crawl.times() == pytest.approx([0, 30, 60])

    def test_after_a_kill_every_host_rests_in_full(self, rig, html):
        crawl = rig(ring(html, hosts=2, pages=4))
        crawl.addresses.update({"h0.test": "192.0.2.1", "h1.test": "192.0.2.2"})
        crawl.crawl("http://h0.test/0", pages=4, delay=30.0, is_killed=True)
        # Long enough that the clocks on record have run out.
        crawl.clock._now += 1000
        resumed_at = crawl.clock.now()
        count = len(crawl.asked)
        crawl.crawl(pages=100, delay=30.0)
        again = [at for _, at in crawl.fetcher.asked[count:]]
        assert min(again) >= resumed_at + 30.0
        assert len(crawl.pages) == 8

    def test_after_an_orderly_end_hosts_do_not_rest_again(self, rig, html):
        crawl = rig(ring(html, hosts=2, pages=4))
        crawl.crawl("http://h0.test/0", pages=4, delay=30.0)
        crawl.clock._now += 1000
        resumed_at = crawl.clock.now()
        count = len(crawl.asked)
        crawl.crawl(pages=100, delay=30.0)
        assert crawl.fetcher.asked[count][1] == resumed_at

    def test_seeds_given_again_are_not_fetched_again(self, rig, html):
        crawl = rig({A: html(B), B: html(), C: html()})
        crawl.crawl(A)
        crawl.crawl(A, C)
        assert crawl.asked == [A, B, C]

    def test_what_was_under_way_at_a_kill_waits_again(self, rig, html):
        crawl = rig(ring(html, hosts=3, pages=5))
        with pytest.raises(KeyboardInterrupt):
            crawl.crawl("http://h0.test/0", watch=interrupt_after(crawl, 5))
        committed = set(crawl.pages)
        asked_in_vain = [url for url in crawl.asked if url not in committed]
        crawl.crawl("http://h0.test/0")
        assert len(crawl.pages) == len(set(crawl.pages)) == 15
        assert all(crawl.asked.count(url) == 1 for url in committed)
        assert all(crawl.asked.count(url) == 2 for url in asked_in_vain)


def interrupt_after(crawl, count):
    def watch():
        if len(crawl.asked) >= count:
            raise KeyboardInterrupt

    return watch
