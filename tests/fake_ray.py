"""Ray, as far as we use it, with threads for actors; functions are called when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError
from concurrent.futures import wait as wait_for
from contextlib import suppress
from typing import Any

import cloudpickle


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


class FakeRay:
    """`places`: number of actors that find a place at first; None: all do."""

    RayError, RayTaskError = RayError, RayTaskError

    def __init__(self, places: int | None = None) -> None:
        self.exceptions = self
        self.calls: list[Future[Any]] = []
        """Of functions, and of the method `run` of actors."""
        self.actors: list[FakeActor] = []
        self.free = 1_000 if places is None else places

    def init(self, **_: object) -> None: ...

    def shutdown(self) -> None: ...

    def join(self, places: int) -> None:
        """A node joins, with room for so many actors."""
        self.free += places
        self.place()

    def lose(self, actor: FakeActor) -> None:
        """The node of an actor is lost, as far as anybody can see: what it does goes on until somebody stops it."""
        actor.is_lost = True
        for call in actor.under_way:
            if not call.done():
                call.set_exception(RayError("the node is lost"))

    def kill(self, actor: FakeActor) -> None:
        if actor in self.actors:
            self.actors.remove(actor)
            self.free += actor.is_placed and not actor.is_lost
            self.place()

    def place(self) -> None:
        for actor in self.actors:
            if self.free and not actor.is_placed:
                self.free -= 1
                actor.begin()

    def remote(self, **_: object) -> Callable[[Any], Any]:
        return lambda made: FakeActorClass(self, made) if isinstance(made, type) else FakeFunction(self, made)

    def put(self, value: Any) -> Any:
        return value

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def wait(self, calls: list[Future[Any]], *, num_returns: int, timeout: float) -> tuple[list[Any], list[Any]]:
        done = wait_for(calls, timeout, FIRST_COMPLETED).done
        return list(done), [call for call in calls if call not in done]

    def get(self, call: Future[Any]) -> Any:
        return call.result()


class FakeActorClass:
    def __init__(self, ray: FakeRay, made: type) -> None:
        self._ray = ray
        self._made = made

    def options(self, **_: object) -> FakeActorClass:
        return self

    def remote(self) -> FakeActor:
        actor = FakeActor(self._ray, self._made())
        self._ray.actors.append(actor)
        self._ray.place()
        return actor


class FakeActor:
    def __init__(self, ray: FakeRay, made: object) -> None:
        self._ray = ray
        self._made = made
        self.is_placed = self.is_lost = False
        self.under_way: list[Future[Any]] = []
        self._waiting: list[Callable[[], None]] = []

    def begin(self) -> None:
        self.is_placed = True
        for start in self._waiting:
            start()

    def __getattr__(self, name: str) -> FakeMethod:
        return FakeMethod(self, name)

    def call(self, name: str, given: tuple[Any, ...]) -> Future[Any]:
        call: Future[Any] = Future()
        self.under_way.append(call)
        if name == "run":
            self._ray.calls.append(call)
        start = threading.Thread(target=self._work, args=(call, name, given), daemon=True).start
        if self.is_placed:
            start()
        else:
            self._waiting.append(start)
        return call

    def _work(self, call: Future[Any], name: str, given: tuple[Any, ...]) -> None:
        with suppress(InvalidStateError):  # it was lost meanwhile
            try:
                call.set_result(getattr(self._made, name)(*given))
            except InvalidStateError:
                raise
            except BaseException as error:
                call.set_exception(RayTaskError(error))


class FakeMethod:
    def __init__(self, actor: FakeActor, name: str) -> None:
        self._actor = actor
        self._name = name

    def remote(self, *given: Any) -> Future[Any]:
        return self._actor.call(self._name, given)


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
