"""An alarm is raised once when a threshold is crossed, closed when the figure recovers, and told to who is named."""

from __future__ import annotations

import sys
import threading
from collections import namedtuple
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from lycosa.crawl import alarms as module
from lycosa.crawl.alarms import Alarms, AlarmSettings, Condition, tell_others, with_thresholds
from lycosa.errors import ConfigError

SEED = "http://a.test/0"


@pytest.fixture
def web(html):
    """A chain of forty pages on one host: the first twenty are on the topic, the rest are not."""
    return {
        f"http://a.test/{number}": html(
            f"http://a.test/{number + 1}", text="recreational cycling" if number < 20 else "soup"
        )
        for number in range(40)
    }


def crawl(rig, settings, *, also=lambda alarms: None, drift=float, stalled=str, **more):
    """The alarms of a crawl, and who was told."""
    made, told = [], []

    def begin() -> None:
        made.append(
            Alarms(settings, ledger=rig.ledger, clock=rig.clock, name="crawl",
                   condition=Condition(drift, stalled, lambda: rig.stop.is_paused),
                   tell=lambda _settings, alarm: told.append(alarm))
        )  # fmt: skip

    def watch() -> None:
        also(made[0])
        made[0].look()

    rig.crawl(SEED, begin=begin, watch=watch, delay=2.0, **more)
    return rig.sql("select kind, message from events where kind like 'alarm%' order by id"), told


def test_nothing_is_watched_unless_it_is_asked_for(rig, web):
    assert crawl(rig(web), AlarmSettings()) == ([], [])


def test_relevance_that_falls_raises_one_alarm(rig, web):
    raised, told = crawl(rig(web), AlarmSettings(min_relevance=0.2, pages=8, webhook="http://hook.test/"))
    assert [kind for kind, _ in raised] == ["alarm"]
    assert raised[0][1].startswith("relevance: mean relevance 0.")
    assert told == [{"crawl": "crawl", "kind": "relevance", "message": raised[0][1].removeprefix("relevance: ")}]


def test_without_a_webhook_or_command_nobody_is_told(rig, web):
    raised, told = crawl(rig(web), AlarmSettings(min_relevance=0.2, pages=8))
    assert len(raised) == 1
    assert told == []


def test_speed_below_the_threshold(rig, web):
    raised, _ = crawl(rig(web), AlarmSettings(min_speed=31, minutes=0.5))
    assert [kind for kind, _ in raised] == ["alarm"]  # a page every two seconds is 30 a minute
    assert "31 required" in raised[0][1]
    other = rig(web, name="other")
    assert crawl(other, AlarmSettings(min_speed=25, minutes=0.5))[0] == []


def test_errors_are_over_when_they_are(rig, web, unavailable):
    for number in range(10, 20):
        web[f"http://a.test/{number}"] = [unavailable(), web[f"http://a.test/{number}"]]
    raised, _ = crawl(rig(web), AlarmSettings(max_errors=0.3, pages=6), first_backoff=2.0, max_backoff=2.0)
    assert [kind for kind, _ in raised] == ["alarm", "alarm over"]
    assert raised[0][1].startswith("errors: ")


def test_drift_is_an_alarm_until_it_is_over(rig, web):
    first, watched = rig(web), []
    settings = AlarmSettings(max_drift=0.5, pages=6)
    raised, _ = crawl(
        first,
        settings,
        also=lambda _alarms: watched.append(first.ledger.pages),
        drift=lambda: 0.75 if watched[-1] < 20 else 0.5,
    )
    assert [kind for kind, _ in raised] == ["alarm", "alarm over"]
    assert raised[0][1].startswith("drift: 75% of what is called relevant would not be by the words and examples given")
    early, _ = crawl(rig(web, name="early"), settings, drift=lambda: 0.75, pages=5)
    assert early == []  # five pages say nothing


def test_a_stall_is_an_alarm_if_it_is_asked_for(rig, web):
    raised, _ = crawl(rig(web), AlarmSettings(on_stall=True), stalled=lambda: "every host rests")
    assert raised == [("alarm", "stall: every host rests")]
    assert crawl(rig(web, name="other"), AlarmSettings(), stalled=lambda: "every host rests")[0] == []


def test_a_full_disk(rig, web, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _path: usage(1.5e9))
    raised, _ = crawl(rig(web), AlarmSettings(min_disk=2))
    assert raised == [("alarm", "disk: 1.50 GB free, 2 required")]


def test_thresholds_changed_in_the_run_hold_in_the_next(rig, web):
    first = rig(web)
    changed = []

    def also(alarms: Alarms) -> None:
        if not changed:
            changed.append(alarms.change({"min_speed": 100, "minutes": 0.2}))

    raised, _ = crawl(first, AlarmSettings(), also=also, pages=15)
    assert len(raised) == 1
    raised, _ = crawl(first, AlarmSettings())
    assert len(raised) == 2


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"webhook": "http://evil.test"}, "cannot be changed here"),
        ({"command": "rm"}, "cannot be changed here"),
        ({"min_relevance": 2}, "min_relevance"),
        ({"pages": "many"}, "must be a number"),
        ({"minutes": 0}, "greater than 0"),
    ],
)
def test_thresholds_that_cannot_be(changed, words):
    with pytest.raises(ConfigError, match=words):
        with_thresholds(AlarmSettings(), changed)


def test_a_webhook_is_a_web_address():
    with pytest.raises(ConfigError, match="write a URL"):
        AlarmSettings(webhook="file:///etc/passwd")


def test_a_webhook_and_a_command_are_told(tmp_path):
    heard: list[bytes] = []
    done = threading.Event()

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    target = tmp_path / "told"
    script = tmp_path / "tell.py"
    script.write_text("import sys, pathlib\npathlib.Path(sys.argv[1]).write_text('|'.join(sys.argv[2:]))\n")
    settings = AlarmSettings(
        webhook=f"http://127.0.0.1:{server.server_port}/", command=f"{sys.executable} {script} {target}"
    )
    tell_others(settings, {"crawl": "c", "kind": "speed", "message": "slow; $(touch x) `y`"})
    for thread in threading.enumerate():
        if thread.name == "alarm":
            thread.join(20)
            done.set()
    server.shutdown()
    server.server_close()
    assert done.is_set()
    assert heard == [b'{"crawl": "c", "kind": "speed", "message": "slow; $(touch x) `y`"}']
    assert target.read_text() == "speed|slow; $(touch x) `y`"
