from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.page import PageLimits, read_document
from lycosa.page.own_text import MAX_HASHES

URL = "http://a.test/"


def resolver(base):
    return lambda href: (f"{base}{href}", "") if href.isprintable() else ("", "broken")


def read(html: str | bytes, **options) -> Page:
    body = html if isinstance(html, bytes) else html.encode()
    return read_document(URL, body, resolver=resolver, **options)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("<div>one<div>two</div>three</div>four", "one two three four"),
        ("<td>one<td>two", "onetwo"),  # outside a table the tags are ignored, as in a browser
        ("<table><tr><td>one<td>two<tr><th>three</table>", "one two three"),
        ("<ul><li>one<li>two</ul>three", "one two three"),
        ("one<br>two<hr>three", "one two three"),
        ("L<b>y</b><i>co</i>sa <span>is</span>glued", "Lycosa isglued"),
        ("<span><div>one</div></span>two", "one two"),
        ("  one \n\t two\u2003\xa0three\u3000 ", "one two three"),
        ("<script>no</script><style>no</style><template>no</template>yes", "yes"),
        ("a<script></script>b", "ab"),
        ("<noscript>shown to us</noscript>", "shown to us"),
        ("<iframe>no</iframe><noembed>no</noembed><!-- no --><?no?>yes", "yes"),
        ("<head><title>no</title></head>yes<title>no</title><svg><title>no</title></svg>", "yes"),
        ("<textarea>one</textarea><select><option>two<option>three</select>", "one two three"),
        ("<pre>one\n  two</pre>", "one two"),
        ("&lt;&nbsp;&eacute;&#x2014;&#0;&#xD800;", "< é—\ufffd\ufffd"),
        ("in\xadvis\xadible", "invisible"),
        ("one <a href=x>&shy;</a> two", "one two"),
        ("<p>a\0b</p>", "ab"),
    ],
)
def test_text(html, text):
    assert read(html).text == text


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A \n title &amp; more </title>", "A title & more"),
        ("<title></title><title>second</title>", "second"),
        ("<title>first</title><title>second</title>", "first"),
        ("<body><title>misplaced</title>", "misplaced"),
        ("<svg><title>drawing</title></svg>", ""),
        ("<p>none", ""),
    ],
)
def test_title(html, title):
    assert read(html).title == title


def test_terms_are_of_title_and_text():
    page = read("<title>Wolf spiders</title><p>A spider hunts.</p>")
    assert page.terms == {"wolf": 1, "spider": 2, "hunt": 1}


def test_limits_on_text_and_title():
    limits = PageLimits(max_text=25, max_title=5)
    page = read("<title>123456789</title><p>" + "alpha " * 10 + "<a href=x>omega</a>", limits=limits)
    assert page.text == "alpha alpha alpha alpha"
    assert page.title == "12345"
    assert "omega" not in page.terms
    assert page.links[0].anchor == "omega"
    assert read("z" * 100, limits=limits).text == "z" * 25


def test_charset_of_page():
    page = read("<p>caf\xe9</p>".encode("latin-1"), content_type="text/html; charset=ISO-8859-1")
    assert (page.charset, page.text) == ("windows-1252", "café")
    page = read("\ufeff<p>café</p>".encode("utf-16-le"))
    assert (page.charset, page.text) == ("utf-16le", "café")


def test_bytes_that_are_not_utf_8_do_not_hurt_their_neighbours():
    page = read(b"<p>one\xe2<a href=x\xff>two\xc3</a>", content_type="text/html; charset=utf-8")
    assert page.text == "one\ufffdtwo\ufffd"
    assert page.links[0].anchor == "two\ufffd"


def test_language_of_page():
    assert read("<html lang=sv-SE><p>Kontakt").language == "sv"
    assert (
        read("<html lang=sv><p>" + "The wolf spider has eight eyes, and they are of three sizes. " * 3).language == "en"
    )


@pytest.mark.parametrize(
    ("html", "header", "expected"),
    [
        ("<meta name=robots content=noindex>", (), (True, False)),
        ("<meta name=lycosa content=nofollow>", (), (False, True)),
        ("<meta name=wolf content=nofollow>", (), (False, False)),
        ("", ["wolf: none", "lycosa: noindex"], (True, False)),
        ("<body><meta name=ROBOTS content='None'>", (), (True, True)),
    ],
)
def test_robots_of_page(html, header, expected):
    page = read(html, x_robots_tag=header)
    assert (page.is_noindex, page.is_nofollow) == expected


def test_robots_by_product_token():
    page = read("<meta name=wolf content=nofollow>", product_token="Wolf")
    assert page.is_nofollow


def test_fingerprints_of_near_duplicates():
    text = " ".join(f"word{number}" for number in range(300))
    first, second = (read(f"<p>Printed on {day}.</p>{text}") for day in ("Monday", "Tuesday"))
    other = read(" ".join(f"other{number}" for number in range(300)))
    assert first.fingerprint != 0
    assert (first.fingerprint ^ second.fingerprint).bit_count() <= 3
    assert (first.fingerprint ^ other.fingerprint).bit_count() > 10


@pytest.mark.parametrize(
    "body", [b"", b"   ", b"<!-- -->", b"\0" * 1000, b"\xff\xfe", b"\xef\xbb\xbf", b"<title>t</title>"]
)
def test_no_text(body):
    page = read(body)
    assert (page.text, page.fingerprint, page.language, list(page.links)) == ("", 0, "", [])


