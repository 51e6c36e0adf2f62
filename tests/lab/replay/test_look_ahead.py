from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.look_ahead import LookAhead
from lycosa.lab.replay.oracle import Oracle
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World

PLAN = WebPlan(seed=5, pages=400, hosts=20, topics=4, out_degree=4, disallowing_hosts=0.0, crawl_delay=0.0)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    path = tmp_path_factory.mktemp("worlds") / "sparse.world"
    build_generated(GeneratedWeb(PLAN), path, is_rendered=True, readers=0)
    return World.open(path)


def found(world: World, kind: type, topic: str, pages: int) -> tuple[float, list[int]]:
    relevant = np.zeros(len(world), dtype=np.bool_)
    relevant[world.pages_of(topic)] = True
    others = np.flatnonzero(~relevant & (world.statuses < 300))[:2]  # off the topic: the path has to be found
    judged = JudgedWorld(world, KeywordJudge(topic))
    track = replay(judged, lambda discovery: kind(world, relevant, discovery), others.tolist(), pages=pages)
    return float(np.cumsum(relevant[np.array(track.pages)]).mean()), track.pages


def test_it_finds_more_than_the_oracle_that_does_not_look_ahead(world):
    gains = [
        found(world, LookAhead, topic, 60)[0] / max(found(world, Oracle, topic, 60)[0], 0.1) for topic in world.topics
    ]
    assert min(gains) >= 0.98
    assert max(gains) > 1.2


def test_the_worth_of_a_way_is_what_it_earns_by_fetch(world):
    topic = world.topics[0]
    relevant = np.zeros(len(world), dtype=np.bool_)
    relevant[world.pages_of(topic)] = True
    ahead = LookAhead(world, relevant, None)
    worth = ahead._worth_of_ways()
    edges = world.graph
    for page in range(0, len(world), 37):
        targets = edges.pages[edges.offsets[page] : edges.offsets[page + 1]]
        direct = int(relevant[targets].sum())
        assert worth[page] >= direct / (1 + direct) - 1e-9
        for target in targets.tolist():
            beyond = int(relevant[edges.pages[edges.offsets[target] : edges.offsets[target + 1]]].sum())
            assert worth[page] >= beyond / (2 + beyond) - 1e-9
    assert worth.max() < 1


def test_no_page_is_visited_twice(world):
    pages = found(world, LookAhead, world.topics[1], 120)[1]
    assert len(pages) == len(set(pages))
