"""The API described by its own endpoints: an OpenAPI 3.1 document, served at /api/openapi.json."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lycosa import __version__
from lycosa.web.endpoints import Endpoint, Input

ERROR = {
    "description": "What is wrong, and what would be right.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["error"],
                "properties": {"error": {"type": "string"}},
            }
        }
    },
}
REFUSED = ("400", "401", "403", "404", "413", "415", "421", "422")


def document(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(_path(endpoint.path), {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Lycosa dashboard",
            "version": __version__,
            "description": "All that the page does, for programs. Bodies are JSON; errors are one sentence.",
        },
        "paths": paths,
    }


def _path(path: str) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    names = re.findall(r"\{(\w+)(?::\w+)?\}", endpoint.path)
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
    ]
    if endpoint.query is not None:
        parameters += _parameters(endpoint.query)
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": _identifier(endpoint),
        "tags": [endpoint.tag or "crawls"],
        "parameters": parameters,
        "responses": {
            "200": {"description": "Done.", "content": _content(endpoint)},
            **dict.fromkeys(REFUSED, ERROR),
        },
    }
    if endpoint.body is not None:
        schema = endpoint.body.model_json_schema()
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation


def _content(endpoint: Endpoint) -> dict[str, Any]:
    return {
        media: {"schema": {"type": "object" if media == "application/json" else "string"}}
        for media in endpoint.media.split()
    }


def _parameters(model: type[Input]) -> list[dict[str, Any]]:
    schema = model.model_json_schema()
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": field.get("description", ""),
            "schema": {key: value for key, value in field.items() if key != "description"},
        }
        for name, field in schema.get("properties", {}).items()
    ]


def _identifier(endpoint: Endpoint) -> str:
    words = re.findall(r"\w+", endpoint.path.removeprefix("/api"))
    return "_".join([endpoint.method.lower(), *words])
