"""A world returns what was added, page by page and link by link."""

import pickle
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import InputError
from lycosa.fetch.urls import url_hash
from lycosa.judges.tfidf import bigrams_of, lead_of
from lycosa.lab.worlds.container import Container, Spills, write
from lycosa.lab.worlds.info import info
from lycosa.lab.worlds.world import FORMAT, World
from lycosa.lab.worlds.writer import WorldWriter
from lycosa.lib.text import term_counts
from lycosa.model import OPENING_WORDS, Link, Page

A, B, C, OLD, LOST = (f"http://{name}.test/" for name in ("a", "b", "c", "old", "lost"))


def page_of(url: str, *links: Link, **more: object) -> Page:
    links = tuple(link._replace(position=position) for position, link in enumerate(links))
    hashes = struct.pack(f"={len(links)}q", *(url_hash(link.url) for link in links))
    return Page(url, links=links, link_hashes=hashes, **more)  # type: ignore[arg-type]


PAGES = [
    page_of(
        A,
        Link(C, "see c", "please see c now", "html/body/a", other_anchors=("c again", "moved")),
        Link(LOST, "lost", rel="nofollow ugc"),
        Link(OLD, "moved", "it moved"),
        title="Ä page",
        beginning="How wheels ä turn",
        language="en",
        terms={"wheel": 3, "bicycl": 1},
        words=4,
        fingerprint=2**64 - 3,
    ),
    page_of(
        B,
        Link(A, "see c"),
        Link(C, other_anchors=("c",)),
        title="B",
        terms={"wheel": 1},
        words=1,
        canonical=A,
        is_noindex=True,
    ),
    page_of(C, Link(C + "deep"), terms={}, is_nofollow=True),
]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """a → c, b (through a redirect), lost; b → a, c; c → nothing that is recorded."""
    with WorldWriter(tmp_path / "w") as writer:
        writer.add_page(PAGES[0])
        writer.add_page(PAGES[1], status=203)
        writer.add_redirect(OLD, status=301, location=B)
        writer.add_page(PAGES[2])
        writer.label(A, "Science/Wheels")
        writer.label(C, "Science/Wheels")
        writer.label(C, "Art")
        writer.finish({"source": []})
    return World.open(tmp_path / "w")


def test_pages_come_back_as_they_were_read(world: World) -> None:
    for number, page in ((0, PAGES[0]), (1, PAGES[1]), (3, PAGES[2])):
        again = world.page(number)
        for name in Page.__dataclass_fields__:
            expected = lead_of(page, 200) if name == "lead" else getattr(page, name)
            found = getattr(again, name)
            is_list = name in ("links", "lead")
            assert (list(found) if is_list else found) == (list(expected) if is_list else expected)
    assert [world.status(page) for page in range(4)] == [200, 203, 301, 200]


