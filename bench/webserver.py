"""A fast static server for a site's files, in processes of its own: nginx where there is one, else a small one of ours.

Ours reads all files beforehand and answers from memory; it knows as much HTTP as the two crawlers speak. Both write
the same log, a line a request, from which the benchmark takes what was fetched and when:

    1700000000.123 200 example.test /path
"""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import psutil

ADDRESS = "127.0.0.1"
PATIENCE = 15.0
NGINX = """\
{user}
daemon off;
worker_processes 1;
pid {scratch}/nginx.pid;
error_log {scratch}/nginx-error.log;
events {{ worker_connections 1024; }}
http {{
    log_format brief '$msec $status $host $request_uri';
    access_log {log} brief buffer=256k flush=5s;
    client_body_temp_path {scratch}/nginx-body;
    proxy_temp_path {scratch}/nginx-proxy;
    fastcgi_temp_path {scratch}/nginx-fastcgi;
    uwsgi_temp_path {scratch}/nginx-uwsgi;
    scgi_temp_path {scratch}/nginx-scgi;
    types {{ text/html html htm; text/plain txt; }}
    default_type text/html;
    charset utf-8;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    open_file_cache max=20000;
    open_file_cache_valid 600s;
    server_names_hash_bucket_size 128;
    server {{
        listen {address}:{port} backlog=1024;
        server_name _;
        root {root}/$host;
        index index.html;
        log_not_found off;
    }}
}}
"""


class Request(NamedTuple):
    at: float
    status: int
    url: str
    """Host and path as they were asked for."""


class Server:
    """A server that is running."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.name = name
        self._process = process
        self._log = log

    def cpu_seconds(self) -> float:
        """Of all its processes, so far."""
        parent = psutil.Process(self._process.pid)
        times = [process.cpu_times() for process in (parent, *parent.children(recursive=True))]
        return float(sum(time.user + time.system for time in times))

    def stop(self) -> list[Request]:
        """Let it write what it has in its buffers; everything that was asked of it."""
        _end(self._process, signal.SIGQUIT)
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines() if self._log.exists() else []
        requests = []
        for line in lines:
            at, status, host, path = line.split(" ", 3)
            requests.append(Request(float(at), int(status), host + path))
        return requests


def find_nginx() -> str | None:
    """Distributions put it where only root looks."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")


@contextmanager
def serving(
    root: Path,
    port: int,
    scratch: Path,
    *,
    label: str,
    nginx: str | None,
    certificate: Path | None = None,
    addresses: int = 1,
) -> Iterator[Server]:
    """Serve the files under `root` as long as the context lasts, by nginx if its path is given; over TLS, with a
    certificate, or at several addresses, 127.0.0.1 and on, by our own. The label names the log."""
    log = scratch / f"requests-{label}.log"
    log.unlink(missing_ok=True)
    if nginx and not certificate and addresses == 1:
        settings = scratch / "nginx.conf"
        # Started by root, nginx would work as a user who cannot read our scratch directory.
        user = f"user {pwd.getpwuid(os.geteuid()).pw_name};" if os.geteuid() == 0 else ""
        settings.write_text(
            NGINX.format(user=user, scratch=scratch, log=log, root=root, port=port, address=ADDRESS), encoding="utf-8"
        )
        command = [nginx, "-e", str(scratch / "nginx-error.log"), "-p", str(scratch), "-c", str(settings)]
        name = "nginx"
    else:
        command = [sys.executable, str(Path(__file__).resolve()), str(root), str(port), str(log), str(addresses)]
        command += [str(certificate)] if certificate else []
        name = "the benchmark's own server"
    process = subprocess.Popen(command)
    try:
        _wait_until_open(port, process, name)
        yield Server(name, process, log)
    finally:
        _end(process, signal.SIGTERM)


def _end(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """By a signal it can act on: killed outright, nginx would leave its worker behind."""
    if process.poll() is not None:
        return
    process.send_signal(how)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until_open(port: int, process: subprocess.Popen[bytes], name: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection((ADDRESS, port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise SystemExit(f"{name} does not answer on {ADDRESS}:{port}; its messages are above")


class _Connection(asyncio.Protocol):
    """Takes one request after the other off a connection: GET, no body."""

    def __init__(self, answers: dict[bytes, bytes], log: list[bytes]) -> None:
        self._answers = answers
        self._log = log
        self._waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        while b"\r\n\r\n" in self._waiting:
            head, _, self._waiting = self._waiting.partition(b"\r\n\r\n")
            target = head.split(b" ", 2)[1]
            start = head.lower().find(b"\r\nhost:") + 7
            host = head[start:].partition(b"\r\n")[0].strip().partition(b":")[0]
            answer = self._answers.get(host + target.partition(b"?")[0], MISSING)
            self._transport.write(answer)
            self._log.append(b"%.3f %b %b %b\n" % (time.time(), answer[9:12], host, target))


def _answer(status: str, kind: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nServer: bench\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    )
    return f"{head}Connection: keep-alive\r\n\r\n".encode() + body


MISSING = _answer("404 Not Found", "text/html", b"<!DOCTYPE html><title>Not found</title><p>Nothing here.</p>\n")


def _load(root: Path) -> dict[bytes, bytes]:
    """Each answer, head and all, under its host and path."""
    answers = {}
    for file in root.rglob("*"):
        if not file.is_file():
            continue
        path = str(file.relative_to(root))
        answer = _answer("200 OK", "text/plain" if path.endswith(".txt") else "text/html", file.read_bytes())
        for spelling in {path, quote(path, safe="/:@!$&'()*+,;=-._~")}:
            answers[spelling.encode()] = answer
            if spelling.endswith("/index.html"):
                answers[spelling.removesuffix("index.html").encode()] = answer
    return answers


async def _serve(root: Path, port: int, addresses: int, certificate: str) -> list[bytes]:
    """Answer until a signal comes; the lines of the log."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGQUIT, signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    answers, lines = _load(root), list[bytes]()
    secured = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if certificate else None
    if secured:
        secured.load_cert_chain(certificate)
    places = [ADDRESS, *(f"127.0.0.{number + 1}" for number in range(1, addresses))]
    server = await loop.create_server(lambda: _Connection(answers, lines), places, port, backlog=1024, ssl=secured)
    await ended.wait()
    server.close()
    return lines


if __name__ == "__main__":
    _, root, port, log, addresses, *rest = sys.argv
    served = _serve(Path(root), int(port), int(addresses), rest[0] if rest else "")
    Path(log).write_bytes(b"".join(asyncio.run(served)))
