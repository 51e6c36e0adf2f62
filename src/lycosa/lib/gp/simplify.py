"""The same formula in fewer symbols, and equal formulas written in the same way.

Only rules that keep every value as it is, to the last bit: numbers are computed; 1·x, x/1 and 0 + x are x, 0·x is 0,
x/x is 1 (everywhere, as 0/0 is protected: see `interpret`); the arguments of + and × are put in order. Trees that are
equal up to the order of their arguments are then one tree, which is evaluated once.
"""

from __future__ import annotations

from lycosa.lib.gp.interpret import OPERATIONS, number_value
from lycosa.lib.gp.trees import Expression, is_number, number

_ZERO, _ONE = number(0), number(1)


def simplified(tree: Expression) -> Expression:
    children = tuple(map(simplified, tree.children))
    if children and tree.name in OPERATIONS and all(is_number(child.name) for child in children):
        return number(float(OPERATIONS[tree.name](*(number_value(child.name) for child in children))))
    match tree.name, children:
        case ("+", (x, y)) | ("*", (x, y)):
            return _commutative(tree.name, *sorted((x, y), key=_order))
        case "/", (x, y) if x == y:
            return _ONE
        case "/", (x, y) if y == _ONE:
            return x
    return Expression(tree.name, children)


def _commutative(sign: str, first: Expression, second: Expression) -> Expression:
    """Numbers come first."""
    neutral = _ZERO if sign == "+" else _ONE
    if first == neutral:
        return second
    if sign == "*" and first == _ZERO:
        return _ZERO
    return Expression(sign, (first, second))


def _order(tree: Expression) -> tuple[bool, int, Expression]:
    return not is_number(tree.name), tree.size, tree
