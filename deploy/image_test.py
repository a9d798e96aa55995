"""`make image-test`: build a base image and the image of one service without a network, and run it.

    python deploy/image_test.py [SERVICE]        scraper by default

The base is a minimal Debian made by debootstrap; the service's packages come from a folder of wheels
that is filled beforehand, so the build itself reaches nothing. Containers are isolated by chroot, which
works where user namespaces do not. The service runs as the image's own user on a read-only file system,
against a nats-server and a database of this test. Needs root, buildah and debootstrap; says what is
missing and ends well without them.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from services.runtime.nats_server import NatsServer

ROOT = Path(__file__).parents[1]
BASE = "localhost/nuggetstream-base:test"
TOOLS = ("buildah", "debootstrap", "unshare", "chroot")
HEAVY = ("torch", "sentence_transformers")
COMPILERS = ("gcc", "cc", "g++", "clang", "make")

READY_WITHIN = 60.0


def main(service: str) -> int:
    """Build the image, run it, check its health, and return the exit code."""
    if reason := reason_to_skip():
        print(f"image test skipped: {reason}")
        return 0
    cache = ROOT / "out" / "image-test"
    cache.mkdir(parents=True, exist_ok=True)
    build_base(cache)
    image = build_service(service, collect_wheels(cache, service))
    with mounted(image) as root:
        report_contents(service, root)
        asyncio.run(start_and_ask(image, root))
    print("image test passed")
    return 0


def reason_to_skip() -> str:
    """The tools that are missing here; empty if none is."""
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"{', '.join(missing)} not installed"
    return "" if os.geteuid() == 0 else "debootstrap and chroot need root"


def run(*command: str | Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command and return its output.

    Raises:
        SystemExit: it failed; with the end of its output.
    """
    done = subprocess.run(  # noqa: S603 - our own commands
        [str(part) for part in command],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        env={**os.environ, **(env or {})},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout.strip()


def build_base(cache: Path) -> None:
    """Build a minimal Debian with Python as an image, from a folder that is created once."""
    folder = cache / "base"
    if not (folder / "usr/bin/python3").exists():
        shutil.rmtree(folder, ignore_errors=True)
        packages = "--include=python3,python3-venv,ca-certificates"
        mirror = (
            [os.environ["DEBIAN_MIRROR"]] if "DEBIAN_MIRROR" in os.environ else []
        )  # else debootstrap's own
        run("debootstrap", "--variant=minbase", packages, "bookworm", folder, *mirror)
    container = run("buildah", "from", "scratch")
    run("buildah", "copy", "--quiet", container, folder, "/")
    run("buildah", "commit", "--quiet", "--rm", container, BASE)
    print(f"base: {BASE}")


def collect_wheels(cache: Path, service: str) -> Path:
    """Collect the wheels that the service needs in a folder; only this step uses a package index."""
    wheels = cache / f"wheels-{service}"
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", wheels)
    for name in ("build", service):
        run(*pip, "--no-deps", "--require-hashes", "--requirement", ROOT / f"deploy/requirements/{name}.txt")
    if service == "indexer":
        run(*pip, "--constraint", ROOT / "constraints.txt", "torch")
    return wheels


def build_service(service: str, wheels: Path) -> str:
    """Build the image of one service from deploy/Dockerfile without a network."""
    image = f"localhost/nuggetstream-{service}:test"
    arguments = {"SERVICE": service, "BASE_IMAGE": BASE, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels"}
    options = [part for pair in arguments.items() for part in ("--build-arg", "=".join(pair))]
    run(
        "unshare", "--net", "buildah", "bud", "--isolation", "chroot", "--format", "docker", "--pull-never",
        "--volume", f"{wheels}:/wheels:ro", *options,
        "--file", ROOT / "deploy" / "Dockerfile", "--tag", image, ROOT,
    )  # fmt: skip
    print(f"image: {image}, built without a network")
    return image


@contextmanager
def mounted(image: str) -> Iterator[Path]:
    """Mount the file system of an image."""
    container = run("buildah", "from", "--pull-never", image)
    try:
        yield Path(run("buildah", "mount", container))
    finally:
        run("buildah", "rm", container)


def report_contents(service: str, root: Path) -> None:
    """Print what the image contains, and check that heavy packages are absent.

    Raises:
        SystemExit: it holds what it should not.
    """
    site = next(root.glob("opt/nuggetstream/lib/python3*/site-packages"))
    compilers = [name for name in COMPILERS if (root / "usr/bin" / name).exists()]
    heavy = [name for name in HEAVY if (site / name).exists()]
    size = int(run("du", "-sm", root / "opt").split()[0])
    print(f"contains {len(list(site.glob('*.dist-info')))} packages, {size} MB in /opt")
    print(f"compilers: {compilers or 'none'}; of {', '.join(HEAVY)}: {heavy or 'none'}")
    allowed = set(HEAVY) if service == "indexer" else set()
    if compilers or set(heavy) - allowed:
        raise SystemExit("the image holds what it should not")


@dataclass(frozen=True, slots=True)
class Container:
    """A mounted image as a container runtime would run it: its user and variables, with nothing to write
    to but /tmp, and what the kernel offers below /dev and /proc.
    """

    root: Path
    tmp: Path
    config: Mapping[str, Sequence[str]]

    def command(self, *arguments: str, **variables: str) -> list[str]:
        """The command on this machine that runs the arguments inside the container."""
        env = [*self.config["Env"], *(f"{name}={value}" for name, value in variables.items())]
        return [
            "unshare", "--mount", "sh", "-euc", _ENTER, "enter",
            str(self.root), str(self.tmp), str(self.config["User"]), *env, *arguments,
        ]  # fmt: skip


_ENTER = """
root=$1 tmp=$2 user=$3; shift 3
mount --bind "$root" "$root"
mount --bind "$tmp" "$root/tmp"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" "$root" /usr/bin/env --chdir=/tmp -i "$@"
"""


async def start_and_ask(image: str, root: Path) -> None:
    """Run the command and the health check of the image.

    Raises:
        SystemExit: it can write where it should not, it ends, or it is not healthy in time.
    """
    inspected = json.loads(run("buildah", "inspect", "--type", "image", image))
    config = inspected["Docker"]["config"]
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder) / "tmp"
        tmp.mkdir(mode=0o777)
        tmp.chmod(0o1777)
        container = Container(root, tmp, config)
        print("runs as", run(*container.command("id")))
        run(*container.command("sh", "-c", "! touch /opt/nuggetstream/new 2>/dev/null"))
        print("cannot write to its own files")
        async with NatsServer(Path(folder) / "nats") as broker:
            settings = {
                "NUGGETSTREAM_NATS_URL": broker.url,
                "NUGGETSTREAM_DATABASE_URL": "sqlite+aiosqlite:////tmp/record.db",
                "NUGGETSTREAM_EMBEDDING_MODEL": "none",
                "NUGGETSTREAM_ADMIN_TOKEN": token_hex(12),  # the gateway listens for all
            }
            for job in ("migrate", "bootstrap"):
                print(run(*container.command(*config["Entrypoint"], job, **settings)).splitlines()[-1])
            await until_healthy(container, settings)


async def until_healthy(container: Container, settings: Mapping[str, str]) -> None:
    """Start the service, wait until it is ready, and stop it with SIGTERM."""
    config = container.config
    serve = container.command(*config["Entrypoint"], *config["Cmd"], **settings)
    check = container.command(*config["Healthcheck"]["Test"][1:])  # type: ignore[call-overload]
    process = await asyncio.create_subprocess_exec(*serve)
    try:
        async with asyncio.timeout(READY_WITHIN):
            while await succeeds(check) is False:
                if process.returncode is not None:
                    raise SystemExit(f"the service ended with code {process.returncode}")
                await asyncio.sleep(0.2)
        print("healthy by the image's own health check")
    finally:
        if process.returncode is None:
            process.terminate()
        print("ended with code", await process.wait())


async def succeeds(command: Sequence[str]) -> bool:
    """Whether a command exits with code 0."""
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    return await process.wait() == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or ["scraper"]))
