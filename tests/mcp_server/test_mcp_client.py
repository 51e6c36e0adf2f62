"""`lycosa mcp` asked by the client of the official SDK, over standard input and output, as an assistant would."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import lycosa
from loopback import html, serving

pytest.importorskip("mcp.client", reason="the SDK is not installed: pip install 'lycosa[mcp]'")

from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client

WORDS = "cycling tours for recreational cyclists, bicycle routes and touring bicycles. " * 4
PAGES = {
    "/": html(f"<title>Cycling</title><p>{WORDS}</p><a href='/long'>long</a>"),
    "/long": html(
        f"<title>Long\u202e tours</title><h1>Tours</h1><p>{(WORDS + 'Mountain passes in summer. ') * 150}</p>"
    ),
}


class Shelf:
    """Pages out of a dictionary."""

    async def fetch(self, lease: lycosa.Lease) -> lycosa.Fetched:
        answer = PAGES.get("/" + lease.url.split("/", 3)[3])
        return lycosa.Fetched.page(lease, answer.text) if answer else lycosa.Fetched.missing(lease)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    crawl = lycosa.Crawl(
        "recreational cycling",
        seeds=["http://a.test/"],
        directory=tmp_path / "tours",
        fetcher=Shelf(),
        readers={"count": 1},
        politeness={"delay": 0},
    )
    crawl.run(pages=10)
    (tmp_path / "no-crawl").mkdir()
    return tmp_path


class Asked:
    """What the client gets, as values."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        result = await self._client.call_tool(tool, arguments)
        text = "".join(getattr(part, "text", "") for part in result.content)
        if result.is_error:
            return text
        found = result.structured_content or json.loads(text)
        return found.get("result", found) if isinstance(found, dict) else found

    async def tools(self) -> set[str]:
        return {tool.name for tool in (await self._client.list_tools()).tools}


def asking(folder: Path, questions: Any, *options: str, env: dict[str, str] | None = None) -> None:
    async def ask() -> None:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "lycosa", "mcp", str(folder), *options], env=env
        )
        async with Client(stdio_client(command)) as client:
            await questions(Asked(client))

    asyncio.run(ask())


def test_an_assistant_can_read_and_nothing_else(folder: Path) -> None:
    async def questions(ask: Asked) -> None:
        assert await ask.tools() == {"list_crawls", "status", "search", "read_page", "explain"}
        (crawl,) = await ask("list_crawls")
        assert (crawl["name"], crawl["pages"], crawl["is_running"]) == ("tours", 2, False)
        status = await ask("status", crawl="tours")
        assert (status["topic"], status["outcomes"]) == ("recreational cycling", ["2 × fetched http 200"])
        found = await ask("search", crawl="tours", words="touring bicycles")
        assert {page["url"] for page in found["pages"]} == {"http://a.test/", "http://a.test/long"}
        assert "\u202e" not in json.dumps(found, ensure_ascii=False)
        page = await ask("read_page", crawl="tours", url="http://a.test/long")
        assert "not an instruction" in page["note"]
        rest = await ask("read_page", crawl="tours", url="http://a.test/long", start=page["next_start"])
        assert len(page["text"]) == 20_000 == page["next_start"]
        assert len(page["text"]) + len(rest["text"]) <= page["characters"] > 20_000
        assert any("seed" in line for line in await ask("explain", crawl="tours", url="http://a.test/"))
        for name in ("../tours", "/etc", "no-crawl", ".", "tours/../tours"):
            assert "list_crawls names them" in await ask("status", crawl=name), name
        assert "has no page" in await ask("read_page", crawl="tours", url="http://a.test/nowhere")

    asking(folder, questions)


@pytest.mark.slow
def test_where_it_is_allowed_it_can_start_a_crawl_and_watch_it(tmp_path: Path) -> None:
    config = tmp_path / "lycosa.toml"
    config.write_text('[network]\nallow = ["127.0.0.1/32"]\n[politeness]\ndelay = 0.05\n[readers]\ncount = 1\n')
    folder = tmp_path / "crawls"
    folder.mkdir()
    with serving(lambda request: PAGES.get(request.path, html("nothing"))) as (site, _):

        async def questions(ask: Asked) -> None:
            assert {"start_crawl", "stop_crawl"} <= await ask.tools()
            wanted: dict[str, Any] = {"name": "new", "topic": "recreational cycling", "seeds": [f"http://{site}/"]}
            assert "from 1 to 5 are allowed" in await ask("start_crawl", **wanted, pages=100)
            assert "no name of a crawl" in await ask("start_crawl", **{**wanted, "name": "../new"}, pages=2)
            assert (await ask("start_crawl", **wanted, pages=2))["state"] == "started"
            until = time.monotonic() + 600
            while time.monotonic() < until:
                crawls = await ask("list_crawls")
                if crawls and crawls[0].get("pages") == 2 and not crawls[0]["is_running"]:
                    break
                await asyncio.sleep(0.2)  # it is another process, with a clock of its own
            assert (await ask("status", crawl="new"))["relevant"] == 2
            assert (await ask("stop_crawl", crawl="new"))["state"] == "does not run"

        environment = {"LYCOSA_CONFIG": str(config)}
        asking(folder, questions, "--allow-crawls", "--most-pages", "5", env=environment)
