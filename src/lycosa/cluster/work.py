"""One function for many items, on every processor of a Ray cluster: how the laboratory's work is spread.

Nothing is kept between two items but what every process begins with. An item whose process or node dies is given to
another by Ray. Files have to be found under the same path on every node.
"""

from __future__ import annotations

import contextlib
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import cloudpickle

from lycosa.cluster.connection import connected, require_ray
from lycosa.errors import LycosaError

MOST_RETRIES = 8
"""Number of times that an item is given to another process because one died."""
AHEAD = 2
"""Items under way or waiting for each processor."""

Given = TypeVar("Given")
Made = TypeVar("Made")
Begin = Callable[..., None]

_begun = ""
"""In a process of the cluster: what it has begun."""


class Workers:
    """The processes of a cluster. `imap` is that of multiprocessing's pools: results come in the order of the items."""

    def __init__(self, ray: Any, begin: Begin | None, given: tuple[Any, ...]) -> None:
        self._ray = ray
        self._number = uuid.uuid4().hex
        # Pickled by us: arrays that Ray passes on can only be read.
        self._start = ray.put(cloudpickle.dumps((begin, given)))
        self._call = ray.remote(num_cpus=1, max_retries=MOST_RETRIES)(call)
        self._most = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))

    def imap(self, function: Callable[[Given], Made], items: Iterable[Given]) -> Iterator[Made]:
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(self._call.remote(self._number, self._start, function, item))
            if len(waiting) >= self._most:
                yield self._result(waiting.popleft())
        while waiting:
            yield self._result(waiting.popleft())

    def _result(self, under_way: Any) -> Any:
        try:
            return self._ray.get(under_way)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            raise LycosaError(
                f"the processes of the cluster die at this work ({str(error).splitlines()[0]}); is there enough memory?"
            ) from error


def call(number: str, start: bytes, function: Callable[[Any], Any], item: Any) -> Any:
    """In a process of the cluster."""
    global _begun
    if _begun != number:
        begin, given = cloudpickle.loads(start)
        if begin is not None:
            begin(*given)
        _begun = number
    return function(item)


@contextlib.contextmanager
def workers(
    address: str, processors: int, begin: Begin | None = None, given: tuple[Any, ...] = (), *, ray: Any = None
) -> Iterator[Workers]:
    """`address`: of a Ray cluster; without it, one with so many processors is started here. `begin`: called with what
    is given in every process, before its first item. `ray`: the module, or what stands for it in a test."""
    ray = ray or require_ray()
    with connected(ray, address, processors):
        yield Workers(ray, begin, given)
