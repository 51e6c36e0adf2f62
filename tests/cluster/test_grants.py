"""Pages are granted to the best links of all shards, and never more than the budget has left."""

from __future__ import annotations

import numpy as np

from lycosa.cluster.grants import FIRST, LEAST_AHEAD, Standing, grants


def standing(shard: int, scores: list[float], ahead: int = 0, speed: float = 20.0) -> Standing:
    return Standing(shard, ahead, speed, np.array(scores, dtype=np.float32))


def test_the_best_links_of_all_are_granted():
    found = grants([standing(0, [0.9] * 50), standing(1, [0.1] * 50)], left=10)
    assert found == {0: 10}


def test_there_is_not_enough_for_all():
    """A shard with worse links gets what the other cannot use."""
    found = grants([standing(0, [0.9] * 200), standing(1, [0.1] * 200)], left=1_000)
    assert found[0] > 2 * found.get(1, 0)


def test_no_more_than_is_left():
    shards = [standing(0, [0.9] * 50), standing(1, [0.8] * 50), standing(2, [])]
    for left in range(12):
        assert sum(grants(shards, left=left).values()) <= left


def test_what_was_granted_before_is_not_offered_again():
    """Its two best links are granted already: what comes next on it is worse than what the other has."""
    found = grants([standing(0, [0.9, 0.9, 0.1], ahead=2), standing(1, [0.5] * 3)], left=3)
    assert found == {1: 3}


def test_a_shard_of_which_nothing_is_known_may_begin():
    assert grants([standing(0, [], speed=0.0)], left=100) == {0: FIRST}


def test_a_shard_whose_hosts_all_rest_does_not_keep_others_waiting():
    resting = standing(0, [0.9] * 50, ahead=LEAST_AHEAD, speed=0.0)
    assert grants([resting, standing(1, [0.2] * 50)], left=100).get(1, 0) > 0


def test_far_better_links_of_another_shard_are_waited_for():
    """As one process waits for a better link on a host that rests."""
    resting = standing(0, [0.9] * 50, ahead=LEAST_AHEAD, speed=0.0)
    assert grants([resting, standing(1, [0.3, 0.2])], left=100, least=0.25).get(1, 0) == 1


def test_nobody_is_granted_far_in_advance():
    found = grants([standing(0, [0.9] * 256, speed=0.0)], left=1_000)
    assert found[0] <= LEAST_AHEAD
