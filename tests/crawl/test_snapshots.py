"""A crawl resumed from a snapshot goes on as one that was never killed; a snapshot that does not fit is not used."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from crawl.test_answers import CYCLING, JUDGED, SEEDS, Killed, Nobody
from crawl.test_answers import web as web
from lycosa.crawl import commit, rejudge, snapshots
from lycosa.crawl.answers import Answers, new_answers
from lycosa.crawl.reading import Reading
from lycosa.crawl.rejudge import JUDGED_AT, Learning, Rejudge
from lycosa.crawl.resume import NOTHING, Covered
from lycosa.crawl.snapshots import SNAPSHOT, Refused, Snapshotting, load
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.keywords import KeywordJudge
from lycosa.store.rows import Batch
from lycosa.store.sqlite import SqliteStore
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import strategy

ORDER = "select f.url from pages p join frontier f on f.id = p.id order by p.number"
WAITING = "select url, score from frontier where state = 'waiting' order by id"
SETTINGS = {"version": "1", "strategy": "hunter", "judge": {"kind": "contrast", "threshold": 0.5}}
WORDS = " ".join(CYCLING[:6])
STRATEGIES = (
    "hunter",
    "hard+hunter",
    "decay+hunter",
    "current-list+hunter",
    "ariadne",
    "evolved",
    "decay+breadth-first",
)


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Snapshots of crawls of a few pages."""
    monkeypatch.setattr(snapshots, "FIRST", 4)
    monkeypatch.setattr(snapshots, "MOST_TIME", 1e9)


class Crawl:
    """A rig with all that stands beside the loop and matters here."""

    def __init__(self, rig, judge, name: str = "hunter") -> None:
        self.rig = rig
        self.judge = judge
        self.name = name
        self.directory = rig.directory / "snapshots"
        self.study = None
        self.newer = None
        """Finds another version of a trained judge, after this one."""
        self.version = 0
        self.told = 0
        """Number of visits told by the last run before it began."""
        rig.reading = lambda: Reading(urls=rig.urls, judge=judge)

    def strategy(self) -> Strategy:
        begun = []

        def begin():
            begun.append(self.judge.study())
            return begun[0]

        parts = StrategyParts.of(self.judge.abilities, rng=np.random.default_rng(0))
        made = strategy(self.name, parts if parts.study is None else replace(parts, study=begin))
        self.study = begun[0] if begun else None
        return made

    def known(self, settings=SETTINGS) -> tuple[Strategy, Covered]:
        made = self.strategy()
        return made, load(made, self.rig.store, self.directory, settings)

    def crawl(self, *seeds: str, pages: int, kill_at: int = 0, says=None, covered=None, made=None) -> None:
        """Go on with what is known from a snapshot, unless it is given."""
        if made is None:
            made, covered = self.known()
        parts: list = []
        says = dict(says or {})

        def beside() -> tuple[Answers, Rejudge, Snapshotting]:
            rig, study = self.rig, self.study
            learning = Learning(study=study, threshold=self.judge.threshold, ledger=rig.ledger) if study else None
            judging = Rejudge(
                ledger=rig.ledger,
                readers=Nobody(),
                reading=rig.reading(),
                clock=rig.clock,
                learning=learning,
                newer=self.newer,
                version=self.version,
            )
            judging.begin()
            snapshotting = Snapshotting(
                ledger=rig.ledger,
                directory=self.directory,
                settings=lambda: {**SETTINGS, "trained judge": judging.version} if self.newer else SETTINGS,
                clock=rig.clock,
                covered=covered,
                judged=(lambda: study.judged_pages) if study else (lambda: judging.takeovers),
                is_judged_by_study=study is not None,
            )
            return Answers(ledger=rig.ledger, clock=rig.clock, learn=judging.hurry), judging, snapshotting

        def look() -> None:
            if not parts:
                parts.extend(beside())
            for part in parts:
                part.look()
            self.settle(parts[2])
            if self.rig.ledger.pages in says:
                self.say(says.pop(self.rig.ledger.pages))
            if kill_at and self.rig.ledger.pages >= kill_at:
                raise Killed

        self.rig.crawl(
            *seeds, strategy=made, width=1, watch=look, pages=pages, is_killed=bool(kill_at), covered=covered
        )
        if not parts:
            parts.extend(beside())
        parts[0].look(is_last=True)
        parts[1].end()
        parts[2].look(is_last=True)

    def settle(self, snapshotting: Snapshotting) -> None:
        """What was begun is written, and named by the store: when the next one is due depends on pages alone."""
        snapshotting._finish(wait=True)

    def say(self, said: dict[str, str]) -> None:
        other = SqliteStore(self.rig.directory / "crawl.db")
        other.write(Batch(answers=new_answers(other, said, at=self.rig.clock.now())))
        other.close()

    def kill(self, *seeds: str, at: int, **more) -> None:
        with pytest.raises(Killed):
            self.crawl(*seeds, pages=50, kill_at=at, **more)

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in self.directory.iterdir()) if self.directory.exists() else []

    def why_refused(self, settings=SETTINGS) -> str:
        with pytest.raises(Refused) as refused:
            self.known(settings)
        return str(refused.value)


