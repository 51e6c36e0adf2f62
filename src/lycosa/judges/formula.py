"""Interests as formulas over topics (paper AR, sections 2.2, 2.3, 3.2 and 3.3).

    tourism AND (Ruegen OR Usedom) AND NOT camping

NOT binds tighter than AND, AND tighter than OR. Operators are written in any case, or as & | ! or ∧ ∨ ¬. Consecutive
words up to the next operator or parenthesis are one topic's name; a name that contains an operator's word, or anything
but letters, digits and _ - / . ' is put in quotes, "Black & white", with a \\ before a quote or another \\.

The meaning of a formula is AR's: μ(¬F) = 1 − μ(F), ∧ is the minimum, ∨ the maximum. The parts of one AND or OR may
have weights, `tourism^0.7 AND Ruegen^0.3` (1 by default). Then the rule of Fagin and Wimmers applies ("A formula for
incorporating weights into scoring rules", Theoretical Computer Science 239, 2000): with the weights divided by their
sum and the parts ordered so that θ₁ ≥ … ≥ θₘ ≥ θₘ₊₁ = 0,

    f_θ(x₁ … xₘ) = Σᵢ i·(θᵢ − θᵢ₊₁)·f(x₁ … xᵢ),    f = min or max.

Equal weights are no weights. A formula is an immutable tree in normal form: without weights, an AND in an AND is
spliced into it, and a repeated part appears once (likewise OR). `str` gives a text that parses to the same tree.
`generalise.py` derives other formulas from one: for links, for tunnelling, and to crawl without NOT.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, NoReturn

from lycosa.errors import InputError

MAX_LENGTH = 10_000
MAX_NESTING = 50
"""Maximum depth of nested parentheses and NOTs."""
MAX_WEIGHT = 1_000_000

_OPERATORS = {"AND", "OR", "NOT"}
_SYMBOLS = {"&": "AND", "∧": "AND", "|": "OR", "∨": "OR", "!": "NOT", "¬": "NOT", "(": "(", ")": ")", "^": "^"}
_WORD_MARKS = "_-/."
_WITHIN_WORDS = "'’\u200c\u200d"
_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,30})?(e-?[0-9]{1,3})?", re.ASCII)
_SHOWN = 60
"""Number of characters shown on either side of an error."""


class _Node:
    __slots__ = ()

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True, slots=True)
class Named(_Node):
    """A topic, by its path or by the name in the text."""

    topic: str


@dataclass(frozen=True, slots=True)
class Not(_Node):
    part: Formula


@dataclass(frozen=True, slots=True)
class _Joined(_Node):
    """Made by `join`, which ensures the normal form."""

    parts: tuple[Formula, ...]
    """Two or more."""
    weights: tuple[float, ...] = ()
    """One for each part, or none at all."""


class And(_Joined):
    __slots__ = ()


class Or(_Joined):
    __slots__ = ()


Formula = Named | Not | And | Or


def join(kind: type[And] | type[Or], parts: Sequence[Formula], weights: Sequence[float] = ()) -> Formula:
    """The parts under one AND or OR, in normal form; a single part is returned by itself."""
    if len(set(weights)) > 1:
        return kind(tuple(parts), tuple(weights))
    spliced: dict[Formula, None] = {}
    for part in parts:
        inner = part.parts if isinstance(part, kind) and not part.weights else (part,)
        spliced.update(dict.fromkeys(inner))
    return kind(tuple(spliced)) if len(spliced) > 1 else next(iter(spliced))


def topics_of(formula: Formula) -> tuple[str, ...]:
    """The topics a formula names, each once, in order."""
    match formula:
        case Named(topic):
            return (topic,)
        case Not(part):
            return topics_of(part)
        case And(parts) | Or(parts):
            return tuple(dict.fromkeys(chain.from_iterable(map(topics_of, parts))))


def complement(score: float) -> float:
    """AR's NOT."""
    return 1.0 - score


def evaluate(
    formula: Formula, scores: Mapping[str, float], *, negation: Callable[[float], float] = complement
) -> float:
    """μ of a formula, given μ in [0, 1] of each of its topics."""
    match formula:
        case Named(topic):
            try:
                return scores[topic]
            except KeyError:
                raise InputError(f"the formula names topic {topic!r}, which has no score") from None
        case Not(part):
            return negation(evaluate(part, scores, negation=negation))
        case And(parts, weights) | Or(parts, weights):
            pick: Callable[..., float] = min if isinstance(formula, And) else max
            values = [evaluate(part, scores, negation=negation) for part in parts]
            return _weighted(pick, values, weights) if weights else pick(values)


