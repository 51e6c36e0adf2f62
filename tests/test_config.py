"""Settings: an error is one sentence that names the setting and says what would be right."""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib

import pytest

from lycosa.config import Config, ReaderSettings, build, known_keys, load_crawl, load_file
from lycosa.errors import ConfigError


def refused(settings: dict, *, name: str = "my.toml") -> str:
    with pytest.raises(ConfigError) as caught:
        build((name, settings))
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestUnknownKeys:
    @pytest.mark.parametrize(
        ("settings", "unknown", "meant"),
        [
            ({"politeness": {"delai": 1}}, "politeness.delai", "politeness.delay"),
            ({"budgets": {"pages": 1}}, "budgets", "budget"),
            ({"delay": 2}, "delay", "politeness.delay"),
            ({"pages": 5}, "pages", "budget.pages"),
            ({"frontier": {"max_tries": 5}}, "frontier.max_tries", "politeness.max_tries"),
            ({"http": {"deadlin": 5}}, "http.deadlin", "http.deadline"),
            ({"stratgy": "best-first"}, "stratgy", "strategy"),
        ],
    )
    def test_the_nearest_known_one_is_named(self, settings, unknown, meant):
        assert refused(settings) == f"my.toml: unknown setting '{unknown}'; did you mean '{meant}'?"

    def test_where_nothing_is_near_the_choice_is_shown(self):
        assert refused({"frontier": {"zzz": 1}}).endswith(
            "; [frontier] has buffer, links_per_host, follow_nofollow, max_distance, patience"
        )
        assert "known are topic, topics, interest, seeds, strategy" in refused({"zzz": 1})

    @pytest.mark.parametrize("key", ["a.b", "", "network.resolve.x", "."])
    def test_odd_keys_are_no_trouble(self, key):
        assert f"unknown setting '{key}'" in refused({key: 1})
        assert f"unknown setting 'network.{key}'" in refused({"network": {key: 1}})

    def test_the_layer_is_named(self):
        with pytest.raises(ConfigError, match=r"^--set: unknown setting"):
            build(("my.toml", {"topic": "x"}), ("--set", {"topik": "y"}))

    def test_a_section_is_no_value(self):
        message = refused({"politeness": 3})
        assert message == "my.toml: 'politeness' is a section: write [politeness] and its settings below"


class TestValues:
    @pytest.mark.parametrize(
        ("settings", "beginning"),
        [
            ({"budget": {"pages": "many"}}, "budget.pages is 'many': input should be a valid integer"),
            ({"budget": {"pages": 1.5}}, "budget.pages is 1.5: input should be a valid integer"),
            ({"topic": ["x"]}, "topic is ['x']: input should be a valid string"),
            ({"seeds": "https://a.test/"}, "seeds is 'https://a.test/': input should be a valid tuple"),
            ({"network": {"allow": "127.0.0.0/8"}}, "network.allow is '127.0.0.0/8': input should be a valid tuple"),
            ({"network": {"resolve": {"a.test": 1}}}, "network.resolve.a.test is 1: input should be a valid string"),
            ({"archive": {"is_on": "maybe"}}, "archive.is_on is 'maybe': input should be a valid boolean"),
        ],
    )
    def test_of_the_wrong_kind(self, settings, beginning):
        assert refused(settings).startswith(beginning)

    @pytest.mark.parametrize(
        ("section", "name", "value"),
        [
            ("budget", "pages", 0),
            ("budget", "seconds", -1.0),
            ("politeness", "delay", -1.0),
            ("politeness", "max_tries", 0),
            ("politeness", "max_links_per_host", -1),
            ("network", "fetches", 0),
            ("readers", "count", -1),
            ("readers", "seconds", 0.0),
            ("readers", "memory", 1000),
            ("frontier", "buffer", -1),
            ("http", "deadline", 0.0),
            ("http", "max_bytes", -5),
            ("http", "min_rate", -5),
            ("decode", "max_ratio", 0),
            ("page", "max_text", -1),
            ("archive", "max_bytes", 0),
            ("robots", "lifetime", 0.0),
            ("fetch", "chop", -1),
            ("urls", "max_depth", 0),
        ],
    )
    def test_out_of_range(self, section, name, value):
        message = rf"{section}\.{name} is {value}: it must be (more than 0|[0-9.,]+ or more)"
        assert re.fullmatch(message, refused({section: {name: value}}))

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    @pytest.mark.parametrize("setting", ["politeness.delay", "budget.seconds", "http.deadline"])
    def test_numbers_that_are_none(self, setting, value):
        section, _, name = setting.partition(".")
        assert refused({section: {name: value}}).startswith(f"{setting} is {value}: it must be ")


