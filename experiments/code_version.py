"""The version of the code that a result depends on, so that a kept one is made anew when this code has changed.

    code_version(study)      a hash of the module that defines `study`, of all modules it imports, and so on

Only modules of this repository are followed: those of Lycosa, and the experiments' own. Of each module counts what the
interpreter sees of it: comments, documentation and layout do not. A module that imports others by name (with
`import_module`) counts with its whole package; a data file counts with the module that names it. Of the libraries that
results hang on, the versions count.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOMES = (ROOT / "src", ROOT / "experiments")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pystemmer", "py3langid", "selectolax")
BY_NAME = "import_module"
DATA = (".gz", ".json", ".toml", ".tsv", ".txt")


def code_version(*functions: Callable[..., Any]) -> str:
    """Of the modules in which these are defined, and all that they import."""
    return _version_of(*sorted({source_of(function) for function in functions}))


@lru_cache(maxsize=100)
def _version_of(*roots: Path) -> str:
    """As it was when first asked for: a process goes on with the code that it has loaded."""
    digest = hashlib.sha256()
    for library in LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    for path in files_behind(*roots):
        digest.update(f"{path.relative_to(ROOT)}\n".encode())
        digest.update(meaning_of(path).encode() if path.suffix == ".py" else path.read_bytes())
    return digest.hexdigest()[:12]


def source_of(function: Callable[..., Any]) -> Path:
    while isinstance(function, partial):
        function = function.func
    found = inspect.getsourcefile(function)
    assert found is not None, f"{function} has no source"
    return Path(found).resolve()


def files_behind(*roots: Path) -> tuple[Path, ...]:
    """These modules, those they import, and the data they name; sorted."""
    found: set[Path] = set()
    waiting = list(roots)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported_by(path) if path.suffix == ".py" else ()
    return tuple(sorted(found))


def imported_by(path: Path) -> Iterator[Path]:
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(alias.name, "")
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield from _modules(node.module, alias.name)
    if BY_NAME in text and path.is_relative_to(HOMES[0]):
        yield from path.parent.rglob("*.py")
    yield from (data for data in path.parent.iterdir() if data.suffix in DATA and data.name in text)


def _modules(module: str, name: str) -> Iterator[Path]:
    """The files of `from module import name`, or of `import module`, if they are ours."""
    if name.startswith("__"):
        return  # a version number, which is no code
    for home in HOMES:
        place = home.joinpath(*module.split("."))
        inside = (place / f"{name}.py", place / name / "__init__.py") if name else ()
        for path in (*inside, place.with_name(f"{place.name}.py"), place / "__init__.py"):
            if path.is_file():
                yield path
                break


def meaning_of(path: Path) -> str:
    """A module without comments and documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
