"""The commands and examples of README and docs run as they are printed, and print what the page shows.

They run in the virtual environment that INSTALLATION_UNDER_TEST names, such as the one that `make setup`
makes; without it, and for pages that name more than `make setup` installs, in that of the tests. Commands
of a page are forked from a process of that environment that has imported the platform (`tests.fork_server`).
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests import fork_client
from tests.documents import Block, blocks, pages
from tests.e2e.processes import clean_environment
from tests.forked import fork_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SAMPLES = Path(__file__).parent / "samples"
INTERPRETER = Path(__file__).parent / "interpreter.py"
CLIENT = Path(fork_client.__file__)
PATIENCE = 240.0  # seconds
OURS = Path(sys.prefix)  # with all packages, those for development included
INSTALLATION = Path(os.environ.get("INSTALLATION_UNDER_TEST", OURS))
BATTLE = "tides"
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
# Programs as a page names them: at the address of the platform that runs, on ports that are free.
PROLOGUE = """
set -eu
curl() { command curl --fail-with-body "$@"; }
forked() { $FORKED services.cli.main "$@"; }
nuggetstream() {
  case "$1" in
    up) forked "$@" --http-port 0 --grpc-port 0 --metrics-port 0 ;;
    failures|calls|nuggets|rerun|delete|retention|audit|webhooks|study)
      forked "$@" --url "$PLATFORM" ;;
    demo) case " $* " in
      *" --arena "*) forked "$@" --http-port 0 --arena-port 0 ;;
      *) forked "$@" ;;
    esac ;;
    *) forked "$@" ;;
  esac
}
"""


@dataclass
class Platform:
    """A running `nuggetstream up`: its address and its data folder."""

    url: str
    data: Path


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """One platform for all pages, with one battle that has ended."""
    folder = tmp_path_factory.mktemp("up")
    free = ("--http-port", "0", "--grpc-port", "0", "--metrics-port", "0")
    process = started(
        ["nuggetstream", "up", *free], folder, environment(INSTALLATION, NUGGETSTREAM_EMBEDDING_MODEL="none")
    )
    try:
        platform = Platform(process.address(), folder / "nuggetstream-data")
        body = json.loads((SAMPLES / "battles.jsonl").read_text(encoding="utf-8").splitlines()[0])
        request = Request(
            f"{platform.url}/v1/battles?wait=120",
            data=json.dumps(body | {"id": BATTLE}).encode(),
            headers={"content-type": "application/json"},
        )
        with urlopen(request) as response:
            assert json.load(response)["state"] == "scored"
        yield platform
    finally:
        process.stop()


def environment(installation: Path, **more: str) -> dict[str, str]:
    """Variables of a user without settings, with the commands of an installation."""
    path = f"{installation / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return (
        clean_environment()
        | {"PATH": path, "BROWSER": "true", "KEY": "none", "PYTHONUNBUFFERED": "1"}
        | {"FORK_SERVER": str(server(installation).fileno()), "FORKED": f"{sys.executable} -I -S {CLIENT}"}
        | more
    )


def server(installation: Path) -> socket.socket:
    """The connection to the process that forks the commands of an installation."""
    return fork_server(installation / "bin" / "python")


@dataclass
class Process:
    """A process in a group of its own, as a terminal starts it, and the file with its output."""

    child: "subprocess.Popen[bytes]"
    log: Path

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def address(self) -> str:
        """The first address that it prints."""
        until = time.monotonic() + PATIENCE
        while not (named := re.search(r"http://127\.0\.0\.1:\d+", self.output)):
            assert self.child.poll() is None, f"it ended before it named an address:\n{self.output}"
            assert time.monotonic() < until, f"it named no address:\n{self.output}"
            time.sleep(0.1)
        return named[0]

    def stop(self) -> int:
        """Its exit code after Ctrl-C."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGINT)
        return self.child.wait(timeout=PATIENCE)


def started(command: list[str], folder: Path, env: dict[str, str]) -> Process:
    """A process that was just started."""
    log = Path(folder, f"{time.monotonic_ns()}.log")
    with log.open("wb") as output:
        child = subprocess.Popen(
            command, cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            pass_fds=[int(env["FORK_SERVER"])],
        )  # fmt: skip
    return Process(child, log)


def told(text: str) -> tuple[list[str], list[float]]:
    """Words and numbers of what is printed, without the lines of tables, blanks and folders.

    >>> told("a 1,000 ┃ b 2.5%")
    (['a', '#', 'b', '#%'], [1000.0, 2.5])
    """
    plain = re.sub(r"[\u2500-\u257f]+", " ", text)
    numbers = [float(number.replace(",", "")) for number in NUMBER.findall(plain)]
    return NUMBER.sub("#", plain).split(), numbers


def prints(output: str, promised: str) -> None:
    """Check that lines are part of an output; numbers may differ as other versions of numpy draw others."""
    (words, numbers), (promised_words, promised_numbers) = told(output), told(promised)
    assert promised_words
    length = len(promised_words)
    starts = [n for n in range(len(words)) if words[n : n + length] == promised_words]
    assert starts, f"the page shows\n{promised}\nand the command prints\n{output}"
    before = sum(word.count("#") for word in words[: starts[0]])
    printed = numbers[before : before + len(promised_numbers)]
    assert printed == pytest.approx(promised_numbers, rel=0.02, abs=0.5)


