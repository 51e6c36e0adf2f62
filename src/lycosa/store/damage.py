"""What is wrong with a crawl's database: a table that is not ours, a value of the wrong type, a row that leads nowhere.

SQLite keeps what it is given: text in a column of numbers, half a JSON document, the number of a host that does not
exist. Any program may write to the file, and disks flip bits. Each rule says which rows of a table are bad, and how
they can be mended, if they can: what the crawl can find out again is forgotten; what nobody needs becomes empty.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lycosa.model import Kind
from lycosa.store.rows import Answer, State
from lycosa.store.schema import MIGRATIONS

TYPES = {"integer": "'integer'", "real": "'real', 'integer'", "text": "'text'", "blob": "'blob', 'text'"}
EMPTY = {"integer": "0", "real": "0.0", "text": "''", "blob": "x''"}
LATEST = 1e11
"""Seconds since the epoch: any later time is none."""
LONGEST_SHOWN = 60


class Flaw(NamedTuple):
    """One kind of damage."""

    where: str
    """`hosts.ready_at`"""
    what: str
    rows: int = 1
    can_be_mended: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" (and {self.rows - 1:,} more)" if self.rows > 1 else "")


class Database(Protocol):
    """A connection of SQLite or of PostgreSQL."""

    def execute(self, query: Any, params: Any = ..., /) -> Any: ...


class Speech(NamedTuple):
    """What differs between the two when they are searched for damage."""

    has_loose_types: bool
    """Whether a column may hold values of another type."""
    place: str
    """For a value in a statement."""
    told: Callable[[str], str] = str
    """A condition in its words."""


SQLITE = Speech(True, "?")


class Rule(NamedTuple):
    """`bad`: a condition on rows; `mend`: the end of a statement that mends them, `set …` or `delete`; may be empty."""

    column: str
    bad: str
    right: str
    mend: str = ""


def _one_of(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _no_object(column: str) -> str:
    return f"case when json_valid({column}) then json_type({column}) != 'object' else 1 end"


def _refers(column: str, table: str) -> str:
    return f"{column} is not null and {column} not in (select id from {table})"


STATES = [value for name, value in vars(State).items() if name.isupper()]
ANSWERS = [value for name, value in vars(Answer).items() if name.isupper()]
RULES: dict[str, tuple[Rule, ...]] = {
    "hosts": (
        Rule("ready_at", f"not (ready_at between 0 and {LATEST})", "a time", "set ready_at = 0"),
        Rule("crawl_delay", "not (crawl_delay between 0 and 1e9)", "seconds", "set crawl_delay = 0"),
        Rule("failures", "not (failures between 0 and 1e9)", "a count", "set failures = 0"),
        Rule("name", "name = ''", "the name of a host"),
    ),
    "addresses": (Rule("ready_at", f"not (ready_at between 0 and {LATEST})", "a time", "delete"),),
    "robots": (
        Rule("state", "state not in ('rules', 'allow-all', 'disallow-all')", "a state of robots.txt", "delete"),
        Rule("expires_at", f"not (expires_at between 0 and {LATEST})", "a time", "delete"),
        Rule("fetched_at", f"not (fetched_at between 0 and {LATEST})", "a time", "delete"),
        Rule("details", "not json_valid(details)", "JSON", "delete"),
    ),
    "frontier": (
        Rule("host_id", _refers("host_id", "hosts"), "the number of a host"),
        Rule("state", f"state not in ({_one_of(STATES)})", "a state of links",
             "set state = 'excluded', reason = 'damaged'"),
        Rule("score", "not (score between -1e300 and 1e300)", "a number", "set score = 0"),
        Rule("distance", "not (distance between 0 and 1e9)", "a number of links", "set distance = 0"),
        Rule("tries", "not (tries between 0 and 1e6)", "a count", "set tries = 0"),
        Rule("redirects", "not (redirects between 0 and 1e6)", "a count", "set redirects = 0"),
    ),
    "pages": (
        Rule("id", _refers("id", "frontier"), "the number of a URL"),
        Rule("run_id", _refers("run_id", "runs"), "the number of a run"),
        Rule("duplicate_of", _refers("duplicate_of", "frontier"), "the number of a URL", "set duplicate_of = null"),
        Rule("fetched_at", f"not (fetched_at between 0 and {LATEST})", "a time", "set fetched_at = 0"),
        Rule("archive_offset", "archive_offset < -1", "a place in the archive",
             "set archive_file = '', archive_offset = -1"),
    ),
    "judgements": (
        Rule("page_id", _refers("page_id", "pages"), "the number of a page", "delete"),
        Rule("relevance", "not (relevance between 0 and 1)", "a relevance",
             "set relevance = 0.0, is_relevant = 0"),
        Rule("is_relevant", "is_relevant not in (0, 1)", "0 or 1", "set is_relevant = 0"),
        Rule("scores", _no_object("scores"), "JSON", "set scores = '{}'"),
        Rule("terms", _no_object("terms"), "JSON", "set terms = '{}'"),
    ),
    "earlier_judgements": (
        Rule("page_id", _refers("page_id", "pages"), "the number of a page", "delete"),
        Rule("relevance", "not (relevance between 0 and 1)", "a relevance", "delete"),
    ),
    "links": (
        Rule("source_id", _refers("source_id", "frontier"), "the number of a URL", "delete"),
        Rule("target_id", _refers("target_id", "frontier"), "the number of a URL", "delete"),
    ),
    "outcomes": (
        Rule("link_id", _refers("link_id", "frontier"), "the number of a URL", "delete"),
        Rule("kind", f"kind not in ({_one_of(Kind)})", "a kind of outcome", "delete"),
        Rule("at", f"not (at between 0 and {LATEST})", "a time", "delete"),
    ),
    "checks": (
        Rule("page_id", _refers("page_id", "pages"), "the number of a page", "delete"),
        Rule("at", f"not (at between 0 and {LATEST})", "a time", "delete"),
        Rule("since", f"not (since between 0 and {LATEST})", "a time", "delete"),
    ),
    "answers": (
        Rule("answer", f"answer not in ({_one_of(ANSWERS)})", "an answer", "delete"),
        Rule("page_id", _refers("page_id", "pages"), "the number of a page", "delete"),
    ),
    "notes": (Rule("page_id", _refers("page_id", "pages"), "the number of a page", "delete"),),
}  # fmt: skip
KEYS = {"frontier": ("id", "url", "hash", "host_id"), "pages": ("id", "number", "run_id"), "hosts": ("id", "name")}
"""Columns that cannot be made up again."""
NUMBERED = (("hosts", "id"), ("frontier", "id"), ("pages", "number"))
"""Tables whose rows are numbered from 1 without gaps."""
SMALL = ("runs", "hosts", "addresses", "robots", "state")
STATE_OF_JSON = ("archive", "outlook", "traps")


@cache
def _ours() -> tuple[dict[str, tuple[str, str]], dict[str, list[tuple[str, str, bool]]]]:
    """What a database of this version has: objects with type and SQL, and the columns of its tables."""
    with sqlite3.connect(":memory:") as db:
        for migration in MIGRATIONS:
            db.executescript(migration)
        objects = {name: (kind, sql) for kind, name, sql in db.execute("select type, name, sql from sqlite_master")}
        columns = {
            name: [(row[1], row[2].lower(), bool(row[3] or row[5])) for row in db.execute(f"pragma table_info({name})")]
            for name, (kind, _) in objects.items()
            if kind == "table"
        }
    return objects, columns


def strangers(db: sqlite3.Connection) -> Iterator[Flaw]:
    """Tables and views that are missing or not ours, and triggers: any statement on them could do anything."""
    ours, _ = _ours()
    found = {name: (kind, sql) for kind, name, sql in db.execute("select type, name, sql from sqlite_master")}
    for name, (kind, sql) in ours.items():
        if name not in found:
            yield Flaw(name, f"the {kind} is missing")
        elif found[name] != (kind, sql):
            yield Flaw(name, f"is not the {kind} that Lycosa makes")
    for name, (kind, _) in found.items():
        if kind == "trigger":
            yield Flaw(name, "is a trigger, and a crawl's database has none")


def find_damage(db: Database, speech: Speech = SQLITE, *, is_quick: bool = False) -> Iterator[Flaw]:
    """All that is wrong with the values. `is_quick`: only in tables that stay small, whatever the crawl's size. What a
    crawl reads of the others as it begins is checked as it is read (`CrawlReading.waiting`)."""
    for table, number in NUMBERED:
        if table in SMALL or not is_quick:
            yield from _gaps(db, table, number)
    _, columns = _ours()
    for table in columns:
        if table in SMALL or not is_quick:
            yield from _broken(db, table, _rules(table, speech))
    yield from _bad_state(db, speech)


def mend(db: Database, speech: Speech = SQLITE) -> list[Flaw]:
    """Mend what can be, in the transaction of the caller; return what was."""
    mended = []
    for _ in range(2):  # deleting a row may leave others that refer to it
        for table in _ours()[1]:
            for rule in _rules(table, speech):
                for damage in _broken(db, table, [rule]):
                    if rule.mend:
                        verb = f"delete from {table}" if rule.mend == "delete" else f"update {table} {rule.mend}"
                        db.execute(f"{verb} where {rule.bad}")
                        mended.append(damage)
        for damage in _bad_state(db, speech):
            db.execute(f"delete from state where name = {speech.place}", (damage.where.removeprefix("state: "),))
            mended.append(damage)
    return mended


def _rules(table: str, speech: Speech) -> list[Rule]:
    rules = [*(_type_rules(table) if speech.has_loose_types else ()), *RULES.get(table, ())]
    return [rule._replace(bad=speech.told(rule.bad)) for rule in rules]


def _type_rules(table: str) -> Iterator[Rule]:
    for name, kind, is_required in _ours()[1][table]:
        allowed = TYPES[kind] + ("" if is_required else ", 'null'")
        can_be_empty = name not in KEYS.get(table, ())
        way = f"set {name} = {EMPTY[kind] if is_required else 'null'}" if can_be_empty else ""
        yield Rule(name, f"typeof({name}) not in ({allowed})", f"of type {kind}", way)


def _gaps(db: Database, table: str, number: str) -> Iterator[Flaw]:
    count, least, most = db.execute(f"select count(*), min({number}), max({number}) from {table}").fetchone()
    if count and (least, most) != (1, count):
        yield Flaw(f"{table}.{number}", f"{count:,} rows are numbered {_shown(least)} to {_shown(most)}")


def _broken(db: Database, table: str, rules: list[Rule]) -> Iterator[Flaw]:
    """One pass over the table for all rules; for each that is broken, an example."""
    if not rules:
        return
    sums = ", ".join(f"count(*) filter (where {rule.bad})" for rule in rules)
    counts = db.execute(f"select {sums} from {table}").fetchone()
    for rule, count in zip(rules, counts, strict=True):
        if count:
            (value,) = db.execute(f"select {rule.column} from {table} where {rule.bad} limit 1").fetchone()
            what = f"{_shown(value)} is not {rule.right}"
            yield Flaw(f"{table}.{rule.column}", what, int(count), bool(rule.mend))


def _bad_state(db: Database, speech: Speech) -> Iterator[Flaw]:
    checks: dict[str, Callable[[bytes], object]] = dict.fromkeys(STATE_OF_JSON, json.loads)
    checks |= {"threshold": float, "clock": float}
    for name, check in checks.items():
        row = db.execute(f"select value from state where name = {speech.place}", (name,)).fetchone()
        try:
            if row is not None and row[0]:
                check(row[0])
        except (ValueError, TypeError):
            yield Flaw(f"state: {name}", f"{_shown(row[0])} cannot be read", 1, True)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def damage_words(where: object, directory: Path, found: Sequence[Flaw]) -> str:
    more = f", and {len(found) - 1:,} more" if len(found) > 1 else ""
    return f"{where}: damaged: {found[0]}{more}; see all, and mend what can be: lycosa check {directory} --repair"


def integrity(db: sqlite3.Connection) -> Iterator[Flaw]:
    """What SQLite finds wrong with the file itself. O(size of the file)."""
    for (line,) in db.execute("pragma integrity_check(10)"):
        if line != "ok":
            yield Flaw("crawl.db", str(line).replace("\n", " "))
