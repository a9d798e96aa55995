"""Files of long answers rated by aspect, by human raters or by a judge model."""

import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from nuggetstream.aspects.ratings import HumanMeans, ModelRating
from nuggetstream.aspects.weights import AspectRating
from nuggetstream.files.columns import with_columns
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, as_number
from nuggetstream.files.records import read_records

_COLUMNS = ("answer_id", "factuality", "amountInfo", "formality")
_ACCEPTABLE = 3.0  # the highest acceptability and overall rating; the lowest is 0


def read_human_means(path: Path) -> dict[str, HumanMeans]:
    """Answer id -> means over its human raters.

    Args:
        path: CSV or JSONL with answer_id, factuality, amountInfo, formality and acceptability; one row per
            answer and rater.

    Raises:
        UnusableFile: A value is missing, is not a number, or is off its scale, naming file, line and field.
    """
    return human_means_of(read_records(path))


def human_means_of(records: Iterable[Record]) -> dict[str, HumanMeans]:
    """The means of rows that are read already; see `read_human_means`."""
    ratings: dict[str, list[tuple[AspectRating, float]]] = {}
    for record in with_columns(records, (*_COLUMNS, "acceptability")):
        rating = _aspects(record), _accepted(record, "acceptability")
        ratings.setdefault(record.needed_key("answer_id"), []).append(rating)
    return {answer: _means(given) for answer, given in ratings.items()}


def read_model_ratings(path: Path) -> dict[str, ModelRating]:
    """Answer id -> rating by a judge model.

    Args:
        path: CSV or JSONL with answer_id, factuality, amountInfo, formality and overall; one row per answer.

    Raises:
        UnusableFile: A value is missing, is not a number, or is off its scale, or an answer is rated twice,
            naming file, line and field.
    """
    return model_ratings_of(read_records(path))


def model_ratings_of(records: Iterable[Record]) -> dict[str, ModelRating]:
    """The ratings of rows that are read already; see `read_model_ratings`."""
    ratings: dict[str, ModelRating] = {}
    for record in with_columns(records, (*_COLUMNS, "overall")):
        if (answer := record.needed_key("answer_id")) in ratings:
            raise record.wrong("answer_id", f"answer {answer!r} is rated twice")
        ratings[answer] = ModelRating(_aspects(record), _accepted(record, "overall"))
    return ratings


def _means(ratings: Sequence[tuple[AspectRating, float]]) -> HumanMeans:
    aspects = [rating for rating, _ in ratings]
    means = AspectRating(
        factuality=statistics.fmean(rating.factuality for rating in aspects),
        amount=statistics.fmean(abs(rating.amount) for rating in aspects),
        formality=statistics.fmean(abs(rating.formality) for rating in aspects),
    )
    return HumanMeans(means, statistics.fmean(accepted for _, accepted in ratings), len(ratings))


def _aspects(record: Record) -> AspectRating:
    factuality, amount, formality = (
        _number(record, name) for name in ("factuality", "amountInfo", "formality")
    )
    try:
        return AspectRating(factuality, amount, formality)
    except ValueError as error:
        raise UnusableFile(f"{record.place}: {error}") from error


def _accepted(record: Record, field: str) -> float:
    """Acceptability of an answer; a number off its scale, such as 99 for a missing value, is none."""
    value = _number(record, field)
    if not 0 <= value <= _ACCEPTABLE:
        raise record.wrong(field, f"is {value:g}; expected a number from 0 to {_ACCEPTABLE:g}")
    return value


def _number(record: Record, field: str) -> float:
    text = record.needed(field)
    value = as_number(text)
    if not math.isfinite(value):
        raise record.wrong(field, f"is {text!r}; expected a number")
    return value
