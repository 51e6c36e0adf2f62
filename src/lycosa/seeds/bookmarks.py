"""Bookmarks as examples of an interest (paper FC, section 2.1: the user's own bookmarks are imported).

Three kinds of file are recognised by their content: the Netscape format that every browser exports, a list of URLs with
one on each line (a title may follow), and plain text, which is an example itself and may contain URLs.

The file must be text; nothing else is required. Unclosed folders, truncated tags and addresses that cannot be fetched
affect only themselves; `Bookmarks` counts what was dropped and notes what looks damaged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from lycosa.errors import SeedError

MAX_BYTES = 32 * 1024 * 1024
MAX_ENTRIES = 100_000
MAX_TEXT = 200_000
"""Maximum number of characters of plain text."""
MAX_TITLE = 300
MAX_FOLDERS = 16
"""Maximum depth of folders; what is nested deeper is assigned to the last of them."""
_MAX_FOLDER = 100
_MAX_URL = 8_192
_MAX_TAG = 16_384

SCRIPT = "script"
BROWSER = "the browser's own"
OTHER_SCHEME = "not http or https"
NO_ADDRESS = "no address"
NOT_A_URL = "not a URL"
REPEATED = "repeated in its folder"
TOO_MANY = "too many bookmarks"

_SCHEME = re.compile(r"\s*([a-zA-Z][a-zA-Z0-9+.-]{0,31}):")
_REASON_OF_SCHEME = {
    **dict.fromkeys(("http", "https"), ""),
    **dict.fromkeys(("javascript", "data", "vbscript"), SCRIPT),
    **dict.fromkeys(("place", "about", "chrome", "edge", "brave", "view-source"), BROWSER),
    **dict.fromkeys(("chrome-extension", "moz-extension"), BROWSER),
}
# Both stop at the next angle bracket, so nothing is read twice, even if a tag is not closed.
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]{0,31})[^<>]*>")
_ICON = re.compile(r'ICON="[^"<>]*"', re.IGNORECASE)
_KEPT_TAGS = frozenset({"dl", "dt", "h3", "a", "script", "style"})
_CLOSING = ".,;:!?)]}>'\"»”’"


class Form(StrEnum):
    NETSCAPE = "bookmarks"
    LIST = "list of URLs"
    TEXT = "text"


class Bookmark(NamedTuple):
    url: str
    title: str = ""
    folder: tuple[str, ...] = ()
    """Names of its folders, outermost first."""


@dataclass(frozen=True, slots=True)
class Bookmarks:
    form: Form
    entries: tuple[Bookmark, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Number of entries that were skipped, by reason."""
    notes: tuple[str, ...] = ()
    """Remarks for a person on what looks damaged."""
    text: str = ""
    """The text itself, if the file is plain text."""


def read_bookmarks(path: Path, *, parse: Callable[[str], str]) -> Bookmarks:
    """The bookmarks of a file; SeedError if there are none.

    `parse` completes a URL and raises SeedError if it is invalid (`fetch.urls.parse_seed`).
    """
    try:
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise SeedError(f"{path}: there is no such file; give bookmarks exported as HTML, or a list of URLs") from error
    except OSError as error:
        raise SeedError(f"{path}: cannot be read: {error.strerror}; give bookmarks exported as HTML") from error
    source, notes = _decoded(path, body)
    if source.lstrip()[:1] == "{" and ('"roots"' in source or "text/x-moz-place" in source):
        raise SeedError(f"{path}: this is a browser's backup in JSON; export the bookmarks as HTML instead")
    found = _netscape(source, parse, notes) if _is_markup(source) else _plain(source, parse, notes)
    if not found.entries and not found.text.strip():
        dropped = ", ".join(f"{count} {reason}" for reason, count in found.dropped.items())
        raise SeedError(
            f"{path}: contains no bookmark that can be fetched{f' ({dropped})' if dropped else ''}; "
            "give bookmarks exported as HTML, a URL on each line, or some text"
        )
    return found


def _decoded(path: Path, body: bytes) -> tuple[str, list[str]]:
    notes = []
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        notes.append(f"only the first {MAX_BYTES >> 20} MiB were read")
    is_utf16 = body.startswith((b"\xff\xfe", b"\xfe\xff"))
    source = body.decode("utf-16" if is_utf16 else "utf-8-sig", "replace")
    if source.count("\0") > len(source) // 100:
        raise SeedError(f"{path}: not a text file; give bookmarks exported as HTML, or a URL on each line")
    source = source.replace("\0", "")
    unreadable = source.count("\ufffd")
    if unreadable > len(source) // 4:
        raise SeedError(f"{path}: not a text file in UTF-8; give bookmarks exported as HTML, or a URL on each line")
    if unreadable:
        notes.append(f"{unreadable} characters cannot be read as UTF-8")
    return source, notes


def _is_markup(source: str) -> bool:
    head = source[:4096].lower()
    return "netscape-bookmark-file" in head or any(match[2].lower() in {"a", "dl"} for match in _TAG.finditer(source))


