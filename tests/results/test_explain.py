"""Every URL can say what became of it."""

from __future__ import annotations

import pytest

from lycosa.errors import InputError
from lycosa.fetch.urls import UrlRules
from lycosa.model import Kind, Outcome
from lycosa.results.explain import explain
from lycosa.store.rows import Batch
from lycosa.strategies.hunter.tables import FEATURES
from lycosa.strategies.papers.best_first import BestFirst, BestFirstSettings
from lycosa.strategies.protocol import Abilities, StrategyParts
from lycosa.strategies.table import strategy

A, B, C, D = (f"http://a.test/{name}" for name in ("", "b", "c", "d"))
CYCLING = "Recreational cycling on quiet roads. " * 3


@pytest.fixture
def told():
    """What is told of a URL after a crawl: {heading: text}, texts of one heading joined by a bar."""

    def tell(crawl, url: str, *, strategy_name: str = "best-first") -> dict[str, str]:
        facts: dict[str, str] = {}
        made = strategy(strategy_name)
        for heading, text in explain(crawl.store, url, urls=crawl.urls, strategy=made, words=lambda _: {}):
            facts[heading] = f"{facts[heading]} | {text}" if heading in facts else text
        return facts

    return tell


def test_what_else_the_judge_says_of_a_page(rig, html):
    crawl = rig({A: html(text=CYCLING), B: html()})
    crawl.crawl(A, B, pages=1)
    asked = []

    def reasons(page: int) -> list[str]:
        asked.append(page)
        return ["near one example", "near another"]

    facts = list(explain(crawl.store, A, urls=crawl.urls, strategy=strategy("best-first"), reasons=reasons))
    assert [text for heading, text in facts if heading == "nearest"] == ["near one example", "near another"]
    waiting = list(explain(crawl.store, B, urls=crawl.urls, strategy=strategy("best-first"), reasons=reasons))
    assert "nearest" not in dict(waiting)  # it was not judged
    assert len(asked) == 1


