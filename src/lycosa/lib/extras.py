"""Packages that only some commands need, and that a plain installation does not bring."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lycosa.errors import InputError


def required(module: str, *, extra: str, what: str) -> Any:
    """A module of a package that an extra brings; InputError that names it if it is not installed. `what` needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = {"sklearn": "scikit-learn"}.get(name := module.partition(".")[0], name)
        raise InputError(f"{what} needs {package}: pip install 'lycosa[{extra}]'") from error
