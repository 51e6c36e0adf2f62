"""Runs, qrels and manifest: what others need to check or repeat a comparison."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lycosa.lab.evaluate.report import write_report
from lycosa.lab.evaluate.runs import Comparison
from lycosa.lab.evaluate.summary import final_values
from lycosa.lab.evaluate.trec import query, write_trec
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.compare import ComparePlan, compare, guide_of, runs_of_task, task_of, task_rng
from lycosa.lab.replay.manifest import code_digest, file_digest, manifest_of
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    path = tmp_path_factory.mktemp("exported") / "made.world"
    web = GeneratedWeb(WebPlan(seed=6, pages=200, hosts=6, topics=3, out_degree=10))
    build_generated(web, path, is_rendered=True, readers=0)
    return World.open(path)


@pytest.fixture(scope="module")
def plan(world) -> ComparePlan:
    return ComparePlan(
        world=world.path,
        topics=tuple(world.topics[:2]),
        strategies=("best-first-4", "breadth-first"),
        distance=0,
        pages=40,
        repeats=2,
        seeds=3,
        settings={"best-first.batch": 8},
    )


@pytest.fixture(scope="module")
def comparison(plan) -> Comparison:
    return compare(plan)


@pytest.fixture(scope="module")
def exported(comparison, world, tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("trec")
    files = write_trec(comparison, directory, world.url)
    names = ("best-first-4", "breadth-first", "random", "look-ahead", "oracle")
    assert [path.name for path in files] == ["qrels.txt", *(f"{n:02d}-{name}.txt" for n, name in enumerate(names, 1))]
    return directory


def test_other_tools_get_the_same_figures(exported, comparison):
    measures = pytest.importorskip("ir_measures")
    qrels = list(measures.read_trec_qrels(str(exported / "qrels.txt")))
    recall, harvest = measures.R @ comparison.pages, measures.P @ comparison.pages
    for number, path in enumerate(sorted((exported / "runs").iterdir())):
        run = list(measures.read_trec_run(str(path)))
        theirs = measures.calc_aggregate([recall, harvest], qrels, run)
        for measure, name in ((recall, "recall"), (harvest, "harvest")):
            ours = final_values(comparison, name)[:, number].mean()
            assert theirs[measure] == pytest.approx(ours, abs=1e-6), (path.name, name)


def test_every_line_has_its_fields_and_pages_that_were_given_are_in_no_truth(exported, comparison, world):
    rows = [line.split(" ") for line in (exported / "qrels.txt").read_text().splitlines()]
    assert {len(row) for row in rows} == {4}
    scores = comparison.scores[0]
    wanted = {row[2] for row in rows if row[0] == query(scores.topic, 1)}
    given = {world.url(page) for page in scores.crawled[1].given.tolist()}
    assert len(given) == 3
    assert wanted == {world.url(page) for page in world.pages_of(scores.topic).tolist()} - given
    lines = (exported / "runs" / "02-breadth-first.txt").read_text().splitlines()
    first = [line.split(" ") for line in lines if line.startswith(query(scores.topic, 0) + " ")]
    assert {len(row) for row in first} == {6}
    assert [int(row[3]) for row in first] == list(range(1, len(first) + 1))
    assert [row[2] for row in first] == [world.url(page) for page in scores.crawled[0].ways["breadth-first"].tolist()]
    assert all(int(a[4]) > int(b[4]) for a, b in itertools.pairwise(first))


def test_names_from_the_web_cannot_break_a_line(comparison, tmp_path):
    scores = replace(comparison.scores[0], topic="a b\nc 0 x 1")
    write_trec(replace(comparison, scores=[scores]), tmp_path, lambda page: f"http://a.test/{page} \n\u2028")
    for path in (tmp_path / "qrels.txt", *(tmp_path / "runs").iterdir()):
        text = path.read_text()
        fields = 4 if path.name == "qrels.txt" else 6
        assert {len(line.split()) for line in text.splitlines()} == {fields}


def test_the_manifest_says_what_it_was_made_of(comparison, plan, world, tmp_path):
    write_report(comparison, tmp_path)
    facts = json.loads((tmp_path / "manifest.json").read_text())
    assert facts["world"] == {"file": "made.world", "sha256": file_digest(world.path)}
    assert facts["code"]["sha256"] == code_digest()
    assert facts["plan"]["seed"] == 1
    assert facts["plan"]["world"] == "made.world"  # not where it lies
    assert facts["constants"]["best-first-4"] == {"best-first.batch": 4}
    assert facts["constants"]["breadth-first"] == {}
    for topic in plan.topics:
        seeds = [task_of(plan, topic, task_rng(plan, topic, repeat)).seeds.tolist() for repeat in range(2)]
        assert facts["seeds"][topic] == seeds


def test_constants_by_default_and_of_rules_are_named_too(plan):
    made = manifest_of(replace(plan, strategies=("decay+shark", "ga2003"), settings={"shark.depth": 5}))["constants"]
    assert made["decay+shark"]["shark.depth"] == 5
    assert made["decay+shark"]["shark.batch"] == 1
    assert "decay.reset" in made["decay+shark"]
    assert made["ga2003"]["evolved.comm_out"] == 121


def test_distances_are_those_of_the_shortest_ways(plan, world):
    task = task_of(plan, plan.topics[0], task_rng(plan, plan.topics[0], 0))
    guide = guide_of(plan, plan.topics[0])
    shortest = world.distances(task.seeds)
    ways = {run.strategy: run for run in runs_of_task(plan, guide, task, 0)}
    for run in ways.values():
        assert run.distance.tolist() == shortest[run.pages].tolist()
    assert (np.diff(ways["breadth-first"].distance) >= 0).all()
