from __future__ import annotations

import heapq
import re
from collections import deque
from dataclasses import replace
from itertools import count
from urllib.parse import urljoin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.errors import ConfigError
from lycosa.lab.generated.graph import EXACT, NEAR, distances
from lycosa.lab.generated.web import GeneratedWeb, WebPlan

PORT = 8080
LINK = re.compile(r'<a href="([^"]*)">([^<]*)</a>')


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(WebPlan(seed=7))


@pytest.fixture(scope="module")
def sparse() -> GeneratedWeb:
    plan = WebPlan(seed=7, hosts=80, out_degree=8, host_locality=0.95, navigation=0.4, sidebars=0.5)
    return GeneratedWeb(replace(plan, dead_links=0.0, redirects=0.0))


def html(web: GeneratedWeb, page: int) -> str:
    return web.render(web.url(page, port=PORT)).body.decode()


def words(text: str) -> list[str]:
    return re.sub(r"<[^>]*>", " ", text).lower().replace(".", " ").split()


def crawl(web: GeneratedWeb, seeds: list[int], topic: int, *, pages: int, focused: bool) -> int:
    """Pages of the topic among the first `pages`: first in, first out, or links of relevant pages first."""
    number = count()
    waiting = [(0, next(number), page) for page in seeds]
    seen, fetched, found = set(seeds), 0, 0
    while waiting and fetched < pages:
        _, _, page = heapq.heappop(waiting)
        is_relevant = web.topic_of(page) == topic
        fetched += 1
        found += is_relevant
        for target in web.out_links(page).tolist():
            if target not in seen and web.is_allowed(target):
                seen.add(target)
                heapq.heappush(waiting, (int(focused and not is_relevant), next(number), target))
    return found


class TestDeterminism:
    def test_a_page_has_the_same_bytes_in_any_order_and_any_instance(self, web):
        pages = [0, 1, 555, 1999]
        first = [html(web, page) for page in pages]
        again = GeneratedWeb(WebPlan(seed=7))
        assert [html(again, page) for page in reversed(pages)] == first[::-1]

    def test_another_seed_makes_another_web(self, web):
        other = GeneratedWeb(WebPlan(seed=8))
        assert html(other, 555) != html(web, 555)
        assert not np.array_equal(other.graph.target, web.graph.target)


class TestUrls:
    def test_every_page_has_its_own_url_and_is_found_by_it(self, web):
        urls = [web.url(page, port=PORT) for page in range(len(web))]
        assert len(set(urls)) == len(web)
        assert [web.page_of(url) for url in urls] == list(range(len(web)))

    def test_the_port_is_written_only_where_it_is_not_the_default(self, web):
        assert web.url(0, port=PORT) == f"http://{web.hosts[0]}:{PORT}/"
        assert web.url(0) == f"http://{web.hosts[0]}/"

    @pytest.mark.parametrize(
        "path", ["/robots.txt", "/go/1", "/nothing-here/", "/old/x-1.html", "//", "/-1/", "/a/b/c"]
    )
    def test_what_is_no_page_has_no_number(self, web, path):
        assert web.page_of(f"http://{web.hosts[0]}{path}") is None

    def test_only_the_exact_url_is_the_page(self, web):
        page = next(page for page in range(len(web)) if web.url(page).endswith(".html"))
        url = web.url(page)
        assert web.page_of(url.removesuffix(".html")) is None
        assert web.page_of(url + "?x=1") is None
        assert web.page_of(re.sub(r"/([^/]+)-(\d+\.html)$", r"/other-\2", url)) is None

    @given(st.text(max_size=40))
    def test_any_path_gets_an_answer(self, web, text):
        answer = web.answer(web.hosts[0], "/" + text, port=PORT)
        assert answer.status in (200, 301, 404)

    def test_an_unknown_host_is_misdirected(self, web):
        assert web.render("http://elsewhere.test/").status == 421


