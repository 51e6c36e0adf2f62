"""The list of commands, and what starting the command line costs."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from lycosa.cli import COMMANDS

HEAVY = ("numpy", "scipy", "sklearn", "numba", "pycurl", "pydantic", "lycosa.engine")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_has_the_first_line_of_each_commands_help(name):
    module = importlib.import_module(f"lycosa.cli.{name}")
    text = module.app.info.help if hasattr(module, "app") else getattr(module, name).__doc__
    assert COMMANDS[name] == text.strip().splitlines()[0]


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_no_heavy_library_is_imported_for_it(option):
    code = f"""
import sys
sys.argv = ["lycosa", "{option}"]
from lycosa.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_misspelt_command():
    done = subprocess.run([sys.executable, "-c", "from lycosa.cli import main; main()", "crwl"], capture_output=True)
    assert done.returncode == 2
    assert b"did you mean 'crawl'?" in done.stderr
