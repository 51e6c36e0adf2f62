"""A tree as a formula that people read and write: `sqrt(body_cosine) + 2 * title_okapi / body_okapi`.

    sum     = product, { "+", product }
    product = factor, { "*" | "/", factor }
    factor  = number | terminal | function, "(", sum, { ",", sum }, ")" | "(", sum, ")"

A formula may come from a file that somebody edited: what is wrong with it is said with line and column.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from lycosa.errors import InputError
from lycosa.lib.gp.interpret import LARGEST
from lycosa.lib.gp.trees import Expression, Language, is_number, number
from lycosa.lib.nearest import did_you_mean

MAX_TEXT = 10_000
MAX_SYMBOLS = 400
MAX_NESTING = 50
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|([-+*/(),])|(\S))", re.ASCII)
_BINDING = {"+": 1, "*": 2, "/": 2}


def written(tree: Expression) -> str:
    """With as few parentheses as its structure allows: read back, it is the same tree."""
    return _written(tree, 0)


def _written(tree: Expression, outside: int) -> str:
    """`outside`: how tightly the surrounding operator binds."""
    if not tree.children:
        return tree.name
    if tree.name not in _BINDING:
        return f"{tree.name}({', '.join(map(written, tree.children))})"
    own = _BINDING[tree.name]
    left, right = tree.children
    text = f"{_written(left, own)} {tree.name} {_written(right, own + 1)}"
    return f"({text})" if own < outside else text


def parsed(text: str, language: Language) -> Expression:
    """The tree of a formula; InputError that says where it is wrong."""
    if len(text) > MAX_TEXT:
        raise InputError(f"the formula has {len(text):,} characters: the maximum is {MAX_TEXT:,}")
    return _FormulaText(text, language).whole()


class _Symbol(NamedTuple):
    text: str
    at: int


class _FormulaText:
    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._language = language
        found = [(match, match.lastindex or 0) for match in _TOKEN.finditer(text)]
        self._tokens = [_Symbol(match[group], match.start(group)) for match, group in found]
        if len(self._tokens) > MAX_SYMBOLS:
            raise InputError(f"the formula has {len(self._tokens):,} symbols: the maximum is {MAX_SYMBOLS}")
        self._tokens.append(_Symbol("", len(text)))
        self._place = 0
        self._nesting = 0

    def whole(self) -> Expression:
        tree = self._sum()
        if self._next.text:
            raise self._error("expected + * / or the end of the formula")
        if not self._language.is_well_formed(tree):
            raise InputError(f"the formula {written(tree)!r} gives something else than {self._language.goal!r}")
        return tree

    @property
    def _next(self) -> _Symbol:
        return self._tokens[self._place]

    def _take(self) -> _Symbol:
        token = self._next
        self._place += 1
        return token

    def _sum(self) -> Expression:
        return self._chain("+", self._product)

    def _product(self) -> Expression:
        return self._chain("*/", self._factor)

    def _chain(self, signs: str, part: Callable[[], Expression]) -> Expression:
        tree = part()
        while self._next.text and self._next.text in signs:
            tree = Expression(self._take().text, (tree, part()))
        return tree

    def _factor(self) -> Expression:
        token = self._next
        if token.text == "(":
            self._take()
            if len(inner := self._inner()) > 1:
                raise InputError(f"{self._where(token)}: a comma stands only between the arguments of a function")
            return inner[0]
        if is_number(token.text):
            value = float(self._take().text)
            if value > LARGEST:
                raise InputError(f"{self._where(token)}: {token.text} is too large: the maximum is {LARGEST:g}")
            return number(value)
        if token.text in self._language.functions and token.text.isidentifier():
            return self._call(self._take())
        if token.text in self._language.terminals:
            return Expression(self._take().text)
        raise self._error("expected a name, a number or a parenthesis")

    def _call(self, name: _Symbol) -> Expression:
        takes = self._language.functions[name.text].takes
        if self._next.text != "(":
            raise self._error(f"{name.text} needs parentheses: expected (")
        self._take()
        children = self._inner()
        if len(children) != len(takes):
            wanted = f"{len(takes)} argument{'s' * (len(takes) != 1)}"
            raise InputError(f"{self._where(name)}: {name.text} takes {wanted}, not {len(children)}")
        return Expression(name.text, tuple(children))

    def _inner(self) -> list[Expression]:
        """What follows an opening parenthesis, up to the closing one."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise self._error(f"parentheses are nested more than {MAX_NESTING} deep")
        found = [self._sum()]
        while self._next.text == ",":
            self._take()
            found.append(self._sum())
        if self._next.text != ")":
            raise self._error("a parenthesis is not closed: expected )")
        self._take()
        self._nesting -= 1
        return found

    def _error(self, expected: str) -> InputError:
        token = self._next
        found = f"found {token.text!r}" if token.text else "but it ends here"
        hint = ""
        if token.text.isidentifier():
            known = [*self._language.terminals, *filter(str.isidentifier, self._language.functions)]
            hint = f"; {did_you_mean(token.text, known)}there are {', '.join(known)}"
        return InputError(f"{self._where(token)}: {expected}, {found}{hint}")

    def _where(self, token: _Symbol) -> str:
        before = self._text[: token.at]
        line = before.count("\n") + 1
        return f"formula, line {line}, column {token.at - (before.rfind(chr(10)) + 1) + 1}"
