"""Settings of search engines: mistakes are named, and a key is never repeated."""

from __future__ import annotations

import re
import tomllib

import pytest

from lycosa.config import build
from lycosa.errors import ConfigError
from lycosa.seeds.metasearch.settings import engine_option


def engine(**settings):
    return build(("lycosa.toml", {"metasearch": {"engines": [settings]}}))


def test_they_survive_the_file():
    config = engine(kind="searxng", url="https://searx.example.org", delay=5, daily=100)
    again = build(("again", tomllib.loads(config.to_toml())))
    assert again.metasearch == config.metasearch
    assert again.metasearch.engines[0].daily == 100


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "google"}, r"there is no kind 'google'.*known are searxng, opensearch"),
        ({"kind": "searxn", "url": "https://x.test"}, r"did you mean .searxng"),
        ({"kind": "searxng"}, r'searxng: it needs a url, such as "https://searx\.example\.org"'),
        ({"kind": "searxng", "url": "searx.example.org"}, "must begin with https://"),
        ({"kind": "searxng", "url": "https://me:secret@x.test"}, "no user name or password"),
        ({"kind": "searxng", "url": "https://x.test", "delay": -1}, "delay"),
        ({"kind": "brave"}, "key_env must name the environment variable.*BRAVE_KEY"),
        ({"kind": "brave", "key_env": "BSA-secret"}, "not the key itself"),
        ({"kind": "brave", "key": "secret"}, "a key does not belong in a file"),
        ({"kind": "json", "url": "https://x.test/?q={query}"}, r"web\.results"),
        ({"kind": "workspace"}, "directory must name"),
        ({"kind": "searxng", "ulr": "x"}, "unknown setting 'ulr' of a search engine; did you mean 'url'"),
        ({"kind": "searxng", "url": 5}, r"metasearch\.engines\.0\.url: input should be a valid string"),
    ],
)
def test_mistakes(settings, message):
    with pytest.raises(ConfigError, match=message) as raised:
        engine(**settings)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("engines", ["searxng", ["searxng"], {"kind": "searxng"}])
def test_engines_are_tables(engines):
    with pytest.raises(ConfigError, match=r"\[\[metasearch\.engines\]\]"):
        build(("lycosa.toml", {"metasearch": {"engines": engines}}))


def test_two_of_one_name():
    with pytest.raises(ConfigError, match="two are called 'sitemaps'"):
        build(("x", {"metasearch": {"engines": [{"kind": "sitemaps"}, {"kind": "sitemaps"}]}}))


def test_without_an_engine_it_says_what_to_write():
    with pytest.raises(ConfigError, match="no search engine is configured: give --engine searxng=") as raised:
        build(("x", {"metasearch": {"is_on": True}})).metasearch.require_engines()
    written = re.search(r"metasearch\.engines = .*?\]", str(raised.value))[0]
    assert [engine.kind for engine in build(("x", tomllib.loads(written))).metasearch.engines] == ["searxng", "brave"]


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("searxng=https://x.test/?a=b", {"kind": "searxng", "url": "https://x.test/?a=b"}),
        ("brave=MY_KEY", {"kind": "brave", "key_env": "MY_KEY"}),
        ("workspace=../other", {"kind": "workspace", "directory": "../other"}),
        ("sitemaps", {"kind": "sitemaps"}),
    ],
)
def test_options(text, settings):
    assert engine_option(text) == settings
