"""The compiled walk finds in a document what the walk in Python finds."""

from __future__ import annotations

import os
from array import array
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from lycosa.page import own_text
from lycosa.page.limits import PageLimits
from lycosa.page.links import _LinkTexts
from lycosa.page.own_text import OwnText, block_hashes
from lycosa.page.slow_documents import simplified
from lycosa.page.walk import _document_of, walk, walk_in_python

SHARED = Path(os.environ.get("LYCOSA_SHARED") or Path(__file__).resolve().parents[3] / "shared")
compiled = pytest.importorskip("lycosa.page._tree", reason="not compiled: there was no compiler at installation")

PAIRS = """
p div h1 pre ul li table tr td select option b i font span dialog details summary textarea noscript template
nav header footer main article aside search menu section form xmp title button a iframe unknown-element
"""
SINGLE = r"""
<div role=navigation>|<section role=' Banner '>|<ul role=MENU>|<form role=search>|<div role=main>|<br>|<hr>|<col>|<wbr>
<a href=x>|<a href='y?a&b' rel='NoFollow  x'>|<a href>|<area href=q alt=z>|<img alt='an image'>|<img>|<input>
<iframe src=f title=t>|<frame src=z name=n>|<base href=b>|<link rel='x CANONICAL' href=c>|<link rel=canonical href=d>
<meta name=robots content=noindex>|<meta http-equiv=Refresh content='0;url=b'>
<link rel=alternate href=e hreflang=de type=t title='a b'>
<!-- c -->|<!x>|<?pi>|<!doctype html>|<style>a<b</style>|<script>1<2</script>
text| two  words |&amp;|&lt;b&gt;|&nbsp;|é|中
"""
ODD_ONES = r"""
<svg>|</svg>|<svg><title>drawn</title>|<math>|</math>|<mi>|<foreignObject>|<base href>|<base href=''>|<plaintext>|<a<b>
<script><!--<script></script>--></script>|<aé href=x>|<p role=é>|<html lang=de>|<html amp>|<html ⚡=x>
<noscript><meta http-equiv=refresh content=1>
<html xml:lang=fr>|<body lang=en>
<p " ' =x y>|&#0;|<image>|<frameset>
"""
PARTS = [part for line in SINGLE.strip().splitlines() for part in line.split("|")]
PARTS += [written for tag in PAIRS.split() for written in (f"<{tag}>", f"</{tag}>")]
PARTS += [
    "a run of plain words ",
    "two  spaces between  them",
    " ",
    "\n",
    "\xa0",
    "\xad",
    "\u2003",
    "\U0001f600",
    "\x1c",
]
ODD = [part for line in ODD_ONES.strip().splitlines() for part in line.split("|")]
ODD += ["<div role='main\xa0'>", "\x02", "\x01"]


def both(source: bytes, *, path_depth: int = 20, has_roles: bool = True):
    """What each finds; if the compiled walk leaves the document to the other, that twice."""
    source = source.replace(b"\0", b"")
    walked = walk_in_python(LexborHTMLParser(source), path_depth=path_depth, has_roles=has_roles)
    found = compiled.walk(source, path_depth, has_roles)
    return walked if found is None else _document_of(**found), walked


def is_told(source: str) -> bool:
    return compiled.walk(source.encode(), 20, True) is not None


@given(st.lists(st.sampled_from(PARTS), max_size=60), st.sampled_from(["", " "]), st.integers(1, 20), st.booleans())
def test_documents_put_together_at_random(parts, between, path_depth, has_roles):
    compiled_one, walked = both(between.join(parts).encode(), path_depth=path_depth, has_roles=has_roles)
    assert compiled_one == walked


@given(st.lists(st.sampled_from(PARTS + ODD), max_size=40).map("".join), st.booleans())
def test_odd_documents(source, has_roles):
    compiled_one, walked = both(source.encode(), has_roles=has_roles)
    assert compiled_one == walked


@given(st.binary(max_size=200))
def test_any_bytes(source):
    compiled_one, walked = both(source)
    assert compiled_one == walked


@pytest.mark.parametrize("world", ["wikispeedia", "debian-docs"])
def test_recorded_pages(world):
    archive = SHARED / "worlds" / world / "pages.warc.gz"
    if not archive.exists():
        pytest.skip(f"{archive} is not there: set LYCOSA_SHARED")
    count = 0
    with archive.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            source = simplified(record.reader.read().replace(b"\0", b""))
            compiled_one, walked = both(source)
            assert compiled_one == walked, record.headers["WARC-Target-URI"]
            assert is_told(source.decode("utf-8", "replace"))
            count += 1
            if count == 300:
                break
    assert count == 300


