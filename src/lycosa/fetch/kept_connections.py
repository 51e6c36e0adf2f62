"""Which socket belongs to a connection that libcurl keeps open, so that it can be looked at before it is used again.

Nothing may wait on a kept connection: no request is under way, so whatever a server sent belongs to none, and libcurl
would take it for the answer to the next. libcurl does not say in its callbacks which socket it is about to use, only
the addresses and ports at both ends; so these are noted, with the socket, when the first request on a
connection has ended. The socket of a connection that is used again is still the one that was noted.
"""

from __future__ import annotations

import select
from typing import Any

import pycurl

Ends = tuple[str, int, str, int]
"""Address and port of the server, then ours."""


class KeptConnections:
    def __init__(self, *, most: int) -> None:
        """`most`: number of connections that libcurl keeps."""
        self._sockets: dict[Ends, int] = {}
        self._most = 2 * most

    def note(self, curl: Any) -> None:
        """The first request on a connection has ended well; the connection may be kept."""
        socket = curl.getinfo(pycurl.ACTIVESOCKET)
        if socket < 0:
            return
        if len(self._sockets) >= self._most:
            self._sockets.clear()  # whoever is forgotten gets a new connection
        info = curl.getinfo
        ends = info(pycurl.PRIMARY_IP), info(pycurl.PRIMARY_PORT), info(pycurl.LOCAL_IP), info(pycurl.LOCAL_PORT)
        self._sockets[ends] = socket

    def has_input(self, ends: Ends) -> bool:
        """Whether bytes, or the end of the connection, wait to be read. True also if the connection is not known."""
        socket = self._sockets.get(ends, -1)
        if socket < 0:
            return True
        waiting = select.poll()
        waiting.register(socket, select.POLLIN)
        return bool(waiting.poll(0))