class TestPages:
    @pytest.mark.parametrize("page", [0, 1, 2, 333, 777, 1500])
    def test_the_links_of_the_html_are_those_of_the_graph(self, web, page):
        found, dead = set(), 0
        url = web.url(page, port=PORT)
        for href, _ in LINK.findall(html(web, page)):
            target = urljoin(url, href)
            answer = web.render(target)
            if answer.status == 301:
                target = dict(answer.headers)["Location"]
            elif answer.status == 404:
                dead += 1
                continue
            found.add(web.page_of(target))
        source = page if web.graph.copy[page] != EXACT else web.original(page)
        assert found - {source} == set(web.out_links(source).tolist())
        assert dead < len(found) / 2

    def test_dead_links_and_redirects_come_as_often_as_planned(self, web):
        statuses = []
        for page in range(0, 2000, 40):
            url = web.url(page, port=PORT)
            hrefs = [href for href, _ in LINK.findall(html(web, page)) if "/old/" in href or "/go/" in href]
            statuses += [web.render(urljoin(url, href)).status for href in hrefs]
        links = sum(len(web.graph.links(page)) - web.graph.structural[page] for page in range(0, 2000, 40))
        assert set(statuses) == {301, 404}
        assert 0.01 < statuses.count(404) / links < 0.06
        assert 0.01 < statuses.count(301) / links < 0.06

    def test_most_anchors_name_a_word_of_the_target_and_some_do_not(self, web):
        told = total = vague = 0
        for page in range(0, 2000, 50):
            url = web.url(page, port=PORT)
            for href, anchor in LINK.findall(html(web, page).split("<main>")[1]):
                target = web.page_of(urljoin(url, href))
                if target is None:
                    continue
                total += 1
                vague += anchor in (
                    "click here",
                    "more",
                    "read on",
                    "this page",
                    "here",
                    "link",
                    "see this",
                    "continue",
                )
                told += bool(set(words(anchor)) & set(words(html(web, target))))
        assert told / total > 0.7
        assert 0.05 < vague / total < 0.25

    def test_a_page_speaks_of_its_topic_and_a_little_of_its_neighbour(self, web):
        topic = web.topic_names.index("cycling")
        near = web.topic_names.index("railways")
        far = web.topic_names.index("geology")
        share = {}
        for name, number in (("own", topic), ("near", near), ("far", far), ("none", -1)):
            pages = np.flatnonzero(web.graph.topic == number)[:40].tolist()
            text = [word for page in pages for word in words(html(web, page))]
            share[name] = sum(text.count(word) for word in ("bicycle", "cycling", "touring", "recreational")) / len(
                text
            )
        assert share["own"] > 3 * share["near"] > 4 * share["far"]
        assert share["far"] > 0  # occasional mentions
        assert share["own"] > 20 * share["none"]

    def test_sizes(self, web):
        sizes = [len(html(web, page)) for page in range(0, 2000, 20)]
        assert 2_000 < np.median(sizes) < 6_000
        big = GeneratedWeb(WebPlan(pages=500, hosts=10, out_degree=120, paragraphs=100))
        pages = [html(big, page) for page in range(0, 500, 10)]
        assert 35_000 < np.mean([len(page) for page in pages]) < 45_000
        assert 100 < np.mean([page.count("<a ") for page in pages]) < 140


class TestDuplicates:
    def test_exact_copies_have_the_bytes_of_their_original_under_another_url(self, web):
        copies = np.flatnonzero(web.graph.copy == EXACT).tolist()
        assert len(copies) > 10
        for copy in copies:
            assert html(web, copy) == html(web, web.original(copy))
            assert web.topic_of(copy) == web.topic_of(web.original(copy))

    def test_near_copies_differ_by_little(self, web):
        copies = np.flatnonzero(web.graph.copy == NEAR).tolist()
        assert len(copies) > 10
        for copy in copies:
            one, other = html(web, copy), html(web, web.original(copy))
            assert one != other
            kept = sum((np.unique(words(one))[:, None] == np.unique(words(other))[None, :]).any(axis=1))
            assert kept > 0.8 * len(set(words(one)))

    def test_originals_are_no_copies(self, web):
        originals = web.graph.original
        assert np.array_equal(originals[originals], originals)


class TestRobots:
    def test_robots_txt_closes_what_is_not_allowed(self, web):
        closed = [page for page in range(len(web)) if not web.is_allowed(page)]
        assert closed
        rules: dict[int, list[str]] = {}
        for host, name in enumerate(web.hosts):
            text = web.render(f"http://{name}/robots.txt").body.decode()
            rules[host] = re.findall(r"^Disallow: (.+)$", text, re.MULTILINE)
        for page in range(len(web)):
            path = "/" + web.url(page).split("/", 3)[3]
            assert web.is_allowed(page) != any(path.startswith(rule) for rule in rules[web.host_of(page)])

    def test_one_host_asks_for_a_delay_and_some_have_sitemaps(self, web):
        texts = [web.render(f"http://{name}:{PORT}/robots.txt").body.decode() for name in web.hosts]
        assert sum("Crawl-delay: 1\n" in text for text in texts) == 1
        mapped = [name for name, text in zip(web.hosts, texts, strict=True) if "Sitemap:" in text]
        assert 5 < len(mapped) < 35
        answer = web.render(f"http://{mapped[0]}:{PORT}/sitemap.xml")
        pages = [web.page_of(url) for url in re.findall("<loc>(.*?)</loc>", answer.body.decode())]
        assert pages
        assert all(page is not None and web.is_allowed(page) for page in pages)
        missing = next(name for name in web.hosts if name not in mapped)
        assert web.render(f"http://{missing}/sitemap.xml").status == 404


