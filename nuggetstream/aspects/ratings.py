"""Ratings of one answer: means over human raters, or one rating by a judge model."""

from dataclasses import dataclass

from nuggetstream.aspects.weights import AspectRating


@dataclass(frozen=True, slots=True)
class HumanMeans:
    """One answer, averaged over its human raters.

    Attributes:
        aspects: Mean factuality, mean |amount|, mean |formality|. The distance from "just right" is taken
            per rater: one rater's "too much" and another's "too little" do not cancel out.
        acceptability: Mean acceptability, 0..3.
        raters: Number of raters.
    """

    aspects: AspectRating
    acceptability: float
    raters: int


@dataclass(frozen=True, slots=True)
class ModelRating:
    """One answer by a judge model.

    Attributes:
        aspects: Factuality, amount of information and formality.
        overall: Overall acceptability, 0..3.
    """

    aspects: AspectRating
    overall: float
