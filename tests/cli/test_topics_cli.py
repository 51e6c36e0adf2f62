"""Topics on the command line: from examples to a crawl that learns from feedback."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import tomli_w

from hostile.server import running
from loopback import LYCOSA, done, refused
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World

WORDS = {
    "Recreation/Cycling": "bicycle tandem saddle pedal spoke tyre wheel rider gear chain",
    "Recreation/Rowing": "oar boat scull river regatta coxswain stroke crew rower blade",
    "Science/Physics": "quark electron field photon mass energy particle wave quantum atom",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three topics with a dozen short texts each."""
    root = tmp_path_factory.mktemp("examples")
    for topic, words in WORDS.items():
        listed = words.split()
        (root / topic).mkdir(parents=True)
        for number in range(12):
            text = " ".join(listed[(number + step) % len(listed)] for step in range(7)) + f" common words here {number}"
            (root / topic / f"{number}.txt").write_text(text)
    return root


@pytest.fixture(scope="module")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with these examples and a judge. Read-only."""
    book = tmp_path_factory.mktemp("book") / "topics.db"
    told = done("topics", "import", folder, "--book", book)
    assert "5 topics; 36 examples added" in told
    report = json.loads(done("topics", "train", "--judge", "bayes", "--book", book, "--json"))
    assert report["accuracy"] > 0.9
    return book


@pytest.fixture
def book(trained: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    copy = tmp_path / "topics.db"
    with closing(sqlite3.connect(trained)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


class TestBook:
    def test_show(self, book: Path) -> None:
        done("topics", "mark-good", "Cycling", "--book", book)
        told = done("topics", "show", "--book", book)
        assert "Cycling 12 good" in told
        assert "Recreation 0 path" in told
        assert "judge 1: bayes, accuracy" in told
        topics = json.loads(done("topics", "show", "--book", book, "--json"))["topics"]
        assert topics["Recreation/Cycling"] == {"examples": 12, "is_good": True, "keywords": {}}

    def test_refine_the_tree(self, book: Path) -> None:
        done("topics", "add", "Sports/Water", "--keyword", "yacht=2", "--keyword", "sail", "--book", book)
        assert "Sports/Water/Rowing" in done("topics", "move", "Rowing", "Sports/Water", "--book", book)
        assert "Sports/Water/Sculling" in done("topics", "rename", "Rowing", "Sculling", "--book", book)
        listed = done("topics", "examples", "Sculling", "--book", book, "-n", "3")
        number = next(word for word in listed.split() if word.isdecimal())
        told = done("topics", "move", number, "Cycling", "--example", "--book", book)
        assert "retrained" in told or "includes the change" in told
        counts = json.loads(done("topics", "show", "--book", book, "--json"))["topics"]
        assert counts["Recreation/Cycling"]["examples"] == 13
        assert counts["Sports/Water"]["keywords"] == {"yacht": 2.0, "sail": 1.0}
        assert "removed, with 11 examples" in done("topics", "remove", "Sculling", "--book", book)

    def test_a_document_that_is_moved_changes_the_judge_at_once(self, book: Path) -> None:
        listed = done("topics", "examples", "Rowing", "--book", book, "-n", "1")
        number = next(word for word in listed.split() if word.isdecimal())
        assert "judge 2 includes the change" in done("topics", "move", number, "Cycling", "--example", "--book", book)
        assert "judge 3 includes the change" in done(
            "topics", "examples", "Cycling", "--remove", number, "--book", book
        )

    def test_export_and_import(self, book: Path, tmp_path: Path) -> None:
        done("topics", "mark-good", "Cycling", "--book", book)
        done("topics", "export", tmp_path / "tree.toml", "--book", book)
        assert "5 topics" in done("topics", "import", tmp_path / "tree.toml", "--book", tmp_path / "other.db")
        assert "Cycling 12 good" in done("topics", "show", "--book", tmp_path / "other.db")

    @pytest.mark.parametrize(
        ("command", "parts"),
        [
            (["mark-good", "Cyclign"], ["Cyclign", "Recreation/Cycling"]),
            (["mark-good", "Recreation", "--then"], ["no such option", "--then"]),
            (["train", "--judge", "oracle"], ["oracle", "bayes, svm, knn, gp-knn, keywords"]),
            (["train", "--judge", "svm", "--generations", "5"], ["--generations is for the judge gp-knn"]),
            (["train", "--judge", "gp-knn", "--population", "1"], ["population is 1", "2 or more"]),
            (["train", "--judge", "svm", "--evidence", "links"], ["--evidence is for the judge gp-knn"]),
            (["train", "--judge", "gp-knn", "--evidence", "link"], ["did you mean 'links'", "there are paper, links"]),
            (["train", "--judge", "gp-knn", "--formula", "nowhere.toml"], ["nowhere.toml", "no such file"]),
            (["train", "--judge", "gp-knn", "--formula", "x", "--generations", "5"], ["does not evolve"]),
            (["import", "nowhere.toml"], ["nowhere.toml"]),
            (["import", "labels.tsv"], ["labels.tsv", "--world"]),
            (["suggest", "nowhere.html"], ["nowhere.html", "no such file"]),
            (["explore", "Cycling", "--fetch", "0"], ["--crawl DIR or --world FILE"]),
            (["add", "A/B", "--keyword", "x=y"], ["x=y", "word=2.5"]),
            (["examples", "Cycling", "--remove", "http://never.test/"], ["never.test"]),
        ],
    )
    def test_errors_say_what_is_wrong(self, book: Path, command: list[str], parts: list[str]) -> None:
        told = refused("topics", *command, "--book", book)
        for part in parts:
            assert part.lower() in told.lower()

    def test_no_good_topic_under_another(self, book: Path) -> None:
        done("topics", "mark-good", "Recreation", "--book", book)
        told = refused("topics", "mark-good", "Cycling", "--book", book)
        assert "Recreation" in told

    def test_looking_does_not_create_a_book(self, tmp_path: Path) -> None:
        assert "there is no topic book" in refused("topics", "show", "--book", tmp_path / "no.db")
        assert not (tmp_path / "no.db").exists()


class TestJudging:
    @pytest.mark.parametrize("kind", ["svm", "knn", "gp-knn", "keywords"])
    def test_every_judge_can_be_trained(self, book: Path, kind: str, tmp_path: Path) -> None:
        told = done("topics", "train", "--judge", kind, "--folds", "3", "--book", book)
        assert "accuracy" in told
        assert f"judge 2 ({kind})" in told
        document = tmp_path / "page.txt"
        document.write_text("The tandem has a saddle, a pedal and a chain; its rider likes the gear.")
        row = json.loads(done("judge", document, "--topic", "Cycling", "--book", book, "--json"))
        assert row["relevance"] > 0.5
        assert row["best"] == "Recreation/Cycling"

    def test_an_evolved_similarity_is_printed_written_edited_and_given(self, book: Path, tmp_path: Path) -> None:
        evolving = ("topics", "train", "--judge", "gp-knn", "--folds", "2", "--book", book)
        told = " ".join(done(*evolving, "--generations", "2", "--population", "6").split())
        assert "similarity: " in told
        assert "evolved in 2 generations of 6: macro-F1" in told
        file = book.with_name("topics.gp-knn-2.toml")
        assert str(file.name) in told
        file.write_text(re.sub('formula = ".*"', 'formula = "body_cosine + title_cosin"', file.read_text()))
        problem = refused(*evolving, "--formula", file)
        assert "column 15" in problem
        assert "'title_cosine'" in problem
        file.write_text('formula = "body_cosine + title_cosine"')
        row = json.loads(done(*evolving, "--formula", file, "--json"))
        assert row["formula"] == "body_cosine + title_cosine"
        file.write_text('formula = "body_cosine + url_bag"')
        assert "the formula has url_bag" in refused(*evolving, "--formula", file)
        row = json.loads(done(*evolving, "--formula", file, "--evidence", "links", "--json"))
        assert row["formula"] == "body_cosine + url_bag"
        assert 'evidence = "links"' in book.with_name("topics.gp-knn-4.toml").read_text()
        document = tmp_path / "page.txt"
        document.write_text("The tandem has a saddle, a pedal and a chain; its rider likes the gear.")
        told = done("judge", document, "--topic", "Cycling", "--book", book)
        assert "of the votes" in told
        assert "(Recreation/Cycling), by body_cosine 100%" in " ".join(told.split())

    def test_ctrl_c_keeps_the_generations(self, book: Path) -> None:
        command = ["topics", "train", "--judge", "gp-knn", "--folds", "2", "--population", "6", "--book", str(book)]
        endless = [*LYCOSA, *command, "--generations", "1000000"]
        process = subprocess.Popen(endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        folder, deadline = book.with_name("topics.db.evolving"), time.monotonic() + 100
        while not list(folder.glob("*.json")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=100)
        assert process.returncode == 130
        assert "interrupted: no judge was trained; the same command goes on from the last generation" in said
        assert len(list(folder.glob("*.json"))) == 1
        assert "judge 2 (gp-knn)" in done(*command, "--generations", "1")
        assert not folder.exists()

    def test_with_the_words_that_decided(self, trained: Path, tmp_path: Path) -> None:
        document = tmp_path / "page.html"
        document.write_text("<title>Bikes</title><p>tandem saddle pedal chain rider gear wheel</p>")
        told = done("judge", document, "--topic", "Cycling", "--book", trained)
        assert "relevant" in told
        assert "tandem +" in told
        formula = done("judge", document, "--interest", "Cycling AND NOT Physics", "--book", trained, "--json")
        assert set(json.loads(formula)["scores"]) >= {"Recreation/Cycling", "Science/Physics"}
        assert json.loads(done("judge", document, "--words", "tandem saddle", "--json"))["relevance"] > 0.3

    def test_short_long_empty_and_foreign(self, trained: Path, tmp_path: Path) -> None:
        texts = {
            "five": "tandem saddle pedal chain rider",
            "long": "tandem saddle quark " * 170_000,
            "empty": "",
            "foreign": "Быстрая коричневая лиса прыгает через ленивую собаку 東京都 ועברית",
        }
        for name, text in texts.items():
            (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        files = [tmp_path / f"{name}.txt" for name in ("five", "long", "foreign")]
        rows = [
            json.loads(line)
            for line in done("judge", *files, "--topic", "Cycling", "--book", trained, "--json").splitlines()
        ]
        assert rows[0]["is_relevant"]
        assert all(0 <= row["relevance"] <= 1 for row in rows)

    def test_a_formula_that_is_wrong(self, trained: Path, tmp_path: Path) -> None:
        document = tmp_path / "page.txt"
        document.write_text("tandem")
        assert "Recreation/Cycling" in refused("judge", document, "--interest", "Cycling AND Cyclng", "--book", trained)
        told = refused("judge", document, "--interest", "Cycling AND )", "--book", trained)
        assert "position" in told

    def test_suggest_from_text_and_from_damaged_bookmarks(self, trained: Path, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("I like my tandem, its saddle and its pedals, and every rider on a bicycle.")
        told = done("topics", "suggest", tmp_path / "mine.txt", "--book", trained)
        assert "Recreation/Cycling" in told
        assert "mark-good" in told
        (tmp_path / "broken.html").write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><A HREF='javascript:x'>")
        assert "broken.html" in refused("topics", "suggest", tmp_path / "broken.html", "--book", trained)


class TestMovedTopics:
    def suggested(self, book: Path, tmp_path: Path) -> str:
        (tmp_path / "mine.txt").write_text("oar boat scull river regatta coxswain, and the stroke of a rower in a crew")
        return done("topics", "suggest", tmp_path / "mine.txt", "--book", book)

    def test_they_are_suggested_where_they_are_now(self, book: Path, tmp_path: Path) -> None:
        assert "they are about Recreation/Rowing: " in self.suggested(book, tmp_path)
        done("topics", "rename", "Rowing", "Sculling", "--book", book)
        told = self.suggested(book, tmp_path)
        assert "they are about Recreation/Sculling: lycosa topics mark-good 'Recreation/Sculling'" in told
        assert "Rowing" not in told
        assert "lycosa topics train would make it exact" in told
        done("topics", "add", "Sports/Water", "--book", book)
        done("topics", "move", "Sculling", "Sports/Water", "--book", book)
        told = self.suggested(book, tmp_path)
        assert "they are about Sports/Water/Sculling: " in told
        assert "Recreation/Sculling" not in told
        assert "Sports/Water/Sculling" in done("topics", "mark-good", "Sports/Water/Sculling", "--book", book)

    def test_removed_ones_are_not_even_if_another_takes_their_number(self, book: Path, tmp_path: Path) -> None:
        for topic in ("Physics", "Science", "Rowing"):
            done("topics", "remove", topic, "--book", book)
        done("topics", "add", "Kitchen", "--book", book)
        told = self.suggested(book, tmp_path)
        assert "Rowing" not in told
        assert "Kitchen" not in told
        assert "Recreation/Cycling" in told


# A crawl for a trained topic


@pytest.fixture(scope="module")
def server(small_web):
    with running(small_web, addresses=len(small_web.hosts) + 1) as server:
        yield server


@pytest.fixture(scope="module")
def web_book(small_web, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, list[str]]:
    """A book trained on the generated web's own pages, one of its topics, and the URLs of that."""
    directory = tmp_path_factory.mktemp("web")
    build_generated(small_web, directory / "web.world")
    world = World.open(directory / "web.world")
    topics = sorted(world.topics)
    rows = ["url\ttopic"] + [
        f"{world.url(page)}\tWeb/{topic}" for topic in topics for page in world.pages_of(topic)[::2].tolist()
    ]
    (directory / "labels.tsv").write_text("\n".join(rows) + "\n")
    book = directory / "topics.db"
    told = done("topics", "import", directory / "labels.tsv", "--world", directory / "web.world", "--book", book)
    assert "0 examples added" not in told
    done("topics", "train", "--book", book)
    return book, f"Web/{topics[0]}", [world.url(page) for page in world.pages_of(topics[0]).tolist()]


