"""From WARC files and labels to a world: what is recorded, what is counted, what is an error."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lycosa.crawl.reading import Reading, read_response
from lycosa.errors import ArchiveError, InputError
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.fetch.warc_writer import encode_records
from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.worlds.build import BuildReport, build, build_generated
from lycosa.lab.worlds.world import World
from lycosa.model import Response

HOME = (
    '<title>Wheels</title><p>All about bicycle wheels: <a href="/hub#top">the hub</a>, <a href="old">the old page</a>'
    ' and <a href="http://gone.test/">one that is gone</a>.'
)
PROSE = "a wheel has a rim, a hub and spokes, and turns on an axle as long as the road goes on."


def answer(url: str, body: str = "", status: int = 200, **headers: str) -> Response:
    fields = [("content-type", headers.pop("kind", "text/html; charset=utf-8")), *headers.items()]
    head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields)
    return Response(url, status, fields, body.encode(), head=head.encode(), started=1e9, ended=1e9)


RESPONSES = [
    answer("http://A.test", HOME),
    answer("http://a.test/hub", "<title>Hub</title><a href='/'>home</a>"),
    answer("http://a.test/old", status=301, location="/hub?utm_source=x"),
]


@pytest.fixture
def warc(tmp_path: Path) -> Callable[..., Path]:
    def make(*responses: Response, name: str = "pages.warc.gz") -> Path:
        path = tmp_path / name
        path.write_bytes(b"".join(encode_records(response) for response in responses))
        return path

    return make


@pytest.fixture
def make(tmp_path: Path, warc: Callable[..., Path]) -> Callable[..., tuple[World, BuildReport]]:
    """Builds a world from responses and optional labels."""

    def build_one(*responses: Response, labels: str | None = None) -> tuple[World, BuildReport]:
        path = None
        if labels is not None:
            path = tmp_path / "labels.tsv"
            path.write_text(labels)
        report = build([warc(*responses)], path, tmp_path / "w", readers=0)
        return World.open(tmp_path / "w"), report

    return build_one


def test_pages_and_redirects(make: Callable[..., tuple[World, BuildReport]]) -> None:
    world, report = make(*RESPONSES)
    assert report == BuildReport(pages=2, redirects=1, links=4, topics=0, skipped={})
    assert [world.url(page) for page in range(3)] == ["http://a.test/", "http://a.test/hub", "http://a.test/old"]
    assert [(link.url, link.anchor) for link in world.links(0)] == [
        ("http://a.test/hub", "the hub"),
        ("http://a.test/old", "the old page"),
        ("http://gone.test/", "one that is gone"),
    ]
    assert world.location(2) == "http://a.test/hub"


def test_a_page_is_what_the_crawl_s_reader_makes_of_it(make: Callable[..., tuple[World, BuildReport]]) -> None:
    world, _ = make(*RESPONSES)
    reading = Reading(urls=Urls(UrlRules()), judge=KeywordJudge("wheels"))
    read = read_response(answer("http://a.test/", HOME), reading).page
    assert read is not None
    kept = world.page(0)
    for name in ("url", "title", "language", "terms", "words", "fingerprint", "link_hashes"):
        assert getattr(kept, name) == getattr(read, name)
    assert list(kept.links) == list(read.links)


def test_what_is_left_out_is_counted_by_reason(make: Callable[..., tuple[World, BuildReport]]) -> None:
    _, report = make(
        *RESPONSES,
        answer("http://a.test/#again", "<title>Second</title>"),
        answer("http://a.test/hub", "<title>Third</title>"),
        answer("http://a.test/data", "{}", kind="application/json"),
        answer("http://a.test/robots.txt", "User-agent: *", kind="text/plain"),
        answer("http://a.test/none", status=404),
        answer("http://a.test/busy", status=503),
        answer("http://a.test/nowhere", status=302),
        answer("http://a.test/picture.jpg", "not really"),
        answer("dns:a.test", "1.2.3.4"),
    )
    assert (report.pages, report.redirects) == (2, 1)
    assert report.skipped == {
        "duplicate URL": 2,
        "not HTML": 1,
        "robots.txt": 1,
        "http 404": 1,
        "http 503": 1,
        "http 302": 1,
        "URL: file extension": 1,
        "URL: scheme": 1,
    }


def test_the_first_record_of_a_url_holds(make: Callable[..., tuple[World, BuildReport]]) -> None:
    failed = answer("http://a.test/", status=500)
    world, _ = make(failed, *RESPONSES, answer("http://a.test/", "<title>Later</title>"))
    assert world.title(0) == "Wheels"


def test_several_processes_give_the_same_file(tmp_path: Path, warc: Callable[..., Path]) -> None:
    pages = [answer(f"http://a.test/{i}", f"<title>{i}</title><a href='/{i + 1}'>next</a>") for i in range(60)]
    path = warc(*pages, *pages[:5])
    here = build([path], None, tmp_path / "here", readers=0)
    seen: list[int] = []
    there = build([path], None, tmp_path / "there", readers=2, progress=seen.append)
    assert here == there
    assert here.skipped == {"duplicate URL": 5}
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()
    assert seen == list(range(1, 66))


def test_several_archives_are_read_one_after_the_other(tmp_path: Path, warc: Callable[..., Path]) -> None:
    paths = [warc(response, name=f"{i}.warc.gz") for i, response in enumerate(RESPONSES)]
    report = build(paths, None, tmp_path / "w", readers=0)
    assert (report.pages, report.redirects) == (2, 1)


def test_labels_are_found_whatever_the_spelling_of_the_url(make: Callable[..., tuple[World, BuildReport]]) -> None:
    rows = [
        "URL\tnote\ttopic",
        "HTTP://a.test:80/#x\t\tScience/Wheels",
        "http://a.test/\t\tArt/",
        "http://a.test/hub\t\tArt",
        "http://a.test/hub\t\tArt",
        "http://a.test/old\t\tArt",  # a redirect
        "http://other.test/\t\tArt",
        "http://a.test/hub",
        "not a url\t\tArt",
        "",
    ]
    world, report = make(*RESPONSES, labels="\n".join(rows))
    assert (report.labels_unknown, report.labels_malformed) == (2, 2)
    assert report.topics == 2
    assert world.pages_of("Art").tolist() == [0, 1]
    assert world.topics_of(0) == ["Art", "Science/Wheels"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"", "it is empty"),
        (b"http://a.test/\tArt\n", "columns url and topic"),
        (b"url\ttopic\nhttp://a.test/\t\xff", "not UTF-8"),
    ],
)
def test_labels_that_cannot_be_used(
    tmp_path: Path, warc: Callable[..., Path], content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "l.tsv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        build([warc(*RESPONSES)], tmp_path / "l.tsv", tmp_path / "w", readers=0)
    assert not (tmp_path / "w").exists()


def test_a_damaged_record_costs_itself_only(tmp_path: Path, warc: Callable[..., Path]) -> None:
    path = warc(*RESPONSES)
    first = len(encode_records(RESPONSES[0]))
    content = bytearray(path.read_bytes())
    content[first + 30 : first + 40] = b"x" * 10
    path.write_bytes(content)
    report = build([path], None, tmp_path / "w", readers=0)
    assert (report.pages, report.redirects) == (1, 1)
    assert report.skipped == {"damaged record": 1}


@pytest.mark.parametrize(("content", "message"), [(b"", "no HTTP response"), (b"\x1f\x8b\x08rubbish", "is damaged")])
def test_an_archive_without_a_single_answer_is_an_error(
    tmp_path: Path, warc: Callable[..., Path], content: bytes, message: str
) -> None:
    (tmp_path / "w").write_bytes(b"the old one")
    (tmp_path / "bad.warc.gz").write_bytes(content)
    with pytest.raises(InputError, match=rf"bad.warc.gz.* {message}|bad.warc.gz {message}"):
        build([warc(*RESPONSES), tmp_path / "bad.warc.gz"], None, tmp_path / "w", readers=0)
    assert (tmp_path / "w").read_bytes() == b"the old one"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.warc.gz", "pages.warc.gz", "w"]


def test_errors_that_say_what_is_missing(tmp_path: Path, warc: Callable[..., Path]) -> None:
    gone = warc(answer("http://a.test/", status=404), answer("http://b.test/", status=404))
    with pytest.raises(InputError, match=r"pages.warc.gz: no page to build a world from; skipped: 2 \(http 404\)"):
        build([gone], None, tmp_path / "w", readers=0)
    with pytest.raises(InputError, match="no WARC file given"):
        build([], None, tmp_path / "w", readers=0)
    with pytest.raises(ArchiveError, match="No such file"):
        build([tmp_path / "missing.warc"], None, tmp_path / "w", readers=0)
    with pytest.raises(InputError, match="there is no directory"):
        build([warc(*RESPONSES)], None, tmp_path / "no" / "w", readers=0)


PLAN = WebPlan(seed=5, pages=150, hosts=6, topics=3, paragraphs=2)


def test_a_generated_web_rendered_into_a_world(tmp_path: Path) -> None:
    web = GeneratedWeb(PLAN)
    report = build_generated(web, tmp_path / "w", readers=0)
    world = World.open(tmp_path / "w")
    assert report.pages == len(web) == 150
    assert report.redirects > 0
    for number in range(len(web)):
        assert world.url(number) == web.url(number)
        assert set(web.out_links(number).tolist()) == set(world.graph.of(number).tolist())
        assert world.topics_of(number) == [web.topic_names[web.topic_of(number)]][: web.topic_of(number) + 1]
        assert world.words[number] > 50
    assert (world.link_targets < 0).any(), "dead links stay"


def test_a_generated_web_sketched_into_a_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.lab.worlds.build.SKETCHED_AT_ONCE", 64)
    web = GeneratedWeb(PLAN)
    build_generated(web, tmp_path / "rendered", is_rendered=True, readers=0)
    seen: list[int] = []
    report = build_generated(web, tmp_path / "sketched", is_rendered=False, progress=seen.append)
    rendered, sketched = World.open(tmp_path / "rendered"), World.open(tmp_path / "sketched")
    assert (report.pages, report.redirects, report.topics) == (150, 0, 3)
    assert seen == [64, 128, 150]
    for number in range(len(web)):
        links = sketched.links(number)
        targets = web.out_links(number).tolist()
        assert [link.url for link in links] == [web.url(target) for target in targets]
        assert [link.anchor for link in links] == [sketched.title(target) for target in targets]
        assert sketched.url(number) == rendered.url(number)
        assert sketched.title(number) == rendered.title(number)
        assert sketched.words[number] > 0
        assert sketched.terms(number).keys() <= rendered.terms(number).keys()
    assert sketched.link_hashes.tolist() == sketched.url_hashes[sketched.link_urls].tolist()
    assert sketched.topics == rendered.topics


MENU = "<ul><li><a href='/'>All packages</a><li>Download</ul>"
MENU_OF = {"a": MENU, "b": "<p>Powered by Spinner"}
WITH_MENUS = [
    answer(f"http://{host}.test/{number}", f"<title>T{number}</title>{menu}<p>Number{number} of {host}: {PROSE}")
    for host, menu in MENU_OF.items()
    for number in range(4)
]


def test_pages_have_their_own_text_from_the_first_on(make: Callable[..., tuple[World, BuildReport]]) -> None:
    world, report = make(*WITH_MENUS, answer("http://b.test/5", f"{MENU}<p>{PROSE}"))
    assert report.pages == 9
    for page in range(8):
        assert not {"packag", "download", "spinner", "power"} & world.terms(page).keys()
        assert world.words[page] == sum(world.terms(page).values())
    assert {"packag", "download"} <= world.terms(8).keys()  # that is the menu of another host
    assert world.links(0)[0].context == "All packages"


def test_a_record_that_is_there_twice_is_one_page(make: Callable[..., tuple[World, BuildReport]]) -> None:
    first = answer("http://a.test/", f"<p>All packages<p>{PROSE}")
    others = [answer("http://a.test/", f"<p>All packages<p>again number{number} {PROSE}") for number in range(4)]
    world, report = make(first, *others)
    assert report.skipped == {"duplicate URL": 4}
    assert "packag" in world.terms(0)


def test_several_readers_build_the_same_world(warc: Callable[..., Path], tmp_path: Path) -> None:
    path = warc(*WITH_MENUS)
    for readers in (0, 2):
        build([path], None, tmp_path / f"{readers}.world", readers=readers)
    assert (tmp_path / "0.world").read_bytes() == (tmp_path / "2.world").read_bytes()


def test_furniture_of_generated_webs(tmp_path: Path) -> None:
    web = GeneratedWeb(WebPlan(seed=5, pages=60, hosts=2, topics=2, paragraphs=2))
    build_generated(web, tmp_path / "w", readers=0)
    world = World.open(tmp_path / "w")
    reading = Reading(urls=Urls(UrlRules()), judge=KeywordJudge("wheels"))
    for page in range(60):
        body = web.render(web.url(page)).body.decode()
        alone = read_response(answer(web.url(page), body), reading).page
        assert alone is not None
        dropped = Counter(see=body.count("<h2>See also</h2>"))
        assert Counter(alone.terms) - dropped == world.terms(page)
