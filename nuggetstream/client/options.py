"""What may be asked about ratings, as keyword arguments and as query parameters."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, TypeAlias, TypedDict

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens

Moment: TypeAlias = datetime | date | str
LensName: TypeAlias = Lens | Literal["human", "nugget", "judge", "guided", "member", "grounded"]
Ties: TypeAlias = Literal["half", "drop", "drop_both_bad", "davidson", "rao_kupper"]


class BattleOptions(TypedDict, total=False):
    """Which battles are in a list; those in the order "doubt" take no further filter.

    Attributes:
        order: "newest", or "doubt" for battles without a vote, the most doubtful first.
        search: Words that the query contains, all of them, in any case.
        system: A system that wrote one of the answers.
        tag: A tag.
        language: Language tag, declared or detected.
        state: State of the battle.
        disagree: Only battles of which people, nuggets and judge do not all prefer the same answer.
        flagged: Only battles with a flagged answer.
        before: Only battles after this one in the list: `received_at` and `id` of the last battle of the page
            before, with a comma between them.
    """

    order: Literal["newest", "doubt"]
    search: str
    system: str
    tag: str
    language: str
    state: Literal["running", "scored", "partial", "failed"]
    disagree: bool
    flagged: bool
    before: str


class StreamOptions(TypedDict, total=False):
    """Which events are streamed.

    Attributes:
        arena: Of battles of this arena; of all that the key may read when absent.
        system: Of battles with an answer of this system.
        tag: Of battles with this tag.
        language: Of battles with this language tag, declared or detected.
        kind: Of these kinds, such as "ended".
    """

    arena: str
    system: str
    tag: str
    language: str
    kind: str | Sequence[str]


class FilterOptions(TypedDict, total=False):
    """Which battles count.

    Attributes:
        language: Exactly as it was sent.
        tag: One tag or several; a battle has all of them.
        since: Received then or later; a moment has a time zone, a day begins at midnight UTC.
        until: Received before then.
        evaluator: Name of the judge whose verdicts count in the lens of the judge; those of all by default.
        flagged: Whether battles with a flagged answer count; they do by default.
    """

    language: str
    tag: str | Sequence[str]
    since: Moment
    until: Moment
    evaluator: str
    flagged: Flagged | Literal["include", "exclude", "only"]


class SliceOptions(FilterOptions, total=False):
    """Which battles count, and how.

    Attributes:
        expected: Whether automatic outcomes count by their probabilities, where these are known.
    """

    expected: bool


class RatedOptions(SliceOptions, total=False):
    """How ratings are made; what each option means is in docs/api/ratings.md."""

    ties: Ties
    bootstrap: Literal["bayesian", "multinomial"]
    intervals: Literal["bootstrap", "sandwich"]
    level: float
    resamples: int
    prior: float
    provisional_below: int


class BoardOptions(RatedOptions, total=False):
    """How leaderboards are made, for one lens or several; `anchor` is a system and its rating."""

    lens: LensName | Sequence[LensName]
    anchor: tuple[str, float]


class PairsOptions(RatedOptions, total=False):
    """How pairs of systems are compared."""

    lens: LensName


class TimelineOptions(RatedOptions, total=False):
    """How ratings over time are made."""

    lens: LensName
    every: Literal["day", "week", "month"]
    cumulative: bool


class StyleOptions(FilterOptions, total=False):
    """Which ratings are made with style held equal."""

    lens: Literal[Lens.HUMAN, Lens.NUGGET, Lens.GROUNDED, Lens.JUDGE, "human", "nugget", "grounded", "judge"]


class CombinedOptions(SliceOptions, total=False):
    """How votes of people and automatic ones are combined."""

    automatic: Literal["nugget", "judge"]
    level: float
    anchor: tuple[str, float]


class AdviceOptions(SliceOptions, total=False):
    """What advice is asked for."""

    lens: LensName
    ties: Literal["half", "drop", "drop_both_bad"]
    level: float
    power: float
    count: int


class AgreementOptions(SliceOptions, total=False):
    """How the ratings that are compared are made."""

    ties: Ties


class AdminFailureOptions(TypedDict, total=False):
    """Which failures administrators list: by reason, stage, arena and time, newest first."""

    reason: str | None
    stage: str | None
    arena: str | None
    since: datetime | None
    until: datetime | None
    closed: bool
    limit: int


class ExpiryOptions(TypedDict, total=False):
    """Which battles are deleted: the oldest that have ended and were received before a time.

    `before` is required. At most `limit` battles are deleted (100 at most); with `dry_run` none is, and all
    are counted.
    """

    before: datetime
    arena: str | None
    limit: int
    dry_run: bool


class RerunOptions(TypedDict, total=False):
    """Which battles are evaluated again: those of an arena that were received since a time, newest first.

    `since`, `stage` (one that asks a model, or a declared evaluator) and `name` are required. A battle runs
    once in each rerun of a name. A part has `limit` battles (100 at most), and `before` is the `next` of the
    part before.
    """

    arena: str
    since: datetime
    stage: str
    name: str
    before: str | None
    limit: int


class StartOptions(RerunOptions, total=False):
    """As `RerunOptions`: with `dry_run` nothing starts, and the assigner can ask another `model`."""

    model: str | None
    dry_run: bool


def params_of(options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Query parameters; None is left out, and a list is repeated.

    >>> params_of({"arena": "x", "limit": None, "tag": ["a", "b"], "level": 0.9, "anchor": ("org/m", 1000)})
    (('arena', 'x'), ('tag', 'a'), ('tag', 'b'), ('level', '0.9'), ('anchor', 'org/m:1000'))
    """
    return tuple(
        (name, text) for name, value in options.items() if value is not None for text in _texts(name, value)
    )


def _texts(name: str, value: Any) -> list[str]:
    if name == "anchor" and not isinstance(value, str):
        system, rating = value
        return [f"{system}:{rating:.15g}"]
    if isinstance(value, str):
        return [str(value)]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, datetime | date):
        return [value.isoformat()]
    return [str(one) for one in value] if isinstance(value, Sequence) else [f"{value:.15g}"]
