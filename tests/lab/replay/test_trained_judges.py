"""Judges trained for a world see the labels of their examples, and no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.fetch.archive import Archive
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lab.evaluate.runs import LOOK_AHEAD, ORACLE, Scores, Skipped
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.compare import (
    ComparePlan,
    guide_of,
    run_topic,
    runs_of_task,
    task_of,
)
from lycosa.lab.replay.trained_judges import draw_examples, lots_of, task_from_examples, train
from lycosa.lab.worlds.build import build
from lycosa.lab.worlds.world import World
from lycosa.model import Response
from lycosa.strategies.protocol import StrategyParts

PER_TOPIC = 8
STRATEGIES = ("best-first", "hard+best-first", "decay+breadth-first", "shark-16", "infospiders", "ariadne")
WEB = WebPlan(seed=3, pages=240, hosts=12, topics=4, out_degree=10, disallowing_hosts=0.0, crawl_delay=0.0)

Labels = list[tuple[str, str]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Labels]:
    """A generated web as WARC, and its labels. Every seventh labelled page has a second label."""
    web = GeneratedWeb(WEB)
    directory = tmp_path_factory.mktemp("recorded")
    labels: Labels = []
    with Archive(directory) as archive:
        for page in range(len(web)):
            url = web.url(page)
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
            kind = [("content-type", "text/html; charset=utf-8")]
            archive.append(Response(url, 200, kind, web.render(url).body, head=head, started=1.0, ended=2.0))
            topic = web.topic_of(page)
            if topic >= 0:
                labels.append((url, f"hobbies/{web.topic_names[topic]}"))
                if page % 7 == 0:
                    labels.append((url, f"hobbies/{web.topic_names[(topic + 1) % WEB.topics]}"))
        archive.flush()
    return directory, labels


def built(recorded: tuple[Path, Labels], labels: Labels, name: str) -> World:
    directory, _ = recorded
    rows = directory / f"{name}.tsv"
    rows.write_text("\n".join(["url\ttopic", *("\t".join(label) for label in labels)]) + "\n")
    target = directory / f"{name}.world"
    build(sorted(directory.glob("*.warc.gz")), rows, target, readers=0)
    return World.open(target)


@pytest.fixture(scope="module")
def world(recorded: tuple[Path, Labels]) -> World:
    return built(recorded, recorded[1], "true")


@pytest.fixture(scope="module")
def relabelled(recorded: tuple[Path, Labels], world: World) -> World:
    """The same web and examples, every other label exchanged for another topic's where the lottery allows it.

    A page that would be drawn as an example of its new topic keeps the label it has.
    """
    examples = draw_examples(world, per_topic=PER_TOPIC, seed=1)
    urls = {world.url(page) for page in examples.pages.tolist()}
    topics = world.topics
    labels = list(recorded[1])
    for place, (url, topic) in enumerate(labels):
        if url not in urls:
            moved = [*labels]
            moved[place] = (url, topics[(topics.index(topic) + 1) % len(topics)])
            if len(set(moved)) == len(moved) and is_drawn_alike(world, moved, urls, url):
                labels = moved
    return built(recorded, labels, "changed")


def is_drawn_alike(world: World, labels: Labels, examples: set[str], url: str) -> bool:
    """Whether the page with this URL, under its new labels, comes after enough others in each topic's lottery."""
    lots = lots_of(world, 1)
    lot_of = {world.url(page): lots[page] for page in range(len(world))}
    for topic in {topic for at, topic in labels if at == url}:
        members = sorted((lot_of[at], at) for at, label in labels if label == topic)
        if not {at for _, at in members[:PER_TOPIC]} <= examples:
            return False
    return True


def plan_for(world: World, **changes: object) -> ComparePlan:
    plan = ComparePlan(
        world=world.path,
        topics=tuple(world.topics),
        strategies=STRATEGIES,
        distance=0,
        pages=80,
        buffer=0,
        repeats=1,
        seeds=4,
        threshold=0.5,
        judge="bayes",
        examples=PER_TOPIC,
    )
    return replace(plan, **changes)  # type: ignore[arg-type] # any field


