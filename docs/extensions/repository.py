"""Pages whose text is a file at the root of the repository: the changelog and the guide to contributing."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILES = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s]+)")


def seen_from_docs(text: str) -> str:
    """Links of a file at the root, as they are from the folder `docs`.

    >>> seen_from_docs("[a](docs/ratings.md), [b](tests/fakes.py), [c](https://x.example), [d](#tests)")
    '[a](ratings.md), [b](../tests/fakes.py), [c](https://x.example), [d](#tests)'
    """
    return _LINK.sub(lambda link: str(link[1]).removeprefix("docs/") if link[1].startswith("docs/")
                     else f"../{link[1]}", text)  # fmt: skip


def _read(app: Any, docname: str, source: list[str]) -> None:
    if docname in FILES:
        path = ROOT / FILES[docname]
        app.env.note_dependency(str(path))
        source[0] = seen_from_docs(path.read_text(encoding="utf-8"))


def setup(app: Any) -> dict[str, bool]:
    """Put the files in the place of the pages that stand for them."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
