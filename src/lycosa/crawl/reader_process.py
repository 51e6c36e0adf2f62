"""A reader process: reads one page after the other until the crawl goes away. `reader_pool` starts it.

    python -P -m lycosa.crawl.reader_process SOCKET PARENT LANGUAGE_MODEL BODIES

PARENT is the number of the crawl's process, without which there is nothing to do; the others are numbers of open files,
−1 for one that there is not.
"""

from __future__ import annotations

import gc
import marshal
import mmap
import os
import pickle
import resource
import socket
import sys
import time
import traceback
from typing import Any

from lycosa.crawl.reader_answers import LENGTH, pack
from lycosa.crawl.reader_confinement import confine
from lycosa.crawl.reader_limits import ProcessorTime, die_with_parent
from lycosa.crawl.reader_requests import mapped, unpacked
from lycosa.crawl.reading import Read, compared, read_response
from lycosa.lib.memory import memory_returner
from lycosa.model import Kind, Outcome
from lycosa.page import language_model

GARBAGE = 100_000
"""Objects that a reader makes, beyond those it has let go, before it looks for garbage."""
LARGE = 0.05
"""Seconds of processor time that only large pages take, or those that unpack themselves: their memory goes back."""


def serve(sock: socket.socket, bodies: mmap.mmap | None) -> None:
    """Read pages until the other side goes away. `bodies`: where those of pages are that do not come with them."""
    with sock.makefile("rb") as stream:
        # Last, so that nothing there hides a module of Python's or ours; a judge may have to be imported from there.
        sys.path += [entry for entry in marshal.loads(_receive(stream)) if entry not in sys.path]  # noqa: S302 - our parent
        reading, memory, seconds, whole_pages, confined = pickle.loads(_receive(stream))  # noqa: S301 - from the crawl, our parent
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if confined:
            confine()
        gc.freeze()  # modules and settings are here to stay: there is no garbage to be looked for among them
        gc.set_threshold(GARBAGE)  # a page makes thousands of objects, and none that refer to each other in a circle
        return_memory, processor = memory_returner(), ProcessorTime(seconds)
        sock.sendall(LENGTH.pack(0))  # ready
        while message := _receive(stream):
            given = marshal.loads(message)  # noqa: S302 - from the crawl, our parent
            if len(given) == 1:
                reading, _, _, whole_pages, _ = pickle.loads(given[0])  # noqa: S301 - from the crawl, our parent
                continue
            page = unpacked(given, bodies)
            processor.allow()
            began = time.process_time()
            try:
                result = read_response(page.response, reading, page.furniture)
                result = compared(result, page.known, reading, page.furniture)
            except Exception as error:
                result = Read(Outcome(Kind.UNREADABLE, "reader fault", f"{type(error).__name__}: {error}"[:300]))
            answer = pack(result, whole_pages=whole_pages)
            sock.sendall(LENGTH.pack(len(answer)) + answer)
            if time.process_time() - began > LARGE:
                del message, given, page, result, answer
                return_memory()


def _receive(stream: Any) -> bytes:
    head = stream.read(LENGTH.size)
    return bytes(stream.read(LENGTH.unpack(head)[0])) if len(head) == LENGTH.size else b""


def main(sock: int, parent: int, model: int, bodies: int) -> None:
    die_with_parent(parent)
    os.nice(1)  # the crawl's own process goes first: it keeps the readers fed
    if model >= 0:
        language_model.share(model)
    try:
        serve(socket.socket(fileno=sock), mapped(bodies))
    except (BrokenPipeError, ConnectionResetError):
        pass
    except Exception:
        traceback.print_exc()
        # At once: a process that has closed its socket and is still about to end would be killed by the crawl, and
        # could not be told from one that somebody else has killed.
        os._exit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
