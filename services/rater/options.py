"""How a board is made, and which choices do not go together."""

from dataclasses import dataclass

from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.leaderboard import Anchor, Board
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.tally import TiePolicy
from services.runtime.errors import InvalidInput
from services.store.slices import Slice


class InvalidQuestion(InvalidInput):
    """What was asked for does not exist; says which field and why."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


@dataclass(frozen=True, slots=True)
class Options:
    """How to rate.

    Attributes:
        policy: what a tie says.
        bootstrap: how resamples are drawn.
        intervals: from resamples or from standard errors.
        level: of the intervals, in (0, 1).
        resamples: of the bootstrap.
        anchor: the system whose rating is fixed; None for a mean of 1000.

    Raises:
        InvalidQuestion: sandwich intervals for a policy that models ties.
    """

    policy: TiePolicy = TiePolicy.HALF
    bootstrap: Bootstrap = Bootstrap.BAYESIAN
    intervals: Intervals = Intervals.BOOTSTRAP
    level: float = 0.95
    resamples: int = 1000
    anchor: Anchor | None = None

    def __post_init__(self) -> None:
        if self.intervals is Intervals.SANDWICH and self.policy.models_ties:
            why = f"sandwich is for ties counted half or dropped, not for {self.policy.value}"
            raise InvalidQuestion("intervals", why)


@dataclass(frozen=True, slots=True)
class Method:
    """How ratings were made; the message of the same name.

    Attributes:
        tie_parameter: ν of Davidson, κ of Rao and Kupper.
        bootstrap: None for sandwich intervals.
        resamples: 0 likewise.
        unranked_resamples: those of them that could not be ranked.
    """

    tie_policy: TiePolicy
    tie_parameter: float | None
    bootstrap: Bootstrap | None
    intervals: Intervals
    level: float
    resamples: int
    unranked_resamples: int
    anchor: Anchor | None
    slice: Slice


def method_of(options: Options, board: Board, among: Slice) -> Method:
    """How a board was made."""
    drawn = options.intervals is Intervals.BOOTSTRAP
    return Method(
        tie_policy=board.policy,
        tie_parameter=board.tie_parameter,
        bootstrap=board.bootstrap if drawn else None,
        intervals=options.intervals,
        level=board.level,
        resamples=board.resamples if drawn else 0,
        unranked_resamples=board.unranked,
        anchor=board.anchor,
        slice=among,
    )
