from __future__ import annotations

import numpy as np

from lycosa.frontier.frontier import Frontier
from lycosa.frontier.patience import SOON

GOOD, POOR = 1, 2


def frontier(share: float) -> Frontier:
    """Two good links on one host, two poor ones on another."""
    made = Frontier()
    made.be_patient(share)
    made.push_many(np.array([1, 2, 3, 4]), np.array([GOOD, GOOD, POOR, POOR]), np.array([0.8, 0.7, 0.1, 0.1]))
    return made


def rest(made: Frontier, host: int, until: float) -> None:
    made.cool(host, until)


def test_a_poor_link_waits_while_a_good_host_rests():
    made = frontier(0.25)
    assert made.lease(0.0) == 1
    rest(made, GOOD, 5.0)
    made.done(1)
    assert made.lease(1.0) is None
    assert made.next_ready(1.0) == 5.0
    assert made.lease(5.0) == 2


def test_without_patience_it_goes():
    made = frontier(0.0)
    assert made.lease(0.0) == 1
    rest(made, GOOD, 5.0)
    made.done(1)
    assert made.lease(1.0) == 3


def test_it_waits_for_a_good_host_that_is_busy():
    made = frontier(0.25)
    assert made.lease(0.0) == 1
    assert made.lease(0.0) is None


def test_a_share_that_is_reached_goes():
    made = frontier(0.1)
    assert made.lease(0.0) == 1
    assert made.lease(0.0) == 3


def test_nobody_waits_for_a_host_that_rests_long():
    made = frontier(0.25)
    assert made.lease(0.0) == 1
    rest(made, GOOD, 3 * SOON)
    made.done(1)
    assert made.lease(1.0) == 3


def test_when_the_good_links_are_gone_the_others_go():
    made = frontier(0.25)
    for link in (1, 2):
        assert made.lease(0.0) == link
        made.done(link)
    assert made.lease(1.0) == 3
    made.done(3)
    assert made.lease(2.0) == 4


def test_a_host_set_aside_keeps_nobody_waiting():
    made = frontier(0.25)
    made.set_aside(GOOD)
    assert made.lease(0.0) == 3


def test_seeds_do_not_make_others_wait():
    made = Frontier()
    made.be_patient(0.4)
    made.push_many(np.array([1, 2, 3]), np.array([GOOD, GOOD, POOR]), np.array([2.0, 2.0, 0.5]))
    assert made.lease(0.0) == 1
    assert made.lease(0.0) == 3


def test_a_failed_link_waits_for_an_untried_one_that_is_worth_anything():
    made = frontier(0.25)
    made.set_tiers(np.array([3, 4]), 1)
    made.rescore(np.array([3, 4]), np.array([0.9, 0.9]))
    assert made.lease(0.0) == 1
    assert made.lease(0.0) is None
    made.done(1)
    assert made.lease(1.0) == 2
    made.done(2)
    assert made.lease(2.0) == 3


def test_failed_links_do_not_wait_for_each_other():
    made = frontier(0.25)
    made.set_tiers(np.array([1, 2, 3, 4]), 1)
    assert [made.lease(0.0), made.lease(0.0)] == [1, 3]
