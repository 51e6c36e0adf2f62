"""What stands beside the line of a run: begun before the loop, called after each of its turns, ended after it.

A refresh does not distil, learn or search; a shard stops when the cluster says so, and hears from others.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Protocol

from lycosa.crawl.advice import Advice
from lycosa.crawl.alarms import Alarms, Condition
from lycosa.crawl.answers import Answers, new_answers
from lycosa.crawl.clock_watch import CLOCK, ClockWatch
from lycosa.crawl.commands import Commands
from lycosa.crawl.distiller import Distilling
from lycosa.crawl.lists import EVENT as SITEMAP
from lycosa.crawl.lists import SitemapLookAhead
from lycosa.crawl.receiving import Receiving
from lycosa.crawl.refresh import Refreshing
from lycosa.crawl.rejudge import Learning, Rejudge
from lycosa.crawl.searching import Searching
from lycosa.crawl.seeds import SeedWatch
from lycosa.crawl.shard import GrantedStop
from lycosa.crawl.snapshots import Snapshotting
from lycosa.crawl.stall import Lookout
from lycosa.crawl.watching import Event, Periodic, Running, View, heeding_signals
from lycosa.judge_choice import Versions, has_open_threshold, is_trained, snapshot_settings
from lycosa.live import live_search, query_words
from lycosa.run.given import Given
from lycosa.run.known import Known
from lycosa.run.line import OpenLine
from lycosa.stopping.forecaster import Forecaster
from lycosa.stopping.rules import NO_PAGE_LIMIT, Stop
from lycosa.store.rows import Batch

READMIT_EVERY = 60.0
"""Seconds between two looks for hosts that may take part again."""


class Looking(Protocol):
    def look(self) -> object:
        """Called after each turn of the loop; does nothing most of the time."""
        ...


class Beside:
    stop: Stop
    forecaster: Forecaster
    refreshing: Refreshing | None = None
    """If that is what the run is for."""
    receiving: Receiving | None = None
    """Of a shard."""
    searching: Searching | None = None
    """If search engines are asked."""

    def __init__(self, given: Given, known: Known, line: OpenLine, running: Running, stack: AsyncExitStack) -> None:
        """`stack` closes what asks search engines."""
        self._given, self._known, self._line, self._running = given, known, line, running
        config, ledger, clock, state = given.config, line.ledger, known.clock, known.state
        self.forecaster = Forecaster(
            known.strategy.abilities.forecasting,
            state.frontier,
            visits=lambda: ledger.pages,
            recent=lambda: [is_relevant for _, is_relevant in state.recent],
            pages=config.stop.forecast_pages,
        )
        self._make_stop()
        self._make_watches()
        if self.refreshing is None:
            self.searching = live_search(
                config,
                words=query_words(config, known.judge),
                ledger=ledger,
                visitor=line.visitor,
                records=line.records,
                urls=known.reading.urls,
                study=known.study,
                stack=stack,
            )
        self._make_learning()
        self._make_answering()
        readmission = Periodic(ledger.readmit_hosts, every=READMIT_EVERY, clock=clock)
        distilling = Distilling(config.distill, ledger=ledger, clock=clock)
        first: tuple[Looking, ...] = (distilling, self._answers, self._rejudge, self._advice, readmission)
        first = (*first, self._snapshotting, self._commands, self._alarms)
        if self.refreshing is not None:
            first = (self.refreshing, self._answers, readmission, self._commands, self._alarms)
        self._looking = (*first, line.browser_advice)

    def _make_stop(self) -> None:
        given, started, clock = self._given, self._known.started, self._known.clock
        config, ledger, line = given.config, self._line.ledger, self._line
        advises = self._known.strategy.abilities.advice if config.stop.is_generalised else None
        budget = config.budget if given.plan is None else replace(config.budget, pages=NO_PAGE_LIMIT, bytes=0)
        if given.shared is not None and line.sending is not None and line.turns is not None:
            self.stop = granted = GrantedStop(budget, started=started)
            granted.is_limited = given.plan is None
            self.receiving = Receiving(
                given.shared, ledger=ledger, sending=line.sending, turns=line.turns, stop=granted, clock=clock
            )
        elif given.plan is not None:
            self.stop = Stop(budget, started=started)
        else:
            self.stop = Stop(
                budget, started=started, rules=config.stop, advice=advises or str, forecast=self.forecaster
            )
        if given.plan is not None:
            self.refreshing = Refreshing(given.plan, ledger=ledger, stop=self.stop, now=clock.now)

    def _make_watches(self) -> None:
        """Those who notice that something is wrong, or that there is more to find."""
        config, line, clock = self._given.config, self._line, self._known.clock
        self._lookout = Lookout(
            config.stall,
            frontier=self._known.state.frontier,
            ledger=line.ledger,
            visitor=line.visitor,
            robots=line.records.robots,
            readers=line.readers,
            clock=clock,
        )
        self._seed_watch = SeedWatch(
            config.stall,
            ledger=line.ledger,
            visitor=line.visitor,
            robots=line.records.robots,
            urls=self._known.reading.urls,
            stop=self.stop,
            clock=clock,
        )
        self._clock_watch = ClockWatch(ledger=line.ledger, clock=clock)
        self._sitemaps = SitemapLookAhead(config.lists, state=self._known.state, robots=line.records.robots)

    def _make_learning(self) -> None:
        """Those who judge again, advise, and save what is known."""
        config, ledger, clock = self._given.config, self._line.ledger, self._known.clock
        known, study, workspace = self._known, self._known.study, self._given.workspace
        threshold = known.judge.abilities.threshold
        versions = Versions(workspace.topics, config) if is_trained(config) else None
        self._rejudge = rejudge = Rejudge(
            ledger=ledger,
            readers=self._line.readers,
            reading=known.reading,
            clock=clock,
            learning=Learning(study=study, threshold=threshold, ledger=ledger) if study else None,
            newer=versions.newer if versions else None,
            version=versions.newest() if versions else 0,
            has_open_threshold=has_open_threshold(config) and known.state.threshold is None,
        )
        self._advice = Advice(
            ledger=ledger, seeds=len(config.seeds), study=study, threshold=threshold, topics=config.topics
        )
        self._snapshotting = Snapshotting(
            ledger=ledger,
            directory=workspace.snapshots,
            settings=lambda: snapshot_settings(config, known.strategy.name, version=rejudge.version),
            clock=clock,
            covered=known.covered,
            judged=(lambda: study.judged_pages) if study is not None else (lambda: rejudge.takeovers),
            is_judged_by_study=study is not None,
        )

    def _make_answering(self) -> None:
        """Those who hear people, and are heard by them."""
        ledger, clock, study = self._line.ledger, self._known.clock, self._known.study
        self._answers = Answers(ledger=ledger, clock=clock, learn=self._rejudge.hurry)
        self._alarms = Alarms(
            self._given.config.alarms,
            ledger=ledger,
            clock=clock,
            name=str(self._given.workspace.directory),
            condition=Condition(
                drift=(lambda: study.drift) if study is not None else float,
                stalled=self._stalled,
                is_paused=lambda: self.stop.is_paused,
            ),
        )
        self._commands = Commands(
            ledger=ledger,
            stop=self.stop,
            clock=clock,
            visitor=self._line.visitor,
            forecast=self.forecaster,
            stalled=self._stalled,
            alarms=self._alarms,
        )

    def _stalled(self) -> str:
        return self._lookout.cause

    def begin(self, stack: AsyncExitStack) -> None:
        """`stack` ends the watching; from here on signals are heeded."""
        given, known, line, running = self._given, self._known, self._line, self._running
        store, budget = given.store, given.config.budget
        self._commands.begin()
        self._rejudge.begin()
        if known.answers:
            line.ledger.write(Batch(answers=new_answers(store, known.answers, at=known.started)))
        self._answers.look()
        given.teach()
        frontier = known.state.frontier
        view = View(budget.pages, frontier, line.ledger, line.visitor, self._lookout, known.started, self.forecaster)
        running.begin(view, self.stop)
        stack.callback(running.end)
        stack.enter_context(heeding_signals(running))
        for kind, message in line.notes:
            if message:
                running.tell(Event(kind, message))
        store.on_wait = lambda words: running.tell(Event("stall", words))
        for message in self._seed_watch.begin():
            running.tell(Event("seed", message))

    def look(self) -> None:
        ledger, running = self._line.ledger, self._running
        for part in self._looking:
            part.look()
        if self.searching is not None:
            self.searching.look()
        if self.receiving is not None:
            self.receiving.look(self._line.visitor.in_flight)
        if self.refreshing is None and (found := self._sitemaps.look()):
            ledger.write(found[0], event=(SITEMAP, found[1]))
        for message in self._given.store.passed_troubles():
            ledger.note("stall", message)
            running.tell(Event("stall", message))
        for message in self._seed_watch.look():
            running.tell(Event("seed", message))
        if not self.stop.is_paused and (cause := self._lookout.look()):
            running.tell(Event("stall", cause))
        if jump := self._clock_watch.look():
            running.tell(Event(CLOCK, jump))
        running.look(ledger)

    def end(self, reason: str) -> str:
        """The reason, as it is put on record."""
        self._answers.look(is_last=True)
        if self.refreshing is not None:
            self.refreshing.end()
            reason = reason if self.stop.was_requested else self.refreshing.words()
        else:
            self._rejudge.end()
            self._advice.look(is_last=True)
        self._line.browser_advice.look(is_last=True)
        self._line.ledger.write_scores()
        self._snapshotting.look(is_last=True)
        if self.receiving is not None:
            self.receiving.end()
            reason = self.reason_to_stop() or reason
        self._running.look(self._line.ledger)
        self._commands.write_figures()
        return reason

    def reason_to_stop(self) -> str:
        known = self._known
        return self.stop.reason(self._line.ledger.figures(), known.state.frontier, now=known.clock.now())
