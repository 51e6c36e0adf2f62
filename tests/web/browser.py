"""A real browser and a real dashboard, for tests and for the pictures of the documentation.

python -m tests.web.browser      finds chromium, or installs it: by apt-get as root, otherwise by playwright
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lycosa.workspace import Workspace


def _chromium() -> str:
    """The system's, or the one that playwright has downloaded; empty if there is none."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
    if found:
        return found
    where = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    return next((str(path) for path in sorted(Path(where).glob("chromium-*/chrome-linux*/chrome"))), "")


CHROMIUM = _chromium()
QUIET = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)
"""No sandbox: tests may run as root. Graphics without a graphics card. Nothing is asked of the network."""


def why_no_browser() -> str:
    """Why there are no tests in a browser; empty if there are."""
    if not CHROMIUM:
        return "no chromium is installed: make browser"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed: pip install -e '.[dev]'"
    return ""


@contextmanager
def browser(*flags: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *flags])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def dashboard(*directories: Path, config: Path | None = None, book: Path | None = None) -> Iterator[str]:
    """`lycosa dashboard` in a process of its own; its address."""
    words = ["dashboard", *map(str, directories), "--port", "0"]
    words += ["--book", str(book)] if book else []
    environment = {**os.environ, "LYCOSA_CONFIG": str(config)} if config else None
    process = subprocess.Popen([sys.executable, "-m", "lycosa", *words], stdout=subprocess.PIPE, env=environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line.startswith("dashboard: http://127.0.0.1:"), line
        yield line.split()[1]
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        for directory in directories:
            end_crawls(directory)


def end_crawls(folder: Path) -> None:
    """Crawls go on when their dashboard ends; those of a test do not."""
    for database in folder.glob("*/crawl.db"):
        holder = Workspace(database.parent).holder()
        if holder:
            os.kill(holder, signal.SIGKILL)


def install() -> None:
    """Says what it found, what it does, and whether there is no browser in the end."""
    if CHROMIUM:
        print(f"chromium is there: {CHROMIUM}")
        return
    if os.getuid() == 0 and shutil.which("apt-get"):
        print("installing chromium by apt-get …", flush=True)
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        quietly = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        done = subprocess.run(quietly, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    else:
        print("downloading chromium by playwright into its cache …", flush=True)
        done = subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    if done.returncode or not _chromium():
        print("no chromium could be installed: tests in a browser will be skipped", file=sys.stderr)


if __name__ == "__main__":
    install()
