"""Items of an XML document from an untrusted source: a streaming parser that refuses document types.

Without a document type there are no entities to expand or to fetch, so a document costs what its bytes cost. Namespaces
are left out of names. A document that breaks off, or is no XML, gives the items before that point, and says so.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from xml.parsers import expat

MAX_DEPTH = 100
MAX_REL = 40
MAX_TEXT = 10_000
"""Of one field, in characters: what is longer is cut."""


class XmlItem(NamedTuple):
    name: str
    """Of the element."""
    fields: dict[str, str]
    """Texts of its children by name; attributes of children as `link@href`. Of several of one name, the first. Those of
    a link also by its rel, which is alternate if it has none: `link[alternate]@href`."""
    attributes: dict[str, str]


class XmlItems(NamedTuple):
    items: list[XmlItem]
    failure: str
    """Why it was not read to its end; empty if it was."""


class _Refused(Exception):
    pass


def xml_items(
    data: bytes, *, items: Collection[str], fields: Collection[str], most: int, within: Collection[str] = ()
) -> XmlItems:
    """The first `most` elements called one of `items`, with those of their children that are called one of `fields`.

    `within`: names of children whose own children count, too.
    """
    reader = _ItemReader(items, fields, most, within)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = reader.refuse
    parser.EntityDeclHandler = reader.refuse
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(data, True)
    except _Refused as refused:
        return XmlItems(reader.found, str(refused))
    except (expat.ExpatError, ValueError, LookupError) as error:  # LookupError: an encoding that is unknown
        return XmlItems(reader.found, f"not XML: {error}")
    return XmlItems(reader.found, "")


class _ItemReader:
    def __init__(self, items: Collection[str], fields: Collection[str], most: int, within: Collection[str]) -> None:
        self._items, self._fields, self._most, self._within = items, fields, most, within
        self.found: list[XmlItem] = []
        self._item: XmlItem | None = None
        self._item_depth = 0
        self._field = ""
        self._field_depth = 0
        """Depth at which children count."""
        self._text: list[str] = []
        self._length = 0
        self._depth = 0

    def refuse(self, *_: object) -> None:
        raise _Refused("has a document type, which is refused")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Refused(f"is nested more than {MAX_DEPTH} deep")
        local = name.rpartition(" ")[2]
        if self._item is None:
            if local in self._items:
                self._item, self._item_depth = XmlItem(local, {}, attributes), self._depth
                self._field_depth = self._depth + 1
        elif self._depth == self._item_depth + 1 and local in self._within:
            self._field_depth = self._depth + 1
        elif self._depth == self._field_depth and local in self._fields:
            self._field, self._text, self._length = local, [], 0
            for key, value in attributes.items():
                self._item.fields.setdefault(f"{local}@{key}", value[:MAX_TEXT])
                if local == "link":
                    rel = attributes.get("rel", "alternate")[:MAX_REL]
                    self._item.fields.setdefault(f"link[{rel}]@{key}", value[:MAX_TEXT])

    def text(self, data: str) -> None:
        if self._field and self._length < MAX_TEXT:
            self._text.append(data)
            self._length += len(data)

    def end(self, name: str) -> None:  # noqa: ARG002 - expat checks that it is the right one
        if self._item is not None and self._field and self._depth == self._field_depth:
            self._item.fields.setdefault(self._field, "".join(self._text).strip()[:MAX_TEXT])
            self._field = ""
        if self._item is not None and self._depth == self._item_depth + 1:
            self._field_depth = self._depth
        if self._item is not None and self._depth == self._item_depth:
            self.found.append(self._item)
            self._item = None
            if len(self.found) >= self._most:
                raise _Refused(f"has more than {self._most:,} entries")
        self._depth -= 1
