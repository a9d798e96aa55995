"""The common outcome of all judges of a battle, so that a battle counts once however many judges read it.

    one judge        its verdict
    several judges   the verdict of more than half of them, else a tie

Probabilities of the common outcome are the mean over the judges, and unknown unless every judge tells them.
The same rule is written for Python, which changes counters, and for SQL, which reads rows and proves the
counters.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, case, func, null, select

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.human_vote import common_vote
from nuggetstream.domain.lens import Lens
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.probabilities import Probabilities
from services.store.tables import OUTCOME_COLUMNS, outcomes

_KEYS = ("battle_id", "arena", "lens", "system_a", "system_b")


def common_outcomes(stored: Iterable[Outcome]) -> list[Outcome]:
    """One outcome per battle, arena, lens and pair of systems, under the first source by name.

    Args:
        stored: Outcomes, of any number of sources per battle.
    """
    groups: dict[tuple[str, str, Lens, str, str], list[Outcome]] = defaultdict(list)
    for outcome in stored:
        groups[outcome.battle_id, outcome.arena, outcome.lens, outcome.system_a, outcome.system_b].append(
            outcome
        )
    return [group[0] if len(group) == 1 else _common(group) for group in groups.values()]


def _common(group: list[Outcome]) -> Outcome:
    probabilities = [outcome.probabilities for outcome in group if outcome.probabilities is not None]
    mean = None
    if len(probabilities) == len(group):
        mean = Probabilities(
            sum(p.a for p in probabilities) // len(probabilities),
            sum(p.b for p in probabilities) // len(probabilities),
        )
    first = min(group, key=lambda outcome: outcome.source)
    return replace(first, winner=common_vote(outcome.winner for outcome in group), probabilities=mean)


def common_rows(rows: FromClause = outcomes) -> Select[Any]:
    """The same outcomes as a query, whose columns are named as those of `outcomes`; it can be restricted.

    Args:
        rows: The rows to read, with the columns of `outcomes`.
    """
    column, judges = rows.c, func.count()
    counts: dict[str, ColumnElement[int]] = {
        name: func.sum(case((column.winner == name, 1), else_=0)) for name in OUTCOME_COLUMNS
    }
    majority = case(*((2 * counts[name] > judges, name) for name in OUTCOME_COLUMNS), else_=Vote.TIE.value)
    all_known = func.count(column.probability_a) == judges
    means = (
        case((all_known, func.sum(column[name]) // judges), else_=null()).label(name)
        for name in ("probability_a", "probability_b")
    )
    keys = [column[name] for name in _KEYS]
    return select(*keys, majority.label("winner"), *means).group_by(*keys)
