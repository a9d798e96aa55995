"""Pages that a screen reader and a keyboard can use: what the theme leaves out is added to every page."""

import re
from pathlib import Path
from typing import Any

_ADDED = (
    # Captions of the sidebar are headings without a level.
    (re.compile(r'(<p class="caption" role="heading")>'), r'\1 aria-level="2">'),
    # Two landmarks of one kind need names.
    (re.compile(r'(<aside class="sidebar-drawer")>'), r'\1 aria-label="Site">'),
    (re.compile(r'(<aside class="toc-drawer")>'), r'\1 aria-label="Page">'),
    # What scrolls sideways can be reached by keyboard.
    (
        re.compile(r'<(pre|div class="(?:table-wrapper|output text_html)[^"]*")(?! tabindex)(?=[ >])'),
        r'<\1 tabindex="0"',
    ),
    # The table of a list of pairs has no headings, which is no empty heading.
    (re.compile(r'<th class="head"><p></p></th>'), "<td></td>"),
    # Parameters of a long signature are lines, and no definitions.
    (
        re.compile(r'<dl>(\s*)((?:<dd><em class="sig-param.*?</dd>\s*)+)</dl>'),
        lambda found: (
            '<div class="parameters">'
            + found[2].replace("<dd>", "<div>").replace("</dd>", "</div>")
            + "</div>"
        ),
    ),
    # The page of the search is the only one without a title.
    (re.compile(r'(?<!</h1>)<div id="search-results">'), '<h1>Search</h1><div id="search-results">'),
)


def accessible(page: str) -> str:
    """The HTML of a page with what the theme leaves out; a page that has it stays as it is.

    >>> accessible('<p class="caption" role="heading"><pre>')
    '<p class="caption" role="heading" aria-level="2"><pre tabindex="0">'
    >>> accessible(accessible('<div id="search-results">')) == accessible('<div id="search-results">')
    True
    """
    for pattern, replacement in _ADDED:
        page = pattern.sub(replacement, page)
    return page


def _rewrite(app: Any, error: Exception | None) -> None:
    if error is not None:
        return
    from sphinx.errors import SphinxError

    unused = {pattern.pattern for pattern, _ in _ADDED}
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        unused -= {pattern.pattern for pattern, _ in _ADDED if pattern.search(page)}
        path.write_text(accessible(page), encoding="utf-8")
    if unused:
        raise SphinxError(f"no page of the theme has {', '.join(sorted(unused))}")


def setup(app: Any) -> dict[str, bool]:
    """Complete the pages when the site is built."""
    app.connect("build-finished", _rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
