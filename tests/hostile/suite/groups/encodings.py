"""Compression and character sets."""

from __future__ import annotations

import gzip
import zlib
from functools import cache

import brotli
import zstandard

from hostile.suite.behaviour import FINE, Ask, Behaviour, Check, Raw, html, link, prose, response
from hostile.suite.checks import asked, at_most, kept, not_asked, not_kept

PAGE = html(prose("odd") + link("/next"))
STILL = kept("/fine", about="named fine")
NAMED = kept("/", about="named odd")
BOMB = 120_000_000


@cache
def _bomb(coding: str) -> bytes:
    """Packed when it is asked for: the table is read by others, too."""
    zeros = b"<p>" + b"0" * BOMB
    if coding == "br":
        return brotli.compress(zeros, quality=1)
    if coding == "zstd":
        return zstandard.compress(zeros, 3)
    packed = zlib.compress(zeros, 1) if coding == "deflate" else gzip.compress(zeros, 1)
    return gzip.compress(packed) if coding == "gzip, gzip" else packed


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _brotli(data: bytes) -> bytes:
    return brotli.compress(data, quality=4)


def _coded(
    name: str, does: str, good: str, body: bytes, coding: str, *checks: Check, is_quick: bool = False
) -> Behaviour:
    served = response(body, ("Content-Encoding", coding))
    pages = {"/": served, "/fine": FINE, "/next": FINE}
    return Behaviour(name, does, good, (*checks, STILL, at_most(8)), pages, seeds=("/", "/fine"), is_quick=is_quick)


def _charset(
    name: str, does: str, good: str, body: bytes, kind: str, *checks: Check, is_quick: bool = False
) -> Behaviour:
    pages = {"/": response(body, kind=kind), "/next": FINE}
    return Behaviour(name, does, good, checks, pages, is_quick=is_quick)


def _bombed(name: str, does: str, coding: str, *, is_quick: bool = False) -> Behaviour:
    def served(_: Ask) -> Raw:
        return response(_bomb(coding), ("Content-Encoding", coding))

    checks = (not_kept("/"), STILL, at_most(8))
    return Behaviour(
        name, does, "does not keep it", checks, {"/": served, "/fine": FINE}, seeds=("/", "/fine"), is_quick=is_quick
    )


