"""HostQueue against a sorted list, with blocks small enough to be split and merged all the time."""

from __future__ import annotations

import sys
from bisect import insort

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.frontier import host_queue
from lycosa.frontier.host_queue import HostQueue
from lycosa.frontier.schedule import ScheduledHost

KEYS = st.one_of(st.integers(0, 60), st.integers(0, 2**64 - 1))
STEPS = st.lists(st.tuples(st.sampled_from(["push", "push", "push", "pop", "remove", "move"]), KEYS), max_size=150)


@pytest.fixture(autouse=True, scope="module")
def _small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_queue, "BLOCK", 4)
        yield


def contents(queue: HostQueue) -> list[int]:
    keys = []
    while len(queue):
        keys.append(queue.pop())
    return keys


@given(st.sets(KEYS), STEPS)
def test_is_a_sorted_set(start: set[int], steps: list[tuple[str, int]]) -> None:
    queue, model = HostQueue(), sorted(start)
    queue.fill(np.array(model, dtype=np.uint64))
    for step, key in steps:
        if step == "push" and key not in model:
            queue.push(key)
            insort(model, key)
        elif step == "pop" and model:
            assert queue.pop() == model.pop(0)
        elif step == "remove" and model:
            victim = model.pop(key % len(model))
            queue.remove(victim)
        elif step == "move" and model and key not in model:
            queue.move(model.pop(key % len(model)), key)
            insort(model, key)
        assert len(queue) == len(model)
        assert queue.head[:1].tolist() == model[:1]
        if model:
            assert queue.last() == model[-1]
    assert contents(queue) == model


@given(STEPS)
def test_blocks_stay_within_bounds(steps: list[tuple[str, int]]) -> None:
    queue, model = HostQueue(), []
    for step, key in steps:
        if step == "push" and key not in model:
            queue.push(key)
            insort(model, key)
        elif step != "push" and model:
            queue.remove(model.pop(key % len(model)))
        blocks = [queue.head] if queue._spread is None else queue._spread[0]
        assert blocks[0] is queue.head
        assert all(len(block) <= host_queue.BLOCK for block in blocks)
        assert len(blocks) == 1 or all(blocks)


def test_removing_what_is_not_there_is_a_fault() -> None:
    queue = HostQueue()
    for key in range(0, 40, 2):
        queue.push(key)
    for missing in (7, 39, 1000):
        with pytest.raises(KeyError):
            queue.remove(missing)
        with pytest.raises(KeyError):
            queue.move(missing, missing + 2)
    assert contents(queue) == list(range(0, 40, 2))


def test_ascending_keys_fill_their_blocks() -> None:
    queue = HostQueue()
    for key in range(400):
        queue.push(key)
    assert queue._spread is not None
    assert len(queue._spread[0]) == 100


def test_shrinking_unites_blocks() -> None:
    queue = HostQueue()
    for key in range(400):
        queue.push(key)
    for key in range(400):
        if key % 8:
            queue.remove(key)
    assert queue._spread is not None
    assert len(queue._spread[0]) <= 50
    assert contents(queue) == list(range(0, 400, 8))
    assert queue._spread is None


def test_a_host_with_one_link_is_small() -> None:
    """A hundred thousand hosts must not take more than forty megabytes."""
    host = ScheduledHost(12345)
    host.push(2**63)
    owned = [host, host.head, host.number, host.bound, host.entry()]
    assert sum(map(sys.getsizeof, owned)) < 400
