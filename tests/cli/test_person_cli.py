"""A person in the loop, as processes: marks on pages of any crawl, NOT applied afterwards, exports, explanations."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from loopback import LYCOSA, NOT_FOUND, Answer, done, html, refused, serving

WORDS = {
    "Recreation/Cycling": "bicycle tandem saddle pedal spoke tyre wheel rider gear chain handlebar bell",
    "Recreation/Rowing": "oar boat scull river regatta coxswain stroke crew rower blade bow stern",
    "Science/Physics": "quark electron field photon mass energy particle wave quantum atom proton spin",
}
CYCLING, ROWING, PHYSICS = WORDS
KINDS = ((CYCLING,), (CYCLING, PHYSICS), (ROWING,), (PHYSICS,))
PAGES = 48


def text_about(topics: tuple[str, ...], number: int, words: int = 60) -> str:
    """Every topic has the same share of the words, each of its own words about as often."""
    rng = np.random.default_rng(number)
    listed = [word for topic in topics for word in WORDS[topic].split() * (words // len(topics) // 12)]
    return " ".join(rng.permutation(listed)) + f" page{number} common words here"


def page(number: int) -> str:
    links = "".join(f'<a href="/{(number + step) % PAGES}">page {number + step}</a> ' for step in (1, 2, 3, 5))
    return f"<title>Page {number}</title><p>{text_about(KINDS[number % 4], number)}</p>{links}"


@pytest.fixture(scope="module")
def origin():
    """A site of its own for every topic and for cycling with physics, on loopback."""

    def answer(request) -> Answer:
        name = request.path.strip("/")
        return html(page(int(name))) if name.isdecimal() and int(name) < PAGES else NOT_FOUND

    with serving(answer) as (place, _):
        yield f"http://person.test:{place.partition(':')[2]}"


def query(directory: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{directory / 'crawl.db'}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def relevance(directory: Path, url: str = "") -> dict[str, float]:
    found = dict(query(directory, "select url, relevance from judgements j join frontier f on f.id = j.page_id"))
    return {url: found[url]} if url else found


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("person") / "settings.toml"
    config = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": {"person.test": "127.0.0.1"}, "contact": "me@example.org"},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0},
        "readers": {"count": 1},
    }
    path.write_text(tomli_w.dumps(config))
    return path


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three topics with a dozen texts each, and a judge."""
    root = tmp_path_factory.mktemp("book")
    for topic in WORDS:
        (root / "examples" / topic).mkdir(parents=True)
        for number in range(12):
            text = text_about((topic,), 1000 + number)
            (root / "examples" / topic / f"{number}.txt").write_text(text)
    done("topics", "import", root / "examples", "--book", root / "topics.db")
    done("topics", "train", "--judge", "bayes", "--book", root / "topics.db")
    return root / "topics.db"


