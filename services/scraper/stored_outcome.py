"""Outcomes as JSON, as the database and the archive keep them. The text is stored elsewhere."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from services.scraper.outcome import PageOutcome

_ELSEWHERE = {"url", "text", "fetched_at"}
_OUTCOME = TypeAdapter(PageOutcome)


def as_json(outcome: PageOutcome) -> dict[str, Any]:
    """An outcome without its URL, text and time."""
    kept: dict[str, Any] = _OUTCOME.dump_python(outcome, mode="json", exclude=_ELSEWHERE)
    return kept


def outcome_of(stored: Mapping[str, Any], url: str, text: str | None, fetched_at: datetime) -> PageOutcome:
    """The outcome that was stored. What a newer version may have added is left out.

    Args:
        stored: What `as_json` returned.
        url: URL of the page.
        text: Its text; None when the page is not usable.
        fetched_at: When it was fetched.
    """
    return _OUTCOME.validate_python({**stored, "url": url, "text": text, "fetched_at": fetched_at})
