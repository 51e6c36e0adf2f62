"""Range checks for settings, made when they are constructed: a wrong one is reported at the start of a crawl."""

from __future__ import annotations

import math

from lycosa.errors import ConfigError


def require_at_least(settings: object, section: str, **least: float) -> None:
    """Raise ConfigError if a field of the settings is below its bound, or not a finite number."""
    for name, bound in least.items():
        value = _finite(settings, section, name)
        if value < bound:
            raise ConfigError(f"{section}.{name} is {value}: it must be {bound} or more")


def require_at_most(settings: object, section: str, **most: float) -> None:
    for name, bound in most.items():
        value = _finite(settings, section, name)
        if value > bound:
            raise ConfigError(f"{section}.{name} is {value}: it must be {bound} or less")


def require_above_zero(settings: object, section: str, *names: str) -> None:
    for name in names:
        value = _finite(settings, section, name)
        if value <= 0:
            raise ConfigError(f"{section}.{name} is {value}: it must be more than 0")


def _finite(settings: object, section: str, name: str) -> float:
    value: float = getattr(settings, name)
    if not math.isfinite(value):
        raise ConfigError(f"{section}.{name} is {value}: it must be a number")
    return value
