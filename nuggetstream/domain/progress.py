"""How far a battle has come, over the two branches of its evaluation: nuggets and judge."""

from enum import StrEnum


class BattleState(StrEnum):
    """How far a battle has come, over its two branches (nuggets and judge)."""

    RUNNING = "running"
    SCORED = "scored"  # nuggets assigned and a verdict given
    PARTIAL = "partial"  # one of the two failed
    FAILED = "failed"  # both failed


class Branch(StrEnum):
    """State of one branch of the flow."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


def state_of(*branches: Branch) -> BattleState:
    """The branches as one word.

    >>> state_of(Branch.DONE, Branch.FAILED).value, state_of(Branch.FAILED, Branch.PENDING).value
    ('partial', 'running')
    """
    if Branch.PENDING in branches:
        return BattleState.RUNNING
    if set(branches) == {Branch.DONE}:
        return BattleState.SCORED
    return BattleState.FAILED if set(branches) == {Branch.FAILED} else BattleState.PARTIAL
