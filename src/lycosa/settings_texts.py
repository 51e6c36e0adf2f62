"""All settings with their defaults and the text that stands below each field of its class, for docs and forms."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from typing import Any, NamedTuple

from lycosa.config import Config


class SettingText(NamedTuple):
    name: str
    default: Any
    text: str


class Section(NamedTuple):
    name: str
    """Empty for the settings of no section."""
    purpose: str
    settings: tuple[SettingText, ...]


def sections() -> list[Section]:
    """In the order of the class."""
    config = Config()
    top = [name for name in Config.model_fields if not dataclasses.is_dataclass(getattr(config, name))]
    found = [Section("", "", _settings(Config, {name: getattr(config, name) for name in top}))]
    for name in Config.model_fields:
        section = getattr(config, name)
        if dataclasses.is_dataclass(section) and not isinstance(section, type):
            fields = {item.name: getattr(section, item.name) for item in dataclasses.fields(section)}
            found.append(Section(name, _purpose(type(section)), _settings(type(section), fields)))
    return found


def _settings(owner: type[Any], fields: dict[str, Any]) -> tuple[SettingText, ...]:
    texts = _texts(owner)
    return tuple(SettingText(name, value, texts[name]) for name, value in fields.items())


def _purpose(owner: type[Any]) -> str:
    text = inspect.getdoc(owner) or ""
    assert not text.startswith(f"{owner.__name__}("), f"{owner.__name__} has no docstring"
    return text


def _texts(owner: type[Any]) -> dict[str, str]:
    """The string below each field of a class, inherited ones too."""
    texts: dict[str, str] = {}
    for base in owner.__bases__:
        if dataclasses.is_dataclass(base):
            texts |= _texts(base)
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
    assert isinstance(tree, ast.ClassDef)
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            texts[field.target.id] = " ".join(str(text.value.value).split())
    return texts
