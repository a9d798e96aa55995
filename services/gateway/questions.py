"""What may be asked about ratings over HTTP, and the same as protobuf."""

import math
from datetime import datetime
from typing import Annotated, Any

from arena.v1 import ratings_pb2
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    ValidationError,
)
from starlette.datastructures import QueryParams

from services.core.bootstrap import Bootstrap
from services.core.leaderboard import Anchor
from services.core.tally import TiePolicy
from services.gateway.asking import Question, ignored
from services.gateway.refusals import InvalidQuestion
from services.store.outcomes import Lens
from services.store.slices import Slice
from services.wire import questions
from services.wire.convert import to_message
from services.wire.questions import Intervals

_DAY = "0000-00-00"


def _midnight(value: Any) -> Any:
    """A day without a time begins at midnight UTC."""
    day = isinstance(value, str) and len(value) == len(_DAY) and value[4:8:3] == "--"
    return f"{value}T00:00:00Z" if day else value


def _in_reach(moment: datetime) -> datetime:
    if not questions.EARLIEST <= moment < questions.LATEST:
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
    if not system or not abs(rating) <= questions.MOST_RATING:
        raise ValueError("should be a system and its rating, such as NAME:1000")
    return Anchor(system, rating)


Moment = Annotated[AwareDatetime, BeforeValidator(_midnight), AfterValidator(_in_reach)]
Level = Annotated[float, Field(ge=questions.LEAST_LEVEL, le=questions.MOST_LEVEL)]


def _half_or_nothing(policy: TiePolicy) -> TiePolicy:
    if policy.models_ties:
        raise ValueError("should be half, drop or drop_both_bad here")
    return policy


class _Question(Question):
    arena: Annotated[str, Field(min_length=1)] = "default"
    language: str | None = None
    """Only battles sent with this language."""
    tag: list[str] = Field(default_factory=list, max_length=questions.MOST_TAGS)
    """Only battles with all of these tags; a query's category is a tag such as `category:science`."""
    since: Moment | None = None
    """Only battles received then or later; a day begins at midnight UTC."""
    until: Moment | None = None
    """Only battles received before then."""

    def slice_message(self) -> ratings_pb2.Slice:
        """Which battles count."""
        among = Slice(self.language or None, tuple(self.tag), self.since, self.until)
        return to_message(among, ratings_pb2.Slice)


class _Rated(_Question):
    ties: TiePolicy | None = None
    """What a tie says; the rater's own policy when absent."""
    bootstrap: Bootstrap | None = None
    """How resamples are drawn; bayesian when absent. A sandwich draws none."""
    intervals: Intervals | None = None
    """From resamples (bootstrap, when absent) or from robust standard errors (sandwich)."""
    level: Level | None = None
    """Of the intervals; 0.95 when absent."""
    resamples: Annotated[int, Field(ge=questions.LEAST_RESAMPLES, le=questions.MOST_RESAMPLES)] | None = None
    """Of the bootstrap; a sandwich has none."""

    def options_message(self, anchor: str | None = None) -> ratings_pb2.BoardOptions:
        """How to rate."""
        return ratings_pb2.BoardOptions(
            ties=self.ties or "",
            bootstrap=self.bootstrap or "",
            intervals=self.intervals or "",
            level=self.level,
            resamples=self.resamples,
            anchor=anchor_message(anchor),
        )


Anchored = Annotated[str, AfterValidator(_anchor)]


class BoardsQuestion(_Rated):
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


class PairsQuestion(_Rated):
    """Pairs of systems."""

    lens: Lens = Lens.HUMAN

    def message(self) -> ratings_pb2.GetPairsRequest:
        """As protobuf."""
        return ratings_pb2.GetPairsRequest(
            arena=self.arena,
            lens=lens_number(self.lens),
            options=self.options_message(),
            slice=self.slice_message(),
        )


class CombinedQuestion(_Question):
    """Human and automatic votes in one rating; a tie is half a win for each."""

    automatic: Lens = Lens.NUGGET
    """Whose votes stand in for people's: nugget or judge."""
    level: Level | None = None
    anchor: Anchored | None = None

    def message(self) -> ratings_pb2.GetCombinedRequest:
        """As protobuf."""
        return ratings_pb2.GetCombinedRequest(
            arena=self.arena,
            automatic=lens_number(self.automatic),
            level=self.level,
            anchor=anchor_message(self.anchor),
            slice=self.slice_message(),
        )


class AdviceQuestion(_Question):
    """What to ask next."""

    lens: Lens = Lens.HUMAN
    ties: Annotated[TiePolicy, AfterValidator(_half_or_nothing)] | None = None
    level: Level | None = None
    power: Annotated[float, Field(ge=questions.LEAST_POWER, le=questions.MOST_POWER)] | None = None
    """How likely the battles needed then show the difference; 0.8 when absent."""
    count: Annotated[int, Field(ge=1, le=questions.MOST_PAIRS)] | None = None
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


class AgreementQuestion(_Question):
    """How far the lenses agree."""

    ties: TiePolicy | None = None
    """For the ratings that are compared."""

    def message(self) -> ratings_pb2.GetAgreementRequest:
        """As protobuf."""
        return ratings_pb2.GetAgreementRequest(
            arena=self.arena, ties=self.ties or "", slice=self.slice_message()
        )


def boards_asked_by_form(params: QueryParams, arena: str) -> BoardsQuestion:
    """The boards a form asks for; a form sends every field, and an empty one says nothing.

    Args:
        params: what was sent.
        arena: where the form names none.

    Raises:
        InvalidQuestion: naming every field that is wrong and why.
    """
    filled = QueryParams([(name, value) for name, value in params.multi_items() if value])
    if problems := list(ignored(BoardsQuestion, filled)):
        raise InvalidQuestion(problems)
    many = ("lens", "tag")
    given = {name: filled.getlist(name) if name in many else filled[name] for name in filled}
    try:
        return BoardsQuestion.model_validate({"arena": arena} | given)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        problems = [f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details]
        raise InvalidQuestion(problems) from None


def lens_number(lens: Lens) -> ratings_pb2.Lens.ValueType:
    """A lens in the contract."""
    return ratings_pb2.Lens.Value(f"LENS_{lens.name}")


def anchor_message(text: str | None) -> ratings_pb2.Anchor | None:
    """An anchor in the contract."""
    return None if text is None else to_message(anchor_of(text), ratings_pb2.Anchor)