def test_of_a_text_the_first_words_are_kept(tmp_path: Path) -> None:
    with WorldWriter(tmp_path / "w") as writer:
        writer.add_page(page_of(A, text="menu wheels turn", own_text="wheels  turn " * OPENING_WORDS))
        writer.finish({"source": []})
    kept = World.open(tmp_path / "w").page(0)
    assert kept.beginning.split() == ["wheels", "turn"] * (OPENING_WORDS // 2)
    assert (kept.text, kept.own_text) == ("", "")


def test_a_world_of_before_has_one_anchor_a_link(world: World, tmp_path: Path) -> None:
    container = Container(world.path)
    kept = {name: array for name, array in container.arrays.items() if not name.startswith("other_anchor")}
    with closing(Spills(tmp_path)) as spills:
        columns = {name: spills.column(array.dtype.str[1:], array) for name, array in kept.items()}
        write(tmp_path / "before", columns=columns, meta=container.meta)
    (link, *_) = World.open(tmp_path / "before").links(0)
    assert (link.anchor, link.other_anchors) == ("see c", ())


def test_the_first_stems_of_a_page_are_kept_in_order_for_bigrams(tmp_path: Path) -> None:
    text = "Seas of wind and sails, and wind again. " * 60
    page = page_of(A, title="The tall ship", text=text, own_text=text[40:], terms=term_counts(f"The tall ship {text}"))
    with WorldWriter(tmp_path / "w") as writer:
        writer.add_page(page)
        writer.add_redirect(OLD, status=301, location=A)
        writer.add_page(page_of(B))
        writer.finish({"source": []})
    world = World.open(tmp_path / "w")
    read = world.page(0)
    assert not read.content
    assert list(read.lead[:5]) == ["tall", "ship", "sea", "wind", "sail"]
    assert len(read.lead) == 200
    assert list(bigrams_of(read, 200)) == list(bigrams_of(page, 200))
    assert list(bigrams_of(read, 3)) == list(bigrams_of(page, 3)) == ["tall ship", "ship sea"]
    assert list(world.page(2).lead) == []
    assert read.terms == page.terms


def test_a_world_of_before_has_no_first_stems(world: World, tmp_path: Path) -> None:
    container = Container(world.path)
    kept = {name: array for name, array in container.arrays.items() if not name.startswith("lead_")}
    with closing(Spills(tmp_path)) as spills:
        columns = {name: spills.column(array.dtype.str[1:], array) for name, array in kept.items()}
        write(tmp_path / "before", columns=columns, meta=container.meta)
    assert list(World.open(tmp_path / "before").page(3).lead) == []


def test_pages_are_numbered_in_order_and_found_by_url(world: World) -> None:
    assert len(world) == 4
    assert [world.url(page) for page in range(4)] == [A, B, OLD, C]
    assert [world.page_of(url) for url in (A, B, OLD, C, LOST, "http://never.test/")] == [0, 1, 2, 3, None, None]
    hashes = np.array([url_hash(url) for url in (C, LOST, "http://never.test/", A)])
    numbers = world.number_of_hash(hashes).tolist()
    assert (numbers[0], numbers[2], numbers[3]) == (3, -1, 0)
    assert numbers[1] >= len(world)
    assert world.number_of_hash(hashes[:0]).tolist() == []


def test_urls_that_are_only_linked_to_have_numbers_behind_the_pages(world: World) -> None:
    assert sorted(world.urls[4:]) == [C + "deep", LOST]
    numbers = world.number_of_hash(world.url_hashes)
    assert numbers.tolist() == list(range(6))
    assert [world.hosts[host] for host in world.host_of.tolist()] == ["a.test", "b.test", "old.test", "c.test"]
    assert [url.split("/")[2] for url in world.urls] == [world.hosts[host] for host in world.url_hosts]


def test_links_lie_in_arrays(world: World) -> None:
    assert world.link_offsets.tolist() == [0, 3, 5, 5, 6]
    assert world.link_targets.tolist() == [3, -1, 2, 0, 3, -1]
    assert [world.urls[number] for number in world.link_urls] == [C, LOST, OLD, A, C, C + "deep"]
    assert world.link_hashes.tolist() == [url_hash(world.urls[number]) for number in world.link_urls]
    assert (world.anchor(2), world.links(0)[0].context, world.links(0)[1].rel) == (
        "moved",
        "please see c now",
        "nofollow ugc",
    )
    assert world.nofollow.tolist() == [False, True, False, False, False, True]


def test_a_page_s_links_are_a_sequence(world: World) -> None:
    links, expected = world.links(0), list(PAGES[0].links)
    assert len(links) == 3
    assert links[1] == expected[1]
    assert links[-1] == expected[-1]
    assert links[1:] == expected[1:]
    assert links[::-1] == expected[::-1]
    assert links[2:1] == []
    assert list(links) == expected == links
    assert links != expected[:2]
    for index in (3, -4):
        with pytest.raises(IndexError):
            links[index]


def test_terms_by_page_and_as_a_matrix(world: World) -> None:
    assert world.terms(0) == {"wheel": 3, "bicycl": 1}
    assert "wheel" in world.page(1).terms
    assert sum(world.page(0).terms.values()) == 4
    data, indices, indptr = world.term_matrix()
    assert indptr.tolist() == [0, 2, 3, 3, 3]
    assert [world.vocabulary[term] for term in indices] == ["wheel", "bicycl", "wheel"]
    assert data.tolist() == [3, 1, 1]


def test_redirects_lead_on(world: World) -> None:
    assert world.is_redirect(2)
    assert world.location(2) == B
    assert world.location(0) == ""
    assert len(world.links(2)) == 0
    assert world.graph.of(0).tolist() == [1, 3]
    assert world.back_graph.of(3).tolist() == [0, 1]
    assert world.back_graph.of(2).tolist() == []


def test_redirects_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    with WorldWriter(tmp_path / "w") as writer:
        writer.add_page(page_of(A, Link(B), Link(LOST)))
        writer.add_redirect(B, status=302, location=C)
        writer.add_redirect(C, status=302, location=B)
        writer.add_redirect(LOST, status=302, location="nonsense")
        writer.finish({})
    assert World.open(tmp_path / "w").graph.pages.tolist() == []


def test_distances_follow_links_both_ways(world: World) -> None:
    assert world.distances([1]).tolist() == [1, 0, -1, 1]
    assert world.distances([3]).tolist() == [-1, -1, -1, 0]
    assert world.distances([1], is_backward=True).tolist() == [1, 0, -1, -1]


def test_topics(world: World) -> None:
    assert world.topics == ["Art", "Science/Wheels"]
    assert world.pages_of("Science/Wheels").tolist() == [0, 3]
    assert [world.topics_of(page) for page in range(4)] == [["Science/Wheels"], [], [], ["Art", "Science/Wheels"]]
    assert world.match("Science/*") == ["Science/Wheels"]
    assert world.match("Art") == ["Art"]
    with pytest.raises(InputError, match="'Sience/Wheel'; the nearest are Science/Wheels"):
        world.match("Sience/Wheel")
    with pytest.raises(InputError, match="no topic 'Arts'; the nearest are Art"):
        world.pages_of("Arts")


def test_a_world_goes_to_another_process_by_its_name(world: World) -> None:
    again = pickle.loads(pickle.dumps(world))
    assert again.path == world.path
    assert again.title(0) == "Ä page"


def test_info_counts_by_hand(world: World) -> None:
    found = info(world)
    assert found == {
        "pages": 3,
        "redirects": 1,
        "edges": 4,  # a → b (through the redirect), a → c, b → a, b → c
        "edges_across_hosts": 4,
        "links": 6,
        "dangling_links": 2,
        "hosts": 4,
        "terms": 3,  # two of the text, and "page" of a title
        "labelled_pages": 2,
        "topics": {"Art": 1, "Science/Wheels": 2},
        "pages_without_in_link": 0,
        "reachability": 1.0,
        "topical_locality": 1 / 2,  # of a's two edges one leads to c
        "topical_base_rate": 1 / 2,  # of the two other pages one is of the topic
    }


def test_info_notices_damage(world: World) -> None:
    content = bytearray(world.path.read_bytes())
    content[-1] ^= 1
    world.path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        info(World.open(world.path))


def test_a_container_that_is_no_world_is_refused(tmp_path: Path) -> None:
    spills = Spills(tmp_path)
    write(tmp_path / "other", columns={"numbers": spills.column("i4", [1])}, meta={"kind": "world", "format": 1})
    with pytest.raises(InputError, match="another version"):
        World.open(tmp_path / "other")


def test_a_world_of_another_format_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Container(world.path).meta["format"] == FORMAT
    monkeypatch.setattr("lycosa.lab.worlds.world.FORMAT", FORMAT + 1)
    with pytest.raises(InputError, match="another version"):
        World.open(world.path)