class TestStates:
    def test_a_seed_that_waits(self, rig, html, told):
        crawl = rig({A: html()})
        crawl.crawl(A, B, pages=1)
        facts = told(crawl, B)
        assert facts == {
            "state": "waiting in the frontier",
            "found": "given as a seed",
            "score": "1.000, like every seed",
            "host": "a.test: 0 of 1 pages relevant, 0 failures",
        }

    def test_a_link_that_waits(self, rig, html, told):
        crawl = rig({A: html(f"{B} quiet roads", text=CYCLING)})
        crawl.crawl(A, pages=1)
        facts = told(crawl, B)
        assert facts["state"] == "waiting in the frontier"
        assert facts["found"] == f"on {A} with the anchor “quiet roads”"
        assert facts["distance"] == "1 link from the nearest seed"
        assert facts["cited by"].startswith(f"{A} (“quiet roads”, relevance 0.")
        assert "is the relevance of the best visited page that links to it" in facts["score"]
        assert "fetch" not in facts

    def test_a_link_whose_turn_is_its_score(self, rig, html, told):
        crawl = rig({A: html(f"{B} quiet roads", text=CYCLING)})
        crawl.crawl(A, pages=1, strategy="breadth-first")
        score = told(crawl, B, strategy_name="breadth-first")["score"]
        assert score.startswith(
            "breadth-first: links are fetched in the order in which they were found; this was number 1"
        )

    def test_what_a_score_is_made_of(self, rig, html, told):
        crawl = rig({A: html(f"{B} quiet roads", "http://b.test/", text=CYCLING)})
        crawl.crawl(A, pages=1, strategy="ariadne")
        facts = told(crawl, B, strategy_name="ariadne")
        assert facts["score"].startswith("ariadne: 0.")
        assert facts["factors"].startswith("source 0.")
        assert "host 0.67, distance 0.50, depth 0.50, transversal 0.50" in facts["factors"]
        assert facts["factors"].endswith(f"(on {A})")

    def test_all_anchors_of_a_page_speak_for_a_link(self, rig, html, told):
        page = html(f"{B} home", f"{B} recreational cycling", f"{B} more", text=CYCLING)
        crawl = rig({A: page})
        crawl.crawl(A, pages=1, strategy="ariadne")
        facts = told(crawl, B, strategy_name="ariadne")
        assert facts["cited by"].startswith(f"{A} (“home”, “recreational cycling”, “more”, relevance 0.")

    def test_what_the_hunter_expects_in_words(self, rig, html, told):
        good = [f"http://g{n}.test/" for n in range(4)]
        poor = [f"http://p{n}.test/" for n in range(4)]
        wanted = "http://a.test/bikes"
        web = {A: html(*good, *poor, text=CYCLING)}
        web |= {url: html(f"{wanted} touring bikes", f"{D} x", text=CYCLING + url) for url in good}
        web |= {url: html("http://c.test/ recipes", text=f"soup {url}") for url in poor}
        web[poor[0]] = html(f"{wanted} touring bikes", "http://c.test/ recipes", text="soup")
        crawl = rig(web)
        crawl.crawl(A, pages=9, strategy="hunter")
        facts = told(crawl, wanted, strategy_name="hunter")
        assert facts["because"].startswith("linked from 4 relevant pages and 1 other, ")
        assert "anchor “touring bikes”; host 1 of 1 relevant" in facts["because"]
        assert "but" not in facts["because"]
        assert len(facts["factors"].split(", ")) == 6
        assert "+" in facts["factors"]
        poorer = told(crawl, "http://c.test/", strategy_name="hunter")["because"]
        assert poorer == (
            "linked from 0 relevant pages and 4 others, anchor “recipes”; host 0 of 0 relevant; "
            "but the words near the link speak against it"
        )

    def test_what_speaks_for_a_link_and_against_it(self, rig, html):
        parts = dict.fromkeys(FEATURES, 0.0)
        parts |= {
            "neighbours": 0.9,
            "citations": 0.2,
            "link text": 0.1,
            "link words": -1.0,
            "folder": -0.1,
            "host": 3.0,
        }

        class Stub(BestFirst):
            abilities = Abilities(is_retold=True, factors=lambda visit, link: parts)

        crawl = rig({A: html(f"{B} quiet roads", text=CYCLING)})
        crawl.crawl(A, pages=1)
        stub = Stub(StrategyParts(), BestFirstSettings())
        facts = dict(explain(crawl.store, B, urls=crawl.urls, strategy=stub))
        assert facts["because"] == (
            "linked from 1 relevant page, near other relevant links, cited often, anchor “quiet roads”; host 1 of 1 "
            "relevant; but the words near the link speak against it"
        )
        assert facts["factors"].startswith("host +3.00, link words -1.00, neighbours +0.90, ")

    def test_a_page(self, rig, html, told):
        crawl = rig({A: html(B, text=CYCLING, title="On bikes")})
        crawl.crawl(A, with_archive=True, pages=1)
        facts = told(crawl, A)
        assert facts["state"] == "fetched"
        assert facts["score"] == "1.000 when it was fetched"
        assert "fetched  http 200" in facts["fetch"]
        assert "bytes in 0.00 s" in facts["fetch"]
        assert "archived in lycosa-00001.warc.gz at" in facts["fetch"]
        assert facts["page"] == "number 1: On bikes  [en]"
        assert facts["judgement"].startswith("relevant: 0.")
        assert "cycl 0." in facts["judgement"]
        assert "recreat 0." in facts["judgement"]

    def test_a_page_off_the_topic(self, rig, html, told):
        crawl = rig({A: html(text="soup")})
        crawl.crawl(A)
        assert told(crawl, A)["judgement"] == "not relevant: 0.000 by keywords (none of the topic's words)"
        assert told(crawl, A)["page"] == "number 1: (no title)  [?]"

    def test_a_copy(self, rig, html, told):
        text = "A long walk along the river, with many words, so that its fingerprint means something."
        crawl = rig({A: html(B, C), B: html(text=text), C: html(text=text)})
        crawl.crawl(A)
        assert told(crawl, C)["duplicate"] == f"same text as {B}"

    def test_excluded_by_robots(self, rig, told):
        crawl = rig({A: Outcome(Kind.EXCLUDED, "robots", "Disallow: /private (User-agent: *)")})
        crawl.crawl(A)
        facts = told(crawl, A)
        assert facts["state"] == "excluded"
        assert facts["reason"] == "robots Disallow: /private (User-agent: *)"
        assert "score" not in facts

    def test_excluded_by_a_rule(self, rig, html, told):
        crawl = rig({A: html("/film.mp4", "/secret/1")})
        crawl.crawl(A, rules=UrlRules(exclude=("*/secret/*",)))
        assert told(crawl, "http://a.test/film.mp4")["reason"] == "file extension files ending in .mp4 are left out"
        assert told(crawl, "http://a.test/secret/1")["reason"] == "excluded by pattern matches '*/secret/*'"

    def test_excluded_as_nofollow(self, rig, html, told):
        crawl = rig({A: html(f"{B} ad rel=nofollow")})
        crawl.crawl(A)
        assert told(crawl, B)["reason"] == "nofollow"

    def test_failed(self, rig, html, told):
        crawl = rig({A: html(B)})
        crawl.crawl(A)
        facts = told(crawl, B)
        assert facts["state"] == "failed"
        assert "http-error  http 404" in facts["fetch"]

    def test_waiting_for_another_try(self, rig, html, told, unavailable):
        crawl = rig({A: html(B), B: unavailable()})
        crawl.crawl(A, seconds=1.5)
        facts = told(crawl, B)
        assert facts["state"] == "waiting for another try: http 503 on try 1"
        assert facts["turn"] == "after all links that were never tried"

    def test_every_try_is_told(self, rig, html, told, unavailable):
        crawl = rig({A: [unavailable(), html()]})
        crawl.crawl(A)
        first, second = told(crawl, A)["fetch"].split(" | ")
        assert "http-error  http 503" in first
        assert "fetched  http 200" in second

    def test_waiting_on_a_host_set_aside(self, rig, html, told, unavailable):
        crawl = rig({A: html("http://b.test/"), "http://b.test/": unavailable()})
        crawl.crawl(A, max_failures=1)
        facts = told(crawl, "http://b.test/")
        assert facts["state"] == "waiting on a host that was set aside: 1 failures in a row, the last: http 503"
        assert facts["host"].endswith("set aside: 1 failures in a row, the last: http 503")

    def test_dropped(self, rig, html, told):
        crawl = rig({A: html("http://b.test/", "http://c.test/")})
        crawl.crawl(A, buffer=1, pages=1)
        assert told(crawl, "http://c.test/")["state"] == "dropped: the frontier's buffer was full of better links"

    def test_found_by_a_redirect(self, rig, html, told, redirect):
        crawl = rig({A: redirect(B), B: html()})
        crawl.crawl(A)
        assert told(crawl, B)["found"] == f"by a redirect from {A}"
        assert f"redirected  http 301  {B}" in told(crawl, A)["fetch"]

    def test_never_seen(self, rig, html, told):
        crawl = rig({A: html()})
        crawl.crawl(A)
        assert told(crawl, B) == {"state": "never seen: no page the crawl has read links to it"}
        facts = told(crawl, "http://a.test/film.mp4")
        assert facts["rule"] == "it would be rejected: file extension (files ending in .mp4 are left out)"

    def test_a_crawl_delay_is_told(self, rig, html, told):
        crawl = rig({A: [Outcome(Kind.DEFERRED, "robots.txt first"), html()]})
        crawl.know_robots("http://a.test", "User-agent: *\nCrawl-delay: 7")
        crawl.crawl(A)
        assert "asks for 7 s between requests" in told(crawl, A)["host"]


