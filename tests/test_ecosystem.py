"""What is written for other tools fits the database as it is."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from lycosa.store.schema import MIGRATIONS

ROOT = Path(__file__).parents[1]


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """An empty crawl, attached under the name that the views use."""
    db = sqlite3.connect(tmp_path / "crawl.db")
    for migration in MIGRATIONS:
        db.executescript(migration)
    db.close()
    db = sqlite3.connect(":memory:")
    db.execute("attach ? as crawl", (str(tmp_path / "crawl.db"),))
    yield db
    db.close()


def test_datasette_finds_the_tables_columns_and_queries(crawl: sqlite3.Connection) -> None:
    described = json.loads((ROOT / "docs" / "datasette.json").read_text())["databases"]["crawl"]
    for table, facts in described["tables"].items():
        columns = {row[0] for row in crawl.execute(f"select * from crawl.{table}").description}
        named = {facts.get("label_column"), *facts.get("facets", ()), *facts.get("sortable_columns", ())} - {None}
        assert named <= columns, table
    for query in described["queries"].values():
        crawl.execute(query["sql"]).fetchall()


def test_the_views_for_duckdb_fit_the_tables(crawl: sqlite3.Connection) -> None:
    """In SQLite, as DuckDB's extension for it is not at hand: the statements are such that both know them."""
    text = re.sub(r"^--.*$", "", (ROOT / "docs" / "duckdb.sql").read_text(), flags=re.MULTILINE)
    attach, *views = [statement.strip() for statement in text.split(";") if statement.strip()]
    assert attach == "attach 'crawl.db' as crawl (type sqlite, read_only)"
    for view in views:
        crawl.execute(view.replace("create view", "create temp view"))
    for name in ("crawl_pages", "crawl_links", "crawl_outcomes"):
        crawl.execute(f"select * from {name}").fetchall()


def test_the_image_is_made_of_what_is_there() -> None:
    steps = (ROOT / "Dockerfile").read_text()
    ignored = (ROOT / ".dockerignore").read_text()
    for line in re.findall(r"^COPY (?!--from)(.*) \S+$", steps, re.MULTILINE):
        for source in line.split():
            assert (ROOT / source).exists(), source
            assert f"!{source}" in ignored
    assert re.search(r"^USER (?!root)\w+$", steps, re.MULTILINE)
