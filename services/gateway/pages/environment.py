"""The Jinja environment of the pages: where the templates are, and the filters they format values with."""

import re
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment

from nuggetstream.files.templates import html_environment

_TEMPLATES = Path(__file__).parent / "templates"
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_WEB = re.compile(r"https?://[^\s]+", re.IGNORECASE)
_MINUS = "−"


def page_environment() -> Environment:
    """The templates: everything escaped, a missing variable is an error."""
    env = html_environment(_TEMPLATES)
    env.filters |= {"language": language, "moment": moment, "share": share, "whole": whole}
    env.globals |= {"span": span}
    env.tests["web"] = is_web
    return env


def language(tag: str) -> str:
    """A language tag as an attribute; "" (the language is unknown) for what is none.

    >>> language("zh-Hant"), language('"><script>')
    ('zh-Hant', '')
    """
    return tag if _LANGUAGE.fullmatch(tag) else ""


def is_web(url: str) -> bool:
    """Whether a URL may become a link: http and https only.

    >>> is_web("https://example.org/x"), is_web("javascript:alert(1)")
    (True, False)
    """
    return _WEB.fullmatch(url) is not None


def moment(when: datetime) -> str:
    """A moment for a person, in UTC."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def share(part: float) -> str:
    """An estimated share in whole per cent; an estimate is never certain.

    >>> share(0.0), share(0.25), share(1.0)
    ('<1 %', '25 %', '>99 %')
    """
    if part < 0.01:
        return "<1 %"
    return ">99 %" if part > 0.99 else f"{round(100 * part)} %"


def whole(number: float) -> str:
    """A number without its fraction; a negative one with a minus sign, not a hyphen.

    >>> whole(1010.4), whole(-22.6), whole(-0.2)
    ('1010', '−23', '0')
    """
    return f"{round(number)}".replace("-", _MINUS)


def span(low: float, high: float) -> str:
    """An interval; a dash would run into the minus sign of a negative end.

    >>> span(990, 1010), span(-23, 1010)
    ('990–1010', '−23 to 1010')
    """
    ends = whole(low), whole(high)
    return (" to " if any(_MINUS in end for end in ends) else "–").join(ends)
