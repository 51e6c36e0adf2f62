"""Signed requests: the vectors of the drafts, a server that checks every signature, and a key that nobody sees."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fetch.test_access import fetched
from fetch.test_http import ok, running
from lycosa.cli import app
from lycosa.config import Config
from lycosa.errors import ConfigError
from lycosa.fetch.access import Access, AccessSettings
from lycosa.fetch.signing import DICTIONARY, STRING, Signer, key_directory, read_signing_key, thumbprint
from lycosa.model import Response

WHY = "signing needs lycosa[signed]"
ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519", reason=WHY)
form = pytest.importorskip("cryptography.hazmat.primitives.serialization", reason=WHY)
exceptions = pytest.importorskip("cryptography.exceptions", reason=WHY)

# RFC 9421, appendix B.1.4
SECRET, PUBLIC = "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU", "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"
JWK = json.dumps({"kty": "OKP", "crv": "Ed25519", "kid": "test-key-ed25519", "d": SECRET, "x": PUBLIC})
KEY_ID = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
AGENT = "https://signature-agent.test"
VECTORS = {
    # draft-ietf-webbotauth-httpsig-protocol-00, appendix E.2.1
    DICTIONARY: (
        4889289600,
        "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==",
        f'agent2="{AGENT}"',
        "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==",
    ),
    # the same, appendix E.2.2
    STRING: (
        1735693200,
        "e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==",
        f'"{AGENT}"',
        "jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==",
    ),
}


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key.jwk"
    path.write_text(JWK)
    path.chmod(0o600)
    return path


def verified(request: bytes, public: str = PUBLIC) -> dict[str, str]:
    """Check a request as RFC 9421, 3.2, has it, from its bytes alone; the parameters of its signature.

    Raises InvalidSignature if it does not hold.
    """
    lines = request.decode("ascii").split("\r\n")[1:]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    label, params = headers["signature-input"].split("=", 1)
    base = []
    for name, parameters in re.findall(r'"([^"]+)"((?:;\w+="[^"]*")*)', params.partition(")")[0]):
        if name == "@authority":
            value = headers["host"].lower()
        elif parameters:
            member = re.fullmatch(r';key="(\w+)"', parameters)[1]  # type: ignore[index]
            value = dict(part.strip().split("=", 1) for part in headers[name].split(","))[member]
        else:
            value = headers[name]
        base.append(f'"{name}"{parameters}: {value}')
    base.append(f'"@signature-params": {params}')
    found_label, signature = headers["signature"].split("=", 1)
    assert found_label == label
    key = ed25519.Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(public + "="))
    key.verify(base64.b64decode(signature.strip(":")), "\n".join(base).encode("ascii"))
    return {"covered": params.partition(")")[0], **dict(re.findall(r';(\w+)="?([^";]+)"?', params.partition(")")[2]))}


class TestVectors:
    def test_the_key_signs_as_in_the_rfc(self):
        """RFC 9421, appendix B.2.6: the base of a signature, and what it is signed to."""
        base = (
            '"date": Tue, 20 Apr 2021 02:07:55 GMT\n"@method": POST\n"@path": /foo\n"@authority": example.com\n'
            '"content-type": application/json\n"content-length": 18\n"@signature-params": ("date" "@method" "@path" '
            '"@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"'
        )
        key = ed25519.Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(SECRET + "="))
        expected = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
        assert base64.b64encode(key.sign(base.encode())).decode() == expected

    @pytest.mark.parametrize("agent_form", [DICTIONARY, STRING])
    def test_those_of_the_draft_come_out_to_the_byte(self, key_file, agent_form):
        expires, nonce, agent, signature = VECTORS[agent_form]
        signer = Signer(read_signing_key(key_file), AGENT, agent_form, label="sig2", member="agent2")
        covered = '"signature-agent"' if agent_form == STRING else '"signature-agent";key="agent2"'
        lines = signer.signed("example.com", created=1735689600, expires=expires, nonce=nonce)
        assert lines == (
            f"Signature-Agent: {agent}",
            f'Signature-Input: sig2=("@authority" {covered});created=1735689600;keyid="{KEY_ID}";alg="ed25519";'
            f'expires={expires};nonce="{nonce}";tag="web-bot-auth"',
            f"Signature: sig2=:{signature}:",
        )
        verified("\r\n".join(["GET / HTTP/1.1", "Host: example.com", *lines]).encode())


@pytest.mark.parametrize("agent_form", [DICTIONARY, STRING])
def test_every_request_is_signed_for_its_own_authority(key_file, agent_form):
    """Robots.txt, a redirect and its target on another host: a server checks each by itself."""
    settings = AccessSettings(signing_key=str(key_file), signature_agent=f"{AGENT}/", signature_agent_form=agent_form)

    async def go() -> tuple[list[bytes], Response]:
        moved = b"HTTP/1.1 301 Moved\r\nLocation: http://other.test/x\r\nContent-Length: 0\r\n\r\n"
        async with running({"/robots.txt": ok(), "/": moved, "/x": ok()}) as server:
            urls = server.url("/robots.txt"), server.url("/"), server.url("/x", host="other.test")
            answer = await fetched(Access(settings), *urls)
            assert isinstance(answer, Response)
            return server.requests, answer

    requests, answer = asyncio.run(go())
    found = [verified(request) for request in requests]
    assert len(found) == 3
    for each in found:
        assert (each["keyid"], each["alg"], each["tag"]) == (KEY_ID, "ed25519", "web-bot-auth")
        assert int(each["expires"]) - int(each["created"]) == 60
        assert abs(int(each["created"]) - time.time()) < 30
        assert '"@authority" "signature-agent"' in each["covered"]
    assert len({each["nonce"] for each in found}) == 3
    assert [line for line in requests[2].split(b"\r\n") if line.startswith(b"Sig")] == [
        line for line in answer.request.split(b"\r\n") if line.startswith(b"Sig")
    ]  # archived as it was sent
    with pytest.raises(exceptions.InvalidSignature):  # the signature for one host is worth nothing at another
        verified(requests[2].replace(b"other.test", b"third.test"))


def test_without_a_key_nothing_is_sent(tmp_path):
    async def go() -> bytes:
        async with running({"/": ok()}) as server:
            await fetched(Access(AccessSettings()), server.url())
            return server.requests[0]

    assert b"Signature" not in asyncio.run(go())


class TestKeys:
    def test_pem_and_jwk_are_the_same_key(self, key_file, tmp_path):
        key = read_signing_key(key_file)
        pem = tmp_path / "key.pem"
        pem.write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()))
        pem.chmod(0o600)
        assert thumbprint(read_signing_key(pem)) == thumbprint(key) == KEY_ID

    def test_the_directory_has_the_public_half_alone(self, key_file):
        text = key_directory(read_signing_key(key_file))
        assert json.loads(text)["keys"] == [
            {"crv": "Ed25519", "kty": "OKP", "x": PUBLIC, "kid": KEY_ID, "alg": "EdDSA", "use": "sig"}
        ]
        assert SECRET not in text

    def test_a_command_makes_one_and_leaves_one_that_is_there(self, tmp_path):
        path = tmp_path / "new.pem"
        first, second = (CliRunner().invoke(app, ["signing", str(path)]) for _ in range(2))
        assert path.stat().st_mode & 0o777 == 0o600
        assert '"kid": "' in first.stdout
        assert first.stdout == second.stdout
        assert "a new key" in first.stderr
        assert "a new key" not in second.stderr

    @pytest.mark.parametrize("mode", [0o640, 0o604])
    def test_others_must_not_read_it(self, key_file, mode):
        key_file.chmod(mode)
        with pytest.raises(ConfigError, match=r"access\.signing_key: .* chmod 600"):
            Access(AccessSettings(signing_key=str(key_file)))

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            "[]",
            "{}",
            SECRET,
            JWK.replace("Ed25519", "X25519"),
            JWK.replace(SECRET, SECRET[:-3]),
            json.dumps({"kty": "OKP", "crv": "Ed25519", "d": 7}),
            f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----\n",
            '{"a":' * 50_000,
        ],
    )
    def test_what_is_no_key_is_said_without_it(self, key_file, text):
        key_file.write_text(text)
        with pytest.raises(ConfigError, match="is no Ed25519 key") as caught:
            Access(AccessSettings(signing_key=str(key_file)))
        shown = f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"
        assert SECRET[:20] not in shown
        assert "\n" not in str(caught.value)

    def test_without_the_package_the_extra_is_named(self, key_file, monkeypatch):
        monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
        with pytest.raises(ConfigError, match=r"pip install 'lycosa\[signed\]'"):
            Access(AccessSettings(signing_key=str(key_file)))

    def test_settings_and_what_is_printed_have_nothing_of_it(self, key_file):
        settings = AccessSettings(signing_key=str(key_file), signature_agent=AGENT)
        signer = Signer(read_signing_key(key_file), AGENT)
        shown = f"{Config(access=settings).to_toml()} {signer!r} {signer}"
        assert SECRET not in shown
        assert str(key_file) in shown


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"signature_agent": AGENT}, "needs access.signing_key"),
        ({"signature_agent": "http://a.test", "signing_key": "k"}, "is no origin"),
        ({"signature_agent": "https://a.test/keys", "signing_key": "k"}, "is no origin"),
        ({"signature_agent": "https://ann:pw@a.test", "signing_key": "k"}, "is no origin"),
        ({"signature_agent": 'https://a.test/"\r\nX: y', "signing_key": "k"}, "is no origin"),
        ({"signature_agent": "a.test", "signing_key": "k"}, "is no origin"),
        ({"signature_agent_form": "list"}, "must be dictionary or string"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ConfigError, match=message) as caught:
        AccessSettings(**settings)
    assert "pw" not in str(caught.value)