@pytest.fixture
def learner(rig, web):
    """Makes crawls with a judge that learns."""
    judge = ContrastJudge.fit((), WORDS, learns_from_seeds=True, seeds_must_fit=True)
    return lambda name="crawl", kind="hunter": Crawl(rig(web, name=name), judge, kind)


@pytest.fixture
def plain(rig, web):
    """Makes crawls with a judge that does not."""
    return lambda name="crawl", kind="hunter": Crawl(rig(web, name=name), KeywordJudge(WORDS), kind)


class TestSameChoices:
    @pytest.mark.parametrize("kind", STRATEGIES)
    @pytest.mark.parametrize("judge", ["learner", "plain"])
    def test_a_killed_crawl_goes_on_as_one_that_was_not(self, request, judge, kind):
        make = request.getfixturevalue(judge)
        straight, broken = make("straight", kind), make("broken", kind)
        straight.crawl(*SEEDS, pages=50)
        for kill_at in (11, 12, 24, 37):
            broken.kill(*SEEDS, at=kill_at)
            assert 0 < broken.known()[1].pages <= kill_at
        broken.crawl(pages=50)
        assert broken.rig.sql(ORDER) == straight.rig.sql(ORDER)
        assert broken.rig.sql(WAITING) == straight.rig.sql(WAITING)
        assert broken.rig.sql(JUDGED) == straight.rig.sql(JUDGED)

    @pytest.mark.parametrize("judge", ["learner", "plain"])
    @pytest.mark.parametrize("has_snapshots", [True, False])
    def test_scores_that_were_not_stored_are_restored(self, request, monkeypatch, judge, has_snapshots):
        monkeypatch.setattr(commit, "SCORES_EVERY", np.inf)
        if not has_snapshots:
            monkeypatch.setattr(snapshots, "FIRST", 1000)
        make = request.getfixturevalue(judge)
        straight, broken = make("straight"), make("broken")
        straight.crawl(*SEEDS, pages=50)
        is_stale = False
        for kill_at in (11, 12, 24, 37):
            broken.kill(*SEEDS, at=kill_at)
            is_stale |= bool(broken.rig.ledger._revised)
        assert is_stale
        broken.crawl(pages=50)
        for crawl in (straight, broken):
            crawl.rig.ledger.write_scores()
        assert broken.rig.sql(ORDER) == straight.rig.sql(ORDER)
        assert broken.rig.sql(WAITING) == straight.rig.sql(WAITING)

    def test_a_visited_link_keeps_the_score_it_was_chosen_for(self, learner, monkeypatch):
        monkeypatch.setattr(commit, "SCORES_EVERY", np.inf)
        crawl = learner()
        leased = {}
        leases = commit.CrawlLedger.leases

        def watched(ledger, links):
            found = leases(ledger, links)
            leased.update({lease.id: lease.score for lease in found})
            return found

        monkeypatch.setattr(commit.CrawlLedger, "leases", watched)
        crawl.kill(*SEEDS, at=30)
        visited = dict(crawl.rig.sql("select f.id, f.score from frontier f join pages p on p.id = f.id"))
        assert visited == {link: leased[link] for link in visited}

    @pytest.mark.parametrize("kill_at", [9, 13, 21, 26])
    def test_answers_are_told_where_they_were_told_first_and_once(self, learner, kill_at):
        straight, broken = learner("straight"), learner("broken")
        url = "http://b.test/1"
        says = {8: {url: "relevant"}, 12: {SEEDS[0]: "irrelevant"}, 20: {url: "irrelevant"}}
        straight.crawl(*SEEDS, pages=40, says=says)
        broken.kill(*SEEDS, at=kill_at, says=says)
        broken.crawl(pages=40, says={pages: said for pages, said in says.items() if pages > kill_at})
        assert broken.rig.sql(ORDER) == straight.rig.sql(ORDER)
        assert broken.rig.sql(JUDGED) == straight.rig.sql(JUDGED)
        assert broken.study._answers == straight.study._answers

    def test_only_what_came_after_it_is_told(self, learner, monkeypatch):
        crawl = learner()
        crawl.kill(*SEEDS, at=20)
        made, covered = crawl.known()
        told = []
        tell = made.tell
        monkeypatch.setattr(made, "tell", lambda visit, targets: told.append(visit.lease.url) or tell(visit, targets))
        crawl.crawl(pages=20, made=made, covered=covered)
        assert told == [url for (url,) in crawl.rig.sql(ORDER)][covered.pages :]
        assert len(told) < 10

    def test_after_the_end_of_a_run_nothing_is_told(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=20)
        assert crawl.known()[1].pages == 20

    def test_pages_judged_in_the_last_run_are_not_judged_again_at_once(self, learner, monkeypatch):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=20)
        made, covered = crawl.known()
        assert crawl.study.judged_pages == int(crawl.rig.store.state(JUDGED_AT)) == 20
        judged = []
        monkeypatch.setattr(crawl.study, "verdicts", lambda: judged.append(1) or crawl.study.said)
        crawl.crawl(pages=20, made=made, covered=covered)
        assert judged == [1]  # at the end


