"""Pages as a folder of Markdown files: one directory a host, one file a page, with what is known of it as YAML.

    corpus/
      corpus.json                              what this folder is
      index.jsonl                              one line a page: file, url, title, relevance, cluster
      en.wikipedia.org/Cycling-1c9e0f5a2b7d.md

A URL is never used as a path. The name of a file is made of letters, digits, dots, dashes and underscores of the URL,
for people to recognise, and of a hash of the whole URL, which makes it unique: the same page has the same name in each
export. Names differ even where upper and lower case do not, and none is special on any system.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lycosa.page.inline import printable

MANIFEST = "corpus.json"
FORMAT = "lycosa corpus 1"
MAX_NAME = 80
_HASH_BYTES = 6
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_SUFFIX = re.compile(r"\.(?:x?html?|php|aspx?|jsp|md|txt)$", re.IGNORECASE)
FRONT_MATTER = (
    "url",
    "title",
    "author",
    "published",
    "modified",
    "fetched_at",
    "language",
    "site",
    "description",
    "type",
    "licence",
    "canonical",
    "relevance",
    "is_relevant",
    "cluster",
    "warc",
)
"""Columns that stand at the head of a file, where they have a value."""
_INDEXED = ("url", "title", "relevance", "is_relevant", "cluster")


def write_folder(rows: Iterable[Mapping[str, Any]], folder: Path) -> int:
    """Write a new folder; return the number of pages."""
    folder.mkdir()
    names: set[str] = set()
    with (folder / "index.jsonl").open("w", encoding="utf-8") as index:
        for row in rows:
            name = file_name(row["url"])
            while (
                name.lower() in names
            ):  # two URLs with one hash: a name that depends on their order is better than none
                name = f"{name.removesuffix('.md')}-1.md"
            names.add(name.lower())
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{front_matter(row)}\n{row['markdown']}\n", encoding="utf-8", newline="\n")
            line = {"file": name} | {column: row[column] for column in _INDEXED}
            index.write(json.dumps(line, ensure_ascii=False) + "\n")
    manifest = {"format": FORMAT, "pages": len(names)}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return len(names)


def is_corpus_folder(path: Path) -> bool:
    """Whether this is a folder that was written here, or an empty one: those may be replaced."""
    if path.is_symlink() or not path.is_dir():
        return False
    try:
        return bool(json.loads((path / MANIFEST).read_text(encoding="utf-8"))["format"] == FORMAT)
    except FileNotFoundError:
        return not any(path.iterdir())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def file_name(url: str) -> str:
    """Directory and name of the file for a page."""
    parts = urlsplit(url)
    host = _readable(parts.netloc.lower().replace(":", "_")) or "host"
    words = unquote(parts.path).strip("/") + (f"-{unquote(parts.query)}" if parts.query else "")
    name = _readable(_SUFFIX.sub("", words)) or "index"
    return f"{host}/{name}-{blake2b(url.encode(), digest_size=_HASH_BYTES).hexdigest()}.md"


def _readable(text: str) -> str:
    return _OTHER.sub("-", text[: 4 * MAX_NAME])[:MAX_NAME].strip(".-_")


def front_matter(row: Mapping[str, Any]) -> str:
    """What is known of a page as YAML: JSON values are YAML, too, so no text can be more than a text."""
    lines = [f"{name}: {_value(name, row[name])}" for name in FRONT_MATTER if row.get(name) not in (None, "")]
    return "\n".join(["---", *lines, "---", ""])


def _value(name: str, value: Any) -> str:
    if name == "fetched_at":
        value = datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds")
    return json.dumps(printable(value) if isinstance(value, str) else value, ensure_ascii=False)