class TestLayers:
    def test_without_any_the_defaults_hold(self):
        assert build() == Config()

    def test_a_part_of_a_section_leaves_the_rest_as_it_was(self):
        config = build(("file", {"politeness": {"delay": 3}}))
        assert config.politeness == dataclasses.replace(Config().politeness, delay=3.0)
        assert config.budget == Config().budget

    def test_later_layers_win_setting_by_setting(self):
        config = build(
            ("first", {"topic": "old", "politeness": {"delay": 3, "max_tries": 7}, "urls": {"exclude": ["*a*"]}}),
            ("second", {"topic": "new", "politeness": {"delay": 4}, "urls": {"exclude": ["*b*"]}}),
        )
        assert config.topic == "new"
        assert (config.politeness.delay, config.politeness.max_tries) == (4.0, 7)
        assert config.urls.exclude == ("*b*",)

    def test_layers_are_not_changed(self):
        first = {"network": {"resolve": {"a.test": "127.0.0.1"}}}
        build(("first", first), ("second", {"network": {"resolve": {"b.test": "127.0.0.2"}, "fetches": 3}}))
        assert first == {"network": {"resolve": {"a.test": "127.0.0.1"}}}

    def test_a_configuration_is_frozen(self):
        with pytest.raises(Exception, match="frozen"):
            Config().topic = "other"
        with pytest.raises(dataclasses.FrozenInstanceError):
            Config().budget.pages = 5


class TestToml:
    def test_the_default_comes_back(self):
        assert build(("file", tomllib.loads(Config().to_toml()))) == Config()

    def test_everything_comes_back(self, tmp_path):
        config = build(
            (
                "test",
                {
                    "topic": 'wheels "and"\n\\spokes\u2028 ünd',
                    "seeds": ["https://a.test/", "https://b.test/?q='"],
                    "strategy": "breadth-first",
                    "cache": "/some where/",
                    "judge": {"threshold": 0.25},
                    "budget": {"pages": 12, "seconds": 0.5},
                    "politeness": {"delay": 0.0, "max_links_per_host": 10},
                    "urls": {"include": ["*.test/*"], "excluded_extensions": ["pdf"], "schemes": ["https"]},
                    "network": {"allow": ["127.0.0.0/8"], "resolve": {"*.a.test": "127.0.0.1", "b.test": "::1"}},
                    "archive": {"is_on": False},
                },
            )
        )
        path = tmp_path / "lycosa.toml"
        path.write_text(config.to_toml(), encoding="utf-8")
        assert build((str(path), load_file(path))) == config

    def test_every_setting_is_written(self):
        written = tomllib.loads(Config().to_toml())
        for section, kind in known_keys(Config).items():
            if dataclasses.is_dataclass(kind):
                assert set(written[section]) == set(known_keys(kind))
            else:
                assert section in written

    def test_no_such_file(self, tmp_path):
        with pytest.raises(ConfigError, match=r"nowhere\.toml: there is no such file"):
            load_file(tmp_path / "nowhere.toml")

    @pytest.mark.parametrize(
        ("content", "message"),
        [(b"delay = = 3", "not valid TOML"), (b"\xff\xfe\x00", "cannot be read"), (b"[a]\n[a]", "not valid TOML")],
    )
    def test_a_file_that_is_no_toml(self, tmp_path, content, message):
        path = tmp_path / "bad.toml"
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=rf"bad\.toml: {message}"):
            load_file(path)

    def test_a_directory_is_no_file(self, tmp_path):
        with pytest.raises(ConfigError, match="cannot be read"):
            load_file(tmp_path)


