"""Ray itself: whether it is installed, and a connection to a cluster of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from lycosa.errors import ConfigError


def require_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ConfigError(
            f"a cluster needs Ray, which cannot be loaded ({str(error).splitlines()[0]}): pip install 'lycosa[cluster]'"
        ) from error
    return ray


@contextlib.contextmanager
def connected(ray: Any, address: str, processors: int) -> Iterator[None]:
    """Connected to a Ray cluster, or to one that is started here, with so many processors, and ends with us."""
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "critical"}
    try:
        if address:
            ray.init(address=address, **options)
        else:
            ray.init(address="local", num_cpus=max(processors, 1), include_dashboard=False, **options)
    except Exception as error:  # Ray's own have no common base
        place = address or "this machine"
        raise ConfigError(
            f"no Ray cluster at {place} ({' '.join(str(error).split())[:300]}): start one with ray start --head, and "
            "give its address as --ray ray://host:10001, or leave --ray out"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()
