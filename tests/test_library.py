"""The crawler as a library: what docs/library.md and docs/extending.md promise, run against a generated web."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from threadpoolctl import threadpool_info, threadpool_limits

import lycosa
from hostile.server import running
from lycosa.errors import ConfigError, InputError, SeedError, WorkspaceError
from lycosa.lab.worlds.build import build_generated
from lycosa.lib.memory import GARBAGE

ROOT = Path(__file__).parents[1]
PUBLIC = """
Abilities Config Crawl Event Fetched Fetcher FoundPage FoundText Judge JudgeAbilities Judgement Lease Link LycosaError
Page Report Strategy StrategyParts Visit World __version__ compare search
"""


@pytest.fixture(scope="module")
def server(small_web):
    with running(small_web, addresses=len(small_web.hosts)) as server:
        yield server


@pytest.fixture
def seeds(server) -> list[str]:
    return [server.url(page) for page in (0, 1, 2)]


@pytest.fixture
def settings(server, tmp_path, monkeypatch) -> Path:
    """What LYCOSA_CONFIG names: the network of the generated web. The working directory is empty."""
    path = tmp_path / "settings.toml"
    network = {"allow": ["127.0.0.0/8"], "resolve": server.overrides()}
    politeness = {"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0}
    path.write_text(tomli_w.dumps({"network": network, "politeness": politeness, "readers": {"count": 1}}))
    monkeypatch.setenv("LYCOSA_CONFIG", str(path))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return path


class Mine:
    name = "mine"

    def judge(self, page):
        return float("a" in page.text)


def test_the_public_names_are_these_and_documented():
    assert sorted(lycosa.__all__) == PUBLIC.split()
    assert dir(lycosa) == sorted(lycosa.__all__)
    text = "".join((ROOT / "docs" / name).read_text() for name in ("library.md", "extending.md", "glossary.md"))
    for name in PUBLIC.split():
        assert getattr(lycosa, name) is not None
        assert name == "__version__" or f"{name}" in text, f"{name} is not documented"
    with pytest.raises(AttributeError, match="has no attribute 'Crwl'"):
        lycosa.Crwl  # noqa: B018


def test_importing_it_is_cheap():
    code = "import sys, lycosa; print([n for n in ('numpy', 'scipy', 'numba', 'pydantic') if n in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


class TestRun:
    def test_the_process_is_as_before_when_it_has_ended(self, seeds, settings):
        def state():
            pools = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
            return gc.get_threshold()[0], pools

        crawl, meanwhile = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling"), []
        crawl.listen(lambda _: meanwhile.append(state()))
        with threadpool_limits(limits=2, user_api="blas"):
            before = state()
            crawl.run(pages=3)
            assert state() == before
        assert {garbage for garbage, _ in meanwhile} == {GARBAGE}
        assert all(threads <= {1} for _, threads in meanwhile)

    def test_the_five_lines(self, seeds, settings):
        report = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling").run(pages=12)
        assert report.count == 12
        assert report.reason == "page budget: 12 of 12 pages fetched"
        assert str(report).startswith("12 pages, ")
        rows = list(report.rows())
        assert [row["number"] for row in rows] == list(range(1, 13))
        assert all(row["text"] and row["title"] for row in rows)
        assert sum(row["is_relevant"] for row in rows) == report.relevant == len(list(report.rows("relevant")))

    def test_the_same_directory_goes_on(self, seeds, settings):
        lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling").run(pages=5)
        again = lycosa.Crawl(directory="cycling")
        assert again.config.seeds == tuple(seeds)
        assert again.run(pages=9).count == 9
        assert lycosa.Crawl(directory="cycling").report().count == 9

    def test_in_a_thread(self, seeds, settings):
        reports = []
        crawl = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling")
        thread = threading.Thread(target=lambda: reports.append(crawl.run(pages=8)))
        thread.start()
        thread.join(60)
        assert reports[0].count == 8

    def test_in_a_running_event_loop(self, seeds, settings):
        async def go():
            crawl = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling")
            first = crawl.run(pages=4)
            second = await crawl.arun(pages=8)
            return first.count, second.count

        assert asyncio.run(go()) == (4, 8)

    def test_pages_as_they_come(self, seeds, settings):
        async def go():
            crawl = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling")
            found = []
            async for page in crawl.pages(pages=100):
                found.append(page)
                if len(found) == 3:
                    crawl.stop("enough")
            return found

        found = asyncio.run(go())
        assert 3 <= len(found) < 100
        assert [page.number for page in found] == list(range(1, len(found) + 1))
        assert all(page.text for page in found)
        with sqlite("cycling") as db:
            assert db.execute("select stop_reason from runs").fetchall() == [("enough",)]

    def test_leaving_the_iteration_loses_nothing(self, seeds, settings):
        async def go():
            async for page in lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling").pages(pages=100):
                if page.number == 3:
                    break

        asyncio.run(go())
        assert lycosa.Crawl(directory="cycling").report().count >= 3
        assert lycosa.Crawl(directory="cycling").run(pages=20).count == 20

    def test_two_runs_at_once_are_refused(self, seeds, settings):
        async def go():
            crawl = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling")
            await asyncio.gather(crawl.arun(pages=30), crawl.arun(pages=30))

        with pytest.raises(lycosa.LycosaError, match="is running already"):
            asyncio.run(go())


def sqlite(directory: str):
    return contextlib.closing(sqlite3.connect(Path(directory) / "crawl.db"))


class TestStopping:
    def test_from_another_thread(self, seeds, settings):
        crawl = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling")
        crawl.listen(lambda event: crawl.stop("enough") if event.kind == "page" and event.page.number == 3 else None)
        report = crawl.run(pages=100)
        assert report.reason == "enough"
        assert 3 <= report.count < 100

    @pytest.mark.parametrize("where", ["script", "loop"])
    def test_ctrl_c(self, seeds, settings, where):
        """In a script, and where a loop is running already, as in a notebook: it stops in order."""
        call = "crawl.run(pages=100000)" if where == "script" else "asyncio.run(inside())"
        code = f"""