class TestUserAgent:
    def test_it_names_the_product_the_version_and_the_contact(self):
        config = build(("test", {"network": {"contact": "me@example.org"}}))
        assert config.user_agent().startswith("Lycosa/")
        assert config.user_agent().endswith(" (+me@example.org)")
        assert config.http_settings().user_agent == config.user_agent()

    def test_it_can_be_given_whole(self):
        config = build(("test", {"http": {"user_agent": "Mine/1"}, "network": {"contact": "me@example.org"}}))
        assert config.user_agent() == "Mine/1"


class TestOlderCrawls:
    """A setting that is missing from a crawl's own file was unknown to the version that began it."""

    def test_a_crawl_begun_without_a_kind_of_judge_has_keywords(self, tmp_path):
        path = tmp_path / "lycosa.toml"
        path.write_text('topic = "cycling"\nstrategy = "best-first"\n[judge]\nthreshold = 0.2\n')
        config = build((str(path), load_crawl(path, is_begun=True)))
        assert (config.strategy, config.judge.kind, config.judge.threshold) == ("best-first", "keywords", 0.2)
        assert build((str(path), load_crawl(path, is_begun=False))).judge.kind == "auto"

    def test_a_crawl_begun_before_meaning_counted_goes_on_without(self, tmp_path):
        path = tmp_path / "lycosa.toml"
        path.write_text('topic = "cycling"\n[judge]\nkind = "contrast"\n')
        assert build((str(path), load_crawl(path, is_begun=True))).judge.meaning == "off"
        assert build((str(path), load_crawl(path, is_begun=False))).judge.meaning == "auto"

    def test_one_that_says_it_keeps_it(self, tmp_path):
        path = tmp_path / "lycosa.toml"
        path.write_text('[judge]\nkind = "contrast"\n')
        assert build((str(path), load_crawl(path, is_begun=True))).judge.kind == "contrast"

    def test_a_section_that_is_none_is_refused_as_ever(self, tmp_path):
        path = tmp_path / "lycosa.toml"
        path.write_text("judge = 3\n")
        with pytest.raises(ConfigError, match="'judge' is a section"):
            build((str(path), load_crawl(path, is_begun=True)))


class TestTitle:
    def test_words_come_first(self):
        assert Config(topic="cycling", seeds=("https://a.test/",)).title == "cycling"

    def test_seeds_stand_in(self):
        assert Config(seeds=("https://a.test/",)).title == "pages like https://a.test/"
        assert Config(seeds=("https://a.test/", "https://b.test/")).title == "pages like https://a.test/ and 1 more"
        assert Config().title == ""


class TestJudgeSettings:
    @pytest.mark.parametrize(
        ("wrong", "right"),
        [
            ({"seeds_are_examples": "maybe"}, "judge.seeds_are_examples is 'maybe': it must be auto, yes or no"),
            ({"widen_by": "x"}, "judge.widen_by is 'x': it must be parent, drop or weight"),
            ({"links_by": "both"}, "judge.links_by is 'both': it must be rarer or either"),
            ({"rarer_by": "x"}, "judge.rarer_by is 'x': it must be score or lowering"),
            ({"considerable": 0}, "judge.considerable is 0.*more than 0"),
            ({"considerable": 1.5}, "judge.considerable is 1.5: it must be 1 or less"),
            ({"frequencies": {"Sailing": "often"}}, "judge.frequencies.Sailing is 'often'"),
        ],
    )
    def test_what_is_not_known_is_refused(self, wrong, right):
        with pytest.raises(ConfigError, match=right):
            build(("test", {"judge": wrong}))


@pytest.mark.parametrize(("cores", "count", "processes"), [(1, 0, 1), (2, 0, 1), (8, 0, 7), (2, 5, 5)])
def test_one_core_is_left_to_the_crawl_itself(monkeypatch, cores, count, processes):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert ReaderSettings(count=count).processes == processes