def test_labels_of_pages_that_are_no_examples_change_neither_judge_nor_crawl(world: World, relabelled: World) -> None:
    """Honesty, from the file to the crawl: examples, judge and crawls made anew from each of two truths."""
    worlds = (world, relabelled)
    differing = [page for page in range(len(world)) if world.topics_of(page) != relabelled.topics_of(page)]
    sets = [draw_examples(each, per_topic=PER_TOPIC, seed=1) for each in worlds]
    assert len(differing) > 50
    assert not set(differing) & set(sets[0].pages.tolist())
    assert sets[0].pages.tolist() == sets[1].pages.tolist()
    saved = [train(each, examples, kind="bayes").save() for each, examples in zip(worlds, sets, strict=True)]
    assert saved[0] == saved[1]
    topic = world.topics[0]
    seeds = sets[0].of(topic)[:4]
    ways = []
    for each in worlds:
        plan = plan_for(each)
        guide = guide_of(plan, topic)
        task = replace(task_of(plan, topic, np.random.default_rng(5)), seeds=seeds)
        runs = {run.strategy: run for run in runs_of_task(plan, guide, task, 0)}
        oracle = runs.pop(ORACLE)
        runs.pop(LOOK_AHEAD)
        ways.append({name: (run.pages.tolist(), run.relevance.tolist()) for name, run in runs.items()})
        ways[-1]["found by the oracle"] = ([int(task.relevant[oracle.pages].sum())], [])
    assert ways[0].pop("found by the oracle") != ways[1].pop("found by the oracle")
    assert ways[0] == ways[1]
    assert len({tuple(pages) for pages, _ in ways[0].values()}) > 3  # these are different crawls


def test_examples_are_neither_targets_nor_graded(world: World) -> None:
    examples = draw_examples(world, per_topic=PER_TOPIC, seed=1)
    topic = world.topics[1]
    task = task_from_examples(world, topic, examples, distance=0, seeds=4, rng=np.random.default_rng(1))
    own = set(examples.of(topic).tolist())
    assert len(own) >= PER_TOPIC
    assert set(task.seeds.tolist()) < own
    assert set(task.given.tolist()) == own == set(task.examples.tolist())
    assert set(task.targets.tolist()) == set(world.pages_of(topic).tolist()) - own
    assert set(np.flatnonzero(task.relevant).tolist()) == set(world.pages_of(topic).tolist())


def test_seeds_farther_away_start_outside_the_topic(world: World) -> None:
    examples = draw_examples(world, per_topic=PER_TOPIC, seed=1)
    topic = world.topics[1]
    task = task_from_examples(world, topic, examples, distance=2, seeds=4, rng=np.random.default_rng(1))
    assert not task.relevant[task.seeds].any()
    assert set(task.given.tolist()) == set(examples.of(topic).tolist())
    assert not set(task.targets.tolist()) & set(task.given.tolist())
    assert (world.distances(task.targets, is_backward=True)[task.seeds] > 0).all()


def test_what_is_drawn(world: World) -> None:
    few = draw_examples(world, per_topic=3, seed=1)
    more = draw_examples(world, per_topic=10, seed=1)
    other = draw_examples(world, per_topic=3, seed=2)
    assert set(few.pages.tolist()) < set(more.pages.tolist())
    assert few.pages.tolist() != other.pages.tolist()
    for topic in world.topics:
        assert 3 <= len(few.of(topic)) <= 6  # some were drawn for another of their topics
    without = [page for page in more.pages.tolist() if not world.topics_of(page)]
    labelled = {page for topic in world.topics for page in world.pages_of(topic).tolist()}
    share = (len(more) - len(without)) / len(labelled)
    assert len(without) == round(share * (len(world) - len(labelled)))
    greedy = draw_examples(world, per_topic=10_000, seed=1)
    for topic in world.topics:
        assert len(world.pages_of(topic)) > len(greedy.of(topic)) >= len(world.pages_of(topic)) // 2


