"""A server on loopback with a handful of answers, and commands run in this process: for tests of the command line."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from lycosa.cli import main

LYCOSA = [sys.executable, "-c", "from lycosa.cli import main; main()"]
"""The command as a process of its own."""


class Answer(NamedTuple):
    status: int = 404
    kind: str = "text/plain"
    """The content type, or the location of a redirect."""
    text: str = ""
    headers: Mapping[str, str] = {}


Answers = Mapping[str, tuple[int, str, str]]
"""Status, content type (or location of a redirect) and text, by path."""
NOT_FOUND = Answer()


def html(text: str, **headers: str) -> Answer:
    return Answer(200, "text/html; charset=utf-8", text, headers)


@contextmanager
def serving(
    answers: Answers | Callable[[BaseHTTPRequestHandler], Answer], *, place: str = "127.0.0.1:0"
) -> Iterator[tuple[str, list[str]]]:
    """A server of these answers: its address and port, and the paths it was asked for. Without an answer it says 404.

    `place`: where it listens; port 0 is any that is free.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            answer = answers(self) if callable(answers) else Answer(*answers.get(self.path, NOT_FOUND))
            self.send_response(answer.status)
            self.send_header("Location" if answer.status == 301 else "Content-Type", answer.kind)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.text.encode())))
            self.end_headers()
            self.wfile.write(answer.text.encode())

        def log_message(self, *_: object) -> None:
            pass

    address, _, port = place.partition(":")
    server = ThreadingHTTPServer((address, int(port)), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{address}:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def lycosa(*words: object, cwd: Path | str = ".", **apart: object) -> Result:
    """Run a command in this process, which spares it the start; in one of its own where it needs another environment,
    input or limits (options of `subprocess.run`)."""
    if apart:
        command = [*LYCOSA, *map(str, words)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=cwd, **apart)
        return Result(ended.returncode, ended.stdout, ended.stderr)
    printed, said, code = io.StringIO(), io.StringIO(), 0
    argv, sys.argv = sys.argv, ["lycosa", *map(str, words)]
    try:
        with chdir(cwd), redirect_stdout(printed), redirect_stderr(said):
            main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.argv = argv
    return Result(code, printed.getvalue(), said.getvalue())


def done(*words: object, **apart: object) -> str:
    """What a command prints that does what it was asked for."""
    result = lycosa(*words, **apart)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


def refused(*words: object, **apart: object) -> str:
    """What a command says that refuses."""
    result = lycosa(*words, **apart)
    assert result.returncode == 2, result
    assert "Traceback" not in result.stderr
    return result.stderr
