"""Certificates for tests, by an authority of their own."""

from pathlib import Path

import trustme

from services.runtime.rpc_tls import AUTHORITY, CERTIFICATE, KEY


def certificates(folder: Path, *names: str, authority: trustme.CA | None = None) -> Path:
    """Write a certificate for names and addresses, its key and its authority; returns the folder."""
    authority = authority or trustme.CA()
    issued = authority.issue_cert(*names)
    folder.mkdir(exist_ok=True)
    (folder / CERTIFICATE).write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
    (folder / KEY).write_bytes(issued.private_key_pem.bytes())
    (folder / AUTHORITY).write_bytes(authority.cert_pem.bytes())
    return folder
