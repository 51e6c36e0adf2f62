"""Options of scope are settings by other names."""

from __future__ import annotations

import tomli_w

from lycosa.cli.scope import PAGES_FOR_ONE, Scope
from lycosa.config import build


def config(scope: Scope, config_file=None, settings=(), pages=None):
    return build(*scope.layers(config_file, list(settings), pages=pages))


def test_each_option_has_its_setting():
    scope = Scope(("a.test",), ("b.test/x/",), ("*/print/*",), 6, ("EN", "de"), 2000, 50)
    found = config(scope)
    assert (found.urls.sites, found.urls.under, found.urls.exclude) == (("a.test",), ("b.test/x/",), ("*/print/*",))
    assert (found.frontier.max_distance, found.page.only_languages) == (6, ("en", "de"))
    assert (found.stop.relevant, found.politeness.max_pages_per_host) == (2000, 50)


def test_nothing_said_changes_nothing():
    assert Scope().layers(None, [], pages=None) == []


def test_depth_zero_is_something_said():
    assert config(Scope(depth=0)).frontier.max_distance == 0


class TestBudget:
    def test_it_allows_for_the_relevant_pages_asked_for(self):
        assert config(Scope(relevant=2000)).budget.pages == PAGES_FOR_ONE * 2000

    def test_unless_somebody_says_it(self, tmp_path):
        default = build().budget.pages
        file = tmp_path / "lycosa.toml"
        file.write_text(tomli_w.dumps({"budget": {"pages": 70}}))
        for found in (
            config(Scope(relevant=2000), pages=70),
            config(Scope(relevant=2000), settings=["budget.pages=70"]),
            config(Scope(relevant=2000), config_file=file),
        ):
            assert found.budget.pages == default


def test_a_crawl_starts_from_its_sites():
    assert Scope(("a.test",), ("b.test/x/", "c.test/*/y")).starts() == ["a.test", "b.test/x/"]
