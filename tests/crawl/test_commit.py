"""What a visit leaves behind in the store, in the frontier and on the hosts' records."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from lycosa.fetch.urls import UrlRules
from lycosa.fetch.warc_reader import Location, read
from lycosa.frontier.links import LinkState
from lycosa.model import Kind, Outcome

A, B, C, D = (f"http://a.test/{name}" for name in ("", "b", "c", "d"))
OTHER = "http://other.test/"
CYCLING = "Recreational cycling on quiet roads. " * 3
COOKING = "Soup needs salt, onions and time. " * 3
DEFERRED = Outcome(Kind.DEFERRED, "robots.txt first")


class TestRedirects:
    def test_the_target_is_a_link_of_its_own(self, rig, html, redirect):
        crawl = rig({A: html(f"{B} moved"), B: redirect(OTHER), OTHER: html()})
        crawl.crawl(A)
        assert crawl.asked == [A, B, OTHER]
        assert crawl.pages == [A, OTHER]
        source, target = crawl.row(B), crawl.row(OTHER)
        assert (source["state"], source["reason"], source["detail"]) == ("done", "http 301", OTHER)
        assert (target["parent_id"], target["redirects"], target["distance"]) == (source["id"], 1, 1)
        assert target["score"] == source["score"]

    def test_hops_are_counted_and_the_last_one_refused(self, rig, redirect):
        web = {f"http://a.test/{n}": redirect(f"http://a.test/{n + 1}") for n in range(9)}
        crawl = rig(web)
        crawl.crawl("http://a.test/0", max_redirects=3)
        assert crawl.asked == [f"http://a.test/{n}" for n in range(4)]
        last = crawl.row("http://a.test/4")
        assert (last["state"], last["reason"], last["redirects"]) == ("excluded", "too many redirects", 4)

    def test_a_loop_ends(self, rig, redirect):
        crawl = rig({A: redirect(B), B: redirect(A)})
        assert crawl.crawl(A).startswith("frontier empty")
        assert crawl.asked == [A, B]
        assert (crawl.state(A), crawl.state(B)) == ("done", "done")

    def test_a_redirect_to_itself_ends(self, rig, redirect):
        crawl = rig({A: redirect(A)})
        assert crawl.crawl(A).startswith("frontier empty")
        assert crawl.asked == [A]

    @pytest.mark.parametrize(
        ("target", "reason"),
        [("http://a.test/film.mp4", "file extension"), ("http://a.test/x/x/x/x/x", "repeating segments")],
    )
    def test_url_rules_hold_for_targets(self, rig, redirect, target, reason):
        crawl = rig({A: redirect(target)})
        crawl.crawl(A)
        assert crawl.asked == [A]
        assert (crawl.state(target), crawl.row(target)["reason"]) == ("excluded", reason)

    @pytest.mark.parametrize("target", ["file:///etc/passwd", "http://user:pass@a.test/", "javascript:alert(1)"])
    def test_a_target_that_is_no_web_address_is_only_noted(self, rig, redirect, target):
        crawl = rig({A: redirect(target)})
        crawl.crawl(A)
        assert crawl.asked == [A]
        assert crawl.sql("select url from frontier") == [(A,)]
        assert crawl.sql("select kind, detail from outcomes") == [("redirected", target)]

    def test_a_page_already_known_is_not_fetched_again(self, rig, html, redirect):
        crawl = rig({A: html(B, C), B: html(), C: redirect(B)})
        crawl.crawl(A, strategy="breadth-first")
        assert crawl.asked == [A, B, C]


class TestRetries:
    def test_a_passing_trouble_is_tried_again_later(self, rig, html, unavailable):
        crawl = rig({A: html(B, C), B: [unavailable(), unavailable(), html()], C: html()})
        crawl.crawl(A, strategy="breadth-first", max_tries=3)
        assert crawl.asked == [A, B, C, B, B]
        assert (crawl.state(B), crawl.row(B)["tries"]) == ("done", 3)
        assert crawl.sql("select reason from outcomes where link_id = 2 order by id") == [
            ("http 503",),
            ("http 503",),
            ("http 200",),
        ]

    def test_tries_have_a_limit(self, rig, html, unavailable):
        crawl = rig({A: html(B), B: unavailable()})
        crawl.crawl(A, max_tries=3)
        assert crawl.asked == [A, B, B, B]
        row = crawl.row(B)
        assert (row["state"], row["tries"], row["reason"]) == ("failed", 3, "http 503")

    def test_a_lasting_error_is_not_tried_again(self, rig):
        crawl = rig({})
        crawl.crawl(A, max_tries=3)
        assert crawl.asked == [A]
        assert (crawl.state(A), crawl.row(A)["tries"]) == ("failed", 1)

    def test_tries_are_counted_across_runs(self, rig, html, unavailable):
        crawl = rig({A: html(B), B: unavailable()})
        crawl.crawl(A, max_tries=3, seconds=1.5)
        row = crawl.row(B)
        assert (row["state"], row["tries"], row["reason"]) == ("waiting", 1, "http 503")
        crawl.crawl(max_tries=3)
        assert crawl.asked == [A, B, B, B]
        assert crawl.row(B)["tries"] == 3

    def test_untried_links_go_first(self, rig, html, unavailable):
        crawl = rig({A: html(B, C, text=CYCLING), B: [unavailable(), html()], C: html(D), D: html()})
        crawl.crawl(A)
        assert crawl.asked == [A, B, C, D, B]


class TestHosts:
    def test_too_many_failures_set_a_host_aside(self, rig, html, unavailable):
        crawl = rig({OTHER: html(A, B, C), A: unavailable(), B: unavailable(), C: unavailable()})
        crawl.crawl(OTHER, max_failures=3, max_tries=2)
        assert [url for url in crawl.asked if url != OTHER] == [A, B, C]
        ((name, failures, failed, aside),) = crawl.sql(
            "select name, failures, failed, set_aside from hosts where set_aside != ''"
        )
        assert (name, failures, failed) == ("a.test", 3, 3)
        assert aside == "3 failures in a row, the last: http 503"
        assert crawl.sql("select kind, message from events") == [("host set aside", f"a.test: {aside}")]
        assert [crawl.state(url) for url in (A, B, C)] == ["waiting"] * 3

    def test_a_host_set_aside_stays_aside_in_the_next_run(self, rig, html, unavailable):
        crawl = rig({OTHER: html(A, B), A: unavailable(), B: html()})
        crawl.crawl(OTHER, max_failures=1)
        assert B not in crawl.asked
        crawl.crawl(max_failures=1)
        assert B not in crawl.asked

    def test_a_host_set_aside_is_readmitted_where_the_rule_has_changed(self, rig, html, unavailable):
        crawl = rig({OTHER: html(A, B), A: unavailable(), B: html()})
        crawl.crawl(OTHER, max_failures=1)
        crawl.crawl(max_failures=2)
        assert B in crawl.asked
        told = crawl.sql("select message from events where kind = 'host readmitted'")
        assert told == [("a.test: tried again",)]

    def test_a_host_set_aside_for_its_failures_is_tried_again_after_a_while(self, rig, html, unavailable):
        crawl = rig({OTHER: html(A, B), A: unavailable(), B: html()})
        crawl.crawl(OTHER, max_failures=2, max_tries=9, readmit_after=1000.0)
        tried = crawl.asked.count(A)
        asyncio.run(crawl.clock.sleep(900))
        crawl.crawl(max_failures=2, max_tries=9, readmit_after=1000.0)
        assert crawl.asked.count(A) == tried
        asyncio.run(crawl.clock.sleep(200))
        crawl.crawl(max_failures=2, max_tries=9, readmit_after=1000.0)
        assert crawl.asked.count(A) == tried + 1  # one more failure sets it aside again
        assert "failures in a row" in crawl.sql("select set_aside from hosts where name = 'a.test'")[0][0]

    def test_a_host_is_readmitted_while_the_crawl_runs(self, rig, html, unavailable):
        web = {OTHER: html(A, *(f"{OTHER}{n}" for n in range(30))), A: [unavailable(), html()]}
        crawl = rig(web | {f"{OTHER}{n}": html() for n in range(30)})
        crawl.crawl(OTHER, max_failures=1, readmit_after=10.0, watch=lambda: crawl.ledger.readmit_hosts())
        assert crawl.asked.count(A) == 2
        assert crawl.state(A) == "done"

    def test_an_answer_ends_the_row_of_failures(self, rig, html, unavailable):
        pages = [f"http://a.test/{n}" for n in range(6)]
        web = {OTHER: html(*pages)}
        web |= {url: html() if n % 2 else unavailable() for n, url in enumerate(pages)}
        crawl = rig(web)
        crawl.crawl(OTHER, strategy="breadth-first", max_failures=2, max_tries=1)
        assert len(crawl.asked) == 7
        assert crawl.sql("select failures, failed, set_aside from hosts where name = 'a.test'") == [(0, 3, "")]

    def test_a_crawl_delay_is_kept(self, rig, html):
        crawl = rig({A: [DEFERRED, html(B)], B: html()})
        crawl.know_robots("http://a.test", "User-agent: *\nCrawl-delay: 7")
        crawl.crawl(A)
        assert crawl.times() == pytest.approx([0, 7, 14])
        assert crawl.sql("select crawl_delay from hosts") == [(7.0,)]

    def test_a_crawl_delay_over_the_cap_sets_the_host_aside(self, rig, html):
        crawl = rig({A: [DEFERRED, html()], OTHER: html()})
        crawl.know_robots("http://a.test", "User-agent: *\nCrawl-delay: 90")
        reason = crawl.crawl(A, OTHER, max_crawl_delay=60)
        assert sorted(crawl.asked) == [A, OTHER]
        assert reason.endswith("1 waiting links are on hosts that were set aside")
        ((aside,),) = crawl.sql("select set_aside from hosts where name = 'a.test'")
        assert aside == "crawl-delay of 90 s is over the cap of 60 s"

    def test_records_are_kept_by_host(self, rig, html):
        crawl = rig({A: html(B, C, text=CYCLING), B: html(text=CYCLING + "b"), C: html(text=COOKING)})
        crawl.crawl(A)
        assert crawl.sql("select name, pages, relevant, failed, links from hosts") == [("a.test", 3, 2, 0, 3)]

    def test_a_host_takes_on_no_more_links_than_it_may(self, rig, html):
        crawl = rig({A: html(B, C, D, OTHER), OTHER: html(f"{A}e"), B: html(), C: html()})
        crawl.crawl(A, strategy="breadth-first", max_links_per_host=3)
        assert sorted(crawl.asked) == sorted([A, B, C, OTHER])
        for url in (D, f"{A}e"):
            assert (crawl.state(url), crawl.row(url)["reason"]) == ("excluded", "host cap")


class TestDeferred:
    def test_a_deferred_link_waits_on_and_leaves_no_outcome(self, rig, html):
        crawl = rig({A: [DEFERRED, DEFERRED, html()]})
        crawl.crawl(A)
        assert crawl.asked == [A, A, A]
        assert crawl.row(A)["tries"] == 1
        assert crawl.sql("select kind from outcomes") == [("fetched",)]

    def test_unreachable_robots_count_against_the_host(self, rig):
        out_of_reach = Outcome(Kind.DEFERRED, "robots.txt unreachable", "http 500", 500, retry_after=300.0)
        crawl = rig({A: out_of_reach})
        reason = crawl.crawl(A, max_failures=4)
        assert "set aside" in reason
        assert crawl.times() == pytest.approx([0, 300, 600, 900])
        assert crawl.state(A) == "waiting"
        assert crawl.sql("select kind from outcomes") == []

    def test_news_of_robots_are_stored_with_the_visit(self, rig, html):
        crawl = rig({A: html()})
        crawl.know_robots("http://a.test", "User-agent: *\nCrawl-delay: 2\nSitemap: http://a.test/map.xml")
        crawl.crawl(A)
        ((origin, state, status, details),) = crawl.sql("select origin, state, status, details from robots")
        assert (origin, state, status) == ("http://a.test", "rules", 200)
        assert json.loads(details) == {"crawl_delay": 2.0, "sitemaps": ["http://a.test/map.xml"]}


class TestNofollow:
    def test_a_nofollow_link_sleeps(self, rig, html):
        crawl = rig({A: html(f"{B} ad rel=nofollow sponsored"), B: html()})
        crawl.crawl(A)
        assert crawl.asked == [A]
        assert (crawl.state(B), crawl.row(B)["reason"]) == ("excluded", "nofollow")

    def test_it_comes_to_life_when_found_elsewhere(self, rig, html):
        crawl = rig({A: html(f"{B} ad rel=nofollow", C), C: html(B, text=CYCLING), B: html()})
        crawl.crawl(A)
        assert crawl.asked == [A, C, B]
        row = crawl.row(B)
        assert (row["state"], row["tries"]) == ("done", 1)
        assert row["score"] == crawl.sql("select relevance from judgements where page_id = ?", crawl.row(C)["id"])[0][0]

    def test_it_comes_to_life_in_a_later_run(self, rig, html):
        crawl = rig({A: html(f"{B} ad rel=nofollow", C), C: html(B), B: html()})
        crawl.crawl(A, pages=1)
        assert crawl.state(B) == "excluded"
        crawl.crawl()
        assert crawl.asked == [A, C, B]

    def test_a_second_nofollow_does_not_wake_it(self, rig, html):
        crawl = rig({A: html(f"{B} ad rel=nofollow", C), C: html(f"{B} ad rel=nofollow"), B: html()})
        crawl.crawl(A)
        assert crawl.asked == [A, C]

    def test_a_page_may_ask_it_for_all_its_links(self, rig, html):
        crawl = rig({A: html(B, head='<meta name="robots" content="nofollow">'), B: html()})
        crawl.crawl(A)
        assert crawl.asked == [A]
        assert crawl.sql("select is_nofollow from pages") == [(1,)]

    def test_nofollow_can_be_overruled(self, rig, html):
        crawl = rig({A: html(f"{B} ad rel=nofollow"), B: html()})
        crawl.crawl(A, follow_nofollow=True)
        assert crawl.asked == [A, B]

    def test_a_seed_wakes_it(self, rig, html):
        crawl = rig({A: html(f"{B} ad rel=nofollow"), B: html()})
        crawl.crawl(A)
        crawl.crawl(B)
        assert crawl.asked == [A, B]

    def test_a_redirect_wakes_it(self, rig, html, redirect):
        crawl = rig({A: html(f"{B} ad rel=nofollow", C), C: redirect(B), B: html()})
        crawl.crawl(A)
        assert crawl.asked == [A, C, B]


class TestBuffer:
    """A full buffer drops the worst links; in memory and in the store alike."""

    def web(self, html):
        many = [f"http://h{n}.test/" for n in range(10)]
        return many, {A: html(*many, text=COOKING)} | {url: html() for url in many}

    def test_what_does_not_fit_is_dropped(self, rig, html):
        many, web = self.web(html)
        crawl = rig(web)
        crawl.crawl(A, buffer=4, width=1)
        assert crawl.asked == [A, *many[:4]]
        assert [crawl.state(url) for url in many[4:]] == ["dropped"] * 6
        assert crawl.row(many[9])["reason"] == "buffer full"

    def test_a_dropped_link_comes_back_when_found_again(self, rig, html):
        many, web = self.web(html)
        web[many[3]] = html(many[9], many[8], text=CYCLING)
        crawl = rig(web)
        crawl.crawl(A, buffer=4, width=1)
        assert crawl.asked == [A, *many[:4], many[8], many[9]]
        assert crawl.state(many[9]) == "done"

    def test_also_in_a_later_run(self, rig, html):
        many, web = self.web(html)
        web[many[3]] = html(many[9], text=CYCLING)
        crawl = rig(web)
        crawl.crawl(A, buffer=4, width=1, pages=2)
        crawl.crawl(buffer=4, width=1)
        assert crawl.asked == [A, *many[:4], many[9]]

    def test_store_and_frontier_agree_when_a_retry_finds_the_buffer_full(self, rig, html, unavailable):
        many, web = self.web(html)
        web[many[0]] = html(*(f"http://n{n}.test/" for n in range(4)), text=CYCLING)
        web[many[1]] = unavailable()
        crawl = rig(web)
        crawl.crawl(A, buffer=4, width=2, watch=self.stop_after(crawl, 3))
        assert crawl.asked == [A, many[0], many[1]]
        self.assert_agreement(crawl)
        assert crawl.state(many[1]) == "dropped"

    def test_store_and_frontier_agree_when_a_deferred_link_finds_it_full(self, rig, html):
        many, web = self.web(html)
        web[many[0]] = html(*(f"http://n{n}.test/" for n in range(4)), text=CYCLING)
        web[many[1]] = DEFERRED
        crawl = rig(web)
        crawl.crawl(A, buffer=4, width=2, watch=self.stop_after(crawl, 3))
        assert crawl.asked == [A, many[0], many[1]]
        self.assert_agreement(crawl)
        assert crawl.state(many[1]) == "dropped"

    def test_store_and_frontier_agree_when_the_buffer_shrinks_between_runs(self, rig, html):
        many, web = self.web(html)
        crawl = rig(web)
        crawl.crawl(A, pages=1)
        crawl.crawl(buffer=3, width=1)
        assert crawl.asked == [A, *many[:3]]
        self.assert_agreement(crawl)
        assert crawl.state(many[9]) == "dropped"

    @staticmethod
    def stop_after(crawl, count):
        return lambda: crawl.stop.request("enough") if len(crawl.asked) >= count else None

    @staticmethod
    def assert_agreement(crawl):
        stored = [number for (number,) in crawl.sql("select id from frontier where state = 'waiting' order by id")]
        assert crawl.frontier.waiting_links().tolist() == stored


class TestScores:
    def test_a_link_found_on_a_better_page_moves_up(self, rig, html):
        poor, rich = "http://poor.test/", "http://rich.test/"
        crawl = rig(
            {poor: html(f"{OTHER}first", f"{OTHER}second", text=COOKING), rich: html(f"{OTHER}second", text=CYCLING)}
        )
        crawl.crawl(poor, rich, width=1, pages=2)
        first, second = crawl.row(f"{OTHER}first"), crawl.row(f"{OTHER}second")
        assert first["score"] == 0.0
        assert second["score"] > 0.5
        assert crawl.frontier.score_of(second["id"]) == pytest.approx(second["score"])
        crawl.crawl(width=1)
        assert crawl.asked[2:] == [f"{OTHER}second", f"{OTHER}first"]

    def test_a_link_found_on_a_worse_page_stays_where_it_is(self, rig, html):
        poor, rich = "http://poor.test/", "http://rich.test/"
        crawl = rig({rich: html(OTHER, text=CYCLING), poor: html(OTHER, text=COOKING)})
        crawl.crawl(rich, poor, width=1, pages=2)
        assert crawl.row(OTHER)["score"] > 0.5
        assert crawl.frontier.score_of(crawl.row(OTHER)["id"]) > 0.5

    def test_a_fetched_link_keeps_the_score_it_was_fetched_with(self, rig, html):
        crawl = rig({A: html(B, text=COOKING), B: html(A, B, text=CYCLING)})
        crawl.crawl(A)
        assert crawl.row(B)["score"] == 0.0
        assert crawl.frontier.state_of(crawl.row(B)["id"]) is LinkState.GONE


class TestPages:
    def test_a_copy_names_the_first_of_its_kind(self, rig, html):
        text = "A long walk along the river, with many words, so that its fingerprint means something."
        crawl = rig({A: html(B, C), B: html(text=text), C: html(text=text)})
        crawl.crawl(A, strategy="breadth-first")
        assert dict(crawl.sql("select id, duplicate_of from pages")) == {1: None, 2: None, 3: 2}

    def test_also_across_runs(self, rig, html):
        text = "A long walk along the river, with many words, so that its fingerprint means something."
        crawl = rig({A: html(B, C, D), B: html(text=text), C: html(text=text), D: html(text=text)})
        for pages in (2, 3, 4):
            crawl.crawl(A, strategy="breadth-first", pages=pages)
        assert crawl.sql("select duplicate_of from pages order by number") == [(None,), (None,), (2,), (2,)]

    def test_pages_without_text_are_not_copies_of_each_other(self, rig):
        crawl = rig({A: '<a href="b"></a>', B: '<a href="c"></a>', C: ""})
        crawl.crawl(A)
        assert crawl.sql("select duplicate_of from pages") == [(None,)] * 3

    def test_a_page_its_judgement_and_its_links(self, rig, html):
        crawl = rig({A: html(f"{B} bicycles", f"{C} soup rel=nofollow", text=CYCLING, title="On bikes")})
        crawl.crawl(A)
        ((title, words, is_noindex, size),) = crawl.sql("select title, words, is_noindex, bytes from pages")
        assert (title, is_noindex) == ("On bikes", 0)
        assert words > 10
        assert size == len(crawl.web[A].encode())
        ((judge, relevance, is_relevant, terms),) = crawl.sql(
            "select judge, relevance, is_relevant, terms from judgements"
        )
        assert judge == "keywords"
        assert is_relevant
        assert relevance == pytest.approx(sum(json.loads(terms).values()))
        assert set(json.loads(terms)) == {"recreat", "cycl"}
        assert crawl.sql("select source_id, position, target_id, anchor, rel from links order by position") == [
            (1, 0, 2, "bicycles", ""),
            (1, 1, 3, "soup", "nofollow"),
        ]

    def test_urls_turned_away_are_written_down_with_the_rule(self, rig, html):
        crawl = rig({A: html("/film.mp4", "/secret/x", B)})
        crawl.crawl(A, rules=UrlRules(exclude=("*/secret/*",)))
        assert crawl.asked == [A, B]
        assert crawl.row("http://a.test/film.mp4")["reason"] == "file extension"
        assert crawl.row("http://a.test/secret/x")["reason"] == "excluded by pattern"
        assert crawl.sql("select count(*) from links") == [(1,)]

    def test_answers_are_archived_where_the_store_says(self, rig, html, unavailable):
        crawl = rig({A: html(B, text=CYCLING), B: unavailable()})
        crawl.crawl(A, with_archive=True, max_tries=1)
        ((file, offset),) = crawl.sql("select archive_file, archive_offset from pages")
        size = (crawl.directory / "archive" / file).stat().st_size
        stored = read(crawl.directory / "archive", Location(file, offset, size - offset))
        assert (stored.url, stored.body) == (A, crawl.web[A].encode())
        assert crawl.sql("select archive_file, archive_offset from outcomes where link_id = 2") == [("", -1)]
        position = json.loads(crawl.store.state("archive"))
        assert position == [file, size]

    def test_without_an_archive_pages_say_so(self, rig, html):
        crawl = rig({A: html()})
        crawl.crawl(A)
        assert crawl.sql("select archive_file, archive_offset from pages") == [("", -1)]

    def test_figures_go_on_in_the_next_run(self, rig, html):
        crawl = rig({A: html(B, C, text=CYCLING), B: html(text=CYCLING + "b"), C: html(text=COOKING)})
        crawl.crawl(A, pages=1)
        crawl.crawl(pages=3)
        assert (crawl.ledger.pages, crawl.ledger.relevant) == (3, 2)
        assert [relevant for _, relevant in crawl.ledger.state.recent] == [True, True, False]


class TestNumbers:
    def test_links_and_hosts_are_numbered_without_gaps(self, rig, html):
        crawl = rig({A: html(B, OTHER, "/x.mp4", f"{C} ad rel=nofollow"), OTHER: html("http://third.test/", A)})
        crawl.crawl(A, pages=1)
        crawl.crawl()
        assert np.diff([number for (number,) in crawl.sql("select id from frontier order by id")]).tolist() == [1] * 5
        assert [number for (number,) in crawl.sql("select id from hosts order by id")] == [1, 2, 3]

    def test_an_event_can_be_noted(self, rig):
        crawl = rig({})
        crawl.crawl(A)
        crawl.ledger.note("archive", "some bytes are missing")
        assert crawl.sql("select run_id, kind, message from events") == [(1, "archive", "some bytes are missing")]