def _weighted(pick: Callable[..., float], values: Sequence[float], weights: Sequence[float]) -> float:
    """Fagin and Wimmers' rule, see the module."""
    total = sum(weights)
    ordered = sorted(zip(weights, values, strict=True), key=lambda pair: -pair[0])
    score, best = 0.0, ordered[0][1]
    for rank, (weight, value) in enumerate(ordered, 1):
        best = pick(best, value)
        following = ordered[rank][0] if rank < len(ordered) else 0.0
        score += rank * (weight - following) / total * best
    # Rounding may push the sum slightly beyond 1.
    return min(1.0, max(0.0, score))


def parse(text: str, *, resolve: Callable[[str], str] | None = None) -> Formula:
    """Parse a formula. `resolve` turns each name into a topic's path (`Taxonomy.resolve`).

    InputError states the position, what was expected and what was found, and points at the place.
    """
    if len(text) > MAX_LENGTH:
        raise InputError(f"formula of {len(text)} characters: at most {MAX_LENGTH} are allowed")
    return _Parser(text, resolve).whole()


class _Token(NamedTuple):
    kind: str
    """`word`, `quoted`, `end`, an operator in capitals, or the symbol itself."""
    text: str
    position: int
    """From 0."""


class _Parser:
    """Recursive descent:

    either  = both { OR both }                both = operand { AND operand }
    operand = negated [ "^" number ]          negated = NOT negated | name | "(" either ")"
    """

    def __init__(self, text: str, resolve: Callable[[str], str] | None) -> None:
        self._text = text
        self._resolve = resolve
        self._tokens = list(self._tokenise())
        self._at = 0
        self._nesting = 0

    def whole(self) -> Formula:
        return self._until("end", "the end")

    @property
    def _token(self) -> _Token:
        return self._tokens[self._at]

    def _next(self) -> _Token:
        token = self._token
        self._at += 1
        return token

    def _until(self, end: str, end_shown: str) -> Formula:
        """A whole expression. A weight on its only part is an error: it would weigh that against nothing."""
        formula, weight = self._either()
        if self._token.kind != end:
            self._expected(f"AND, OR or {end_shown}")
        if weight is not None:
            caret = next(token for token in reversed(self._tokens[: self._at]) if token.kind == "^")
            self._fail(caret.position, "a weight needs another part beside it, as in 'tourism^0.7 AND Ruegen^0.3'")
        return formula

    def _either(self) -> tuple[Formula, float | None]:
        return self._chain(Or, "OR", self._both)

    def _both(self) -> tuple[Formula, float | None]:
        return self._chain(And, "AND", self._operand)

    def _chain(
        self, kind: type[And] | type[Or], operator: str, part: Callable[[], tuple[Formula, float | None]]
    ) -> tuple[Formula, float | None]:
        """Parts joined by an operator. The weight of a single part is left to the caller."""
        found = [part()]
        while self._token.kind == operator:
            self._next()
            found.append(part())
        if len(found) == 1:
            return found[0]
        weights = [1.0 if weight is None else weight for _, weight in found]
        return join(kind, [formula for formula, _ in found], weights), None

    def _operand(self) -> tuple[Formula, float | None]:
        formula = self._negated()
        if self._token.kind != "^":
            return formula, None
        self._next()
        token = self._token
        number = token.text if token.kind == "word" and _NUMBER.fullmatch(token.text) else "0"
        if not 0 < float(number) <= MAX_WEIGHT:
            self._expected(f"a weight above 0 and at most {MAX_WEIGHT}, such as 0.7")
        self._next()
        return formula, float(number)

    def _negated(self) -> Formula:
        token = self._token
        if token.kind in ("word", "quoted"):
            return Named(self._name())
        if token.kind not in ("NOT", "("):
            self._expected("a topic name, '(' or NOT")
        self._next()
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self._fail(token.position, f"too many nested parentheses and NOTs: at most {MAX_NESTING} are allowed")
        formula: Formula
        if token.kind == "NOT":
            formula = Not(self._negated())
        else:
            formula = self._until(")", f"the ')' for the '(' at position {token.position + 1}")
            self._next()
        self._nesting -= 1
        return formula

    def _name(self) -> str:
        first = self._next()
        words = [first.text]
        while first.kind == "word" and self._token.kind == "word":
            words.append(self._next().text)
        name = unicodedata.normalize("NFC", " ".join(words))
        if self._resolve is None:
            return name
        try:
            return self._resolve(name)
        except InputError as error:
            self._fail(first.position, str(error))

    def _tokenise(self) -> Iterator[_Token]:
        """The tokens of the text, `end` last."""
        text, at = self._text, 0
        while at < len(text):
            character, start = text[at], at
            if character.isspace():
                at += 1
            elif character in _SYMBOLS:
                # && and || are the same as & and |.
                at += 2 if character in "&|" and text[at : at + 2] == character * 2 else 1
                yield _Token(_SYMBOLS[character], text[start:at], start)
            elif character in "\"'":
                name, at = self._quoted(at)
                yield _Token("quoted", name, start)
            elif _is_word_character(character):
                while at < len(text) and (_is_word_character(text[at]) or text[at] in _WITHIN_WORDS):
                    at += 1
                word = text[start:at]
                yield _Token(word.upper() if word.upper() in _OPERATORS else "word", word, start)
            else:
                self._fail(at, f"unexpected {character!r}: put a name that contains it in quotes")
        yield _Token("end", "", len(text))

    def _quoted(self, start: int) -> tuple[str, int]:
        """The quoted name that begins here, and the position after it."""
        text, name, at = self._text, list[str](), start + 1
        while at < len(text) and text[at] != text[start]:
            at += text[at] == "\\"
            name.append(text[at : at + 1])
            at += 1
        if at >= len(text):
            self._fail(start, f"the name that begins here has no closing {text[start]}")
        if not "".join(name).strip():
            self._fail(start, "a topic name cannot be empty")
        return "".join(name), at + 1

    def _expected(self, what: str) -> NoReturn:
        token = self._token
        found = f"found {token.text[:40]!r}" if token.kind != "end" else "found the end"
        # "Love not war" is a name that should have been quoted.
        is_after_name = self._at > 0 and self._tokens[self._at - 1].kind == "word"
        is_spelt_out = token.kind in _OPERATORS and token.text.isalpha()
        hint = "; put a name that contains this word in quotes" if is_spelt_out and is_after_name else ""
        self._fail(token.position, f"expected {what}; {found}{hint}")

    def _fail(self, position: int, why: str) -> NoReturn:
        start = max(0, position - _SHOWN)
        shown = "".join(c if c.isprintable() else " " for c in self._text[start : position + _SHOWN])
        pointer = " " * (position - start) + "^"
        raise InputError(f"formula, position {position + 1}: {why}\n    {shown}\n    {pointer}")


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character in _WORD_MARKS or unicodedata.category(character)[0] == "M"