import asyncio, lycosa
crawl = lycosa.Crawl("recreational cycling", seeds={seeds!r}, directory="cycling", politeness={{"delay": 0.3}})
crawl.listen(lambda event: print(event.kind, flush=True))
async def inside(): return crawl.run(pages=100000)
print({call}.reason)
"""
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line == "page\n":
                    break
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            assert process.wait(60) == 0
        assert rest.endswith("interrupted by Ctrl-C\n")

    def test_whoever_handled_signals_before_does_so_afterwards(self, seeds, settings):
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        try:
            own = signal.getsignal(signal.SIGTERM)
            lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling").run(pages=3)
            assert signal.getsignal(signal.SIGTERM) is own
        finally:
            signal.signal(signal.SIGTERM, before)


class TestEvents:
    def test_pages_progress_changes_and_the_end(self, seeds, settings):
        events: list[lycosa.Event] = []
        crawl = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling")
        crawl.listen(events.append)
        report = crawl.run(pages=30)
        pages = [event.page for event in events if event.kind == "page"]
        assert [page.number for page in pages] == list(range(1, 31))
        assert not any(page.text for page in pages)  # nobody asked for it
        assert any(event.figures["pages"] > 0 for event in events if event.kind == "progress")
        assert any("what it is about" in event.message for event in events if event.kind == "judge")
        assert events[-1] == lycosa.Event("end", report.reason)


class TestOnesOwn:
    def test_a_judge_object(self, seeds, settings):
        report = lycosa.Crawl(judge=Mine(), strategy="best-first", seeds=seeds, directory="mine").run(pages=6)
        assert report.relevant == 6
        with sqlite("mine") as db:
            assert db.execute("select distinct judge from judgements").fetchall() == [("mine",)]

    def test_such_a_crawl_goes_on_only_with_its_judge(self, seeds, settings):
        lycosa.Crawl(judge=Mine, strategy="best-first", seeds=seeds, directory="mine").run(pages=3)
        with pytest.raises(ConfigError, match=r"judge 'mine' is not known.*handed to lycosa.Crawl\(judge=…\) again"):
            lycosa.Crawl(directory="mine").run(pages=5)
        assert lycosa.Crawl(judge=Mine, directory="mine").run(pages=5).count == 5

    def test_what_is_no_judge(self, seeds):
        with pytest.raises(ConfigError, match=r"is no judge: it needs a name \(a text\) and a method judge\(page\)"):
            lycosa.Crawl(judge=object(), seeds=seeds, directory="x")

    def test_what_is_no_strategy(self, seeds, settings):
        class Half:
            name = "half"

        with pytest.raises(ConfigError, match=r"has no abilities, tell.*inherit from lycosa.Strategy"):
            lycosa.Crawl("x", strategy=Half, seeds=seeds, directory="x").run(pages=1)

    def test_classes_of_a_script_reach_the_readers(self, seeds, settings):
        """Defined in __main__, which the reader processes cannot import; and in a module beside the script."""
        Path("beside.py").write_text("def share(page):\n    return 1.0 if page.text else 0.0\n")
        Path("script.py").write_text(
            f"""
