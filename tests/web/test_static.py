"""The page itself: text nodes only, nothing inline, nothing from elsewhere, all of it in the package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from lycosa.web.server import STATIC

FILES = sorted(STATIC.iterdir())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
DANGEROUS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|createContextualFragment"
    r"|DOMParser|setAttribute\(\"(style|on)|javascript:|setTimeout\(\"|import\("
)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_make_text_nodes_and_nothing_else(path):
    assert not DANGEROUS.search(path.read_text())


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_import_what_is_there(path):
    text = path.read_text()
    for names, module in re.findall(r"import \{([^}]*)\} from \"\./([\w.]+)\"", text):
        source = (STATIC / module).read_text()
        for name in (name.strip() for name in names.split(",")):
            assert re.search(rf"export (async )?(function|const|class) {name}\b", source), f"{name} of {module}"
            assert len(re.findall(rf"(?<![\w.]){name}\b", text)) > 1, f"{name} is imported and not used"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_comes_from_elsewhere(path):
    text = path.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(src|href)=\"(https?:)?//|@import|url\((?!\"?data:)|fetch\(\"http|from \"http", text)
    assert len(text.splitlines()) <= 500


def test_nothing_is_inline():
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*src=)|<style|\bstyle=|\bon\w+=", page)
    for name in re.findall(r"/static/([\w.]+)", page):
        assert (STATIC / name).exists()


def test_all_modules_are_fetched_at_once():
    page = (STATIC / "index.html").read_text()
    assert {f"/static/{path.name}" for path in SCRIPTS} == set(re.findall(r"/static/\w+\.js", page))


def test_every_file_is_in_the_wheel():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert "web/static/*" in project["tool"]["setuptools"]["package-data"]["lycosa"]
    assert all(path.is_file() for path in FILES)