def test_an_example_is_under_its_lowest_topics(recorded: tuple[Path, Labels]) -> None:
    labels = [*recorded[1], *((url, "hobbies") for url, _ in recorded[1][:40])]
    nested = built(recorded, list(dict.fromkeys(labels)), "nested")
    shown = {topic for example in draw_examples(nested, per_topic=10, seed=1) for topic in example.topics}
    assert shown == {topic for topic in nested.topics if topic != "hobbies"}
    classifier = train(nested, draw_examples(nested, per_topic=10, seed=1), kind="bayes")
    assert "hobbies" in classifier.topics_
    judge = TopicJudge(classifier, ["hobbies"])
    about, other = (
        np.mean([judge.judge(nested.page(page)).relevance for page in pages])
        for pages in (nested.pages_of("hobbies"), [p for p in range(len(nested)) if not nested.topics_of(p)])
    )
    assert about > 0.8 > 0.3 > other


@pytest.mark.parametrize("kind", ["bayes", "svm", "knn"])
def test_a_trained_judge_knows_the_topic_when_it_sees_it(world: World, kind: str) -> None:
    examples = draw_examples(world, per_topic=PER_TOPIC, seed=1)
    topic = world.topics[0]
    judge = TopicJudge(train(world, examples, kind=kind), [topic])
    unseen = np.setdiff1d(np.arange(len(world)), examples.pages).tolist()
    is_member = np.array([topic in world.topics_of(page) for page in unseen])
    relevance = np.array([judge.judge(world.page(page)).relevance for page in unseen])
    assert relevance[is_member].mean() > 3 * relevance[~is_member].mean()


def test_strategies_are_told_which_leaves_are_good(world: World) -> None:
    plan = plan_for(world, is_timed=False)
    parts = StrategyParts.of(guide_of(plan, world.topics[0]).topic, rng=np.random.default_rng(1))
    assert parts.is_good(world.topics[0])
    assert not parts.is_good(world.topics[1])


def test_a_comparison_with_a_trained_judge(world: World) -> None:
    plan = plan_for(world, repeats=2, has_overlap=True)
    scores = run_topic((plan, world.topics[0]))
    assert isinstance(scores, Scores)
    harvest = dict(zip(scores.strategies, scores.curves["harvest"][:, -1].tolist(), strict=True))
    assert harvest[ORACLE] >= harvest["best-first"] > 1.5 * harvest["random"]
    assert set(scores.overlaps) == set(plan.names)


def test_sharing_what_is_known_changes_no_crawl(world: World) -> None:
    plan = plan_for(world)
    topic = world.topics[2]
    task = task_of(plan, topic, np.random.default_rng(5))
    ways = [
        [run.pages.tolist() for run in runs_of_task(plan, guide_of(each, topic), task, 0)]
        for each in (plan, replace(plan, is_timed=False))
    ]
    assert ways[0] == ways[1]


def test_what_cannot_be_is_told(world: World, recorded: tuple[Path, Labels]) -> None:
    with pytest.raises(ConfigError, match="no judge 'byes'; there are keywords, contrast, bayes"):
        plan_for(world, judge="byes")
    with pytest.raises(ConfigError, match=r"compare\.examples"):
        plan_for(world, examples=0)
    with pytest.raises(ConfigError, match="no judge 'keywords'; there are bayes"):
        train(world, draw_examples(world, per_topic=2, seed=1), kind="keywords")
    with pytest.raises(InputError, match="without labels"):
        draw_examples(built(recorded, [], "bare"), per_topic=2, seed=1)
    lonely = built(recorded, [*recorded[1], (world.url(0), "lonely")], "lonely")
    skipped = run_topic((plan_for(lonely), "lonely"))
    assert isinstance(skipped, Skipped)
    assert "lonely" in skipped.reason
