"""What a person asks of a crawl is done by the crawl, said, kept over kills, and can be undone."""

from __future__ import annotations

import json

import pytest

from lycosa.crawl.commands import LIVE, Commands, checked_pattern
from lycosa.errors import ConfigError
from lycosa.store.rows import Batch, Command
from lycosa.store.sqlite import SqliteStore

SEED = "http://a.test/"
HOSTS = ("a", "b", "c")
ALL = 25
"""Number of pages."""


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def web(html):
    """A page that links to four on each of three hosts, which link to four more each."""
    first = [f"http://{host}.test/{number}" for host in HOSTS for number in range(4)]
    pages = {SEED: html(*first, text="cycling")}
    for url in first:
        pages[url] = html(f"{url}x", "http://b.test/new", text="cycling tour")
        pages[f"{url}x"] = html(text="end")
    return pages


class Asked:
    """A rig whose crawl looks for commands after every turn. `says` maps a number of pages to commands given then."""

    def __init__(self, rig) -> None:
        self.rig = rig
        self.commands: Commands | None = None
        self.turns = 0

    def say(self, kind: str, target: object = "") -> int:
        """As another process does; the number of the command."""
        other = SqliteStore(self.rig.directory / "crawl.db")
        other.write(Batch(commands=[(self.rig.clock.now(), kind, str(target))]))
        number = other.commands()[-1].id
        other.close()
        return number

    def crawl(self, *seeds: str, says=None, also=lambda: None, kill_at: int = 0, **more) -> str:
        rig, says = self.rig, dict(says or {})

        def begin() -> None:
            self.commands = Commands(ledger=rig.ledger, stop=rig.stop, clock=rig.clock, visitor=rig.visitor)
            self.commands.begin()

        def watch() -> None:
            self.turns += 1
            for count in [count for count in says if rig.ledger.pages >= count]:
                for kind, *target in says.pop(count):
                    self.say(kind, *target)
            if kill_at and rig.ledger.pages >= kill_at:
                raise Killed
            also()
            self.commands.look()
            if self.turns > 5_000:
                raise AssertionError("the crawl does not end")

        try:
            return rig.crawl(*seeds, begin=begin, watch=watch, is_killed=bool(kill_at), **more)
        except Killed:
            return "killed"

    def results(self) -> list[str]:
        return [row.result for row in self.rig.store.commands()]


@pytest.fixture
def asked(rig, web):
    return Asked(rig(web))


def of_host(asked: Asked, host: str) -> list[str]:
    return [url for url in asked.rig.asked if url.startswith(f"http://{host}.test")]


def test_a_pause_leases_nothing_until_it_is_resumed(asked):
    rig = asked.rig
    counts: list[int] = []
    resumed: list[float] = []

    def after_each_turn() -> None:
        if rig.stop.is_paused:
            counts.append(rig.ledger.pages)
            if len(counts) == 50:
                resumed.append(rig.clock.now())
                asked.say(Command.RESUME)

    reason = asked.crawl(SEED, says={3: [(Command.PAUSE,)]}, also=after_each_turn, seconds=20)
    assert "frontier empty" in reason  # the pause has not used up its time
    assert counts[-1] == counts[5]  # what was under way was finished; nothing more was begun
    assert not [at for _, at in rig.fetcher.asked if resumed[0] - 20 < at < resumed[0]]
    assert len(rig.pages) == ALL


def test_stop_ends_the_run_and_lapses_with_it(asked):
    reason = asked.crawl(SEED, says={5: [(Command.STOP,)]})
    assert reason == "stopped from the dashboard"
    fetched = len(asked.rig.pages)
    assert fetched < ALL
    asked.say(Command.STOP)  # nobody runs: it must not stop the next run
    assert "frontier empty" in asked.crawl()
    assert asked.results()[-1].startswith("lapsed")
    assert len(asked.rig.pages) == ALL


def test_an_excluded_host_is_not_asked_again_neither_for_old_links_nor_for_new_ones(asked):
    asked.crawl(SEED, says={1: [(Command.EXCLUDE, "b.test")]})
    assert len(of_host(asked, "b")) <= 1  # what was under way
    assert asked.rig.state("http://b.test/new") == "excluded"  # found later
    row = asked.rig.row("http://b.test/3")
    assert (row["state"], row["reason"], row["detail"]) == ("excluded", "excluded by a person", "b.test")
    assert len(of_host(asked, "c")) == 8


