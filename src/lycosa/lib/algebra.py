"""Linear algebra on one core.

numpy hands products of matrices to a library that has a thread for each core. Between two products these threads spin,
waiting for the next. In a crawl's process, whose products are small, this was a quarter of the processor time, which
its readers lacked. By one thread, results also do not depend on the number of cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def on_one_core() -> Iterator[None]:
    """Meanwhile, for the whole process."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