BEHAVIOURS = (
    _coded("gzip", "compresses with gzip", "keeps the page", gzip.compress(PAGE), "gzip", NAMED, is_quick=True),
    _coded("deflate", "compresses with zlib", "keeps the page", zlib.compress(PAGE), "deflate", NAMED),
    _coded("deflate-raw", "compresses with deflate, without zlib's head", "keeps the page", _raw_deflate(PAGE), "deflate", NAMED),
    _coded("brotli", "compresses with brotli", "keeps the page", _brotli(PAGE), "br", NAMED),
    _coded("zstd", "compresses with zstandard", "keeps the page", zstandard.compress(PAGE), "zstd", NAMED),
    _coded("x-gzip", "calls gzip x-gzip, in capitals", "keeps the page", gzip.compress(PAGE), "X-GZIP", NAMED),
    _coded("gzip-members", "compresses in several members", "keeps the whole page",
           gzip.compress(PAGE[:60]) + gzip.compress(PAGE[60:]), "gzip", NAMED),
    _coded("gzip-in-brotli", "compresses twice", "keeps the page", _brotli(gzip.compress(PAGE)), "gzip, br", NAMED),
    _bombed("gzip-bomb", "unpacks to 120 MB", "gzip", is_quick=True),
    _bombed("deflate-bomb", "unpacks to 120 MB (deflate)", "deflate"),
    _bombed("brotli-bomb", "unpacks to 120 MB (brotli)", "br"),
    _bombed("zstd-bomb", "unpacks to 120 MB (zstandard)", "zstd"),
    _bombed("double-bomb", "unpacks to something that unpacks to 120 MB", "gzip, gzip"),
    _coded("gzip-cut", "breaks off within the compressed page", "survives", gzip.compress(PAGE * 50)[:-200], "gzip"),
    _coded("gzip-garbage", "has garbage within the compressed page", "survives",
           gzip.compress(PAGE)[:30] + b"\xff" * 200, "gzip"),
    _coded("gzip-lie", "claims gzip, and sends the page as it is", "survives", PAGE, "gzip"),
    _coded("brotli-garbage", "sends garbage as brotli", "keeps no page", b"\xff\x00\xff" * 99, "br", not_kept("/")),
    _coded("zstd-garbage", "sends garbage as zstandard", "keeps no page", b"\x28\xb5\x2f\xfd" + b"\xff\x00" * 99, "zstd", not_kept("/")),
    _coded("zstd-window", "asks zstandard for a window of gigabytes", "keeps no page",
           b"\x28\xb5\x2f\xfd\x00\xff" + b"\xff" * 99, "zstd", not_kept("/")),
    _coded("coding-unknown", "uses an encoding that nobody knows", "keeps no page", bytes(range(256)), "x-odd", not_kept("/")),
    _coded("coding-stack", "names gzip 40 times", "refuses it", gzip.compress(PAGE), ", ".join(["gzip"] * 40), not_kept("/")),
    _charset("charset-lie", "says UTF-8 and sends Latin-1", "keeps what can be read",
             PAGE.replace(b"A page", b"caf\xe9"), "text/html; charset=utf-8", NAMED, asked("/next"), is_quick=True),
    _charset("charset-unknown", "says utf-9", "keeps the page", PAGE, "text/html; charset=utf-9", NAMED),
    _charset("charset-odd", "gives a charset of 5,000 characters", "keeps the page", PAGE,
             f"text/html; charset={'x' * 5000}", NAMED),
    _charset("utf-16", "sends UTF-16, and says so", "keeps the page", PAGE.decode().encode("utf-16-le"),
             "text/html; charset=utf-16le", NAMED, asked("/next")),
    _charset("utf-16-bom", "sends UTF-16 and says UTF-8", "believes the byte order mark", PAGE.decode().encode("utf-16"),
             "text/html; charset=utf-8", NAMED, asked("/next")),
    _charset("utf-7", "hides a link in UTF-7", "does not read UTF-7", PAGE + b"+ADw-a href=+ACI-/hidden+ACI-+AD4-x+ADw-/a+AD4-",
             "text/html; charset=utf-7", not_asked("/hidden")),
    _charset("utf-8-overlong", "spells characters in too many bytes", "does not read them as others",
             PAGE + b"\xc0\xbca href=/hidden>\xe0\x80\xbc/a>", "text/html; charset=utf-8", NAMED, not_asked("/hidden")),
    _charset("surrogates", "sends halves of surrogates", "keeps the page", PAGE + b"\xed\xa0\x80 &#xD800; &#xDFFF;",
             "text/html; charset=utf-8", NAMED, is_quick=True),
    _charset("nul-bytes", "has NUL bytes in its text and in its tags", "keeps the page",
             PAGE.replace(b"<p>", b"<p\0>\0"), "text/html", kept("/"), is_quick=True),
    _charset("charset-late", "declares its charset after 5 KB", "keeps the page",
             b"<!--" + b"x" * 5000 + b"--><meta charset=iso-8859-1>" + PAGE, "text/html", NAMED),
    _charset("charset-twice", "declares two charsets", "keeps the page",
             b"<meta charset=utf-8><meta charset=shift_jis>" + PAGE, "text/html", NAMED),
    _charset("iso-2022-jp", "has a link that is one only if escape sequences are ignored", "does not follow it",
             PAGE + b"\x1b$B<a href=/hidden>\x1b(B", "text/html; charset=iso-2022-jp", NAMED, not_asked("/hidden")),
)  # fmt: skip
