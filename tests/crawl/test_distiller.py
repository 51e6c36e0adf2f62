"""The distiller on small crawls with real stores: who is a hub, what is worth fetching, what a second run reads."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.crawl.centrality import NAME, DistillSettings, relevance_threshold
from lycosa.crawl.citation_graph import CitationGraph
from lycosa.crawl.distiller import Distillation, distill, rank_sites
from lycosa.errors import ConfigError, InputError
from lycosa.store.rows import Batch, JudgementRow
from lycosa.store.sqlite import SqliteStore

CYCLING = "Recreational cycling on quiet roads, recreational cycling for all. " * 3
COOKING = "Bread and soup from the oven, slowly. " * 3
HUB, SECOND = "http://hub.test/links", "http://www.second.test/"
BIKES = [f"http://bike{n}.test/" for n in range(4)]
NEW = "http://new.test/"
FEW = "http://few.test/"
OWN = "http://hub.test/about"
BREAD = "http://bread.test/"
ALL = DistillSettings(admitted=1.0)


@pytest.fixture
def web(html):
    """Two hubs on cycling, four bicycle pages, one page on bread that the first hub cites, too."""
    return {
        HUB: html(*BIKES, BREAD, NEW, OWN, FEW, text=CYCLING, title="Links on cycling"),
        SECOND: html(*BIKES[:3], "http://second.test/shop", NEW, text=CYCLING, title="More links"),
        "http://second.test/shop": html(BIKES[3], text=COOKING, title="Shop"),
        BREAD: html(BIKES[0], HUB, text=COOKING, title="Bread"),
        **{url: html(text=CYCLING, title=f"Bike {n}") for n, url in enumerate(BIKES)},
    }


@pytest.fixture
def crawled(rig, web):
    """All but the pages that no one has fetched."""
    crawl = rig(web)
    crawl.crawl(*web, pages=len(web))
    assert crawl.state(NEW) == crawl.state(FEW) == crawl.state(OWN) == "waiting"
    return crawl


def run(crawl, settings: DistillSettings = ALL, **options) -> Distillation:
    return distill(CitationGraph(crawl.store), settings, **options)


def judge_again(crawl, url: str, relevance: float, *, judge: str = "keywords", best: str = "") -> None:
    batch = Batch()
    page = crawl.row(url)["id"]
    batch.judgements.append(JudgementRow(page, judge, relevance, relevance > 0.5, "{}", "{}", best))
    crawl.store.write(batch)


def sources_of(citations: CitationGraph) -> list[int]:
    """The page of each link between judged pages."""
    sources, _ = citations.edges_to(np.ones(len(citations.pages), dtype=bool))
    return citations.pages[sources].tolist()


class TestRanking:
    def test_hubs_and_authorities(self, crawled):
        found = run(crawled)
        assert [page.url for page in found.hubs[:2]] == [HUB, SECOND]
        assert found.hubs[0].title == "Links on cycling"
        assert {page.url for page in found.authorities[:4]} == set(BIKES)
        assert BREAD not in [page.url for page in found.authorities]
        assert sum(page.score for page in found.hubs) == pytest.approx(1.0)
        assert found.hubs[0].link == crawled.row(HUB)["id"]
        assert found.hubs[0].relevance == pytest.approx(
            crawled.sql("select relevance from judgements where page_id = ?", found.hubs[0].link)[0][0]
        )

    def test_the_share_admitted_bounds_the_authorities(self, crawled):
        judge_again(crawled, BIKES[2], 0.99)
        judge_again(crawled, BIKES[1], 0.98)
        found = run(crawled, DistillSettings(admitted=0.25))
        assert (found.pages, found.admitted) == (8, 2)
        assert found.threshold < 0.98
        assert [page.url for page in found.authorities] == [BIKES[2], BIKES[1]]
        assert found.edges == 4

    def test_www_is_the_same_site(self, crawled):
        shop = "http://second.test/shop"  # cited by http://www.second.test/ alone
        judge_again(crawled, shop, 0.9)
        assert shop not in [page.url for page in run(crawled).authorities]
        loose = run(crawled, DistillSettings(admitted=1.0, across_sites=False))
        assert shop in [page.url for page in loose.authorities]

    def test_a_crawl_of_one_site_needs_its_own_links(self, rig, html):
        a, b = "http://a.test/", "http://a.test/b"
        crawl = rig({a: html(b, text=CYCLING), b: html(text=CYCLING)})
        crawl.crawl(a)
        strict = run(crawl)
        assert (list(strict.hubs), list(strict.authorities), list(strict.unvisited), strict.edges) == ([], [], [], 0)
        loose = run(crawl, DistillSettings(admitted=1.0, across_sites=False))
        assert [page.url for page in loose.hubs] == [a]
        assert [page.url for page in loose.authorities] == [b]

    def test_no_more_than_the_top_is_told(self, crawled):
        found = run(crawled, DistillSettings(admitted=1.0, top=1, unvisited=1))
        assert [len(told) for told in (found.hubs, found.authorities, found.sites, found.unvisited)] == [1, 1, 1, 1]
        assert found.hubs[0].url == HUB

    def test_the_topic_is_the_judges(self, crawled):
        assert {page.topic for page in run(crawled).hubs} == {""}
        judge_again(crawled, HUB, 0.9, best="sports/cycling")
        assert run(crawled).hubs[0].topic == "sports/cycling"

    def test_one_judge_must_be_named_where_there_are_several(self, crawled):
        judge_again(crawled, HUB, 0.1, judge="svm", best="bread")
        judge_again(crawled, BIKES[0], 0.9, judge="svm")
        with pytest.raises(InputError, match=r"crawl\.db: .*\(keywords, svm\)"):
            CitationGraph(crawled.store)
        found = distill(CitationGraph(crawled.store, judge="svm"), ALL)
        assert found.pages == 2
        assert [(page.url, page.topic, page.relevance) for page in found.hubs] == [(HUB, "bread", 0.1)]


class TestWhatFollows:
    def test_unvisited_pages_that_the_hubs_cite_on_other_sites(self, crawled):
        found = run(crawled)
        assert [(page.url, page.hubs) for page in found.unvisited] == [(NEW, 2), (FEW, 1)]
        assert found.unvisited[0].score == pytest.approx(found.hubs[0].score + found.hubs[1].score)
        assert found.unvisited[0].link == crawled.row(NEW)["id"]

    def test_what_was_tried_in_vain_is_not_raised(self, rig, web, unavailable):
        crawl = rig({**web, NEW: unavailable()})
        crawl.crawl(NEW, *web, pages=len(web), first_backoff=1e6)
        assert (crawl.state(NEW), crawl.row(NEW)["tries"]) == ("waiting", 1)
        assert [page.url for page in run(crawl).unvisited] == [FEW]

    def test_hubs_are_revisited_by_age(self, crawled):
        found = run(crawled)
        times = sorted(page.fetched_at for page in found.hubs)
        assert found.hubs_to_revisit(fetched_before=times[0]) == []
        assert found.hubs_to_revisit(fetched_before=times[-1] + 1.0) == [page.link for page in found.hubs]
        crawled.store._db.execute("update pages set fetched_at = fetched_at + 60 where id = ?", (found.hubs[0].link,))
        again = run(crawled).hubs_to_revisit(fetched_before=times[-1] + 1.0)
        assert again == [page.link for page in found.hubs[1:]]


class TestSites:
    def test_many_relevant_pages_count_for_more_than_one(self, rig, html):
        good = [f"http://good.test/{n}" for n in range(12)]
        poor = [f"http://poor.test/{n}" for n in range(12)]
        web = {"http://once.test/": html(text=CYCLING), "http://none.test/": html(text=COOKING)}
        web |= {url: html(text=CYCLING if n < 10 else COOKING) for n, url in enumerate(good)}
        web |= {url: html(text=CYCLING if n < 2 else COOKING) for n, url in enumerate(poor)}
        crawl = rig(web)
        crawl.crawl(*web)
        sites = rank_sites(CitationGraph(crawl.store))
        assert [(site.name, site.relevant, site.pages) for site in sites] == [
            ("good.test", 10, 12),
            ("once.test", 1, 1),
            ("poor.test", 2, 12),
        ]
        assert sites[0].bound == pytest.approx(0.552, abs=5e-4)  # Wilson: 10 of 12
        assert sites[1].bound == pytest.approx(0.2065, abs=5e-4)
        assert sites[1].density == 1.0

    def test_hosts_of_a_site_are_taken_together(self, crawled):
        names = {site.name: site.pages for site in rank_sites(CitationGraph(crawled.store))}
        assert names["second.test"] == 2
        assert "www.second.test" not in names


class TestThreshold:
    @pytest.mark.parametrize(
        ("relevance", "share", "admitted"),
        [
            ([0.9, 0.1, 0.5, 0.3], 0.25, 1),
            ([0.9, 0.1, 0.5, 0.3], 0.26, 2),
            ([0.9, 0.1, 0.5, 0.3], 1.0, 4),
            ([0.9, 0.1, 0.5, 0.3], 0.001, 1),
            ([1.0, 1.0, 1.0, 0.3], 0.25, 3),  # pages that tie with the last one admitted
            ([1.0, 1.0], 0.5, 2),
            ([0.4, 0.0, 0.0, 0.0], 0.75, 1),  # never R = 0
        ],
    )
    def test_it_admits_the_share(self, relevance, share, admitted):
        values = np.array(relevance)
        assert (values > relevance_threshold(values, share)).sum() == admitted

    @pytest.mark.parametrize("relevance", [[], [0.0, 0.0]])
    def test_admitting_nobody_is_an_error(self, relevance):
        with pytest.raises(ConfigError, match=r"distill\.admitted = 0\.15 admits none"):
            relevance_threshold(np.array(relevance, dtype=float), 0.15)

    def test_a_crawl_can_tell_beforehand(self, rig, html):
        crawl = rig({BREAD: html(text=COOKING)})
        assert not CitationGraph(crawl.store).has_relevant_pages
        crawl.crawl(BREAD)
        citations = CitationGraph(crawl.store)
        assert not citations.has_relevant_pages
        with pytest.raises(ConfigError, match="none of 1 judged pages"):
            distill(citations, DistillSettings())

    @pytest.mark.parametrize(
        "wrong",
        [
            {"admitted": 0.0},
            {"admitted": 1.5},
            {"admitted": float("nan")},
            {"top": 0},
            {"unvisited": -1},
            {"iterations": 0},
            {"tolerance": 0.0},
        ],
    )
    def test_wrong_settings_are_told_at_once(self, wrong):
        with pytest.raises(ConfigError, match=rf"distill\.{next(iter(wrong))} is"):
            DistillSettings(**wrong)


class TestAgain:
    def same(self, one: Distillation, other: Distillation) -> None:
        assert [page.url for page in one.hubs] == [page.url for page in other.hubs]
        assert [page.score for page in one.hubs] == pytest.approx([page.score for page in other.hubs], abs=1e-5)
        assert [page.score for page in one.authorities] == pytest.approx(
            [page.score for page in other.authorities], abs=1e-5
        )
        assert (one.pages, one.edges, one.sites, one.admitted) == (
            other.pages,
            other.edges,
            other.sites,
            other.admitted,
        )

    def test_an_update_reads_what_a_new_start_reads(self, rig, web):
        crawl = rig(web)
        crawl.crawl(*web, pages=3)
        citations = CitationGraph(crawl.store)
        for pages in (5, len(web)):
            crawl.crawl(*web, pages=pages)
            citations.update()
            self.same(distill(citations, ALL), run(crawl))
        assert len(sources_of(citations)) > 5

    def test_an_update_notices_new_judgements(self, crawled):
        citations = CitationGraph(crawled.store)
        before = distill(citations, ALL)
        judge_again(crawled, SECOND, 1.0)
        judge_again(crawled, HUB, 0.01)
        citations.update()
        after = distill(citations, ALL)
        assert before.hubs[0].url == HUB
        assert after.hubs[0].url == SECOND
        self.same(after, run(crawled))

    @pytest.mark.parametrize("links", [[BIKES[3]], []])
    def test_a_page_fetched_again_brings_its_links_anew(self, crawled, links):
        citations = CitationGraph(crawled.store)
        hub = crawled.row(HUB)["id"]
        db = crawled.store._db  # no part of the crawl fetches twice yet: as if it had
        db.execute("delete from links where source_id = ?", (hub,))
        for position, url in enumerate(links):
            db.execute("insert into links values (?, ?, ?, '', '', '')", (hub, position, crawled.row(url)["id"]))
        db.execute("update pages set number = (select max(number) + 1 from pages) where id = ?", (hub,))
        citations.update()
        self.same(distill(citations, ALL), run(crawled))
        assert sources_of(citations).count(hub) == len(links)

    def test_it_goes_on_from_earlier_scores(self, crawled):
        cold = run(crawled, DistillSettings(admitted=1.0, tolerance=1e-3))
        assert not cold.is_warm
        warm = run(crawled, DistillSettings(admitted=1.0, tolerance=1e-3), earlier=cold.state)
        assert warm.is_warm
        assert warm.iterations < cold.iterations
        assert warm.hubs[0].score == pytest.approx(cold.hubs[0].score, abs=2e-3)

    def test_the_state_goes_through_the_store(self, crawled):
        found = run(crawled)
        batch = Batch()
        batch.state[NAME] = found.state
        crawled.store.write(batch)
        with_state = run(crawled, earlier=crawled.store.state(NAME))
        assert with_state.is_warm
        self.same(with_state, found)

    @pytest.mark.parametrize("state", [None, b"", b"nonsense", b'{"strategy": "shark", "columns": []}\n'])
    def test_without_a_usable_state_it_begins_anew(self, crawled, state):
        found = run(crawled, earlier=state)
        assert not found.is_warm
        self.same(found, run(crawled))

    def test_it_reads_beside_a_crawl_that_writes(self, crawled, rig):
        reader = SqliteStore(crawled.store.path, read_only=True)
        try:
            assert distill(CitationGraph(reader), ALL).hubs[0].url == HUB
        finally:
            reader.close()
