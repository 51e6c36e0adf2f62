"""Ray, as far as we use it, with threads for actors; functions are called when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from typing import Any

import cloudpickle


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


class FakeRay:
    RayError, RayTaskError = RayError, RayTaskError

    def __init__(self) -> None:
        self.exceptions = self
        self.calls: list[Future[Any]] = []

    def init(self, **_: object) -> None: ...

    def shutdown(self) -> None: ...

    def kill(self, actor: object) -> None: ...

    def remote(self, **_: object) -> Callable[[Any], Any]:
        return lambda made: FakeActor(self, made) if isinstance(made, type) else FakeFunction(self, made)

    def put(self, value: Any) -> Any:
        return value

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def wait(self, calls: list[Future[Any]], *, num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        done = wait_for(calls, timeout, FIRST_COMPLETED).done
        return list(done), [call for call in calls if call not in done]

    def get(self, call: Future[Any]) -> Any:
        return call.result()


class FakeActor:
    """The class of an actor, an actor, and its method `run`."""

    def __init__(self, ray: FakeRay, made: type) -> None:
        self._ray = ray
        self._made = made

    def options(self, **_: object) -> FakeActor:
        return self

    @property
    def run(self) -> FakeActor:
        return self

    def remote(self, *task: Any) -> Any:
        if not task:
            return FakeActor(self._ray, self._made)
        call: Future[Any] = Future()
        threading.Thread(target=self._work, args=(call, task[0]), daemon=True).start()
        self._ray.calls.append(call)
        return call

    def _work(self, call: Future[Any], task: Any) -> None:
        try:
            call.set_result(self._made().run(task))
        except BaseException as error:
            call.set_exception(RayTaskError(error))


class FakeFunction:
    """What it is called with goes through pickle, as on its way to another process."""

    def __init__(self, ray: FakeRay, function: Callable[..., Any]) -> None:
        self._ray = ray
        self._function = function

    def remote(self, *given: Any) -> Any:
        call: Future[Any] = Future()
        self._ray.calls.append(call)
        try:
            call.set_result(self._function(*cloudpickle.loads(cloudpickle.dumps(given))))
        except BaseException as error:
            call.set_exception(error if isinstance(error, RayError) else RayTaskError(error))
        return call
