"""A server on loopback with a handful of answers, and commands run in this process: for tests of the command line."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from lycosa.cli import main

Answers = dict[str, tuple[int, str, str]]
"""Status, content type (or location of a redirect) and text, by path."""


@contextmanager
def serving(answers: Answers) -> Iterator[tuple[str, list[str]]]:
    """A server of these answers: its name and port, and the paths it was asked for. Without one it says 404."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, kind, text = answers.get(self.path, (404, "text/plain", ""))
            self.send_response(status)
            self.send_header("location" if status == 301 else "content-type", kind)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def lycosa(*words: object) -> Result:
    """Run a command in this process, which spares it the start."""
    printed, said, code = io.StringIO(), io.StringIO(), 0
    argv, sys.argv = sys.argv, ["lycosa", *map(str, words)]
    try:
        with redirect_stdout(printed), redirect_stderr(said):
            main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.argv = argv
    return Result(code, printed.getvalue(), said.getvalue())
