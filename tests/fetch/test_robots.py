"""robots.txt: the examples of RFC 9309 and of Google's documentation, failures, and hostile files."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from lycosa.errors import ConfigError
from lycosa.fetch.robots import Robots, RobotsFile, RobotsSettings, RobotsState, interpret

ORIGIN = "https://example.org"
DAY = 86_400.0
DEFAULT = RobotsSettings()


def answer(
    status: int | None,
    body: bytes = b"",
    *,
    now: float = 0.0,
    failure: str = "",
    previous: RobotsFile | None = None,
    policy: RobotsSettings = DEFAULT,
) -> RobotsFile:
    return interpret(
        origin=ORIGIN, status=status, body=body, now=now, failure=failure, previous=previous, policy=policy
    )


def robots(text: str | bytes, *, token: str = "lycosa") -> Robots:
    policy = RobotsSettings(product_token=token)
    body = text if isinstance(text, bytes) else text.encode()
    return Robots(answer(200, body, policy=policy), policy)


def is_allowed(text: str | bytes, path: str, *, token: str = "lycosa") -> bool:
    return robots(text, token=token).verdict(ORIGIN + path).allowed


# ── RFC 9309 ────────────────────────────────────────────────────────────────────────────────────────────────────

SIMPLE_EXAMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    ("token", "path", "allowed"),
    [
        ("lycosa", "/", True),
        ("lycosa", "/picture.gif", False),
        ("lycosa", "/picture.gif?size=1", True),
        ("lycosa", "/example/page.html", False),
        ("lycosa", "/publications/a.html", True),
        ("lycosa", "/publications/a.gif", True),
        ("foobot", "/", False),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/example/other.gif", False),
        ("foobot", "/publications/", False),
        ("barbot", "/example/page.html", False),
        ("BazBot", "/example/page.html", False),
        ("bazbot", "/example/other.html", True),
        ("quxbot", "/example/page.html", True),
        ("quxbot", "/picture.gif", True),
    ],
)
def test_rfc_9309_section_5_1(token: str, path: str, allowed: bool) -> None:
    assert is_allowed(SIMPLE_EXAMPLE, path, token=token) is allowed


def test_rfc_9309_section_5_2_longest_match() -> None:
    text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
    assert is_allowed(text, "/example/page/a.gif", token="foobot")
    assert not is_allowed(text, "/example/page/disallowed.gif", token="foobot")


def test_rfc_9309_section_2_2_1_groups_of_one_agent_are_one() -> None:
    text = "user-agent: lycosa\ndisallow: /a\n\nuser-agent: *\ndisallow: /c\n\nUSER-AGENT: Lycosa\ndisallow: /b\n"
    assert not is_allowed(text, "/a")
    assert not is_allowed(text, "/b")
    assert is_allowed(text, "/c")


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar/x", True),
        ("/foo/bar/\u30c4", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A", True),
        ("/a%2Fb", "/a/b", False),
        ("/a%2fb", "/a%2Fb", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-star.html", False),
        ("/path/foo-%24", "/path/foo-$", True),
        ("/path/foo-%24", "/path/foo-", False),
    ],
)
def test_rfc_9309_section_2_2_2_and_3_escapes(rule: str, path: str, matches: bool) -> None:
    assert is_allowed(f"User-agent: *\nDisallow: {rule}", path) is not matches


def test_rfc_9309_section_2_2_4_other_lines_do_not_part_groups() -> None:
    text = "User-agent: other\nSitemap: https://example.org/s.xml\nNoise: x\n\nUser-agent: lycosa\nDisallow: /a\n"
    assert not is_allowed(text, "/a")
    assert is_allowed(text, "/b")


# ── Google's documentation ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Allow: /p\nDisallow: /", "/page", True),
        ("Allow: /folder\nDisallow: /folder", "/folder/page", True),
        ("Allow: /page\nDisallow: /*.htm", "/page.htm", False),
        ("Allow: /page\nDisallow: /*.ph", "/page.php5", True),
        ("Allow: /$\nDisallow: /", "/", True),
        ("Allow: /$\nDisallow: /", "/page.htm", False),
    ],
)
def test_google_order_of_precedence(rules: str, path: str, allowed: bool) -> None:
    assert is_allowed(f"User-agent: *\n{rules}\n", path) is allowed


@pytest.mark.parametrize(
    ("rule", "matching", "others"),
    [
        (
            "/fish",
            ["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fish.php?id=x"],
            ["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"],
        ),
        ("/fish*", ["/fish", "/fish/salmon.html", "/fish.php?id=x"], ["/Fish.asp", "/catfish"]),
        ("/fish/", ["/fish/", "/fish/salmon.htm", "/fish/?id=x"], ["/fish", "/fish.html", "/animals/fish/"]),
        (
            "/*.php",
            [
                "/index.php",
                "/folder/filename.php",
                "/folder/filename.php?parameters",
                "/folder/any.php.file.html",
                "/filename.php/",
            ],
            ["/", "/windows.PHP"],
        ),
        (
            "/*.php$",
            ["/filename.php", "/folder/filename.php"],
            ["/filename.php?parameters", "/filename.php/", "/filename.php5"],
        ),
        ("/fish*.php", ["/fish.php", "/fishheads/catfish.php?parameters"], ["/Fish.PHP"]),
    ],
)
def test_google_path_matching(rule: str, matching: list[str], others: list[str]) -> None:
    asked = robots(f"User-agent: *\nDisallow: {rule}\n")
    for path in matching:
        assert asked.verdict(ORIGIN + path) == (False, f"Disallow: {rule} (User-agent: *)")
    for path in others:
        assert asked.verdict(ORIGIN + path) == (True, "no rule")


# ── which group, which rule ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("agent", ["lycosa", "LYCOSA", "Lycosa/1.0", "lycosa (+https://example.org)", "lycosa*"])
def test_groups_for_us(agent: str) -> None:
    verdict = robots(f"User-agent: *\nAllow: /\n\nUser-agent: {agent}\nDisallow: /a").verdict(ORIGIN + "/a")
    assert verdict == (False, f"Disallow: /a (User-agent: {agent})")


@pytest.mark.parametrize("agent", ["lyc", "l", "lycosabot", "my-lycosa", "lycosa-news", "", "Mozilla lycosa"])
def test_groups_for_others(agent: str) -> None:
    assert is_allowed(f"User-agent: {agent}\nDisallow: /", "/a")


def test_the_rule_that_decided() -> None:
    text = "User-agent: *\nDisallow: /private\nAllow: /private/open\nAllow: /docs/index.html\nDisallow: /docs\n"
    asked = robots(text)
    assert asked.verdict(ORIGIN + "/private/x").rule == "Disallow: /private (User-agent: *)"
    assert asked.verdict(ORIGIN + "/private/open/x").rule == "Allow: /private/open (User-agent: *)"
    assert asked.verdict(ORIGIN + "/docs/") == (True, "Allow: /docs/index.html (User-agent: *)")
    assert asked.verdict(ORIGIN + "/docs/x").rule == "Disallow: /docs (User-agent: *)"
    assert asked.verdict(ORIGIN) == (True, "no rule")


def test_robots_txt_itself_may_always_be_fetched() -> None:
    asked = robots("User-agent: *\nDisallow: /")
    assert asked.verdict(ORIGIN + "/robots.txt").allowed
    assert asked.verdict(ORIGIN + "/robots.txt?x").rule == "robots.txt itself"
    assert not asked.verdict(ORIGIN + "/a/robots.txt").allowed
    assert Robots(answer(503), DEFAULT).verdict(ORIGIN + "/robots.txt").allowed


def test_paths_that_look_like_hosts() -> None:
    asked = robots("User-agent: *\nDisallow: //private\n")
    assert not asked.verdict("https://[::1]//private/x").allowed
    assert asked.verdict("https://[::1]/private/x").allowed


RULES = st.lists(
    st.tuples(st.sampled_from(["Allow", "Disallow"]), st.text("/ab*$%2Fé?", max_size=8).map(lambda text: f"/{text}")),
    max_size=6,
)


@given(RULES, st.text("/ab$%2F?", max_size=10))
def test_verdicts_agree_with_protego_and_name_a_rule_of_the_file(rules: list[tuple[str, str]], path: str) -> None:
    text = "\n".join(["User-agent: *", *(f"{kind}: {pattern}" for kind, pattern in rules)])
    verdict = robots(text).verdict(f"{ORIGIN}/{path}")
    assert verdict.allowed == Protego.parse(text).can_fetch(f"{ORIGIN}/{path}", "lycosa")
    if not verdict.allowed:
        assert verdict.rule.startswith(("Disallow: /", "a rule for User-agent: *"))
    else:
        assert verdict.rule.startswith(("Allow: /", "no rule")) or path == "robots.txt"


@given(RULES.filter(bool), st.text("/ab", max_size=10))
def test_the_named_rule_decides_alike_when_it_stands_alone(rules: list[tuple[str, str]], path: str) -> None:
    text = "\n".join(["User-agent: *", *(f"{kind}: {pattern}" for kind, pattern in rules)])
    verdict = robots(text).verdict(f"{ORIGIN}/{path}")
    if verdict.rule != "no rule":
        rule = verdict.rule.removesuffix(" (User-agent: *)")
        alone = f"User-agent: *\nDisallow: /\n{rule}" if verdict.allowed else f"User-agent: *\n{rule}"
        assert is_allowed(alone, f"/{path}") is verdict.allowed


# ── what an answer means ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("status", [200, 204, 206])
def test_success_means_rules(status: int) -> None:
    file = answer(status, b"User-agent: *\nDisallow: /a", now=10.0)
    assert (file.state, file.fetched_at, file.expires_at, file.failures) == ("rules", 10.0, 10.0 + DAY, 0)
    assert not Robots(file, DEFAULT).verdict(ORIGIN + "/a").allowed


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_client_errors_mean_no_rules(status: int) -> None:
    file = answer(status, b"User-agent: *\nDisallow: /", now=10.0)
    assert (file.state, file.expires_at) == ("allow-all", 10.0 + DAY)
    assert Robots(file, DEFAULT).verdict(ORIGIN + "/a") == (True, f"no robots.txt (http {status})")


@pytest.mark.parametrize("status", [429, 500, 503, 599, 301, 304, 100, 0, None])
def test_anything_else_means_not_now(status: int | None) -> None:
    file = answer(status, b"User-agent: *\nAllow: /", now=10.0)
    assert (file.state, file.expires_at, file.body) == (RobotsState.DISALLOW_ALL, 310.0, "")
    verdict = Robots(file, DEFAULT).verdict(ORIGIN + "/a")
    assert not verdict.allowed
    why = f"http {status}" if status else "no answer"
    assert verdict.rule == f"robots.txt unreachable: {why}, retried at 1970-01-01 00:05:10 UTC"


def test_a_failure_outweighs_the_status() -> None:
    file = answer(200, b"User-agent: *\nAllow: /", failure="timeout")
    assert file.state == "disallow-all"
    assert "robots.txt unreachable: timeout," in Robots(file, DEFAULT).verdict(ORIGIN + "/a").rule


def test_retries_become_rarer_and_start_over_after_an_answer() -> None:
    file, waits = None, []
    for _ in range(9):
        file = answer(503, now=100.0, previous=file)
        waits.append(file.expires_at - 100.0)
    assert waits == [300.0, 600.0, 1200.0, 2400.0, 4800.0, 9600.0, 19200.0, 21600.0, 21600.0]
    assert file is not None
    answered = answer(404, previous=file)
    assert answered.failures == 0
    assert answer(503, previous=answered).expires_at == 300.0


def test_known_rules_hold_on_for_thirty_days() -> None:
    file = answer(200, b"User-agent: *\nDisallow: /a", now=0.0)
    for now in (DAY, 10 * DAY, 30 * DAY):
        file = answer(None, now=now, failure="timeout", previous=file)
        assert (file.state, file.fetched_at, file.failure) == ("rules", 0.0, "timeout")
        assert Robots(file, DEFAULT).verdict(ORIGIN + "/b").allowed
        assert not Robots(file, DEFAULT).verdict(ORIGIN + "/a").allowed
    assert file.expires_at == 30 * DAY + 1200.0
    file = answer(503, now=30 * DAY + 1, previous=file)
    assert (file.state, file.body, file.failures) == ("disallow-all", "", 4)


def test_a_missing_file_is_no_rules_to_hold_on_to() -> None:
    assert answer(503, previous=answer(404)).state == "disallow-all"


# ── crawl delay and sitemaps ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        *[("10", 10.0), ("0.5", 0.5), (".5", 0.5), ("2.", 2.0), ("0", 0.0), ("000000000000010", 10.0)],
        *[("1234567890", 1e9), ("9" * 500, 1e9)],
        *((nonsense, None) for nonsense in ("-1", "nan", "inf", "1e9", "1_0", "10s", "", "٣")),
    ],
)
def test_crawl_delay(value: str, delay: float | None) -> None:
    assert robots(f"User-agent: *\nCrawl-delay: {value} # please\n").crawl_delay == delay


def test_crawl_delay_is_that_of_our_group_and_the_longest() -> None:
    text = "User-agent: *\nCrawl-delay: 9\n\nUser-agent: lycosa\nCrawl-delay: 3\nCrawl-delay: 2\n"
    assert robots(text).crawl_delay == 3.0
    assert robots(text, token="other").crawl_delay == 9.0
    assert Robots(answer(404), DEFAULT).crawl_delay is None


def test_sitemaps() -> None:
    text = "Sitemap: https://a.org/1.xml\nsitemap:http://a.org/2.xml\nSitemap https://a.org/3.xml\n"
    text += "Sitemap: /4.xml\nSitemap: ftp://a.org/5\nSitemap: https://a.org/1.xml\n"
    assert robots(text).sitemaps == ("https://a.org/1.xml", "http://a.org/2.xml", "https://a.org/3.xml")
    many = "\n".join(f"Sitemap: https://a.org/{n}" for n in range(1000))
    assert len(robots(many).sitemaps) == 100


# ── files as they come ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n",
        "User-agent: *\nDisallow: /a\n".encode("utf-16"),
        b"User-agent: *\r\nDisallow: /a\r\n",
        b"User-agent: *\rDisallow: /a",
        b"User-agent: *\n\n\nDisallow: /a",
        b"  user-agent : * # all\n\tDISALLOW :/a#b",
        b"User-agent: *\nDisallow /a",
        b"Useragent: *\nDissallow: /a",
        b"User-agent: *\x00\nDis\x00allow: /a",
        b"\xff\xfa\xfe\nUser-agent: *\nDisallow: /caf\xe9\nDisallow: /a",
        b"<html>\nUser-agent: *\n<p>Disallow: /b</p>\nDisallow: /a",
    ],
)
def test_files_that_can_be_made_out(body: bytes) -> None:
    assert not is_allowed(body, "/a")
    assert is_allowed(body, "/c")


def test_paths_in_latin_1() -> None:
    assert not is_allowed(b"User-agent: *\nDisallow: /caf\xe9", "/caf%E9")


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_cr_and_lf_end_a_line(end: str) -> None:
    assert not is_allowed(f"User-agent: *\nDisallow: /\nDisallow: /x{end}Allow: /secret", "/secret")


@given(st.binary(max_size=300))
def test_any_bytes_are_a_file(junk: bytes) -> None:
    """Bytes that cannot spell a rule neither forbid anything nor hide the rules after them."""
    junk = re.sub(rb"[Ll<>]", b"", junk)
    only = robots(b"User-agent: *\n" + junk)
    assert "\x00" not in only.file.body
    assert only.verdict(ORIGIN + "/a").allowed
    asked = robots(b"User-agent: *\n" + junk + b"\nUser-agent: *\nDisallow: /a\n")
    assert not asked.verdict(ORIGIN + "/a").allowed
    assert asked.verdict(ORIGIN + "/c").allowed


def test_what_is_beyond_the_size_is_not_read_nor_is_half_a_line() -> None:
    head = b"User-agent: *\nDisallow: /a\n"
    policy = RobotsSettings(max_bytes=len(head) + 12)
    file = answer(200, head + b"Disallow: /bbb\nDisallow: /c\n", policy=policy)
    assert file.body == head.decode()
    chopped_on_the_way = answer(200, head + b"Allow: /a/bb", policy=policy)
    assert chopped_on_the_way.body == head.decode()
    assert len(answer(200, b"Disallow: /\n" * 100_000).body) <= 500 * 1024
    assert answer(200, b"x" * 600_000).body == ""


def test_many_wildcards_are_matched_in_one_pass() -> None:
    # A backtracking matcher would not finish this within the age of the universe.
    asked = robots("User-agent: *\nDisallow: /" + "*a" * 900 + "*b\n")
    assert asked.verdict(ORIGIN + "/" + "a" * 1900).allowed
    assert not asked.verdict(ORIGIN + "/" + "a" * 1900 + "b").allowed


def test_too_many_wildcard_rules_mean_no() -> None:
    policy = RobotsSettings(max_wildcard_rules=10)
    rules = [f"Disallow: /*{n}x" for n in range(10)] + [f"Disallow: /{n}" for n in range(500)]
    body = "\n".join(["User-agent: *", *rules])
    assert Robots(answer(200, body.encode(), policy=policy), policy).verdict(ORIGIN + "/a").allowed
    body += "\nDisallow: /*y"
    verdict = Robots(answer(200, body.encode(), policy=policy), policy).verdict(ORIGIN + "/a")
    assert verdict == (False, "robots.txt has 11 rules with wildcards, too many to match")


def test_over_long_rules_only_ever_forbid_more() -> None:
    asked = robots("User-agent: *\nDisallow: /a/" + "é" * 3000 + "\nAllow: /a/" + "b" * 3000)
    assert not asked.verdict(ORIGIN + "/a/" + "b" * 3000).allowed
    assert asked.verdict(ORIGIN + "/b").allowed
    assert len(asked.verdict(ORIGIN + "/a/x").rule) < 300


@pytest.mark.parametrize("wrong", [{"product_token": "lycosa/1"}, {"product_token": ""}, {"max_bytes": 0}])
def test_settings_out_of_range(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=f"robots.{next(iter(wrong))} is "):
        RobotsSettings(**wrong)  # type: ignore[arg-type]
