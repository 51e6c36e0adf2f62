"""What people said is learned by a process of its own: python -m lycosa.web.learning DIRECTORY.

Training takes seconds and memory that the dashboard must not spend. A running crawl learns by itself; only a judge from
the topic book is trained here then.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from lycosa.engine import Crawl
from lycosa.errors import LycosaError
from lycosa.opened import config_of
from lycosa.store.opening import open_store
from lycosa.store.rows import Batch
from lycosa.teaching import teach
from lycosa.workspace import Workspace

LEARNED_AT_ONCE = 20_000
"""Number of pages up to which a crawl that does not run learns now; a larger one learns when it goes on."""


def learn(directory: Path) -> None:
    workspace = Workspace.existing(directory)
    teach(workspace, config_of(workspace))
    if workspace.holder() is not None:
        return
    with closing(open_store(workspace)) as store:
        store.write(Batch(recounts_hosts=True))
        pages = store.totals().pages
    if pages <= LEARNED_AT_ONCE:
        Crawl(directory=directory).learn_answers()


if __name__ == "__main__":
    try:
        learn(Path(sys.argv[1]))
    except LycosaError as error:
        sys.exit(f"lycosa: {error}")
