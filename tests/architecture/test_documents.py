"""Documents: short enough to be read, every command tested or with a reason, every decision with a record."""

import re
import subprocess

import pytest

from services.cli.main import main
from tests.documents import COMMANDS, ROOT, Block, blocks, pages

RECORD = re.compile(r"\bADR (\d+)\b|\badr/(\d{4})-")  # records of NATS are cited as ADR-13
RUNS = {"up", "frames", "until it listens", "until it is stopped"}
INDENTED = re.compile(r"^ {4,}(?:\$ |(?:nuggetstream|docker|kubectl|pip|make|curl|export) )", re.MULTILINE)


def texts() -> dict[str, str]:
    """Every text file of the repository by its path."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    paths = [path for path in listed.stdout.splitlines() if path.endswith((".py", ".md", ".yaml", ".toml"))]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in paths if (ROOT / path).is_file()}


def problem(block: Block) -> str | None:
    """Why the comment above a block does not say what happens with it."""
    if block.language in COMMANDS and block.verb not in ("run", "not run"):
        return "has no comment `run` or `not run: why`"
    if block.verb == "not run" and len(block.mark.split()) < 4:
        return "needs a reason for which it is not run"
    named = re.findall(r"(?:tests|\.ci)/[\w/.]+\w", block.mark)
    if missing := [path for path in named if not (ROOT / path).exists()]:
        return f"names what does not exist: {missing}"
    if block.verb == "run" and (
        others := [
            detail for detail in block.details if detail not in RUNS and not detail.startswith("with ")
        ]
    ):
        return f"is run in an unknown way: {others}"
    if block.verb == "prints" and block.details not in ([], ["nearly"]):
        return f"is compared in an unknown way: {block.details}"
    if block.verb not in ("", "run", "not run", "file", "prints"):
        return f"has a comment that means nothing: {block.mark}"
    return None


@pytest.mark.parametrize("page", pages())
def test_every_command_is_run_or_says_why_not(page: str) -> None:
    problems = {block.place: why for block in blocks(page) if (why := problem(block))}
    assert problems == {}


@pytest.mark.parametrize("page", pages())
def test_commands_are_in_fences(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    outside = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert INDENTED.findall(outside) == []
    comments = re.findall(r"^ *<!-- ", text, re.MULTILINE)
    assert len(comments) == sum(bool(block.mark) for block in blocks(page)), "a comment without a block"


@pytest.mark.parametrize("page", ["README.md", "docs/operations/install.md"])
def test_the_environment_is_activated_before_the_first_command(page: str) -> None:
    lines = [line for block in blocks(page) if block.language == "sh" for line in block.text.splitlines()]
    activated = next(number for number, line in enumerate(lines) if "source .venv/bin/activate" in line)
    first = next(number for number, line in enumerate(lines) if line.startswith("nuggetstream "))
    assert activated < first


@pytest.mark.parametrize(
    ("language", "mark"),
    [
        ("sh", ""),
        ("python", ""),
        ("sh", "not run"),
        ("sh", "not run: slow"),
        ("sh", "run: twice"),
        ("sh", "not run: tests/no/test_such.py runs it"),
    ],
)
def test_a_block_without_a_usable_comment_is_a_problem(language: str, mark: str) -> None:
    assert problem(Block("page.md", 1, language, mark, "nuggetstream up\n"))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md", "demo/README.md"])
def test_links_outside_of_the_site_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = []
    for link in re.findall(r"\]\((?![a-z]+:)([^)\s]*)\)", text):
        path, _, anchor = link.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            missing.append(link)
    assert missing == []


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_decision_that_is_named_has_a_record() -> None:
    records = {int(path.name[:4]) for path in (ROOT / "docs/adr").glob("0*.md")}
    named = {
        (int(match[1] or match[2]), path) for path, text in texts().items() for match in RECORD.finditer(text)
    }
    assert {number for number, _ in named}, "no record is named anywhere"
    assert sorted((number, path) for number, path in named if number not in records) == []


def test_the_page_of_commands_has_every_command() -> None:
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/commands.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(re.findall(r"`([a-z-]+)`", " ".join(rows))) == sorted(main.list_commands(None))


def test_the_readme_and_all_documents_can_be_read() -> None:
    def words(*paths: str) -> int:
        """What has a letter or a digit; lines of tables and dashes are no words."""
        text = " ".join((ROOT / path).read_text(encoding="utf-8") for path in paths)
        return sum(re.search(r"\w", word) is not None for word in text.split())

    assert words("README.md") <= 1200
    records = [str(path.relative_to(ROOT)) for path in (ROOT / "docs/adr").glob("*.md")]
    assert words(*pages(), *records) <= 45_000
