"""Pages are read by the stop words and the stemmer of their own language, in mixed crawls too."""

from __future__ import annotations

import pytest

from lycosa import Crawl
from lycosa.config import Config, build, load_crawl
from lycosa.crawl.reading import Reading, read_response
from lycosa.errors import ConfigError
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.bayes.bayes import BayesClassifier
from lycosa.judges.classifier import Example
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.svm import SvmClassifier
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lib.wordhash import number_of
from lycosa.model import Fetched, Lease, Page, Response
from lycosa.page.limits import PageLimits
from lycosa.strategies.hunter.notes import Digest, digest
from lycosa.strategies.papers.page_words import PageWords
from lycosa.topics.book import TopicBook
from lycosa.topics.importing import text_page
from lycosa.topics.judges import topic_judge, train_judge

GERMAN = (
    "Mit dem Fahrrad durch die Alpen: wir haben für alle, die gern auf Rädern unterwegs sind, die schönsten Wege "
    "gesammelt, und was man auf einer langen Reise mit Fahrrädern nicht vergessen darf, steht hier auch. "
)
ENGLISH = (
    "By bicycle through the Alps: for all of you that like to ride there are the best of the roads, and their maps. "
)


def page(text: str, *, words: str = "", limits: PageLimits | None = None, **judge) -> Page:
    urls = Urls(UrlRules())
    body = f"<title>Seite</title><p>{text} <a href='/x'>die Fahrräder</a></p>"
    response = Response("http://a.test/", 200, [("content-type", "text/html; charset=utf-8")], body.encode())
    reading = Reading(urls=urls, judge=KeywordJudge("x1"), words=words, limits=limits or PageLimits())
    found = read_response(response, reading).page
    assert found is not None
    return found


class TestReading:
    def test_a_page_is_read_in_its_own_language(self):
        found = page(GERMAN * 3)
        assert (found.language, found.stemmed_in) == ("de", "de")
        assert found.terms["fahrrad"] == 7  # Fahrrad, Fahrrädern, Fahrräder
        assert not {"die", "und", "für", "mit"} & found.terms.keys()

    def test_an_english_page_as_ever(self):
        found = page(ENGLISH * 3)
        assert (found.language, found.stemmed_in) == ("en", "en")
        assert {"bicycl", "die"} <= found.terms.keys()

    def test_one_language_for_all_pages(self):
        assert page(GERMAN * 3, limits=PageLimits(language="en")).terms["fahrrädern"] == 3
        assert page(ENGLISH * 3, limits=PageLimits(language="de")).stemmed_in == "de"
        with pytest.raises(ConfigError, match=r"page\.language is 'klingon': it must be auto or one of ar, ca"):
            PageLimits(language="klingon")

    def test_words_of_the_topic_are_found_in_every_language(self):
        plain, met = page(GERMAN * 3), page(GERMAN * 3, words="Fahrräder")
        judge = KeywordJudge("Fahrräder")
        assert judge.judge(plain).relevance == 0.0
        assert judge.judge(met).relevance > 0.3
        assert (
            ContrastJudge.fit((), "Fahrräder").judge(met).relevance
            > ContrastJudge.fit((), "Fahrräder").judge(plain).relevance
        )

    def test_a_crawl_from_words_reads_so(self):
        config = Config(topic="Fahrräder", seeds=("http://a.test/",))
        assert config.reading(KeywordJudge("Fahrräder")).words == "Fahrräder"
        assert Config(topic="Fahrräder", topics=("Rad",)).reading(KeywordJudge("x1")).words == ""

    def test_a_crawl_begun_before_goes_on_as_it_was(self, tmp_path):
        (tmp_path / "lycosa.toml").write_text("topic = 'Fahrrad'\n")
        begun = build(("file", load_crawl(tmp_path / "lycosa.toml", is_begun=True)))
        fresh = build(("file", load_crawl(tmp_path / "lycosa.toml", is_begun=False)))
        assert (begun.page.language, fresh.page.language) == ("en", "auto")


class TestLinks:
    def test_words_near_a_link_are_those_of_the_page(self):
        found = page(GERMAN * 3)
        vector = ContrastJudge.fit((), "Fahrrad").study().vector
        near = set(Digest.from_bytes(digest(found, vector)).near.ravel().tolist())
        assert number_of("fahrrad") in near
        assert number_of("die") not in near
        assert PageWords(found).evidence(["fahrrad"])[0, 0] > 0

    def test_short_texts_are_read_in_the_languages_they_may_be_in(self):
        assert KeywordJudge("Fahrrad").score_text("Fahrräder") == 0.0
        assert KeywordJudge("Fahrrad", languages=("en", "de")).score_text("Fahrräder") == pytest.approx(1.0)
        assert KeywordJudge("Fahrrad", languages=("en", "de")).score_text("") == 0.0


