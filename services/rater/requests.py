"""What callers ask for, checked field by field."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from arena.v1 import battle_pb2, ratings_pb2
from google.protobuf.timestamp_pb2 import Timestamp

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.ratings.fitting.bootstrap import Bootstrap
from nuggetstream.ratings.fitting.tally import TiePolicy
from nuggetstream.ratings.options import Anchor, Intervals, Options
from nuggetstream.ratings.timeline import Every
from services.rater.options import InvalidQuestion, naming_the_field
from services.store.slices import Slice
from services.wire import limits

_LENSES = {
    ratings_pb2.LENS_HUMAN: Lens.HUMAN,
    ratings_pb2.LENS_NUGGET: Lens.NUGGET,
    ratings_pb2.LENS_JUDGE: Lens.JUDGE,
    ratings_pb2.LENS_GUIDED: Lens.GUIDED,
    ratings_pb2.LENS_MEMBER: Lens.MEMBER,
    ratings_pb2.LENS_GROUNDED: Lens.GROUNDED,
}

_FLAGGED: dict[int, Flagged] = {
    battle_pb2.FLAGGED_INCLUDE: Flagged.INCLUDE,
    battle_pb2.FLAGGED_EXCLUDE: Flagged.EXCLUDE,
    battle_pb2.FLAGGED_ONLY: Flagged.ONLY,
}

W = TypeVar("W", bound=StrEnum)


def arena_of(name: str) -> str:
    """The arena of a request.

    Raises:
        InvalidQuestion: as every function here, naming the field and saying why.
    """
    if not name:
        raise InvalidQuestion("arena", "is empty")
    return _text("arena", name)


def lenses_of(numbers: Sequence[int]) -> list[Lens]:
    """The lenses of a request; the three independent ones where none is named."""
    return [_lens("lenses", number) for number in dict.fromkeys(numbers)] or list(INDEPENDENT)


def lens_of(number: int, default: Lens = Lens.HUMAN) -> Lens:
    """The one lens of a request."""
    return default if number == ratings_pb2.LENS_UNSPECIFIED else _lens("lens", number)


def automatic_of(number: int) -> Lens:
    """The automatic lens of a request."""
    lens = lens_of(number, Lens.NUGGET)
    if lens is Lens.HUMAN:
        raise InvalidQuestion("automatic", "human votes are not automatic; choose nugget or judge")
    if lens not in INDEPENDENT:
        raise InvalidQuestion("automatic", f"cannot be {lens.value}; choose nugget or judge")
    return lens


def policy_of(word: str, default: TiePolicy, among: Sequence[TiePolicy] = tuple(TiePolicy)) -> TiePolicy:
    """The tie policy of a request."""
    return _word("ties", word, among, default)


def options_of(asked: ratings_pb2.BoardOptions, own: Options) -> Options:
    """How to rate.

    Args:
        asked: what the caller says.
        own: what holds where the caller says nothing.
    """
    intervals = _word("intervals", asked.intervals, tuple(Intervals), own.intervals)
    if intervals is Intervals.SANDWICH:
        _nothing_drawn(asked)
    with naming_the_field():
        return Options(
            policy=policy_of(asked.ties, own.policy),
            bootstrap=_word("bootstrap", asked.bootstrap, tuple(Bootstrap), own.bootstrap),
            intervals=intervals,
            level=level_of(asked.level) if asked.HasField("level") else own.level,
            resamples=resamples_of(asked.resamples) if asked.HasField("resamples") else own.resamples,
            anchor=anchor_of(asked.anchor) if asked.HasField("anchor") else own.anchor,
            prior=prior_of(asked.prior) if asked.HasField("prior") else own.prior,
            provisional_below=(
                provisional_of(asked.provisional_below)
                if asked.HasField("provisional_below")
                else own.provisional_below
            ),
        )


def drawable(options: Options, slice_: Slice) -> Options:
    """The options, if resamples of the outcomes can be drawn with them."""
    if slice_.expected and options.bootstrap is Bootstrap.MULTINOMIAL:
        raise InvalidQuestion(
            "bootstrap", "multinomial draws whole battles, and expected outcomes are not whole"
        )
    return options


def every_of(word: str) -> Every:
    """Length of the periods of a timeline."""
    return _word("every", word, tuple(Every), Every.MONTH)


def prior_of(strength: float) -> float:
    """Strength of the prior in pseudo-battles per system."""
    return _between("prior", strength, limits.LEAST_PRIOR, limits.MOST_PRIOR)


def provisional_of(battles: int) -> int:
    """Battles from which a rating is no longer provisional."""
    return _between("provisional_below", battles, 0, limits.MOST_PROVISIONAL)


def level_of(level: float) -> float:
    """A confidence level."""
    return _between("level", level, limits.LEAST_LEVEL, limits.MOST_LEVEL)


def resamples_of(resamples: int) -> int:
    """How many resamples to draw."""
    return _between("resamples", resamples, limits.LEAST_RESAMPLES, limits.MOST_RESAMPLES)


def power_of(power: float) -> float:
    """How likely a difference shall show."""
    return _between("power", power, limits.LEAST_POWER, limits.MOST_POWER)


def count_of(count: int) -> int:
    """How many pairs to name."""
    return _between("count", count, 1, limits.MOST_PAIRS)


def anchor_of(asked: ratings_pb2.Anchor) -> Anchor:
    """The system whose rating is fixed."""
    if not asked.system:
        raise InvalidQuestion("anchor", "names no system")
    _between("anchor", asked.rating, -limits.MOST_RATING, limits.MOST_RATING)
    return Anchor(asked.system, asked.rating)


def slice_of(asked: ratings_pb2.Slice, flagged: Flagged = Flagged.INCLUDE) -> Slice:
    """Which battles count; an empty language is none asked for.

    Args:
        asked: The filter of the request.
        flagged: Whether flagged battles count where the request does not say.
    """
    if len(asked.tags) > limits.MOST_TAGS:
        raise InvalidQuestion("tags", f"{len(asked.tags)} of them; at most {limits.MOST_TAGS}")
    since = _moment("since", asked.since) if asked.HasField("since") else None
    until = _moment("until", asked.until) if asked.HasField("until") else None
    if since is not None and until is not None and since >= until:
        raise InvalidQuestion("until", "is not after since")
    tags = tuple(dict.fromkeys(_text("tags", tag) for tag in asked.tags))
    return Slice(
        language=_text("language", asked.language) or None,
        tags=tags,
        since=since,
        until=until,
        evaluator=_text("evaluator", asked.evaluator) or None,
        expected=asked.expected,
        flagged=_flagged(asked.flagged, flagged),
    )


def _flagged(number: int, default: Flagged) -> Flagged:
    if number == battle_pb2.FLAGGED_UNSPECIFIED:
        return default
    if number not in _FLAGGED:
        raise InvalidQuestion("flagged", f"{number} is none of {', '.join(Flagged)}")
    return _FLAGGED[number]


def _nothing_drawn(asked: ratings_pb2.BoardOptions) -> None:
    for field, said in (("bootstrap", asked.bootstrap), ("resamples", asked.HasField("resamples"))):
        if said:
            raise InvalidQuestion(field, "sandwich intervals draw no resamples; choose one of the two")


def _lens(field: str, number: int) -> Lens:
    if number not in _LENSES:
        raise InvalidQuestion(field, f"{number} is no lens")
    return _LENSES[number]  # type: ignore[index]


def _word(field: str, word: str, known: Sequence[W], default: W) -> W:
    if not word:
        return default
    for each in known:
        if each.value == word:
            return each
    raise InvalidQuestion(field, f"{word!r} is none of {', '.join(known)}")


N = TypeVar("N", int, float)


def _between(field: str, number: N, least: float, most: float) -> N:
    if not (math.isfinite(number) and least <= number <= most):
        raise InvalidQuestion(field, f"{number:g} is not between {least:g} and {most:g}")
    return number


def _text(field: str, text: str) -> str:
    if "\x00" in text:  # no database keeps one
        raise InvalidQuestion(field, "contains a NUL character")
    return text


def _moment(field: str, stamp: Timestamp) -> datetime:
    try:
        moment = stamp.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidQuestion(field, "is no moment") from error
    if not limits.EARLIEST <= moment < limits.LATEST:
        raise InvalidQuestion(field, f"{moment.isoformat()} is out of range")
    return moment
