"""What may be asked about ratings, within which limits: the same over REST and gRPC.

query parameters  ->  query  ->  protobuf request     (gateway, by the rule of `convert`)
protobuf request  ->  query  ->  slice and options    (rater)
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self, TypeVar

from google.protobuf.message import Message
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.options import Anchor, Bootstrap, Every, Intervals, InvalidOption, Options
from nuggetstream.ratings.ties import TiePolicy
from services.wire.convert import plain
from services.wire.query_parameters import QueryParameters, Text, problems_in, without_nul

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)
_MOST_TAGS = 10
_MOST_RATING = 1e6  # largest absolute rating of an anchor
_OPTIONS = ("bootstrap", "intervals", "level", "resamples", "anchor", "prior", "provisional_below")
_RENAMED = {"tags": "tag", "lenses": "lens"}  # lists of messages, whose parameters are given one by one
_ANCHOR = r"^.+:\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*$"  # for the OpenAPI document


def _midnight(value: Any) -> Any:
    """A day without a time means midnight UTC. A bare number is rejected, because its unit is unknown."""
    if not isinstance(value, str):
        return value
    if _DAY.match(value) is None:
        raise ValueError("should be a day such as 2026-05-04, or a moment such as 2026-05-04T12:00:00Z")
    return f"{value}T00:00:00Z" if _DAY.fullmatch(value) else value


def _in_reach(moment: datetime) -> datetime:
    if not _EARLIEST <= moment < _LATEST:
        raise ValueError("is out of range")
    return moment


def _parsed(value: Any) -> Any:
    return anchor_of(value) if isinstance(value, str) else value


def _usable(anchor: Anchor) -> Anchor:
    if not without_nul(anchor.system) or not abs(anchor.rating) <= _MOST_RATING:
        raise ValueError("should be a system and its rating, such as NAME:1000")
    return anchor


def anchor_of(text: str) -> Anchor:
    """A system and its rating, written NAME:1000; the name may contain colons.

    Raises:
        ValueError: The name or the number is missing, or the number is out of range.

    >>> anchor_of("org/model:7b:1114")
    Anchor(system='org/model:7b', rating=1114.0)
    """
    system, _, number = text.rpartition(":")
    try:
        return _usable(Anchor(system, float(number)))
    except ValueError:
        return _usable(Anchor("", math.nan))


def _automatic(lens: Lens) -> Lens:
    if lens not in (Lens.NUGGET, Lens.JUDGE):
        raise ValueError("Input should be 'nugget' or 'judge'")
    return lens


Moment = Annotated[AwareDatetime, BeforeValidator(_midnight), AfterValidator(_in_reach)]
Level = Annotated[float, Field(ge=0.5, le=0.999)]
Anchored = Annotated[
    Anchor,
    BeforeValidator(_parsed),
    AfterValidator(_usable),
    WithJsonSchema({"type": "string", "pattern": _ANCHOR, "examples": ["atlas:1000"]}),
]
Automatic = Annotated[
    Lens, AfterValidator(_automatic), WithJsonSchema({"type": "string", "enum": ["nugget", "judge"]})
]
Arena = Annotated[str, Field(min_length=1), AfterValidator(without_nul)]


class SliceQuery(QueryParameters):
    """Which battles count."""

    arena: Arena = "default"
    """Arena whose battles count."""
    language: Text | None = None
    """Only battles with this language tag, exactly as it was sent or, where none was sent, as detected."""
    tag: list[Text] = Field(default_factory=list, max_length=_MOST_TAGS)
    """Only battles with all of these tags; the category of a query is a tag such as `category:science`."""
    since: Moment | None = None
    """Only battles received at this time or later; a day begins at midnight UTC."""
    until: Moment | None = None
    """Only battles received before this time."""
    evaluator: Text | None = None
    """Only verdicts of the judge with this name, in the lenses judge, guided and member."""
    flagged: Flagged | None = None
    """Whether battles with a flagged answer count: include (the default), exclude or only."""

    @property
    def tags(self) -> Sequence[str]:
        """The tags that a battle must all have, each once."""
        return tuple(dict.fromkeys(self.tag))

    @model_validator(mode="after")
    def _is_a_period(self) -> Self:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError("until: is not after since")
        return self

    def selection(self) -> Slice:
        """The filter of battles."""
        return Slice(
            language=self.language or None,
            tags=tuple(self.tags),
            since=self.since,
            until=self.until,
            evaluator=self.evaluator or None,
            flagged=self.flagged or Flagged.INCLUDE,
        )


class _RatingQuery(SliceQuery):
    expected: bool = False
    """Whether automatic outcomes count by their probabilities, such as 0.7 wins and 0.3 losses."""

    @property
    def slice(self) -> Self:
        """The part of the query that the message has as its slice."""
        return self

    def selection(self) -> Slice:
        """The filter of battles, and whether outcomes count by their probabilities."""
        return replace(super().selection(), expected=self.expected)


class _Rated(_RatingQuery):
    ties: TiePolicy | None = None
    """How ties count; the rater's default policy when absent."""
    bootstrap: Bootstrap | None = None
    """How resamples are drawn; bayesian when absent. Sandwich intervals draw none."""
    intervals: Intervals | None = None
    """Intervals from robust standard errors, corrected for few votes (sandwich, the default), or from
    resamples (bootstrap, the default with a prior, a model of ties, a bootstrap or a number of resamples)."""
    level: Level | None = None
    """Confidence level of the intervals; 0.95 when absent."""
    resamples: Annotated[int, Field(ge=100, le=10_000)] | None = None
    """Number of resamples of the bootstrap; sandwich intervals have none."""
    prior: Annotated[float, Field(ge=0.01, le=1000.0)] | None = None
    """Strength of a weak prior in pseudo-battles per system; without a prior when absent."""
    provisional_below: Annotated[int, Field(ge=0, le=10_000)] | None = None
    """Ratings from fewer battles are provisional and have no rank; 10 when absent."""

    @property
    def options(self) -> Self:
        """The part of the query that the message has as its options."""
        return self

    @model_validator(mode="after")
    def _draws_resamples(self) -> Self:
        if self.expected and self.bootstrap is Bootstrap.MULTINOMIAL:
            raise ValueError(
                "bootstrap: multinomial draws whole battles, and expected outcomes are not whole"
            )
        for name in ("bootstrap", "resamples") if self.intervals is Intervals.SANDWICH else ():
            if getattr(self, name) is not None:
                raise ValueError(f"{name}: sandwich intervals draw no resamples; choose one of the two")
        return self

    def rating(self, own: Options) -> Options:
        """How to rate.

        Args:
            own: What holds where the query says nothing.

        Raises:
            InvalidOption: Two options exclude each other.
        """
        asked: dict[str, Any] = {"policy": self.ties} | {name: getattr(self, name) for name in _OPTIONS}
        return replace(own, **{name: value for name, value in asked.items() if value is not None})