@pytest.fixture
def settings(server, tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    config = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": server.overrides(), "contact": "me@example.org"},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0},
        "readers": {"count": 1},
    }
    path.write_text(tomli_w.dumps(config))
    return path


def query(directory: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{directory / 'crawl.db'}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


@contextmanager
def started(*words: object):
    process = subprocess.Popen([*LYCOSA, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(condition, *, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


class TestCrawl:
    def test_crawl_give_feedback_resume(self, server, web_book, settings: Path, tmp_path: Path) -> None:
        book, topic, urls = web_book
        crawl = tmp_path / "crawl"
        relevant = urls[0].replace(".test/", f".test:{server.port}/")  # else 40 pages may bring none
        seeds = ["--seed", server.url(0), "--seed", relevant]
        done("crawl", "--topic", topic, "--book", book, *seeds, "-c", settings, "-o", crawl, "-n", "40", "-q")
        judged = query(crawl, "select relevance, is_relevant, best from judgements")
        assert len(judged) == 40
        assert all(best.startswith("Web/") for _, _, best in judged)
        assert 0 < sum(row[1] for row in judged) < 40
        page, before = query(
            crawl,
            "select f.url, relevance from judgements j join frontier f on f.id = j.page_id order by relevance limit 1",
        )[0]
        told = done("feedback", crawl, "--useful", page)
        assert "judge version 2" in " ".join(told.split())
        after = query(
            crawl, f"select relevance from judgements j join frontier f on f.id = j.page_id where url = '{page}'"
        )
        assert after[0][0] > before
        assert query(crawl, "select url, answer from answers") == [(page, "relevant")]
        done("crawl", "-o", crawl, "-c", settings, "-n", "45", "-q")
        assert len(query(crawl, "select 1 from judgements")) == 45
        assert "version 2 took over" in query(crawl, "select message from events where kind = 'judge'")[0][0]
        assert "score" in done("explain", crawl, page)
        found = json.loads(done("distill", crawl, "--within-sites", "--json"))
        assert found["pages"] == 45
        assert "between sites" in done("distill", crawl)
        within = done("distill", crawl, "--within-sites")
        assert f"{found['edges']} links, within sites, too, that count" in within
        assert "between sites" not in within
        assert done("topics", "explore", topic, "--crawl", crawl, "--book", crawl / "topics.db")

    def test_a_running_crawl_adopts_the_new_judge(self, server, web_book, settings: Path, tmp_path: Path) -> None:
        book, topic, _ = web_book
        crawl = tmp_path / "crawl"
        command = ["crawl", "--topic", topic, "--book", book, "--seed", server.url(0), "-c", settings, "-o", crawl]
        with started(*command, "-n", "5000", "--delay", "1", "-q") as process:
            wait_until(lambda: (crawl / "crawl.db").exists() and (crawl / "lock").exists())
            wait_until(lambda: query(crawl, "select 1 from sqlite_schema where name = 'pages'") != [])
            wait_until(lambda: len(query(crawl, "select 1 from pages")) >= 3)
            (page,) = query(crawl, "select f.url from pages p join frontier f on f.id = p.id limit 1")[0]
            told = " ".join(done("feedback", crawl, "--not-useful", page).split())
            assert "judge version 2 knows them; the running crawl takes them over" in told
            wait_until(lambda: query(crawl, "select 1 from events where kind = 'judge'") != [])
            wait_until(lambda: query(crawl, "select 1 from answers where after_pages is null") == [])
            assert process.poll() is None
        (told,) = query(crawl, "select message from events where kind = 'judge'")[0]
        assert told == "version 2 (bayes) took over after feedback on 1 page"

    def test_for_a_formula_the_start_pages_set_the_threshold(
        self, server, small_web, web_book, settings: Path, tmp_path: Path
    ) -> None:
        book, topic, urls = web_book
        crawl = tmp_path / "crawl"
        command = ["crawl", "--interest", f'"{topic}"', "--book", book, "-c", settings, "-o", crawl]
        on_topic = {small_web.page_of(url) for url in urls}
        chosen = [page for page in sorted(on_topic) if small_web.is_allowed(page)][:6]
        seeds = [word for page in chosen for word in ("--seed", server.url(page))]
        constants = 'constants={"tunnel.session": 10}'
        told = done(*command, *seeds, "-n", "60", "--json", "--strategy", "tunnel+ariadne", "--set", constants)
        events = [json.loads(line) for line in told.splitlines()]
        assert events[-1]["event"] == "end"
        assert [each["message"] for each in events[-1]["changes"] if "smallest score" in each["message"]]
        (message,) = query(crawl, "select message from events where kind = 'judge'")[0]
        (threshold,) = query(crawl, "select cast(value as text) from state where name = 'threshold'")[0]
        scores = [
            row[0]
            for row in query(
                crawl, "select relevance from judgements j join frontier f on f.id = page_id where distance = 0"
            )
        ]
        assert float(threshold) == min(score for score in scores if score > 0.01)
        assert "the smallest score of the 6 start pages" in message
        wrong = query(crawl, f"select 1 from judgements where is_relevant != (relevance >= {threshold})")
        assert wrong == []
        done("crawl", "-o", crawl, "-c", settings, "-n", "70", "-q")
        assert len(query(crawl, "select 1 from events where kind = 'judge'")) == 1

    def test_what_was_decided_about_a_formula_is_told(
        self, server, small_web, web_book, settings: Path, tmp_path: Path
    ) -> None:
        """One start page decides what is relevant: said while it crawls, by status and by explain."""
        book, topic, urls = web_book
        other = next(
            name
            for name in json.loads(done("topics", "show", "--book", book, "--json"))["topics"]
            if "/" in name and name != topic
        )
        crawl = tmp_path / "crawl"
        start = next(page for page in sorted(map(small_web.page_of, urls)) if small_web.is_allowed(page))
        command = ["crawl", "--interest", f'"{topic}" OR ("{topic}" AND "{other}")', "--book", book, "-c", settings]
        options = ["--set", f"judge.frequencies={json.dumps({other: 0.0001})}", "--strategy", "ariadne", "-o", crawl]
        done(*command, "--seed", server.url(start), "-n", "15", "-q", *options)
        advice = [message for (message,) in query(crawl, "select message from events where kind = 'advice'")]
        assert [each for each in advice if each.startswith("one start page decides what is relevant")]
        told = " ".join(done("status", crawl).split())
        assert "of the only start page" in told
        assert "begin again with at least 3 start pages that fit" in told
        figures = json.loads(done("status", crawl, "--json"))["threshold"]
        assert (figures["pages"], figures["fitting"]) == (1, 1)
        assert figures["url"] == server.url(start)
        facts = dict(json.loads(done("explain", crawl, server.url(start), "--json")))
        assert facts["threshold"].startswith(f"minimum relevance {figures['value']:.3f}: of the only start page")
        (waiting,) = query(crawl, "select url from frontier where state = 'waiting' limit 1")[0]
        rule = dict(json.loads(done("explain", crawl, waiting, "--json")))["rule"]
        assert rule.startswith(f"anchors and URLs are scored by {topic} OR {other}, the rarer topic")
        assert f"{other} 0.0% as given" in rule
        refusal = refused(
            *command, "--seed", server.url(0), "-o", tmp_path / "x", "--set", 'judge.frequencies={"Cy":1}'
        )
        assert "no topic 'Cy'" in refusal

    def test_a_link_is_explained_by_the_focus_that_moved_it(
        self, server, small_web, web_book, settings: Path, tmp_path: Path
    ) -> None:
        book, topic, urls = web_book
        crawl = tmp_path / "crawl"
        chosen = [page for page in sorted(small_web.page_of(url) for url in urls) if small_web.is_allowed(page)][:6]
        seeds = [word for page in chosen for word in ("--seed", server.url(page))]
        constants = 'constants={"tunnel.session": 5, "tunnel.widen_below": 1.0, "tunnel.narrow_above": 1.0}'
        command = ["crawl", "--interest", f'"{topic}"', "--book", book, "-c", settings, "-o", crawl, "-q"]
        done(*command, *seeds, "-n", "40", "--strategy", "tunnel+best-first", "--set", constants)
        changes = query(crawl, "select message from events where kind = 'focus'")
        depth = sum(1 if message.startswith("widened") else -1 for (message,) in changes)
        assert depth > 0
        waiting = query(crawl, "select url, score from frontier where state = 'waiting' and parent_id is not null")
        assert waiting
        for url, score in waiting[:3]:
            facts = dict(json.loads(done("explain", crawl, url, "--json")))
            rule = re.match(
                rf"tunnelling: focus widened to .+ \(tunnel depth {depth}, \d+ more steps? possible\); "
                r"the page's relevance is ([0-9.]+) by it",
                facts["rule"],
            )
            assert rule, facts
            assert float(rule[1]) == pytest.approx(score, abs=6e-4)

    def test_distilling_during_the_crawl(self, server, web_book, settings: Path, tmp_path: Path) -> None:
        book, topic, _ = web_book
        crawl = tmp_path / "crawl"
        command = ["crawl", "--topic", topic, "--book", book, "--seed", server.url(0), "-c", settings, "-o", crawl]
        distilling = {"every": 20, "revisit_after": 0, "across_sites": False, "unvisited": 50}
        options = [
            word for name, value in distilling.items() for word in ("--set", f"distill.{name}={json.dumps(value)}")
        ]
        done(*command, "-n", "60", "-q", "--strategy", "best-first", *options)
        told = [row[0] for row in query(crawl, "select message from events where kind = 'distilled'")]
        assert len(told) >= 2
        assert "5 hubs to be fetched again" in told[0]
        again = query(
            crawl, "select link_id, count(*) from outcomes where kind = 'fetched' group by 1 having count(*) > 1"
        )
        assert len(again) >= 5
        assert len(query(crawl, "select 1 from pages")) == 60
        assert query(crawl, "select max(number) from pages") == [(60,)]
        assert query(crawl, "select 1 from state where name = 'distiller'") == [(1,)]

    def test_without_a_book_or_with_an_unknown_topic(self, web_book, tmp_path: Path) -> None:
        book, topic, _ = web_book
        crawl = tmp_path / "crawl"
        command = ["crawl", "--seed", "http://a.test/", "-o", crawl]
        assert "there is no topic book" in refused(*command, "--topic", topic, "--book", tmp_path / "no.db")
        assert topic in refused(*command, "--topic", topic[:-1] + "x", "--book", book)
        assert not crawl.exists()


def test_examples_and_judgements_by_url(server, book: Path, settings: Path, tmp_path: Path) -> None:
    env = {**os.environ, "LYCOSA_CONFIG": str(settings)}
    told = done("topics", "examples", "Cycling", "--add", server.url(0), "--book", book, env=env)
    assert "1 added" in told
    row = json.loads(done("judge", server.url(0), "--topic", "Cycling", "--book", book, "--json", env=env))
    assert 0 <= row["relevance"] <= 1
    missing = done("judge", server.url(0) + "/never/there", "--words", "tandem", "--json", env=env)
    assert "404" in json.loads(missing)["error"]
