"""python -m fuzz.native: the compiled parts of reading under libFuzzer, with sanitizers of addresses and behaviour.

    make fuzz-native RUNS=10000000        # inputs of each target; needs clang

What crashes is kept in out/fuzz-native/. Python's own allocator is turned off, so that every array has its own bounds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = (
    "page/_tree.c",
    "page/_furniture.c",
    "lib/_words.c",
    "lib/_word_pieces.c",
    "lib/_half_rows.c",
    "fetch/_plain_hrefs.c",
)
TARGETS = ("hrefs", "tree", "words", "pieces", "blocks")
PROGRESS = re.compile(r"#([0-9]+)\s")
CHATTER = ("INFO:", "\tNEW_FUNC")
TELL_EVERY = 10.0
"""Seconds."""
LONGEST = 400
"""Bytes of an input: enough for what happens within a document, and quick."""


def build(program: Path) -> None:
    paths, library = sysconfig.get_paths(), sysconfig.get_config_var("LIBDIR")
    words = ["clang", "-g", "-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]
    words += [f"-I{paths['include']}", str(HERE / "native.c"), *(str(ROOT / "src/lycosa" / name) for name in SOURCES)]
    version = sysconfig.get_config_var("LDVERSION")
    words += [f"-L{library}", f"-Wl,-rpath,{library}", f"-lpython{version}", "-lm", "-ldl", "-o", str(program)]
    subprocess.run(words, check=True)


def fuzz(program: Path, target: str, runs: int, folder: Path) -> int:
    corpus = folder / f"corpus-{target}"
    corpus.mkdir(exist_ok=True)
    environment = dict(
        os.environ,
        FUZZ_TARGET=target,
        PYTHONMALLOC="malloc",
        PYTHONPATH=os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests"), sysconfig.get_paths()["purelib"]]),
        PYTHONHOME=sys.base_prefix,
        ASAN_OPTIONS="detect_leaks=0",
    )
    words = [str(program), str(corpus), str(HERE / "corpus" / "page"), f"-runs={runs}", f"-max_len={LONGEST}"]
    words += [
        f"-artifact_prefix={folder}/{target}-",
        "-print_final_stats=1",
        "-timeout=20",
        "-rss_limit_mb=4096",
    ]
    process = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, errors="replace")
    try:
        tell(process, target, runs)
    finally:
        process.terminate()
        process.wait()
    return process.returncode


def tell(process: subprocess.Popen[str], target: str, runs: int) -> None:
    """How far it is, now and then; and whatever else it says, such as a crash."""
    assert process.stderr is not None
    begun = said = time.monotonic()
    print(f"{target}: {runs:,} inputs", flush=True)
    for line in process.stderr:
        found = PROGRESS.match(line)
        if found is None:
            if not line.startswith(CHATTER):
                print(line, end="", flush=True)
        elif (now := time.monotonic()) - said > TELL_EVERY:
            said, done = now, int(found[1])
            print(f"{target}: {done:,} of {runs:,}, {done / (now - begun):,.0f} a second", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz.native", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000_000, help="inputs of each target")
    parser.add_argument("--target", choices=TARGETS, action="append", help="only these")
    given = parser.parse_args()
    if shutil.which("clang") is None:
        sys.exit("needs clang with its sanitizers (Debian: clang and libclang-rt-14-dev)")
    folder = ROOT / "out" / "fuzz-native"
    folder.mkdir(parents=True, exist_ok=True)
    build(folder / "fuzz")
    try:
        return max(fuzz(folder / "fuzz", target, given.runs, folder) for target in given.target or TARGETS)
    except KeyboardInterrupt:
        sys.exit(
            f"interrupted; the inputs found so far are in {folder.relative_to(ROOT)}, and the next run begins with them"
        )


if __name__ == "__main__":
    sys.exit(main())
