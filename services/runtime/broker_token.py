"""The token of the embedded broker: one per folder, chosen at random, readable by the owner alone."""

import os
import secrets
from pathlib import Path

TOKEN = "token"  # noqa: S105 - the name of the file, not a token
_BYTES = 32
_LEAST = 32  # characters; a shorter file was cut off while it was written


def private_folder(folder: Path) -> None:
    """Create a folder if it is missing, and close it to all other users.

    Raises:
        OSError: The folder cannot be created, or belongs to another user.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)


def token_in(folder: Path) -> str:
    """The token stored in a private folder; a new one the first time.

    Raises:
        OSError: The file cannot be read or written.
    """
    path = folder / TOKEN
    if path.exists() and len(stored := path.read_text(encoding="ascii").strip()) >= _LEAST:
        path.chmod(0o600)
        return stored
    token = secrets.token_urlsafe(_BYTES)
    write_private(path, token + "\n")
    return token


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, also where it existed with other permissions.

    Raises:
        OSError: The file cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o600)
        file.write(text)
