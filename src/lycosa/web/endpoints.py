"""One endpoint of the API: input checked by a model, a function in a thread, JSON out, an error as one sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from lycosa.errors import LycosaError
from lycosa.web.crawls import House, ListedCrawl

Model = TypeVar("Model", bound=BaseModel)


class Input(BaseModel):
    """What an endpoint takes, as query or as body. Unknown names are errors."""

    model_config = ConfigDict(extra="forbid", str_max_length=8_000_000)


class NotThere(LycosaError):
    """What was asked for does not exist."""


@dataclass(frozen=True, slots=True)
class Download:
    """A response that is not JSON."""

    body: bytes
    media: str = "application/octet-stream"
    name: str = ""
    """Of the file, if it is to be saved."""
    policy: str = ""
    """Content-Security-Policy, if it is not the usual one."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    house: House
    names: Mapping[str, str]
    """The parts of the path."""
    query: Any = None
    body: Any = None

    @property
    def crawl(self) -> ListedCrawl:
        """The crawl that the path names."""
        found = self.house.find(self.names["crawl"])
        if found is None:
            raise NotThere(f"there is no crawl {self.names['crawl']!r} here")
        return found

    def number(self, name: str) -> int:
        text = self.names[name]
        if not text.isascii() or not text.isdigit() or len(text) > 15:
            raise NotThere(f"{text!r} is not a number")
        return int(text)


@dataclass(frozen=True, slots=True)
class Endpoint:
    method: str
    path: str
    summary: str
    answer: Callable[[Call], Any]
    query: type[Input] | None = None
    body: type[Input] | None = None
    media: str = "application/json"
    """Of the answer; several, with a space between them, where the query chooses."""
    tag: str = field(default="", kw_only=True)

    async def respond(self, request: Request) -> Response:
        house: House = request.app.state.house
        try:
            query = self.query and _checked(self.query, dict(request.query_params))
            body = self.body and _checked(self.body, _parsed(await request.body()))
            call = Call(house, request.path_params, query, body)
            result = await run_in_threadpool(self.answer, call)
        except NotThere as error:
            return failure(404, str(error))
        except LycosaError as error:
            return failure(400, str(error))
        except _Malformed as error:
            return failure(422, str(error))
        if isinstance(result, Download):
            headers = {"content-disposition": f'attachment; filename="{result.name}"'} if result.name else {}
            headers |= {"content-security-policy": result.policy} if result.policy else {}
            return Response(result.body, media_type=result.media, headers=headers)
        return as_json(result)


class _Malformed(Exception):
    pass


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise _Malformed(f"the body is not JSON: {error}") from error


def _checked(model: type[Model], values: Any) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise _Malformed(f"{name or 'the body'}: {first['msg'][:1].lower()}{first['msg'][1:]}") from error


def as_json(value: Any, status: int = 200) -> Response:
    body = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return Response(body, status, media_type="application/json")


def failure(status: int, words: str) -> Response:
    return as_json({"error": words}, status)


def _finite(value: Any) -> Any:
    """JSON has neither NaN nor infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return value