class TestWriting:
    def test_there_is_one_file_and_the_store_names_it(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=50)
        named = json.loads(crawl.rig.store.state(SNAPSHOT))
        assert crawl.files == [named["file"]] == [f"50-{named['sha256'][:12]}.snapshot"]

    def test_what_other_shards_told_after_the_last_page_is_in_the_last_one(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=20)
        before, (_, covered) = crawl.files, crawl.known()
        ledger = crawl.rig.ledger
        snapshotting = Snapshotting(
            ledger=ledger,
            directory=crawl.directory,
            settings=lambda: SETTINGS,
            clock=crawl.rig.clock,
            covered=covered,
            judged=int,
            is_judged_by_study=True,
        )
        snapshotting.look(is_last=True)
        assert crawl.files == before
        ledger.state.foreign.append(ledger.pages)
        snapshotting.look(is_last=True)
        assert crawl.files != before
        known = crawl.known()[1]
        assert (known.pages, known.foreign) == (20, 1)

    def test_a_strategy_that_is_told_nothing_again_needs_none(self, plain):
        crawl = plain(kind="best-first")
        crawl.crawl(*SEEDS, pages=20)
        assert crawl.files == []
        assert crawl.known()[1] == NOTHING

    def test_short_crawls_have_none(self, learner, monkeypatch):
        monkeypatch.setattr(snapshots, "FIRST", 100)
        crawl = learner()
        crawl.crawl(*SEEDS, pages=20)
        assert crawl.files == []

    def test_little_time_is_spent(self, learner, monkeypatch):
        monkeypatch.setattr(snapshots, "MOST_TIME", 1e-9)
        crawl = learner()
        is_judged_anew = []
        begin = Snapshotting._begin

        def watched(self) -> None:
            is_judged_anew.append(self._judged() != self._judged_at)
            begin(self)

        monkeypatch.setattr(Snapshotting, "_begin", watched)
        crawl.crawl(*SEEDS, pages=50)
        assert is_judged_anew[1:] == [True] * len(is_judged_anew[1:])  # the first one's cost is not known before

    def test_a_full_disk_costs_the_snapshot_only(self, learner, monkeypatch):
        def fail(path, tree):
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(snapshots, "write", fail)
        crawl = learner()
        crawl.crawl(*SEEDS, pages=30)
        ((message,),) = crawl.rig.sql("select message from events where kind = 'snapshot'")
        assert message.startswith("no snapshot is written: [Errno 28] No space left on device; ")
        assert crawl.known()[1] == NOTHING

    def test_it_leaves_room_on_the_disk(self, learner, monkeypatch):
        monkeypatch.setattr(snapshots, "MIN_FREE", 1 << 60)
        crawl = learner()
        crawl.crawl(*SEEDS, pages=30)
        ((message,),) = crawl.rig.sql("select message from events where kind = 'snapshot'")
        assert "MB of the disk are free" in message
        assert crawl.files == []

    def test_its_size_is_bounded(self, learner, monkeypatch):
        monkeypatch.setattr(snapshots, "LARGEST", 1_000)
        crawl = learner()
        crawl.crawl(*SEEDS, pages=30)
        ((message,),) = crawl.rig.sql("select message from events where kind = 'snapshot'")
        assert "the limit is" in message
        assert crawl.files == []

    def test_scores_given_by_ask_are_stored_with_it(self, learner):
        """They are no longer due in the snapshot, so they must be in the store."""
        crawl = learner()
        crawl.crawl(*SEEDS, pages=20)
        crawl.rig.ledger._revised = {30: 0.123}
        snapshotting = Snapshotting(
            ledger=crawl.rig.ledger,
            directory=crawl.directory,
            settings=lambda: SETTINGS,
            clock=crawl.rig.clock,
            judged=lambda: 0,
        )
        snapshotting.look(is_last=True)
        assert crawl.rig.sql("select score from frontier where id = 30") == [(0.123,)]


