"""Save the web pages as files, so that they can be read after the platform has stopped."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

import httpx2

_LINK = re.compile(r'(href|src)="(/[^"]*)"')
_ANCHOR = re.compile(r'<a\b[^<>]*\bhref="(/[^"]*)"[^<>]*>(.*?)</a>', re.DOTALL)
_MENU = re.compile(r"<nav\b.*?</nav>", re.DOTALL)
_ALONE = re.compile(r'<p\b[^>]*><a\b[^>]*\bhref="(/[^"]*)"[^>]*>[^<]*</a></p>')
_FORM = re.compile(r'<form\b[^>]*aria-label="([^"]*)".*?</form>', re.DOTALL)
_FORM_NOTE = r'<p class="faint">\1: available on the pages of <code>nuggetstream up</code>.</p>'


async def save_pages(url: str, folder: Path, ids: Sequence[str], arenas: Sequence[str], site: str) -> Path:
    """Save the start page, the pages of battles and the leaderboards, with the static files they need.

    What cannot work in a file becomes plain text: forms, links to pages that are not saved, and links to the
    demo's site, which stops with it.

    Args:
        url: Base URL of the gateway.
        folder: Folder for the files; created if missing.
        ids: Ids of the battles to save.
        arenas: Arenas whose leaderboards are saved, at least one; links without an arena lead to the first.
        site: Base URL of the demo's site without a trailing slash; only the paths of its URLs are kept.

    Returns:
        The file of the start page.
    """
    quoted = [quote(arena, safe="") for arena in dict.fromkeys(arenas)]
    boards = [f"/leaderboard?arena={arena}" for arena in quoted]
    paths = ["/", *(f"/?arena={arena}" for arena in quoted), *boards]
    paths += [f"/battles/{quote(i, safe='')}" for i in ids]
    async with httpx2.AsyncClient(base_url=url, timeout=30) as http:
        pages = {path: (await http.get(path)).raise_for_status().text for path in paths}
        linked = {link for page in pages.values() for _, link in _LINK.findall(page)}
        for path in sorted(link for link in linked if link.startswith("/static/")):
            body = (await http.get(path)).raise_for_status().content
            await asyncio.to_thread(_write, folder / page_of(path), body)
    # Unquoted, because the pages quote fewer characters than we do.
    files = {unquote(path): page_of(path) for path in pages} | {"/leaderboard": page_of(boards[0])}
    for path, page in pages.items():
        linking = _without_links_elsewhere(_without_server(page, site), files)
        local = _LINK.sub(lambda m: f'{m[1]}="{_local(m[2], files)}"', linking)
        await asyncio.to_thread(_write, folder / page_of(path), local.encode())
    return folder / page_of("/")


def _without_server(page: str, site: str) -> str:
    """A page without forms and links that need a server.

    >>> link = '<a href="http://127.0.0.1:8/x.html" rel="nofollow" dir="auto">X</a>'
    >>> _without_server(f"{link} http://127.0.0.1:8/x.html", "http://127.0.0.1:8")
    '<span dir="auto">X</span> /x.html'
    """
    base = re.escape(site) + "(?=/)"
    page = re.sub(f'<a href="{base}[^"]*"[^>]*>(.*?)</a>', r'<span dir="auto">\1</span>', page)
    return re.sub(base, "", _FORM.sub(_FORM_NOTE, page))


def _without_links_elsewhere(page: str, files: Mapping[str, str]) -> str:
    """A page without links to pages that are not saved.

    They are left out of menus and where they stand alone, and are plain text elsewhere. A menu with one link
    is left out.

    >>> _without_links_elsewhere('<a href="/">Home</a>, <a href="/canary">Canaries</a>', {"/": "index.html"})
    '<a href="/">Home</a>, <span>Canaries</span>'
    >>> home, menu = '<a href="/">Home</a>', '<nav><a href="/">Home</a> <a href="/canary">Canaries</a></nav>'
    >>> _without_links_elsewhere(f"{home} {menu}", {"/": "index.html"})
    '<a href="/">Home</a> '
    """

    def saved(link: re.Match[str], instead: str) -> str:
        return link[0] if _plain(link[1]) in files else instead

    def menu(part: re.Match[str]) -> str:
        kept = _ANCHOR.sub(lambda link: saved(link, ""), part[0])
        return kept if kept == part[0] or len(_ANCHOR.findall(kept)) > 1 else ""

    page = _MENU.sub(menu, page)
    page = _ALONE.sub(lambda part: saved(part, ""), page)
    return _ANCHOR.sub(lambda link: saved(link, f"<span>{link[2]}</span>"), page)


def _write(path: Path, body: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)


def _local(link: str, files: Mapping[str, str]) -> str:
    plain = _plain(link)
    return page_of(plain) if plain.startswith("/static/") else files[plain]


def _plain(link: str) -> str:
    return unquote(link.replace("&amp;", "&"))


def page_of(path: str) -> str:
    """A flat file name for a path of the site.

    >>> page_of("/"), page_of("/?arena=demo"), page_of("/battles/demo-01"), page_of("/leaderboard?arena=demo")
    ('index.html', 'index-demo.html', 'battles-demo-01.html', 'leaderboard-demo.html')
    >>> page_of("/static/a.css")
    'static-a.css'
    """
    page, separator, arena = unquote(path).strip("/").partition("?arena=")
    name = f"{page or 'index'}{separator and '/'}{arena}"
    flat = re.sub(r"[^\w.-]+", "-", name)
    return flat if path.startswith("/static/") else f"{flat}.html"
