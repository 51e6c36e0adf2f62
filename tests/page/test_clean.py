"""A document as Markdown and as plain text: structure is kept, furniture left out, and no text becomes structure."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lycosa.fetch.urls import UrlRules, Urls
from lycosa.page.clean import clean_document
from lycosa.page.furniture import Furniture
from lycosa.page.html import read_document
from lycosa.page.limits import PageLimits

URL = "http://a.test/guide/page.html"
RESOLVER = Urls(UrlRules()).resolver
RENDERER = MarkdownIt("commonmark", {"html": True}).enable("table")


def clean(html: str, furniture: bytes = b"", limits: PageLimits = PageLimits(), content_type: str = "text/html"):  # noqa: B008
    return clean_document(
        URL, html.encode(), content_type=content_type, resolver=RESOLVER, furniture=furniture, limits=limits
    )


def markdown(html: str) -> str:
    return clean(html).markdown


def furniture_of(*pages: str) -> bytes:
    known = Furniture()
    for html in pages:
        known.add(1, read_document(URL, html.encode(), resolver=RESOLVER).blocks)
    return known.of(1)


class TestStructure:
    @pytest.mark.parametrize(
        ("html", "expected"),
        [
            ("<h1>Title</h1><p>Text</p>", "# Title\n\nText"),
            ("<h2>Two<br>lines</h2><h6>Six</h6>", "## Two lines\n\n###### Six"),
            ("<p>a <b>bold</b>, <em>em</em> and <code>x = 1</code>.", "a **bold**, *em* and `x = 1`."),
            ("<p><em>int</em><em>, </em><em>optional</em>", "*int, optional*"),
            ("<p><code>a</code><code>b</code> <code>c</code>", "`ab` `c`"),
            ("<p>see <code><a href='/log'>LogLevel</a></code> x", "see [`LogLevel`](http://a.test/log) x"),
            ("<p><code>f(<a href='/i'>int</a> n)</code>", "`f(`[`int`](http://a.test/i) `n)`"),
            ("<p><code>[<em>options</em>...]</code>", "`[options...]`"),
            ("<p><code>f()<a class=headerlink href='#f'>¶</a></code> is", "`f()` is"),
            ("<p>one<br>two", "one  \ntwo"),
            ("<p>one<br><br>two", "one\n\ntwo"),
            ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "- a\n- b\n  - c\n- d"),
            ("<ol start=3><li>a<li><p>b<p>c</ol>", "3. a\n4. b\n\n   c"),
            ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
            ("<dl><dt>Term<dd>What it is", "- **Term**\n\n  What it is"),
            ("<pre>a\n  b\n\nc</pre>", "```\na\n  b\n\nc\n```"),
            ("<pre>a<br>b</pre>", "```\na\nb\n```"),
            ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
            ("<pre><code class='language-python'>x</code></pre>", "```python\nx\n```"),
            ("<div class='highlight-c notranslate'><div><pre>x</pre></div></div>", "```c\nx\n```"),
            ("<div class='highlight-default'><pre>x</pre></div>", "```\nx\n```"),
            ("<ul><li>a<pre>x</pre></ul>", "- a\n\n  ```\n  x\n  ```"),
            (
                "<table><caption>C</caption><tr><th>a<th>b<tr><td>1<td>2<br>3</table>",
                "C\n\n| a | b |\n| --- | --- |\n| 1 | 2 3 |",
            ),
            ("<table><tr><td>a<td>b<td>c<tr><td>1</table>", "| a | b | c |\n| --- | --- | --- |\n| 1 |"),
            ("<table><tr><td><h2>Left</h2>text<td><pre>x</pre></table>", "## Left\n\ntext\n\n```\nx\n```"),
            ("<table><tr><td>alone<td>in a row</table>", "alone in a row"),
            ("<table><tr><td><p>a<p>b<td>c</table>", "a\n\nb\n\nc"),
            ("<dl><dt>One<dt>Two<dd>Both<dt>Three</dl>", "- **One**\n- **Two**\n\n  Both\n\n- **Three**"),
            (
                "<dl><dt><a href=/x>1</a><dd><dl><dt><a href=/y>1.1</a></dl></dl>",
                "- [1](http://a.test/x)\n  - [1.1](http://a.test/y)",
            ),
            ("<dl><dd><dl><dd><dl><dd>No term anywhere", "No term anywhere"),
            ("<table><tr><td><pre>1\n2\n3</pre><td><pre>a\nb\nc</pre></table>", "```\na\nb\nc\n```"),
            ("<p><img alt='A cat' src=../cat.png>", "![A cat](http://a.test/cat.png)"),
            ("<p><img src=x.png> text", "text"),
            ("<h2>Topic<a href='#topic' title=Permalink>¶</a></h2>", "## Topic"),
            ("<h2>Topic<a href='#topic' class='x headerlink'>link</a></h2>", "## Topic"),
            ("<h2>Topic<a href='#topic' class='reference'>link</a></h2>", "## Topiclink"),
            ("<p>f(x)<a href=src.html>[source]</a>", "f(x)"),
        ],
    )
    def test_markdown(self, html, expected):
        assert markdown(html) == expected

    def test_plain_text_has_lines(self):
        html = "<h1>Title</h1><p>One <b>two</b></p><ul><li>a<li>b</ul><pre>x\n  y</pre>"
        html += "<table><tr><th>k<th>v<tr><td>1<td>2</table>"
        assert clean(html).text == "Title\n\nOne two\n\n- a\n- b\n\nx\n  y\n\nk | v\n1 | 2"

    @pytest.mark.parametrize(
        ("href", "expected"),
        [
            ("other.html", "[x](http://a.test/guide/other.html)"),
            ("/top#part", "[x](http://a.test/top#part)"),
            ("HTTPS://b.test", "[x](https://b.test/)"),
            ("#part", "x"),
            ("javascript:alert(1)", "x"),
            ("JaVaScRiPt&colon;alert(1)", "x"),
            ("data:text/html,<script>", "x"),
            ("mailto:a@b.test", "x"),
            ("a(b)c d.html", "[x](http://a.test/guide/a%28b%29c%20d.html)"),
            ("q?a=%22)[y](javascript:z", "[x](http://a.test/guide/q?a=%22%29%5By%5D%28javascript:z)"),
        ],
    )
    def test_links(self, href, expected):
        assert markdown(f'<p><a href="{href}">x</a>') == expected

    def test_links_go_by_the_base(self):
        assert markdown("<base href='http://b.test/d/'><p><a href=x>y</a>") == "[y](http://b.test/d/x)"

    def test_plain_documents_keep_their_lines(self):
        result = clean("# not a heading\n\n  two\r\nthree <b>", content_type="text/plain; charset=utf-8")
        assert result.text == "# not a heading\n\n  two\nthree <b>"
        assert result.markdown == "\\# not a heading\n\ntwo\nthree \\<b>"


MENU = "<div><a href=/>Home</a></div><div><a href=/news>News of the day</a></div><p>Our motto is brevity and wit.</p>"
FOOT = "<p>Made by people who like bicycles, in a small town.</p>"


def page(text: str) -> str:
    return (
        f"<body>{MENU}<h1>{text}</h1><p>{text} is described here at some length.</p><h2>Notes</h2><p>{text}.</p>{FOOT}"
    )


class TestMainText:
    def test_what_repeats_on_the_host_is_left_out(self):
        known = furniture_of(*(page(text) for text in ("Alpha", "Beta", "Gamma", "Delta")))
        assert clean(page("Omega"), known).markdown == (
            "# Omega\n\nOmega is described here at some length.\n\n## Notes\n\nOmega."
        )

    def test_but_not_amid_the_text(self):
        """The heading Notes repeats on every page, and is part of each."""
        known = furniture_of(*(page(text) for text in ("Alpha", "Beta", "Gamma", "Delta")))
        assert "## Notes" in clean(page("Omega"), known).markdown
        assert "motto" not in clean(page("Omega"), known).markdown

    def test_headings_of_what_is_left_out_are_left_out(self):
        html = f"<nav><h3>Menu</h3><pre>x</pre><table><tr><td>a<td>b<tr><td>c<td>d</table></nav><p>{'Text. ' * 20}</p>"
        assert clean(html).markdown == clean(html).text == ("Text. " * 20).strip()

    def test_main_is_taken_alone(self):
        html = f"<p>Around it, for long enough to count.</p><main><p>{'Within. ' * 8}</p></main><p>And after it.</p>"
        assert clean(html).text == ("Within. " * 8).strip()

    def test_an_empty_main_is_not(self):
        html = f"<p>{'Around it. ' * 8}</p><main> <p>short</p></main>"
        assert "Around it." in clean(html).text

    def test_elements_with_names_of_navigation(self):
        html = f"<div class=breadcrumbs>Home > Guide</div><p>{'Text. ' * 20}</p><div id=page-footer>Who made it</div>"
        assert clean(html).text == ("Text. " * 20).strip()

    def test_unless_most_of_the_page_is_in_them(self):
        html = f"<div class=search>{'<p>Text of the page.</p>' * 9}</div><p>A line.</p>"
        assert clean(html).text.count("Text of the page.") == 9

    @pytest.mark.parametrize(
        "row",
        [
            "<p><a href=a>Next</a> <a href=b>Previous</a> <a href=c>Up</a> <a href=d>Contents</a></p>",
            "<p>Next: <a href=a>Functions</a>, Previous: <a href=b>Data types</a>, Up: <a href=c>Top</a></p>",
            "<p>« <a href=a>previous</a> | <a href=b>next</a> »</p>",
            "<p>Last edited Thu Jan 26 19:33:52 2023</p>",
            "<p>Created using <a href=s>Sphinx</a> 5.3.0.</p>",
            "<p>© 2024 The Authors</p>",
        ],
    )
    def test_rows_that_lead_elsewhere(self, row):
        text = "<h1>Topic</h1>" + "<p>A paragraph of the text itself.</p>" * 4
        assert clean(text + row).text == clean(text).text

    def test_a_sentence_that_begins_alike_stays(self):
        text = "<p>Next we go to the woods, <a href=a>where it is quiet</a>, and have tea with friends.</p>"
        assert "tea with friends" in clean("<h1>T</h1>" + text * 3).text

    def test_a_box_of_text_called_sidebar_stays(self):
        html = f"<p>{'Text. ' * 30}</p><div class=sidebar><p>A note on the text, in a box beside it.</p></div>"
        assert "A note on the text" in clean(html).text
        linked = html.replace("A note on the text, in a box beside it.", "<a href=a>Another page of this site</a>")
        assert "Another page" not in clean(linked).text

    @pytest.mark.parametrize(
        "html",
        [
            "<nav>Everything stands in the navigation</nav>",
            "<div class=footer>Only this</div>",
            "<p><a href=a>Next</a></p>",
            "<a href=a>One link</a> <a href=b>and another</a>",
            "<footer>© 2024</footer>",
            "x",
        ],
    )
    def test_a_page_with_text_is_never_empty(self, html):
        assert clean(html).text
        assert clean(html).markdown
        assert clean(html, furniture_of(html, html + "<p>1", html + "<p>2", html + "<p>3")).text

    @settings(max_examples=200, deadline=None)
    @given(
        st.lists(
            st.sampled_from(["<nav>", "<main>", "<div class=menu>", "<p>", "word ", "</div>", "<h1>"]), max_size=12
        )
    )
    def test_whatever_the_markup_is(self, pieces):
        html = "".join(pieces)
        has_text = bool(read_document(URL, html.encode(), resolver=RESOLVER).text)
        assert bool(clean(html).text) == has_text


NASTY = [
    "<script>alert(1)</script>",
    "</p><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "![x](http://evil.test/p.png)",
    "[x]: http://evil.test",
    "<http://evil.test>",
    "&lt;script&gt;",
    "&#60;script>",
    "# heading",
    "> quote",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "12) item",
    "---",
    "===",
    "***",
    "___",
    "- - -",
    "```",
    "~~~",
    "`code`",
    "a `` b",
    "**bold** _em_ *em*",
    "| a | b |",
    "\\",
    "\\[x](y)",
    "a\\",
    "snake_case_name and _private",
    "    indented",
    "<!-- x -->",
    "<?php ?>",
    "[^1]: note",
    "\x01# hidden",
    "# \u202e reversed",
]


def shown(source: str) -> tuple[str, set[str]]:
    """The text that a renderer shows, on one line, and the kinds of tokens it found."""
    tokens = RENDERER.parse(source)
    texts, kinds = [], set()
    for token in tokens:
        for inner in [token, *(token.children or [])]:
            kinds.add(inner.type)
            if inner.type in ("text", "code_inline", "fence", "code_block"):
                texts.append(inner.content)
            elif inner.type in ("softbreak", "hardbreak", "paragraph_close", "td_close", "th_close"):
                texts.append(" ")
    return " ".join("".join(texts).split()), kinds


def escaped_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


PLAIN = {"paragraph_open", "paragraph_close", "inline", "text", "text_special", "softbreak", "hardbreak"}


class TestInertness:
    def check(self, text: str) -> None:
        wanted = " ".join(re.sub("[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", "", text).split())
        found, kinds = shown(markdown(f"<p>{escaped_html(text)}</p>"))
        assert kinds <= PLAIN, markdown(f"<p>{escaped_html(text)}</p>")
        assert found == wanted

    @pytest.mark.parametrize("text", NASTY)
    def test_text_is_text(self, text):
        self.check(text)

    @pytest.mark.parametrize("text", NASTY)
    def test_after_a_line_break_too(self, text):
        source = markdown(f"<p>first<br>{escaped_html(text)}<br>last</p>")
        assert shown(source)[1] <= PLAIN

    @pytest.mark.parametrize("text", NASTY)
    @pytest.mark.parametrize(
        ("around", "allowed"),
        [
            ("<ul><li>{}</ul>", {"bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"}),
            ("<blockquote>{}</blockquote>", {"blockquote_open", "blockquote_close"}),
            ("<h2>{}</h2>", {"heading_open", "heading_close"}),
            ("<dl><dd><dl><dd><dl><dd>{}</dl></dl></dl>", set()),
            ("<table><tr><td>{}<td>{}</table>", set()),
            (
                "<dl><dt>{}<dd>{}</dl>",
                {
                    "bullet_list_open",
                    "bullet_list_close",
                    "list_item_open",
                    "list_item_close",
                    "strong_open",
                    "strong_close",
                },
            ),
            ("<p><a href=http://b.test/>{}</a>", {"link_open", "link_close"}),
            ("<p>a <b>{}</b>", {"strong_open", "strong_close"}),
            (
                "<table><tr><th>{}<th>b<tr><td>c<td>{}</table>",
                {f"{tag}_{end}" for tag in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")},
            ),
        ],
    )
    def test_within_structure(self, text, around, allowed):
        source = markdown(around.replace("{}", escaped_html(text)))
        assert shown(source)[1] <= PLAIN | allowed, source

    @pytest.mark.parametrize("text", [*NASTY, "````\n```\n~~~", "a\n````\n# x"])
    def test_code_stays_code(self, text):
        source = markdown(f"<h1>T</h1><pre>{escaped_html(text)}</pre><p>x <code>{escaped_html(text)}</code></p>")
        kinds = shown(source)[1]
        assert kinds <= PLAIN | {"fence", "heading_open", "heading_close", "code_inline"}, source
        (fence,) = (token for token in RENDERER.parse(source) if token.type == "fence")
        code = re.sub("[\x00-\x08\x0e-\x1f\u202e]", "", text)
        assert fence.content.rstrip("\n") == "\n".join(line.rstrip() for line in code.split("\n"))

    @settings(max_examples=200, deadline=None)
    @given(st.lists(st.sampled_from([*r"\`*_[]()<>#+-.!|~:&;=1a ", "\n", "http://x.y", "&amp;", "<b>", "](", "``"])))
    def test_any_mixture(self, pieces):
        text = "".join(pieces)
        if not text.strip():
            return
        self.check(text)

    @settings(max_examples=150, deadline=None)
    @given(
        st.lists(
            st.sampled_from(
                ["<b>", "</b>", "<i>", "</i>", "<code>", "</code>", "<a href=/x>", "</a>", "*", "`", "[", "w ", "\\"]
            )
        )
    )
    def test_no_markup_gives_html_or_foreign_links(self, pieces):
        source = markdown("<p>w " + "".join(pieces))
        for token in RENDERER.parse(source):
            for inner in token.children or []:
                assert inner.type not in ("html_inline", "html_block", "image")
                if inner.type == "link_open":
                    assert str(inner.attrs["href"]).startswith("http://a.test/")

    def test_a_language_is_a_word(self):
        assert markdown("<pre class='language-a`b\nc'>x</pre>").startswith("```a\n")

    def test_control_characters_are_removed_everywhere(self):
        html = "<p>a\x07b\x1b[31m&#x9b;c\u202ed</p><pre>e\x07f\tg</pre><img alt='h\x07i' src=x.png>"
        result = clean(html)
        for text in (result.text, result.markdown):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
            assert "e" in text
            assert "f\tg" in text
            assert "hi" in text


class TestHostileDocuments:
    def test_deep_nesting(self):
        for tag in ("div", "ul><li", "blockquote", "table><tr><td", "b", "a href=x"):
            assert "core" in clean(f"<{tag}>" * 20_000 + "core of it all").text

    def test_a_hundred_thousand_elements(self):
        result = clean("<p>word word</p>" * 100_000)
        assert result.text.startswith("word word\n\nword word")

    def test_a_huge_table_is_not_padded(self):
        """One row of many cells must not make every other row as wide."""
        html = "<table><tr>" + "<td>x" * 5_000 + "<tr><td>y<td>z" * 5_000 + "</table>"
        assert len(clean(html).markdown) < 10 * len(html)

    def test_text_ends_at_its_limit(self):
        limits = PageLimits(max_text=1_000)
        for html in ("<p>" + "word " * 50 + "</p>", "<pre>" + "word " * 50 + "</pre>", "<tr><td>a<td>b<tr>"):
            result = clean(f"<table>{html * 500}</table>" if "td" in html else html * 500, limits=limits)
            assert len(result.text) < 4_000
            assert len(result.markdown) < 8_000

    def test_an_endless_href_is_no_link(self):
        assert markdown(f"<p><a href='http://b.test/{'x' * 10_000}'>y</a>") == "y"

    def test_broken_bytes(self):
        result = clean_document(URL, b"<p>\xff\xfe \xc3 text \xed\xa0\x80", resolver=RESOLVER)
        assert "text" in result.text
        result.markdown.encode("utf-8")
