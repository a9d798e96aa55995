"""The site works offline: no page and no style sheet loads anything from another host."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_LOADING = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
}
_STYLE_URL = re.compile(r"""(?:@import\s+(?:url\()?|url\()\s*["']?([^"')\s]+)""")


class _Loaded(HTMLParser):
    """Addresses that a browser loads to show a page; links that a reader may follow are not among them."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        given = dict(attrs)
        if tag == "link" and given.get("rel") in ("canonical", "author", "license"):
            return
        values = [given.get(name) or "" for name in _LOADING.get(tag, ())]
        self.addresses += [part.split()[0] for value in values for part in value.split(",") if part.strip()]
        self.addresses += _STYLE_URL.findall(given.get("style") or "")

    def handle_endtag(self, tag: str) -> None:
        self._in_style = self._in_style and tag != "style"

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.addresses += _STYLE_URL.findall(data)


def foreign(name: str, text: str) -> list[str]:
    """Addresses on other hosts that a page or a style sheet loads.

    Args:
        name: Name of the file; `.css` marks a style sheet.
        text: Its content.

    >>> foreign("page.html", '<script src="https://cdn.example/x.js"></script><a href="https://x.example">')
    ['https://cdn.example/x.js']
    """
    if name.endswith(".css"):
        addresses = _STYLE_URL.findall(text)
    else:
        page = _Loaded()
        page.feed(text)
        addresses = page.addresses
    return [address for address in addresses if urlsplit(address).netloc]


def problems(folder: Path) -> Iterator[str]:
    """Every file of a built site that loads something from another host, with the address."""
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".css")):
        for address in foreign(path.name, path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(folder)} loads {address}"


def _check(app: Any, error: Exception | None) -> None:
    if error is not None:
        return
    from sphinx.errors import SphinxError

    if loading := list(problems(Path(app.outdir))):
        raise SphinxError("the site would not work offline:\n" + "\n".join(loading))


def setup(app: Any) -> dict[str, bool]:
    """Check the site when it is built."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
