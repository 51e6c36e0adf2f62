"""The topic book and the sites of a crawl, as the page asks for them."""

from __future__ import annotations

import json

import pytest

from lycosa.errors import InputError
from lycosa.judges.classifier import Example
from lycosa.topics.book import TopicBook
from lycosa.topics.importing import text_page
from lycosa.web.sites import matrix

from .conftest import SCRIPT, both_stores, client_of

WORDS = {
    "Sport/Cycling": "bicycle pedal saddle touring chain derailleur handlebar",
    "Food/Soup": "broth onion ladle simmer stock celery tureen",
    "Sport/Sailing": "boat sail mast harbour keel rudder regatta",
}


def fill(book: TopicBook) -> None:
    """Eight examples for each topic, each a little different, with hostile titles."""
    for topic, words in WORDS.items():
        pages = [
            text_page(
                f"http://{topic[-3:].lower()}.test/{number}",
                SCRIPT,
                f"{words} {words.split()[number % 7]} word{number}",
            )
            for number in range(8)
        ]
        book.add_examples([Example(page, (topic,)) for page in pages], makes_topics=True)


@pytest.fixture
def topics(folder):
    with TopicBook(folder / "topics.db") as book:
        fill(book)
    with client_of(folder) as client:
        yield client


def by_path(found):
    return {topic["path"]: topic for topic in found["topics"]}


def test_without_a_book_there_are_no_topics_and_adding_one_begins_it(changing, folder):
    assert changing.get("/api/topics").json()["topics"] == []
    assert not (folder / "topics.db").exists()
    assert changing.post("/api/topics", json={"do": "good", "topic": "Sport"}).status_code == 404
    found = changing.post("/api/topics", json={"do": "add", "topic": "Sport/Cycling"}).json()
    assert list(by_path(found)) == ["Sport", "Sport/Cycling"]


def test_the_tree_is_edited(topics):
    assert by_path(topics.get("/api/topics").json())["Food/Soup"]["examples"] == 8
    found = topics.post("/api/topics", json={"do": "move", "topic": "Food/Soup", "to": "Sport"}).json()
    assert by_path(found)["Sport/Soup"]["examples"] == 8
    found = topics.post("/api/topics", json={"do": "rename", "topic": "Sport/Soup", "to": "Broth"}).json()
    assert "Sport/Broth" in by_path(found)
    found = topics.post("/api/topics", json={"do": "good", "topic": "Cycling"}).json()
    assert by_path(found)["Sport/Cycling"]["is_good"]
    found = topics.post("/api/topics", json={"do": "plain", "topic": "Cycling"}).json()
    assert not by_path(found)["Sport/Cycling"]["is_good"]
    found = topics.post("/api/topics", json={"do": "remove", "topic": "Food"}).json()
    assert "Food" not in by_path(found)
    refused = topics.post("/api/topics", json={"do": "move", "topic": "Sport", "to": "Sport/Cycling"})
    assert refused.status_code == 400


def test_examples_are_listed_moved_and_removed(topics):
    rows = topics.get("/api/topics/examples?topic=Soup").json()["examples"]
    assert [row["title"] for row in rows] == [SCRIPT] * 8
    move = {"do": "move", "ids": [rows[0]["id"]], "away_from": "Food/Soup", "to": "Sport/Cycling"}
    found = topics.post("/api/topics/examples", json=move).json()
    assert (by_path(found)["Food/Soup"]["examples"], by_path(found)["Sport/Cycling"]["examples"]) == (7, 9)
    assert found["version"] == 0  # nothing was trained
    again = topics.post("/api/topics/examples", json=move)
    assert again.status_code == 400
    assert "is not under 'Food/Soup'" in again.json()["error"]
    found = topics.post("/api/topics/examples", json={"do": "remove", "ids": [rows[1]["id"]]}).json()
    assert by_path(found)["Food/Soup"]["examples"] == 6


def test_a_judge_is_trained_and_says_where_a_text_belongs(topics):
    early = topics.post("/api/topics/classify", json={"text": "a saddle and a pedal for touring"})
    assert early.status_code == 400
    assert "no trained judge" in early.json()["error"]
    found = topics.post("/api/topics/train", json={"kind": "bayes"}).json()
    assert found["report"]["tested"] == 24
    assert [judge["kind"] for judge in found["judges"]] == ["bayes"]
    fit = topics.post("/api/topics/classify", json={"text": "a saddle and a pedal for touring"}).json()
    assert fit["pages"][0]["leaves"][0]["topic"] == "Sport/Cycling"


