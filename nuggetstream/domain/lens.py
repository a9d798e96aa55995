"""The lenses: the kinds of preference from which a leaderboard is computed."""

from enum import StrEnum


class Lens(StrEnum):
    """Whose preferences a board is computed from.

    HUMAN, NUGGET and JUDGE are independent of each other. GUIDED has the verdicts of judges that were shown
    the nuggets and their labels, so it depends on NUGGET. MEMBER has the verdicts of the single members of
    panels, whose common verdict is in JUDGE or GUIDED. GROUNDED has the preferences by those nuggets that a
    source states.
    """

    HUMAN = "human"
    NUGGET = "nugget"
    JUDGE = "judge"
    GUIDED = "guided"
    MEMBER = "member"
    GROUNDED = "grounded"


INDEPENDENT = (Lens.HUMAN, Lens.NUGGET, Lens.JUDGE)
# Lenses whose outcomes have an evaluator: a judge, or a member of a panel.
JUDGED = (Lens.JUDGE, Lens.GUIDED, Lens.MEMBER)


def source_of_judge(evaluator: str, lens: Lens = Lens.JUDGE) -> str:
    """The source of a judge's outcomes.

    >>> source_of_judge("pairwise"), evaluator_of("judge:pairwise"), evaluator_of("human")
    ('judge:pairwise', 'pairwise', None)
    >>> source_of_judge(member_of("pairwise", "gpt-5"), Lens.MEMBER)
    'member:pairwise/gpt-5'
    """
    return f"{lens.value}:{evaluator}"


def evaluator_of(source: str) -> str | None:
    """The judge whose outcomes have a source; None for other sources."""
    lens, colon, evaluator = source.partition(":")
    return evaluator if colon and lens in JUDGED else None


def member_of(panel: str, member: str) -> str:
    """The name of one member of a panel among the judges."""
    return f"{panel}/{member}"