def test_nearly_all_documents_are_told():
    assert is_told("<!doctype html><title>t</title><p>a &amp; b<a href=x>c</a><img alt=x><script>1<2</script><ul><li>z")
    assert is_told("<p>before<svg><path d=x></path><title>drawn</title></svg>after")
    assert is_told("<plaintext>x</plaintext>")
    assert is_told("<svg><style>a&lt;b</style></svg><script><!--<script></script>--></script><base href=''>")


@pytest.mark.parametrize(
    "source", ["<p><a\u00e9>x</a\u00e9>", "<p>a\x02b", "<div role=\u00e9>x", "<math><title>a<mi>c"]
)
def test_what_it_cannot_tell_is_left_to_the_walk_in_python(source):
    assert not is_told(source)
    assert walk(source.encode(), path_depth=20) == walk_in_python(LexborHTMLParser(source), path_depth=20)


@pytest.mark.parametrize(
    "source", [b"<p>a\xc3<b>\xa9</b>", b"<p>\xe2\x82", b"\xff<a href=\xfe>\xed\xa0\x80</a>", b"<p>\xf4\x90\x80\x80"]
)
def test_bytes_that_are_no_text_are_replaced_where_they_stand(source):
    compiled_one, walked = both(source)
    assert compiled_one == walked
    assert "\ufffd" in walked.text


@given(st.lists(st.sampled_from(PARTS), max_size=60), st.integers(1, 30), st.integers(0, 12), st.booleans())
def test_texts_of_links(parts, max_anchor, reach, has_furniture):
    source = " ".join([*parts, *parts[:10], "<p>own words of the page, more than forty characters of them"]).encode()
    document = walk(source, path_depth=20)
    furniture = block_hashes(walk(" ".join(parts[:10]).encode(), path_depth=20)) if has_furniture else b""
    limits = PageLimits(max_anchor=max_anchor, context_reach=reach)
    own = OwnText(document, furniture)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(own_text, "_tree", None)
        one_by_one = _LinkTexts(document, own, limits)
        assert own.link_texts(max_anchor, reach) is None
    at_once = _LinkTexts(document, own, limits)
    for link in range(len(document.hrefs)):
        assert at_once.link("u", 0, link) == one_by_one.link("u", 0, link)


@given(st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 5), max_size=40))
def test_hashes_in_order(numbers):
    assert compiled.sorted_once(numbers) == array("I", sorted(set(numbers))).tobytes()


@pytest.mark.parametrize("columns", [([5], [6]), ([0], [9]), ([-1], [0]), ([1], [0]), ([0], [])])
def test_places_outside_the_text_are_refused(columns):
    with pytest.raises((ValueError, IndexError)):
        compiled.link_texts("text", *columns, ["text"], [0, 4], [0], "text", None, 10, 10)
    with pytest.raises((ValueError, IndexError)):
        compiled.link_texts("text", [0], [1], ["text"], [0, 4], [7], "text", [True], 10, 10)


def test_the_words_around_links_make_the_hash_of_a_short_block():
    """Blocks that differ in the words of their links alone have one hash, unless they are long or have but one word."""

    def hashes(source: str) -> list[int]:
        found = _document_of(**compiled.walk(source.encode(), 20, True))
        assert found == walk_in_python(LexborHTMLParser(source), path_depth=20)
        return found.block_hashes

    frame = "<p>next page <a href=1>{0}</a>, étage <a href=2>x</a>"
    assert hashes(frame.format("one")) == hashes(frame.format("two"))
    alone = "<p>next <a href=1>{0}</a>, 12 _ <a href=2>x</a>"
    assert hashes(alone.format("one")) != hashes(alone.format("two"))
    long = frame + "word " * 80
    assert hashes(long.format("one")) != hashes(long.format("two"))
    nested = "<p>next page <a href=1>{0} <img><iframe src=2></iframe> b</a> more words <a href=3>c</a>"
    assert hashes(nested.format("one"))


def test_a_library_without_the_functions_is_refused():
    with pytest.raises(ImportError, match="is not loaded"):
        compiled.prepare("/nowhere/lexbor.so", [])
    with pytest.raises(ImportError, match="has no lxb_html_document_create"):
        compiled.prepare(compiled.__file__, [])
    assert is_told("<p>it still works")


def test_a_soft_hyphen_in_a_link_is_no_space():
    compiled_one, walked = both("<p>never<a href=x>\xad<b>theless</b></a>".encode())
    assert compiled_one.text == walked.text == "nevertheless"
