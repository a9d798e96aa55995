"""The list of hand-made faults."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

FAULTS = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of one place that breaks a promise.

    Attributes:
        name: What is wrong with it, as a sentence without a full stop.
        file: The file, relative to the root of the tree.
        find: The text that it replaces.
        replace: What stands in its place.
        tests: Files of which at least one test must fail.
    """

    name: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...]

    def apply(self, root: Path) -> str:
        """Break a copy of the tree; returns the text of the file as it was.

        Raises:
            ValueError: What it replaces is not there once.
        """
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.find) != 1:
            raise ValueError(f"{self.name!r}: {self.file} has its text {text.count(self.find)} times")
        path.write_text(text.replace(self.find, self.replace), encoding="utf-8")
        return text


def faults() -> list[Fault]:
    """All faults, in the order of the list."""
    rows = tomllib.loads(FAULTS.read_text(encoding="utf-8"))["fault"]
    return [Fault(**row | {"tests": tuple(row["tests"])}) for row in rows]
