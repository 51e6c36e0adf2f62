"""Files with secrets: what is refused, what is sent where, and that nothing of it is repeated."""

from __future__ import annotations

import asyncio
import base64
import shutil
import ssl
import subprocess
import sys
import types
from pathlib import Path

import pytest

from fetch.test_http import AGENT, ok, running
from lycosa.errors import ConfigError
from lycosa.fetch.access import MOST_REFUSALS, Access, AccessSettings
from lycosa.fetch.cookie_file import CookieFile
from lycosa.fetch.dns import Resolver
from lycosa.fetch.guard import Guard
from lycosa.fetch.http import Http
from lycosa.fetch.logins import read_logins
from lycosa.fetch.transfer import HttpSettings, TransferFailure
from lycosa.model import Response

NOW = 1_700_000_000
SECRET = "hush-4711"


@pytest.fixture
def private(tmp_path):
    def write(text: str, name: str = "secrets", mode: int = 0o600) -> Path:
        path = tmp_path / name
        path.write_text(text)
        path.chmod(mode)
        return path

    return write


def cookie(domain="site.test", wide="FALSE", path="/", secure="FALSE", expires=0, name="sid", value=SECRET):
    return "\t".join([domain, wide, path, secure, str(expires), name, value])


class TestPrivateFiles:
    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
    def test_others_must_not_have_access(self, private, mode):
        path = private(f'["site.test"]\ntoken = "{SECRET}"', mode=mode)
        with pytest.raises(ConfigError, match=f"chmod 600 {path}"):
            read_logins(path)
        with pytest.raises(ConfigError, match=f"chmod 600 {path}"):
            CookieFile(path, now=NOW)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[", "not valid TOML"),
            (f'["site.test"]\npasword = "{SECRET}"', "unknown key 'pasword'"),
            (f'["site.test"]\npassword = "{SECRET}"', "belong together"),
            ('["site.test"]\nuser = "ann"', "belong together"),
            (f'["site.test"]\nuser = "ann"\npassword = "{SECRET}"\ntoken = "{SECRET}"', "not both"),
            (f'["site.test/path"]\ntoken = "{SECRET}"', "is no host"),
            (f'["ftp://site.test"]\ntoken = "{SECRET}"', "is no host"),
            (f'["https://ann:{SECRET}@site.test"]\ntoken = "x"', "an entry is no host"),
            (f'["site.test"]\ntoken = "{SECRET}\\r\\nX: y"', "text on one line"),
            (f'["site.test"]\nheaders = {{ Host = "{SECRET}" }}', "'Host' is not a header"),
            (f'["site.test"]\nheaders = {{ "X Y" = "{SECRET}" }}', "'X Y' is not a header"),
            (f'["site.test"]\nheaders = {{ X-Key = "{SECRET}é" }}', "cannot be sent"),
            (f'site = "{SECRET}"', "write a section"),
            ('["site.test"]\nkey_password = "x"', "needs its certificate"),
            ('["site.test"]\ncertificate = "none.pem"', "is not a file"),
        ],
    )
    def test_mistakes_are_named_and_secrets_are_not(self, private, text, message):
        with pytest.raises(ConfigError, match=message) as caught:
            read_logins(private(text))
        shown = f"{caught.value} {caught.value.__cause__}"
        assert SECRET not in shown
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("# nothing\n", "has no cookie"),
            (f"site.test\tFALSE\t/\tFALSE\t0\tsid {SECRET}", "line 1 .* seven fields"),
            (cookie(expires="never"), "seven fields"),
            (cookie(value=f"{SECRET}\x7f"), "cannot be sent"),
            (cookie(expires=NOW - 1), "all cookies in .* have expired, the last on 2023-11-14 22:13 UTC"),
        ],
    )
    def test_cookie_files_that_cannot_be_used(self, private, text, message):
        with pytest.raises(ConfigError, match=message) as caught:
            CookieFile(private(text), now=NOW)
        assert SECRET not in str(caught.value)

    def test_a_few_expired_cookies_are_said(self, private):
        path = private(f"{cookie()}\n{cookie(name='old', expires=NOW - 1)}\n")
        access = Access(AccessSettings(cookies=str(path)), now=NOW)
        assert access.note == "1 of 2 cookies have expired and are not sent"


class TestCookies:
    def line(self, private, text: str, url: str, host: str) -> str:
        return CookieFile(private(text), now=NOW).line_for(url, host)

    @pytest.mark.parametrize(
        ("options", "url", "is_sent"),
        [
            ({}, "http://site.test/", True),
            ({}, "http://www.site.test/", False),
            ({"wide": "TRUE", "domain": ".site.test"}, "http://www.site.test/", True),
            ({}, "http://othersite.test/", False),
            ({"path": "/in"}, "http://site.test/in/x", True),
            ({"path": "/in"}, "http://site.test/out", False),
            ({"secure": "TRUE"}, "http://site.test/", False),
            ({"secure": "TRUE"}, "https://site.test/", True),
        ],
    )
    def test_each_goes_where_it_belongs(self, private, options, url, is_sent):
        host = url.split("/")[2]
        line = self.line(private, f"#HttpOnly_{cookie(**options)}", url, host)
        assert line == (f"Cookie: sid={SECRET}" if is_sent else "")

    def test_several_are_one_line(self, private):
        text = f"# Netscape HTTP Cookie File\n{cookie()}\n{cookie(name='b', value='2')}\n"
        assert self.line(private, text, "http://site.test/", "site.test") == f"Cookie: sid={SECRET}; b=2"