class TestUrls:
    def test_any_spelling_will_do(self, rig, html, told):
        crawl = rig({A: html(B)})
        crawl.crawl(A, pages=1)
        facts = told(crawl, "HTTP://A.test:80/x/../b?utm_source=me#part")
        assert facts["canonical"] == B
        assert facts["state"] == "waiting in the frontier"
        assert "canonical" not in told(crawl, B)

    @pytest.mark.parametrize("url", ["", "not a url", "ftp://a.test/", "http://", "mailto:me@a.test"])
    def test_what_is_no_url_is_told(self, rig, url, told):
        crawl = rig({})
        with pytest.raises(InputError, match="is not a URL that can be crawled"):
            told(crawl, url)

    def test_a_url_is_a_value_and_not_a_part_of_the_query(self, rig, html, told):
        crawl = rig({A: html()})
        crawl.crawl(A)
        assert "never seen" in told(crawl, "http://a.test/' or 1=1 --")["state"]

    def test_only_the_best_five_citations(self, rig, html, told):
        sources = [f"http://s{n}.test/" for n in range(8)]
        crawl = rig({A: html(*sources)} | {url: html(B, text=CYCLING + "soup " * n) for n, url in enumerate(sources)})
        crawl.crawl(A)
        cited = told(crawl, B)["cited by"].split(" | ")
        assert [line.split()[0] for line in cited] == sources[:5]


def test_a_person_said_so(rig, html, told):
    crawl = rig({A: html(text=CYCLING)})
    crawl.crawl(A)
    crawl.store.write(Batch(answers=[(1.7e9, A, 1, "irrelevant")]))
    assert told(crawl, A)["judgement"].startswith("not relevant: a person said so on 2023-11-14")
    assert "; keywords gave it 0." in told(crawl, A)["judgement"]
    crawl.store.write(Batch(answers=[(1.7e9, A, 1, "withdrawn")]))
    assert told(crawl, A)["judgement"].startswith("relevant: 0.")
