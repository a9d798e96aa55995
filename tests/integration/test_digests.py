"""Digests of images, from a registry that speaks the distribution protocol on loopback."""

import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from deploy.digests import ROOT, files, main, named

MANIFEST = json.dumps({"schemaVersion": 2, "manifests": []}).encode()
DIGEST = f"sha256:{hashlib.sha256(MANIFEST).hexdigest()}"


@contextmanager
def registry(stated: str = DIGEST, missing: str = "") -> Iterator[str]:
    """A registry that wants a token and has every version of every image but one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/token?service=images"):
                self._send(200, b'{"token": "t0ken"}')
            elif self.headers.get("authorization") != "Bearer t0ken":
                challenge = f'Bearer realm="{url}/token",service="images"'
                self._send(401, b"", {"www-authenticate": challenge})
            elif missing and missing in self.path:
                self._send(404, b"")
            elif "/manifests/" in self.path and "oci.image.index" in self.headers["accept"]:
                asked.append(self.path)
                self._send(200, MANIFEST, {"docker-content-digest": stated})
            else:
                self._send(400, b"")

        def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in ((headers or {}) | {"content-length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    asked = list[str]()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield url
        assert missing or "/v2/library/nats/manifests/2.15.1-alpine" in asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("deploy", "k8s"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("node_modules", "*.py"))
    return tmp_path


def texts(tree: Path) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in files(tree)}


def test_every_image_of_others_gets_its_digest_and_keeps_its_version(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = named(files(tree))
    assert {name for name, _ in images} >= {
        "nats", "pgvector/pgvector", "python", "grafana/grafana",
        "natsio/prometheus-nats-exporter", "prometheuscommunity/postgres-exporter",
    }  # fmt: skip
    with registry() as url:
        assert main(["--registry", url, "--check"], tree) == 1
        assert main(["--registry", url], tree) == 0
        written = texts(tree)
        assert main(["--registry", url, "--check"], tree) == 0
    assert texts(tree) == written
    whole = "\n".join(written.values())
    assert f"image: nats:2.15.1-alpine@{DIGEST}\n" in whole
    assert f"image: natsio/prometheus-nats-exporter:0.17.3@{DIGEST}\n" in whole
    assert f"image: prometheuscommunity/postgres-exporter:v0.17.1@{DIGEST}\n" in whole
    assert f"ARG BASE_IMAGE=python:3.11.14-slim-bookworm@{DIGEST}\n" in whole
    assert whole.count(DIGEST) >= len(images)
    assert "nuggetstream-judge:${NUGGETSTREAM_TAG:-0.1.0}\n" in whole
    assert named(files(tree)) == images
    assert f"nats:2.15.1-alpine@{DIGEST}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("stated", "missing", "said"),
    [("sha256:" + 64 * "0", "", "states a digest"), (DIGEST, "pgvector", "404")],
)
def test_a_registry_that_contradicts_itself_or_lacks_an_image_changes_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str], stated: str, missing: str, said: str
) -> None:
    before = texts(tree)
    with registry(stated, missing or "nobody") as url:
        assert main(["--registry", url], tree) == 2
    assert texts(tree) == before
    assert said in capsys.readouterr().err


def test_a_registry_that_does_not_answer_changes_nothing(tree: Path) -> None:
    before = texts(tree)
    with registry(missing="nobody") as url:
        pass
    assert main(["--registry", url], tree) == 2
    assert texts(tree) == before