class TestTrainedAgain:
    """Somebody gave feedback while the crawl ran: another version of the judge has judged all pages."""

    @pytest.fixture
    def crawl(self, plain, monkeypatch) -> Crawl:
        monkeypatch.setattr(rejudge, "LOOK_EVERY", 0.0)
        # Written before the crawl goes on, however slow the disk is.
        monkeypatch.setattr(snapshots._Writing, "start", snapshots._Writing.run)
        monkeypatch.setattr(snapshots._Writing, "join", lambda _: None)
        crawl = plain()
        crawl.version = 1
        return crawl

    def taught_at(self, crawl: Crawl, pages: int) -> None:
        def newer(version: int):
            if version > 1 or crawl.rig.ledger.pages < pages:
                return None
            other = SqliteStore(crawl.rig.directory / "crawl.db")  # as the process that trained it does
            other.write(Batch(grades=[(0.77, True, number) for number in range(1, pages)]))
            other.close()
            return 2, KeywordJudge(WORDS, threshold=0.3), "version 2 took over"

        crawl.newer = newer

    def settings(self, version: int) -> dict:
        return {**SETTINGS, "trained judge": version}

    def test_snapshots_since_then_serve_the_next_run(self, crawl):
        self.taught_at(crawl, 12)
        crawl.kill(*SEEDS, at=30)
        assert crawl.rig.sql("select message from events where kind = 'judge'") == [("version 2 took over",)]
        assert crawl.known(self.settings(2))[1].pages >= 26
        assert crawl.why_refused(self.settings(1)) == "it was made with another trained judge"

    def test_one_is_written_at_once(self, crawl, monkeypatch):
        """Those before are useless."""
        self.taught_at(crawl, 12)
        monkeypatch.setattr(snapshots, "FIRST", 10)
        crawl.kill(*SEEDS, at=16)
        assert crawl.known(self.settings(2))[1].pages == 12

    def test_the_next_run_makes_the_same_choices(self, crawl, plain):
        straight = plain("straight")
        straight.version = 1
        self.taught_at(straight, 12)
        straight.crawl(*SEEDS, pages=45)
        self.taught_at(crawl, 12)
        crawl.kill(*SEEDS, at=30)
        crawl.version = 2
        made, covered = crawl.known(self.settings(2))
        crawl.crawl(pages=45, made=made, covered=covered)
        assert crawl.rig.sql(ORDER) == straight.rig.sql(ORDER)