class _Unanchored(_Rated):
    @property
    def anchor(self) -> None:
        """None, because differences do not depend on an anchor, and a period may lack it."""


class BoardsQuery(_Rated):
    """Which leaderboards to compute."""

    lens: list[Lens] = Field(default_factory=list)
    """Lenses, one board for each; human, nugget and judge when absent."""
    anchor: Anchored | None = None
    """A system whose rating is fixed, written NAME:1000; the mean rating is 1000 when absent."""

    @property
    def lenses(self) -> Sequence[Lens]:
        """The lenses, each once."""
        return tuple(dict.fromkeys(self.lens))


class PairsQuery(_Unanchored):
    """Which pairs of systems to compare."""

    lens: Lens = Lens.HUMAN
    """Lens whose preferences count."""


class TimelineQuery(_Unanchored):
    """Which ratings over time to compute."""

    lens: Lens = Lens.HUMAN
    """Lens whose preferences count."""
    every: Every = Every.MONTH
    """Length of a period, in UTC."""
    cumulative: bool = False
    """Whether a period counts all battles since the beginning, instead of its own."""


class CombinedQuery(_RatingQuery):
    """Which human and automatic votes to combine; a tie is half a win for each system."""

    automatic: Automatic = Lens.NUGGET
    """Lens whose votes are combined with the human ones."""
    level: Level | None = None
    """Confidence level of the intervals; 0.95 when absent."""
    anchor: Anchored | None = None
    """A system whose rating is fixed, written NAME:1000; the mean rating is 1000 when absent."""


class AdviceQuery(_RatingQuery):
    """For which board to recommend further battles."""

    lens: Lens = Lens.HUMAN
    """Lens whose preferences count."""
    ties: Literal["half", "drop", "drop_both_bad"] | None = None
    """How ties count; the rater's default policy when absent, or half where the default models ties."""
    level: Level | None = None
    """Confidence level of the intervals; 0.95 when absent."""
    power: Annotated[float, Field(ge=0.5, le=0.99)] | None = None
    """Probability with which the needed battles show the difference; 0.8 when absent."""
    count: Annotated[int, Field(ge=1, le=100)] | None = None
    """Number of pairs to recommend; 10 when absent."""


class AgreementQuery(_RatingQuery):
    """For which battles to compare the lenses."""

    ties: TiePolicy | None = None
    """How ties count in the ratings that are compared; the rater's default policy when absent."""


Q = TypeVar("Q", bound=SliceQuery)


def query_of(request: Message, kind: type[Q]) -> Q:
    """The query in a protobuf request.

    Raises:
        InvalidOption: A value is out of range, or two exclude each other; the first problem, with its field.
    """
    values = plain(request)
    values |= values.pop("options", {}) | values.pop("slice", {})
    names = {_RENAMED.get(name, name): name for name in values}
    try:
        return kind.model_validate({parameter: values[name] for parameter, name in names.items()})
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        parameter, _, why = problems_in([detail])[0].partition(": ")
        head, *rest = parameter.split(".")
        raise InvalidOption(".".join([names.get(head, head), *rest]), why) from error
