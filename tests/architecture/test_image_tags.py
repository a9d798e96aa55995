"""Images of others are named by an exact version, so that two builds or starts run the same programs."""

import re
from pathlib import Path

import pytest

from deploy.digests import files, named

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "deploy").glob("compose*.yaml")),
    ROOT / "deploy/Dockerfile",
    *sorted((ROOT / "k8s").rglob("*.yaml")),
]
_IMAGE = re.compile(r"^\s*(?:image:|ARG BASE_IMAGE=)[ \t]*(\S+)", re.MULTILINE)
_EXACT = re.compile(r"[a-z./-]+:v?\d+\.\d+\.\d+[a-z0-9.-]*(?:@sha256:[0-9a-f]{64})?")


def images(path: Path) -> list[str]:
    """The images that a file names, without our own, whose tag the operator chooses."""
    named = _IMAGE.findall(path.read_text(encoding="utf-8"))
    return [image for image in named if not image.startswith("nuggetstream-")]


def test_the_images_of_others_are_found() -> None:
    names = {image.partition(":")[0] for path in FILES for image in images(path)}
    assert names >= {
        "nats", "pgvector/pgvector", "prom/prometheus", "grafana/grafana", "python",
        "natsio/prometheus-nats-exporter", "prometheuscommunity/postgres-exporter",
    }  # fmt: skip


def test_the_command_that_fixes_digests_knows_every_image() -> None:
    found = {tuple(image.partition("@")[0].split(":")) for path in FILES for image in images(path)}
    assert named(files()) == found


@pytest.mark.parametrize("path", [path for path in FILES if images(path)], ids=lambda path: path.name)
def test_every_image_has_an_exact_version(path: Path) -> None:
    assert [image for image in images(path) if not _EXACT.fullmatch(image)] == []


def test_one_image_has_one_version_everywhere() -> None:
    versions: dict[str, set[str]] = {}
    for path in FILES:
        for image in images(path):
            name, _, version = image.partition(":")
            versions.setdefault(name, set()).add(version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}
