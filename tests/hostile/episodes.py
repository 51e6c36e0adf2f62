"""Runs episodes of chaos until there were enough disturbances; what each came to is kept, and a later run goes on."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).resolve().parents[2] / "out"
Result = dict[str, Any]


def run_episodes(
    episode: Callable[[int, Path], Result], words: list[str] | None, *, name: str, about: str, kills: int
) -> int:
    """`episode`: by its number, and in a folder of its own. One that breaks a promise keeps its folder."""
    parser = argparse.ArgumentParser(prog=f"hostile.{name}", description=about)
    parser.add_argument("--kills", type=int, default=kills, help="number of disturbances over all episodes")
    parser.add_argument("--output", type=Path, default=OUTPUT / name.replace("_", "-"))
    parser.add_argument("--first", type=int, default=0, help="number of the first episode, for runs beside each other")
    arguments = parser.parse_args(words)
    arguments.output.mkdir(parents=True, exist_ok=True)
    results = arguments.output / "results.jsonl"
    done = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    while sum(each.get("kills", 0) for each in done) < arguments.kills:
        number = arguments.first + len(done)
        folder = arguments.output / f"episode-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            result = episode(number, folder)
        except (AssertionError, subprocess.TimeoutExpired) as broken:
            result = {"episode": number, "broken": str(broken)[:500]}
        else:
            shutil.rmtree(folder)
        done.append(result)
        with results.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps({**result, "load": round(os.getloadavg()[0], 1)}), flush=True)
    total: Counter[str] = Counter()
    for each in done:
        total.update({key: value for key, value in each.items() if isinstance(value, int) and key != "episode"})
    broken_promises = [each["broken"] for each in done if "broken" in each]
    print(json.dumps({"episodes": len(done), **total, "broken promises": broken_promises}))
    return 1 if broken_promises else 0