def examples() -> list[Example]:
    """Two topics in two languages; anchors will have other forms of their words."""
    texts = {
        "Rad": (
            "Das Fahrrad und der Reifen, die Kette und der Sattel: wie man ein Fahrrad pflegt, das steht auch hier.",
            "The bicycle and its tyre, the chain and the saddle: how to look after your bicycle is what they have.",
        ),
        "Boot": (
            "Das Boot und das Segel, der Mast und das Ruder: wie man ein Boot pflegt, das steht auch in diesem Buch.",
            "The boat and its sail, the mast and the rudder: how to look after your boat is what they have in it.",
        ),
    }
    return [
        Example(text_page(f"http://a.test/{topic}/{number}/{at}", "", f"{text} Nummer {number}"), (topic,))
        for topic, pair in texts.items()
        for at, text in enumerate(pair)
        for number in range(6)
    ]


class TestTrained:
    def test_examples_are_read_in_their_languages(self):
        german, english = text_page("a", "", GERMAN), text_page("b", "", ENGLISH)
        assert (german.stemmed_in, english.stemmed_in) == ("de", "en")
        assert german.terms["fahrrad"] == 2

    @pytest.mark.parametrize("kind", [BayesClassifier, SvmClassifier])
    def test_a_mixed_book_judges_pages_and_anchors_in_both(self, kind):
        judge = TopicJudge(kind().fit(examples(), ["Boot", "Rad"]), ["Rad"], languages=("de", "en"))
        german = text_page(
            "x", "", "Viele Fahrräder und ihre Ketten, mit neuen Reifen und mit einem der Sättel, die man so hat."
        )
        assert judge.judge(german).relevance > 0.6
        assert judge.score_text("Fahrräder") > 0.3
        assert judge.score_text("bicycles") > 0.3
        only_english = TopicJudge(judge.classifier, ["Rad"])
        assert only_english.score_text("Fahrräder") == 0.0

    def test_the_book_knows_its_languages(self, tmp_path):
        with TopicBook(tmp_path / "topics.db") as book:
            assert book.languages() == ("en",)
            for topic in ("Rad", "Boot"):
                book.add_topic(topic)
            book.add_examples(examples())
            assert set(book.languages()) == {"de", "en"}
            train_judge(book, "bayes")
            assert set(topic_judge(book, ["Rad"], threshold=0.5).languages) == {"de", "en"}
            assert topic_judge(book, ["Rad"], threshold=0.5, languages=("fr",)).languages == ("fr",)


class Recorded:
    """A web in a dictionary."""

    def __init__(self, pages: dict[str, str]) -> None:
        self._pages = pages

    async def fetch(self, lease: Lease) -> Fetched:
        body = self._pages.get(lease.url)
        return Fetched.missing(lease) if body is None else Fetched.page(lease, f"<title>Seite</title>{body}")


@pytest.mark.parametrize("strategy", ["hunter", "best-first"])
def test_a_crawl_from_words_over_a_mixed_web(strategy, tmp_path):
    seed, bikes, boats, english = (f"http://a.test/{name}" for name in ("", "rad", "boot", "en"))
    boat = "Das Boot und sein Segel, und wie man mit dem Wind auf einem See nicht nur im Kreis fährt. " * 3
    pages = {
        seed: f"<p>{GERMAN}</p><a href=/boot>Boote</a> <a href=/rad>Räder</a> <a href=/en>English</a>",
        bikes: f"<p>{GERMAN * 3}</p>",
        boats: f"<p>{boat}</p>",
        english: f"<p>{ENGLISH * 3}</p>",
    }
    crawl = Crawl(
        "Fahrräder",
        seeds=[seed],
        directory=tmp_path / "crawl",
        strategy=strategy,
        fetcher=Recorded(pages),
        readers={"count": 1},
        politeness={"delay": 0.0, "fetch_time_factor": 0.0},
        config={"judge": {"seeds_are_examples": "no"}},
    )
    crawl.run(4)
    rows = {row["url"]: row for row in crawl.report().rows(text=False)}
    assert {url: row["language"] for url, row in rows.items()} == {seed: "de", bikes: "de", boats: "de", english: "en"}
    assert rows[bikes]["relevance"] > max(rows[boats]["relevance"], rows[english]["relevance"])
