"""Tasks as in paper TC: seeds a given number of links before the targets, and nothing given away."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import InputError
from lycosa.fetch.urls import url_hash
from lycosa.lab.replay.tasks import BACK_LINKS, Task, keywords, make_task, split_topics
from lycosa.lab.worlds.world import World
from lycosa.lab.worlds.writer import WorldWriter
from lycosa.model import Link, Page


def url(page: int) -> str:
    return f"http://a.test/{page}"


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., World]:
    """A world from the links of each page, and its topics. Page i has the term t<i> i + 1 times."""

    def build(links: dict[int, list[int]], **topics: list[int]) -> World:
        with WorldWriter(tmp_path / "w") as writer:
            for page, targets in links.items():
                found = [Link(url(target)) for target in targets]
                hashes = struct.pack(f"={len(found)}q", *(url_hash(link.url) for link in found))
                writer.add_page(
                    Page(url(page), links=found, link_hashes=hashes, terms={f"t{page}": page + 1, "all": 1})
                )
            for topic, pages in topics.items():
                for page in pages:
                    writer.label(url(page), topic)
            writer.finish({})
        return World.open(tmp_path / "w")

    return build


@pytest.fixture
def chain(make: Callable[..., World]) -> World:
    """0 → 1 → … → 9, and the topic at its end."""
    return make({page: [page + 1] for page in range(10)}, End=[8, 9], Start=[0])


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize(("distance", "seeds"), [(1, [7]), (2, [6, 7]), (3, [5, 6])])
def test_seeds_are_that_many_links_before_the_targets(chain: World, distance: int, seeds: list[int]) -> None:
    task = make_task(chain, "End", distance=distance, seeds=len(seeds), rng=rng())
    assert task.seeds.tolist() == seeds
    assert task.targets.tolist() == [8, 9]
    assert task.distance == distance
    assert chain.distances(task.targets, is_backward=True)[task.seeds].tolist() == [8 - seed for seed in seeds]
    assert task.relevant.nonzero()[0].tolist() == [8, 9]
    assert task.is_graded.all()


def test_the_largest_distance_there_is_serves_where_the_wanted_one_does_not(chain: World) -> None:
    task = make_task(chain, "End", distance=20, seeds=1, rng=rng())
    assert (task.distance, task.seeds.tolist()) == (9, [0])


def test_there_may_be_fewer_seeds_than_asked_for(chain: World) -> None:
    assert make_task(chain, "End", distance=3, rng=rng()).seeds.tolist() == [5, 6]


def test_at_distance_0_the_seeds_are_targets_that_are_not_graded(make: Callable[..., World]) -> None:
    world = make({page: [] for page in range(30)}, Half=list(range(0, 30, 2)))
    task = make_task(world, "Half", distance=0, seeds=4, rng=rng())
    assert len(task.seeds) == 4
    assert len(task.targets) == 11
    assert sorted([*task.seeds, *task.targets]) == list(range(0, 30, 2))
    assert (~task.is_graded).nonzero()[0].tolist() == task.seeds.tolist()
    assert task.relevant[task.seeds].all()


def test_a_topic_that_nothing_links_to_starts_at_its_own_pages(make: Callable[..., World]) -> None:
    world = make({page: [(page + 1) % 12] for page in range(12)}, Closed=list(range(12)))
    task = make_task(world, "Closed", distance=2, seeds=3, rng=rng())
    assert task.distance == 0
    assert len(task.targets) == 9


def test_examples_are_neither_targets_nor_graded(make: Callable[..., World]) -> None:
    world = make(
        {page: [10 + page] for page in range(10)} | {10 + page: [] for page in range(10)}, T=list(range(10, 20))
    )
    task = make_task(world, "T", distance=1, targets=5, examples=3, rng=rng())
    assert (len(task.targets), len(task.examples)) == (5, 3)
    assert not set(task.targets.tolist()) & set(task.examples.tolist())
    assert (~task.is_graded).nonzero()[0].tolist() == task.examples.tolist()
    assert int(task.relevant.sum()) == 10, "the truth is the whole topic"
    assert {page - 10 for page in task.targets.tolist()} == set(task.seeds.tolist())


def test_the_description_is_the_targets_words(chain: World) -> None:
    description = make_task(chain, "End", distance=1, rng=rng()).description
    words = {chain.vocabulary[term]: count for count, term in zip(*map(np.ndarray.tolist, description), strict=True)}
    assert words == {"t8": 9, "t9": 10, "all": 2}
    assert (np.diff(description.indices) > 0).all()


def test_of_many_back_links_some_are_drawn(make: Callable[..., World]) -> None:
    world = make({0: []} | {page: [0] for page in range(1, 200)}, T=[0])
    task = make_task(world, "T", distance=1, seeds=50, rng=rng())
    assert len(task.seeds) == BACK_LINKS
    assert len(make_task(world, "T", distance=1, rng=rng()).seeds) == 10


def test_the_same_random_numbers_give_the_same_task(make: Callable[..., World]) -> None:
    chance = np.random.default_rng(3)
    world = make({page: chance.choice(100, 5).tolist() for page in range(100)}, T=list(range(40)))

    def one(seed: int) -> Task:
        return make_task(world, "T", distance=3, targets=10, examples=5, rng=np.random.default_rng(seed))

    def parts(task: Task) -> list[list[int]]:
        return [part.tolist() for part in (task.seeds, task.targets, task.examples)]

    assert parts(one(1)) == parts(one(1))
    assert parts(one(1)) != parts(one(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"topic": "Start", "distance": 0}, "'Start' has 1 page: with 10 of them as seeds no target is left"),
        ({"topic": "Start", "distance": 2}, "'Start' has 1 page.*no page links to them"),
        ({"topic": "End", "distance": 1, "examples": 2}, "'End' has 2 pages: none is left as target after 2 examples"),
        ({"topic": "Ende", "distance": 1}, "no topic 'Ende'; the nearest are End"),
        ({"topic": "End", "distance": -1}, "distance must be from 0"),
        ({"topic": "End", "distance": 1, "targets": 0}, "the others 1 or more"),
    ],
)
def test_tasks_that_cannot_be(chain: World, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_task(chain, **arguments, rng=rng())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("Science/Biology/Birds", "science biology birds"),
        ("History/British_History/British_History_1500_and_before", "history british 1500"),
        ("The_Who", "the who"),
    ],
)
def test_keywords_are_the_words_of_the_path(topic: str, words: str) -> None:
    assert keywords(topic) == words


def test_topics_are_halved_the_same_way_whatever_their_order() -> None:
    topics = [f"topic {i}" for i in range(21)]
    development, test = split_topics(topics)
    assert (len(development), len(test)) == (11, 10)
    assert sorted(development + test) == sorted(topics)
    assert split_topics(topics[::-1]) == (development, test)
    assert development != sorted(topics)[:11]
