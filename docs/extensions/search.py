"""Search finds what a reader uses: pages about the past, decision records and the changelog, are left out."""

import json
import re
from pathlib import Path
from typing import Any

LEFT_OUT = re.compile(r"adr/|changelog$")


def indexed(script: str) -> set[str]:
    """The pages of a search index that have words or a title in it.

    Args:
        script: Content of `searchindex.js`.

    >>> sorted(indexed('Search.setIndex({"docnames": ["a", "b", "c"], "terms": {"x": 0, "y": [0, 2]}})'))
    ['a', 'c']
    """
    index = json.loads(script.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))
    numbers = set[int]()
    for words in (index["terms"], index.get("titleterms", {})):
        for pages in words.values():
            numbers.update([pages] if isinstance(pages, int) else pages)
    return {index["docnames"][number] for number in numbers}


def _leave_out(app: Any, _doctree: Any) -> None:
    if LEFT_OUT.match(app.env.docname):
        app.env.metadata[app.env.docname]["no-search"] = "true"


def _check(app: Any, error: Exception | None) -> None:
    if error is not None:
        return
    from sphinx.errors import SphinxError

    found = indexed((Path(app.outdir) / "searchindex.js").read_text(encoding="utf-8"))
    if past := sorted(page for page in found if LEFT_OUT.match(page)):
        raise SphinxError(f"search finds {', '.join(past)}")
    if "operations/settings" not in found:
        raise SphinxError("search finds nothing of the manual")


def setup(app: Any) -> dict[str, bool]:
    """Leave pages out, and check the index when it is built."""
    app.connect("doctree-read", _leave_out)
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
