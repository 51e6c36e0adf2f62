"""The tree tells what is where: packages name their modules, names are unique, behaviours are where one looks."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "lycosa"
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")

BEHAVIOURS = {
    "a Crawl-delay over the cap": ("fetch/politeness.py", r"crawl_delay > self\.max_crawl_delay"),
    "when all waiting links are scored again": ("strategies/rescoring.py", r"^def score_again"),
    "the WARC file is cut after a crash": ("fetch/archive.py", r"truncate"),
    "stop words": ("lib/stopwords.py", r"^ENGLISH"),
    "near-duplicates earn nothing": ("lib/near_duplicates.py", r"^class NearDuplicates"),
    "the interval of a forecast": ("stopping/forecast.py", r"np\.quantile\("),
    "tunnelling widens": ("strategies/tunnelling.py", r"\.generalised\("),
    "a host is set aside, and readmitted": ("crawl/hosts.py", r"host\.set_aside = "),
    "redirects": ("crawl/redirects.py", r"^def redirect_target"),
    "feedback is adopted": ("crawl/rejudge.py", r"self\._newer\(self\._version\)"),
}
"""Ten behaviours, each in the file whose name a stranger would guess."""


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_names_every_module_in_it(package):
    story = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    inside = [path.stem for path in package.glob("*.py") if path.name != "__init__.py"]
    inside += [path.parent.name for path in package.glob("*/__init__.py")]
    missing = [name for name in inside if not re.search(rf"\b{name}\b", story)]
    assert not missing, f"{package.name}/__init__.py does not tell of {', '.join(missing)}"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_names_no_module_that_is_not_there(package):
    """Names at the beginning of an indented line of the story are modules, or packages, of this one."""
    story = ast.get_docstring(ast.parse((package / "__init__.py").read_text()), clean=False) or ""
    inside = {path.stem for path in package.iterdir()}
    for line in story.splitlines():
        listed = re.match(r"    ((?:[a-z_]+, )*[a-z_]+)  +\S", line)
        for name in listed[1].split(", ") if listed else ():
            assert name in inside, f"{package.name}/__init__.py tells of {name}"


def test_class_names_are_unique():
    homes = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_behaviour_is_where_one_looks_for_it(behaviour):
    file, sign = BEHAVIOURS[behaviour]
    assert re.search(sign, (SOURCE / file).read_text(), re.MULTILINE)


def test_abilities_are_declared_not_found_out():
    """No strategy or judge is told by its class, its name or an attribute it may have."""
    allowed = {"judges/protocol.py", "given.py", "strategies/table.py"}  # the door, where other people's come in
    telling = re.compile(r"(isinstance|getattr)\([\w.]*(judge|strategy|chosen), (?!dict|str)|== \"hunter\"")
    for path in MODULES:
        if str(path.relative_to(SOURCE)) not in allowed:
            assert not telling.search(path.read_text()), path


def test_every_source_in_c_is_built_as_the_module_beside_it():
    """Compiled parts are optional, so that a wrong name would go unnoticed: Python would serve instead, slowly."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    built = {module["name"]: module["sources"] for module in project["tool"]["setuptools"]["ext-modules"]}
    sources = [str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.c")]
    assert sorted(built.values()) == sorted([source] for source in sources)
    assert {name: f"src/{name.replace('.', '/')}.c" for name in built} == {name: one for name, (one,) in built.items()}
