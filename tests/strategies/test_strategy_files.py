"""Strategies that are files, as `lycosa evolve` writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lycosa.errors import ConfigError
from lycosa.strategies.table import from_file, strategy


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "best.toml"
    path.write_text(text)
    return str(path)


GOOD = 'strategy = "shark"\n[constants]\n"shark.batch" = 3\n[origin]\nworld = "wiki.world"\n'


def test_it_is_the_strategy_that_the_file_names_with_its_constants(tmp_path):
    name = written(tmp_path, GOOD)
    assert from_file(name) == ("shark", {"shark.batch": 3})
    assert strategy(name).name == "shark-3"
    assert strategy(name, settings={"shark.batch": 5, "best-first.batch": 2}).name == "shark-3"


def test_a_rule_may_stand_before_it(tmp_path):
    name = f"hard+{written(tmp_path, GOOD)}"
    assert from_file(name) == ("hard+shark", {"shark.batch": 3})
    assert strategy(name).name == strategy("hard+shark-3").name


def test_a_path_may_have_a_plus_in_it(tmp_path):
    (tmp_path / "c++").mkdir()
    assert strategy(written(tmp_path / "c++", GOOD)).name == "shark-3"


def test_other_names_stay_as_they_are():
    assert from_file("tunnel+ariadne") == ("tunnel+ariadne", {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("strategy =", "not valid TOML"),
        ("a = 1", 'has strategy = "evolved"'),
        ("strategy = 3", 'has strategy = "evolved"'),
        ('strategy = "other.toml"', 'has strategy = "evolved"'),
        ('strategy = "evolved"\nconstants = 3', 'has strategy = "evolved"'),
        ('strategy = "evolvd"', "did you mean 'evolved'"),
        ('strategy = "evolved"\n[constants]\n"evolved.hubb" = 1', r"did you mean 'evolved\.hub'"),
        ('strategy = "evolved"\n[constants]\n"evolved.hub" = -1', r"evolved\.hub is -1"),
        ('strategy = "evolved"\n[constants]\n"evolved.hub" = "much"', "must be of the same type as"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_name(tmp_path, text, told):
    name = written(tmp_path, text)
    with pytest.raises(ConfigError, match=told) as caught:
        strategy(name)
    assert "best.toml" in str(caught.value)


def test_files_that_are_none(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.toml: the file with the strategy cannot be read: No such file"):
        strategy(str(tmp_path / "none.toml"))
    (tmp_path / "huge.toml").write_bytes(b"#" * (1 << 21))
    with pytest.raises(ConfigError, match="too large"):
        strategy(str(tmp_path / "huge.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not valid TOML"):
        strategy(str(tmp_path / "binary.toml"))
