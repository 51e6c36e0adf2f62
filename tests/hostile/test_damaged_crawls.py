"""A crawl's database that was edited, or that the disk has damaged: what is wrong is named, and nothing hangs."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import lycosa as library
from loopback import lycosa
from lycosa.model import Fetched, Lease

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n"
URL = "http://a.test/1"

VALUES = {
    "text for a time": "update hosts set ready_at = 'soon'",
    "a time without end": "update hosts set ready_at = 9e999",
    "a blob for a count": "update hosts set failures = x'00ff'",
    "a count below zero": "update hosts set failures = -5",
    "text for a delay": "update hosts set crawl_delay = 'long'",
    "text for a score": "update frontier set score = 'high' where id = 3",
    "a score without end": "update frontier set score = -9e999 where id = 3",
    "a state nobody knows": "update frontier set state = 'asleep' where id = 2",
    "a host that is not there": "update frontier set host_id = 99 where id = 2",
    "a number out of reach": "update frontier set host_id = 1 << 60 where id = 2",
    "a link numbered far away": "update frontier set id = 1 << 40 where id = 5",
    "a host numbered far away": "update hosts set id = 1 << 40",
    "text for a hash": "update frontier set hash = 'x' where id = 2",
    "a URL that is a blob": "update frontier set url = x'ff00' where id = 2",
    "text for a distance": "update frontier set distance = 'far' where id = 2",
    "a page of no URL": "update pages set id = 777 where number = 2",
    "pages numbered twice as far": "update pages set number = number + 100",
    "text for a fingerprint": "update pages set fingerprint = 'same'",
    "a relevance of 7": "update judgements set relevance = 7 where page_id = 1",
    "text for a relevance": "update judgements set relevance = 'very' where page_id = 1",
    "half a document of scores": "update judgements set scores = '{\"a\": '",
    "a list of terms": "update judgements set terms = '[1]'",
    "a kind nobody knows": "update outcomes set kind = 'eaten'",
    "text for a time of an outcome": "update outcomes set at = 'then'",
    "robots.txt in no state": "update robots set state = 'maybe'",
    "half a document about robots.txt": "update robots set details = '{'",
    "text for an expiry": "update robots set expires_at = 'never'",
    "half an archive position": "update state set value = '[\"x' where name = 'archive'",
    "half an outlook": "update state set value = '{' where name = 'outlook'",
    "an endless view": f"drop view sites; create view sites as {ENDLESS}",
    "an endless table": f"alter table hosts rename to gone; create view hosts as {ENDLESS}",
    "a table that is missing": "drop table judgements",
    "a column that is missing": "alter table links drop column other_anchors",
    "a trigger": "create trigger t after insert on outcomes begin delete from pages; end",
}
COMMANDS = {
    "status": lambda directory: ("status", directory),
    "explain": lambda directory: ("explain", directory, URL),
    "export": lambda directory: (
        "export",
        directory,
        "--to",
        directory / "pages.jsonl",
        "--to",
        directory / "sites.csv",
    ),
    "distill": lambda directory: ("distill", directory),
}


class Pages:
    """Twelve pages that link to each other."""

    async def fetch(self, lease: Lease) -> Fetched:
        number = int(lease.url.rpartition("/")[2] or 0)
        links = "".join(f'<a href="/{(number * 2 + step) % 12}">link</a>' for step in (1, 2, 3))
        return Fetched.page(lease, f"<title>{number}</title><p>recreational cycling number {number}</p>{links}")


def make(directory: Path) -> library.Crawl:
    return library.Crawl(
        "recreational cycling",
        seeds=["http://a.test/0"],
        directory=directory,
        strategy="best-first",
        fetcher=Pages(),
        politeness={"delay": 0.0, "fetch_time_factor": 0.0},
        readers={"count": 1},
        archive={"is_on": True},
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of eight of the pages."""
    directory = tmp_path_factory.mktemp("whole") / "crawl"
    make(directory).run(pages=8)
    with closing(sqlite3.connect(directory / "crawl.db", isolation_level=None)) as db:
        db.execute("insert into robots values ('http://a.test', 'rules', 200, '', 0, '', 1.0, 2e9, '{}')")
        db.execute("pragma wal_checkpoint(truncate)")
    return directory


