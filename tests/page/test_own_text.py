"""A page's own text: menus are left out of what it is judged by, content is not."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.page import read_document
from lycosa.page.furniture import Furniture
from lycosa.page.own_text import MAX_HASHES, SHORT

URL = "http://a.test/page"
PROSE = "Wolf spiders hunt by sight on the ground, and carry their young on their backs."
MENU = "<ul><li><a href=/packages>All packages</a><li><a href=/download>Download</a></ul>"


def read(html: str, furniture: bytes = b"") -> Page:
    return read_document(
        URL, html.encode(), resolver=lambda _: lambda href: (f"http://a.test{href}", ""), furniture=furniture
    )


def known(*pages: str) -> bytes:
    """The furniture of a host that has shown these pages."""
    furniture = Furniture()
    for page in pages:
        furniture.add(1, read(page).blocks)
    return furniture.of(1)


def site(template: str, *, pages: int = 3) -> bytes:
    """The furniture of a host whose pages all look like this; `…` differs from page to page."""
    return known(*(template.replace("…", f"number{page}") for page in range(pages)))


def link(page: Page, path: str):
    (found,) = (link for link in page.links if link.url == f"http://a.test{path}")
    return found


class TestKnownFurniture:
    def test_a_menu_is_dropped_and_content_kept(self):
        page = read(f"<title>Spiders</title>{MENU}<p>{PROSE}</p>", site(f"{MENU}<p>…</p>"))
        assert page.own_text == PROSE
        assert page.text == f"All packages Download {PROSE}"
        assert page.terms == term_counts(f"Spiders {PROSE}")

    def test_words_and_fingerprint_are_those_of_the_own_text(self):
        furniture = site(f"{MENU}<p>…</p>")
        with_menu, without = read(f"{MENU}<p>{PROSE}</p>", furniture), read(f"<p>{PROSE}</p>")
        assert with_menu.fingerprint == without.fingerprint != read(f"{MENU}<p>{PROSE}</p>").fingerprint

    def test_words_of_a_menu_stay_in_running_text(self):
        text = "The download of all packages takes some hours at night, more by day."
        assert read(f"{MENU}<p>{text}</p>", site(f"{MENU}<p>…</p>")).own_text == text

    def test_white_space_and_inline_markup_make_no_difference(self):
        furniture = site("<p>powered by  <b>Spin</b>ner</p><p>…</p>")
        assert read(f"<div>powered\nby Spinner</div><p>{PROSE}</p>", furniture).own_text == PROSE

    def test_text_beside_inner_blocks_is_a_block(self):
        furniture = site("<div>Home<div>…</div>powered by Spinner</div>")
        assert read(f"<div>Home<div>{PROSE}</div>powered by Spinner</div>", furniture).own_text == PROSE

    @pytest.mark.parametrize(
        "row", ["Next: <a href=/n>…</a>, Previous: <a href=/p>…</a>", "posted by <a href=/a>…</a> in <a href=/t>…</a>"]
    )
    def test_a_row_whose_links_have_other_texts_on_each_page(self, row):
        page = read(f"<p>{row}</p><p>{PROSE}</p>", site(f"<p>{row}</p><p>own …</p>"))
        assert page.own_text == PROSE

    def test_several_such_rows(self):
        rows = (
            "<p>Next: <a href=/n>…</a>, Up: <a href=/u>…</a></p><p>posted by <a href=/a>…</a> in <a href=/t>…</a></p>"
        )
        links = "<a href=/1>…</a> <a href=/2>…</a> <a href=/3>…</a>"
        page = read(f"<p>{links} {PROSE}</p>{rows}", site(f"<p>{links}</p>{rows}<p>…</p>"))
        assert page.own_text == f"… … … {PROSE}"

    @pytest.mark.parametrize(
        "row",
        [
            "<a href=/n>…</a> <a href=/p>…</a>",  # no words around the links
            "Next: <a href=/n>…</a> – <a href=/p>…</a>",  # one word
            "see also the page <a href=/n>…</a>",  # one link
            "<a href=/n>…</a> and <a href=/p>…</a> " + "long " * 100,
        ],
    )
    def test_a_list_whose_links_have_other_texts_is_content(self, row):
        page = read(f"<p>{row}</p><p>{PROSE}</p>", site(f"<p>{row}</p><p>own …</p>"))
        assert page.own_text == page.text

    def test_the_title_stays(self):
        furniture = site("<title>Spinner</title><h1>Spinner</h1><p>…</p>")
        page = read(f"<title>Spinner</title><h1>Spinner</h1><p>{PROSE}</p>", furniture)
        assert page.own_text == PROSE
        assert page.terms["spinner"] == 1


class TestDeclaredFurniture:
    @pytest.mark.parametrize(
        "element",
        [
            "<nav>…</nav>",
            "<menu>…</menu>",
            "<search>…</search>",
            "<aside>…</aside>",
            "<footer>…</footer>",
            "<header>… <a href=/>home</a></header>",
            "<div role=navigation>…</div>",
            "<ul role=' Menu '><li>…</ul>",
            "<form role=search>…</form>",
            "<section role=contentinfo>…</section>",
            "<div role=complementary>…</div>",
            "<div role=banner>… <a href=/>home</a></div>",
            "<main><nav>…</nav></main>",
            "<main>.</main><aside>…</aside>",
            "<main></main><aside>…</aside>",
            "<nav></nav><nav>…</nav>",
            "<nav><div>…<footer>…</footer></div>…</nav>",
        ],
    )
    def test_is_dropped_from_the_first_page_on(self, element):
        html = element.replace("…", "<i>menu</i>")
        assert read(f"{html}<p>{PROSE}</p>").own_text.strip(". ") == PROSE.strip(".")
        assert read(f"<p>{PROSE}</p>{html}").own_text.strip(". ") == PROSE.strip(".")

    @pytest.mark.parametrize(
        "html",
        [
            "<header><h1>Heading</h1></header>…",
            "<main><aside>Note</aside>…<footer>Signature</footer></main>",
            "<article><header><a href=/>Heading</a></header>…</article>",
            "<div role=main><aside>Note</aside>…</div>",
            "<nav role=presentation>Text</nav>…",
            "<nav></nav><div>Text</div>…<header></header>",
            "<div role=note>Text</div>…",
            "<form>Text</form>…",
        ],
    )
    def test_headings_and_notes_of_the_content_are_kept(self, html):
        page = read(html.replace("…", f"<p>{PROSE}</p>"))
        assert page.own_text == page.text

    def test_a_region_ends_where_its_element_ends(self):
        page = read(f"before<nav>menu</nav>{PROSE}<nav>menu</nav>after")
        assert page.own_text == f"before {PROSE} after"

    def test_comments_in_a_footer_are_kept(self):
        comment = ("I saw one on the wall last night. " * 4).strip()
        assert len(comment) > SHORT
        html = f"<p>{PROSE}</p><footer><p>Comments</p><p>{comment}</p></footer>"
        assert read(html).own_text == f"{PROSE} {comment}"
        assert read(html.replace("footer", "nav")).own_text == PROSE


class TestNearlyNothingLeft:
    def test_an_index_that_is_all_navigation_keeps_its_text(self):
        page = read("<h1>Index</h1><nav><ul>" + "".join(f"<li>Species {n}" for n in range(30)) + "</ul></nav>")
        assert page.own_text == page.text

    def test_an_index_of_links_is_content(self):
        items = "".join(f"<li><a href=/s{n}>Species {n}</a>" for n in range(30))
        page = read(f"{MENU}<ul>{items}</ul>", site(f"{MENU}…"))
        assert page.own_text == page.text.removeprefix("All packages Download ")

    def test_declared_furniture_is_kept_before_what_is_known_to_be(self):
        chapters = "Chapter one, on eyes. Chapter two, on legs. Chapter three, on webs."
        page = read(f"{MENU}<h1>Contents</h1><nav>{chapters}</nav>", site(f"{MENU}…"))
        assert page.own_text == f"Contents {chapters}"

    def test_an_index_that_is_the_menu_of_the_host(self):
        menu = "".join(f"<li><a href=/s{n}>Species {n}</a>" for n in range(30))
        page = read(f"<ul>{menu}</ul><h1>Species</h1>", site(f"<ul>{menu}</ul>…"))
        assert page.own_text == page.text

    def test_a_short_page_is_judged_by_its_few_words(self):
        menu = "".join(f"<li><a href=/s{n}>Species {n}</a>" for n in range(300))
        short = "Eyes: eight of them, in three rows of different sizes."
        assert read(f"<ul>{menu}</ul><p>{short}</p>", site(f"<ul>{menu}</ul>…")).own_text == short


class TestLinks:
    HTML = f"<div>Home of the <a href=/m>menu</a></div><p>Own <a href=/o>words</a> are here: {PROSE}</p>"

    def test_links_in_furniture_remain_links(self):
        page = read(self.HTML, site("<div>Home of the <a href=/m>menu</a></div>…"))
        assert [each.url for each in page.links] == ["http://a.test/m", "http://a.test/o"]
        assert [each.position for each in page.links] == [0, 1]

    def test_a_link_in_furniture_has_its_block_as_context(self):
        page = read(self.HTML, site("<div>Home of the <a href=/m>menu</a></div>…"))
        assert (link(page, "/m").anchor, link(page, "/m").context) == ("menu", "Home of the menu")

    def test_a_link_in_the_own_text_has_only_own_words_around_it(self):
        page = read(self.HTML, site("<div>Home of the <a href=/m>menu</a></div>…"))
        assert link(page, "/o").context.startswith("Own words are here: Wolf spiders")
        assert "Home" in link(read(self.HTML), "/o").context

    def test_contexts_reach_over_furniture_in_between(self):
        html = f"<p>Before it.</p><nav>menu <a href=/m>row</a></nav><p><a href=/o>After</a> it. {PROSE}</p><nav>x</nav>"
        page = read(html)
        assert link(page, "/o").context.startswith("Before it. After it.")
        assert link(page, "/m").context == "menu row"

    def test_contexts_are_those_of_a_page_without_furniture(self):
        blocks = [f"<p>{n} {PROSE} See <a href=/{n}>number {n}</a> and more. {PROSE}</p>" for n in range(5)]
        menus = ["<nav>a long row of <a href=/m>menu</a> entries</nav>" * n for n in range(5)]
        page = read("".join(menu + block for menu, block in zip(menus, blocks, strict=True)))
        without = read("".join(blocks))
        assert page.own_text == without.text
        assert [link(page, f"/{n}").context for n in range(5)] == [each.context for each in without.links]

    def test_the_reach_of_a_context_begins_where_the_own_part_of_the_link_ends(self):
        html = f"<a href=/o><p>Eyes</p><nav>{'menu ' * 30}</nav></a><p>{'word ' * 100}</p>"
        context = link(read(html), "/o").context
        assert context.startswith("Eyes word word")
        assert 80 <= len(context) <= 90

    def test_a_link_over_several_blocks(self):
        html = f"<nav>menu</nav><a href=/o><h2>Spiders</h2><nav>more</nav><p>{PROSE}</p></a><p>and then</p>"
        page = read(html)
        assert link(page, "/o").anchor.startswith("Spiders more Wolf")
        assert link(page, "/o").context.startswith("Spiders Wolf spiders")

    def test_a_link_of_the_menu_that_the_text_repeats(self):
        text = f"See <a href=/o>the eyes</a>. {PROSE} <a href=/o>x</a>"
        html = f"<nav><a href=/o rel=nofollow>Menu</a></nav><p>{text}</p>"
        (found,) = read(html).links
        assert (found.anchor, found.path, found.rel, found.position) == ("the eyes", "html/body/p/a", "", 0)
        assert found.context.startswith("See the eyes. Wolf")

    def test_a_picture_in_the_text_does_not_take_the_words_of_the_menu(self):
        html = f"<nav><a href=/o>Eyes</a></nav><p>{PROSE}<a href=/o><img src=i></a> <a href=/o>The eyes</a></p>"
        assert link(read(html), "/o").anchor == "The eyes"
        assert link(read(html.replace("The eyes", "")), "/o").anchor == "Eyes"

    def test_a_link_of_the_text_that_the_menu_repeats(self):
        html = f"<p>{PROSE} See <a href=/o>the eyes</a>.</p><nav><a href=/o>Menu</a></nav>"
        assert link(read(html), "/o").anchor == "the eyes"


class TestHashes:
    def test_they_are_the_same_in_every_process(self):
        blocks = np.frombuffer(read("<p>Wolf spiders</p><p>été</p>").blocks, "u4").tolist()
        assert blocks == sorted([crc32(b"Wolf spiders"), crc32("été".encode())])

    def test_the_first_and_the_last_blocks_count(self):
        pages = [
            "<p>head</p>" + "".join(f"<p>{page} {n}</p>" for n in range(10_000)) + "<p>foot</p>" for page in range(3)
        ]
        assert all(len(read(page).blocks) == 4 * MAX_HASHES for page in pages)
        assert read(f"<p>head</p><p>{PROSE}</p><p>foot</p>", known(*pages)).own_text == PROSE

    def test_a_block_of_a_megabyte(self):
        block = "spider " * 150_000
        assert len(read(f"<p>{block}</p>").blocks) == 4
        furniture = site(f"<p>{block}</p><p>…</p>")
        assert read(f"<p>{block}</p><p>{PROSE}</p>", furniture).own_text == PROSE

    def test_plain_text_has_none(self):
        page = read_document(URL, PROSE.encode(), content_type="text/plain", resolver=lambda _: str)
        assert (page.own_text, page.blocks) == (PROSE, b"")