import lycosa, beside

class Own:
    name = "own"
    def judge(self, page):
        return beside.share(page)

if __name__ == "__main__":
    print(lycosa.Crawl(judge=Own(), strategy="best-first", seeds={seeds!r}, directory="own").run(pages=4).relevant)
"""
        )
        assert subprocess.check_output([sys.executable, "script.py"], text=True) == "4\n"

    def test_by_module_and_class_on_the_command_line(self, seeds, settings, monkeypatch):
        Path("orders.py").write_text(
            """
import lycosa, numpy as np

class Last(lycosa.Strategy):
    name = "last-first"
    def tell(self, visit, targets):
        return targets.astype(np.float64)

class Long:
    name = "long"
    def __init__(self, topic, threshold):
        self.topic = topic
    def judge(self, page):
        return 1.0 if len(page.text) > 10 and self.topic == "long pages" else 0.0
"""
        )
        command = [sys.executable, "-c", "from lycosa.cli import main; main()", "crawl", "long pages", "-o", "long"]
        command += ["--judge", "orders:Long", "--strategy", "orders:Last", "--pages", "5", "--json"]
        command += [word for seed in seeds for word in ("--seed", seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.splitlines()[-1])["relevant"] == 5
        with sqlite("long") as db:
            assert db.execute("select distinct judge from judgements").fetchall() == [("long",)]
        done = subprocess.run([*command, "--judge", "orders:Short"], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "'orders:Short' cannot be loaded: module 'orders' has no attribute 'Short'" in done.stderr

    def test_a_refused_strategy_changes_nothing(self, seeds, settings):
        lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling").run(pages=5)
        before = Path("cycling/lycosa.toml").read_text()
        with pytest.raises(ConfigError, match="was begun with strategy hunter and cannot go on with pagerank"):
            lycosa.Crawl(directory="cycling", strategy="pagerank").run(pages=8)
        assert Path("cycling/lycosa.toml").read_text() == before
        assert lycosa.Crawl(directory="cycling").run(pages=8).count == 8


class TestReport:
    def test_frames(self, seeds, settings):
        pandas = pytest.importorskip("pandas", reason="pandas is a development dependency")
        report = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling").run(pages=6)
        frame = report.pages(text=False)
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame["number"]) == [1, 2, 3, 4, 5, 6]
        assert "text" not in frame
        assert isinstance(report.pages(frame="rows"), list)

    def test_what_cannot_be(self, seeds, settings):
        report = lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling").run(pages=3)
        with pytest.raises(ConfigError, match="no 'best' pages: ask for 'all' or 'relevant'"):
            report.pages("best")
        with pytest.raises(ConfigError, match="no frame 'excel'"):
            report.pages(frame="excel")


class TestErrors:
    def test_nothing_to_go_by(self, settings):
        with pytest.raises(InputError, match="no topic is given"):
            lycosa.Crawl(directory="x")
        with pytest.raises(SeedError, match="nothing to start from"):
            lycosa.Crawl("recreational cycling")

    def test_another_topic(self, seeds, settings):
        lycosa.Crawl("recreational cycling", seeds=seeds, directory="cycling").run(pages=2)
        with pytest.raises(WorkspaceError, match="holds a crawl on 'recreational cycling', not on 'soup'"):
            lycosa.Crawl("soup", directory="cycling")

    def test_an_unknown_setting(self, seeds):
        with pytest.raises(ConfigError, match=r"settings: unknown setting 'politness'; did you mean 'politeness'\?"):
            lycosa.Crawl("soup", seeds=seeds, politness={"delay": 1})


def blocks(page: str) -> str:
    """The Python of a page of the documentation, as one program."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE))