class TestShape:
    def test_topics_have_even_shares_and_much_is_about_none(self, web):
        shares = [float((web.graph.topic == topic).mean()) for topic in range(-1, 8)]
        assert 0.35 < shares[0] < 0.55
        assert all(0.04 < share < 0.11 for share in shares[1:])

    def test_hosts_differ_in_size_and_the_best_linked_pages_get_most_links(self, web):
        sizes = np.bincount([web.host_of(page) for page in range(len(web))])
        assert sizes.max() > 15 * sizes.min()
        in_degree = np.sort(np.bincount(web.graph.target, minlength=len(web)))[::-1]
        assert in_degree[:40].sum() > 0.15 * in_degree.sum()
        out_degree = np.diff(web.graph.start)
        assert 18 < out_degree.mean() < 22
        assert out_degree.max() > 50

    def test_a_share_of_each_topic_is_behind_off_topic_pages(self, web):
        graph, sites = web.graph, web.graph.sites
        community = sites.community[graph.section]
        source = np.repeat(np.arange(len(web)), np.diff(graph.start))
        for topic in range(8):
            hidden = sites.is_hidden[graph.section] & (sites.topic[graph.section] == topic)
            assert 0.1 < hidden[graph.topic == topic].mean() < 0.6
            enters = hidden[graph.target] & (community[source] != community[graph.target])
            assert enters.any()
            assert not (graph.topic[source[enters]] == topic).any()

    def test_each_hidden_community_has_a_tunnel_of_at_most_three_pages(self, web):
        graph, sites = web.graph, web.graph.sites
        community = sites.community[graph.section]
        hidden = sites.is_hidden[graph.section]
        for topic in range(8):
            start = np.flatnonzero((graph.topic == topic) & ~hidden).tolist()
            depth = dict.fromkeys(start, 0)
            queue, reached = deque(start), set()
            while queue:
                page = queue.popleft()
                for target in web.out_links(page).tolist():
                    if hidden[target] and sites.topic[graph.section[target]] == topic:
                        reached.add(int(community[target]))
                    elif target not in depth and depth[page] < 3:
                        depth[target] = depth[page] + 1
                        queue.append(target)
            wanted = set(community[hidden & (sites.topic[graph.section] == topic)].tolist())
            assert reached == wanted

    def test_focus_pays(self):
        """At a tenth of the web, following relevant pages finds clearly more than breadth-first does."""
        web = GeneratedWeb(WebPlan(seed=7, pages=8_000, hosts=160))
        rng = np.random.default_rng(0)
        broad = focused = 0
        for topic in range(4):
            seeds = web.seeds(topic, 3, rng)
            broad += crawl(web, seeds, topic, pages=800, focused=False)
            focused += crawl(web, seeds, topic, pages=800, focused=True)
        assert focused > 1.5 * broad
        assert focused > 4 * 800 * 0.3

    def test_links_take_little_room(self):
        graph = GeneratedWeb(WebPlan(pages=20_000, hosts=400)).graph
        arrays = [getattr(graph, name) for name in graph.__slots__ if name != "sites"]
        assert sum(array.nbytes for array in arrays) < 130 * 20_000


class TestTruth:
    def test_distances_are_those_of_a_search_by_hand(self, web):
        seeds = web.seeds(2, 3, np.random.default_rng(1))
        distance = dict.fromkeys(seeds, 0)
        queue = deque(seeds)
        while queue:
            page = queue.popleft()
            for target in web.out_links(page).tolist():
                if target not in distance and web.is_allowed(target):
                    distance[target] = distance[page] + 1
                    queue.append(target)
        found = web.distances(seeds)
        assert {page: int(found[page]) for page in range(len(web)) if found[page] >= 0} == distance

    def test_targets_are_allowed_originals_of_the_topic(self, web):
        everything = web.targets(3)
        found = web.targets(3, web.seeds(3, 2, np.random.default_rng(1)))
        assert found <= everything
        assert len(found) > 0.7 * len(everything)
        assert all(web.topic_of(page) == 3 and web.original(page) == page for page in everything)

    def test_seeds_lie_in_one_open_community(self, web):
        seeds = web.seeds(0, 5, np.random.default_rng(3))
        assert len(set(seeds)) == 5
        assert all(web.topic_of(page) == 0 and web.is_allowed(page) and not web.is_hidden(page) for page in seeds)
        assert len({int(web.graph.sites.community[web.graph.section[page]]) for page in seeds}) == 1
        assert web.seeds(0, 5, np.random.default_rng(3)) == seeds

    def test_topics_have_names_and_a_phrase(self, web):
        assert web.topic_names[0] == "cycling"
        assert web.topic_keywords(0) == "recreational cycling and touring bicycles"

    def test_more_topics_than_are_written_down_are_made_up(self):
        many = GeneratedWeb(WebPlan(pages=2_000, hosts=20, topics=20))
        assert len(set(many.topic_names)) == 20
        assert many.topic_keywords(19).startswith(many.topic_names[19])
        assert {many.topic_of(page) for page in range(2_000)} == set(range(-1, 20))


