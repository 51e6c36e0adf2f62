from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.page.charset import _ENCODINGS, _NAME_OF_LABEL, PRESCAN, Charset, as_utf8, find_charset


def read(body: bytes, content_type: str = "") -> tuple[str, str]:
    charset = find_charset(body, content_type)
    return charset.name, as_utf8(body, charset).decode("utf-8", "replace")


def test_every_encoding_has_a_codec():
    for codec, _ in _ENCODINGS.values():
        codecs.lookup(codec)


def test_no_label_means_two_encodings():
    labels = [label for name, (_, others) in _ENCODINGS.items() for label in (name, *others.split())]
    assert len(labels) == len(set(labels)) == len(_NAME_OF_LABEL)


@pytest.mark.parametrize(
    ("mark", "codec", "name"),
    [
        (codecs.BOM_UTF8, "utf-8", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16be"),
    ],
)
def test_a_byte_order_mark_wins_over_the_header_and_is_taken_off(mark, codec, name):
    assert read(mark + "né".encode(codec), "text/html; charset=koi8-r") == (name, "né")


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html; charset=windows-1251",
        'text/html;charset="Windows-1251"',
        "text/html; CHARSET = 'cp1251'",
        "text/html; foo=bar; charset=x-cp1251 ; baz",
    ],
)
def test_the_header_wins_over_meta(content_type):
    body = b"<meta charset=utf-8>" + "мир".encode("cp1251")
    assert read(body, content_type) == ("windows-1251", "<meta charset=utf-8>мир")


@pytest.mark.parametrize(
    "declaration",
    [
        b"<meta charset=iso-8859-2>",
        b'<META  CharSet = "latin2">',
        b"<meta http-equiv=Content-Type content='text/html; charset=iso8859-2'>",
        b'<meta content="text/html;charset=l2" http-equiv="content-type"/>',
        b'<meta name=viewport content=x><meta charset="ISO-8859-2">',
        b'<?xml version="1.0" encoding="iso-8859-2"?><html>',
        b'<!-- <meta charset=koi8-r> --><meta charset="ISO-8859-2">',
        b'<meta charset="nonsense"><meta charset="ISO-8859-2">',
    ],
)
def test_meta_and_xml_declarations(declaration):
    name, text = read(declaration + "žluťoučký".encode("iso8859-2"))
    assert name == "iso-8859-2"
    assert text.endswith("žluťoučký")


def test_declarations_count_only_near_the_beginning():
    declaration = b"<meta charset=koi8-r>"
    assert find_charset(b" " * (PRESCAN - len(declaration)) + declaration).name == "koi8-r"
    assert find_charset(b" " * PRESCAN + declaration).name == "utf-8"


def test_a_meta_that_could_be_read_is_not_in_utf_16():
    assert read(b"<meta charset=utf-16>x") == ("utf-8", "<meta charset=utf-16>x")


@pytest.mark.parametrize("label", ["iso-8859-1", "latin1", "ascii", "us-ascii"])
def test_latin_1_is_windows_1252(label):
    assert read(b"\x93quoted\x94", f"text/html; charset={label}") == ("windows-1252", "“quoted”")


@pytest.mark.parametrize("label", ["utf-7", "hz-gb-2312", "iso-2022-kr", "rot13", "base64", "idna", "x" * 99])
def test_labels_nobody_should_use_are_passed_over(label):
    assert read(b"<p>+ADw-script+AD4-", f"text/html; charset={label}") == ("utf-8", "<p>+ADw-script+AD4-")


def test_without_declaration_valid_utf_8_is_utf_8_and_the_rest_windows_1252():
    assert read("größer".encode()) == ("utf-8", "größer")
    assert read("größer".encode("cp1252")) == ("windows-1252", "größer")


def test_a_character_cut_off_at_the_end_is_still_utf_8():
    whole = "größer 東京".encode()
    for cut in (1, 2):
        assert read(whole[:-cut])[0] == "utf-8"
    assert read(b"caf\xe9") == ("windows-1252", "café")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shift_jis", "日本語"),
        ("euc-jp", "日本語"),
        ("iso-2022-jp", "日本語"),
        ("gbk", "中文"),
        ("big5", "中文"),
        ("euc-kr", "한국어"),
        ("koi8-r", "мир"),
        ("utf-16be", "né"),
    ],
)
def test_encodings_of_the_world(name, text):
    body = text.encode(_ENCODINGS[name][0])
    assert read(body, f"text/html; charset={name}") == (name, text)


@given(st.binary(max_size=300), st.sampled_from(sorted(_ENCODINGS)), st.integers(0, 3))
def test_any_bytes_in_any_encoding_become_utf_8(body, name, skip):
    as_utf8(body, Charset(name, skip)).decode("utf-8", "strict" if name != "utf-8" else "replace")


@given(st.binary(max_size=600), st.text(max_size=80))
def test_finding_never_fails(body, content_type):
    assert find_charset(body, content_type).name in _ENCODINGS
