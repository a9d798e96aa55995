"""The quality of a page: is it content, or a wall in place of the content? Pure.

The rules are simple on purpose, so that each class can be explained by a sentence that quotes what was found:
a phrase that only such pages have, or terms of several groups on one short page. They apply only to short
pages, because a long page that mentions cookies is an article. benchmarks/README.md has what they get right.

    bot wall > soft 404 > paywall > login wall > cookie wall > script only > empty > too short > ok
"""

import re
import unicodedata
from dataclasses import dataclass

from services.scraper.canonical import WebUrl
from services.scraper.extraction import Extraction
from services.scraper.outcome import Quality
from services.scraper.quality_markers import BOT, BOT_TITLES, COOKIE, MISSING, MISSING_TITLES, PAYWALL
from services.scraper.quality_patterns import (
    CONSENT,
    COOKIES,
    GONE,
    LOGIN,
    OFFER,
    ROBOT_CHECK,
    SUBSCRIBE,
    meanings,
)

WALL_CEILING = 1500
"""Pages with more readable text than this are never classified as a wall (weighted characters)."""

_OPENING = 160
_BRIEF = 700  # weighted characters; longer texts may speak of robots, logins or consent
_LOGIN_TERMS, _CONSENT_TERMS, _OFFER_TERMS = 3, 3, 2  # groups of terms that must meet
_TITLE_SEPARATORS = re.compile(r"\s[-–—|·•:«»]+\s|[|·•]|:\s")
_DENSE_SCRIPTS = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_INDEX_PAGES = re.compile(r"/(index|home|default|main|start)(\.\w+)?/?", re.IGNORECASE)
_REFUSALS = {
    401: "asks for a login",
    403: "forbids access",
    407: "asks for a proxy login",
    429: "rejects the request because of its rate limit",
    451: "is legally withheld",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A quality class and the sentence that explains it."""

    quality: Quality
    detail: str


def weighted_length(text: str) -> int:
    """Length of a text in characters; a character of a dense script counts as three.

    >>> weighted_length("abc"), weighted_length("日本語")
    (3, 9)
    """
    dense = len(text) - len(_DENSE_SCRIPTS.sub("", text))
    return len(text) + 2 * dense


def judge_status(status: int, body_start: str) -> Verdict:
    """The quality of a page whose status is not a success.

    Args:
        status: Status of the last response.
        body_start: Beginning of the body as text, by which a bot wall is recognised.
    """
    if status in (404, 410):
        return Verdict(Quality.NOT_FOUND, f"the server answered {status}")
    if status == 402:
        return Verdict(Quality.PAYWALL, "the server answered 402, payment required")
    if status in (401, 403, 429, 503):
        folded = _folded(body_start)
        phrase = _first(BOT, folded) or _first(BOT_TITLES, folded) or _matched(ROBOT_CHECK, folded)
        if phrase is not None:
            return Verdict(Quality.BOT_WALL, f"the server answered {status} and says {phrase!r}")
    if status in _REFUSALS:
        return Verdict(Quality.BLOCKED, f"the site {_REFUSALS[status]} ({status})")
    return Verdict(Quality.HTTP_ERROR, f"the server answered {status}")


def judge_page(page: Extraction, requested: WebUrl, final: WebUrl, min_chars: int) -> Verdict:
    """The quality of a page that arrived with a success status.

    Args:
        page: The content of the page.
        requested: URL that was requested.
        final: URL that answered, after redirects.
        min_chars: Number of weighted characters below which a page is too short.
    """
    length = weighted_length(page.text)
    if length <= WALL_CEILING:
        short = length < min_chars
        # Extraction removes banners; when hardly any text is left, the banner is the page.
        scope = _folded(" ".join((page.title or "", page.text, page.visible if short else "")))
        wall = (
            _bot_wall(page, scope, length)
            or _soft_404(page, length, home=_went_home(requested, final))
            or _paywall(page, scope)
            or _login_wall(scope, length)
            or _cookie_wall(scope, length, short=short)
            or _script_only(page, scope, short=short)
        )
        if wall is not None:
            return wall
    if length == 0:
        return Verdict(Quality.EMPTY, "no readable text")
    if length < min_chars:
        return Verdict(Quality.TOO_SHORT, f"{length} readable characters, at least {min_chars} are needed")
    return Verdict(Quality.OK, f"{length} readable characters")


def _bot_wall(page: Extraction, scope: str, length: int) -> Verdict | None:
    title = _folded(page.title or "")
    phrase = next((mark for mark in BOT_TITLES if title.startswith(mark)), None) or _first(BOT, scope)
    if phrase is None and length <= _BRIEF:
        phrase = _matched(ROBOT_CHECK, scope)
    return None if phrase is None else Verdict(Quality.BOT_WALL, f"a bot check: the page says {phrase!r}")


def _soft_404(page: Extraction, length: int, *, home: bool) -> Verdict | None:
    for part in _TITLE_SEPARATORS.split(_folded(page.title or "")):
        phrase = _first(MISSING, part) or _first(MISSING_TITLES, part)
        # The phrase must be at least half of a part of the title: "How to fix error 404" is an article.
        if part.strip() == "404" or (phrase is not None and 2 * len(phrase) >= len(part.strip())):
            return Verdict(Quality.SOFT_404, f"the title says {part.strip()!r}")
    opening = _folded((page.text or page.visible)[:_OPENING])
    phrase = _first(MISSING, opening) or (_matched(GONE, opening) if length <= _BRIEF else None)
    if phrase is not None:
        return Verdict(Quality.SOFT_404, f"the page begins with {phrase!r}")
    if home:
        return Verdict(Quality.SOFT_404, "the server redirected to its home page instead")
    return None


def _paywall(page: Extraction, scope: str) -> Verdict | None:
    phrase = _first(PAYWALL, scope)
    if phrase is not None:
        return Verdict(Quality.PAYWALL, f"a teaser: the page says {phrase!r}")
    offers = meanings(OFFER, scope) if SUBSCRIBE.search(scope) else []
    if len(offers) >= _OFFER_TERMS:
        return Verdict(Quality.PAYWALL, f"a teaser: an offer to subscribe that names {_listed(offers)}")
    if page.for_subscribers:
        return Verdict(Quality.PAYWALL, "a teaser: the page declares itself not free to read")
    return None


def _login_wall(scope: str, length: int) -> Verdict | None:
    terms = meanings(LOGIN, scope) if length <= _BRIEF else []
    if len(terms) < _LOGIN_TERMS:
        return None
    return Verdict(Quality.LOGIN_WALL, f"a login page: it says {_listed(terms)}")


def _script_only(page: Extraction, scope: str, *, short: bool) -> Verdict | None:
    if not short:
        return None
    if "javascript" in scope:
        return Verdict(Quality.SCRIPT_ONLY, "the page shows its text only to browsers that run JavaScript")
    if page.is_shell:
        return Verdict(Quality.SCRIPT_ONLY, "the page is an empty element that its scripts fill")
    return None


def _cookie_wall(scope: str, length: int, *, short: bool) -> Verdict | None:
    phrases = _distinct([phrase for phrase in COOKIE if phrase in scope])
    terms = meanings(CONSENT, scope) if length <= _BRIEF and COOKIES.search(scope) else []
    if len(terms) >= _CONSENT_TERMS:
        return Verdict(Quality.COOKIE_WALL, f"a consent page: it speaks of cookies and says {_listed(terms)}")
    # One phrase on a page with text is a footer; two phrases, or one without other text, are the page.
    if len(phrases) >= 2 or (phrases and short):
        return Verdict(Quality.COOKIE_WALL, f"a consent page: it says {phrases[0]!r}")
    return None


def _went_home(requested: WebUrl, final: WebUrl) -> bool:
    deep = requested.path.strip("/") != "" and not _INDEX_PAGES.fullmatch(requested.path)
    same_site = requested.host.removeprefix("www.") == final.host.removeprefix("www.")
    # A single short segment may be a language or a short link, which may rightly lead to the home page.
    specific = "/" in requested.path.strip("/") or len(requested.path) > 15
    return same_site and deep and specific and final.target == "/"


def _distinct(phrases: list[str]) -> list[str]:
    """The phrases that are not part of a longer one: "accept all cookies" counts once, not twice."""
    return [phrase for phrase in phrases if not any(phrase != other and phrase in other for other in phrases)]


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
    return " ".join(plain.split())


def _matched(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return None if match is None else match[0]


def _listed(terms: list[str]) -> str:
    return ", ".join(repr(term) for term in terms)


def _first(phrases: tuple[str, ...], scope: str) -> str | None:
    return next((phrase for phrase in phrases if phrase in scope), None)
