"""Only the store writes SQL. The topic book and the page cache have databases of their own, DuckDB writes Parquet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lycosa

SOURCE = Path(lycosa.__file__).parent
OWN_DATABASE = ("store/", "topics/", "fetch/cache.py", "lib/parquet.py")
SQL = re.compile(
    r"\bselect\b.+\bfrom\b|\binsert\s+(or\s+\w+\s+)?into\b|\bupdate\s+\w+\s+set\b|\bdelete\s+from\b"
    r"|\b(create|drop|alter)\s+(table|view|index)\b|\bpragma\s+\w",
    re.IGNORECASE | re.DOTALL,
)
ADVICE_FOR_PEOPLE = {
    ("cli/sql.py", "A query over the tables of docs/schema.md: 'select * from sites'."),
    ("cli/demo.py", "/hunter 'select * from sites'[/]"),
}
MODULES = {
    name: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(SOURCE.rglob("*.py"))
    if not (name := path.relative_to(SOURCE).as_posix()).startswith(OWN_DATABASE)
}


def texts(tree: ast.Module) -> Iterator[str]:
    """Every string that is not a docstring; neighbouring literals have been joined, f-strings are in pieces."""
    words = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in words:
            yield node.value


def queries(tree: ast.AST) -> list[str]:
    """Calls of a method that takes SQL."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    names = (called.attr for called in calls if isinstance(called, ast.Attribute))
    return [name for name in names if name in ("query", "execute", "executemany", "executescript")]


def test_no_sql():
    found = {(module, text) for module, tree in MODULES.items() for text in texts(tree) if SQL.search(text)}
    assert found == ADVICE_FOR_PEOPLE


def test_no_queries():
    found = {module: calls for module, tree in MODULES.items() if (calls := queries(tree))}
    assert found == {"cli/sql.py": ["query"], "web/sql.py": ["query"]}  # which a person has typed in
    (command,) = (node for node in MODULES["cli/sql.py"].body if getattr(node, "name", "") == "sql")
    assert queries(command) == ["query"]


@pytest.mark.parametrize(
    "text",
    [
        "select id from frontier",
        "\nSELECT *\nFROM links",
        "insert or replace into state values (?, ?)",
        "update hosts set relevant = 0",
        "delete from links where source_id = ?",
        "pragma user_version",
    ],
)
def test_sql_is_recognised(text):
    (found,) = texts(ast.parse(f"QUERY = {text!r}"))
    assert SQL.search(found)
