"""The query parameters of the rating routes, their limits, and the protobuf request that each becomes."""

import math
import re
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from arena.v1 import ratings_pb2
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.fitting.bootstrap import Bootstrap
from nuggetstream.ratings.fitting.tally import TiePolicy
from nuggetstream.ratings.options import Anchor, Intervals
from nuggetstream.ratings.timeline import Every
from services.gateway.query import QueryParameters, Text, without_nul
from services.store.slices import Slice
from services.wire import limits
from services.wire.convert import to_message

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ANCHOR = r"^.+:\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*$"  # for the OpenAPI document


def _midnight(value: Any) -> Any:
    """A day without a time means midnight UTC. A bare number is rejected, because its unit is unknown."""
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
        ValueError: the name or the number is missing, or the number is out of range.

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


Arena = Annotated[str, Field(min_length=1), AfterValidator(without_nul)]


class BiasesQuery(QueryParameters):
    """Query parameters of the biases of judges."""

    arena: Arena = "default"
    """Arena whose verdicts count."""


class _SliceQuery(QueryParameters):
    arena: Arena = "default"
    """Arena whose battles count."""
    language: Text | None = None
    """Only battles with this language tag, exactly as it was sent or, where none was sent, as detected."""
    tag: list[Text] = Field(default_factory=list, max_length=limits.MOST_TAGS)
    """Only battles with all of these tags; the category of a query is a tag such as `category:science`."""
    since: Moment | None = None
    """Only battles received at this time or later; a day begins at midnight UTC."""
    until: Moment | None = None
    """Only battles received before this time."""
    evaluator: Text | None = None
    """Only verdicts of the judge with this name, in the lenses judge, guided and member."""
    flagged: Flagged | None = None
    """Whether battles with a flagged answer count: include, exclude or only. When absent, the setting
    `NUGGETSTREAM_FLAGGED_BATTLES` decides."""

    def selection(self, flagged: Flagged = Flagged.INCLUDE) -> Slice:
        """The filter of battles; `flagged` holds where the query does not say whether flagged ones count."""
        return Slice(
            language=self.language or None,
            tags=tuple(self.tag),
            since=self.since,
            until=self.until,
            evaluator=self.evaluator or None,
            flagged=self.flagged or flagged,
        )


class _RatingQuery(_SliceQuery):
    expected: bool = False
    """Whether automatic outcomes count by their probabilities, such as 0.7 wins and 0.3 losses."""

    def slice_message(self) -> ratings_pb2.Slice:
        """The filter of battles as protobuf."""
        message = to_message(replace(self.selection(), expected=self.expected), ratings_pb2.Slice)
        if self.flagged is None:
            message.ClearField("flagged")
        return message


class StyleQuery(_SliceQuery):
    """Which board is computed with style held equal."""

    lens: Literal[Lens.HUMAN, Lens.NUGGET, Lens.GROUNDED, Lens.JUDGE] = Lens.HUMAN
    """Lens whose preferences count; of several judges the first by name, unless `evaluator` names one."""