@pytest.fixture(scope="module")
def not_after(origin: str, settings: Path, book: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of all pages for Cycling AND NOT Physics: a quarter of them is about both."""
    crawl = tmp_path_factory.mktemp("not") / "crawl"
    interest = ["--interest", "Cycling AND NOT Physics", "--book", book, "--set", "judge.is_not_after=true"]
    interest += ["--set", "judge.threshold=0.3"]
    more = ["--strategy", "best-first", "-c", settings, "-o", crawl, "-n", PAGES, "-q"]
    done("crawl", *interest, "--seed", f"{origin}/0", *more)
    return crawl


class TestNotAfterwards:
    def test_what_it_excludes_is_reported_nowhere(self, not_after: Path, origin: str, tmp_path: Path) -> None:
        wanted = {f"{origin}/{number}" for number in range(0, PAGES, 4)}
        excluded = {f"{origin}/{number}" for number in range(1, PAGES, 4)}
        assert {url for (url,) in query(not_after, "select url from relevant_pages")} == wanted
        assert json.loads(done("status", not_after, "--json"))["relevant"] == len(wanted)
        assert query(not_after, "select sum(relevant) from hosts") == [(len(wanted),)]
        (rate,) = query(not_after, "select harvest_rate from harvest order by number desc limit 1")[0]
        assert rate == pytest.approx(len(wanted) / PAGES)
        done("export", not_after, "--to", tmp_path / "pages.jsonl")
        rows = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
        assert {row["url"] for row in rows if row["is_relevant"]} == wanted
        assert {row["url"] for row in rows if row["relevance"] >= 0.1} & excluded == set()

    def test_it_guides_the_crawl_all_the_same(self, not_after: Path, origin: str) -> None:
        """Best-first gives a link the relevance of the page it is on."""
        guides = dict(
            query(not_after, "select url, guide_relevance from judgements j join frontier f on f.id = j.page_id")
        )
        first = query(not_after, "select f.url, f.score, p.url from frontier f join frontier p on p.id = f.parent_id")
        on_excluded = [row for row in first if int(row[2].rpartition("/")[2]) % 4 == 1]
        assert on_excluded
        assert all(score >= guides[parent] - 1e-6 for _, score, parent in on_excluded)
        assert min(guides[parent] for *_, parent in on_excluded) > 0.5

    def test_a_wider_focus_does_not_apply_it_either(
        self, origin: str, settings: Path, book: Path, tmp_path: Path
    ) -> None:
        interest = ["--interest", "Cycling AND NOT Physics", "--book", book, "--set", "judge.is_not_after=true"]
        tunnel = ["--strategy", "tunnel+ariadne", "--set", 'constants={"tunnel.session": 4}']
        more = ["-c", settings, "-o", tmp_path / "crawl", "-n", PAGES, "-q"]
        done("crawl", *interest, *tunnel, "--seed", f"{origin}/0", *more)
        told = [message for (message,) in query(tmp_path / "crawl", "select message from events where kind = 'focus'")]
        assert any(message.startswith("widened to Recreation:") for message in told)
        assert not [message for message in told if "NOT" in message]


def exported(crawl: Path, target: Path, *more: object) -> list[dict]:
    done("export", crawl, "--to", target, *more)
    return [json.loads(line) for line in target.read_text().splitlines()]


class TestExport:
    def test_relevant_pages_only(self, not_after: Path, origin: str, tmp_path: Path) -> None:
        relevant = {url for (url,) in query(not_after, "select url from relevant_pages")}
        rows = exported(not_after, tmp_path / "pages.jsonl", "--relevant")
        assert {row["url"] for row in rows} == relevant
        assert all(row["is_relevant"] and "bicycle" in row["text"] for row in rows)
        assert len(exported(not_after, tmp_path / "pages.jsonl")) == PAGES

    def test_a_name_that_says_relevant_means_it(self, not_after: Path, tmp_path: Path) -> None:
        for name in ("relevant-pages.jsonl", "cycling-relevant-pages.jsonl"):
            rows = exported(not_after, tmp_path / name, "--no-text")
            assert len(rows) == PAGES // 4
            assert all(row["is_relevant"] for row in rows)
        assert len(exported(not_after, tmp_path / "cycling-pages.jsonl", "--no-text")) == PAGES
        assert "relevant pages only" in done("export", not_after, "--to", tmp_path / "relevant-pages.csv")

    def test_by_relevance(self, origin: str, settings: Path, tmp_path: Path) -> None:
        crawl = tmp_path / "crawl"
        done("crawl", "bicycle tandem", "--seed", f"{origin}/0", "-c", settings, "-o", crawl, "-n", 20, "-q")
        found = sorted(relevance(crawl).values())
        middle = found[len(found) // 2] + 0.001
        rows = exported(crawl, tmp_path / "pages.jsonl", "--min-relevance", middle)
        assert len(rows) == sum(value >= middle for value in found)
        both = exported(crawl, tmp_path / "pages.jsonl", "--min-relevance", found[-1], "--relevant")
        assert both
        assert all(row["relevance"] >= found[-1] and row["is_relevant"] for row in both)

    @pytest.mark.parametrize("name", ["relevant-links.parquet", "irrelevant-pages.jsonl", "not-relevant-pages.csv"])
    def test_a_name_that_cannot_be_meant_is_refused(self, not_after: Path, tmp_path: Path, name: str) -> None:
        assert name in refused("export", not_after, "--to", tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_only_pages_are_relevant(self, not_after: Path, tmp_path: Path) -> None:
        told = refused("export", not_after, "--to", tmp_path / "pages.jsonl", "--to", tmp_path / "x.csv", "--relevant")
        assert "x.csv" in told
        told = refused(
            "export", not_after, "--to", tmp_path / "pages.csv", "--to", tmp_path / "sites.csv", "--relevant"
        )
        assert "only pages can be limited" in " ".join(told.split())
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def topic_crawl(origin: str, settings: Path, book: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of all pages for Cycling; to be copied by those who change it."""
    crawl = tmp_path_factory.mktemp("topic") / "crawl"
    more = ["--strategy", "best-first", "-c", settings, "-o", crawl, "-n", PAGES, "-q"]
    done("crawl", "--topic", "Cycling", "--book", book, "--seed", f"{origin}/0", *more)
    return crawl


def judged(crawl: Path, url: str) -> str:
    facts = json.loads(done("explain", crawl, url, "--json"))
    (text,) = [text for heading, text in facts if heading == "judgement"]
    return text


class TestExplain:
    def test_the_words_that_decided_against_a_page(self, topic_crawl: Path, origin: str) -> None:
        assert query(topic_crawl, "select distinct terms from judgements where not is_relevant") == [("{}",)]
        told = judged(topic_crawl, f"{origin}/2")
        assert told.startswith("not relevant: 0.0")
        assert any(f"{word} -" in told for word in ("oar", "scull", "regatta", "coxswain", "crew", "rower", "river"))

    def test_of_a_page_that_was_read_before_anything_was_known(
        self, origin: str, settings: Path, tmp_path: Path
    ) -> None:
        crawl = tmp_path / "crawl"
        seeds = [word for number in (0, 4, 8) for word in ("--seed", f"{origin}/{number}")]
        done("crawl", *seeds, "-c", settings, "-o", crawl, "-n", 24, "-q")
        unexplained = query(
            crawl,
            "select url from judgements j join frontier f on f.id = page_id where terms = '{}' and relevance > .4",
        )
        assert unexplained
        for (url,) in unexplained:
            told = judged(crawl, url)
            assert "none of the topic's words" not in told
            assert any(
                f"{word} 0." in told for word in ("bicycl", "tandem", "saddl", "pedal", "spoke", "tyre", "rider")
            )

    def test_a_page_that_not_excludes(self, not_after: Path, origin: str) -> None:
        facts = dict(json.loads(done("explain", not_after, f"{origin}/1", "--json")))
        assert facts["judgement"].startswith("not relevant: 0.000")
        assert "atom -" in facts["judgement"]
        assert facts["guides"].startswith("the crawl by 0.8")

    def test_without_an_archive_it_is_not_pretended(
        self, origin: str, settings: Path, book: Path, tmp_path: Path
    ) -> None:
        more = ["-c", settings, "-o", tmp_path / "crawl", "-n", 6, "-q", "--set", "archive.is_on=false"]
        done("crawl", "--topic", "Cycling", "--book", book, "--seed", f"{origin}/0", *more)
        assert "not in the archive" in judged(tmp_path / "crawl", f"{origin}/2")


def copied(crawl: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawl, tmp_path / "crawl"))


