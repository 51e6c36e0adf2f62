"""What a person says of pages binds, teaches the study, changes the queue, and survives kills and judges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lycosa.crawl.answers import Answers, new_answers
from lycosa.crawl.reading import Reading
from lycosa.crawl.rejudge import Learning, Rejudge
from lycosa.crawl.resume import retold
from lycosa.fetch.urls import url_hash
from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.protocol import CompletedJudge
from lycosa.model import Guidance, Judgement
from lycosa.store.rows import Batch
from lycosa.store.sqlite import SqliteStore
from lycosa.strategies.protocol import Abilities, Strategy, StrategyParts
from lycosa.strategies.table import strategy

CYCLING = ["bicycle", "tandem", "gears", "saddle", "pedal", "chain", "randonneur", "derailleur", "cyclist", "handlebar"]
SOUP = ["broth", "simmer", "onion", "ladle", "stock", "celery", "saucepan", "garlic", "seasoning", "tureen"]
SEEDS = ("http://a.test/0", "http://d.test/3", "http://c.test/6")
JUDGED = (
    "select url, relevance, is_relevant from judgements j join frontier f on f.id = j.page_id join pages p on"
    " p.id = f.id order by p.number"
)


class Killed(BaseException):
    """The process ends here."""


class Nobody:
    def __init__(self) -> None:
        self.adopted = 0

    def adopt(self, reading: Reading) -> None:
        self.adopted += 1


@pytest.fixture
def web(html) -> dict[str, str]:
    """Pages on cycling that cite each other and pages on soup, on four hosts."""
    pages = {}
    for number in range(60):
        rng = np.random.default_rng(number)
        subject = CYCLING if number % 3 == 0 else SOUP
        links = [f"http://{'abcd'[n % 4]}.test/{n} see" for n in ((number + step) % 60 for step in (1, 3, 6, 7))]
        pages[f"http://{'abcd'[number % 4]}.test/{number}"] = html(*links, text=" ".join(rng.choice(subject, 25)))
    return pages


class Crawl:
    """A rig that takes answers over after every turn. `says` maps a number of pages to what is said then."""

    def __init__(self, rig, judge) -> None:
        self.rig = rig
        self.judge = judge
        self.readers = Nobody()
        rig.reading = lambda: Reading(urls=rig.urls, judge=judge)

    def say(self, said: dict[str, str]) -> None:
        """As another process does."""
        other = SqliteStore(self.rig.directory / "crawl.db")
        other.write(Batch(answers=new_answers(other, said, at=self.rig.clock.now())))
        other.close()

    def crawl(self, *seeds: str, says=None, name: str = "hunter", kill_at: int = 0, **more) -> None:
        begun: list[ContrastStudy] = []
        made: list[tuple[Answers, Rejudge]] = []
        says = dict(says or {})

        def begin() -> ContrastStudy:
            begun.append(self.judge.study())
            return begun[0]

        def make() -> tuple[Answers, Rejudge]:
            rig = self.rig
            learning = Learning(study=begun[0], threshold=self.judge.threshold, ledger=rig.ledger) if begun else None
            rejudge = Rejudge(
                ledger=rig.ledger, readers=self.readers, reading=rig.reading(), clock=rig.clock, learning=learning
            )
            return Answers(ledger=rig.ledger, clock=rig.clock, learn=rejudge.hurry), rejudge

        def look() -> None:
            if not made:
                made.append(make())
            answers, rejudge = made[0]
            answers.look()
            rejudge.look()
            pages = self.rig.ledger.pages
            if pages in says:
                self.say(says.pop(pages))
            if kill_at and pages >= kill_at:
                raise Killed

        parts = StrategyParts.of(self.judge.abilities, rng=np.random.default_rng(0))
        if parts.study is not None:
            parts = replace(parts, study=begin)
        self.rig.crawl(*seeds, strategy=strategy(name, parts), width=1, watch=look, is_killed=kill_at > 0, **more)
        if not made:
            made.append(make())
        answers, rejudge = made[0]
        answers.look(is_last=True)
        rejudge.end()
        self.study = begun[0] if begun else None

    def relevance(self, url: str) -> tuple[float, bool]:
        ((relevance, is_relevant),) = [row[1:] for row in self.rig.sql(JUDGED) if row[0] == url]
        return relevance, bool(is_relevant)


@pytest.fixture
def learner(rig, web):
    """Makes crawls with the hunter and a judge that learns."""
    return lambda name="crawl": Crawl(rig(web, name=name), ContrastJudge.fit((), learns_from_seeds=True))


SOUP_SAID = {"http://b.test/1": "relevant", "http://a.test/4": "relevant", "http://b.test/9": "irrelevant"}


class TestTakingOver:
    def test_a_running_crawl_finds_what_another_process_wrote(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=30, says={12: {SEEDS[0]: "irrelevant"}})
        assert crawl.relevance(SEEDS[0]) == (0.0, False)
        ((message,),) = crawl.rig.sql("select message from events where kind = 'answers'")
        assert message == "a person's answers on 1 page took over: 1 not relevant"
        ((page, after),) = crawl.rig.sql("select page_id, after_pages from answers")
        assert page == crawl.rig.row(SEEDS[0])["id"]
        assert 12 <= after <= 15
        assert ("answers", message) in crawl.rig.ledger.changes

    def test_the_study_has_it_at_its_place_and_keeps_it(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=40, says={12: SOUP_SAID})
        places = {url: place for place, (url, _, _) in enumerate(crawl.rig.sql(JUDGED))}
        for url, answer in SOUP_SAID.items():
            assert crawl.study.relevance[places[url]] == (answer == "relevant"), url
        assert {places["http://b.test/1"], places["http://a.test/4"]} <= set(crawl.study.examples)
        assert places["http://b.test/9"] not in crawl.study.examples

    def test_the_order_of_the_queue_follows(self, learner):
        plain, taught = learner("plain"), learner("taught")
        plain.crawl(*SEEDS, pages=30)
        said = dict.fromkeys(SEEDS, "irrelevant") | {"http://b.test/1": "relevant", "http://a.test/4": "relevant"}
        taught.crawl(*SEEDS, pages=30, says={10: said})
        soup = [[int(url.rpartition("/")[2]) % 3 != 0 for url in crawl.rig.pages[14:]] for crawl in (plain, taught)]
        assert sum(soup[1][:6]) > sum(soup[0][:6]) + 2

    def test_all_pages_are_judged_again_at_once(self, learner):
        plain, taught = learner("plain"), learner("taught")
        plain.crawl(*SEEDS, pages=40)
        taught.crawl(*SEEDS, pages=40, says={26: SOUP_SAID})
        assert taught.readers.adopted > plain.readers.adopted

    def test_figures_and_hosts_follow(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=30, says={12: SOUP_SAID})
        relevant = sum(row[2] for row in crawl.rig.sql(JUDGED))
        assert crawl.rig.ledger.relevant == crawl.rig.store.totals().relevant == relevant
        assert crawl.rig.sql("select sum(relevant) from hosts") == [(relevant,)]

    def test_an_answer_given_while_the_crawl_rested(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=20)
        crawl.say({SEEDS[1]: "irrelevant"})
        assert crawl.relevance(SEEDS[1]) == (0.0, False)  # at once
        crawl.crawl(pages=30)
        assert crawl.study.relevance[[url for url, _, _ in crawl.rig.sql(JUDGED)].index(SEEDS[1])] == 0.0

    def test_a_page_that_has_not_been_fetched(self, learner):
        """The answer waits, and binds when the page comes, also in a later run."""
        crawl = learner()
        late = "http://b.test/21"
        crawl.crawl(*SEEDS, pages=5, says={4: {late: "irrelevant", "http://nowhere.test/": "relevant"}})
        assert crawl.rig.sql("select page_id from answers") == [(None,), (None,)]
        crawl.crawl(pages=60)
        assert crawl.relevance(late) == (0.0, False)
        rows = crawl.rig.sql("select url, page_id, after_pages from answers order by id")
        number = crawl.rig.pages.index(late) + 1
        assert rows == [(late, crawl.rig.row(late)["id"], number), ("http://nowhere.test/", None, None)]

    def test_an_answer_that_is_taken_back(self, learner):
        plain, changed = learner("plain"), learner("changed")
        plain.crawl(*SEEDS, pages=60)
        url = "http://b.test/9"
        changed.crawl(*SEEDS, pages=60, says={15: {url: "irrelevant"}, 30: {url: "withdrawn"}})
        for found, expected in zip(sorted(changed.rig.sql(JUDGED)), sorted(plain.rig.sql(JUDGED)), strict=True):
            assert (found[0], found[2]) == (expected[0], expected[2])
            assert found[1] == pytest.approx(expected[1], abs=0.05)

    def test_skipping_says_nothing(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=30, says={12: {SEEDS[0]: "skipped"}})
        assert crawl.relevance(SEEDS[0])[0] > 0.5
        assert crawl.rig.sql("select after_pages from answers") == [(None,)]
        assert crawl.rig.sql("select * from events where kind = 'answers'") == []


class TestJudgesWithoutAStudy:
    @pytest.mark.parametrize("name", ["best-first", "hunter"])
    def test_the_answer_binds_the_page_and_links_follow(self, rig, html, name):
        web = {
            "http://a.test/": html("http://b.test/ x", "http://c.test/ x", text="bicycle tandem pedal"),
            "http://b.test/": html(*(f"http://b.test/{n} b" for n in range(20)), text="bicycle onion ladle"),
            "http://c.test/": html(*(f"http://c.test/{n} c" for n in range(20)), text="broth onion ladle"),
        }
        web |= {f"http://{host}.test/{n}": html(text=f"weather {host} {n}") for host in "bc" for n in range(20)}
        crawl = Crawl(rig(web), KeywordJudge("bicycle"))
        said = {"http://a.test/": "irrelevant", "http://b.test/": "irrelevant", "http://c.test/": "relevant"}
        says = {5: said}
        crawl.crawl("http://a.test/", pages=25, name=name, says=says, delay=0.1)
        assert (crawl.relevance("http://b.test/"), crawl.relevance("http://c.test/")) == ((0.0, False), (1.0, True))
        later = [url[7] for url in crawl.rig.pages[16:]]
        assert later.count("c") > later.count("b")
        relevant = sum(row[2] for row in crawl.rig.sql(JUDGED))
        assert crawl.rig.ledger.relevant == relevant == 1
        assert sum(is_relevant for _, is_relevant in crawl.rig.ledger.state.recent) == relevant

    def test_best_first_scores_all_waiting_links_again(self, rig, html):
        links = [f"http://b.test/{n} b" for n in range(9)]
        crawl = Crawl(rig({"http://a.test/": html(*links, text="bicycle")}), KeywordJudge("bicycle"))
        crawl.crawl("http://a.test/", pages=1, name="best-first")
        assert crawl.rig.sql("select count(*) from frontier where state = 'waiting' and score > 0") == [(9,)]
        crawl.say({"http://a.test/": "irrelevant"})
        crawl.crawl(pages=1, name="best-first")
        assert crawl.rig.sql("select count(*) from frontier where state = 'waiting' and score > 0") == [(0,)]


class TestResume:
    @pytest.mark.parametrize("kill_at", [7, 13, 26])
    def test_a_killed_crawl_ends_as_one_that_was_not(self, learner, kill_at):
        straight, broken = learner("straight"), learner("broken")
        url = "http://b.test/1"
        says = {8: {url: "relevant"}, 12: {SEEDS[0]: "irrelevant"}, 20: {url: "irrelevant"}}
        straight.crawl(*SEEDS, pages=40, says=says)
        with pytest.raises(Killed):
            broken.crawl(*SEEDS, pages=40, kill_at=kill_at, says=says)
        broken.crawl(pages=40, says={pages: said for pages, said in says.items() if pages > kill_at})
        assert broken.rig.sql(JUDGED) == straight.rig.sql(JUDGED)
        taken = "select url, answer, after_pages from answers order by id"
        assert broken.rig.sql(taken) == straight.rig.sql(taken)
        assert len(broken.rig.sql(taken)) == 3

    def test_the_judges_own_relevance_is_told_again_until_the_answer_came(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=20, says={12: {SEEDS[0]: "irrelevant"}})
        crawl.say({SEEDS[1]: "irrelevant"})  # not taken over yet
        ((after,),) = crawl.rig.sql("select after_pages from answers where after_pages is not null")
        told = Told(is_learning=True)
        assert len(list(retold(crawl.rig.store, told))) == 20
        first, second = (crawl.rig.row(url)["id"] for url in SEEDS[:2])
        assert min(told.relevance[first], told.relevance[second]) > 0.5
        assert told.answers == [(after, {first: False})]

    def test_who_does_not_learn_is_told_what_holds_now(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=20, says={12: {SEEDS[0]: "irrelevant"}})
        told = Told(is_learning=False)
        assert len(list(retold(crawl.rig.store, told))) == 20
        assert told.relevance[crawl.rig.row(SEEDS[0])["id"]] == 0.0

    def test_what_guided_the_crawl_is_told_again_also_of_answered_pages(self, rig, html):
        web = {f"http://a.test/{n}": html(f"http://a.test/{n + 1} next", text="onion soup") for n in range(4)}
        crawl = Crawl(rig(web), GuidedJudge(KeywordJudge("onion")))
        crawl.crawl("http://a.test/0", pages=4, name="best-first", says={2: {"http://a.test/1": "irrelevant"}})
        assert crawl.rig.ledger.relevant == 0
        for is_learning, answered in ((True, 0.7), (False, 0.0)):
            told = Told(is_learning=is_learning)
            list(retold(crawl.rig.store, told))
            assert list(told.relevance.values()) == [0.7, answered, 0.7, 0.7]
        crawl.say({"http://a.test/0": "irrelevant"})
        crawl.crawl(pages=4, name="best-first")  # scores waiting links again
        assert crawl.rig.sql("select score from frontier where state = 'waiting'") == [(0.7,)]


class GuidedJudge(CompletedJudge):
    """Says that no page is relevant, and lets all of them guide the crawl."""

    def judge(self, page):
        return Judgement(0.0, False, guide=Guidance(0.7, True))


class Told(Strategy):
    """Writes down what it is told."""

    name = "told"

    def __init__(self, *, is_learning: bool) -> None:
        self.relevance: dict[int, float] = {}
        self.answers: list[tuple[int, dict[int, bool | None]]] = []
        self._is_learning = is_learning

    @property
    def abilities(self) -> Abilities:
        return Abilities(answer=self.answer if self._is_learning else None)

    def tell(self, visit, targets):
        self.relevance[visit.lease.id] = visit.judgement.relevance
        return np.zeros(len(targets))

    def answer(self, answers) -> None:
        self.answers.append((len(self.relevance), dict(answers)))


class TestNewAnswers:
    def test_only_what_differs_is_new(self, learner):
        crawl = learner()
        crawl.crawl(*SEEDS, pages=5)
        store = crawl.rig.store
        assert new_answers(store, {SEEDS[0]: "relevant", "http://x.test/": "irrelevant"}, at=7.0) == [
            (7.0, SEEDS[0], crawl.rig.row(SEEDS[0])["id"], "relevant"),
            (7.0, "http://x.test/", None, "irrelevant"),
        ]
        assert crawl.rig.row(SEEDS[0])["hash"] == url_hash(SEEDS[0])
        crawl.say({SEEDS[0]: "relevant"})
        assert new_answers(store, {SEEDS[0]: "relevant"}, at=8.0) == []
        assert new_answers(store, {SEEDS[0]: "irrelevant"}, at=8.0) != []
