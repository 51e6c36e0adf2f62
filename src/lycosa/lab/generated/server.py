"""A generated web over HTTP/1.1 on loopback.

Hosts are spread over several addresses (127.0.0.1, 127.0.0.2, …) at one port; the Host header decides whose page is
meant. tests/hostile has a server that also misbehaves and logs what a crawler does.
"""

from __future__ import annotations

import multiprocessing
import signal
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from multiprocessing.connection import Connection
from typing import NamedTuple

from lycosa.errors import InputError
from lycosa.lab.generated.web import GeneratedWeb, WebPlan

PORT_TRIES = 100


class Served(NamedTuple):
    """Where a generated web is served."""

    port: int
    overrides: dict[str, str]
    """The address of every host: what name resolution would say."""


@contextmanager
def served(plan: WebPlan, *, addresses: int) -> Iterator[Served]:
    """Serve the web from a process of its own, as a real one would be."""
    context = multiprocessing.get_context("spawn")
    ready, sender = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(plan, addresses, sender), daemon=True)
    process.start()
    sender.close()
    try:
        try:
            server: Served = ready.recv()
        except EOFError as error:
            raise InputError("the web server did not start; is 127.0.0.1 usable on this machine?") from error
        yield server
    finally:
        ready.close()
        process.terminate()
        process.join()


def _serve(plan: WebPlan, addresses: int, ready: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    web = GeneratedWeb(plan)
    servers = _listen(web, [f"127.0.0.{number + 1}" for number in range(addresses)])
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    overrides = {host: servers[number % addresses].address for number, host in enumerate(web.hosts)}
    ready.send(Served(servers[0].port, overrides))
    signal.pause()


def _listen(web: GeneratedWeb, addresses: list[str]) -> list[_Listener]:
    """One server for each address, at a port that is free on all of them."""
    for _ in range(PORT_TRIES):
        servers: list[_Listener] = []
        try:
            for address in addresses:
                servers.append(_Listener(web, address, servers[0].port if servers else 0))
        except OSError:
            for server in servers:
                server.server_close()
        else:
            return servers
    sys.exit(f"found no port that is free on all of {', '.join(addresses)}")


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, web: GeneratedWeb, address: str, port: int) -> None:
        super().__init__((address, port), _Handler)
        self.web = web
        self.address, self.port = self.socket.getsockname()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body go out one after the other
    server: _Listener

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").partition(":")[0].lower()
        rendered = self.server.web.answer(host, self.path, port=self.server.port)
        self.send_response(rendered.status)
        for name, value in (*rendered.headers, ("Content-Length", str(len(rendered.body)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(rendered.body)

    do_HEAD = do_GET  # noqa: N815 - http.server's name

    def log_message(self, format: str, *args: object) -> None:
        pass