@pytest.fixture
def crawl(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "crawl"))


def edit(directory: Path, script: str) -> None:
    with closing(sqlite3.connect(directory / "crawl.db")) as db:
        db.executescript(script)


def test_a_whole_crawl_is_whole(crawl):
    result = lycosa("check", crawl)
    assert (result.returncode, result.stdout) == (0, f"{crawl}: whole\n")


@pytest.mark.parametrize("damage", VALUES)
def test_damage_is_named_by_check_and_by_nobody_in_a_traceback(crawl, damage):
    edit(crawl, VALUES[damage])
    checked = lycosa("check", crawl)
    assert checked.returncode == 1
    assert "damaged" in checked.stdout
    for words in COMMANDS.values():
        result = lycosa(*words(crawl))  # an exception that is not turned into words would end the test
        assert result.returncode in (0, 2)


@pytest.mark.parametrize(
    "damage", ["text for a fingerprint", "a host numbered far away", "an endless table", "half an archive position"]
)
def test_a_crawl_does_not_go_on_with_it(crawl, damage):
    edit(crawl, VALUES[damage])
    with pytest.raises(library.LycosaError, match="damaged"):
        make(crawl).run(pages=12)


MENDED = [
    "text for a time", "a score without end", "a state nobody knows", "half a document of scores",
    "robots.txt in no state", "half an archive position", "text for a fingerprint", "a kind nobody knows",
]  # fmt: skip


@pytest.mark.parametrize("damage", [name for name, script in VALUES.items() if "update" in script])
def test_what_can_be_mended_is(crawl, damage):
    edit(crawl, VALUES[damage])
    before = lycosa("check", crawl)
    after = lycosa("check", crawl, "--repair")
    assert (crawl / "crawl.db.damaged-1").exists()
    if "restore crawl.db from a copy" in before.stdout:
        assert "restore crawl.db from a copy" in after.stdout
        assert damage not in MENDED
    else:
        assert "mended" in after.stdout
        assert after.returncode == 0, after.stdout


@pytest.mark.parametrize("damage", ["half an archive position", "text for a fingerprint"])
def test_a_mended_crawl_goes_on(crawl, damage):
    edit(crawl, VALUES[damage])
    lycosa("check", crawl, "--repair")
    make(crawl).run(pages=12)
    assert '"pages": 12' in lycosa("status", crawl, "--json").stdout
    assert lycosa("check", crawl).returncode == 0


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bits_and_missing_ends(crawl, seed):
    path, some = crawl / "crawl.db", random.Random(seed)
    data = bytearray(path.read_bytes())
    if seed % 2:
        data = data[: len(data) * (seed + 1) // 8]
    for _ in range(200):
        data[some.randrange(100, len(data))] ^= 1 << some.randrange(8)
    path.write_bytes(data)
    for words in (("check", crawl), *(words(crawl) for words in COMMANDS.values())):
        assert lycosa(*words).returncode in (0, 1, 2)


class TestArchive:
    def test_a_file_that_is_missing_or_too_short(self, crawl):
        (archived,) = (crawl / "archive").iterdir()
        archived.write_bytes(archived.read_bytes()[:2000])
        result = lycosa("check", crawl)
        assert result.returncode == 1
        assert "committed bytes are missing" in result.stdout
        archived.unlink()
        assert lycosa("check", crawl).returncode == 1
        lycosa("check", crawl, "--repair")
        assert "cannot read" not in lycosa("check", crawl).stdout

    def test_a_record_of_another_page(self, crawl):
        edit(crawl, "update pages set archive_offset = (select archive_offset from pages where number = 1)")
        result = lycosa("check", crawl)
        assert result.returncode == 1
        assert "holds http://a.test/" in result.stdout
