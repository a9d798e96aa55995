"""Fix the contents of images that others publish: write the digest behind the version of each.

    python deploy/digests.py --registry https://REGISTRY [--check]

    image: nats:2.15.1-alpine   ->   image: nats:2.15.1-alpine@sha256:…

A version can be published again with other contents, a digest cannot. The registry is asked for the manifest
of every image that compose, the manifests and the Dockerfile name, by the distribution protocol. The digest
is computed from the manifest that it sends, and a registry that states another one is an error. A name
without an owner, such as `nats`, is looked up below `library/`, as registries of Docker images have it.

With --check nothing is written: the exit status is 1 if a digest is missing or is not that of the version.
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import httpx2

ROOT = Path(__file__).parents[1]
IMAGE = re.compile(
    r"^(?P<before>\s*(?:- )?(?:image:|ARG BASE_IMAGE=)\s*)"
    r"(?P<name>[a-z0-9][a-z0-9./_-]*):(?P<version>v?\d[\w.-]*)(?:@(?P<digest>sha256:[0-9a-f]{64}))?\s*$",
    re.MULTILINE,
)
OURS = "nuggetstream-"  # images whose contents the operator builds
_KINDS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')


class RegistryError(Exception):
    """The registry did not answer, or not with what was asked for."""


class Registry:
    """A registry of images.

    Args:
        url: Its address, such as `http://localhost:5000`.
    """

    def __init__(self, url: str) -> None:
        self._client = httpx2.Client(base_url=url, timeout=30, follow_redirects=True)

    def digest(self, name: str, version: str) -> str:
        """The digest of the contents of a version, `sha256:` and 64 hexadecimal digits.

        Raises:
            RegistryError: There is no such version, or the registry does not answer or contradicts itself.
        """
        path = name if "/" in name else f"library/{name}"
        answer = self._get(f"/v2/{path}/manifests/{version}")
        computed = f"sha256:{hashlib.sha256(answer.content).hexdigest()}"
        if answer.headers.get("docker-content-digest", computed) != computed:
            raise RegistryError(
                f"{name}:{version}: the registry states a digest that its manifest does not have"
            )
        return computed

    def _get(self, path: str) -> httpx2.Response:
        headers = {"accept": ", ".join(_KINDS)}
        try:
            answer = self._client.get(path, headers=headers)
            if answer.status_code == 401:
                headers["authorization"] = f"Bearer {self._token(answer)}"
                answer = self._client.get(path, headers=headers)
            answer.raise_for_status()
        except (httpx2.HTTPError, json.JSONDecodeError, KeyError) as error:
            raise RegistryError(f"{path}: {error!r}") from error
        return answer

    def _token(self, refusal: httpx2.Response) -> str:
        """A token for reading, from where the registry says that there is one."""
        challenge = dict(_CHALLENGE.findall(refusal.headers.get("www-authenticate", "")))
        answer = self._client.get(challenge.pop("realm"), params=challenge)
        answer.raise_for_status()
        body = answer.json()
        return str(body.get("token") or body["access_token"])


def files(root: Path = ROOT) -> list[Path]:
    """The files that name images."""
    deploy = root / "deploy"
    return [
        *sorted(deploy.glob("compose*.yaml")),
        deploy / "Dockerfile",
        *sorted((root / "k8s").rglob("*.yaml")),
    ]


def named(paths: Iterable[Path]) -> set[tuple[str, str]]:
    """Name and version of every image of others in some files."""
    found = (match for path in paths for match in IMAGE.finditer(path.read_text(encoding="utf-8")))
    return {(match["name"], match["version"]) for match in found if not match["name"].startswith(OURS)}


def with_digests(text: str, digests: Mapping[tuple[str, str], str]) -> str:
    """A file with the digests of its images.

    >>> with_digests("    image: nats:2.15.1\\n", {("nats", "2.15.1"): "sha256:" + 64 * "0"})[:34]
    '    image: nats:2.15.1@sha256:0000'
    """

    def image(match: re.Match[str]) -> str:
        digest = digests.get((match["name"], match["version"]))
        if digest is None:
            return match[0]
        ending = match[0][len(match[0].rstrip()) :]
        return f"{match['before']}{match['name']}:{match['version']}@{digest}{ending}"

    return IMAGE.sub(image, text)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--registry", required=True, help="URL of the registry of the images")
    options.add_argument("--check", action="store_true", help="compare, and write nothing")
    chosen = options.parse_args(arguments)
    paths, registry = files(root), Registry(chosen.registry)
    try:
        digests = {image: registry.digest(*image) for image in sorted(named(paths))}
    except RegistryError as error:
        print(f"nothing was changed: {error}", file=sys.stderr)
        return 2
    changed = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if (fixed := with_digests(text, digests)) != text:
            changed.append(str(path.relative_to(root)))
            if not chosen.check:
                path.write_text(fixed, encoding="utf-8")
    for (name, version), digest in digests.items():
        print(f"{name}:{version}@{digest}")
    print("\n".join(f"{'differs' if chosen.check else 'written'}: {name}" for name in changed))
    return 1 if changed and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