def _text(node: object) -> str:
    match node:
        case Named(topic):
            return _name_text(topic)
        case Not(part):
            return "NOT " + _part_text(part, (And, Or))
        case And(parts, weights):
            return " AND ".join(_weighted_texts(parts, weights, (And, Or)))
        case Or(parts, weights):
            return " OR ".join(_weighted_texts(parts, weights, (And, Or) if weights else (Or,)))
    raise TypeError(f"{type(node).__name__} is not a part of a formula")


def _weighted_texts(parts: Sequence[Formula], weights: Sequence[float], enclosed: tuple[type, ...]) -> list[str]:
    texts = [_part_text(part, enclosed) for part in parts]
    if not weights:
        return texts
    marks = ["" if weight == 1 else "^" + repr(float(weight)).removesuffix(".0") for weight in weights]
    return [text + mark for text, mark in zip(texts, marks, strict=True)]


def _part_text(part: Formula, enclosed: tuple[type, ...]) -> str:
    return f"({part})" if isinstance(part, enclosed) else str(part)


def _name_text(topic: str) -> str:
    """The name as written in a formula: without quotes if that parses to the same name."""
    words = topic.split(" ")
    if all(_is_bare(word) for word in words):
        return topic
    escaped = topic.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_bare(word: str) -> bool:
    return (
        bool(word)
        and word.upper() not in _OPERATORS
        and _is_word_character(word[0])
        and all(_is_word_character(character) or character in _WITHIN_WORDS for character in word)
    )