def harvest(crawl: Path) -> tuple[float, float]:
    """Mean relevance and share of relevant pages, as the database has them."""
    return query(crawl, "select avg(relevance), avg(is_relevant) from judgements")[0]


def said_harvest(told: str) -> list[float]:
    """R before and after, share relevant before and after, as printed."""
    found = re.search(r"R ([\d.]+) → ([\d.]+); relevant \d+ → \d+, ([\d.]+)% → ([\d.]+)%", " ".join(told.split()))
    assert found, told
    r_before, r_after, before, after = map(float, found.groups())
    return [r_before, r_after, before / 100, after / 100]


def check_marks(crawl: Path, good: str, bad: str) -> None:
    """Marks bind, are reported by the crawl's own figures, and leave no trace when they are taken back."""
    original, (r_before, share_before) = relevance(crawl), harvest(crawl)
    told = done("feedback", crawl, "--useful", bad, "--not-useful", good)
    now = relevance(crawl)
    assert (now[bad], now[good]) == (1.0, 0.0)
    r_after, share_after = harvest(crawl)
    assert said_harvest(told) == pytest.approx([r_before, r_after, share_before, share_after], abs=6e-4)
    assert query(crawl, "select url, answer from answered_pages") == [(bad, "relevant"), (good, "irrelevant")]
    told = done("feedback", crawl, "--forget", bad, "--forget", good)
    assert "taken back" in told
    assert relevance(crawl) == pytest.approx(original, abs=1e-6)
    assert said_harvest(told) == pytest.approx([r_after, r_before, share_after, share_before], abs=6e-4)
    assert query(crawl, "select 1 from answered_pages") == []


