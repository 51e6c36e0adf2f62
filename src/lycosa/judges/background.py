"""How common words are in general: the share of documents that contain a stem, shipped as a table.

A crawl that has fetched five pages cannot tell which of their words are specific. The table can: document frequencies
in newsgroup posts, of some twenty thousand stems that occur in four documents or more. It contains none of the texts;
`experiments/background.py` rebuilds it.

The file: lines of stems, compressed; the stems of line i are in 2^(−i/4) of the documents, rounded.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.wordhash import SIZE, numbers_of

FILE = "background.txt.gz"
STEPS = 4
"""Lines per halving of the share."""


@cache
def background_shares() -> NDArray[np.float32]:
    """By word number (`lib.wordhash`): the share of documents with the word, 0 for unknown words. Read-only."""
    shares = np.zeros(SIZE, dtype=np.float32)
    text = gzip.decompress(files("lycosa.judges").joinpath(FILE).read_bytes()).decode()
    for line, found in enumerate(text.split("\n")):
        if found:
            np.add.at(shares, numbers_of(found.split(" ")), np.float32(2.0 ** (-line / STEPS)))
    np.minimum(shares, 1.0, out=shares)
    shares.flags.writeable = False
    return shares