class TestLogins:
    def test_belong_to_one_origin(self, private):
        path = private(
            f'["site.test"]\nuser = "ann"\npassword = "{SECRET}"\n'
            f'["http://plain.test:8080"]\ntoken = "{SECRET}"\nheaders = {{ X-Key = "k" }}'
        )
        access = Access(AccessSettings(logins=str(path)))
        basic = base64.b64encode(f"ann:{SECRET}".encode()).decode()

        def lines(origin: str) -> tuple[str, ...]:
            return access.for_request(origin, origin.split("/")[2].partition(":")[0], f"{origin}/").lines

        assert lines("https://site.test") == (f"Authorization: Basic {basic}",)
        assert lines("http://plain.test:8080") == ("X-Key: k", f"Authorization: Bearer {SECRET}")
        for other in ("http://site.test", "https://site.test:444", "https://a.site.test", "http://plain.test"):
            assert lines(other) == ()
        assert SECRET not in repr(access.for_request("https://site.test", "site.test", "https://site.test/"))
        assert SECRET not in repr(read_logins(path))

    def test_a_refused_one_is_not_sent_for_ever(self, private):
        path = private(f'["site.test"]\ntoken = "{SECRET}"')
        access = Access(AccessSettings(logins=str(path)))
        origin = "https://site.test"

        def is_sent() -> bool:
            return bool(access.for_request(origin, "site.test", f"{origin}/").lines)

        for status in (401, 401, 200, 401, 401):
            access.note_answer(origin, status)
            assert is_sent()
        assert "was refused: check" in access.why_unauthorized(origin)
        access.note_answer(origin, 401)
        assert not is_sent()
        assert f"refused {MOST_REFUSALS} times" in access.why_unauthorized(origin)
        assert "asks for a log-in" in access.why_unauthorized("https://other.test")

    def test_a_password_may_come_from_the_keyring(self, private, monkeypatch):
        stored = {("lycosa", "ann"): SECRET}
        keyring = types.SimpleNamespace(get_password=lambda service, user: stored.get((service, user)))
        monkeypatch.setitem(sys.modules, "keyring", keyring)
        login = read_logins(private('["site.test"]\nuser = "ann"\nkeyring = "lycosa"'))["https://site.test"]
        assert login.password == SECRET
        with pytest.raises(ConfigError, match="no such password"):
            read_logins(private('["site.test"]\nuser = "bob"\nkeyring = "lycosa"'))

    def test_without_the_package_it_is_said(self, private, monkeypatch):
        monkeypatch.setitem(sys.modules, "keyring", None)
        with pytest.raises(ConfigError, match="pip install keyring"):
            read_logins(private('["site.test"]\nuser = "ann"\nkeyring = "lycosa"'))


class TestHeaders:
    def test_are_sent_and_archived(self):
        async def go() -> tuple[Response | TransferFailure, list[bytes]]:
            access = Access(AccessSettings(headers=("X-Purpose: research",)))
            async with running({"/": ok()}) as server:
                return await fetched(access, server.url()), server.requests

        answer, requests = asyncio.run(go())
        assert isinstance(answer, Response)
        assert b"X-Purpose: research\r\n" in requests[0]
        assert b"X-Purpose: research\r\n" in answer.request

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("Authorization: Bearer x", "put it into the file"),
            ("cookie: a=b", "put it into the file"),
            ("User-Agent: x", r"in \[http\]"),
            ("Host: x", "not a header"),
            ("nothing", "Name: value"),
            ("X-A: b\r\nX-C: d", "cannot be sent"),
        ],
    )
    def test_what_cannot_be_one(self, line, message):
        with pytest.raises(ConfigError, match=message):
            AccessSettings(headers=(line,))


async def fetched(access: Access, *urls: str) -> Response | TransferFailure:
    """The answer for the last URL."""
    resolver = Resolver(overrides={"*.test": "127.0.0.1"})
    http = Http(settings=HttpSettings(user_agent=AGENT), guard=Guard(["127.0.0.0/8"]), resolver=resolver, access=access)
    try:
        return [await http.get(url) for url in urls][-1]
    finally:
        await http.close()
        await resolver.close()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Path:
    """A folder with ca.pem, which vouches for server.pem (site.test, other.test) and ann.pem, each with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command is needed to make certificates")
    folder = tmp_path_factory.mktemp("tls")
    new = "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

    def run(command: str) -> None:
        subprocess.run(command.split(), check=True, capture_output=True, cwd=folder)

    run(f"{new} -x509 -days 2 -subj /CN=ca -keyout ca.key -out ca.pem")
    for name in ("server", "ann"):
        (folder / "names").write_text("subjectAltName=DNS:site.test,DNS:other.test")
        run(f"{new} -subj /CN={name} -keyout {name}.key -out {name}.csr")
        run(
            f"openssl x509 -req -days 2 -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem "
            "-extfile names"
        )
    return folder


def test_a_client_certificate_and_an_own_ca_are_for_one_origin(certificates, private):
    async def go() -> tuple[Response | TransferFailure, Response | TransferFailure]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
        context.load_verify_locations(certificates / "ca.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        async with running({"/": ok()}, context) as server:
            text = (
                f'["site.test:{server.port}"]\nca = "{certificates}/ca.pem"\n'
                f'certificate = "{certificates}/ann.pem"\nkey = "{certificates}/ann.key"\n'
                f'["other.test:{server.port}"]\nca = "{certificates}/ca.pem"\n'
            )
            access = Access(AccessSettings(logins=str(private(text))))
            mine, others = (f"https://{host}.test:{server.port}/" for host in ("site", "other"))
            return await fetched(access, mine), await fetched(access, mine, others)

    mine, others = asyncio.run(go())
    assert isinstance(mine, Response), mine
    assert mine.body == b"hello"
    assert isinstance(others, TransferFailure)  # the same handle, without a certificate
