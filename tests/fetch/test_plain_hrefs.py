"""Hrefs that are joined without a parser: always what the parser makes of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.fetch import plain_hrefs
from lycosa.fetch.plain_hrefs import joined, split_absolute
from lycosa.fetch.urls import UrlRules, Urls

compiled = pytest.mark.skipif(plain_hrefs._compiled is None, reason="not compiled: there was no compiler")

HOSTS = [
    "a.test",
    "A.test",
    "a.test:80",
    "a.test:8080",
    "a.test.",
    "u:p@a.test",
    "127.1",
    "xn--x.test",
    "ä.test",
    "[::1]",
]
PATHS = [
    "/",
    "/x",
    "/x/y/",
    "/x//y",
    "/x/%7e/y",
    "/x/%2E%2E/y",
    "/a;jsessionid=1/b",
    "/x y/",
    "/é/",
    "/x?q=/z/",
    "/x#/f",
]
bases = st.builds(
    "{}://{}{}".format, st.sampled_from(["http", "https"]), st.sampled_from(HOSTS), st.sampled_from(PATHS)
)
PARTS = [
    "../",
    "./",
    "/",
    "a",
    "b.html",
    "C_d-e~f",
    "..",
    ".",
    ".x",
    "%7e",
    "%20",
    ";",
    "?q=1",
    "#f",
    "\\",
    " ",
    "\t",
    ":",
]
PARTS += [
    "@",
    "é",
    "*",
    "x.pdf",
    "a/" * 21,
    "long" * 60,
    "http://",
    "https://b.test/",
    "http://b.test",
    "HTTP://B.test/",
]
hrefs = st.lists(st.sampled_from(PARTS), min_size=1, max_size=6).map("".join)
RULES = [UrlRules(), UrlRules(schemes=frozenset({"https"})), UrlRules(max_length=40, include=("http://a.test/*",))]
RULES += [UrlRules(exclude=("*/b.html",), under=("http://a.test/x/",))]


@settings(deadline=None)
@given(bases, hrefs, st.sampled_from(RULES))
def test_the_same_as_by_the_parser(base, href, rules):
    quick, slow = Urls(rules), Urls(rules)
    slow._join_plain = lambda *_, **__: None  # type: ignore[method-assign]
    assert quick.resolver(base)(href) == slow.resolver(base)(href)


@settings(deadline=None)
@given(bases, st.lists(hrefs, max_size=4), st.sampled_from(RULES))
def test_all_at_a_glance_are_as_one_by_one(base, several, rules):
    urls = Urls(rules)
    glanced = urls.glance(base, several)
    if glanced is not None:
        resolve = Urls(rules).resolver(base)
        assert len(glanced) == len(several)
        for href, url in zip(several, glanced, strict=True):
            assert url is None or resolve(href.partition("#")[0]) == (url, "")


@compiled
def test_most_links_are_seen_at_a_glance():
    urls = Urls(UrlRules(max_length=60))
    seen = {
        "c.html": "http://a.test/x/y/c.html",
        "c.html#part": "http://a.test/x/y/c.html",
        "./c": "http://a.test/x/y/c",
        "../../../c": "http://a.test/c",
        "../": "http://a.test/x/",
        "/c": "http://a.test/c",
        "/": "http://a.test/",
        "http://a.test/c.d/e": "http://a.test/c.d/e",
    }
    assert urls.glance("http://a.test/x/y/z?q#f", list(seen)) == list(seen.values())
    others = ["", "#c", "?c", "//c", "/../c", "a/../c", "..", ".c", "c%20d", "c\n", "é", "c.PDF", "a/b/c/d/e", "c" * 60]
    others += ["http://b.test/c", "http://a.test", "http://a.test:81/c", "https://a.test/c", "HTTP://a.test/c"]
    assert urls.glance("http://a.test/x/y/z", others) == [None] * len(others)


@pytest.mark.parametrize(
    "base", ["", "x", "http://a.test", "http://A.test/x/", "http://a.test/%7e/", "http://u@a.test/", "ftp://a.test/"]
)
def test_no_glance_from_a_base_that_is_not_canonical(base):
    assert Urls(UrlRules()).glance(base, ["c"]) is None


@compiled
def test_what_patterns_turn_away_is_not_accepted_at_a_glance():
    urls = Urls(UrlRules(exclude=("*/c",), sites=("a.test",)))
    assert urls.glance("http://a.test/", ["b", "c", "d", "c"]) == ["http://a.test/b", None, "http://a.test/d", None]
    assert Urls(UrlRules(sites=("b.test",))).glance("http://a.test/", ["c"]) == [None]


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("c.html", "http://a.test/x/y/c.html"),
        ("./c.html", "http://a.test/x/y/c.html"),
        ("../c/", "http://a.test/x/c/"),
        ("../../../c", "http://a.test/c"),
        ("../", "http://a.test/x/"),
        ("/c", "http://a.test/c"),
        ("/", "http://a.test/"),
        ("//c", None),
        ("/../c", None),
        ("a/../c", None),
        ("..", None),
        (".c", None),
        ("c?d", None),
        ("c%20d", None),
        ("mailto:c", None),
        ("c\n", None),
        ("c" * 201, None),
    ],
)
def test_joined(href, url):
    assert joined("http://a.test/x/y/", "http://a.test", href) == url


@pytest.mark.parametrize(
    ("href", "parts"),
    [
        ("http://a.test/x.html", ("http://a.test", "/x.html")),
        ("https://a.test:81/", ("https://a.test:81", "/")),
        ("http://a.test", ("", "")),
        ("http://a.test//x", ("", "")),
        ("http:///x", ("", "")),
        ("https:///x/y", ("https://", "/x/y")),  # which no parser spells so: it is not canonical
    ],
)
def test_absolute(href, parts):
    assert split_absolute(href) == parts


def test_most_links_are_joined_without_a_parser():
    urls = Urls(UrlRules())
    resolve = urls.resolver("http://a.test/x/")
    assert resolve("b.html") == ("http://a.test/x/b.html", "")  # the directory is found to be canonical
    urls._join = lambda *_: pytest.fail("was parsed")  # type: ignore[method-assign]
    assert resolve("../c.html") == ("http://a.test/c.html", "")
    assert resolve("d.pdf") == ("http://a.test/x/d.pdf", "file extension")
