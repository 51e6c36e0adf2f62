"""The character encoding of a document.

It is taken from the first of these, as in browsers (WHATWG Encoding, HTML "determining the character encoding"):

1. a byte order mark;
2. the charset of the Content-Type header;
3. the encoding of an XML declaration, or the first charset in a meta element, near the beginning;
4. UTF-8 if the bytes are valid UTF-8, otherwise windows-1252.

A label is an alias in the sense of the Encoding standard: `latin1` means windows-1252, `gb2312` means GBK. Unknown
labels are ignored. So are those that the standard no longer decodes (hz, iso-2022-kr, utf-7), which were used to
smuggle markup past filters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

PRESCAN = 4096
"""Number of bytes searched for a declaration. The standard says 1024, but people put scripts and comments first."""

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))

_ENCODINGS = {
    # name: (Python's codec, other labels)
    "utf-8": ("utf-8", "utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"),
    "utf-16le": ("utf-16-le", "utf-16 ucs-2 unicode iso-10646-ucs-2 csunicode unicodefeff"),
    "utf-16be": ("utf-16-be", "unicodefffe"),
    "windows-1252": (
        "cp1252",
        "cp1252 x-cp1252 latin1 l1 iso-8859-1 iso8859-1 iso_8859-1 iso88591 iso_8859-1:1987 iso-ir-100 ascii "
        "us-ascii ansi_x3.4-1968 cp819 ibm819 csisolatin1",
    ),
    "iso-8859-2": ("iso8859-2", "iso8859-2 iso_8859-2 iso88592 latin2 l2 iso-ir-101 iso_8859-2:1987 csisolatin2"),
    "iso-8859-3": ("iso8859-3", "iso8859-3 iso_8859-3 iso88593 latin3 l3 iso-ir-109 iso_8859-3:1988 csisolatin3"),
    "iso-8859-4": ("iso8859-4", "iso8859-4 iso_8859-4 iso88594 latin4 l4 iso-ir-110 iso_8859-4:1988 csisolatin4"),
    "iso-8859-5": (
        "iso8859-5",
        "iso8859-5 iso_8859-5 iso88595 cyrillic iso-ir-144 iso_8859-5:1988 csisolatincyrillic",
    ),
    "iso-8859-6": (
        "iso8859-6",
        "iso8859-6 iso_8859-6 iso88596 arabic asmo-708 ecma-114 iso-ir-127 iso-8859-6-e iso-8859-6-i "
        "iso_8859-6:1987 csisolatinarabic",
    ),
    "iso-8859-7": (
        "iso8859-7",
        "iso8859-7 iso_8859-7 iso88597 greek greek8 ecma-118 elot_928 sun_eu_greek iso-ir-126 "
        "iso_8859-7:1987 csisolatingreek",
    ),
    "iso-8859-8": (
        "iso8859-8",
        "iso8859-8 iso_8859-8 iso88598 hebrew visual iso-ir-138 iso-8859-8-e iso_8859-8:1988 csisolatinhebrew "
        "iso-8859-8-i logical csiso88598i",
    ),
    "iso-8859-10": ("iso8859-10", "iso8859-10 iso885910 latin6 l6 iso-ir-157 csisolatin6"),
    "iso-8859-13": ("iso8859-13", "iso8859-13 iso885913"),
    "iso-8859-14": ("iso8859-14", "iso8859-14 iso885914"),
    "iso-8859-15": ("iso8859-15", "iso8859-15 iso_8859-15 iso885915 l9 latin9 csisolatin9"),
    "iso-8859-16": ("iso8859-16", ""),
    "windows-874": ("cp874", "tis-620 dos-874 iso-8859-11 iso8859-11 iso885911"),
    "windows-1250": ("cp1250", "cp1250 x-cp1250"),
    "windows-1251": ("cp1251", "cp1251 x-cp1251"),
    "windows-1253": ("cp1253", "cp1253 x-cp1253"),
    "windows-1254": (
        "cp1254",
        "cp1254 x-cp1254 latin5 l5 iso-8859-9 iso8859-9 iso_8859-9 iso88599 iso-ir-148 iso_8859-9:1989 csisolatin5",
    ),
    "windows-1255": ("cp1255", "cp1255 x-cp1255"),
    "windows-1256": ("cp1256", "cp1256 x-cp1256"),
    "windows-1257": ("cp1257", "cp1257 x-cp1257"),
    "windows-1258": ("cp1258", "cp1258 x-cp1258"),
    "ibm866": ("cp866", "866 cp866 csibm866"),
    "koi8-r": ("koi8-r", "koi koi8 koi8_r cskoi8r"),
    "koi8-u": ("koi8-u", "koi8-ru"),
    "macintosh": ("mac-roman", "mac x-mac-roman csmacintosh"),
    "x-mac-cyrillic": ("mac-cyrillic", "x-mac-ukrainian"),
    "gbk": ("gb18030", "gb2312 gb_2312 gb_2312-80 csgb2312 csiso58gb231280 chinese iso-ir-58 x-gbk"),
    "gb18030": ("gb18030", ""),
    "big5": ("big5hkscs", "big5-hkscs cn-big5 x-x-big5 csbig5"),
    "euc-jp": ("euc-jp", "x-euc-jp cseucpkdfmtjapanese"),
    "iso-2022-jp": ("iso2022-jp", "csiso2022jp"),
    "shift_jis": ("cp932", "shift-jis sjis x-sjis ms932 ms_kanji windows-31j csshiftjis"),
    "euc-kr": (
        "cp949",
        "korean windows-949 ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 iso-ir-149 cseuckr csksc56011987",
    ),
}
_NAME_OF_LABEL = {label: name for name, (_, labels) in _ENCODINGS.items() for label in (name, *labels.split())}
_NOT_ASCII = frozenset({"utf-16le", "utf-16be", "iso-2022-jp"})
"""Encodings in which a byte below 128 need not be the ASCII character."""

# Repetitions are bounded: two unbounded ones in a row would take quadratic time on a run of spaces.
_LABEL = re.compile(r"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:\-]{1,40})", re.ASCII | re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/]([^>]*)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml\s[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([\w.:\-]{1,40})")


class Charset(NamedTuple):
    name: str
    """Name in the Encoding standard, in lower case."""
    skip: int
    """Length of the byte order mark."""


def find_charset(body: bytes, content_type: str = "") -> Charset:
    """The encoding of a document, by the rules of this module."""
    for mark, name in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return Charset(name, len(mark))
    declared = _declared_in(content_type) or _declared_near_beginning(body)
    if declared:
        return Charset(declared, 0)
    return Charset("utf-8" if _is_utf8(body) else "windows-1252", 0)


def as_utf8(body: bytes, charset: Charset) -> bytes:
    """The document in UTF-8, without a byte order mark; not checked, since the parser substitutes U+FFFD."""
    if charset.skip:
        body = body[charset.skip :]
    if charset.name == "utf-8" or (charset.name not in _NOT_ASCII and body.isascii()):
        return body
    return body.decode(_ENCODINGS[charset.name][0], "replace").encode("utf-8", "replace")


def _name_of(label: str) -> str:
    return _NAME_OF_LABEL.get(label.strip().lower(), "")


def _declared_in(content_type: str) -> str:
    match = _LABEL.search(content_type)
    return _name_of(match.group(1)) if match else ""


def _declared_near_beginning(body: bytes) -> str:
    head = _COMMENT.sub(b"", body[:PRESCAN])
    xml = _XML.match(head.lstrip())
    name = _name_of(xml.group(1).decode("ascii")) if xml else ""
    declared = (_declared_in(meta.group(1).decode("latin-1")) for meta in _META.finditer(head))
    name = name or next(filter(None, declared), "")
    # A declaration that could be read byte by byte is not in UTF-16, whatever it says.
    return "utf-8" if name.startswith("utf-16") else name


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        # A download that was cut off may end within a character. If that is the only non-ASCII byte, it is more likely
        # an accented letter at the end of a text in windows-1252.
        return error.reason == "unexpected end of data" and not body[: error.start].isascii()
    return True
