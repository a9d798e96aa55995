"""Documents: references to decision records lead to records that exist."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORD = re.compile(r"\bADR (\d+)\b|\badr/(\d{4})-")
# Records of NATS, which pull.py cites, are written ADR-13.


def texts() -> dict[str, str]:
    """Every text file of the repository by its path, without records of changes."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    paths = [path for path in listed.stdout.splitlines() if path.endswith((".py", ".md", ".yaml", ".toml"))]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in paths if (ROOT / path).is_file()}


def test_every_decision_that_is_named_has_a_record() -> None:
    records = {int(path.name[:4]) for path in (ROOT / "docs/adr").glob("0*.md")}
    named = {
        (int(match[1] or match[2]), path) for path, text in texts().items() for match in RECORD.finditer(text)
    }
    assert {number for number, _ in named}, "no record is named anywhere"
    assert sorted((number, path) for number, path in named if number not in records) == []