class TestRefused:
    @pytest.fixture
    def crawl(self, learner) -> Crawl:
        crawl = learner()
        crawl.kill(*SEEDS, at=30)
        return crawl

    def file(self, crawl: Crawl):
        return crawl.directory / json.loads(crawl.rig.store.state(SNAPSHOT))["file"]

    def test_damaged(self, crawl):
        path = self.file(crawl)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        assert crawl.why_refused() == f"{path}: damaged"

    def test_torn(self, crawl):
        path = self.file(crawl)
        path.write_bytes(path.read_bytes()[:-100])
        assert crawl.why_refused() == f"{path}: damaged"

    def test_deleted(self, crawl):
        self.file(crawl).unlink()
        assert crawl.why_refused().endswith(" is missing")

    def test_of_another_crawl(self, crawl, learner):
        other = learner("other")
        other.kill(*reversed(SEEDS), at=30)
        self.file(crawl).write_bytes(self.file(other).read_bytes())
        assert crawl.why_refused().endswith(": damaged")

    def test_of_another_crawl_that_the_store_names(self, crawl, learner):
        """As if somebody had copied the entry, too."""
        other = learner("other")
        other.kill(*SEEDS[:1], at=30)
        (crawl.directory / self.file(other).name).write_bytes(self.file(other).read_bytes())
        crawl.rig.store.write(Batch(state={SNAPSHOT: other.rig.store.state(SNAPSHOT)}))
        assert "that are not the first ones of the database" in crawl.why_refused()

    def test_newer_than_a_restored_database(self, learner):
        crawl = learner()
        crawl.kill(*SEEDS, at=15)
        copy = crawl.rig.directory / "copy.db"
        crawl.rig.store.query("vacuum into ?", (str(copy),))
        crawl.crawl(pages=40)
        crawl.rig.store.close()
        database = crawl.rig.directory / "crawl.db"
        for path in crawl.rig.directory.glob("crawl.db*"):
            path.unlink()
        copy.rename(database)
        crawl.rig.store = SqliteStore(database)
        assert crawl.why_refused().endswith(" is missing")

    @pytest.mark.parametrize(
        ("changed", "why"),
        [
            ({"version": "2"}, "version"),
            ({"strategy": "evolved"}, "strategy"),
            ({"judge": {"kind": "contrast", "threshold": 0.6}}, "judge"),
            ({"version": "2", "judge": {}}, "judge and version"),
            ({"new": 1}, "new"),
        ],
    )
    def test_made_with_other_settings(self, crawl, changed, why):
        assert crawl.why_refused({**SETTINGS, **changed}) == f"it was made with another {why}"

    def test_of_another_layout(self, crawl, monkeypatch):
        from lycosa.strategies.hunter import evidence

        monkeypatch.setattr(evidence, "FEATURES", (*evidence.FEATURES[:-1], "other"))
        assert crawl.why_refused().startswith("it does not fit this version (ValueError: features neighbours,")

    def test_pages_judged_again_from_outside(self, plain):
        crawl = plain()
        crawl.kill(*SEEDS, at=30)
        assert crawl.known()[1].pages > 20
        crawl.rig.store.write(Batch(grades=[(0.77, True, 3)]))
        assert crawl.why_refused() == "pages have been judged again since"

    @pytest.mark.parametrize("entry", [b"", b"[]", b"{", b'{"file": "../../x", "sha256": ""}', b'{"file": "x"}'])
    def test_an_entry_that_makes_no_sense(self, crawl, entry):
        crawl.rig.store.write(Batch(state={SNAPSHOT: entry}))
        if entry:
            assert crawl.why_refused() == "its entry in the database cannot be read"
        else:
            assert crawl.known()[1] == NOTHING
