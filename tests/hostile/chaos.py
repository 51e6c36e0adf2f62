"""Crawls to which everything is done that can be done to a process; whether they keep what they promise.

    python -m hostile.chaos --kills 200 --output ../out/chaos        # in tests/; or: make chaos KILLS=200

An episode crawls a generated web to its end. On the way its process is killed (SIGKILL), stopped and continued, loses
its readers, meets a full disk or files that have become read-only, or finds the machine's clock set, each at a random
moment. Some crawls distil hubs on the way, some are told by a person which pages are useful, and some are refreshed at
their end, under the same disturbances. Afterwards, database, archive and the server's log are checked (`promises`), and
`lycosa check` has to find the crawl whole.

Every finished episode is a line of results.jsonl: the same command goes on after the last one until there are enough
kills, and Ctrl-C loses at most the episode under way.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np

from hostile.episodes import Result, run_episodes
from hostile.promises import (
    check_archive,
    check_nothing_lost,
    check_politeness,
    check_refreshed,
    fetched_urls,
    left_out,
)
from lycosa.crawl.reader_limits import die_with_parent
from lycosa.lab.generated.web import GeneratedWeb, WebPlan

TESTS = Path(__file__).parents[1]
DELAY = 0.05
STRATEGIES = ("hunter", "best-first", "breadth-first", "shark", "infospiders", "pagerank", "tunnel+best-first")
COMPANIONS = ("", "distillation", "feedback", "refresh")
"""What else happens in an episode. All pairs of strategy and companion come up: 7 and 4 have no common divisor."""
DISTURBANCES = ("kill", "kill", "kill", "kill", "stop", "readers", "full disk", "read-only", "clock")
"""How often each comes up. All but `full disk` and `read-only` end in a kill, unless the crawl has ended before."""
KILLS_AN_EPISODE = 12
KILLS_A_REFRESH = 3
LONGEST_WAIT = 20.0
"""Seconds for requests that a disturbance waits for."""
CLOCKS = (-86_400.0, -3_600.0, 3_600.0)
COMMAND = """
import os, signal, time
real, by = time.time, float(os.environ["CHAOS_CLOCK"])
time.time = lambda: real() + by

def make_read_only(*_):
    # What a file system that has become read-only does to files that are open: every write to them fails.
    for name in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink("/proc/self/fd/" + name)
            if path.startswith(os.environ["CHAOS_CRAWL"]):
                os.dup2(os.open(path, os.O_RDONLY), int(name))
        except OSError:
            pass  # it was closed, or deleted

