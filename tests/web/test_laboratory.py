"""Reports are found by name, and nothing but their pictures and their page leaves their directories."""

from __future__ import annotations

import json

import pytest

from lycosa.web.doorkeeper import DOCUMENT_POLICY, POLICY

from .conftest import client_of


@pytest.fixture
def lab(folder):
    comparison, evolution = folder / "runs" / "first", folder / "bred"
    comparison.mkdir(parents=True)
    evolution.mkdir()
    (comparison / "index.html").write_text("<script>alert(1)</script>")
    (comparison / "results.parquet").write_bytes(b"PAR1")
    (comparison / "recall.png").write_bytes(b"\x89PNG")
    (comparison / "secret.txt").write_text("secret")
    history = [[number, 0.5 + number / 10, 0.4, 0.1, []] for number in range(3)]  # as lycosa evolve writes it
    (evolution / "population.json").write_text(json.dumps({"history": history}))
    with client_of(folder) as client:
        yield client


def test_reports_are_found(lab):
    found = {row["id"]: row["kind"] for row in lab.get("/api/lab").json()["reports"]}
    assert found == {"runs~first": "comparison", "bred": "evolution"}


def test_a_comparison_shows_its_pictures_and_saves_its_page(lab):
    assert lab.get("/api/lab/runs~first").json()["pictures"] == ["recall.png"]
    picture = lab.get("/api/lab/runs~first/pictures/recall.png")
    assert (picture.content, picture.headers["content-type"]) == (b"\x89PNG", "image/png")
    page = lab.get("/api/lab/runs~first/page?save=true")
    assert page.headers["content-disposition"] == 'attachment; filename="runs~first.html"'
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_the_page_of_a_comparison_is_opened_in_a_sandbox(lab):
    opened = lab.get("/api/lab/runs~first/page")
    assert "content-disposition" not in opened.headers
    assert opened.headers.get_list("content-security-policy") == [DOCUMENT_POLICY]
    directives = {each.split()[0]: each.split()[1:] for each in DOCUMENT_POLICY.split("; ")}
    assert directives["sandbox"] == []  # no script, no origin
    assert directives["default-src"] == ["'none'"]
    assert "script-src" not in directives
    assert lab.get("/api/lab").headers.get_list("content-security-policy") == [POLICY]
    assert opened.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["secret.txt", "..%2f..%2fcycling%2fcrawl.db", "results.parquet", "nothing.png"])
def test_nothing_else_leaves_the_directory(lab, name):
    assert lab.get(f"/api/lab/runs~first/pictures/{name}").status_code == 404


def test_an_evolution_shows_how_far_it_is(lab, folder):
    history = lab.get("/api/lab/bred").json()["history"]
    assert [row["generation"] for row in history] == [0, 1, 2]
    (folder / "bred" / "population.json").write_text("{")
    assert lab.get("/api/lab/bred").status_code == 400
    assert lab.get("/api/lab/nothing").status_code == 404
