"""A similarity as a file that people read and edit: TOML, with the formula and the number of neighbours.

    formula = "sqrt(body_cosine) * body_okapi + title_cosine"
    k = 10
    evidence = "links"      # only if the formula may have evidence of links

Everything else in the file is a comment. It is read as data: nothing in it is executed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lycosa.errors import InputError
from lycosa.judges.gp.fields import FIELDS_BY_CHOICE, PAPER, chosen_fields, evidence_of
from lycosa.judges.gp.learning import SIMILARITIES
from lycosa.lib.gp.text import parsed, written
from lycosa.lib.nearest import did_you_mean

_KEYS = ("formula", "k", "evidence")
_LARGEST_FILE = 100_000

_HEAD = """\
# How similar a page is to an example, for the judge gp-knn: the k most similar examples vote on the page's topics.
# Evidence:  {evidence}
# Functions: + * / sqrt( ), numbers, parentheses; x / 0 is 1.
# Edit the formula or k, and train with it:  lycosa topics train --judge gp-knn --formula THIS-FILE
"""


class SavedFormula(NamedTuple):
    formula: str
    """Checked."""
    k: int | None
    """None: not said."""
    evidence: str | None = None
    """The setting; None: not said."""


def write_formula(path: Path, formula: str, *, k: int, evidence: str = PAPER, notes: Sequence[str] = ()) -> None:
    """`notes`: lines about where the formula comes from."""
    head = _HEAD.format(evidence=", ".join(evidence_of(chosen_fields(evidence))))
    text = written(parsed(formula, SIMILARITIES))
    comments = "".join(f"# {' '.join(note.split())}\n" for note in notes)
    setting = "" if evidence == PAPER else f'evidence = "{evidence}"\n'
    path.write_text(f'{head}{comments}\nformula = "{text}"\nk = {k}\n{setting}', encoding="utf-8")


def read_formula(path: Path) -> SavedFormula:
    """InputError that says what is wrong, and where."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise InputError(f"{path}: larger than any formula: the maximum is {_LARGEST_FILE:,} bytes")
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    for name in data:
        if name not in _KEYS:
            raise InputError(
                f"{path}: there is no setting {name!r}; {did_you_mean(name, _KEYS)}there are {', '.join(_KEYS)}"
            )
    formula, k, evidence = map(data.get, _KEYS)
    if not isinstance(formula, str):
        raise InputError(f'{path}: the formula is missing: formula = "body_cosine + title_okapi"')
    if k is not None and (not isinstance(k, int) or isinstance(k, bool) or k < 1):
        raise InputError(f"{path}: k is {k!r}: it must be a whole number of 1 or more")
    if evidence is not None and (not isinstance(evidence, str) or evidence not in FIELDS_BY_CHOICE):
        raise InputError(f"{path}: evidence is {evidence!r}: there are {', '.join(FIELDS_BY_CHOICE)}")
    try:
        return SavedFormula(written(parsed(formula, SIMILARITIES)), k, evidence)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
