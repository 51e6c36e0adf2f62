"""What a crawl sets for its whole process, and what is as before when it has ended."""

from __future__ import annotations

import gc

import numpy as np  # noqa: F401 - brings the library that is limited
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lycosa.lib import memory
from lycosa.lib.algebra import on_one_core
from lycosa.lib.memory import little_garbage


def threads() -> set[int]:
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_algebra_by_one_thread():
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with on_one_core():
            assert threads() <= {1}
        assert threads() == before


@pytest.mark.parametrize(
    ("before", "meanwhile"), [(700, memory.GARBAGE), (memory.GARBAGE + 1, memory.GARBAGE + 1), (0, 0)]
)
def test_garbage_is_looked_for_less_often(before, meanwhile):
    usual = gc.get_threshold()
    try:
        gc.set_threshold(before, 11, 12)
        with little_garbage():
            assert gc.get_threshold() == (meanwhile, 11, 12)
        assert gc.get_threshold() == (before, 11, 12)
    finally:
        gc.set_threshold(*usual)
