"""Ray, as far as the driver uses it, with threads for actors. Some of them die."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from typing import Any


class FakeRay:
    def __init__(self, dies: Callable[[int], float | None] = lambda _: None) -> None:
        """`dies`: after how many seconds the actor with this number, from 0, dies; None: it lives."""
        self.started = 0
        self.exceptions = FakeRay
        self._dies = dies

    class RayError(Exception):
        pass

    class RayTaskError(RayError):
        def __init__(self, cause: BaseException) -> None:
            super().__init__(str(cause))
            self.cause = cause

    def init(self, **_: object) -> None: ...

    def shutdown(self) -> None: ...

    def kill(self, actor: object) -> None: ...

    def remote(self, **_: object) -> Callable[[type], Any]:
        return lambda made: FakeClass(self, made)

    def wait(self, calls: list[Future[Any]], *, num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        done = wait_for(calls, timeout, FIRST_COMPLETED).done
        return list(done), [call for call in calls if call not in done]

    def get(self, call: Future[Any]) -> Any:
        return call.result()


class FakeClass:
    def __init__(self, ray: FakeRay, made: type) -> None:
        self._ray = ray
        self._made = made

    def options(self, **_: object) -> FakeClass:
        return self

    def remote(self) -> FakeActor:
        self._ray.started += 1
        return FakeActor(self._ray, self._made(), self._ray._dies(self._ray.started - 1))


class FakeActor:
    def __init__(self, ray: FakeRay, made: Any, dies_after: float | None) -> None:
        self._made = made
        self._dies_after = dies_after
        self.run = self
        self._ray = ray

    def remote(self, task: Any) -> Future[Any]:
        call: Future[Any] = Future()

        def body() -> None:
            try:
                result = self._made.run(task)
            except BaseException as error:
                self._settle(call, self._ray.RayTaskError(error))
            else:
                self._settle(call, result)

        threading.Thread(target=body, daemon=True).start()
        return call

    def _settle(self, call: Future[Any], result: Any) -> None:
        if isinstance(result, BaseException):
            call.set_exception(result)
        else:
            call.set_result(result)
