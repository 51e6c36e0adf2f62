"""What goes wrong with a PostgreSQL server, in words that say what to do; and what passes by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from lycosa.errors import StoreError

OLDEST = 15
"""The oldest version of PostgreSQL that is served."""
AWAY = ("08", "57P01", "57P02", "57P03", "53300")
"""Beginnings of codes of errors that pass: the connection is lost, the server goes down or comes up, or is full."""
AGAIN = ("40001", "40P01")
"""Codes of errors after which a transaction may be tried again at once."""
REMEDIES = {
    "53100": "the disk of the database server is full; free some space there and run the same command again: nothing "
    "that was committed is lost",
    "42501": "the user of this URL lacks the right; let the owner of the database grant it: "
    "grant create, usage on schema public to NAME",
    "25006": "the server can only be read; give the URL of the one that can be written to",
    "28P01": "check the user and the password of the URL, or of ~/.pgpass",
    "28000": "check the user of the URL, and who may connect by the server's pg_hba.conf",
    "3D000": "make the database first: createdb NAME",
}
CANNOT_CONNECT = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("no pg_hba.conf entry", "28000"),
    ("role ", "28000"),
    ("does not exist", "3D000"),
    ("permission denied", "42501"),
)
"""When it is connecting that fails, libpq says why in words only."""


def passes(error: psycopg.Error) -> bool:
    """Whether it is worth waiting for the server."""
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return False
    state = error.sqlstate or ""
    if not state:  # libpq's own: the connection is lost, or there is none
        return not _state_of_refusal(str(error))
    return state.startswith(AWAY)


def may_try_again(error: psycopg.Error) -> bool:
    return error.sqlstate in AGAIN


def words(where: str, error: psycopg.Error) -> str:
    """One line."""
    text = " ".join(str(error).split())
    state = error.sqlstate or _state_of_refusal(text)
    if remedy := REMEDIES.get(state or ""):
        return f"{where}: {text}; {remedy}"
    if not error.sqlstate and isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return f"{where}: the server cannot be reached ({text}); check host, port and name of the URL, and that it runs"
    return f"{where}: {text}"


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn errors of the database into a StoreError that says what to do."""
    try:
        yield
    except psycopg.Error as error:
        raise StoreError(words(where, error)) from error


def _state_of_refusal(text: str) -> str:
    if "FATAL" not in text:
        return ""
    return next((state for sign, state in CANNOT_CONNECT if sign in text), "")
