from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest

from lycosa.fetch.urls import UrlRules, Urls
from lycosa.model import Link, Page
from lycosa.page import PageLimits, read_document

URL = "http://a.test/dir/page.html"


def resolver(base):
    """The smallest resolver that has every kind of answer."""

    def resolve(href):
        try:
            url = urljoin(base, href.strip())
            scheme = urlsplit(url).scheme
        except ValueError:
            return "", "broken"
        if scheme not in ("http", "https"):
            return "", f"scheme {scheme}"
        return url, "extension" if url.endswith(".zip") else ""

    return resolve


def read(html: str, **options) -> Page:
    return read_document(URL, html.encode(), resolver=resolver, **options)


def only_link(html: str, **options) -> Link:
    (link,) = read(html, **options).links
    return link


def test_the_four_kinds_of_links():
    page = read(
        "<a href=a.html>A</a><map><area href=/b alt='B side'></map><iframe src=c title=C></iframe>"
        "<a name=x>not one</a><area alt=x><iframe></iframe><link href=style.css><img src=i.png>"
    )
    assert [(link.url, link.anchor, link.position) for link in page.links] == [
        ("http://a.test/dir/a.html", "A", 0),
        ("http://a.test/b", "B side", 1),
        ("http://a.test/dir/c", "C", 2),
    ]


def test_frames():
    page = read("<frameset><frame src=menu.html name=menu><frame src=main.html></frameset>")
    assert [(link.url[-9:], link.anchor, link.path) for link in page.links] == [
        ("menu.html", "menu", "html/frameset/frame"),
        ("main.html", "", "html/frameset/frame"),
    ]


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ("<a href=x>plain</a>", "plain"),
        ("<a href=x>\n two\t words </a>after", "two words"),
        ("before<a href=x>glued</a>after", "glued"),
        ("<a href=x>a<b>b</b> <i> c</i></a>", "ab c"),
        ("<a href=x><div>one</div><div>two</div></a>", "one two"),
        ("<a href=x><img src=i alt=' A  picture '></a>next", "A picture"),
        ("<a href=x><img src=i><img src=j alt=second><img src=k alt=third></a>", "second"),
        ("<a href=x>text<img src=i alt=alt></a>", "text"),
        ("<a href=x></a>next", ""),
        ("<a href=x> </a>next", ""),
        ("<a href=x><script>code</script></a>", ""),
        ("<a href=x>unclosed", "unclosed"),
        ("<a href=x>&lt;tag&gt; &amp; caf&eacute;", "<tag> & café"),
        ("<p>text</p><a href=x>last</a>", "last"),
        ("<a href=x>in\xadfor\xadma\xadtion</a>", "information"),
    ],
)
def test_anchors(html, anchor):
    assert only_link(html).anchor == anchor


def test_anchors_of_neighbours_do_not_mix():
    page = read("<a href=1>one</a><a href=2></a><a href=3><img src=i></a> <a href=4>four</a><a href=5> </a>")
    assert [link.anchor for link in page.links] == ["one", "", "", "four", ""]


def test_an_anchor_within_an_anchor():
    page = read("<a href=1>out <table><td><a href=2>in</a></td></table> side</a>")
    assert {link.url[-1]: link.anchor for link in page.links} == {"1": "out in side", "2": "in"}


def test_anchors_are_capped():
    link = only_link("<a href=x>" + "word " * 100 + "</a>", limits=PageLimits(max_anchor=20))
    assert link.anchor == "word word word word"
    link = only_link("<a href=x><img alt='" + "z" * 1000 + "'></a>", limits=PageLimits(max_anchor=20))
    assert link.anchor == "z" * 20


def test_context_is_about_twelve_words_on_either_side():
    left, right = (" ".join(f"{side}{number:03}" for number in range(100)) for side in "lr")
    link = only_link(f"<p>{left}</p><p>see <a href=x>this</a>, {right}</p>")
    words = link.context.split()
    assert words[words.index("this,") - 1] == "see"
    assert words[0].startswith("l0")
    assert words[-1].startswith("r0")
    assert 12 <= words.index("this,") <= 17
    assert 12 <= len(words) - words.index("this,") - 1 <= 17
    assert all(len(word) == 4 for word in words if word not in ("see", "this,"))


def test_context_at_the_edges_of_the_text():
    assert only_link("<a href=x>only</a>").context == "only"
    assert only_link("some text <a href=x></a>").context == "some text"
    assert only_link("<a href=x><img alt=picture></a> some text").context == "some text"


def test_context_of_text_without_spaces_is_cut_anyway():
    text = "語" * 500
    assert only_link(f"{text}<a href=x>中</a>{text}").context == "語" * 80 + "中" + "語" * 80


def test_paths():
    html = "<div><ul><li><a href=x>t</a></ul></div>"
    assert only_link(html).path == "html/body/div/ul/li/a"
    assert only_link(html, limits=PageLimits(path_depth=6)).path == "html/body/div/ul/li/a"
    assert only_link(html, limits=PageLimits(path_depth=3)).path == "…/ul/li/a"
    assert only_link("<x-Menu><svg><g><a href=x>").path == "html/body/x-menu/svg/g/a"


def test_rel_is_kept_in_lower_case():
    assert only_link("<a href=x rel=' NoFollow\n UGC '>t</a>").rel == "nofollow ugc"
    assert only_link("<a href=x rel>t</a>").rel == ""


def test_each_url_once_at_its_first_position():
    page = read("<a href=1>one</a><a href=2>two</a><a href=1#part>again</a><a href=./1>still</a>")
    assert [(link.url[-1], link.anchor, link.position) for link in page.links] == [("1", "one", 0), ("2", "two", 1)]