class _Collection:
    """Collects valid entries, each once per folder, up to MAX_ENTRIES."""

    def __init__(self, parse: Callable[[str], str]) -> None:
        self._parse = parse
        self.entries: dict[tuple[str, tuple[str, ...]], Bookmark] = {}
        self.dropped: Counter[str] = Counter()

    def add(self, address: str, title: str = "", folder: tuple[str, ...] = ()) -> None:
        url, reason = self._checked(address)
        if not reason and (url, folder) in self.entries:
            reason = REPEATED
        elif not reason and len(self.entries) >= MAX_ENTRIES:
            reason = TOO_MANY
        if reason:
            self.dropped[reason] += 1
        else:
            self.entries[url, folder] = Bookmark(url, _folded(title, MAX_TITLE), folder)

    def _checked(self, address: str) -> tuple[str, str]:
        address = address.strip()
        if not address:
            return "", NO_ADDRESS
        if scheme := _SCHEME.match(address):
            # `example.org:8080/` has no scheme but a port, which is a number.
            unknown = "" if address[scheme.end() :][:1].isdigit() else OTHER_SCHEME
            if reason := _REASON_OF_SCHEME.get(scheme[1].lower(), unknown):
                return "", reason
        if len(address) > _MAX_URL:
            return "", NOT_A_URL
        try:
            return self._parse(address), ""
        except SeedError:
            return "", NOT_A_URL

    def result(self, form: Form, notes: list[str], text: str = "") -> Bookmarks:
        return Bookmarks(form, tuple(self.entries.values()), dict(self.dropped), tuple(notes), text)


# The Netscape format


def _netscape(source: str, parse: Callable[[str], str], notes: list[str]) -> Bookmarks:
    """Read `<DL><DT><H3>folder</H3><DL><DT><A HREF=…>title</A></DL></DL>` and anything similar."""
    if source.rfind("<") > source.rfind(">"):
        notes.append("the file ends in the middle of a tag: it was cut off")
    simple, unclosed = _simplified(source)
    if unclosed > 0:
        folders = "folder is" if unclosed == 1 else "folders are"
        notes.append(f"{unclosed} {folders} never closed: the file may be cut off, or its folders nested too deeply")
    found = _Collection(parse)
    pending, folders_open = "", list[str]()
    for node, is_end in _walk(LexborHTMLParser(simple).root):
        tag = node.tag
        if tag == "dl":
            if is_end:
                folders_open.pop()
            else:
                folders_open.append(pending)
                pending = ""
        elif is_end:
            continue
        elif tag == "h3":
            pending = _folded(node.text(), _MAX_FOLDER)
        elif tag == "a":
            folder = tuple(name for name in folders_open if name)[:MAX_FOLDERS]
            found.add(node.attributes.get("href") or "", node.text(), folder)
    return found.result(Form.NETSCAPE, notes)


def _simplified(source: str) -> tuple[str, int]:
    """The source with only the tags that bookmarks need and at most MAX_FOLDERS levels; and the number of open folders.

    A parser searches all open elements and all attributes again and again; this keeps both few. An unclosed title is
    closed where the next entry starts, so that it can neither swallow nor nest other entries.
    """
    depth = too_deep = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal depth, too_deep
        slash, name = match[1], match[2].lower()
        if name not in _KEPT_TAGS or len(match[0]) > _MAX_TAG:
            return " "
        if name != "dl":
            return match[0] if slash or name in {"script", "style"} else f"</a></h3>{match[0]}"
        if slash:
            if too_deep:
                too_deep -= 1
                return " "
            depth = max(0, depth - 1)
        elif depth > MAX_FOLDERS:
            too_deep += 1
            return " "
        else:
            depth += 1
        return f"</a></h3>{match[0]}"

    return _TAG.sub(replace, _ICON.sub("", source)), depth + too_deep


def _walk(root: LexborNode | None) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each element at its start and at its end, without recursion."""
    opened: list[LexborNode] = []
    node = root
    while node is not None:
        yield node, False
        child = node.first_child
        if child is not None:
            opened.append(node)
            node = child
            continue
        yield node, True
        after = node.next
        while after is None and opened:
            node = opened.pop()
            yield node, True
            after = node.next
        node = after


# Lists and text


def _plain(source: str, parse: Callable[[str], str], notes: list[str]) -> Bookmarks:
    """Read a list of URLs, if most lines start with one; otherwise text."""
    lines = [line for raw in source.splitlines() if (line := raw.strip()) and not line.startswith("#")]
    found = _Collection(parse)
    if sum(_is_address(line.split(None, 1)[0]) for line in lines) * 2 > len(lines):
        for line in lines:
            address, *title = line.split(None, 1)
            found.add(address, "".join(title))
        return found.result(Form.LIST, notes)
    text = source[:MAX_TEXT] if lines else ""
    if len(source) > MAX_TEXT:
        notes.append(f"only the first {MAX_TEXT:,} characters of the text were used")
    for word in text.split():
        start = word.find("http://")
        start = start if start >= 0 else word.find("https://")
        if start >= 0:
            found.add(word[start:].rstrip(_CLOSING))
    return found.result(Form.TEXT, notes, " ".join(text.split()))


def _is_address(word: str) -> bool:
    if word.startswith(("http://", "https://", "javascript:", "place:", "file:", "ftp://", "about:")):
        return True
    name = word.partition("/")[0].partition(":")[0]
    return "." in name.strip(".") and name.isascii() and "@" not in name and not name.endswith((".", ","))


def _folded(text: str, length: int) -> str:
    # Cut before collapsing white space: a title can be megabytes long.
    return " ".join(text[: 2 * length].split())[:length]
