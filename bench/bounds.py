"""What a crawl cannot be faster than: the same pages by libcurl alone, and by libcurl with a parser written in C.

    python bench/bounds.py TASK.json           # {"urls": …, "resolve": …, "connections": …, "parses": …}

One process, one core. Pages are fetched from a list, many at once, over connections that are kept; with `parses`, each
is parsed by Lexbor and its links and text are taken, in C, and dropped. Nothing is judged, ordered or stored.
"""

from __future__ import annotations

import json
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pycurl
from selectolax.lexbor import LexborHTMLParser


def fetch(task: dict[str, Any]) -> int:
    """Fetch all; the number of answers."""
    multi = pycurl.CurlMulti()
    idle = [_handle(task) for _ in range(task["connections"])]
    urls = iter(task["urls"])
    busy: dict[pycurl.Curl, BytesIO] = {}
    done = 0
    while True:
        while idle and (url := next(urls, None)) is not None:
            handle, body = idle.pop(), BytesIO()
            handle.setopt(pycurl.URL, url)
            handle.setopt(pycurl.WRITEDATA, body)
            busy[handle] = body
            multi.add_handle(handle)
        if not busy:
            return done
        while multi.perform()[0] == pycurl.E_CALL_MULTI_PERFORM:
            pass
        _, ended, failed = multi.info_read()
        for handle in [*ended, *(failure[0] for failure in failed)]:
            multi.remove_handle(handle)
            if task["parses"]:
                _parse(busy[handle].getvalue())
            del busy[handle]
            idle.append(handle)
            done += 1
        if not ended and not failed:
            multi.select(1.0)


def _handle(task: dict[str, Any]) -> pycurl.Curl:
    handle = pycurl.Curl()
    handle.setopt(pycurl.RESOLVE, task["resolve"])
    handle.setopt(pycurl.SSL_VERIFYPEER, 0)  # the certificate of a loopback server is its own
    handle.setopt(pycurl.SSL_VERIFYHOST, 0)
    return handle


def _parse(body: bytes) -> None:
    parser = LexborHTMLParser(body)
    parser.css("a[href]")
    if parser.root is not None:
        parser.root.text()


if __name__ == "__main__":
    print(fetch(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
