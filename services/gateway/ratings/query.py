"""What may be asked about ratings over HTTP, and the same as protobuf."""

import math
import re
from datetime import datetime
from typing import Annotated, Any, Literal

from arena.v1 import ratings_pb2
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
)

from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.options import Anchor, Intervals
from nuggetstream.ratings.tally import TiePolicy
from nuggetstream.ratings.timeline import Every
from services.gateway.query import QueryParameters, Text, without_nul
from services.store.slices import Slice
from services.wire import limits
from services.wire.convert import to_message

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ANCHOR = r"^.+:\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*$"  # said of it in the OpenAPI document


def _midnight(value: Any) -> Any:
    """A day without a time begins at midnight UTC; a number is no moment, whatever it counts."""
    if not isinstance(value, str):
        return value
    if _DAY.match(value) is None:
        raise ValueError("should be a day such as 2026-05-04, or a moment such as 2026-05-04T12:00:00Z")
    return f"{value}T00:00:00Z" if _DAY.fullmatch(value) else value


def _in_reach(moment: datetime) -> datetime:
    if not limits.EARLIEST <= moment < limits.LATEST:
        raise ValueError("is out of range")
    return moment


def _anchor(text: str) -> str:
    anchor_of(text)
    return text


def anchor_of(text: str) -> Anchor:
    """A system and its rating, written NAME:1000; the name may contain colons.

    Raises:
        ValueError: no name, no number, or a number out of range.

    >>> anchor_of("org/model:7b:1114")
    Anchor(system='org/model:7b', rating=1114.0)
    """
    system, _, number = text.rpartition(":")
    try:
        rating = float(number)
    except ValueError:
        rating = math.nan
    if not system or not abs(rating) <= limits.MOST_RATING:
        raise ValueError("should be a system and its rating, such as NAME:1000")
    return Anchor(system, rating)


Moment = Annotated[AwareDatetime, BeforeValidator(_midnight), AfterValidator(_in_reach)]
Level = Annotated[float, Field(ge=limits.LEAST_LEVEL, le=limits.MOST_LEVEL)]


class _RatingQuery(QueryParameters):
    arena: Annotated[str, Field(min_length=1), AfterValidator(without_nul)] = "default"
    """Whose battles."""
    language: Text | None = None
    """Only battles sent with this language."""
    tag: list[Text] = Field(default_factory=list, max_length=limits.MOST_TAGS)
    """Only battles with all of these tags; a query's category is a tag such as `category:science`."""
    since: Moment | None = None
    """Only battles received then or later; a day begins at midnight UTC."""
    until: Moment | None = None
    """Only battles received before then."""

    def slice_message(self) -> ratings_pb2.Slice:
        """Which battles count."""
        among = Slice(self.language or None, tuple(self.tag), self.since, self.until)
        return to_message(among, ratings_pb2.Slice)


class _Rated(_RatingQuery):
    ties: TiePolicy | None = None
    """What a tie says; the rater's own policy when absent."""
    bootstrap: Bootstrap | None = None
    """How resamples are drawn; bayesian when absent. A sandwich draws none."""
    intervals: Intervals | None = None
    """From resamples (bootstrap, when absent) or from robust standard errors (sandwich)."""
    level: Level | None = None
    """Of the intervals; 0.95 when absent."""
    resamples: Annotated[int, Field(ge=limits.LEAST_RESAMPLES, le=limits.MOST_RESAMPLES)] | None = None
    """Of the bootstrap; a sandwich has none."""
    prior: Annotated[float, Field(ge=limits.LEAST_PRIOR, le=limits.MOST_PRIOR)] | None = None
    """Strength of a weak prior in pseudo-battles per system; without a prior when absent."""
    provisional_below: Annotated[int, Field(ge=0, le=limits.MOST_PROVISIONAL)] | None = None
    """Ratings from fewer battles are provisional and have no rank; 10 when absent."""

    def options_message(self, anchor: str | None = None) -> ratings_pb2.BoardOptions:
        """How to rate."""
        return ratings_pb2.BoardOptions(
            ties=self.ties or "",
            bootstrap=self.bootstrap or "",
            intervals=self.intervals or "",
            level=self.level,
            resamples=self.resamples,
            anchor=anchor_message(anchor),
            prior=self.prior,
            provisional_below=self.provisional_below,
        )


