"""What a page says about its use: every vocabulary, the strictest wins, and noise says nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.page.html import read_document
from lycosa.page.usage import MAX_POLICY, USAGE_HEADERS, read_usage
from lycosa.usage import PURPOSES, forbids, in_words, read_statement, strictest

NO_AI = "ai-input: no ({0}), ai-train: no ({0})"


def said(*headers: tuple[str, str], metas: tuple[tuple[str, str], ...] = ()) -> str:
    return in_words(read_usage(metas, headers, product_token="Lycosa"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("search=yes, ai-input=no,ai-train=no", {"search": True, "ai-input": False, "ai-train": False}),
        ("train-ai=n", {"ai-train": False}),
        ("TRAIN-AI=N;note=1, ai-use = y", {"ai-train": False, "ai-input": True}),
        ("train-genai=n, train-ai=y", {"ai-train": False}),
        ("ai-train=yes, ai-train=no, ai-train=yes", {"ai-train": False}),
        ("ai=n", {"ai-input": False, "ai-train": False}),
        ("search=maybe, ai-train, =no, ai_train=no, use=reference, \x00=n,,;", {}),
        ("", {}),
        ("x" * 5000 + ", ai-train=no", {}),
    ],
)
def test_statements(value, expected):
    assert read_statement(value) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (("x-robots-tag", "noindex, NoAI"), NO_AI.format("X-Robots-Tag")),
        (("x-robots-tag", "lycosa: noai"), NO_AI.format("X-Robots-Tag")),
        (("x-robots-tag", "otherbot: noai"), ""),
        (("x-robots-tag", "noimageai"), "ai-images: no (X-Robots-Tag)"),
        (("x-robots-tag", "noml"), "ai-train: no (X-Robots-Tag)"),
        (("content-usage", "train-ai=n"), "ai-train: no (Content-Usage)"),
        (("content-signal", "ai-train=yes, search=no"), "ai-train: yes (Content-Signal), search: no (Content-Signal)"),
        (("tdm-reservation", " 1 "), NO_AI.format("tdm-reservation")),
        (("tdm-reservation", "0"), "ai-input: yes (tdm-reservation), ai-train: yes (tdm-reservation)"),
        (("tdm-reservation", "true"), ""),
        (("tdm-policy", "https://a.test/policy.json"), ""),
    ],
)
def test_headers(header, expected):
    assert said(header) == expected
    assert header[0] in USAGE_HEADERS  # others do not reach the readers


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("robots", "noai, noimageai", "ai-images: no (meta robots), " + NO_AI.format("meta robots")),
        ("LYCOSA ", "NOAI", NO_AI.format("meta robots")),
        ("googlebot", "noai", ""),
        ("tdm-reservation", "1", NO_AI.format("meta tdm-reservation")),
        ("description", "noai", ""),
    ],
)
def test_metas(name, content, expected):
    assert said(metas=((name, content),)) == expected


def test_the_strictest_wins_wherever_it_stands():
    assert said(("content-usage", "train-ai=y"), ("content-signal", "ai-train=no")) == "ai-train: no (Content-Signal)"
    assert said(("content-signal", "ai-train=no"), ("content-usage", "train-ai=y")) == "ai-train: no (Content-Signal)"
    header, meta = read_usage((), [("tdm-reservation", "1")], product_token="x"), {}
    assert strictest(meta, header) == header


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        ("https://a.test/p.json", ", policy https://a.test/p.json"),
        ("javascript:alert(1)", ""),
        ("https://a.test/\x1b[2J", ""),
        ("https://a.test/" + "x" * MAX_POLICY, ""),
    ],
)
def test_a_policy_is_shown_if_it_is_a_url(policy, shown):
    assert said(("tdm-policy", policy), ("tdm-reservation", "1")) == NO_AI.format(f"tdm-reservation{shown}")


def test_a_use_is_forbidden_by_a_no_alone():
    usage = read_usage((), [("content-signal", "search=yes, ai-train=no")], product_token="x")
    assert [bool(forbids(usage, purpose)) for purpose in PURPOSES] == [False, False, True]
    assert forbids(usage, "ai-train") == "ai-train: no (Content-Signal), and robots.purpose is ai-train"


def test_documents_are_read_for_it():
    body = b"<title>x</title><META NAME=robots CONTENT='noai'><p>text"
    page = read_document(
        "http://a.test/",
        body,
        usage_headers=[("content-usage", "search=n")],
        resolver=lambda _: lambda href: (href, ""),
    )
    assert in_words(page.usage) == f"{NO_AI.format('meta robots')}, search: no (Content-Usage)"


@given(st.lists(st.tuples(st.sampled_from(["robots", "tdm-reservation", "tdm-policy", "x"]), st.text())), st.text())
def test_noise_says_nothing_that_cannot_be_shown(metas, value):
    headers = [(name, value) for name in sorted(USAGE_HEADERS)]
    words = in_words(read_usage(metas, headers, product_token="lycosa"))
    assert words.isprintable()
    assert len(words) < 1_500
