"""The Jinja environment of the pages: where the templates are, and the filters and tests that they use."""

import asyncio
import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment

from nuggetstream.domain.offline import GROUNDED, NOTICE
from nuggetstream.files import numerals
from nuggetstream.files.example import EXAMPLE
from nuggetstream.files.templates import html_environment
from nuggetstream.ratings.standing import IntervalState
from nuggetstream.text.markup import without_block_marks
from nuggetstream.views.events import OF_BATTLES
from services.access.visits import csrf_of_page, logged_in, may
from services.gateway.pages.markdown import formulas
from services.gateway.pages.urls import is_web
from services.runtime.polling import pause

_TEMPLATES = Path(__file__).parent / "templates"
_DELAY = 2.0  # seconds, so that the start is not slower
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


@cache
def page_environment() -> Environment:
    """The environment of the page templates; every value is escaped, an undefined variable is an error.

    It is one of the process, so that each template is compiled once.
    """
    env = html_environment(_TEMPLATES)
    env.filters |= {
        "chance": numerals.chance,
        "count": numerals.count,
        "fixed": numerals.fixed,
        "formulas": formulas,
        "integer": numerals.integer,
        "level": numerals.level,
        "number": numerals.number,
        "percent": numerals.percent,
        "language": language,
        "moment": moment,
        "without_block_marks": without_block_marks,
    }
    env.globals["decisive_digits"] = numerals.decisive_digits
    env.globals |= {
        "interval": numerals.interval,
        "many": numerals.many,
        "EXAMPLE": EXAMPLE,
        "EXAMPLE_AS_JSON": json.dumps(EXAMPLE, indent=1),
        "OFFLINE_NOTICE": NOTICE,
        "GROUNDED_WORTH": GROUNDED.words,
        "EVENTS_OF_BATTLES": OF_BATTLES,
    }
    env.globals["interval_words"] = {state.value: state.words for state in IntervalState}
    env.globals |= {"csrf_of_page": csrf_of_page, "logged_in": logged_in, "may": may}
    env.tests["web"] = is_web
    return env


async def compile_templates(stop: asyncio.Event) -> None:
    """Compile all templates soon after the start, in a thread, then wait until stopped."""
    await pause(_DELAY, stop)
    env = page_environment()
    for name in env.list_templates(extensions=["html"]):
        if stop.is_set():
            return
        await asyncio.to_thread(env.get_template, name)
    await stop.wait()


def language(tag: str | None) -> str:
    """A language tag as the value of `lang`; "", which means unknown, for None and what is no language tag.

    >>> language("zh-Hant"), language('"><script>')
    ('zh-Hant', '')
    """
    return tag if tag and _LANGUAGE.fullmatch(tag) else ""


def moment(when: datetime) -> str:
    """A time to the minute, in UTC.

    >>> moment(datetime(2026, 5, 4, 12, 30, tzinfo=UTC))
    '2026-05-04 12:30 UTC'
    """
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
