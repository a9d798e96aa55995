"""Whether a kind of votes can rate the systems."""

from enum import StrEnum


class EstimateState(StrEnum):
    """Whether one kind of votes rates the systems, or why not. The values are those of the API."""

    RATED = "rated"
    EMPTY = "empty"
    NOBODY_RANKED = "nobody_ranked"
    TOO_FEW_VOTES = "too_few_votes"
    NOT_LINKED = "not_linked"
    ALL_TIED = "all_tied"
    NO_FINITE_SOLUTION = "no_finite_solution"
    TOO_MANY_BATTLES = "too_many_battles"

    @property
    def words(self) -> str:
        """The state of the combined rating as a sentence."""
        return _WORDS[self]


_WORDS = {
    EstimateState.RATED: "The combined rating is right if people voted on a random part of the battles.",
    EstimateState.EMPTY: "No battle has an automatic vote.",
    EstimateState.NOBODY_RANKED: "The automatic votes link no two systems in both directions.",
    EstimateState.TOO_FEW_VOTES: "Fewer than two battles have both a human and an automatic vote.",
    EstimateState.NOT_LINKED: "Human votes link too few systems, and automatic votes add nothing to them.",
    EstimateState.ALL_TIED: "The votes never disagree, so they contain no information about chance.",
    EstimateState.NO_FINITE_SOLUTION: "The human votes correct the automatic ones beyond any finite rating.",
    EstimateState.TOO_MANY_BATTLES: "There are too many battles to combine at once; filter them.",
}
