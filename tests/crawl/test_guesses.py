"""Home pages of hosts that proved relevant are tried though nobody links to them; rules hold for them as for links."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.crawl.reading import Reading, read_response
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.lab.worlds.writer import WorldWriter
from lycosa.model import Response
from lycosa.results.explain import explain
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

DEEP, FOLDER, HOME = "http://a.test/tours/2024/alps.html", "http://a.test/tours/2024/", "http://a.test/"
HIDDEN = "http://a.test/hidden.html"
OTHER = "http://b.test/soup/onion.html"
TOPIC = "recreational cycling"
CYCLING = "Recreational cycling on quiet roads. " * 3


@pytest.fixture
def web(html) -> dict[str, str]:
    """A page on the topic that links to nothing on its host, whose home page does; and one off the topic."""
    return {
        DEEP: html(OTHER, text=CYCLING + "Alps"),
        HOME: html(HIDDEN, text=CYCLING + "welcome"),
        HIDDEN: html(text=CYCLING + "hidden"),
        OTHER: html(text="onion soup and bread"),
        "http://b.test/": html("http://b.test/more.html", text="soups of the world"),
    }


def hunter(**settings) -> object:
    return strategy("hunter", StrategyParts(), {f"hunter.{name}": value for name, value in settings.items()})


def test_the_home_page_and_folders_of_a_relevant_page_are_tried(rig, web):
    crawl = rig(web)
    crawl.crawl(DEEP, strategy=hunter())
    assert set(crawl.asked) == {DEEP, FOLDER, "http://a.test/tours/", HOME, HIDDEN, OTHER}
    failed = crawl.sql("select url from frontier where state = 'failed' order by url")
    assert failed == [("http://a.test/tours/",), (FOLDER,)]


def test_nothing_is_tried_above_pages_off_the_topic_or_where_it_is_not_wanted(rig, web):
    crawl = rig(web)
    crawl.crawl(OTHER, strategy=hunter())
    assert crawl.asked == [OTHER]
    crawl = rig(web, name="another")
    crawl.crawl(DEEP, strategy=hunter(home_pages=False))
    assert crawl.asked == [DEEP, OTHER]


def test_a_url_that_is_known_is_not_tried_twice(rig, web, html):
    web[DEEP] = html(HOME, text=CYCLING)
    web[HIDDEN] = html(text=CYCLING)
    crawl = rig(web)
    crawl.crawl(DEEP, strategy=hunter())
    assert len(crawl.asked) == len(set(crawl.asked))
    assert crawl.sql("select parent_id, anchor from frontier where url = ?", HOME) == [(1, "link")]


def test_rules_hold_for_guesses(rig, web, html):
    crawl = rig(web)
    crawl.crawl(DEEP, strategy=hunter(), rules=UrlRules(exclude=("a.test/tours/*/",)))
    assert HOME in crawl.asked
    assert FOLDER not in crawl.asked
    assert crawl.sql("select count(*) from frontier where url = ?", FOLDER) == [(0,)]
    web[DEEP] = html(OTHER, text=CYCLING, head='<meta name="robots" content="nofollow">')
    crawl = rig(web, name="nofollow")
    crawl.crawl(DEEP, strategy=hunter())
    assert crawl.asked == [DEEP]


def test_it_says_why_such_a_page_was_tried(rig, web):
    crawl = rig(web)
    crawl.crawl(DEEP, strategy=hunter(), pages=1)
    facts = dict(explain(crawl.store, HOME, urls=crawl.urls, strategy=hunter()))
    assert facts["state"] == "waiting in the frontier"
    assert facts["found"] == f"on no page: home page of a host that proved relevant, by the URL of {DEEP}"
    assert facts["because"].startswith("linked from no page")
    assert len(facts["factors"].split(", ")) == 6
    facts = dict(explain(crawl.store, FOLDER, urls=crawl.urls, strategy=hunter()))
    assert facts["found"] == f"on no page: folder of a page that proved relevant, by the URL of {DEEP}"
    facts = dict(explain(crawl.store, OTHER, urls=crawl.urls, strategy=hunter()))
    assert facts["found"] == f"on {DEEP} with the anchor “link”"


@pytest.mark.parametrize("kill_at", [1, 3, 8])
def test_a_crawl_that_goes_on_after_a_stop_tries_the_same(rig, html, kill_at):
    web = {}
    for host in "abcdefgh":
        others = [f"http://{other}.test/d{n}/p{n}.html bike" for n, other in enumerate("abcdefgh") if other > host]
        for n in range(6):
            text = CYCLING if n % 2 else "soup"
            web[f"http://{host}.test/d{n}/p{n}.html"] = html(*others[:3], text=f"{text} {host} {n}")
        below = [f"http://{host}.test/d{n}/p{n}.html" for n in range(6)]
        web[f"http://{host}.test/"] = html(*below, text=f"home {host}")
    seeds = [f"http://a.test/d{n}/p{n}.html" for n in (1, 3)]
    whole = rig(web)
    whole.crawl(*seeds, strategy=hunter(), width=1, pages=30)
    parts = rig(web, name="parts")
    parts.crawl(*seeds, strategy=hunter(), width=1, pages=kill_at)
    parts.crawl(*seeds, strategy=hunter(), width=1, pages=30)
    assert parts.asked == whole.asked
    assert any(url.endswith(".test/") for url in whole.asked)


@pytest.fixture
def world(tmp_path, web) -> World:
    """A recording of that web, without the page off the topic."""
    reading = Reading(urls=Urls(UrlRules()), judge=KeywordJudge(TOPIC))
    with WorldWriter(tmp_path / "made.world") as writer:
        for url in (DEEP, HOME, HIDDEN):
            response = Response(url, 200, [("content-type", "text/html")], web[url].encode())
            page = read_response(response, reading).page
            assert page is not None
            writer.add_page(page)
        writer.finish({})
    return World.open(tmp_path / "made.world")


def test_a_replay_tries_the_same_and_only_a_guess_that_fails_costs_a_fetch(world):
    judged = JudgedWorld(world, KeywordJudge(TOPIC))
    with_them = replay(judged, hunter(), [0], pages=10)
    assert [world.url(page) for page in with_them.pages] == [DEEP, HOME, HIDDEN]
    assert with_them.missing == 3  # two folders, and the link that was not recorded
    assert with_them.missed_guesses == 2
    assert with_them.fetches[-1] - len(with_them.pages) in (0, 1, 2)
    assert with_them.distance == [0, 1, 2]
    without = replay(judged, hunter(home_pages=False), [0], pages=10)
    assert [world.url(page) for page in without.pages] == [DEEP]
    assert without.fetches == [1]


def test_on_a_web_without_navigation_more_is_found(tmp_path):
    plan = WebPlan(seed=4, pages=300, hosts=40, topics=3, out_degree=4, host_locality=0.95, navigation=0.0)
    web = GeneratedWeb(plan)
    build_generated(web, tmp_path / "made.world", is_rendered=True, readers=0)
    world = World.open(tmp_path / "made.world")
    judge = KeywordJudge(web.topic_keywords(0), threshold=0.1)
    seeds = web.seeds(0, 3, np.random.default_rng(1))
    judged = JudgedWorld(world, judge)
    with_them = replay(judged, hunter(), seeds, pages=1000)
    without = replay(judged, hunter(home_pages=False), seeds, pages=1000)
    assert len(with_them.pages) > len(without.pages)
    assert set(with_them.pages) > set(without.pages)
