"""Pages with a known quality class and text, written for this project in eight languages.

The texts of a language are in `LANGUAGE.toml`; here they become documents as servers send them. A third of
the pages, chosen by a hash of their names, is held out: rules are tuned on the others only.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.pdf_file import scanned_page

LANGUAGES = ("en", "de", "fr", "es", "it", "ru", "zh", "ja")
# How a page in the wrong charset is encoded, and what its header or markup says instead.
_CHARSETS = {
    "en": ("cp1252", "utf-8", ""),
    "de": ("latin-1", "utf-8", ""),
    "fr": ("utf-8", "iso-8859-1", ""),
    "es": ("cp1252", "", "utf-8"),
    "it": ("utf-8", "", "iso-8859-1"),
    "ru": ("cp1251", "utf-8", ""),
    "zh": ("gb18030", "utf-8", ""),
    "ja": ("shift_jis", "", "utf-8"),
}
_HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class LabelledPage:
    """A response with the class that it should get.

    Attributes:
        name: Language and kind.
        kind: What was written: a soft 404, an article in the wrong charset, ...
        label: The right quality class.
        status: HTTP status.
        content_type: Content-Type header.
        body: The body.
        text: The text that a reader comes for; None where the page has none.
    """

    name: str
    kind: str
    label: str
    status: int
    content_type: str
    body: bytes
    text: str | None = None

    @property
    def held_out(self) -> bool:
        """Whether the page is kept apart from tuning."""
        return sha256(self.name.encode()).digest()[0] % 3 == 0


def labelled_pages() -> list[LabelledPage]:
    """All pages."""
    return [page for number, language in enumerate(LANGUAGES) for page in _pages(language, number)]


def _pages(language: str, number: int) -> Iterator[LabelledPage]:
    words = tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8"))

    def page(kind: str, label: str, body: str | bytes, **given: Any) -> LabelledPage:
        data = body if isinstance(body, bytes) else body.encode()
        values = {"status": 200, "content_type": _HTML} | given
        return LabelledPage(f"{language} {kind}", kind, label, body=data, **values)

    layout = (_blog, _newspaper, _wiki, _portal)[number % 4]
    other = (_newspaper, _portal, _blog, _wiki)[number % 4]
    paragraphs, title = words["article"]["paragraphs"], words["article"]["title"]
    text = "\n".join([title, *paragraphs])
    yield page("article", "ok", layout(language, words, title, paragraphs), text=text)
    yield page("article elsewhere", "ok", other(language, words, title, paragraphs), text=text)
    mention = words["mention"]
    mentioned = layout(language, words, mention["title"], [mention["text"]])
    yield page("article about walls", "ok", mentioned, text=f"{mention['title']}\n{mention['text']}")
    body, declared = _misdeclared(language, other(language, words, title, paragraphs))
    yield page("wrong charset", "ok", body, content_type=declared, text=text)
    for kind, label, framed in (
        ("cookie_wall", "cookie_wall", True), ("consent", "cookie_wall", False),
        ("bot_check", "bot_wall", False), ("soft_404", "soft_404", True),
        ("gone", "soft_404", True), ("login", "login_wall", False), ("thin", "too_short", True),
    ):  # fmt: skip
        yield page(kind, label, _short(language, words, words[kind], framed=framed))
    blocked = _short(language, words, words["bot_wall"], framed=False)
    yield page("bot_wall", "bot_wall", blocked, status=403 if number % 2 else 200)
    yield page("paywall", "paywall", _teaser(language, words))
    yield page("script_only", "script_only", _application(language, words["script_only"]))
    shell, loading = words["script_only"]["title"], words["loading"]["text"]
    yield page("script shell", "script_only", _shell(language, shell, "", number))
    yield page("loading", "script_only", _shell(language, shell, loading, number + 1))
    yield page("picture page", "empty", _picture(language, words["thin"]["title"], number))
    kind = ("application/rss+xml", "text/xml; charset=utf-8", "application/atom+xml", _HTML)[number % 4]
    yield page("feed", "wrong_type", _feed(words, paragraphs), content_type=kind)
    yield page("scan", "empty", _scan(number), content_type="application/pdf")


def _misdeclared(language: str, document: str) -> tuple[bytes, str]:
    """A document in another charset than its header or markup says, and its Content-Type."""
    codec, header, markup = _CHARSETS[language]
    meta = f"<head><meta charset='{markup}'>" if markup else "<head>"
    # Typographic marks, as word processors write them, tell windows-1252 from latin-1.
    text = (
        document.replace("<head>", meta).replace("'s ", "\u2019s ")
        if codec == "cp1252"
        else document.replace("<head>", meta)
    )
    return text.encode(codec, "xmlcharrefreplace"), f"text/html; charset={header}" if header else "text/html"


def _head(language: str, title: str) -> str:
    return f"<!doctype html><html lang='{language}'><head><title>{escape(title)}</title></head>"


def _links(names: list[str]) -> str:
    return "".join(f"<li><a href='/{number}'>{escape(name)}</a></li>" for number, name in enumerate(names))


def _banner(words: dict[str, Any]) -> str:
    return f"<div id='notice' class='cookie-banner' role='dialog'>{escape(words['banner'])}</div>"


def _paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _footer(words: dict[str, Any]) -> str:
    return f"<footer>{escape(words['footer'])}</footer>"


def _blog(language: str, words: dict[str, Any], title: str, paragraphs: list[str]) -> str:
    return (
        f"{_head(language, title)}<body>{_banner(words)}<nav><ul>{_links(words['nav'])}</ul></nav>"
        f"<article><h1>{escape(title)}</h1>{_paragraphs(paragraphs)}</article>"
        f"<aside><ul>{_links(words['related'])}</ul></aside>{_footer(words)}</body></html>"
    )


def _newspaper(language: str, words: dict[str, Any], title: str, paragraphs: list[str]) -> str:
    return (
        f"{_head(language, title)}<body><div class='page'><div class='menu'>{_links(words['nav'])}</div>"
        f"<div class='left'><div class='headline'><h1>{escape(title)}</h1></div>"
        f"<div class='story'>{_paragraphs(paragraphs)}</div></div>"
        f"<div class='right sidebar'><ul>{_links(words['related'])}</ul></div></div>"
        f"{_footer(words)}{_banner(words)}</body></html>"
    )


def _wiki(language: str, words: dict[str, Any], title: str, paragraphs: list[str]) -> str:
    body = f"<h1>{escape(title)}</h1><p>{escape(paragraphs[0])}</p>" + "".join(
        f"<h2>{number}</h2><p>{escape(text)}</p>" for number, text in enumerate(paragraphs[1:], start=1)
    )
    return (
        f"{_head(language, title)}<body><header><ul>{_links(words['nav'])}</ul></header>"
        f"<main id='content'>{body}</main>{_footer(words)}</body></html>"
    )


def _portal(language: str, words: dict[str, Any], title: str, paragraphs: list[str]) -> str:
    return (
        f"{_head(language, title)}<body><table><tr><td colspan='2'>{_links(words['nav'])}</td></tr><tr>"
        f"<td width='20%'><ul>{_links(words['related'])}</ul></td><td><h1>{escape(title)}</h1>"
        f"{_paragraphs(paragraphs)}</td></tr></table>{_footer(words)}</body></html>"
    )


def _short(language: str, words: dict[str, Any], entry: dict[str, str], *, framed: bool) -> str:
    """A page whose only content is one short text, with or without the menus of a site."""
    separator = "。" if language in ("zh", "ja") else ". "
    parts = [part for part in entry["text"].split(separator) if part.strip()]
    body = "".join(f"<p>{escape(part + separator.strip())}</p>" for part in parts)
    menu = f"<nav><ul>{_links(words['nav'])}</ul></nav>" if framed else ""
    end = _footer(words) if framed else ""
    return f"{_head(language, entry['title'])}<body>{menu}<div id='main'>{body}</div>{end}</body></html>"


def _teaser(language: str, words: dict[str, Any]) -> str:
    entry = words["paywall"]
    return (
        f"{_head(language, entry['title'])}<body><nav><ul>{_links(words['nav'])}</ul></nav><article>"
        f"<h1>{escape(entry['title'])}</h1><p>{escape(entry['text'])}</p></article>{_footer(words)}</body></html>"
    )


def _application(language: str, entry: dict[str, str]) -> str:
    return (
        f"{_head(language, entry['title'])}<body><noscript>{escape(entry['text'])}</noscript>"
        "<div id='root'></div><script src='/static/main.3f21.js'></script></body></html>"
    )


def _shell(language: str, title: str, placeholder: str, number: int) -> str:
    """An application without a notice for browsers that run no scripts."""
    shown = escape(placeholder)
    bodies = (
        f"<div id='app'>{shown}</div><script type='module' src='/assets/index-4a1c.js'></script>",
        f"<app-root><div class='spinner'>{shown}</div></app-root><script src='runtime.js' defer></script>",
        f"<div id='__next'><main><p>{shown}</p></main></div><script>self.state={{page: 1}}</script>"
        "<script src='/_next/main.js' async></script><noscript><img src='/count.gif'></noscript>",
        f"<script>var config = {{lang: '{language}'}};</script><section id='content'><span>{shown}</span>"
        "<svg><circle r='4'/></svg></section><script src='/js/bundle.js'></script>",
    )
    return f"{_head(language, title)}<body>{bodies[number % 4]}</body></html>"


def _picture(language: str, title: str, number: int) -> str:
    """A page that shows a picture or nothing at all, whose script only counts visitors."""
    bodies = (
        "<div id='picture'><img src='/large.jpg'></div><script src='/count.js'></script>",
        "<main id='scan'><a href='/2'><picture><img src='/1.webp'></picture></a></main>"
        "<script>count()</script>",
        "<div id='page'><video src='/film.mp4'></video></div><script src='/count.js'></script>",
        "<div id='page'></div><script type='application/ld+json'>{\"@type\": \"WebPage\"}</script>",
    )
    return f"{_head(language, title)}<body>{bodies[number % 4]}</body></html>"


def _feed(words: dict[str, Any], paragraphs: list[str]) -> str:
    items = "".join(
        f"<item><title>{escape(text[:30])}</title><link>https://feed.example/{number}</link>"
        f"<description>{escape(text)}</description></item>"
        for number, text in enumerate(paragraphs)
    )
    title = escape(words["feed"]["title"])
    start = "<?xml version='1.0' encoding='utf-8'?><rss version='2.0'><channel>"
    return f"{start}<title>{title}</title>{items}</channel></rss>"


def _scan(number: int) -> bytes:
    """A PDF whose only page is a grey picture."""
    return scanned_page(bytes((number * 17 + pixel) % 256 for pixel in range(64)))
