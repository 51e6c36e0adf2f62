"""Builds the table of how common words are: src/lycosa/judges/background.txt.gz.

    python experiments/background.py

Source: 20newsgroups in ../shared/texts (or $LYCOSA_SHARED/texts), public posts of 1993. Only counts leave it: of each
stem the share of documents that hold it.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import Counter
from pathlib import Path

from lycosa.judges.background import FILE, STEPS
from lycosa.lib.text import term_counts

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared")
COLLECTION = "20newsgroups"
LEAST_DOCUMENTS = 4
LONGEST = 24
"""Characters of a stem; longer ones are rubbish."""


def shares_of(path: Path) -> tuple[Counter[str], int]:
    """In how many documents each stem is, and how many documents there are."""
    found: Counter[str] = Counter()
    count = 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            found.update(term_counts(f"{document['title']} {document['body']}").keys())
            count += 1
    return found, count


def main() -> None:
    path = SHARED / "texts" / f"{COLLECTION}.jsonl.gz"
    if not path.exists():
        print(f"skipped: {COLLECTION} is not at ../shared/texts (or $LYCOSA_SHARED/texts)")
        return
    found, count = shares_of(path)
    lines: dict[int, list[str]] = {}
    for stem, times in found.items():
        is_word = stem.isalpha() and stem.isascii() and len(stem) <= LONGEST
        if is_word and times >= LEAST_DOCUMENTS:
            lines.setdefault(round(-STEPS * math.log2(times / count)), []).append(stem)
    text = "\n".join(" ".join(sorted(lines.get(line, []))) for line in range(max(lines) + 1))
    path = ROOT / "src" / "lycosa" / "judges" / FILE
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path.name}: {sum(map(len, lines.values())):,} stems, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
