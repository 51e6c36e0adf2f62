"""URLs: one spelling, named reasons, seeds as people write them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from ada_url import join_url
from hypothesis import example, given
from hypothesis import strategies as st

from lycosa.errors import ConfigError, SeedError
from lycosa.fetch import urls
from lycosa.fetch.url_patterns import Glob, UrlPatterns
from lycosa.fetch.urls import UrlRules, Urls, host_key, origin, parse_seed, url_hash

DEFAULT = Urls(UrlRules())


# ── canonical form ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTPS://Example.ORG:443/a/../b/./c#part", "https://example.org/b/c"),
        ("http://example.org:80", "http://example.org/"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("https://example.org/?", "https://example.org/"),
        ("https://example.org/?#x", "https://example.org/"),
        ("https://example.org/a%2fb", "https://example.org/a%2Fb"),
        ("https://example.org/%7euser/%41", "https://example.org/~user/A"),
        ("https://example.org/f%2528x%2529", "https://example.org/f%2528x%2529"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("https://example.org/%%37%65", "https://example.org/%257e"),
        ("https://example.org/straße", "https://example.org/stra%C3%9Fe"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://example.org.:8443/a", "https://example.org:8443/a"),
        ("http://[::1]/a;b", "http://[::1]/a;b"),
        ("http://[::1]:8080/a;b", "http://[::1]:8080/a;b"),
        ("https://example.org/a;jsessionid=F00/b;JSESSIONID=1?x=1", "https://example.org/a/b?x=1"),
        ("https://example.org/a;v=1;jsessionid=2;w=3", "https://example.org/a;v=1;w=3"),
        ("https://example.org/a/..;jsessionid=1/b", "https://example.org/b"),
        ("https://example.org/?b=2&a=1&b=1&&c", "https://example.org/?a=1&b=2&b=1&c"),
        ("https://example.org/?utm_source=x&UTM_Medium=y&q=1&fbclid=z", "https://example.org/?q=1"),
        ("https://example.org/?utm_source=x&%75tm_medium=y", "https://example.org/"),
        ("https://example.org/?PHPSESSID=1&p=2", "https://example.org/?p=2"),
        ("https://example.org/?q=a+b%20c%26d", "https://example.org/?q=a+b%20c%26d"),
        ("  https://exa\nmple.org/a\tb  ", "https://example.org/ab"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://127.1../", "http://127.0.0.1/"),
    ],
)
def test_canonical(url: str, canonical: str) -> None:
    assert DEFAULT.canonical(url) == (canonical, "")


def test_query_order_and_tracking_are_settings() -> None:
    kept = Urls(UrlRules(sort_query=False, tracking_parameters=frozenset({"from*", "sid"})))
    assert kept.canonical("http://a.org/?z=1&fromage=2&SID=3&utm_x=4&a=5")[0] == "http://a.org/?z=1&utm_x=4&a=5"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mailto:me@example.org", "scheme"),
        ("javascript:void(0)", "scheme"),
        ("ftp://example.org/", "scheme"),
        ("data:text/html," + "x" * 100_000, "scheme"),
        ("", "not a URL"),
        ("page.html", "not a URL"),
        ("http://", "not a URL"),
        ("http://exa mple.org/", "not a URL"),
        ("http://example.org:99999/", "not a URL"),
        ("http://./other.example/", "not a URL"),
        ("http://..:80/other.example/", "not a URL"),
        ("http://example.org/\ud800", "not a URL"),
        ("https://me@example.org/", "credentials"),
        ("https://me:secret@example.org/", "credentials"),
        ("https://example.org/" + "x" * 2000, "length"),
        ("https://example.org/" + "x" * 2_000_000, "length"),
    ],
)
def test_nothing_is_kept_of_what_is_no_url_to_fetch(url: str, reason: str) -> None:
    assert DEFAULT.canonical(url) == ("", reason)
    assert DEFAULT.reason_detail(url)


@pytest.mark.parametrize(
    ("url", "reason", "detail"),
    [
        ("https://a.org" + "".join(f"/{n}" for n in range(21)), "depth", "21 path segments; at most 20"),
        ("https://a.org/x/a/x/b/x/c/x/", "repeating segments", "'x' repeats in the path"),
        ("https://a.org/a/b/a/b/a/b", "repeating segments", "'a/b' repeats in the path"),
        ("https://a.org/1/a/b/c/a/b/c/a/b/c", "repeating segments", "'a/b/c' repeats in the path"),
        ("https://a.org//////", "repeating segments", "'' repeats in the path"),
        ("https://a.org/Manual.PDF?page=2", "file extension", ".pdf"),
        ("https://a.org/a.tar.gz", "file extension", ".gz"),
        (
            "https://a.org/?" + "&".join(f"p{n}" for n in range(13)),
            "query parameters",
            "13 query parameters; at most 12",
        ),
    ],
)
def test_turned_away_by_a_rule(url: str, reason: str, detail: str) -> None:
    canonical, given_reason = DEFAULT.canonical(url)
    assert given_reason == reason
    assert canonical.startswith("https://a.org/")
    assert detail in DEFAULT.reason_detail(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://a.org" + "".join(f"/{n}" for n in range(20)) + "/",
        "https://a.org/2011/11/11/11",
        "https://a.org/a/b/a/b",
        "https://a.org/a/b/a/b/c/a/b",
        "https://a.org/v1.pdf/about",
        "https://a.org/get?file=a.zip",
        "https://a.pdf/",
        "https://a.org/.well-known",
        "https://a.org/?" + "&".join(f"p{n}" for n in range(12)) + "&utm_source=x",
        "https://a.org/" + "x" * 1986,
        "https://a.org/#" + "x" * 5000,
    ],
)
def test_within_the_rules(url: str) -> None:
    canonical, reason = DEFAULT.canonical(url)
    assert (bool(canonical), reason) == (True, "")
    assert DEFAULT.reason_detail(url) == ""


def test_only_https() -> None:
    assert Urls(UrlRules(schemes=frozenset({"https"}))).canonical("http://a.org/") == ("", "scheme")


PIECES = st.one_of(
    st.sampled_from(["..", "%2e", "%2E%2e", "%25", "%4", "%41", "%7e", "é", "\\", "\t", "127.1"]),
    st.sampled_from([";jsessionid=1", "a.pdf", "index.html", "utm_x=1"]),
    st.sampled_from("/.%;?&=#ab:@ "),
)
MESSY = st.lists(PIECES, max_size=12).map("".join)
HOSTS = st.sampled_from(["example.org", "Example.org.", "a.b:8080", "127.1..", "[::1]", ".", "ü.de", "u:p@x.org"])


@given(HOSTS, MESSY)
@example("example.org", "/%2e;jsessionid=1/a")
@example("example.org", "/%%32%65")
def test_canonical_is_idempotent(host: str, rest: str) -> None:
    canonical, reason = DEFAULT.canonical(f"http://{host}{rest}")
    if canonical:
        assert DEFAULT.canonical(canonical) == (canonical, reason)
    else:
        assert reason in {"not a URL", "credentials", "length"}


@given(st.text(max_size=60))
def test_any_text_has_an_answer(text: str) -> None:
    canonical, reason = DEFAULT.canonical(text)
    assert canonical or reason
    canonical, reason = DEFAULT.canonical(f"http://{text}")
    if canonical:
        assert canonical.isascii()
        assert DEFAULT.canonical(canonical) == (canonical, reason)


# ── links of a page ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("href", "resolved"),
    [
        ("c.html", "https://example.org/a/c.html"),
        ("../c.html#x", "https://example.org/c.html"),
        ("/c", "https://example.org/c"),
        ("//other.example/c", "https://other.example/c"),
        ("\\c", "https://example.org/c"),
        ("?y=2", "https://example.org/a/b?y=2"),
        ("#top", "https://example.org/a/b?x=1"),
        ("", "https://example.org/a/b?x=1"),
        (" c ", "https://example.org/a/c"),
        ("c #x", "https://example.org/a/c%20"),
        ("https:c", "https://example.org/a/c"),
        ("http://h.org", "http://h.org/"),
    ],
)
def test_resolver(href: str, resolved: str) -> None:
    resolve = Urls(UrlRules()).resolver("https://example.org/a/b?x=1#part")
    assert resolve(href) == (resolved, "")
    assert resolve(href) == (resolved, "")


def test_resolver_gives_reasons() -> None:
    resolve = DEFAULT.resolver("https://example.org/a/b")
    assert resolve("mailto:x") == ("", "scheme")
    assert resolve("http://[") == ("", "not a URL")
    assert resolve("x.pdf") == ("https://example.org/a/x.pdf", "file extension")


@pytest.mark.parametrize("base", ["", "no url", "mailto:me", "data:,x", "http://a.org/" + "x" * 9000])
def test_an_unusable_base_leaves_absolute_links(base: str) -> None:
    resolve = DEFAULT.resolver(base)
    assert resolve("http://h.org") == ("http://h.org/", "")
    assert resolve("c.html") == ("", "not a URL")
    assert resolve("#x")[1]


BASES = [
    "http://a.org/x/y?q",
    "http://a.org/x\\z/y",
    "http://a.org/w\\z/y",
    "https://a.org/x/y",
    "http://A.org",
    "http://a.org:81/x/",
]


@given(st.lists(st.tuples(st.sampled_from(BASES), MESSY), max_size=8))
def test_what_is_remembered_is_what_would_be_found(links: list[tuple[str, str]]) -> None:
    remembering = Urls(UrlRules())
    for base, href in [*links, *links]:
        try:
            expected = DEFAULT.canonical(join_url(base, href))
        except ValueError:
            expected = ("", "not a URL")
        assert remembering.resolver(base)(href) == expected


def test_the_memo_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls, "MEMO_SIZE", 10)
    some = Urls(UrlRules())
    resolve = some.resolver("http://a.org/")
    for n in range(95):
        assert resolve(f"p{n}") == (f"http://a.org/p{n}", "")
    resolve("x" * 500)
    assert 0 < len(some._memo) <= 10
    assert not any(len(href) > urls.MEMO_HREF for _, href in some._memo)


# ── patterns ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (
            "https://example.org/docs/*",
            ["https://example.org/docs/", "https://example.org/docs/a/b?c"],
            ["http://example.org/docs/", "https://example.org/docs", "https://example.org.evil/docs/"],
        ),
        ("http*://example.org/*", ["http://example.org/", "https://example.org/x"], ["https://www.example.org/"]),
        ("https://example.org:443/*", ["https://example.org/x"], ["https://example.org:8443/x"]),
        (
            "Example.org/docs/*",
            ["http://example.org/docs/x", "https://example.org/docs/"],
            ["http://a.example.org/docs/"],
        ),
        ("/tag/*", ["http://a.org/tag/x", "http://b.org:81/tag/"], ["http://a.org/x/tag/", "http://a.org/tag"]),
        ("/*?*reply=*", ["http://a.org/x?reply=1", "http://a.org/?a=1&reply=2"], ["http://a.org/reply=1"]),
        ("/go?to=https://*", ["http://a.org/go?to=https://b.org/"], ["http://a.org/go?to=http://b.org/"]),
        ("*/tag/*", ["http://a.org/tag/x", "http://a.org/x/tag/y"], ["http://a.org/tags/x"]),
        ("example.org", ["http://example.org/x", "https://example.org:8443/"], ["http://www.example.org/"]),
        (
            "*.example.org",
            ["http://www.example.org/", "http://a.b.example.org:81/x"],
            ["http://example.org/", "http://notexample.org/"],
        ),
        ("example.org:81", ["http://example.org:81/"], ["http://example.org/"]),
        ("*:81", ["http://example.org:81/"], ["http://example.org/81"]),
        ("[::1]", ["http://[::1]/"], ["http://[::2]/"]),
        ("*", ["http://a.org/", "http://[::1]:81/x"], []),
        ("/städte/%7ea*", ["http://a.org/st%C3%A4dte/~ab"], ["http://a.org/stadte/~ab"]),
        ("*.bücher.example", ["http://www.xn--bcher-kva.example/"], []),
        ("/a*b*b", ["http://x.org/abb", "http://x.org/a-b-b-b"], ["http://x.org/ab", "http://x.org/abbc"]),
    ],
)
def test_patterns(pattern: str, yes: list[str], no: list[str]) -> None:
    patterns = UrlPatterns([pattern], setting="urls.include")
    assert [patterns.first_match(url) for url in yes] == [pattern] * len(yes)
    assert [patterns.first_match(url) for url in no] == [""] * len(no)


def test_include_and_exclude() -> None:
    rules = UrlRules(include=("example.org", "*.example.org"), exclude=("/private/*", "shop.example.org"))
    some = Urls(rules)
    assert some.canonical("http://example.org/a")[1] == ""
    assert some.canonical("http://www.example.org/private/a")[1] == "excluded by pattern"
    assert some.canonical("http://shop.example.org/a")[1] == "excluded by pattern"
    assert some.canonical("http://other.example/a") == ("http://other.example/a", "not included")
    assert some.reason_detail("http://a.example.org/private/a") == "matches '/private/*'"
    assert some.reason_detail("http://other.example/") == "matches none of: example.org, *.example.org"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "is empty"),
        ("re:.*", "regular expression"),
        ("a b", "space"),
        ("http://a.org/#x", "'#'"),
        ("ftp://a.org/*", "scheme 'ftp' is not http or https"),
        ("https://a.org", "write 'https://a.org/*'"),
        ("*?reply=*", "contains '?' in its host"),
        ("me@a.org/*", "contains '@' in its host"),
        ("*.pdf", "write '/*.pdf'"),
    ],
)
def test_a_malformed_pattern_is_named(pattern: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Urls(UrlRules(exclude=("ok.org", pattern)))
    assert str(caught.value).startswith(f"urls.exclude[1]: pattern {pattern!r} ")
    assert message in str(caught.value)


def test_patterns_are_a_list() -> None:
    with pytest.raises(ConfigError, match=r"urls\.include: '\*\.org' is not a list"):
        Urls(UrlRules(include="*.org"))  # type: ignore[arg-type]


@given(st.text("ab*", max_size=12), st.text("ab", max_size=20))
def test_globs_match_what_the_definition_says(pattern: str, text: str) -> None:
    reachable = {0}  # positions in the text that the pattern so far can end at
    for character in pattern:
        if character == "*":
            reachable = set(range(min(reachable), len(text) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable if text[at : at + 1] == character}
    assert Glob(*pattern.split("*")).matches(text) == (len(text) in reachable)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_length": 0},
        {"max_repeats": 1},
        {"schemes": frozenset({"ftp"})},
        {"schemes": frozenset()},
        {"excluded_extensions": frozenset({".PDF"})},
        {"tracking_parameters": frozenset({"*"})},
        {"tracking_parameters": frozenset({"a*b"})},
        {"tracking_parameters": frozenset({"Utm"})},
    ],
)
def test_rules_out_of_range(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=f"urls.{next(iter(wrong))} "):
        UrlRules(**wrong)  # type: ignore[arg-type]


# ── parts of a URL ──────────────────────────────────────────────────────────────────────────────────────────────


def test_url_hash_is_the_same_everywhere() -> None:
    url = "https://example.org/"
    code = f"from lycosa.fetch.urls import url_hash; print(url_hash({url!r}))"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(elsewhere.stdout) == url_hash(url)
    hashes = {url_hash(f"https://example.org/{n}") for n in range(1000)}
    assert len(hashes) == 1000
    assert all(-(2**63) <= value < 2**63 for value in hashes)
    assert min(hashes) < 0 < max(hashes)


def test_host_key_and_origin() -> None:
    assert host_key("https://example.org/a?b") == "example.org"
    assert host_key("http://127.0.0.2:8080/") == "127.0.0.2:8080"
    assert origin("https://example.org/a://b") == "https://example.org"
    assert origin("https://example.org") == "https://example.org"
    assert origin("nothing") == host_key("nothing") == ""


# ── seeds ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "seed"),
    [
        ("https://example.org/x", "https://example.org/x"),
        (" example.org/x \n", "https://example.org/x"),
        ("//example.org", "https://example.org/"),
        ("HTTP://Example.org", "http://example.org/"),
        ("example.org:8080/x", "https://example.org:8080/x"),
        ("localhost:8000", "https://localhost:8000/"),
        ("localhost", "https://localhost/"),
        ("http://cycling/", "http://cycling/"),
        ("[::1]/x", "https://[::1]/x"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("example.org/a:b", "https://example.org/a:b"),
    ],
)
def test_seeds_as_people_write_them(text: str, seed: str) -> None:
    assert parse_seed(text) == seed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ", "seed is empty; write a URL such as https://example.org/"),
        ("htp:/foo", "seed 'htp:/foo': scheme 'htp' is not http or https; write https://foo"),
        ("ftp://a.org/x", "write https://a.org/x"),
        ("mailto:me@a.org", "write one such as https://example.org/"),
        ("recreational cycling", "contains a space"),
        ("cycling", "seed 'cycling': not the name of a site; write https://cycling/ if there is such a host"),
        ("http://", "not a URL"),
        ("http://a.org:999999/", "not a URL"),
        ("https://me:secret@a.org/x", "write https://a.org/x"),
    ],
)
def test_a_wrong_seed_is_told_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(SeedError) as caught:
        parse_seed(text)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