class TestSparse:
    def test_few_links_lead_from_host_to_host(self, web, sparse):
        def leaving(web: GeneratedWeb) -> float:
            host = web.graph.sites.host[web.graph.section]
            source = np.repeat(np.arange(len(web)), np.diff(web.graph.start))
            return float((host[source] != host[web.graph.target]).mean())

        assert leaving(web) > 0.3
        assert leaving(sparse) < 0.05

    def test_without_navigation_a_page_need_not_link_to_its_index_but_indexes_list_their_pages(self, sparse):
        sites, graph = sparse.graph.sites, sparse.graph
        host = sites.host[graph.section]
        assert 0.2 < sites.has_navigation.mean() < 0.6
        page = next(
            page
            for page in range(len(sparse))
            if not sites.has_navigation[host[page]] and page not in sites.first_page and graph.copy[page] == 0
        )
        assert "<nav>" not in html(sparse, page)
        assert "<nav>" in html(sparse, int(np.flatnonzero(sites.has_navigation[host])[0]))
        home = int(sites.first_page[sites.first_section[host[page]]])
        reached = sparse.distances([home])
        assert (reached[host == host[page]] >= 0).sum() > 0.9 * (host == host[page]).sum()  # some robots.txt disallows

    @pytest.mark.parametrize("page", [3, 400, 801, 1999])
    def test_the_links_of_the_html_are_those_of_the_graph(self, sparse, page):
        url = sparse.url(page, port=PORT)
        found = {sparse.page_of(urljoin(url, href)) for href, _ in LINK.findall(html(sparse, page))}
        assert found - {page} == set(sparse.out_links(page).tolist())

    def test_on_some_hosts_links_to_other_topics_have_a_box_of_their_own(self, sparse):
        boxed, in_text, classes = [], [], set()
        for page in range(0, len(sparse), 7):
            body = html(sparse, page)
            found = re.search(r'<div class="([^"]*)"><ul>(.*?)</ul></div>', body)
            if found is None or sparse.topic_of(page) < 0:
                continue
            classes.add(found[1])
            for part, links in ((found[2], boxed), (body.replace(found[0], ""), in_text)):
                for href, _ in re.findall(LINK, re.sub("<nav>.*?</nav>|<ul class=.index.*?</ul>", "", part)):
                    target = sparse.page_of(urljoin(sparse.url(page, port=PORT), href))
                    if target is not None:
                        links.append(sparse.topic_of(target) == sparse.topic_of(page))
        assert len(classes) > 4
        assert np.mean(boxed) < 0.4
        assert np.mean(in_text) > 0.7


class TestPlan:
    @pytest.mark.parametrize(
        ("setting", "value"),
        [("pages", 3), ("topics", 1), ("locality", 1.5), ("dead_links", -0.1), ("authority", 0.5), ("hosts", 0)],
    )
    def test_a_setting_out_of_range_is_named(self, setting, value):
        with pytest.raises(ConfigError, match=setting):
            WebPlan(**{setting: value})

    @settings(max_examples=60, deadline=None)
    @given(
        seed=st.integers(0, 1000),
        hosts=st.integers(1, 30),
        more=st.integers(0, 300),
        topics=st.integers(2, 14),
        out_degree=st.integers(1, 40),
        share=st.floats(0, 1),
        section_pages=st.integers(1, 40),
    )
    def test_any_plan_makes_a_web(self, seed, hosts, more, topics, out_degree, share, section_pages):
        plan = WebPlan(
            seed=seed,
            hosts=hosts,
            pages=hosts + more,
            topics=topics,
            out_degree=out_degree,
            section_pages=section_pages,
            general=share,
            tunnelled=1 - share,
            strays=share,
            duplicates=share,
            hubs=share,
            host_locality=1 - share,
            navigation=share,
            sidebars=share,
        )
        web = GeneratedWeb(plan)
        graph, sites = web.graph, web.graph.sites
        assert len(web.hosts) == len(set(web.hosts)) == hosts
        assert len(graph.section) == plan.pages == int(sites.first_page[-1])
        assert (np.diff(sites.first_page) >= 1).all()
        assert graph.start[-1] == len(graph.target)
        assert ((graph.target >= 0) & (graph.target < plan.pages)).all()
        last = plan.pages - 1
        assert web.page_of(web.url(last)) == last
        assert web.render(web.url(last)).status == 200
        home = web.graph.sites.first_page[sites.first_section[:-1]]
        everything = distances(web.graph.start, web.graph.target, home)
        assert (everything >= 0).all()  # from its home, all of a host can be reached
