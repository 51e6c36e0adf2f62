"""The documentation is complete and up to date."""

from __future__ import annotations

import re
import runpy
import sqlite3
from pathlib import Path

import pytest

from lycosa.store.schema import MIGRATIONS

ROOT = Path(__file__).parents[1]


def test_settings_page_is_current() -> None:
    build = runpy.run_path(str(ROOT / "docs" / "build.py"))
    assert (ROOT / "docs" / "settings.md").read_text() == build["page"](), "run: make docs"


def test_schema_page_names_every_table_column_and_view() -> None:
    db = sqlite3.connect(":memory:")
    for migration in MIGRATIONS:
        db.executescript(migration)
    sections = dict(
        re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", (ROOT / "docs" / "schema.md").read_text(), re.DOTALL | re.MULTILINE)
    )
    tables = [row[0] for row in db.execute("select name from sqlite_master where type = 'table'")]
    for table in tables:
        listed = {
            name.strip()
            for row in re.findall(r"^\| ([a-z_, ]+) \|", sections[table], re.MULTILINE)
            for name in row.split(",")
        }
        assert listed - {"column"} == {row[1] for row in db.execute(f"pragma table_info({table})")}, table
    for (view,) in db.execute("select name from sqlite_master where type = 'view'").fetchall():
        (line,) = re.findall(rf"^- `{view}`: (.*)$", sections["Views"], re.MULTILINE)
        columns = [column[0] for column in db.execute(f"select * from {view}").description]
        assert re.sub(r"\([^)]*\)", "", line).replace(";", ",").replace(":", ",").count(",") >= len(columns) - 1
        for column in columns:
            assert column in line, f"{view}.{column}"
    db.close()


@pytest.mark.parametrize("page", sorted(path.relative_to(ROOT) for path in ROOT.glob("docs/**/*.md")), ids=str)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text()):
        assert (ROOT / page.parent / target).exists(), target


def test_readme_opens_with_the_two_commands_and_the_picture() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.index("make demo") < text.index("make test") < text.index("docs/images/demo.png")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / target).exists(), target


def test_every_make_target_in_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for found in re.findall(r"`make ([a-z-]+)|^make ([a-z-]+)", page.read_text(), re.MULTILINE):
            target = "".join(found)
            assert target in targets, f"make {target} in {page.name}"
