"""How work of the laboratory is spread: over processes of this machine, or over those of a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import typer

from lycosa.errors import InputError

PROCESSES = typer.Option(0, "--processes", "-p", help="Number of processes; 0: one for each core.")
CLUSTER = typer.Option(False, "--cluster", help="Spread the work over a Ray cluster; needs lycosa\\[cluster].")
RAY = typer.Option("", "--ray", help="The cluster: ray://host:10001. Without it, one is started here.")

Imap = Callable[[Callable[[Any], Any], Any], Iterator[Any]]
"""Calls a function with many things, in other processes; results come in order."""


class Spread(NamedTuple):
    processes: int = 0
    """0: one for each core."""
    is_over_cluster: bool = False
    address: str = ""
    """Of the cluster."""

    @property
    def process_count(self) -> int:
        return self.processes or len(os.sched_getaffinity(0))

    @property
    def is_here(self) -> bool:
        """Whether all work is done in this process."""
        return self.process_count == 1 and not self.is_over_cluster


def spread_of(processes: int, is_over_cluster: bool, address: str) -> Spread:
    """What the options say."""
    if processes < 0:
        raise InputError(f"--processes {processes}: it must be 0 (one for each core) or more")
    if address and not is_over_cluster:
        raise InputError("--ray is the address of a cluster: give --cluster, too")
    if processes and address:
        raise InputError("--processes: a Ray cluster that runs has the processors it has; leave it out with --ray")
    return Spread(processes, is_over_cluster, address)


@contextmanager
def spread(over: Spread, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()) -> Iterator[Imap]:
    """`begin`: called with what is given in every other process, before its first work."""
    if over.is_here:
        yield map
    elif over.is_over_cluster:
        from lycosa.cluster.work import workers

        with workers(over.address, over.process_count, begin, given) as found:
            yield found.imap
    else:
        with multiprocessing.get_context("spawn").Pool(over.process_count, begin, given) as pool:
            yield pool.imap
