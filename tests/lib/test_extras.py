"""Packages of extras: one line that names the extra where one is missing, and none of them in a crawl."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lycosa.errors import InputError
from lycosa.lib.extras import required

CRAWL = """
import sys
for name in ("numba", "llvmlite", "scipy", "sklearn"):
    sys.modules[name] = None   # an import of it fails
import lycosa
from lycosa.model import Fetched

class Shop:
    async def fetch(self, lease):
        number = int(lease.url.rpartition("/")[2])
        links = "".join(f'<a href="http://a.test/{at}">bicycle {at}</a> ' for at in range(number, number + 5))
        return Fetched.page(lease, f"<title>Cycling {number}</title><p>Bicycles and touring number {number}. {links}")

crawl = lycosa.Crawl(
    "recreational cycling", seeds=["http://a.test/0", "http://a.test/1"], directory=sys.argv[1], fetcher=Shop(),
    politeness={"delay": 0.0, "fetch_time_factor": 0.0}, readers={"count": 1},
)
crawl.run(pages=8)
print(crawl.config.strategy, len(list(crawl.report().rows(text=False))))
"""


def test_what_is_there() -> None:
    assert required("json", extra="learn", what="nothing").loads("1") == 1


def test_what_is_missing_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(InputError, match=r"^training an SVM needs scikit-learn: pip install 'lycosa\[learn\]'$"):
        required("sklearn.svm", extra="learn", what="training an SVM")


def test_a_crawl_needs_none_of_them(tmp_path) -> None:
    command = [sys.executable, "-c", CRAWL, str(tmp_path / "crawl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert done.stdout.split() == ["hunter", "8"], done.stderr
