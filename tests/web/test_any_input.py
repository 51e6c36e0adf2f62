"""Schemathesis: whatever the description of the API allows, and what it does not, gets an answer that it describes."""

from __future__ import annotations

import shutil

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lycosa.errors import InputError
from lycosa.web.crawls import House
from lycosa.web.doorkeeper import Door
from lycosa.web.openapi import document
from lycosa.web.server import ENDPOINTS, application

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
OPERATIONS = {f"{each.method} {each.path}": each for each in ENDPOINTS}


@pytest.fixture(scope="module")
def described(made, tmp_path_factory):
    """The API over a crawl; what would start a process is answered without one."""

    def refused(*words: str, seconds: float) -> str:
        raise InputError(f"no process is started for {words[0]}")

    folder = tmp_path_factory.mktemp("any") / "crawls"
    shutil.copytree(made, folder)
    house = House([folder], book=folder / "topics.db")
    with pytest.MonkeyPatch.context() as patch:
        for module in ("queue", "sites", "topics"):
            patch.setattr(f"lycosa.web.{module}.command_output", refused)
        patch.setattr(house.runner, "begin", lambda *_, **__: None)
        patch.setattr(house.runner, "run", lambda *_, **__: None)
        patch.setattr(house.lessons, "begin", lambda _workspace: None)
        patch.setattr(house.indexing, "begin", lambda _workspace: None)
        schema = schemathesis.openapi.from_dict(document(ENDPOINTS))
        schema.app = application(house, Door("127.0.0.1", 80))
        schema.config.update(base_url="http://localhost")
        yield schema


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_answers_as_described(described, name):
    method, path = name.split(" ")
    operation = described[path][method]
    seen: list[int] = []

    @settings(
        max_examples=10 if OPERATIONS[name].query or OPERATIONS[name].body else 1,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def one(case):
        if "crawl" in (case.path_parameters or {}):
            case.path_parameters["crawl"] = "cycling"
        if "number" in (case.path_parameters or {}):
            case.path_parameters["number"] = "3"
        response = case.call(headers={"content-type": "application/json"} if case.body is not None else None)
        seen.append(response.status_code)
        case.validate_response(response, checks=list(CHECKS))

    one()
    assert seen
