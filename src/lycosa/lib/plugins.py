"""Other people's classes by name: `module:Class`, or the name of an entry point."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from lycosa.errors import ConfigError


def entry_point_names(group: str) -> list[str]:
    """Names that installed packages have registered for a group such as `lycosa.judges`."""
    return sorted({point.name for point in entry_points(group=group)})


def load(name: str, *, group: str) -> Any | None:
    """The object of `module:Class` or of an entry point; None if the name is neither."""
    module, colon, attribute = name.partition(":")
    if not colon:
        found = [point for point in entry_points(group=group) if point.name == name]
        if not found:
            return None
        module, attribute = found[0].module, found[0].attr
    here = str(Path.cwd())
    if here not in sys.path:  # as `python -m` does: a module beside the crawl needs no installation
        sys.path.append(here)
    try:
        value: Any = importlib.import_module(module)
        for part in attribute.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{name!r} cannot be loaded: {error}; write module:Class, where the module can be imported from here or "
            "is installed"
        ) from error
    return value


def call(factory: Any, available: Mapping[str, Any]) -> Any:
    """Call a class or function with those of the available arguments that its signature names."""
    try:
        wanted = inspect.signature(factory).parameters
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{factory!r} cannot be called: {error}") from error
    missing = [
        name
        for name, parameter in wanted.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and name not in available
    ]
    if missing:
        raise ConfigError(
            f"{factory.__name__} needs {', '.join(missing)}; what it can be given is {', '.join(available)}"
        )
    return factory(**{name: value for name, value in available.items() if name in wanted})
