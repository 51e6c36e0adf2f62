"""What one shard tells another: it comes out as it went in, and the hunter learns the same from it."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.crawl.letters import LinkLetter, PageLetter, link_letter, opened_letter, page_letter, without_digest
from lycosa.crawl.link_rules import FoundLink
from lycosa.crawl.shard import FIRST_PAGES, Sending, Shard
from lycosa.errors import ConfigError, StoreError
from lycosa.fetch.urls import url_hash
from lycosa.model import Fetched, Guidance, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.store.rows import Batch, LinkRow, State
from lycosa.strategies.hunter.notes import digest, digest_part
from lycosa.strategies.protocol import Abilities

LINKS = [
    Link("http://a.test/1", "First one", "a First one of many", "html/a", "", 0),
    Link("http://b.test/2", "Zweiter \ud800 Link", "the second", "html/a", "nofollow ugc", 1, ("other", "text")),
    Link("http://a.test/3", "", "", "html/a", "", 2),
]
PAGE = Page(
    "http://a.test/",
    title="A \x00 title",
    language="en",
    words=7,
    fingerprint=2**64 - 1,
    links=LINKS,
    link_hashes=np.array([url_hash(link.url) for link in LINKS]).tobytes(),
)
FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)


def visit(*, distance: int = 2, judgement: Judgement | None = None) -> Visit:
    lease = Lease(5, PAGE.url, 1, 0.5, distance, 0, 0)
    return Visit(Fetched(lease, FETCHED, ended=12.5), FETCHED, PAGE, judgement)


def test_a_page_arrives_as_it_was_told():
    said = Judgement(0.1, False, {"Cycling": 0.25}, best="Cycling", guide=Guidance(0.75, True))
    letter = opened_letter(page_letter(visit(judgement=said), PAGE, LINKS[1:], b"digest"))
    assert isinstance(letter, PageLetter)
    arrived = letter.visit(17, 3, b"note")
    assert (arrived.lease.id, arrived.lease.host, arrived.lease.distance, arrived.note) == (17, 3, 2, b"note")
    assert arrived.judgement == Judgement(0.75, True, {"Cycling": 0.25}, best="Cycling")  # what guides the crawl
    page = arrived.page
    assert page is not None
    assert (page.url, page.title, page.fingerprint, page.digest) == (PAGE.url, PAGE.title, 2**64 - 1, b"digest")
    assert page.links == [link._replace(context="", path="") for link in LINKS[1:]]
    assert page.link_hashes == PAGE.link_hashes[8:]


def test_what_is_kept_of_it_has_no_digest():
    value = page_letter(visit(), PAGE, LINKS, b"x" * 1_000)
    kept = without_digest(value)
    assert len(kept) == len(value) - 1_000
    assert opened_letter(kept).page.links == opened_letter(value).page.links


def test_a_link_arrives():
    found = FoundLink(3, 1, 0.125, "too many redirects")
    assert opened_letter(link_letter("http://c.test/", found)) == LinkLetter("http://c.test/", found)


@pytest.mark.parametrize("value", [b"", b"\x01", b"\x01\x05\x00\x00\x00{}", b"\x02\x02\x00\x00\x00{}"])
def test_a_letter_that_is_none(value):
    with pytest.raises(StoreError, match="the same version of Lycosa"):
        opened_letter(value)


def test_a_part_of_a_digest_is_the_digest_of_a_page_with_these_links_alone():
    def vector(_terms: object) -> tuple[np.ndarray, np.ndarray]:
        return np.array([3, 9], dtype=np.uint16), np.array([1, 2], dtype=np.uint8)

    for places in ([], [0], [1, 2], [0, 1, 2]):
        part = Page(PAGE.url, links=[LINKS[place] for place in places])
        assert digest_part(digest(PAGE, vector), np.array(places, dtype=np.int64)) == digest(part, vector)


class TestSending:
    """Hosts a, b and c belong to shards 0, 1 and 2; this is shard 0."""

    def made(self, **sent: int) -> Sending:
        shard = Shard(number=0, count=3, owner_of=lambda host: "abc".index(host[0]))
        return Sending(shard, {int(name[2:]): number for name, number in sent.items()}, Abilities())

    def test_links_go_to_their_owner_and_numbers_go_on(self):
        batch, sending = Batch(), self.made(to1=4)
        sending.add_page(visit(), PAGE, np.array([1, 2, 3]), batch, number=FIRST_PAGES)
        sending.add_page(visit(), PAGE, np.array([1, 2, 3]), batch, number=FIRST_PAGES)
        assert [(letter.target, letter.sender, letter.number) for letter in batch.letters] == [(1, 0, 5), (1, 0, 6)]
        assert [link.url for link in opened_letter(batch.letters[0].value).page.links] == ["http://b.test/2"]

    def test_all_hear_of_a_seed(self):
        batch = Batch()
        self.made().add_page(visit(distance=0), PAGE, np.array([1, 2, 3]), batch, number=FIRST_PAGES)
        assert [letter.target for letter in batch.letters] == [1, 2]
        assert opened_letter(batch.letters[1].value).page.links == []

    def test_all_hear_of_the_first_pages(self):
        batch, sending = Batch(), self.made()
        for number in (1, FIRST_PAGES // 3, FIRST_PAGES // 3 + 1):
            sending.add_page(visit(), PAGE, np.array([1, 2, 3]), batch, number=number)
        assert [letter.target for letter in batch.letters] == [1, 2, 1, 2, 1]

    def test_what_is_found_otherwise_is_sent_alone_and_once(self):
        row = LinkRow(2, "http://b.test/2", 2, 1, State.ELSEWHERE, 0.5, 3, 1, 0, 1, "", "", "")
        others = [row._replace(id=9, url="http://c.test/"), row._replace(id=10, state=State.WAITING)]
        batch, sending = Batch(links=[row, *others]), self.made()
        sending.add_page(visit(), PAGE, np.array([1, 2, 3]), batch, number=FIRST_PAGES)  # tells of link 2
        sending.add_rest(batch)
        alone = [opened_letter(letter.value) for letter in batch.letters[1:]]
        assert alone == [LinkLetter("http://c.test/", FoundLink(3, 1, 0.5, ""))]

    def test_a_strategy_that_needs_the_text_of_pages(self):
        shard = Shard(number=0, count=1, owner_of=lambda _: 0)
        with pytest.raises(ConfigError, match="does not travel between the crawlers of a cluster"):
            Sending(shard, {}, Abilities(needs_whole_pages=True))
