"""Webs of one subject, made of a recorded one: only the pages of a branch of its topics, which are what is told apart.

On such a web every page shares the words that elsewhere give a topic away, as on the site of one discipline. Links to
pages that were left out lead nowhere.
"""

from __future__ import annotations

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from lycosa.lab.worlds.build import build
from lycosa.lab.worlds.world import World

SUBJECTS = {
    "development": ("Science", "History", "Everyday_life", "Language_and_literature"),
    "test": ("Geography", "People", "Design_and_Technology", "Citizenship"),
}
"""Of wikispeedia: branches with several topics of fifteen pages or more."""
LEAST_PAGES = 15
"""Of a topic."""


def one_subject(shared: Path, subject: str, path: Path) -> World:
    """The web of one branch of a recorded world's topics; it is built unless the file exists."""
    if not path.exists():
        head, *rows = (shared / "labels.tsv").read_text("utf-8").splitlines()
        rows = [row for row in rows if row.split("\t")[1].split("/")[0] == subject]
        wanted = {row.split("\t")[0].encode() for row in rows}
        with tempfile.TemporaryDirectory() as folder:
            warc, labels = Path(folder) / f"{subject}.warc.gz", Path(folder) / "labels.tsv"
            labels.write_text("\n".join([head, *rows]) + "\n", "utf-8")
            with warc.open("wb") as file:
                for record in _records(shared / "pages.warc.gz"):
                    if _target(record) in wanted:
                        file.write(gzip.compress(record))
            build([warc], labels, path)
    return World.open(path)


def topics_of(world: World) -> list[str]:
    return [topic for topic in world.topics if len(world.pages_of(topic)) >= LEAST_PAGES]


def _records(path: Path) -> Iterator[bytes]:
    """The records of a WARC file, which are compressed one by one."""
    member, record = zlib.decompressobj(wbits=31), b""
    with path.open("rb") as file:
        while data := file.read(1 << 16):
            while data:
                record += member.decompress(data)
                data = member.unused_data
                if member.eof:
                    yield record
                    member, record = zlib.decompressobj(wbits=31), b""


def _target(record: bytes) -> bytes:
    head = record.partition(b"\r\n\r\n")[0]
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"warc-target-uri":
            return value.strip()
    return b""