def test_what_was_under_way_when_it_was_excluded_is_not_tried_again(asked):
    rig, turns = asked.rig, []

    def as_if_a_fetch_took_long() -> None:
        turns.append(rig.clock.now())
        if len(turns) == 1:
            assert rig.frontier.take(rig.row("http://b.test/3")["id"], rig.clock.now())
            asked.say(Command.EXCLUDE, "b.test")
        elif len(turns) == 12:
            assert rig.state("http://b.test/2") == "excluded"
            assert rig.state("http://b.test/3") == "waiting"  # it is under way
            rig.frontier.release(rig.row("http://b.test/3")["id"], tries=1)

    asked.crawl(SEED, also=as_if_a_fetch_took_long)
    assert of_host(asked, "b") == []
    assert rig.state("http://b.test/3") == "excluded"


def test_an_exclusion_survives_a_kill_and_is_undone_with_what_it_took_out(asked):
    asked.crawl(SEED, says={1: [(Command.EXCLUDE, "b.test")]}, kill_at=6)
    asked.crawl()
    assert len(of_host(asked, "b")) <= 1
    asked.say(Command.UNDO, 1)
    asked.crawl()
    # 4 pages with one more each; /new was found while it was excluded, and is not there
    assert len(set(of_host(asked, "b"))) == 9
    assert asked.results()[-1].endswith("links wait again")


def test_a_dropped_link_waits_again_once_it_is_found_again(asked, html):
    asked.rig.web["http://a.test/0x"] = html("http://c.test/3", text="end")
    asked.crawl(SEED, says={1: [(Command.DROP, "http://c.test/*")]}, width=1)
    assert "http://c.test/3" in asked.rig.asked
    assert asked.rig.state("http://c.test/2") == "dropped"


def test_dropped_links_are_taken_in_again(asked):
    asked.crawl(SEED, says={1: [(Command.DROP, "c.test")], 4: [(Command.UNDO, 1)]})
    assert len(set(of_host(asked, "c"))) == 8


def test_raised_links_come_first_also_after_a_kill(asked):
    asked.crawl(SEED, says={1: [(Command.RAISE, "c.test")]}, width=1, kill_at=3, delay=0.0)
    raised = [url for (url,) in asked.rig.sql("select url from frontier where reason = 'raised by a person'")]
    assert all(url.startswith("http://c.test") for url in raised)
    assert raised
    asked.crawl(width=1, delay=0.0)
    order = asked.rig.asked
    last_raised = max(order.index(f"http://c.test/{number}") for number in range(4))
    assert last_raised <= 6  # one may have been under way before the command, and one is asked again after the kill


def test_raised_links_are_put_back(asked):
    asked.crawl(SEED, says={1: [(Command.RAISE, "c.test"), (Command.UNDO, 1)]}, width=1, delay=0.0)
    assert asked.results()[0] == "4 waiting links come first"
    assert asked.results()[1] == "4 links wait for their own turn again"
    order = asked.rig.asked
    assert order.index("http://a.test/1") < order.index("http://c.test/0")


def test_what_makes_no_sense_is_refused_and_the_crawl_goes_on(asked):
    asked.crawl(SEED, says={1: [(Command.EXCLUDE, "re:.*"), ("dance",), (Command.UNDO, 7), (Command.UNDO, "x")]})
    assert all(result.startswith("refused") for result in asked.results())
    assert len(asked.rig.pages) == ALL


def test_commands_given_before_a_run_are_carried_out_when_it_begins(asked):
    asked.crawl(SEED, pages=1)
    asked.say(Command.EXCLUDE, "b.test")
    asked.crawl(width=1)
    assert of_host(asked, "b") == []
    events = asked.rig.sql("select message from events where kind = 'command'")
    assert events[-1][0].startswith("exclude b.test: 4 waiting links left the queue")


def test_the_figures_of_a_running_crawl_are_written_down(asked):
    asked.crawl(SEED, says={5: [(Command.PAUSE,), (Command.STOP,)]})
    live = json.loads(asked.rig.store.state(LIVE))
    assert live["is_paused"]
    assert live["pages"] == len(asked.rig.pages)
    assert live["waiting"] > 0


def test_a_pattern_is_checked_before_it_is_stored():
    assert checked_pattern("*.test") == "*.test"
    with pytest.raises(ConfigError, match="regular expression"):
        checked_pattern("re:x")
