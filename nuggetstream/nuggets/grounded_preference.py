"""The preference of a battle on those of its nuggets that a source states.

The papers count all nuggets. Beside them stands this preference, on which no claim counts that only an answer
makes or that is disputed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.nugget import Assignment, Grounding, Nugget
from nuggetstream.nuggets.scores import NuggetScores, labels_of, preference, score_answer


@dataclass(frozen=True, slots=True)
class GroundedVerdict:
    """What the grounded nuggets of a battle say.

    Attributes:
        nuggets: The grounded nuggets, at least one.
        scores: Scores per side on these nuggets alone.
        margin: Difference of the All Scores, A minus B, in [-1, 1].
        preference: The preference that follows.
    """

    nuggets: tuple[Nugget, ...]
    scores: Mapping[Side, NuggetScores]
    margin: float
    preference: Vote


def grounded_verdict(
    nuggets: Sequence[Nugget], assignments: Sequence[Assignment], threshold: float
) -> GroundedVerdict | None:
    """The scores and the preference on grounded nuggets alone.

    Args:
        nuggets: All nuggets of the battle.
        assignments: Their labels.
        threshold: Largest |margin| that counts as a tie.

    Returns:
        The verdict; None where no nugget is known to be grounded. That is no tie.

    Raises:
        Unscorable: A grounded nugget has no label for one of the sides.
    """
    grounded = tuple(nugget for nugget in nuggets if nugget.grounding is Grounding.GROUNDED)
    if not grounded:
        return None
    scores = {side: score_answer(grounded, labels_of(assignments, side)) for side in Side}
    margin = scores[Side.A].all_score - scores[Side.B].all_score
    return GroundedVerdict(grounded, scores, margin, preference(margin, 0.0, threshold))
