"""lycosa signing: the key that requests are signed with (Web Bot Auth)."""

from __future__ import annotations

from pathlib import Path

import typer

from lycosa.cli.terminal import err, plain
from lycosa.fetch.signing import DIRECTORY_PATH, key_directory, make_signing_key, read_signing_key


def signing(
    file: Path = typer.Argument(help="File of the private key; it is made if it does not exist."),
) -> None:
    """Make the key that requests are signed with, and print what sites need to check it.

    lycosa signing ~/.config/lycosa/signing.pem > http-message-signatures-directory

    What is printed is the public key alone. Serve it at the origin that you name with access.signature_agent, below
    /.well-known/, and keep the file to yourself. Needs: pip install 'lycosa[signed]'.
    """
    is_new = not file.exists()
    if is_new:
        make_signing_key(file)
    print(key_directory(read_signing_key(file)))
    made = f"{plain(file)}: a new key, for you alone; " if is_new else ""
    err.print(f"{made}serve this at {DIRECTORY_PATH} of your origin (docs/access.md)")
