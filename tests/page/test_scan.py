"""The compiled scan finds in a document what the walk through its tree finds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from lycosa.page.slow_documents import simplified
from lycosa.page.walk import walk, walk_in_python

SHARED = Path(os.environ.get("LYCOSA_SHARED") or Path(__file__).resolve().parents[3] / "shared")
compiled = pytest.importorskip("lycosa.page._scan", reason="not compiled: there was no compiler at installation")

PAIRS = """
p div h1 pre ul li table tr td select option b i font span dialog details summary textarea noscript template
nav header footer main article aside search menu section form xmp title button a iframe unknown-element
"""
SINGLE = r"""
<div role=navigation>|<section role=' Banner '>|<ul role=MENU>|<form role=search>|<div role=main>|<br>|<hr>|<col>|<wbr>
<a href=x>|<a href='y?a&b' rel='NoFollow  x'>|<a href>|<area href=q alt=z>|<img alt='an image'>|<img>|<input>
<iframe src=f title=t>|<frame src=z name=n>|<base href=b>|<link rel='x CANONICAL' href=c>|<link rel=canonical href=d>
<meta name=robots content=noindex>|<!-- c -->|<!x>|<?pi>|<!doctype html>|<style>a<b</style>|<script>1<2</script>
text| two  words |&amp;|&lt;b&gt;|&nbsp;|é|中
"""
ODD_ONES = r"""
<svg>|</svg>|<svg><title>drawn</title>|<math>|</math>|<mi>|<foreignObject>|<base href>|<base href=''>|<plaintext>|<a<b>
<script><!--<script></script>--></script>|<aé href=x>|<p role=é>|<html lang=de>|<html xml:lang=fr>|<body lang=en>
<p " ' =x y>|&#0;|<image>|<frameset>
"""
PARTS = [part for line in SINGLE.strip().splitlines() for part in line.split("|")]
PARTS += [written for tag in PAIRS.split() for written in (f"<{tag}>", f"</{tag}>")]
PARTS += [" ", "\n", "\xa0", "\xad", "\u2003", "\U0001f600", "\x1c"]
ODD = [part for line in ODD_ONES.strip().splitlines() for part in line.split("|")]
ODD += ["<div role='main\xa0'>", "\x02", "\x01"]


def both(source: bytes, *, path_depth: int = 20, has_roles: bool = True):
    parser = LexborHTMLParser(source.replace(b"\0", b""))
    return (
        walk(parser, path_depth=path_depth, has_roles=has_roles),
        walk_in_python(parser, path_depth=path_depth, has_roles=has_roles),
    )


def is_scanned(source: str) -> bool:
    return compiled.scan(LexborHTMLParser(source).html, 20, True) is not None


@given(st.lists(st.sampled_from(PARTS), max_size=60), st.sampled_from(["", " "]), st.integers(1, 20), st.booleans())
def test_documents_put_together_at_random(parts, between, path_depth, has_roles):
    scanned, walked = both(between.join(parts).encode(), path_depth=path_depth, has_roles=has_roles)
    assert scanned == walked


@given(st.lists(st.sampled_from(PARTS + ODD), max_size=40).map("".join), st.booleans())
def test_odd_documents(source, has_roles):
    scanned, walked = both(source.encode(), has_roles=has_roles)
    assert scanned == walked


@given(st.binary(max_size=200))
def test_any_bytes(source):
    scanned, walked = both(source)
    assert scanned == walked


@pytest.mark.parametrize("world", ["wikispeedia", "debian-docs"])
def test_recorded_pages(world):
    archive = SHARED / "worlds" / world / "pages.warc.gz"
    if not archive.exists():
        pytest.skip(f"{archive} is not there: set LYCOSA_SHARED")
    count = scanned_count = 0
    with archive.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            source = simplified(record.reader.read().replace(b"\0", b""))
            scanned, walked = both(source)
            assert scanned == walked, record.headers["WARC-Target-URI"]
            scanned_count += is_scanned(source.decode("utf-8", "replace"))
            count += 1
            if count == 300:
                break
    assert scanned_count >= 0.99 * count


def test_ordinary_documents_are_scanned():
    assert is_scanned(
        "<!doctype html><title>t</title><p>a &amp; b<a href=x>c</a><img alt=x><script>1<2</script><ul><li>z"
    )
    assert is_scanned("<p>before<svg><path d=x></path><title>drawn</title></svg>after")


@pytest.mark.parametrize(
    "source",
    [
        "<plaintext>x</plaintext>",  # its end tag is text
        "<svg><style>a&lt;b</style></svg>",  # written out as if it were raw
        "<script><!--<script></script>--></script>",
        "<a\u00e9 href=x>y",
        "<p>a\x02b",
        "<base href=''>",
    ],
)
def test_what_a_scan_cannot_tell_is_left_to_the_walk(source):
    assert not is_scanned(source)
    scanned, walked = both(source.encode())
    assert scanned == walked


def test_many_scripts_take_linear_time():
    """Looking for a comment beyond the end of each script would take minutes here."""
    assert is_scanned("<script>x</script>" * 60_000)


def test_a_soft_hyphen_in_a_link_is_no_space():
    scanned, walked = both("<p>never<a href=x>\xad<b>theless</b></a>".encode())
    assert scanned.text == walked.text == "nevertheless"