signal.signal(signal.SIGUSR1, make_read_only)
from lycosa.cli import main
main()
"""


@contextmanager
def serving(plan: WebPlan, folder: Path) -> Iterator[dict[str, object]]:
    ready, log = folder / "ready.json", folder / "requests.jsonl"
    options = [f"--{name.replace('_', '-')}={getattr(plan, name)}" for name in ("seed", "pages", "hosts", "topics")]
    options += [f"--out-degree={plan.out_degree}", f"--crawl-delay={plan.crawl_delay}", "--addresses=6"]
    command = [sys.executable, "-m", "hostile.server", *options, f"--log={log}", f"--ready-file={ready}"]
    dies_with_us = partial(die_with_parent, os.getpid())
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=TESTS, preexec_fn=dies_with_us)
    try:
        while not ready.exists():
            assert process.poll() is None, "the server did not start"
            time.sleep(0.02)
        yield json.loads(ready.read_text())
    finally:
        process.terminate()
        process.wait()


def _web_with_seeds(seed: int) -> WebPlan:
    """Some webs are too small to have pages of the topic to start from; then another one will do."""
    while True:
        plan = WebPlan(seed=seed, pages=160, hosts=8, topics=3, out_degree=12, crawl_delay=0.1)
        with suppress(ValueError):
            GeneratedWeb(plan).seeds(0, 3, np.random.default_rng(3))
            return plan
        seed += 10_000


class Episode:
    """One crawl, and what is done to it."""

    def __init__(self, number: int, folder: Path) -> None:
        self.number = number
        self.folder = folder
        self.some = random.Random(number)
        self.strategy = STRATEGIES[number % len(STRATEGIES)]
        self.companion = COMPANIONS[number % len(COMPANIONS)]
        self.plan = _web_with_seeds(number + 1)
        self.done: Counter[str] = Counter()
        self.clock = 0.0
        self.started: list[subprocess.Popen[bytes]] = []

    def run(self) -> dict[str, object]:
        try:
            return self.go_through()
        finally:
            for process in self.started:  # Ctrl-C, or a broken promise
                process.kill()
                process.wait()

    def go_through(self) -> dict[str, object]:
        with serving(self.plan, self.folder) as facts:
            web = GeneratedWeb(self.plan)
            seeds = web.seeds(0, 3, np.random.default_rng(3))
            urls = [web.url(page, port=facts["port"]) for page in seeds]
            command = self.command(web, urls, facts["overrides"])
            self.disturb_often(command, kills=KILLS_AN_EPISODE)
            self.finish(command)
            fetched = fetched_urls(self.crawl / "crawl.db")
            check_nothing_lost(web, seeds, fetched, left_out(self.crawl / "crawl.db"))
            check_archive(self.crawl / "archive", fetched)
            if self.companion == "refresh":
                again = [sys.executable, "-c", COMMAND, "refresh", str(self.crawl), "--all", "--quiet"]
                self.disturb_often(again, kills=self.done["kills"] + KILLS_A_REFRESH)
                self.finish(again)
                check_refreshed(self.crawl / "crawl.db", fetched)
                check_archive(self.crawl / "archive", fetched)
            requests = check_politeness(self.folder / "requests.jsonl", DELAY)
        checked = subprocess.run(
            [sys.executable, "-c", "from lycosa.cli import main; main()", "check", str(self.crawl)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert checked.returncode == 0, checked.stdout
        return {
            "episode": self.number, "strategy": self.strategy, "with": self.companion, "pages": len(fetched),
            "requests": requests, **self.done,
        }  # fmt: skip

    def disturb_often(self, command: list[str], *, kills: int) -> None:
        for _ in range(kills * 2):
            if self.done["kills"] >= kills or self.disturb(command, self.some.choice(DISTURBANCES)):
                break

    def finish(self, command: list[str]) -> None:
        code = self.start(command).wait(timeout=600)
        assert code == 0, f"the last run ended with {code}: {self.said()}"

    @property
    def crawl(self) -> Path:
        return self.folder / "crawl"

    def said(self) -> str:
        return (self.folder / "stderr").read_text(errors="replace")[-500:]

    def command(self, web: GeneratedWeb, urls: list[str], overrides: object) -> list[str]:
        assert isinstance(overrides, dict)
        lines = "\n".join(f'"{host}" = "{address}"' for host, address in overrides.items())
        # Hubs are not fetched again for new links: a page fetched twice could not be told from one counted twice.
        distill = "[distill]\nevery = 20\nrevisited = 0\n" if self.companion == "distillation" else ""
        config = self.folder / "settings.toml"
        config.write_text(
            f"[politeness]\ndelay = {DELAY}\nfetch_time_factor = 0.0\n[readers]\ncount = 1\n[budget]\npages = 100000\n"
            f'[stop]\nexpected_harvest = 0\n[network]\nallow = ["127.0.0.0/8"]\n[network.resolve]\n{lines}\n{distill}'
        )
        topic = self.interest(web) if self.strategy.startswith("tunnel+") else [web.topic_keywords(0)]
        words = [sys.executable, "-c", COMMAND, "crawl", *topic, "--quiet", "--strategy", self.strategy]
        return [*words, "-o", str(self.crawl), "-c", str(config), *(word for url in urls for word in ("--seed", url))]

    def interest(self, web: GeneratedWeb) -> list[str]:
        """A formula over topics of a book: tunnelling needs something that it can widen."""
        for page in range(len(web)):
            if (topic := web.topic_of(page)) >= 0:
                example = self.folder / "examples" / f"topic-{topic}" / f"{page}.html"
                example.parent.mkdir(parents=True, exist_ok=True)
                example.write_bytes(web.render(web.url(page)).body)
        book = str(self.folder / "topics.db")
        for words in (["import", str(self.folder / "examples"), "--book", book], ["train", "--book", book]):
            code = self.start([sys.executable, "-c", COMMAND, "topics", *words]).wait(timeout=600)
            assert code == 0, f"the topic book was not made: {self.said()}"
        constants = 'constants={"tunnel.session": 8}'
        return ["--interest", "topic-0 AND topic-1", "--book", book, "--set", constants]

    def start(self, command: list[str], *, room: int | None = None) -> subprocess.Popen[bytes]:
        """`room`: bytes to which a file may grow, after which the disk is full."""
        parent = os.getpid()

        def limit() -> None:
            die_with_parent(parent)  # Ctrl-C may come before we know what was started
            if room is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

        with (self.folder / "stderr").open("ab") as errors:
            environment = {**os.environ, "CHAOS_CLOCK": str(self.clock), "CHAOS_CRAWL": str(self.crawl)}
            process = subprocess.Popen(command, env=environment, stderr=errors, stdout=errors, preexec_fn=limit)
        self.started.append(process)
        return process

    def disturb(self, command: list[str], what: str) -> bool:
        """Whether the crawl came to its end all the same."""
        if what == "clock":
            self.clock = self.some.choice(CLOCKS)
        room = None
        if what == "full disk":
            sizes = [path.stat().st_size for path in self.crawl.rglob("*") if path.is_file()]
            room = max(sizes, default=50_000) + self.some.randrange(1, 200_000)
        process = self.start(command, room=room)
        self.wait_for_requests(process, self.some.randrange(0, 25))
        time.sleep(self.some.uniform(0, 0.05))
        if what == "readers":
            self.kill_readers(process.pid)
            self.wait_for_requests(process, 3)
        elif what == "stop":
            process.send_signal(signal.SIGSTOP)
            time.sleep(self.some.uniform(0.1, 1.0))
            process.send_signal(signal.SIGCONT)
            time.sleep(self.some.uniform(0, 0.3))
        elif what in ("full disk", "read-only"):
            if what == "read-only":
                process.send_signal(signal.SIGUSR1)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
        if self.companion == "feedback" and self.some.random() < 0.4:
            self.say_what_is_useful()
        self.done[what] += 1
        if process.poll() is None:
            self.done["kills"] += 1
            process.kill()
        return process.wait() == 0

    def say_what_is_useful(self) -> None:
        """A person marks a page, while the crawl runs or after it has ended, and may be killed in the middle."""
        try:
            with closing(sqlite3.connect(f"file:{self.crawl / 'crawl.db'}?mode=ro", uri=True)) as db:
                urls = [row[0] for row in db.execute("select f.url from pages p join frontier f on f.id = p.id")]
        except sqlite3.Error:
            return  # it was killed before there was a database
        if not urls:
            return
        option = self.some.choice(("--useful", "--not-useful"))
        words = ["feedback", str(self.crawl), option, self.some.choice(urls)]
        process = self.start([sys.executable, "-c", COMMAND, *words])
        try:
            process.wait(timeout=self.some.choice((60.0, self.some.uniform(0.5, 2.0))))
            self.done["feedback"] += 1
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.done["feedback killed"] += 1

    def wait_for_requests(self, process: subprocess.Popen[bytes], count: int) -> None:
        log = self.folder / "requests.jsonl"
        before = log.read_bytes().count(b"\n") if log.exists() else 0
        deadline = time.monotonic() + LONGEST_WAIT
        while process.poll() is None and time.monotonic() < deadline:
            if log.exists() and log.read_bytes().count(b"\n") >= before + count:
                return
            time.sleep(0.005)

    def kill_readers(self, parent: int) -> None:
        """The children of the process that we have started."""
        children = Path(f"/proc/{parent}/task/{parent}/children")
        with suppress(OSError):
            for pid in children.read_text().split():
                self.done["readers killed"] += 1
                os.kill(int(pid), signal.SIGKILL)


def main(words: list[str] | None = None) -> int:
    def episode(number: int, folder: Path) -> Result:
        return Episode(number, folder).run()

    return run_episodes(episode, words, name="chaos", about=__doc__.splitlines()[0], kills=1000)


if __name__ == "__main__":
    sys.exit(main())
