"""python -m fuzz: fuzz all targets, and add to the corpus what was found or reached something new."""

from __future__ import annotations

import argparse
import random
import sys

from fuzz.fuzzer import fuzz, keep
from fuzz.targets import SEEDS, TARGETS


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description="Hostile input for every parser.")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--target", choices=sorted(TARGETS), action="append", help="only these")
    parser.add_argument("--grow", action="store_true", help="keep inputs that reach new lines in the corpus")
    arguments = parser.parse_args(words)
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    chosen = arguments.target or list(TARGETS)
    is_clean = True
    for name in chosen:
        findings, new, tries = fuzz(
            name, TARGETS[name], SEEDS[name], seconds=60 * arguments.minutes / len(chosen), some=random.Random(seed)
        )
        print(f"{name:20} {tries:8,} tries {len(new):5,} new {len(findings):3,} findings", flush=True)
        for data in new if arguments.grow else ():
            keep(name, data)
        for finding in findings:
            is_clean = False
            print(f"  {finding.error}\n  {finding.data[:200]!r}\n  kept as {keep(name, finding.data)}", flush=True)
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
