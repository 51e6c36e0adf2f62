"""Reports of comparisons and evolutions in the folders that the dashboard shows; an evolution also while it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from lycosa.errors import InputError
from lycosa.web.doorkeeper import DOCUMENT_POLICY
from lycosa.web.endpoints import Call, Download, Endpoint, Input, NotThere

COMPARISON, EVOLUTION = ("index.html", "results.parquet"), ("population.json",)
"""Files by which a directory is recognised."""
DEEPEST, MOST_FOLDERS = 3, 2_000
LARGEST = 64 << 20
"""Bytes of a file that is read."""
PICTURES = (".png",)


def reports(call: Call) -> dict[str, Any]:
    found = _found(call)
    return {
        "reports": [
            {"id": name, "kind": _kind(path), "directory": str(path), "changed_at": _changed(path)}
            for name, path in found.items()
        ]
    }


def report(call: Call) -> dict[str, Any]:
    path = _path(call)
    shown: dict[str, Any] = {
        "id": call.names["report"],
        "kind": _kind(path),
        "directory": str(path),
        "pictures": sorted(file.name for file in path.iterdir() if file.suffix in PICTURES),
        "changed_at": _changed(path),
    }
    return {**shown, **_evolution(path)} if shown["kind"] == "evolution" else shown


def picture(call: Call) -> Download:
    """One of the pictures that the report lists; nothing else of its directory."""
    path, name = _path(call), call.names["file"]
    if name not in {file.name for file in path.iterdir() if file.suffix in PICTURES}:
        raise NotThere(f"there is no picture {name!r} in this report")
    return Download(_read(path / name), "image/png")


class ReportPage(Input):
    save: bool = Field(False, description="As a file; otherwise it is opened, in a sandbox.")


def page(call: Call) -> Download:
    """The whole report: a document of its own, which is not shown among ours."""
    path = _path(call)
    if not (path / "index.html").exists():
        raise NotThere("this report has no page of its own")
    name = f"{call.names['report']}.html" if call.query.save else ""
    return Download(_read(path / "index.html"), "text/html; charset=utf-8", name, DOCUMENT_POLICY)


def _evolution(path: Path) -> dict[str, Any]:
    """Fitness by generation so far."""
    try:
        state = json.loads(_read(path / "population.json"))
        history = [
            {"generation": int(number), "best": float(best), "mean": float(mean)}
            for number, best, mean, *_ in state["history"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path / 'population.json'}: not an evolution that can be read: {error}") from error
    strategy = path / "best.toml"
    return {"history": history, "best": strategy.read_text(encoding="utf-8")[:20_000] if strategy.exists() else ""}


def _found(call: Call) -> dict[str, Path]:
    """By name; as with crawls, names lead to directories that were found."""
    found: dict[str, Path] = {}
    for root in call.house.roots:
        for path in _directories(root):
            parts = (root.name,) if path == root else path.relative_to(root).parts
            found["~".join(parts).replace("/", "-")] = path
    return found


def _directories(root: Path) -> Iterator[Path]:
    for seen, (folder, below, files) in enumerate(os.walk(root)):
        path = Path(folder)
        if seen > MOST_FOLDERS:
            return
        if len(path.relative_to(root).parts) >= DEEPEST:
            below.clear()
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in ("archive", "snapshots"))
        if any(set(needed) <= set(files) for needed in (COMPARISON, EVOLUTION)):
            yield path


def _path(call: Call) -> Path:
    path = _found(call).get(call.names["report"])
    if path is None:
        raise NotThere(f"there is no report {call.names['report']!r} here")
    return path


def _kind(path: Path) -> str:
    return "evolution" if (path / EVOLUTION[0]).exists() else "comparison"


def _changed(path: Path) -> float:
    return max(file.stat().st_mtime for file in path.iterdir() if file.is_file())


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        body = file.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise InputError(f"{path}: larger than {LARGEST:,} bytes; open it from its directory")
    return body


ENDPOINTS = (
    Endpoint("GET", "/api/lab", "Comparisons and evolutions.", reports, tag="laboratory"),
    Endpoint("GET", "/api/lab/{report}", "One of them.", report, tag="laboratory"),
    Endpoint("GET", "/api/lab/{report}/page", "Its page.", page, ReportPage, media="text/html", tag="laboratory"),
    Endpoint(
        "GET", "/api/lab/{report}/pictures/{file}", "One of its pictures.", picture, media="image/png", tag="laboratory"
    ),
)
