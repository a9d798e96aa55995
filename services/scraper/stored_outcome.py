"""Outcomes as JSON, as the database and the archive keep them. The text is stored elsewhere."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from services.scraper.outcome import ArchivedAt, PageOutcome, Quality, Validators

_ELSEWHERE = ("url", "text", "fetched_at")
_FIELDS = {field.name for field in fields(PageOutcome)}


def as_json(outcome: PageOutcome) -> dict[str, Any]:
    """An outcome without its URL, text and time."""
    kept = asdict(replace(outcome, text=None))
    if outcome.archived is None:
        del kept["archived"]
    return {name: value for name, value in kept.items() if name not in _ELSEWHERE}


def outcome_of(stored: Mapping[str, Any], url: str, text: str | None, fetched_at: datetime) -> PageOutcome:
    """The outcome that was stored.

    Args:
        stored: What `as_json` returned.
        url: URL of the page.
        text: Its text; None when the page is not usable.
        fetched_at: When it was fetched.
    """
    values = {
        name: value for name, value in stored.items() if name in _FIELDS
    }  # a newer version may add some
    validators, archived = values.pop("validators"), values.pop("archived", None)
    return PageOutcome(
        url=url,
        quality=Quality(values.pop("quality")),
        text=text,
        fetched_at=fetched_at,
        validators=None if validators is None else Validators(**validators),
        archived=None if archived is None else ArchivedAt(**archived),
        **values,
    )