def prints_nearly(output: str, promised: str) -> None:
    """Check that nine of ten words of a page are in an output, in their order; numbers may differ."""
    (words, _), (promised_words, _) = told(output), told(promised)
    assert promised_words
    matching = SequenceMatcher(None, words, promised_words, autojunk=False).get_matching_blocks()
    share = sum(block.size for block in matching) / len(promised_words)
    assert share >= 0.9, f"the page shows\n{promised}\nand the command prints\n{output}"


@dataclass
class Page:
    """A page whose blocks run in order in one folder, and what the last block has printed."""

    folder: Path
    platform: Platform
    installation: Path
    interpreter: "subprocess.Popen[str] | None" = None
    output: str = ""

    def use(self, block: Block) -> None:
        """Do what the comment above a block says."""
        if block.verb == "file":
            (self.folder / block.details[0]).write_text(block.text, encoding="utf-8")
        elif block.verb == "prints":
            check = prints_nearly if block.details == ["nearly"] else prints
            check(self.output, block.text)
        elif block.verb == "run":
            for name in block.details:
                if name.startswith("with "):
                    shutil.copy(SAMPLES / name.removeprefix("with "), self.folder)
            text = block.text.replace("http://127.0.0.1:8080", self.platform.url)
            text = re.sub(r"\bBATTLE(-ID)?\b", BATTLE, text)
            if block.language == "python":
                self.python(text, block.place)
            else:
                self.shell(text, block)

    def python(self, text: str, place: str) -> None:
        log = self.folder / "python.log"
        if self.interpreter is None:
            env = environment(self.installation)
            with log.open("w") as errors:
                self.interpreter = subprocess.Popen(
                    [*env["FORKED"].split(), str(INTERPRETER)], cwd=self.folder, env=env, text=True,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                    pass_fds=[server(self.installation).fileno()],
                )  # fmt: skip
        assert self.interpreter.stdin is not None
        assert self.interpreter.stdout is not None
        self.interpreter.stdin.write(json.dumps([place, text]) + "\n")
        self.interpreter.stdin.flush()
        answer = self.interpreter.stdout.readline()
        assert answer, f"{place}: {log.read_text(encoding='utf-8')}"
        self.output = json.loads(answer)
        assert self.output or "print(" not in text, f"{place} prints nothing"

    def close(self) -> None:
        """End the interpreter of the page, if there is one."""
        if self.interpreter is not None:
            self.interpreter.communicate(timeout=PATIENCE)

    def shell(self, text: str, block: Block) -> None:
        folder = self.folder
        if "up" in block.details and not (data := folder / "nuggetstream-data").exists():
            data.symlink_to(self.platform.data)
        if stops := [detail for detail in block.details if detail.startswith("until ")]:
            (folder := self.folder / f"line-{block.line}").mkdir()
        if not (venv := folder / ".venv").exists():
            venv.symlink_to(self.installation)
        env = environment(self.installation, PLATFORM=self.platform.url)
        # The README's demo shows numbers; elsewhere words find the same passages sooner.
        if block.page == "README.md":
            bring_vectors(self.installation, folder)
        else:
            env["NUGGETSTREAM_EMBEDDING_MODEL"] = "none"
        process = started(["bash", "-c", PROLOGUE + text], folder, env)
        if stops == ["until it listens"]:
            process.address()
            assert process.stop() in (0, 130, -signal.SIGINT), f"{block.place}: {process.output}"
        elif stops:
            time.sleep(3)
            assert process.child.poll() is None, f"{block.place}: {process.output}"
            process.stop()
        else:
            code = process.child.wait(timeout=PATIENCE)
            self.output = process.output
            assert code == 0, f"{block.place}: exit code {code}\n{self.output}"


def bring_vectors(installation: Path, folder: Path) -> None:
    """Let the first demo of a folder take the vectors of an earlier one of the installation, if any."""
    earlier, target = installation.parent / "out/demo", folder / "out/demo"
    files = ("made-by-nuggetstream-demo.txt", "state/vectors.npz")
    if all((earlier / file).is_file() for file in files) and not target.exists():
        (target / "state").mkdir(parents=True)
        for file in files:
            shutil.copy(earlier / file, target / file)


def runnable(page: str) -> bool:
    return any(block.verb == "run" for block in blocks(page))


@pytest.mark.parametrize("page", [page for page in pages() if runnable(page)])
def test_the_commands_of_a_page_run_as_they_are_printed(
    page: str, tmp_path: Path, platform: Platform
) -> None:
    needs_frames = any("frames" in block.details for block in blocks(page))
    shown = Page(tmp_path, platform, OURS if needs_frames else INSTALLATION)
    try:
        for block in blocks(page):
            shown.use(block)
    finally:
        shown.close()


@pytest.mark.parametrize("output", ["", "atlas 1041\n", "rank atlas 1241 (801-1313)"])
def test_another_output_than_the_page_shows_is_noticed(output: str) -> None:
    with pytest.raises(AssertionError):
        prints(output, "atlas 1041 (801-1313)")


def test_few_other_words_are_nearly_the_same_and_many_are_not() -> None:
    page = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrst")
    prints_nearly(f"Before. {page.replace('worda', 'other')} After.", page)
    with pytest.raises(AssertionError):
        prints_nearly(page.replace("worda", "other").replace("wordc", "other").replace("wordf", "more"), page)


def test_lines_around_and_other_random_draws_are_no_difference() -> None:
    prints("Notes\n atlas 1039  (803-1310)\nmore", "atlas 1041 (801-1313)")
