from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.page.robots import read_directives

NOINDEX, NOFOLLOW = (True, False), (False, True)
NEITHER, BOTH = (False, False), (True, True)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("robots", "noindex", NOINDEX),
        ("ROBOTS", " NoFollow ,archive", NOFOLLOW),
        ("robots", "none", BOTH),
        ("robots", "all", NEITHER),
        ("robots", "index, follow", NEITHER),
        ("robots", "noindexing", NEITHER),
        ("Lycosa", "noindex,nofollow", BOTH),
        ("googlebot", "none", NEITHER),
        ("description", "none", NEITHER),
    ],
)
def test_meta(name, content, expected):
    assert read_directives([(name, content)], (), product_token="Lycosa") == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["noindex"], NOINDEX),
        (["noindex", "nofollow"], BOTH),
        (["NONE"], BOTH),
        (["lycosa: nofollow"], NOFOLLOW),
        (["Lycosa: noindex, nofollow"], BOTH),
        (["otherbot: noindex, nofollow"], NEITHER),
        (["otherbot: noindex, lycosa: nofollow"], NOFOLLOW),
        (["lycosa: nofollow, otherbot: noindex"], NOFOLLOW),
        (["*: nofollow"], NOFOLLOW),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], NOINDEX),
        (["max-snippet: 10, nofollow"], NOFOLLOW),
        ([""], NEITHER),
    ],
)
def test_header(values, expected):
    assert read_directives((), values, product_token="lycosa") == expected


def test_the_strictest_holds():
    metas = [("robots", "noindex"), ("lycosa", "index")]
    assert read_directives(metas, ["nofollow"], product_token="lycosa") == BOTH


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=30))), st.lists(st.text(max_size=40)))
def test_anything_can_be_read(metas, headers):
    read_directives(metas, headers, product_token="lycosa")
