"""Lists and dicts of a world that are decoded on first use."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from typing import overload

from lycosa.lab.worlds.container import AnyArray
from lycosa.model import Link


class Strings(Sequence[str]):
    """Strings by number, decoded on access."""

    __slots__ = ("_data", "_offsets")

    def __init__(self, data: AnyArray, offsets: AnyArray) -> None:
        # for a single value, memoryviews take a third of the time of numpy
        self._data = data.data
        self._offsets = offsets.data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            raise IndexError("strings are numbered from 0")
        return str(self._data[self._offsets[index] : self._offsets[index + 1]], "utf-8")

    def many(self, numbers: AnyArray) -> list[str]:
        data, offsets = self._data, self._offsets
        if len(numbers) > 1 and not numbers.any():  # most links have no rel
            return [self[0]] * len(numbers)
        return [str(data[offsets[number] : offsets[number + 1]], "utf-8") for number in numbers.tolist()]


class PageLinks(Sequence[Link]):
    """The links of a page. The length is known; links are decoded on first access and kept."""

    __slots__ = ("_length", "_links", "_make")

    def __init__(self, length: int, make: Callable[[], list[Link]]) -> None:
        self._length = length
        self._make = make
        self._links: list[Link] | None = None

    def _all(self) -> list[Link]:
        if self._links is None:
            self._links = self._make()
        return self._links

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Link]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Link: ...
    @overload
    def __getitem__(self, index: slice) -> list[Link]: ...
    def __getitem__(self, index: int | slice) -> Link | list[Link]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all() == list(other)

    __hash__ = None  # type: ignore[assignment] # compares by content, like a list


class PageLead(Sequence[str]):
    """The first stems of a page, in order."""

    __slots__ = ("_length", "_make")

    def __init__(self, length: int, make: Callable[[], list[str]]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._make()[index]


class PageTerms(Mapping[str, int]):
    """The terms of a page with their counts."""

    __slots__ = ("_make", "_terms")

    def __init__(self, make: Callable[[], dict[str, int]]) -> None:
        self._make = make
        self._terms: dict[str, int] | None = None

    def _all(self) -> dict[str, int]:
        if self._terms is None:
            self._terms = self._make()
        return self._terms

    def __getitem__(self, term: str) -> int:
        return self._all()[term]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    # Faster than the defaults of Mapping, which call __getitem__ for each term.

    def __contains__(self, term: object) -> bool:
        return term in self._all()

    def values(self) -> ValuesView[int]:
        return self._all().values()

    def items(self) -> ItemsView[str, int]:
        return self._all().items()