class TestFeedback:
    @pytest.mark.parametrize("strategy", ["best-first", "hunter"])
    def test_on_a_crawl_from_words(self, origin: str, settings: Path, tmp_path: Path, strategy: str) -> None:
        crawl = tmp_path / "crawl"
        words = ["bicycle tandem", "--strategy", strategy, "--seed", f"{origin}/0"]
        done("crawl", *words, "-c", settings, "-o", crawl, "-n", 24, "-q")
        check_marks(crawl, f"{origin}/4", f"{origin}/2")

    def test_on_a_crawl_from_examples(self, origin: str, settings: Path, tmp_path: Path) -> None:
        crawl = tmp_path / "crawl"
        seeds = [word for number in (0, 4, 8) for word in ("--seed", f"{origin}/{number}")]
        done("crawl", *seeds, "-c", settings, "-o", crawl, "-n", 24, "-q")
        check_marks(crawl, f"{origin}/12", f"{origin}/2")

    def test_on_a_crawl_from_bookmarks(self, origin: str, settings: Path, tmp_path: Path) -> None:
        items = "".join(f'<DT><A HREF="{origin}/{number}">Page {number}</A>' for number in (0, 4, 8))
        (tmp_path / "bookmarks.html").write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p>{items}</DL><p>")
        crawl = tmp_path / "crawl"
        done("crawl", "--seeds", tmp_path / "bookmarks.html", "-c", settings, "-o", crawl, "-n", 24, "-q")
        check_marks(crawl, f"{origin}/12", f"{origin}/2")

    def test_on_a_crawl_for_a_topic(self, topic_crawl: Path, origin: str, tmp_path: Path) -> None:
        check_marks(copied(topic_crawl, tmp_path), f"{origin}/4", f"{origin}/2")

    def test_on_a_crawl_for_a_formula(self, not_after: Path, origin: str, tmp_path: Path) -> None:
        check_marks(copied(not_after, tmp_path), f"{origin}/4", f"{origin}/1")

    def test_on_a_crawl_with_a_judge_of_ones_own(self, origin: str, settings: Path, tmp_path: Path) -> None:
        (tmp_path / "own.py").write_text(
            "class Wheels:\n    name = 'wheels'\n\n    def judge(self, page):\n"
            "        return min(1.0, page.terms.get('wheel', 0) / 5)\n"
        )
        env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
        crawl = tmp_path / "crawl"
        more = ["--seed", f"{origin}/0", "-c", settings, "-o", crawl, "-n", 12, "-q", "--set", "judge.kind=own:Wheels"]
        done("crawl", "wheels", *more, env=env)
        for environment in (env, None):  # also where the judge cannot be made
            done("feedback", crawl, "--not-useful", f"{origin}/0", env=environment)
            assert relevance(crawl)[f"{origin}/0"] == 0.0
            done("feedback", crawl, "--forget", f"{origin}/0", env=environment)
            assert relevance(crawl)[f"{origin}/0"] == 1.0

    def test_a_judge_of_the_book_learns_from_marks(self, topic_crawl: Path, origin: str, tmp_path: Path) -> None:
        """Pages on physics and cycling are judged worse after some of them were called useless."""
        crawl = copied(topic_crawl, tmp_path)
        mixed = [f"{origin}/{number}" for number in range(1, PAGES, 4)]
        before = relevance(crawl)
        marks = [word for url in mixed[:6] for word in ("--not-useful", url)]
        told = done("feedback", crawl, *marks)
        assert "the judge has learned" in told
        after = relevance(crawl)
        assert np.mean([after[url] for url in mixed[6:]]) < np.mean([before[url] for url in mixed[6:]]) - 0.1
        done("feedback", crawl, *[word for url in mixed[:6] for word in ("--useful", url)])
        useful = relevance(crawl)
        assert np.mean([useful[url] for url in mixed[6:]]) > np.mean([after[url] for url in mixed[6:]]) + 0.1
        done("feedback", crawl, *[word for url in mixed[:6] for word in ("--forget", url)])
        assert relevance(crawl) == pytest.approx(before, abs=1e-9)

    def test_a_page_that_is_an_example_already(self, origin: str, settings: Path, book: Path, tmp_path: Path) -> None:
        own = tmp_path / "topics.db"
        shutil.copy(book, own)
        env = {**os.environ, "LYCOSA_CONFIG": str(settings)}
        marked = [f"{origin}/{number}" for number in (0, 4)]
        adding = [word for url in marked for word in ("--add", url)]
        done("topics", "examples", "Cycling", *adding, "--book", own, env=env)
        done("topics", "train", "--book", own)
        crawl = tmp_path / "crawl"
        more = ["--seed", f"{origin}/0", "-c", settings, "-o", crawl, "-n", 24, "-q"]
        done("crawl", "--topic", "Cycling", "--book", own, *more)
        examples = json.loads(done("topics", "show", "--book", crawl / "topics.db", "--json"))["topics"]
        done("feedback", crawl, "--not-useful", marked[0], "--not-useful", marked[1])
        fewer = json.loads(done("topics", "show", "--book", crawl / "topics.db", "--json"))["topics"]
        assert fewer[CYCLING]["examples"] == examples[CYCLING]["examples"] - 2
        done("feedback", crawl, "--forget", marked[0], "--useful", marked[1])
        again = json.loads(done("topics", "show", "--book", crawl / "topics.db", "--json"))["topics"]
        assert again == examples

    def test_old_versions_of_the_judge_are_pruned(self, topic_crawl: Path, origin: str, tmp_path: Path) -> None:
        crawl = copied(topic_crawl, tmp_path)
        for number in range(0, 24, 4):
            done("feedback", crawl, "--not-useful", f"{origin}/{number}")
        with closing(sqlite3.connect(crawl / "topics.db")) as db:
            versions = [version for (version,) in db.execute("select version from judges order by version")]
        assert versions == [1, 5, 6, 7]

    def test_a_page_that_the_crawl_does_not_have(self, origin: str, settings: Path, book: Path, tmp_path: Path) -> None:
        crawl = tmp_path / "crawl"
        more = ["--seed", f"{origin}/0", "-c", settings, "-o", crawl, "-q", "--strategy", "breadth-first"]
        done("crawl", "--topic", "Cycling", "--book", book, *more, "-n", 4)
        far = f"{origin}/30"
        told = done("feedback", crawl, "--useful", far)
        assert "not fetched by the crawl yet" in " ".join(told.split())
        assert "cannot be fetched" in refused("feedback", crawl, "--useful", f"{origin}/nowhere")
        done("crawl", "-o", crawl, "-c", settings, "-n", PAGES, "-q")
        assert relevance(crawl)[far] == 1.0

    def test_bad_marks_change_nothing(self, topic_crawl: Path, origin: str, tmp_path: Path) -> None:
        crawl = copied(topic_crawl, tmp_path)
        page = f"{origin}/4"
        assert "no page is marked" in refused("feedback", crawl)
        assert "decide for one" in refused("feedback", crawl, "--useful", page, "--not-useful", page)
        told = refused("feedback", crawl, "--useful", page, "--forget", f"{origin}/8")
        assert "nothing was said of this page" in " ".join(told.split())
        assert query(crawl, "select 1 from answers") == []

    def test_answers_of_a_review_teach_the_same_judge(self, topic_crawl: Path, origin: str, tmp_path: Path) -> None:
        crawl = copied(topic_crawl, tmp_path)
        pages = [f"{origin}/{number}" for number in (1, 5, 9, 13)]
        (tmp_path / "answers.tsv").write_text("".join(f"{url}\tno\n" for url in pages))
        other = Path(shutil.copytree(crawl, tmp_path / "other"))
        done("review", crawl, "--answers", tmp_path / "answers.tsv")
        done("feedback", other, *[word for url in pages for word in ("--not-useful", url)])
        assert relevance(crawl) == pytest.approx(relevance(other), abs=1e-9)
        third = Path(shutil.copytree(topic_crawl, tmp_path / "third"))
        done("crawl", "-o", third, "--answers", tmp_path / "answers.tsv", "-q", "-n", PAGES)
        assert relevance(third) == pytest.approx(relevance(other), abs=1e-9)

    def test_judging_again_that_was_cut_off_is_done_when_the_crawl_goes_on(
        self, topic_crawl: Path, origin: str, settings: Path, tmp_path: Path
    ) -> None:
        crawl = copied(topic_crawl, tmp_path)
        done("feedback", crawl, "--not-useful", f"{origin}/1", "--not-useful", f"{origin}/5")
        judged = relevance(crawl)
        with closing(sqlite3.connect(crawl / "crawl.db")) as db:  # as after a kill in the middle
            db.execute("update judgements set relevance = 0.123")
            db.execute("delete from state where name = 'judged again'")
            db.commit()
        done("crawl", "-o", crawl, "-c", settings, "-n", PAGES, "-q")
        assert relevance(crawl) == pytest.approx(judged, abs=1e-9)

    def test_while_the_crawl_runs(self, origin: str, settings: Path, tmp_path: Path) -> None:
        crawl = tmp_path / "crawl"
        seeds = [word for number in (0, 4, 8) for word in ("--seed", f"{origin}/{number}")]
        command = [*LYCOSA, "crawl", *seeds, "-c", str(settings), "-o", str(crawl), "--delay", "0.5", "-q"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: has_pages(crawl, 4))
            told = " ".join(done("feedback", crawl, "--not-useful", f"{origin}/0").split())
            assert "the running crawl takes them over within seconds" in told
            wait_until(lambda: query(crawl, "select 1 from answers where after_pages is not null") != [])
            assert relevance(crawl)[f"{origin}/0"] == 0.0
            done("feedback", crawl, "--forget", f"{origin}/0")
            wait_until(lambda: query(crawl, "select 1 from answers where after_pages is null") == [])
            assert process.poll() is None
        finally:
            process.terminate()
            process.wait(60)
        told = [message for (message,) in query(crawl, "select message from events where kind = 'answers'")]
        assert told == [
            "a person's answers on 1 page took over: 1 not relevant",
            "a person's answers on 1 page took over: 1 taken back",
        ]
        assert relevance(crawl)[f"{origin}/0"] > 0.5


def has_pages(crawl: Path, count: int) -> bool:
    try:
        return query(crawl, "select count(*) from pages")[0][0] >= count
    except sqlite3.OperationalError:  # the crawl is about to begin
        return False


def wait_until(condition: Callable[[], bool], *, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