def test_only_addresses_become_examples(topics):
    for urls in ("--book=/tmp/x", "file:///etc/passwd", "\n", "ftp://a.test/"):
        assert topics.post("/api/topics/examples/add", json={"topic": "Soup", "urls": urls}).status_code == 400


@both_stores
def test_sites_distances_and_hubs(client):
    found = client.get("/api/crawls/cycling/sites").json()
    assert sum(site["pages"] for site in found["sites"]) == 24
    assert sum(row["pages"] for row in found["distances"]) == 24
    assert json.dumps(client.get("/api/crawls/cycling/neighbours").json()["neighbours"]) == "[]"


@both_stores
def test_hubs_come_with_the_links_among_them(client, monkeypatch):
    pages = client.get("/api/crawls/cycling/results?is_relevant=true&order=oldest").json()["pages"]
    rows = [{"link": page["id"], "url": page["url"]} for page in pages]
    asked: list[tuple[str, ...]] = []

    def distilled(*words: str, seconds: float) -> str:
        asked.append(words)
        return json.dumps({"hubs": rows[:3], "authorities": rows[3:], "sites": [], "unvisited": []})

    monkeypatch.setattr("lycosa.web.sites.command_output", distilled)
    found = client.get("/api/crawls/cycling/hubs?within_sites=true&top=7").json()
    assert asked[0][:5] == ("distill", "--json", "--top", "7", "--within-sites")
    assert [row["number"] for row in found["hubs"]] == [page["number"] for page in pages[:3]]
    ids = {page["id"] for page in pages}
    assert found["links"]  # every page links to the next but one, which is relevant, too
    assert all({link["source"], link["target"]} <= ids for link in found["links"])
    assert all(link["source"] != link["target"] for link in found["links"])


@both_stores
def test_sites_that_cite_each_other(client):
    found = client.get("/api/crawls/cycling/citations").json()
    assert found["kind"] == "sites"  # its judge knows no topics
    assert sorted(found["names"]) == ["h0.test", "h1.test", "h2.test"]
    place = {name: number for number, name in enumerate(found["names"])}
    sql = """select a.name, b.name from links l join judgements s on s.page_id = l.source_id and s.is_relevant = 1
             join judgements t on t.page_id = l.target_id and t.is_relevant = 1 join frontier f on f.id = l.source_id
             join frontier g on g.id = l.target_id join hosts a on a.id = f.host_id join hosts b on b.id = g.host_id
             where l.source_id != l.target_id"""
    counted = [[0] * 3 for _ in range(3)]
    for source, target in client.post("/api/crawls/cycling/sql", json={"sql": sql}).json()["rows"]:
        counted[place[source]][place[target]] += 1
    assert found["counts"] == counted
    assert sum(map(sum, counted)) > 0


def test_a_matrix_has_the_focus_first_and_counts_what_it_leaves_out():
    links = [("A/x", "B/y", 5), ("B/y", "B/y", 9), ("A/x", "A/x", 2), ("C", "B/y", 1)]
    found = matrix(links, ["A"])
    assert found == {
        "names": ["A/x", "B/y", "C"],
        "is_good": [True, False, False],
        "counts": [[2, 5, 0], [0, 9, 0], [0, 1, 0]],
        "outside": 0,
    }
    many = matrix([(f"t{number}", f"t{number}", 100 - number) for number in range(20)], [])
    assert (len(many["names"]), many["names"][0]) == (14, "t0")
    assert many["outside"] == sum(100 - number for number in range(14, 20))


def test_a_crawl_without_relevant_pages_says_why_there_are_no_hubs(client, monkeypatch):
    def refused(*words: str, seconds: float) -> str:
        raise InputError("no page with any relevance yet")

    monkeypatch.setattr("lycosa.web.sites.command_output", refused)
    answer = client.get("/api/crawls/cycling/hubs")
    assert (answer.status_code, answer.json()["error"]) == (400, "no page with any relevance yet")
