"""How far a battle has come, over the two branches of its evaluation: nuggets and judge."""

from collections.abc import Iterable
from enum import StrEnum


class BattleState(StrEnum):
    """How far a battle has come, over its two branches (nuggets and judge)."""

    RUNNING = "running"
    SCORED = "scored"  # nuggets assigned and a verdict given, by every judge
    PARTIAL = "partial"  # one of the two failed, or one of several judges
    FAILED = "failed"  # both failed


class Branch(StrEnum):
    """State of one branch of the flow."""

    PENDING = "pending"
    DONE = "done"
    PARTIAL = "partial"  # some judges gave a verdict, and others failed
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


def branch_of(judges: Iterable[Branch]) -> Branch:
    """The state of the judge branch from the states of all judges, at least one.

    >>> branch_of([Branch.DONE, Branch.PENDING]).value, branch_of([Branch.DONE, Branch.FAILED]).value
    ('pending', 'partial')
    """
    states = set(judges)
    if Branch.PENDING in states:
        return Branch.PENDING
    return states.pop() if len(states) == 1 else Branch.PARTIAL
