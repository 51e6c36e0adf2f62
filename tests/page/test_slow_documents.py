from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from lycosa.page.slow_documents import MAX_DEPTH, simplified


def depth_of(html: bytes) -> int:
    node, depth = LexborHTMLParser(html).root, 0
    while node is not None:
        node, depth = node.first_child, depth + 1
    return depth


def test_ordinary_documents_come_back_as_they_are():
    body = b"<html><body>" + b"<div><p>text</div>" * 100
    assert simplified(body) is body
    large = b"<p>" + b"word " * 100_000
    assert simplified(large) == large


@pytest.mark.parametrize("tag", [b"<div>", b"<b>", b"<x-y>", b"<span class='a b'>", b"<DIV></b>", b"<ul><li>"])
def test_deep_nesting_is_cut_and_text_and_links_stay(tag):
    simple = simplified(tag * 50_000 + b"<a href=/deep>text</a>")
    assert depth_of(simple) <= 2 * MAX_DEPTH + 8
    assert simple.endswith(b"<a href=/deep>text</a>")


def test_what_follows_deep_nesting_stays():
    body = b"<div>" * 20_000 + b"</div>" * 20_000 + b"<p>one</p><p>two</p>"
    assert simplified(body).endswith(b"<p>one</p><p>two</p>")


def test_many_tags_side_by_side_are_no_nesting():
    body = b"<ul>" + b"<li>item<p>text<br>" * 20_000 + b"</ul>" + b"<div>x</div>" * 20_000
    assert simplified(body) == body


def test_deep_scripts_stay_scripts():
    assert simplified(b"<div>" * 20_000 + b"<script>code</script>").endswith(b"<script>code</script>")


@pytest.mark.parametrize("separator", [b" ", b"/", b"\n"])
def test_a_tag_with_thousands_of_attributes_goes(separator):
    tag = b"<a" + b"".join(separator + b"b%d" % number for number in range(20_000)) + b">"
    assert simplified(b"<p>one " + tag + b"two") == b"<p>one <wbr>two"


def test_a_gigantic_attribute_stays():
    body = b"<a href='" + b"x" * 500_000 + b"'>text</a>"
    assert simplified(body) == body


def test_long_text_between_tags_stays():
    body = b"<p>" + b"one / two\n" * 50_000 + b"</p>"
    assert simplified(body) == body


def test_tags_that_never_end():
    body = b"<a " * 100_000
    assert simplified(body) == body


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from([b"<div>", b"</div>", b"<", b">", b"<a b=c>", b"x ", b">5 ", b"<p", b"</"])),
    st.integers(1, 9),
)
def test_whatever_the_tags_the_text_stays_and_nesting_ends(parts, times):
    body = b"".join(parts) * (times * 1000)
    simple = simplified(body)
    assert simple.count(b"5") == body.count(b"5")  # always text, where an x may be part of a tag
    depth = deepest = 0
    for tag in re.findall(rb"</?div>", simple):
        depth = depth + 1 if tag == b"<div>" else max(0, depth - 1)
        deepest = max(deepest, depth)
    assert deepest <= (MAX_DEPTH if body.count(b"<") > 8_000 else 8_000)