def test_all_anchors_of_a_url_count():
    page = read(
        "<a href=1>one</a><a href=2>two</a><a href=1#part>again</a><a href=./1> still  here</a><a href=1>one</a>"
        "<a href=1><img alt=picture></a><a href=1></a><a href=1>again</a>"
    )
    assert [link.other_anchors for link in page.links] == [("again", "still here", "picture"), ()]
    assert page.links[0].anchor == "one"


def test_an_anchor_that_replaces_another_is_not_repeated():
    menu = "<nav><a href=1>Menu word</a></nav><p>Some text about <a href=1>sailing boats</a> and more.</p>"
    (link,) = read(menu + "<a href=1>once more</a>").links
    assert (link.anchor, link.other_anchors) == ("sailing boats", ("Menu word", "once more"))
    (link,) = read("<a href=1><img></a><a href=1>home</a>").links
    assert (link.anchor, link.other_anchors) == ("home", ())


def test_no_more_anchors_than_allowed():
    many = "".join(f"<a href=1>anchor {number}</a>" for number in range(50))
    (link,) = read(many).links
    assert link.other_anchors == tuple(f"anchor {number}" for number in range(1, 8))
    (link,) = read(many, limits=PageLimits(max_anchors=1)).links
    assert (link.anchor, link.other_anchors) == ("anchor 0", ())


def test_an_empty_anchor_is_filled_by_a_later_one():
    page = read("<p><a href=1><img></a></p><a href=2>two</a><ul><li>go <a href=1>home</a> now</ul>")
    assert page.links[0] == Link("http://a.test/dir/1", "home", "two go home now", "html/body/p/a", "", 0)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("nofollow ugc", "", ""),
        ("nofollow", "author", "author"),
        ("nofollow ugc", "nofollow", "nofollow ugc"),
        ("author", "nofollow", "author"),
    ],
)
def test_nofollow_holds_only_if_all_say_so(first, second, kept):
    assert only_link(f"<a href=x rel='{first}'>t</a><a href=x rel='{second}'>u</a>").rel == kept


def test_rejected_and_dropped():
    page = read(
        "<a href=f.zip>zip</a><a href=f.zip#2>zip</a><a href=mailto:me@a.test>mail</a>"
        "<a href=javascript:void(0)>js</a><a href=javascript:void(1)>js</a><a href='http://[oops'>bad</a>"
        "<a href=ok>ok</a>"
    )
    assert [link.url for link in page.links] == ["http://a.test/dir/ok"]
    assert page.rejected == {"http://a.test/dir/f.zip": "extension"}
    assert page.dropped == {"scheme mailto": 1, "scheme javascript": 2, "broken": 1}


def test_links_to_the_page_itself_are_no_links():
    page = read("<a href='#top'>top</a><a href=''>self</a><a href>self</a><a href=page.html#x>self</a>")
    assert page.links == []
    assert page.dropped == {"same page": 4}


def test_each_spelling_is_resolved_once():
    asked = []

    def recording(base):
        resolve = resolver(base)
        return lambda href: (asked.append(href), resolve(href))[1]

    read_document(URL, b"<a href=x#1>1</a><a href=x#2>2</a><a href=x>3</a><a href=y>4</a>", resolver=recording)
    assert asked == ["x", "y"]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("http://b.test/other/", "http://b.test/other/x"),
        ("/top/", "http://a.test/top/x"),
        ("sub/#frag", "http://a.test/dir/sub/x"),
        ("http://b.test/file.zip", "http://b.test/x"),
        ("javascript:alert(1)//", "http://a.test/dir/x"),
        ("data:text/html,", "http://a.test/dir/x"),
        ("http://[oops", "http://a.test/dir/x"),
        ("", "http://a.test/dir/x"),
    ],
)
def test_base(base, expected):
    assert only_link(f"<a href=x>before</a><base href='{base}'>").url == expected


def test_the_first_base_with_an_href_counts():
    page = read("<base target=x><base href=/one/><base href=/two/><a href=x>t</a><a href='#y'>t</a>")
    assert [link.url for link in page.links] == ["http://a.test/one/x", "http://a.test/one/"]


def test_canonical():
    def canonical(html):
        return read(html).canonical

    assert canonical("<link rel=canonical href=/c#x>") == "http://a.test/c"
    assert canonical("<link rel='alternate CANONICAL' href=/c>") == "http://a.test/c"
    assert canonical("<base href=/b/><link rel=canonical href=c><link rel=canonical href=d>") == "http://a.test/b/c"
    assert canonical("<link rel=canonical><link rel=stylesheet href=s>") == ""
    assert canonical("<link rel=canonical href=mailto:x>") == ""


@pytest.mark.parametrize("rules", [{"include": ("b.test/*",)}, {"exclude": ("/dir/*",)}, {"max_depth": 1}])
def test_url_rules_do_not_apply_to_the_canonical_url(rules):
    html = b"<link rel=canonical href='C.html?b=2&a=1&utm_source=x'><a href=x>t</a>"
    page = read_document(URL, html, resolver=Urls(UrlRules(**rules)).resolver)
    assert page.links == []
    assert page.canonical == "http://a.test/dir/C.html?a=1&b=2"


def test_limits_on_links():
    html = "".join(f"<a href={number}>t</a><a href={number}.zip>z</a>" for number in range(10))
    page = read(html + f"<a href={'y' * 99}>long</a>", limits=PageLimits(max_links=7, max_href=50))
    assert len(page.links) == 7
    assert len(page.rejected) == 7
    assert page.dropped == {"too many links": 3, "extension": 3, "href too long": 1}
