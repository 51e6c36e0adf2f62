"""Options by which a crawl gets in: --proxy, --logins, --cookies, --header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

PROXY = typer.Option(
    None,
    "--proxy",
    help="Go through this proxy: http://proxy.example.org:3128, socks5://127.0.0.1:1080, or environment (HTTP_PROXY "
    "and the like). Its log-in stands in the file of --logins.",
)
LOGINS = typer.Option(
    None, "--logins", help="A file of log-ins by host, which only you can read (docs/access.md). Never stored or shown."
)
COOKIES = typer.Option(
    None, "--cookies", help="A file of cookies in Netscape format, which only you can read. Never stored or shown."
)
HEADER = typer.Option(
    [], "--header", help="A further header for all requests: 'X-Purpose: research'. No secrets. May be repeated."
)


def access(proxy: str | None, logins: Path | None, cookies: Path | None, headers: list[str]) -> dict[str, Any]:
    """The settings these options stand for."""
    return {
        "proxy": proxy,
        "logins": str(logins.resolve()) if logins else None,
        "cookies": str(cookies.resolve()) if cookies else None,
        "headers": headers or None,
    }
