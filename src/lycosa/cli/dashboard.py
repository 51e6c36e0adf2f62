"""lycosa dashboard: see crawls and steer them in a browser."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from lycosa.cli.terminal import err, out, plain
from lycosa.errors import InputError

USUAL_PORT = 8765


def dashboard(
    directories: list[Path] = typer.Argument(
        None, metavar="[DIRECTORY]...", help="A crawl's directory, or a folder of them. Default: the current folder."
    ),
    address: str = typer.Option(
        "127.0.0.1",
        "--address",
        "-a",
        help="Address to listen on. Others can reach any but loopback: a token is part of the printed URL then.",
    ),
    port: int = typer.Option(USUAL_PORT, "--port", "-p", min=0, max=65535, help="Port to listen on; 0: any free one."),
    book: Path = typer.Option(Path("topics.db"), "--book", "-b", envvar="LYCOSA_TOPICS", help="The topic book."),
    token: str = typer.Option(
        "",
        "--token",
        envvar="LYCOSA_TOKEN",
        help="The token to ask for, also on loopback. Default: a new one if needed.",
    ),
    opens: bool = typer.Option(False, "--open", help="Open the page in the browser."),
) -> None:
    """See crawls and steer them in a browser.

    Every page that a crawl fetches is a dot: click it to see its text, why it was judged so, and how the crawl got
    there; say whether it is useful. Start, pause and stop crawls, answer questions, see what comes next and why, search
    and export what was found.

    It reads the directories of crawls and can be started and ended at any time, while they run or when they do not.
    Crawls that are started here go on when it ends. Needs: pip install 'lycosa[ui]'.
    """
    _require_ui()
    from lycosa.web.server import serve  # heavy, and an extra

    def ready(url: str) -> None:
        out.print(f"dashboard: [bold]{plain(url)}[/]   (Ctrl-C ends it; crawls go on)")
        if opens:
            webbrowser.open(url)

    serve(directories or [Path()], book=book, address=address, port=port, token=token, ready=ready)


def _require_ui() -> None:
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"the dashboard needs {' and '.join(missing)}: pip install 'lycosa[ui]'")


@contextmanager
def beside(directory: Path, book: Path) -> Iterator[None]:
    """A dashboard for a crawl that runs in this process, as a process of its own: it takes nothing from the crawl.

    It ends with the crawl.
    """
    _require_ui()
    directory.mkdir(parents=True, exist_ok=True)
    words = ["dashboard", str(directory), "--book", str(book)]
    process = subprocess.Popen([sys.executable, "-m", "lycosa", *words], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode("utf-8", "replace").strip()
        err.print(plain(line.partition("   (")[0] or "the dashboard did not start"))
        yield
    finally:
        process.terminate()
        process.communicate()  # waits, and closes what it said
