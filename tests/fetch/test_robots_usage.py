"""Content-Signal and Content-Usage in robots.txt: whose, for which paths, and what follows from them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.errors import ConfigError
from lycosa.fetch.robots import MAX_PATTERN, MAX_USAGE_PATHS, Robots, RobotsSettings, interpret
from lycosa.usage import AI_TRAIN, SEARCH, in_words

ORIGIN = "https://example.org"
ALL = "User-agent: *\n"


def robots(text: str, purpose: str = SEARCH) -> Robots:
    policy = RobotsSettings(purpose=purpose)
    return Robots(interpret(ORIGIN, 200, text.encode(), now=0.0, policy=policy), policy)


def said(text: str, path: str = "/") -> str:
    return in_words(robots(text).usage(ORIGIN + path))


@pytest.mark.parametrize(
    ("path", "may_crawl", "usage"),
    [
        ("/test", True, "no (robots.txt Content-Usage, User-agent: *)"),
        ("/never/test", False, "no (robots.txt Content-Usage, User-agent: *)"),
        ("/ai-ok/test", True, "yes (robots.txt Content-Usage /ai-ok/, User-agent: *)"),
    ],
)
def test_the_example_of_the_draft(path, may_crawl, usage):
    """draft-ietf-aipref-attach, section 3.4."""
    text = (
        "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n\n"
        "User-Agent: ExampleBot\nAllow: /\nContent-Usage: train-ai=y\n"
    )
    assert said(text, path) == f"ai-train: {usage}"
    assert robots(text).verdict(ORIGIN + path).allowed is may_crawl
    assert robots(text, AI_TRAIN).verdict(ORIGIN + path).allowed is (path == "/ai-ok/test")


class TestWhose:
    def test_our_own_group_speaks_alone(self):
        text = "User-agent: *\nContent-Signal: ai-train=no\n\nUser-agent: Lycosa\nContent-Signal: search=yes\n"
        assert said(text) == "search: yes (robots.txt Content-Signal, User-agent: Lycosa)"

    def test_outside_of_groups_nobody_is_addressed(self):
        assert said(f"Content-Signal: ai-train=no\n{ALL}Allow: /\n") == ""

    def test_groups_are_what_they_are_without_them(self):
        """RFC 9309, 2.2.4: other records must not interfere."""
        text = "User-agent: lycosa\nContent-Signal: ai-train=no\nUser-agent: other\nDisallow: /private\n"
        assert not robots(text).verdict(f"{ORIGIN}/private").allowed


class TestWhere:
    @pytest.mark.parametrize(
        ("rules", "path", "expected"),
        [
            (("ai-train=no", "/a ai-train=yes", "/a/b ai-train=no"), "/a/b", "no"),
            (("ai-train=no", "/a ai-train=yes", "/a/b ai-train=no"), "/a/c", "yes"),
            (("/a ai-train=yes", "/a ai-train=no", "/a ai-train=yes"), "/a", "no"),
            (("/a* ai-train=yes", "/*a ai-train=no"), "/a", "no"),
            (("/a ai-train=no", "/a/b search=yes"), "/a/b", "no"),
            (("/*.pdf$ ai-train=no",), "/x.pdf", "no"),
            (("/*.pdf$ ai-train=no",), "/x.pdf?y", ""),
            (("/caf%C3%A9 ai-train=no",), "/caf%c3%a9", "no"),
            (("/a\tai-train=no",), "/a", "no"),
            (("/a",), "/a", ""),
        ],
    )
    def test_the_longest_path_that_speaks_of_the_use_decides(self, rules, path, expected):
        found = robots(ALL + "".join(f"Content-Usage: {rule}\n" for rule in rules)).usage(ORIGIN + path)
        assert {True: "yes", False: "no", None: ""}[
            found[AI_TRAIN].is_allowed if AI_TRAIN in found else None
        ] == expected

    def test_a_no_that_finds_no_room_holds_for_the_whole_site(self):
        rules = "".join(f"Content-Usage: /{n} train-ai=y\n" for n in range(MAX_USAGE_PATHS))
        assert "no (robots.txt Content-Usage /late" in said(f"{ALL}{rules}Content-Usage: /late train-ai=n\n", "/x")
        assert said(f"{ALL}{rules}Content-Usage: /late train-ai=y\n", "/late") == ""
        too_long = "a" * (MAX_PATTERN + 1)
        assert "no" in said(f"{ALL}Content-Usage: /{too_long} train-ai=n\n", "/x")

    def test_a_hostile_file_takes_little_time(self):
        rules = "".join(f"Content-Usage: /{'*a' * 9}*{n}b train-ai=n\n" for n in range(10_000))
        found, began = robots(ALL + rules), time.process_time()
        for _ in range(20):
            found.verdict(f"{ORIGIN}/{'a' * 1000}")
        assert time.process_time() - began < 0.6


class TestVerdict:
    def test_what_is_forbidden_for_the_purpose_is_not_fetched(self):
        text = f"{ALL}Content-Signal: search=no, ai-train=no\nAllow: /\n"
        verdict = robots(text).verdict(f"{ORIGIN}/")
        assert verdict == (
            False,
            "search: no (robots.txt Content-Signal, User-agent: *), and robots.purpose is search",
        )
        assert robots(text, "ai-input").verdict(f"{ORIGIN}/").allowed

    def test_a_yes_opens_nothing_that_is_closed(self):
        assert not robots(f"{ALL}Content-Signal: search=yes\nDisallow: /\n").verdict(f"{ORIGIN}/").allowed

    def test_a_purpose_that_nobody_knows(self):
        with pytest.raises(
            ConfigError, match=r"robots\.purpose is 'training': it must be search, ai-input or ai-train"
        ):
            RobotsSettings(purpose="training")


@given(st.text(), st.text())
def test_noise_never_fails(path, value):
    assert (
        in_words(robots(f"{ALL}Content-Signal: /{path} {value}\nContent-Usage: {value}\n").usage(ORIGIN + "/a"))
        is not None
    )
