"""How ratings are made: one value with every choice, checked when it is built and echoed by the result."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from nuggetstream.ratings.ties import TiePolicy

SEED = 20250504  # any number; fixed, so that the same votes always give the same board
PROVISIONAL_BELOW = 10  # battles
RESAMPLES = 1000


class InvalidOption(ValueError):
    """A choice that cannot be met.

    Attributes:
        field: Name of the option.
        why: What is wrong with it.
    """

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


class AnchorNotRanked(InvalidOption):
    """The system whose rating is to be fixed has no rating on this board; choose another anchor."""

    def __init__(self, why: str) -> None:
        super().__init__("anchor", why)


class Bootstrap(StrEnum):
    """How a resample is drawn. Part of every board."""

    BAYESIAN = "bayesian"  # every battle weighs Exp(1): no cell ever empties
    MULTINOMIAL = "multinomial"  # N battles drawn with replacement: a cell may empty

    @property
    def keeps_cells(self) -> bool:
        """Whether data that can be ranked stay rankable in every resample."""
        return self is Bootstrap.BAYESIAN


class Intervals(StrEnum):
    """Where the intervals of a board come from."""

    BOOTSTRAP = "bootstrap"  # percentiles of resampled battles
    SANDWICH = "sandwich"  # Student's t, from robust standard errors that are corrected for few votes


@dataclass(frozen=True, slots=True)
class Anchor:
    """The system whose rating is fixed, such as mixtral-8x7b-instruct-v0.1 at 1114.

    >>> str(Anchor("org/model:7b", 1114.0))
    'org/model:7b:1114'
    """

    system: str
    rating: float

    def __str__(self) -> str:
        return f"{self.system}:{self.rating:.15g}"


class Every(StrEnum):
    """Calendar periods in UTC."""

    DAY = "day"
    WEEK = "week"  # begins on Monday
    MONTH = "month"

    def starting(self, moment: datetime) -> datetime:
        """Start of the period that holds a moment in UTC.

        >>> from datetime import UTC
        >>> Every.WEEK.starting(datetime(2025, 5, 4, 13, tzinfo=UTC)).isoformat()
        '2025-04-28T00:00:00+00:00'
        """
        day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        match self:
            case Every.DAY:
                return day
            case Every.WEEK:
                return day - timedelta(days=day.weekday())
            case Every.MONTH:
                return day.replace(day=1)

    def after(self, start: datetime) -> datetime:
        """Start of the next period."""
        longest = {Every.DAY: 1, Every.WEEK: 7, Every.MONTH: 31}[self]
        return self.starting(start + timedelta(days=longest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to rate.

    Attributes:
        policy: How ties count.
        intervals: From robust standard errors or from resamples; None for the sandwich wherever it exists and
            nothing of the bootstrap is chosen, see `source`.
        bootstrap: How resamples are drawn; None for the Bayesian bootstrap.
        resamples: Number of resamples of the bootstrap, at least 1; None for 1,000.
        seed: Seed of all randomness.
        level: Confidence level of every interval, in (0, 1).
        anchor: System whose rating is fixed; None sets the mean rating to 1000.
        prior: Strength of the weak prior in battles per system; None rates without a prior.
        ridge: Penalty of the coefficients of style, see `style_control.control`; 0 for none.
        provisional_below: A rating from fewer battles than this is provisional; 0 turns the mark off.

    Raises:
        InvalidOption: A value out of range, or two choices that exclude each other.

    >>> Options(level=1.5)
    Traceback (most recent call last):
    nuggetstream.ratings.options.InvalidOption: level: 1.5 is not in (0, 1)
    """

    policy: TiePolicy = TiePolicy.HALF
    intervals: Intervals | None = None
    bootstrap: Bootstrap | None = None
    resamples: int | None = None
    seed: int = SEED
    level: float = 0.95
    anchor: Anchor | None = None
    prior: float | None = None
    ridge: float = 0.0
    provisional_below: int = PROVISIONAL_BELOW

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InvalidOption("level", f"{self.level:g} is not in (0, 1)")
        if self.resamples is not None and self.resamples < 1:
            raise InvalidOption("resamples", f"{self.resamples} resamples give no interval")
        if self.provisional_below < 0:
            raise InvalidOption("provisional_below", f"{self.provisional_below} is not a number of battles")
        if self.prior is not None and not 0 < self.prior < float("inf"):
            raise InvalidOption("prior", f"{self.prior:g} is not a positive number of battles")
        if not 0 <= self.ridge < float("inf"):
            raise InvalidOption("ridge", f"{self.ridge:g} is not a penalty of 0 or more")
        if self.policy.models_ties and self.intervals is Intervals.SANDWICH:
            why = f"sandwich is for ties counted half or dropped, not for {self.policy.value}"
            raise InvalidOption("intervals", why)
        if self.policy.models_ties and self.prior is not None:
            raise InvalidOption("prior", f"needs ties counted half or dropped, not {self.policy.value}")

    @property
    def source(self) -> Intervals:
        """Where the intervals come from: as chosen, or the source that the other options are made for."""
        if self.intervals is not None:
            return self.intervals
        resampled = self.bootstrap is not None or self.resamples is not None
        if resampled or self.prior is not None or self.policy.models_ties:
            return Intervals.BOOTSTRAP
        return Intervals.SANDWICH

    @property
    def drawing(self) -> Bootstrap:
        """How resamples are drawn, where any are drawn."""
        return self.bootstrap or Bootstrap.BAYESIAN

    @property
    def draws(self) -> int:
        """Number of resamples, where any are drawn."""
        return self.resamples or RESAMPLES
