"""Results and worlds are kept for the version of the code that made them, and no other."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import code_version as versions
import common
import kept_worlds
import pytest
from code_version import code_version, files_behind, imported_by, meaning_of, source_of

from lycosa.judges.table import classifier_class
from lycosa.lab.replay.compare import compare


@pytest.fixture
def version(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The version of all code; to be changed."""
    now = ["1"]
    monkeypatch.setattr(common, "code_version", lambda _: now[0])
    monkeypatch.setattr(kept_worlds, "code_version", lambda _: now[0])
    return now


class Making:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> int:
        self.times += 1
        return self.times


class TestResults:
    def test_they_are_made_once_for_each_key(self, tmp_path: Path, version: list[str]) -> None:
        results, make = common.Results("x", tmp_path), Making()
        assert [results.kept("one", key, make) for key in ("a", "b", "a")] == [1, 2, 1]
        assert common.Results("x", tmp_path).kept("one", "b", make) == 2

    def test_other_code_makes_them_anew_and_leaves_nothing_behind(
        self, tmp_path: Path, version: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        results, make = common.Results("x", tmp_path), Making()
        results.kept("one", "a", make)
        results.kept("two", "b", make)
        version[0] = "2"
        assert results.kept("one", "a", make) == 3
        assert capsys.readouterr().out.splitlines() == ["one", "two", "one: anew, since the code has changed"]
        assert len(list(tmp_path.iterdir())) == 2
        version[0] = "1"
        assert results.kept("two", "b", make) == 2

    def test_one_that_fails_is_not_kept(self, tmp_path: Path, version: list[str]) -> None:
        results = common.Results("x", tmp_path)
        with pytest.raises(ZeroDivisionError):
            results.kept("one", "a", lambda: 1 // 0)
        assert results.kept("one", "a", lambda: 7) == 7


class TestWorlds:
    def test_they_are_built_anew_for_other_code_and_for_another_key(self, tmp_path: Path, version: list[str]) -> None:
        target = tmp_path / "deep" / "w.world"
        make = lambda path: path.write_text(path.read_text() + "." if path.exists() else ".")  # noqa: E731
        for changed, key, built in (
            ("1", "", "."),
            ("1", "", "."),
            ("2", "", ".."),
            ("2", "k", "..."),
            ("2", "k", "..."),
        ):
            version[0] = changed
            assert kept_worlds.made_once(target, make, key=key).read_text() == built

    def test_one_that_was_interrupted_is_built_again(self, tmp_path: Path, version: list[str]) -> None:
        target = tmp_path / "w.world"

        def interrupted(path: Path) -> None:
            path.write_text("half")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            kept_worlds.made_once(target, interrupted)
        assert kept_worlds.made_once(target, lambda path: path.write_text("whole")).read_text() == "whole"


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository: an experiment that imports a package."""
    (tmp_path / "src" / "lib" / "inner").mkdir(parents=True)
    (tmp_path / "experiments").mkdir()
    files = {
        "src/lib/__init__.py": "from lib.unused import x",
        "src/lib/used.py": "from lib import deeper\nimport numpy\nTABLE = 'table.txt'",
        "src/lib/deeper.py": "VALUE = 1",
        "src/lib/unused.py": "x = 1",
        "src/lib/table.txt": "words",
        "src/lib/inner/__init__.py": "",
        "src/lib/inner/names.py": "from importlib import import_module",
        "src/lib/inner/named.py": "y = 1",
        "experiments/paper.py": "from lib.used import TABLE\nfrom lib import __version__\nimport others",
        "experiments/others.py": "def f():\n    from lib.inner.names import z",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    monkeypatch.setattr(versions, "HOMES", (tmp_path / "src", tmp_path / "experiments"))
    return tmp_path


class TestVersion:
    def version(self, code: Path) -> str:
        versions._version_of.cache_clear()
        return versions._version_of(code / "experiments" / "paper.py")

    def test_what_counts(self, code: Path) -> None:
        found = {str(path.relative_to(code)) for path in files_behind(code / "experiments" / "paper.py")}
        assert found == {
            "experiments/paper.py",
            "experiments/others.py",
            "src/lib/used.py",
            "src/lib/deeper.py",
            "src/lib/table.txt",
            "src/lib/inner/__init__.py",
            "src/lib/inner/names.py",
            "src/lib/inner/named.py",
        }

    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("src/lib/deeper.py", "VALUE = 2"),
            ("src/lib/table.txt", "other words"),
            ("src/lib/inner/named.py", "y = 2"),
            ("experiments/others.py", "def f():\n    return 1"),
        ],
    )
    def test_a_change_of_code_is_another_version(self, code: Path, file: str, text: str) -> None:
        before = self.version(code)
        (code / file).write_text(text)
        assert self.version(code) != before

    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("src/lib/deeper.py", '"""About it."""\n\nVALUE = 1  # one\n"""The value."""\n'),
            ("src/lib/unused.py", "x = 2"),
            ("src/lib/__init__.py", "import os"),
        ],
    )
    def test_words_and_what_is_not_used_do_not_matter(self, code: Path, file: str, text: str) -> None:
        before = self.version(code)
        (code / file).write_text(text)
        assert self.version(code) == before

    def test_libraries_count(self, code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = self.version(code)
        monkeypatch.setattr(versions, "version", lambda name: "99" if name == "numpy" else "1")
        assert self.version(code) != before

    def test_of_a_function_its_module_counts(self) -> None:
        assert source_of(partial(partial(compare, 1), 2)) == source_of(compare)
        assert code_version(compare) != code_version(classifier_class)
        assert code_version(compare) == code_version(partial(compare))

    def test_what_is_imported_by_name_counts_in_this_repository(self) -> None:
        found = {path.name for path in imported_by(source_of(classifier_class))}
        assert {"svm.py", "bayes.py", "knn.py", "weighted_keywords.py"} <= found

    def test_documentation_is_no_code(self, tmp_path: Path) -> None:
        one, other = tmp_path / "a.py", tmp_path / "b.py"
        one.write_text('def f():\n    """Text."""\n    return "text"\n')
        other.write_text('def f():\n    return "other"\n')
        assert "Text." not in meaning_of(one)
        assert meaning_of(one) != meaning_of(other)