def test_plain_text():
    page = read_document(
        URL,
        "The spider's eyes\n\n  http://b.test/ <a href=x>\0caf\xe9".encode("latin-1"),
        content_type="text/plain",
        x_robots_tag=["noindex"],
        resolver=resolver,
    )
    assert page.text == "The spider's eyes http://b.test/ <a href=x>café"
    assert page.terms == term_counts(page.text)
    assert page.charset == "windows-1252"
    assert page.is_noindex
    assert not page.links
    assert page.fingerprint


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("text/plain", "<b>x</b>"),
        ("Text/Plain ; charset=utf-8", "<b>x</b>"),
        ("text/html", "x"),
        ("application/xhtml+xml; charset=utf-8", "x"),
        ("", "x"),
    ],
)
def test_dispatch_on_the_media_type(content_type, text):
    assert read_document(URL, b"<b>x</b>", content_type=content_type, resolver=resolver).text == text


HOSTILE = {
    "nested divs": b"<div>" * 100_000 + b"<a href=x>deep</a>",
    "nested inline": b"<b><i>" * 50_000 + b"<a href=x>deep</a>",
    "nested anchors": b"<a href=x><table><td>" * 20_000 + b"deep",
    "attributes": b"<a " + b" ".join(b"a%d" % number for number in range(100_000)) + b"><a href=x>deep</a>",
    "one word": b"z" * 3_000_000 + b"<a href=x>deep</a>",
    "huge attributes": b"<p title='" + b"x" * 3_000_000 + b"'><a href=x rel='" + b"y " * 4_000 + b"'>deep</a>",
    "huge href": b"<a href='" + b"x" * 3_000_000 + b"'>long</a><a href=x>deep</a>",
    "nul": b"\0" * 1_000_000 + b"<a href=x>de\0ep</a>",
    "angles": b"<" * 1_000_000 + b"/><a href=x>deep</a>",
    "unclosed comments": b"<a href=x>deep</a>" + b"<!--" * 300_000,
    "entities": b"&notit;" * 100_000 + b"<a href=x>deep</a>",
    "images in one link": b"<a href=x>deep" + b"<img alt=x>" * 50_000,
    "spaces": b" " * 3_000_000 + b"<a href=x>deep</a>",
    "blocks": b"".join(b"<p>%d" % number for number in range(100_000)) + b"<a href=x>deep</a>",
    "navigation": b"<nav>menu</nav>" * 100_000 + b"<a href=x>deep</a>",
    "nested navigation": b"<nav>menu<footer>" * 50_000 + b"<a href=x>deep</a>",
    "links of one block": b"<p>" + b"<a href=y>an</a> or " * 50_000 + b"<a href=x>deep</a>",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_documents(body):
    page = read(body)
    link = page.links[-1]
    assert link.url == "http://a.test/x"
    assert link.anchor.startswith("deep")
    assert len(link.anchor) <= 200
    assert len(link.context) <= 400
    assert len(link.rel) <= 200
    assert link.path.count("/") <= PageLimits().path_depth
    assert len(page.text) <= PageLimits().max_text
    assert len(page.blocks) <= 4 * MAX_HASHES


def test_ten_thousand_links():
    page = read("".join(f"<li><a href=p{number}>page {number}</a>" for number in range(10_050)))
    assert len(page.links) == 10_000
    assert page.links[9_999].anchor == "page 9999"
    assert page.dropped == {"too many links": 50}


TAGS = re.findall(
    r"<[^>]*>",
    """<a href=x></a><a href='y\0z'><b></b><div></div><p><br><table><td></table><svg></svg><math><title></title>
    <script></script><template><select><option><textarea><frameset><frame src=f><iframe src=i><base href=b>
    <img alt='an image'><area href=r><plaintext><meta charset=utf-16><html lang=de><noscript>
    <nav></nav><header></header><footer></footer><main></main><div role=navigation>""",
)
TEXTS = ["one", " ", "two words", "\0", "\xad", "\u3000", "é", "\x1f", "\x01", "&#0;", "&shy;", "&nbsp;"]
TEXTS += ["\x02", "&#2;", "more than forty characters, so that the page has a text of its own"]
fragments = st.sampled_from([*TAGS, *TEXTS, "<![CDATA[", "]]>", "<!--", "-->"])


@settings(max_examples=300, deadline=None)
@given(st.lists(fragments, max_size=40))
def test_whatever_the_markup_the_page_is_sound(parts):
    page = read("".join(parts))
    check(page)
    check(read("".join(parts), furniture=page.blocks[:4]))


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=400), st.sampled_from(["", "text/html; charset=utf-16", "text/html; charset=gbk", "text/plain"])
)
def test_whatever_the_bytes_the_page_is_sound(body, content_type):
    check(read_document(URL, body, content_type=content_type, resolver=resolver))


def check(page: Page) -> None:
    assert page.text == " ".join(page.text.split())
    assert page.title == " ".join(page.title.split())
    for value in (page.text, page.title, *(part for link in page.links for part in link[:5])):
        assert "\0" not in value
        value.encode()
    assert page.terms == term_counts(f"{page.title} {page.own_text}", language=page.stemmed_in)
    assert bool(page.own_text) == bool(page.text)
    assert page.own_text == " ".join(page.own_text.split())
    assert len({link.url for link in page.links}) == len(page.links)
    for position, link in enumerate(page.links):
        assert link.position == position
        assert link.context in page.text or link.context in page.own_text
        assert link.anchor in page.text or link.anchor in ("an image", "")
        if link.anchor in page.text and page.own_text == page.text:
            assert link.anchor in link.context
        assert link.path.startswith("html/")