class _Rated(_RatingQuery):
    ties: TiePolicy | None = None
    """How ties count; the rater's default policy when absent."""
    bootstrap: Bootstrap | None = None
    """How resamples are drawn; bayesian when absent. Sandwich intervals draw none."""
    intervals: Intervals | None = None
    """Intervals from resamples (bootstrap, the default) or from robust standard errors (sandwich)."""
    level: Level | None = None
    """Confidence level of the intervals; 0.95 when absent."""
    resamples: Annotated[int, Field(ge=limits.LEAST_RESAMPLES, le=limits.MOST_RESAMPLES)] | None = None
    """Number of resamples of the bootstrap; sandwich intervals have none."""
    prior: Annotated[float, Field(ge=limits.LEAST_PRIOR, le=limits.MOST_PRIOR)] | None = None
    """Strength of a weak prior in pseudo-battles per system; without a prior when absent."""
    provisional_below: Annotated[int, Field(ge=0, le=limits.MOST_PROVISIONAL)] | None = None
    """Ratings from fewer battles are provisional and have no rank; 10 when absent."""

    def options_message(self, anchor: str | None = None) -> ratings_pb2.BoardOptions:
        """The rating method as protobuf.

        Args:
            anchor: A system and its rating, written NAME:1000; None for a mean rating of 1000.
        """
        return ratings_pb2.BoardOptions(
            ties=self.ties,
            bootstrap=self.bootstrap,
            intervals=self.intervals,
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
    """Which leaderboards to compute."""

    lens: list[Lens] = Field(default_factory=list)
    """Lenses, one board for each; human, nugget and judge when absent."""
    anchor: Anchored | None = None
    """A system whose rating is fixed, written NAME:1000; the mean rating is 1000 when absent."""

    def message(self) -> ratings_pb2.GetLeaderboardRequest:
        """The request as protobuf."""
        return ratings_pb2.GetLeaderboardRequest(
            arena=self.arena,
            lenses=[lens_number(lens) for lens in self.lens],
            options=self.options_message(self.anchor),
            slice=self.slice_message(),
        )


class PairsQuery(_Rated):
    """Which pairs of systems to compare."""

    lens: Lens = Lens.HUMAN
    """Lens whose preferences count."""

    def message(self) -> ratings_pb2.GetPairsRequest:
        """The request as protobuf."""
        return ratings_pb2.GetPairsRequest(
            arena=self.arena,
            lens=lens_number(self.lens),
            options=self.options_message(),
            slice=self.slice_message(),
        )


class TimelineQuery(_Rated):
    """Which ratings over time to compute."""

    lens: Lens = Lens.HUMAN
    """Lens whose preferences count."""
    every: Every = Every.MONTH
    """Length of a period, in UTC."""
    cumulative: bool = False
    """Whether a period counts all battles since the beginning, instead of its own."""

    def message(self) -> ratings_pb2.GetTimelineRequest:
        """The request as protobuf."""
        return ratings_pb2.GetTimelineRequest(
            arena=self.arena,
            lens=lens_number(self.lens),
            options=self.options_message(),
            slice=self.slice_message(),
            every=self.every.value,
            cumulative=self.cumulative,
        )


class CombinedQuery(_RatingQuery):
    """Which human and automatic votes to combine; a tie is half a win for each system."""

    automatic: Literal["nugget", "judge"] = "nugget"
    """Lens whose votes are combined with the human ones."""
    level: Level | None = None
    """Confidence level of the intervals; 0.95 when absent."""
    anchor: Anchored | None = None
    """A system whose rating is fixed, written NAME:1000; the mean rating is 1000 when absent."""

    def message(self) -> ratings_pb2.GetCombinedRequest:
        """The request as protobuf."""
        return ratings_pb2.GetCombinedRequest(
            arena=self.arena,
            automatic=lens_number(Lens(self.automatic)),
            level=self.level,
            anchor=anchor_message(self.anchor),
            slice=self.slice_message(),
        )


class AdviceQuery(_RatingQuery):
    """For which board to recommend further battles."""

    lens: Lens = Lens.HUMAN
    """Lens whose preferences count."""
    ties: Literal["half", "drop", "drop_both_bad"] | None = None
    """How ties count; the rater's default policy when absent, or half where the default models ties."""
    level: Level | None = None
    """Confidence level of the intervals; 0.95 when absent."""
    power: Annotated[float, Field(ge=limits.LEAST_POWER, le=limits.MOST_POWER)] | None = None
    """Probability with which the needed battles show the difference; 0.8 when absent."""
    count: Annotated[int, Field(ge=1, le=limits.MOST_PAIRS)] | None = None
    """Number of pairs to recommend; 10 when absent."""

    def message(self) -> ratings_pb2.GetAdviceRequest:
        """The request as protobuf."""
        return ratings_pb2.GetAdviceRequest(
            arena=self.arena,
            lens=lens_number(self.lens),
            ties=self.ties,
            level=self.level,
            power=self.power,
            count=self.count,
            slice=self.slice_message(),
        )


class AgreementQuery(_RatingQuery):
    """For which battles to compare the lenses."""

    ties: TiePolicy | None = None
    """How ties count in the ratings that are compared; the rater's default policy when absent."""

    def message(self) -> ratings_pb2.GetAgreementRequest:
        """The request as protobuf."""
        return ratings_pb2.GetAgreementRequest(arena=self.arena, ties=self.ties, slice=self.slice_message())


def lens_number(lens: Lens) -> ratings_pb2.Lens.ValueType:
    """The number of a lens in protobuf."""
    return ratings_pb2.Lens.Value(f"LENS_{lens.name}")


def anchor_message(text: str | None) -> ratings_pb2.Anchor | None:
    """An anchor, written NAME:1000, as protobuf."""
    return None if text is None else to_message(anchor_of(text), ratings_pb2.Anchor)
