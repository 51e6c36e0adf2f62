"""Words that are too common to tell one text from another.

Spelt as `lib.text` splits words: in lower case and without apostrophes (`don't` becomes `don` and a `t`, which is
dropped for its length). English ones are below. Those of the other languages that Snowball stems are in
stopwords.txt.gz, which is read when the first text in another language is; experiments/stopwords.py made it, and
stopwords-licences.txt says from what.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from lycosa.lib.languages import STEMMERS

FILE = Path(__file__).with_suffix(".txt.gz")

ENGLISH = frozenset(
    """
    about above after again against ain all also am among an and any are aren around as at be because
    been before being below between both but by can cannot could couldn did didn do does doesn doing
    don down during each either else ever every few for from further had hadn has hasn have haven
    having he hence her here hers herself him himself his how however if in into is isn it its itself
    just ll me might mightn more most must mustn my myself neither no nor not now of off on once only
    or other ought our ours ourselves out over own per rather re same shall shan she should shouldn
    since so some such than that the their theirs them themselves then there therefore these they this
    those though through thus to too under until up upon us ve very was wasn we were weren what when
    where whereas whether which while who whom whose why will with within without won would wouldn yet
    you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a list literal of 190 quoted words is harder to read and to edit
)


def of(stemmer: str) -> frozenset[str]:
    """The stop words of the language that this stemmer is for."""
    return ENGLISH if stemmer == "english" else _others().get(stemmer, frozenset())


@cache
def _others() -> dict[str, frozenset[str]]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        listed = [line.split() for line in lines]
    return {STEMMERS[code]: frozenset(words) for code, *words in listed}