class TestDocumentation:
    def test_library(self, seeds, settings, small_web, capsys):
        build_generated(small_web, Path("web.world"), is_rendered=True)
        code = blocks("library.md").replace('["https://en.wikipedia.org/wiki/Cycling"]', repr(seeds))
        space: dict[str, object] = {}
        exec(compile(code, "library.md", "exec"), space)
        found = asyncio.run(space["first_relevant"](2))  # type: ignore[operator]
        assert len(found) == 2
        assert "look-ahead" in capsys.readouterr().out

    def test_extending(self, seeds, settings):
        Path("extending.py").write_text(f"seeds = {seeds!r}\n{blocks('extending.md')}")
        done = subprocess.run([sys.executable, "extending.py"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def test_each_extension_is_under_thirty_lines(self):
        for block in re.findall(
            r"^```python\n(.*?)^```", (ROOT / "docs/extending.md").read_text(), re.DOTALL | re.MULTILINE
        ):
            assert block.count("\n") < 30

    def test_the_notebook(self, seeds, settings):
        nbformat = pytest.importorskip("nbformat", reason="nbformat is a development dependency")
        nbclient = pytest.importorskip("nbclient", reason="nbclient is a development dependency")
        notebook = nbformat.read(ROOT / "docs" / "library.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = cell.source.replace('["https://en.wikipedia.org/wiki/Cycling"]', repr(seeds))
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
        outputs = json.dumps(notebook.cells)
        assert "relevant (harvest rate" in outputs


def test_a_package_of_somebody_elses(seeds, settings, small_web, tmp_path):
    """Installed by pip into an environment of its own, with a judge and a strategy as entry points, used by name."""
    wheel = third_party_wheel(tmp_path)
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-c", "from lycosa.cli import main; main()"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([*command, *words], capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done

    options = [word for seed in seeds for word in ("--seed", seed)]
    run(
        "crawl",
        "anything",
        *options,
        "-o",
        "theirs",
        "--judge",
        "lengthy",
        "--strategy",
        "newest",
        "--pages",
        "6",
        "-q",
    )
    with sqlite("theirs") as db:
        assert db.execute("select distinct judge from judgements").fetchall() == [("lengthy",)]
    assert 'strategy = "newest"' in Path("theirs/lycosa.toml").read_text()
    build_generated(small_web, Path("web.world"), is_rendered=True)
    topic = lycosa.World.open(Path("web.world")).topics[0]
    compared = (
        "compare",
        "-w",
        "web.world",
        "-t",
        topic,
        "-s",
        "hunter,newest,theirs.order:Newest",
        "--judge",
        "contrast",
    )
    table = run(*compared, "--seeds", "3", "-n", "20", "-r", "1", "-p", "1", "--no-overlap").stdout
    assert "newest" in table
    run(*compared[:-1], "lengthy", "--seeds", "3", "-n", "20", "-r", "1", "-p", "1", "--no-overlap", "-o", "second")


def third_party_wheel(folder: Path) -> Path:
    files = {
        "theirs/__init__.py": "",
        "theirs/judge.py": (
            "class Lengthy:\n    name = 'lengthy'\n\n    def judge(self, page):\n"
            "        return min(1.0, sum(page.terms.values()) / 200)\n"
        ),
        "theirs/order.py": (
            "import lycosa\nimport numpy as np\n\n\nclass Newest(lycosa.Strategy):\n    name = 'newest'\n\n"
            "    def tell(self, visit, targets):\n        return targets.astype(np.float64)\n"
        ),
        "theirs-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n",
        "theirs-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "theirs-1.0.dist-info/entry_points.txt": (
            "[lycosa.judges]\nlengthy = theirs.judge:Lengthy\n\n[lycosa.strategies]\nnewest = theirs.order:Newest\n"
        ),
    }
    files["theirs-1.0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in files)
    path = folder / "theirs-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


def test_a_strategy_of_ones_own_in_a_comparison(small_web, tmp_path):
    class Backwards(lycosa.Strategy):
        name = "backwards"

        def tell(self, visit, targets):
            return targets.astype(np.float64)

    build_generated(small_web, tmp_path / "web.world", is_rendered=True)
    world = lycosa.World.open(tmp_path / "web.world")
    told: list[str] = []
    found = lycosa.compare(
        world, topics=world.topics[:2], strategies=[Backwards, "best-first"], pages=20, repeats=1, progress=told.append
    )
    assert told == list(world.topics[:2])
    means = found.means("harvest")
    assert set(means) == {"backwards", "best-first", "random", "look-ahead", "oracle"}
    assert means["look-ahead"] >= means["backwards"]
