"""XML from untrusted sources: what is read, and what is refused."""

from __future__ import annotations

import pytest

from lycosa.lib.safe_xml import MAX_TEXT, xml_items


def read(data: bytes, most: int = 100):
    return xml_items(data, items=("item",), fields=("title", "link"), most=most)


def test_items_with_their_fields_whatever_the_namespace():
    found = read(
        b'<r xmlns="http://x.test/"><item id="1"><title>A &amp; B</title><link href="u"/><other>x</other></item>'
        b"<group><item><title><![CDATA[<c>]]></title><deep><link>no</link></deep></item></group></r>"
    )
    assert found.failure == ""
    assert [(item.fields, item.attributes) for item in found.items] == [
        ({"title": "A & B", "link": "", "link@href": "u", "link[alternate]@href": "u"}, {"id": "1"}),
        ({"title": "<c>"}, {}),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b'<!DOCTYPE r [<!ENTITY a "x">]><r><item><title>&a;</title></item></r>',
        b'<!DOCTYPE r SYSTEM "file:///etc/passwd"><r><item><title>x</title></item></r>',
        b"<!DOCTYPE r><r><item><title>x</title></item></r>",
    ],
)
def test_a_document_type_is_refused_before_anything_is_read(data):
    found = read(data)
    assert found.items == []
    assert "document type" in found.failure


def test_what_came_before_a_break_counts():
    found = read(b"<r><item><title>one</title></item><item><title>two")
    assert [item.fields["title"] for item in found.items] == ["one"]
    assert found.failure.startswith("not XML")


@pytest.mark.parametrize("data", [b"", b"\x00\xff", b"plain text", b'<?xml version="1.0" encoding="no-such"?><r/>'])
def test_what_is_no_xml(data):
    found = read(data)
    assert found.items == []
    assert found.failure


def test_limits():
    many = read(b"<r>" + b"<item><title>x</title></item>" * 10 + b"</r>", most=3)
    assert len(many.items) == 3
    assert "more than 3" in many.failure
    assert "deep" in read(b"<a>" * 5_000).failure
    (item,) = read(b"<r><item><title>" + b"x" * 50_000 + b"</title></item></r>").items
    assert len(item.fields["title"]) == MAX_TEXT
