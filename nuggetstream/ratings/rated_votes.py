"""What `nuggetstream.rate` returns: the ratings of votes with everything that follows from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn, DrawnTable
from nuggetstream.ratings.advice import Advice, advise
from nuggetstream.ratings.board_tables import board_table, pairs_table
from nuggetstream.ratings.combined import Combined, combine
from nuggetstream.ratings.comparison import Pairing
from nuggetstream.ratings.counts import PairCount
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Votes
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.notes import notes_of
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.pairwise import pairings
from nuggetstream.ratings.style import EqualStyle, StyledVotes, at_equal_style


@dataclass(frozen=True, eq=False, repr=False)
class RatedVotes(Ratings, Drawn):
    """Ratings of every system that has a vote, and what can be derived from them. As a table: the board.

    As a figure: the ratings with their intervals.

    Attributes:
        joint: Human and automatic outcomes of the same battles, if they were given.
        styled: Single votes with the style of both answers, if they were given.
        remarks: What a reader must know of how the votes were read, as sentences.
    """

    joint: JointVotes | None = None
    styled: StyledVotes | None = None
    remarks: tuple[str, ...] = ()

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know before reading the numbers."""
        return (*(Note("votes_read", remark) for remark in self.remarks), *notes_of(self))

    @cached_property
    def pairs(self) -> tuple[Pairing, ...]:
        """Every two systems in the order of the standings: battles, share of the points, difference."""
        return pairings(self)

    @cached_property
    def combined(self) -> Combined | None:
        """People's votes and automatic ones in one rating; None unless joint votes were given.

        Raises:
            AnchorNotRanked: The automatic votes do not rank the anchor.
        """
        return None if self.joint is None else combine(self.joint, self.options)

    @cached_property
    def equal_style(self) -> EqualStyle | None:
        """The board at equal style; None unless votes with style were given."""
        return None if self.styled is None else at_equal_style(self.styled, self.options)

    def advice(self, *, power: float = 0.8, count: int = 10) -> Advice:
        """What to ask next, see `advise`."""
        return advise(self, power=power, count=count)

    def table(self) -> DrawnTable:
        """The board: one row per system, in the order of the standings."""
        notes = (note.text for note in self.notes)
        return board_table("Ratings", self.standings, self.options.level, notes)

    def pairs_table(self) -> DrawnTable:
        """Every two systems: battles, share of the points, difference with its interval."""
        return pairs_table("Pairs of systems", self.pairs, self.options.level)


def rate_votes(
    votes: Votes | Tally | Iterable[PairCount],
    options: Options | None = None,
    *,
    joint: JointVotes | None = None,
    styled: StyledVotes | None = None,
    remarks: Iterable[str] = (),
) -> RatedVotes:
    """Rate as `rate`, and keep what else follows from the votes.

    Args:
        votes: What `rate` takes.
        options: How to rate; the defaults when None.
        joint: Human and automatic outcomes of the same battles, for `RatedVotes.combined`.
        styled: The votes with the style of both answers, for `RatedVotes.equal_style`.
        remarks: What a reader must know of how the votes were read.
    """
    rated = rate(votes, options)
    return RatedVotes(**vars(rated), joint=joint, styled=styled, remarks=tuple(remarks))
