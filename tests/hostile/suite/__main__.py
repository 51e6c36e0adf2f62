"""python -m hostile.suite [--crawler lycosa] [--crawler scrapy] [--command "…"] [--group robots] [--only NAME]

Results go to out/hostile/NAME.json, group by group: --write puts what is there into docs/hostile.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import sys
import tempfile
import time
from pathlib import Path

from hostile.suite.groups import GROUPS
from hostile.suite.run import CRAWLERS, Verdict, judged
from hostile.suite.table import MARKS, write

FRAMEWORKS = frozenset({"scrapy"})
OUTPUT = Path(__file__).parents[3] / "out" / "hostile"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hostile.suite", description=__doc__.splitlines()[0])
    parser.add_argument("--crawler", action="append", choices=sorted(CRAWLERS), default=[])
    parser.add_argument(
        "--command", metavar="COMMAND", help="another crawler: it gets the file of its task as argument"
    )
    parser.add_argument("--group", action="append", choices=list(GROUPS), default=[], help="default: all")
    parser.add_argument("--only", metavar="TEXT", default="", help="behaviours whose names contain this")
    parser.add_argument("--write", action="store_true", help="put the results into docs/hostile.md")
    return parser.parse_args()


def _through(name: str, command: list[str], groups: list[str], only: str) -> int:
    """Number of defects."""
    path = OUTPUT / f"{name}.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    defects = 0
    for title in groups:
        group = GROUPS[title]
        chosen = [each for each in group.behaviours if only in each.name]
        if not chosen:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            verdicts = asyncio.run(
                judged(
                    command,
                    chosen,
                    Path(folder),
                    seconds=group.seconds,
                    delay=group.delay,
                    is_framework=name in FRAMEWORKS,
                )
            )
        results.update({each: verdict._asdict() for each, verdict in verdicts.items()})
        if not only:
            OUTPUT.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(results, indent=1) + "\n")
        defects += _told(name, title, verdicts, time.monotonic() - began)
    return defects


def _told(name: str, title: str, verdicts: dict[str, Verdict], seconds: float) -> int:
    counts = {mark: sum(each.is_good is good for each in verdicts.values()) for good, mark in MARKS.items()}
    said = ", ".join(f"{count} {mark}" for mark, count in counts.items() if count)
    print(f"{name} · {title}: {said} ({seconds:.0f} s)", flush=True)
    for each, verdict in verdicts.items():
        if verdict.is_good is False:
            print(f"    {each}: {verdict.why}", flush=True)
    return counts[MARKS[False]]


def main() -> int:
    arguments = _arguments()
    crawlers = {name: CRAWLERS[name] for name in arguments.crawler}
    if arguments.command:
        crawlers["other"] = shlex.split(arguments.command)
    if not crawlers and not arguments.write:
        crawlers = dict(CRAWLERS)
    groups = arguments.group or list(GROUPS)
    try:
        defects = {name: _through(name, command, groups, arguments.only) for name, command in crawlers.items()}
    except KeyboardInterrupt:
        return 130
    if arguments.write:
        write({name: json.loads((OUTPUT / f"{name}.json").read_text()) for name in CRAWLERS})
    return 1 if defects.get("lycosa") else 0


if __name__ == "__main__":
    sys.exit(main())
