"""The k nearest of many documents at once, and what they vote for: a pass over each row of similarities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.compiled import compiled

NOBODY = -1
"""Instead of a class: no neighbour has anything in common with the document. Instead of a column: it has none."""


@compiled
def predicted_classes(
    similarity: NDArray[np.float32],
    own: NDArray[np.int64],
    starts: NDArray[np.int64],
    classes: NDArray[np.int64],
    class_count: int,
    k: int,
) -> NDArray[np.int64]:
    """By row: the class with the most votes of the k nearest, each with its similarity, shared among its classes.

    `own`: the column of the row's own document, which does not vote. The classes of example j are
    classes[starts[j]:starts[j + 1]]. Only similarities above 0 vote; of equals, the first are nearest, and the first
    class wins.
    """
    rows, columns = similarity.shape
    found = np.full(rows, -1, np.int64)
    nearest = np.empty(k, np.int64)
    values = np.empty(k, np.float64)
    votes = np.zeros(class_count, np.float64)
    for row in range(rows):
        count = 0
        least = 0.0
        for column in range(columns):
            value = similarity[row, column]
            if value > least and column != own[row]:
                place = count if count < k else k - 1
                while place > 0 and values[place - 1] < value:
                    values[place] = values[place - 1]
                    nearest[place] = nearest[place - 1]
                    place -= 1
                values[place] = value
                nearest[place] = column
                if count < k:
                    count += 1
                if count == k:
                    least = values[k - 1]
        for at in range(count):
            low, high = starts[nearest[at]], starts[nearest[at] + 1]
            for place in range(low, high):
                votes[classes[place]] += values[at] / (high - low)
        best = 0.0
        for at in range(count):
            for place in range(starts[nearest[at]], starts[nearest[at] + 1]):
                kind = classes[place]
                if votes[kind] > best or (votes[kind] == best and found[row] > kind):
                    best = votes[kind]
                    found[row] = kind
        for at in range(count):
            for place in range(starts[nearest[at]], starts[nearest[at] + 1]):
                votes[classes[place]] = 0.0
    return found
