"""Signed requests, by which a site can tell that they are ours: Web Bot Auth.

Each request is signed with an Ed25519 key (RFC 9421), of which the public half is to be found at an origin of ours:

    Signature-Agent: sig1="https://crawler.example.org"
    Signature-Input: sig1=("@authority" "signature-agent";key="sig1");created=…;keyid="…";alg="ed25519";expires=…;
        nonce="…";tag="web-bot-auth"
    Signature: sig1=:…:

That is what draft-ietf-webbotauth-httpsig-protocol-00 says. Its predecessors had Signature-Agent as a plain string,
and Cloudflare still asks for it (cloudflare/cloudflare-docs, issue 30968): `access.signature_agent_form` chooses.

A signature is for one authority, a minute and one request. It says who asks, and gives no right to anything. The key is
a secret: it is read from a file that is its owner's alone, and never stored or shown. Signatures are archived like the
rest of a request; they are worth nothing after a minute.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ada_url

from lycosa.errors import ConfigError
from lycosa.fetch.private_file import read_private

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SETTING = "access.signing_key"
DICTIONARY, STRING = "dictionary", "string"
DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
LIFETIME = 60
"""Seconds for which a signature holds."""
NONCE_BYTES = 32
_TAG = "web-bot-auth"


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """Signs requests. Nothing of the key is in what is printed of it."""

    key: Ed25519PrivateKey
    agent: str = ""
    """Origin at which the public key is to be found; empty: whoever checks signatures knows it."""
    form: str = DICTIONARY
    label: str = "sig1"
    member: str = "sig1"
    """Name of the agent in the dictionary."""

    def lines(self, authority: str, *, now: float) -> tuple[str, ...]:
        """Header lines of a request. `authority`: host, and port if it is not the default one, in lower case."""
        nonce = base64.b64encode(os.urandom(NONCE_BYTES)).decode("ascii")
        return self.signed(authority, created=int(now), expires=int(now) + LIFETIME, nonce=nonce)

    def signed(self, authority: str, *, created: int, expires: int, nonce: str) -> tuple[str, ...]:
        quoted = f'"{self.agent}"'
        covered = [('"@authority"', authority)]
        if self.agent:
            name = '"signature-agent"'
            covered.append((name if self.form == STRING else f'{name};key="{self.member}"', quoted))
        params = (
            f"({' '.join(name for name, _ in covered)});created={created};"
            f'keyid="{thumbprint(self.key)}";alg="ed25519";expires={expires};nonce="{nonce}";tag="{_TAG}"'
        )
        base = "\n".join(f"{name}: {value}" for name, value in (*covered, ('"@signature-params"', params)))
        signature = base64.b64encode(self.key.sign(base.encode("ascii"))).decode("ascii")
        agent = quoted if self.form == STRING else f"{self.member}={quoted}"
        return (
            *((f"Signature-Agent: {agent}",) if self.agent else ()),
            f"Signature-Input: {self.label}={params}",
            f"Signature: {self.label}=:{signature}:",
        )


def checked_agent(url: str, *, setting: str) -> str:
    """The origin that the URL is, as it is sent."""
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        parsed = None
    is_origin = parsed is not None and not (parsed.username or parsed.password or parsed.search or parsed.hash)
    if parsed is None or not is_origin or parsed.protocol != "https:" or parsed.pathname != "/":
        raise ConfigError(f"{setting} is no origin: write https://crawler.example.org, where your public key is")
    return f"https://{parsed.host}"


def read_signing_key(path: Path) -> Ed25519PrivateKey:
    """The key in a file that only its owner can read: PEM (PKCS #8), or a JSON Web Key."""
    text = read_private(path, setting=SETTING)
    keys, serialization = _cryptography()
    found: Any = None
    # Whatever is wrong with it: errors may quote the key.
    with contextlib.suppress(Exception):
        if text.lstrip().startswith("{"):
            found = keys.Ed25519PrivateKey.from_private_bytes(_private_bytes(json.loads(text)))
        else:
            found = serialization.load_pem_private_key(text.encode(), password=None)
    if not isinstance(found, keys.Ed25519PrivateKey):
        raise ConfigError(
            f"{SETTING}: {path} is no Ed25519 key, in PEM without a password or as a private JSON Web Key; "
            "lycosa signing FILE makes one"
        )
    signing_key: Ed25519PrivateKey = found
    return signing_key


def make_signing_key(path: Path) -> None:
    """Write a new key into a file that does not exist, for its owner alone."""
    keys, serialization = _cryptography()
    text = keys.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None


def thumbprint(key: Ed25519PrivateKey) -> str:
    """By which a key is known (RFC 7638; for Ed25519, RFC 8037, appendix A.3)."""
    members = json.dumps(_public(key), sort_keys=True, separators=(",", ":"))
    return _base64url(hashlib.sha256(members.encode("ascii")).digest())


def key_directory(key: Ed25519PrivateKey) -> str:
    """What is to be found at `DIRECTORY_PATH` of the agent's origin: the public key alone, as JSON."""
    return json.dumps({"keys": [{**_public(key), "kid": thumbprint(key), "alg": "EdDSA", "use": "sig"}]}, indent=2)


def _public(key: Ed25519PrivateKey) -> dict[str, str]:
    return {"crv": "Ed25519", "kty": "OKP", "x": _base64url(key.public_key().public_bytes_raw())}


def _private_bytes(jwk: dict[str, Any]) -> bytes:
    if jwk["kty"] != "OKP" or jwk["crv"] != "Ed25519":
        raise ValueError("another kind of key")
    return base64.urlsafe_b64decode(jwk["d"] + "=" * (-len(jwk["d"]) % 4))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ConfigError(f"{SETTING} needs cryptography: pip install 'lycosa[signed]'") from None
    return ed25519, serialization
