"""Over HTTP: robots.txt holds for a home page that is tried though nobody links to it."""

from __future__ import annotations

from contextlib import closing

import pytest
import tomli_w

import lycosa
from hostile.server import running
from lycosa.lab.generated.html import Writer
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.store.sqlite import SqliteStore

PLAN = WebPlan(
    seed=5, pages=150, hosts=12, topics=3, out_degree=3, paragraphs=2, crawl_delay=0, host_locality=0.95, navigation=0.0
)


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_home_page_is_asked_for_unless_robots_txt_forbids_it(is_closed, tmp_path, monkeypatch):
    if is_closed:
        monkeypatch.setattr(Writer, "robots", lambda *_, **__: b"User-agent: *\nDisallow: /$\n")
    web = GeneratedWeb(PLAN)
    topic = web.topic_names.index("cycling")
    homes = set(web.graph.sites.first_page[web.graph.sites.first_section[:-1]].tolist())
    pages = [page for page in range(len(web)) if web.topic_of(page) == topic and page not in homes]
    with running(web, addresses=len(web.hosts)) as server:
        network = {"allow": ["127.0.0.0/8"], "resolve": server.overrides()}
        politeness = {"delay": 0.0, "fetch_time_factor": 0.0}
        settings = tmp_path / "settings.toml"
        settings.write_text(tomli_w.dumps({"network": network, "politeness": politeness, "readers": {"count": 1}}))
        monkeypatch.setenv("LYCOSA_CONFIG", str(settings))
        seeds = [server.url(page) for page in pages[:3]]
        lycosa.Crawl("cycling", seeds=seeds, directory=tmp_path / "crawl").run(pages=80)
        asked = {(request.host, request.path) for request in server.requests()}
    guessed = (
        "select url, state, reason from frontier f where url like '%.test:%/' and distance = 1"
        " and not exists (select 1 from links where target_id = f.id)"
    )
    with closing(SqliteStore(tmp_path / "crawl" / "crawl.db")) as store:
        rows = list(store.query(guessed)[1])
    homes_tried = [row for row in rows if row[0].count("/") == 3]
    assert homes_tried
    if is_closed:
        assert not [target for _, target in asked if target == "/"]
        assert {(state, reason) for _, state, reason in homes_tried} <= {("excluded", "robots"), ("waiting", "")}
    else:
        assert [target for _, target in asked if target == "/"]
