"""Proxies on loopback that write down what they are asked for: HTTP (CONNECT and plain) and SOCKS5."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class LoopbackProxy:
    """`asked`: targets, as they were told. `login`: user:password that is needed; `status`: answer to all CONNECTs.

    `elsewhere`: where names lead that the proxy is to look up: loopback.
    """

    def __init__(self, *, login: str = "", status: int = 200) -> None:
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self.login, self.status = login, status
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def speak_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            method, target, _ = head.decode().split(" ", 2)
            wanted = base64.b64encode(self.login.encode())
            if self.login and b"Proxy-Authorization: Basic " + wanted not in head:
                writer.write(
                    b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="p"\r\nConnection: close\r\n'
                    b"Content-Length: 0\r\n\r\n"
                )
            elif method == "CONNECT":
                self.asked.append(target)
                writer.write(b"HTTP/1.1 %d Reply\r\nX-Proxy: yes\r\n\r\n" % self.status)
                if self.status == 200:
                    await self._pipe(int(target.rpartition(":")[2]), reader, writer)
            else:
                self.asked.append(target)
                url = urlsplit(target)
                rest = head.partition(b"\r\n")[2]
                await self._pipe(url.port or 80, reader, writer, f"GET {url.path} HTTP/1.1\r\n".encode() + rest)
            await writer.drain()
        writer.close()

    async def speak_socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            _, count = await reader.readexactly(2)
            methods = await reader.readexactly(count)
            if self.login and 2 in methods:
                writer.write(b"\x05\x02")
                await reader.readexactly(1)
                user = await reader.readexactly((await reader.readexactly(1))[0])
                password = await reader.readexactly((await reader.readexactly(1))[0])
                is_right = user + b":" + password == self.login.encode()
                writer.write(b"\x01\x00" if is_right else b"\x01\x01")
                if not is_right:
                    await writer.drain()
                    writer.close()
                    return
            else:
                writer.write(b"\x05\xff" if self.login else b"\x05\x00")
            kind = (await reader.readexactly(4))[3]
            size = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
            host = await reader.readexactly(size)
            port = int.from_bytes(await reader.readexactly(2), "big")
            self.asked.append(f"{host.decode() if kind == 3 else '.'.join(map(str, host))}:{port}")
            if self.status != 200:
                writer.write(b"\x05\x05\x00\x01" + bytes(6))
            else:
                writer.write(b"\x05\x00\x00\x01" + bytes(6))
                await self._pipe(port, reader, writer)
            await writer.drain()
        writer.close()

    async def _pipe(
        self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes = b""
    ) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        back.write(first)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.CancelledError):
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        await asyncio.gather(copy(reader, back), copy(there, writer))


@asynccontextmanager
async def proxying(kind: str = "http", *, login: str = "", status: int = 200) -> AsyncIterator[LoopbackProxy]:
    proxy = LoopbackProxy(login=login, status=status)
    speak = proxy.speak_http if kind == "http" else proxy.speak_socks
    listener = await asyncio.start_server(speak, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        for task in asyncio.all_tasks():
            if "LoopbackProxy" in getattr(task.get_coro(), "__qualname__", ""):
                task.cancel()
        await asyncio.sleep(0)
