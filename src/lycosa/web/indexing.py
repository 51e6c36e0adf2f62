"""Pages are indexed for searching by a process of its own: python -m lycosa.web.indexing DIRECTORY.

A large crawl takes minutes, once. Whoever searches meanwhile finds what is indexed by then.
"""

from __future__ import annotations

import sys

from lycosa.errors import LycosaError
from lycosa.results.search import update_index

if __name__ == "__main__":
    try:
        update_index(sys.argv[1])
    except LycosaError as error:
        sys.exit(f"lycosa: {error}")
