"""The structured traversal cuts documents into the blocks of the walk, and keeps its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from lycosa.page.content import MAX_NESTING, NOWHERE, ContentBlock, ContentElement, structured
from lycosa.page.walk import walk

TAGS = (  # noqa: SIM905 - words in rows are easier to read than a list of quoted ones
    "div p span a b i code pre br hr ul li ol table tr td th h1 h3 dl dt dd blockquote nav main header footer select "
    "option button textarea svg title noscript section article aside center form img script"
).split()


def texts(html: str) -> list[str]:
    """The text of each block that has any, as the walk would give it."""
    content = structured(LexborHTMLParser(html))
    pieces = ["".join(part for part in block.parts if type(part) is str) for block in content.blocks]
    return [
        " ".join(piece.replace("\xad", "").split())
        for piece, block in zip(pieces, content.blocks, strict=True)
        if block.first != NOWHERE
    ]


@st.composite
def documents(draw: st.DrawFn) -> str:
    words = st.sampled_from(["word ", " two words", "\n", " ", "x", "\xad", "&shy;", "é\u2028", "<!-- c -->", "&amp;"])
    tags = st.sampled_from(TAGS).flatmap(
        lambda tag: st.sampled_from([f"<{tag}>", f"</{tag}>", f"<{tag} href=u class='nav' role=main>"])
    )
    return "".join(draw(st.lists(st.one_of(words, tags), max_size=40)))


class TestBlocks:
    @settings(max_examples=200, deadline=None)
    @given(documents())
    def test_they_are_those_of_the_walk(self, html):
        parser = LexborHTMLParser(html)
        walked = walk(html.encode(), path_depth=4)
        content = structured(parser)
        assert content.walked == len(walked.blocks)
        for block in content.blocks:
            if block.first != NOWHERE:
                text = "".join(part for part in block.parts if type(part) is str)
                assert " ".join(text.replace("\xad", "").split()) == walked.blocks[block.first]

    def test_a_control_character_makes_two_of_one(self):
        html = "<p>one &#2; two</p><p>three</p>"
        walked = walk(html.encode(), path_depth=4)
        content = structured(LexborHTMLParser(html))
        assert walked.blocks == ["one", "two", "three"]
        assert [(block.first, block.count) for block in content.blocks] == [(0, 2), (2, 1)]

    def test_form_controls_are_counted_and_left_out(self):
        html = "<p>before</p><button>press</button><select><option>one</select><p>after</p>"
        content = structured(LexborHTMLParser(html))
        assert texts(html) == ["before", "after"]
        assert [block.first for block in content.blocks] == [0, 3]

    def test_a_picture_is_a_block_without_text(self):
        (block,) = structured(LexborHTMLParser("<p><img alt='A cat' src=cat.png></p>")).blocks
        assert (block.first, block.size) == (NOWHERE, 0)


class TestCues:
    @pytest.mark.parametrize(
        "name", ["nav", "navbar", "site-footer", "breadcrumbs", "topnav", "search-box", "prev-next", "Menu"]
    )
    def test_names_of_navigation(self, name):
        for attribute in ("class", "id"):
            (block,) = structured(LexborHTMLParser(f"<div {attribute}='x {name}'>text</div>")).blocks
            assert block.navigation > 0

    @pytest.mark.parametrize("name", ["navy", "content", "researchers", "has-sidebar", "unrelated", "text"])
    def test_other_names(self, name):
        (block,) = structured(LexborHTMLParser(f"<div class='{name}'>text</div>")).blocks
        assert block.navigation == NOWHERE

    def test_a_sidebar_is_less_certain(self):
        (block,) = structured(LexborHTMLParser("<div class=sidebar>text</div>")).blocks
        assert block.navigation < NOWHERE

    def test_within_main_the_name_of_what_is_around_it_counts_no_more(self):
        html = "<div class=menu-page>a<main class=search-results>b</main>c</div>"
        before, inside, after = structured(LexborHTMLParser(html)).blocks
        assert inside.main > 0
        assert inside.navigation == NOWHERE
        assert before.main == after.main == NOWHERE
        assert before.navigation == after.navigation > 0

    @pytest.mark.parametrize("html", ["<div role=main>x</div>", "<div itemprop=articleBody>x</div>", "<main>x</main>"])
    def test_declared_main(self, html):
        assert structured(LexborHTMLParser(html)).blocks[0].main > 0

    def test_an_article_is_less_certain(self):
        assert structured(LexborHTMLParser("<article>x</article>")).blocks[0].main < NOWHERE


class TestBounds:
    def depth(self, container: ContentElement) -> int:
        deepest, open_ones = 0, [container]
        while open_ones:
            one = open_ones.pop()
            deepest = max(deepest, one.depth)
            open_ones += [child for child in one.children if isinstance(child, ContentElement)]
        return deepest

    @pytest.mark.parametrize("tag", ["ul><li", "blockquote", "table><tr><td", "dl><dd"])
    def test_deep_nesting_keeps_its_text(self, tag):
        html = f"<{tag}>" * 400 + "deep inside" + "<p>and more"
        content = structured(LexborHTMLParser(html))
        assert self.depth(content.root) <= MAX_NESTING + 1
        assert texts(html) == ["deep inside", "and more"]

    def test_open_marks_do_not_multiply(self):
        """A hundred thousand blocks within thousands of inline elements: each block repeats a few marks, not all."""
        html = "<b><i><a href=x><code>" * 2_000 + "<p>x" * 5_000
        content = structured(LexborHTMLParser(html))
        assert len(content.blocks) == 5_000
        assert max(len(block.parts) for block in content.blocks) < 12

    def test_nothing_at_all(self):
        content = structured(LexborHTMLParser(""))
        assert (content.blocks, content.walked) == ([], 0)


class TestMarks:
    def test_a_link_around_blocks_is_in_each_of_them(self):
        content = structured(LexborHTMLParser("<a href=u><h3>Title</h3><p>Text</p></a> after"))
        assert [block.linked for block in content.blocks[:2]] == [5, 4]
        assert content.blocks[2].linked == 0

    def test_only_a_line_break_joins(self):
        content = structured(LexborHTMLParser("<p>a<br>b<br><br>c</p><p>d</p>"))
        assert [block.is_joined for block in content.blocks] == [False, True, False, False]

    def test_blocks_belong_to_their_containers(self):
        root = structured(LexborHTMLParser("<ul><li>a<li>b</ul>")).root
        (ul,) = root.children
        assert isinstance(ul, ContentElement)
        assert len(ul.children) == 2
        assert all(
            isinstance(item.children[0], ContentBlock) for item in ul.children if isinstance(item, ContentElement)
        )