Anchored = Annotated[
    Text, AfterValidator(_anchor), Field(json_schema_extra={"pattern": _ANCHOR, "examples": ["atlas:1000"]})
]


class BoardsQuery(_Rated):
    """Boards."""

    lens: list[Lens] = Field(default_factory=list)
    """All three when absent."""
    anchor: Anchored | None = None
    """A system whose rating is fixed, as NAME:1000; without one the mean rating is 1000."""

    def message(self) -> ratings_pb2.GetLeaderboardRequest:
        """As protobuf."""
        return ratings_pb2.GetLeaderboardRequest(
            arena=self.arena,
            lenses=[lens_number(lens) for lens in self.lens],
            options=self.options_message(self.anchor),
            slice=self.slice_message(),
        )


class PairsQuery(_Rated):
    """Pairs of systems."""

    lens: Lens = Lens.HUMAN
    """Whose preferences."""

    def message(self) -> ratings_pb2.GetPairsRequest:
        """As protobuf."""
        return ratings_pb2.GetPairsRequest(
            arena=self.arena,
            lens=lens_number(self.lens),
            options=self.options_message(),
            slice=self.slice_message(),
        )


class TimelineQuery(_Rated):
    """Ratings over time."""

    lens: Lens = Lens.HUMAN
    """Whose preferences."""
    every: Every = Every.MONTH
    """Length of a period, in UTC."""
    cumulative: bool = False
    """Whether a period counts all battles since the beginning, instead of its own."""

    def message(self) -> ratings_pb2.GetTimelineRequest:
        """As protobuf."""
        return ratings_pb2.GetTimelineRequest(
            arena=self.arena,
            lens=lens_number(self.lens),
            options=self.options_message(),
            slice=self.slice_message(),
            every=self.every.value,
            cumulative=self.cumulative,
        )


class CombinedQuery(_RatingQuery):
    """Human and automatic votes in one rating; a tie is half a win for each."""

    automatic: Literal["nugget", "judge"] = "nugget"
    """Whose votes stand in for people's."""
    level: Level | None = None
    """Of the intervals; 0.95 when absent."""
    anchor: Anchored | None = None
    """A system whose rating is fixed, as NAME:1000; without one the mean rating is 1000."""

    def message(self) -> ratings_pb2.GetCombinedRequest:
        """As protobuf."""
        return ratings_pb2.GetCombinedRequest(
            arena=self.arena,
            automatic=lens_number(Lens(self.automatic)),
            level=self.level,
            anchor=anchor_message(self.anchor),
            slice=self.slice_message(),
        )


class AdviceQuery(_RatingQuery):
    """What to ask next."""

    lens: Lens = Lens.HUMAN
    """Whose preferences."""
    ties: Literal["half", "drop", "drop_both_bad"] | None = None
    """What a tie says; the rater's own policy when absent, or half where that one models ties."""
    level: Level | None = None
    """Of the intervals; 0.95 when absent."""
    power: Annotated[float, Field(ge=limits.LEAST_POWER, le=limits.MOST_POWER)] | None = None
    """How likely the battles needed then show the difference; 0.8 when absent."""
    count: Annotated[int, Field(ge=1, le=limits.MOST_PAIRS)] | None = None
    """Pairs to name; 10 when absent."""

    def message(self) -> ratings_pb2.GetAdviceRequest:
        """As protobuf."""
        return ratings_pb2.GetAdviceRequest(
            arena=self.arena,
            lens=lens_number(self.lens),
            ties=self.ties or "",
            level=self.level,
            power=self.power,
            count=self.count,
            slice=self.slice_message(),
        )


class AgreementQuery(_RatingQuery):
    """How far the lenses agree."""

    ties: TiePolicy | None = None
    """For the ratings that are compared."""

    def message(self) -> ratings_pb2.GetAgreementRequest:
        """As protobuf."""
        return ratings_pb2.GetAgreementRequest(
            arena=self.arena, ties=self.ties or "", slice=self.slice_message()
        )


def lens_number(lens: Lens) -> ratings_pb2.Lens.ValueType:
    """A lens in the contract."""
    return ratings_pb2.Lens.Value(f"LENS_{lens.name}")


def anchor_message(text: str | None) -> ratings_pb2.Anchor | None:
    """An anchor in the contract."""
    return None if text is None else to_message(anchor_of(text), ratings_pb2.Anchor)
