"""The code blocks of README, CONTRIBUTING and docs, and what the comment above each says.

<!-- run -->                        run it, in the folder of its page, after the blocks above it
<!-- run: with votes.csv -->        run it with a file of tests/docs/samples
<!-- run: up -->                    run it beside `nuggetstream up`, whose data folder is in the folder
<!-- run: frames -->               run its page with the extra `frames` installed
<!-- run: until it listens -->      start it, and stop it once it has printed an address
<!-- run: until it is stopped -->   start it, and stop it while it runs
<!-- file: votes.csv -->            what the block shows is that file
<!-- prints -->                     the block above prints these lines, and perhaps others around them
<!-- prints: nearly -->             nearly the same: the last digits of vectors differ between processors
<!-- not run: why -->               nothing runs it
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(
    r"(?:^ *<!-- ([^\n]*?) -->\n)?^( *)```(\w*)[^\n]*\n(.*?)^\2```$", re.DOTALL | re.MULTILINE
)
COMMANDS = ("sh", "bash", "console", "shell", "python")


@dataclass(frozen=True, slots=True)
class Block:
    """A code block.

    Attributes:
        page: Path of its page.
        line: Number of the line with its fence or comment.
        language: What the fence names, or nothing.
        mark: Text of the comment, or nothing.
        text: Its lines, without indentation.
    """

    page: str
    line: int
    language: str
    mark: str
    text: str

    @property
    def verb(self) -> str:
        """The word before the colon of the comment."""
        return self.mark.partition(":")[0].strip()

    @property
    def details(self) -> list[str]:
        """What the comment lists after the colon."""
        return [detail.strip() for detail in self.mark.partition(":")[2].split(",") if detail.strip()]

    @property
    def place(self) -> str:
        """Page and line, for an error."""
        return f"{self.page}:{self.line}"


def pages() -> list[str]:
    """Paths of all documents for readers, without the generated reference and decision records."""
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [str(path.relative_to(ROOT)) for path in paths]
    return [name for name in names if not name.startswith(("docs/reference/", "docs/adr/"))]


def blocks(page: str) -> Iterator[Block]:
    """The code blocks of a page in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        mark, _, language, lines = match.groups()
        yield Block(page, text.count("\n", 0, match.start()) + 1, language, mark or "", dedent(lines))


def block(page: str, language: str) -> str:
    """The first block of a page in a language."""
    return next(block.text for block in blocks(page) if block.language == language)
