"""The laboratory's work over a Ray cluster, with a stand-in for Ray (test_real_ray has Ray itself)."""

from __future__ import annotations

import sys

import pytest

from fake_ray import FakeRay, RayError
from lycosa.cli.spreading import Spread, spread, spread_of
from lycosa.cluster import work
from lycosa.cluster.work import workers
from lycosa.errors import InputError, LycosaError

begun: list[object] = []


def begin(value: object) -> None:
    begun.append(value)


def squared(item: int) -> int:
    return item * item


def refused(item: int) -> int:
    raise InputError(f"no {item}")


def dying(item: int) -> int:
    raise RayError("The worker died unexpectedly\nwith a long report")


@pytest.fixture
def ray(monkeypatch):
    found = FakeRay()
    begun.clear()
    monkeypatch.setattr(work, "require_ray", lambda: found)
    return found


class TestWorkers:
    def test_results_come_in_order(self, ray):
        with workers("", 2) as found:
            assert list(found.imap(squared, range(20))) == [item * item for item in range(20)]

    def test_few_items_are_under_way_at_a_time(self, ray):
        with workers("", 2) as found:
            results = found.imap(squared, range(100))
            next(results)
            assert len(ray.calls) == 4  # two for each of two processors
            next(results)
            assert len(ray.calls) == 5

    def test_a_process_begins_once_and_anew_for_other_work(self, ray):
        with workers("", 2, begin, ("one",)) as found:
            list(found.imap(squared, range(5)))
            list(found.imap(squared, range(5)))
        with workers("", 2, begin, ("two",)) as found:
            list(found.imap(squared, range(5)))
        assert begun == ["one", "two"]

    def test_an_error_comes_as_it_is(self, ray):
        with workers("", 2) as found, pytest.raises(InputError, match="no 0"):
            list(found.imap(refused, range(5)))

    def test_processes_that_die_are_an_error_in_a_line(self, ray):
        with (
            workers("", 2) as found,
            pytest.raises(LycosaError, match=r"die at this work .The worker died unexpectedly"),
        ):
            list(found.imap(dying, range(5)))


class TestOptions:
    def test_over_a_cluster_processes_and_here_it_is_the_same(self, ray):
        expected = [item * item for item in range(9)]
        for over in (Spread(1), Spread(2), Spread(2, is_over_cluster=True)):
            with spread(over) as imap:
                assert list(imap(squared, range(9))) == expected
        assert len(ray.calls) == 9  # of the cluster alone

    def test_other_processes_begin(self, ray):
        with spread(Spread(1, is_over_cluster=True), begin, ("there",)) as imap:
            list(imap(squared, range(2)))
        assert begun == ["there"]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ((-1, False, ""), "0 .one for each core. or more"),
            ((0, False, "ray://host:10001"), "give --cluster, too"),
            ((4, True, "ray://host:10001"), "leave it out with --ray"),
        ],
    )
    def test_what_does_not_fit_together_is_refused(self, given, message):
        with pytest.raises(InputError, match=message):
            spread_of(*given)

    def test_without_ray_it_is_said_in_a_line(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "ray", None)
        over = spread(Spread(2, is_over_cluster=True))
        with pytest.raises(LycosaError, match=r"a cluster needs Ray.*pip install 'lycosa\[cluster\]'"):
            over.__enter__()
