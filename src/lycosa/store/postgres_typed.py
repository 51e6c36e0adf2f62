"""Queries that somebody types into a page: what they may name in PostgreSQL, where one user may do anything.

The transaction is read-only, and time and rows are limited; but functions of a server do more than compute. Some read
its files, end other sessions or run a statement that is given as text, and a store's URL often names a superuser. So a
query may call the functions listed here and no other, and names nothing of the server's own tables (`pg_…`). For this
the query is cut into tokens as PostgreSQL does it, and what is cut in other ways under other settings is refused.
"""

from __future__ import annotations

import re

from lycosa.errors import StoreError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TOKEN = re.compile(
    r"""
    (?P<space> \s+ | --[^\n\r]* | /\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/ )
    | (?P<odd> [eE]' | [uU]&['"] | \$(?:[^\W\d]\w*)?\$ | /\* )
    | (?P<text> '(?:[^']|'')*' )
    | (?P<quoted> "(?:[^"]|"")*" )
    | (?P<name> [^\W\d][\w$]* )
    | (?P<number> \d\w* )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
KEYWORDS = _words(
    """
    all and any array as between by case cast cube distinct else except exists filter from group grouping having ilike
    in intersect is join lateral like limit materialized not offset on or order over partition rollup row select sets
    similar some then union using values when where with within
    """
)
"""Words of SQL that a parenthesis may follow."""
TYPES = _words("bit char character date decimal float int interval numeric text time timestamp timestamptz varchar")
FUNCTIONS = _words(
    """
    abs age array_agg array_length array_position array_to_string ascii avg bit_length bool_and bool_or btrim
    cardinality cbrt ceil ceiling char_length chr clock_timestamp coalesce concat concat_ws corr cos count covar_pop
    cume_dist date_bin date_part date_trunc decode degrees dense_rank div encode every exp extract first_value floor
    format generate_series get_byte greatest initcap json_agg json_array_elements json_array_elements_text
    json_array_length json_each json_each_text json_extract_path_text json_object_agg json_object_keys json_typeof
    jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_each jsonb_each_text
    jsonb_extract_path_text jsonb_object_keys jsonb_typeof justify_interval lag last_value lead least left length ln log
    log10 lower ltrim make_date make_interval make_timestamp max md5 min mod mode now nth_value ntile nullif
    octet_length overlay percent_rank percentile_cont percentile_disc pi position power radians random rank
    regexp_count regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table
    regexp_substr regr_slope replace reverse right round row_number row_to_json rtrim sha256 sign sin split_part sqrt
    starts_with stddev stddev_pop string_agg string_to_array string_to_table strpos substr substring sum tan to_char
    to_date to_hex to_json to_number to_timestamp translate trim trim_array trunc unnest upper var_pop variance
    width_bucket
    """
)
NEW_NAME_AFTER = frozenset({"as", "with", "recursive"})
"""After these words a name is that of a column or a table which the query makes up, and may be followed by columns."""
ROW = "lycosa_row"
"""Name of the typed query in `guarded`."""
TOO_LONG = re.compile(r"a row of (\d+) bytes")


def guarded(sql: str, *, longest: int) -> str:
    """The query, if it only reads the crawl; its rows are limited to this many bytes, before they leave the server."""
    refuse_harmful(sql)
    size = f"octet_length({ROW}::text)"
    too_long = f"('a row of ' || {size} || ' bytes')::bigint is null"
    return (
        f"select {ROW}.* from (\n{sql}\n) as {ROW} where case when {size} <= {longest:d} then true else {too_long} end"
    )


def refuse_harmful(sql: str) -> None:
    """StoreError if the query names what it may not."""
    last, before, name = "", "", ""
    for found in TOKEN.finditer(sql):
        kind, text = found.lastgroup, found[0]
        if kind == "space":
            continue
        if kind == "odd":
            raise StoreError(f"{text} is not understood here: write texts as 'text', and comments one after another")
        if text == "(" and name and before not in NEW_NAME_AFTER and name not in KEYWORDS | TYPES | FUNCTIONS:
            raise StoreError(f"the function {name} cannot be used here; in a terminal, lycosa sql may use all")
        if text == ";":
            raise StoreError("one query at a time: leave out the semicolon")
        if kind not in ("name", "quoted"):
            last, before, name = "", "", ""
            continue
        last, before, name = text.lower(), last, _plain(text)
        if name.startswith(("pg_", ROW, "information_schema")):
            raise StoreError(f"{name}: only tables of the crawl can be asked here; in a terminal, lycosa sql asks all")


def _plain(name: str) -> str:
    """A name as PostgreSQL reads it."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name.lower()
