"""What a comparison was made of, for whoever wants to repeat it: code, world, strategies with all their constants."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import lycosa
from lycosa import __version__
from lycosa.strategies.table import constants_of

if TYPE_CHECKING:
    from lycosa.lab.replay.compare import ComparePlan

CHUNK = 1 << 20


def manifest_of(plan: ComparePlan) -> dict[str, Any]:
    """Plain values, as they go into manifest.json."""
    options = asdict(plan) | {"world": plan.world.name, "strategies": list(plan.by_name)}
    return {
        "lycosa": __version__,
        "code": {"sha256": code_digest(), "commit": commit()},
        "python": sys.version.partition(" ")[0],
        "numpy": np.__version__,
        "world": {"file": plan.world.name, "sha256": file_digest(plan.world)},
        "plan": options,
        "constants": {
            name: constants_of(chosen, plan.settings) if isinstance(chosen, str) else {}
            for name, chosen in plan.by_name.items()
        },
    }


def file_digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(CHUNK):
            digest.update(part)
    return digest.hexdigest()


@cache
def code_digest() -> str:
    """SHA-256 over all modules of the package, by name: it tells versions apart where there is no commit."""
    root = Path(lycosa.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def commit() -> str:
    """The commit the package was loaded from; empty if it is installed, or there is no git."""
    root = Path(lycosa.__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    try:
        found = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"],  # noqa: S607 - wherever git is
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
