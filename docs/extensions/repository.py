"""Pages whose text is a file at the root: the quickstart, the changelog and the guide to contributing."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILES = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md", "quickstart": "README.md"}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s]+)")


def seen_from_docs(text: str) -> str:
    """Links of a file at the root, as they are from the folder `docs`.

    >>> seen_from_docs("[a](docs/ratings.md), [b](tests/fakes.py), [c](https://x.example), [d](CHANGELOG.md)")
    '[a](ratings.md), [b](../tests/fakes.py), [c](https://x.example), [d](changelog.md)'
    """
    pages = {file: f"{page}.md" for page, file in FILES.items()}

    def seen(link: re.Match[str]) -> str:
        inside = link[1].removeprefix("docs/")
        return pages.get(link[1], inside if inside != link[1] else f"../{inside}")

    return _LINK.sub(seen, text)


def _read(app: Any, docname: str, source: list[str]) -> None:
    if docname in FILES:
        path = ROOT / FILES[docname]
        app.env.note_dependency(str(path))
        source[0] = seen_from_docs(path.read_text(encoding="utf-8"))


def setup(app: Any) -> dict[str, bool]:
    """Put the files in the place of the pages that stand for them."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
