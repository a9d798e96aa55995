"""Battles that people have not voted on and about which the machine is unsure, so that they are asked first.

    doubt  =  1 - |mean over the machine's outcomes of P(A preferred) - P(B preferred)|,  in millionths

An outcome without known probabilities counts as certain, so two lenses that contradict each other make the
greatest doubt. Rows change in the transaction of the outcomes that they follow from. A battle that somebody
voted on, or about which there is no doubt, has no row.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Select,
    String,
    Table,
    bindparam,
    case,
    delete,
    func,
    select,
)

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import INDEPENDENT, Lens
from services.store.database import Store, replacing
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.probabilities import UNIT
from services.store.tables import metadata, outcomes

doubts = Table(
    "doubts",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("arena", String(200), primary_key=True),
    Column("doubt", BigInteger, nullable=False),  # millionths
    Index(None, "arena", "doubt", "battle_id"),
)
_REMOVE = delete(doubts).where(
    doubts.c.battle_id == bindparam("of_battle"), doubts.c.arena == bindparam("of_arena")
)
_LEAD = {Vote.A: UNIT, Vote.B: -UNIT}


@dataclass(frozen=True, slots=True)
class Doubt:
    """A battle that waits for a vote.

    Attributes:
        battle_id: Id of the battle.
        doubt: How unsure the machine is, in (0, 1]; 1 where it prefers both answers equally.
    """

    battle_id: str
    doubt: float


class Doubts(Store):
    """The table of battles about which the machine is unsure."""

    async def greatest(self, arena: str, limit: int) -> list[Doubt]:
        """The battles of an arena without a vote, the most doubtful first.

        Raises:
            Unavailable: The database does not answer.
        """
        query = select(doubts.c.battle_id, doubts.c.doubt).where(doubts.c.arena == arena, doubts.c.doubt > 0)
        query = query.order_by(doubts.c.doubt.desc(), doubts.c.battle_id.desc()).limit(limit)
        return [Doubt(row.battle_id, row.doubt / UNIT) for row in await self._database.rows(query)]

    async def count(self, arena: str) -> int:
        """Number of battles of an arena that wait for a vote."""
        query = select(func.count()).select_from(doubts).where(doubts.c.arena == arena, doubts.c.doubt > 0)
        return int(await self._database.scalar(query))


def doubt_of(outcomes_of_battle: Iterable[Outcome]) -> int:
    """How unsure the machine is about one battle, in millionths; 0 with a vote, or without any outcome."""
    leads = []
    for outcome in outcomes_of_battle:
        if outcome.lens is Lens.HUMAN:
            return 0
        if outcome.lens not in INDEPENDENT:
            continue
        probabilities = outcome.probabilities
        leads.append(_LEAD.get(outcome.winner, 0) if probabilities is None else probabilities.lead)
    return UNIT - abs(sum(leads)) // len(leads) if leads else 0


def update_doubts(
    connection: Connection,
    before: Mapping[str, Mapping[str, Outcome]],
    after: Mapping[str, Mapping[str, Outcome]],
) -> None:
    """Write the doubt about each battle whose outcomes change it.

    Args:
        connection: Connection in the transaction of the outcomes.
        before: Stored outcomes by battle and source.
        after: Outcomes as they are stored now.
    """
    stored, new = _by_place(before), _by_place(after)
    changed = {
        battle: new.get(battle, 0)
        for battle in stored.keys() | new.keys()
        if new.get(battle, 0) != stored.get(battle, 0)
    }
    gone = [
        {"of_battle": battle[0], "of_arena": battle[1]} for battle in sorted(changed) if not changed[battle]
    ]
    if gone:
        connection.execute(_REMOVE, gone)
    rows = [
        {"battle_id": battle[0], "arena": battle[1], "doubt": changed[battle]}
        for battle in sorted(changed)
        if changed[battle]
    ]
    if rows:
        connection.execute(replacing(connection.dialect.name, doubts), rows)


def _by_place(by_battle: Mapping[str, Mapping[str, Outcome]]) -> dict[tuple[str, str], int]:
    """The doubt by battle and arena."""
    outcomes_of: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for battle_id, by_source in by_battle.items():
        for outcome in by_source.values():
            outcomes_of[battle_id, outcome.arena].append(outcome)
    return {battle: doubt_of(of_place) for battle, of_place in outcomes_of.items()}


def counted_doubts(*, sqlite: bool) -> Select[Any]:  # noqa: ARG001 - the same query on both
    """The doubt about every battle, computed from its outcomes; to check the table against."""
    probability_a = outcomes.c.probability_a
    discrete = case((outcomes.c.winner == "a", UNIT), (outcomes.c.winner == "b", -UNIT), else_=0)
    lead = case((probability_a.is_(None), discrete), else_=probability_a - outcomes.c.probability_b)
    total = func.abs(func.sum(lead), type_=BigInteger)
    doubt = UNIT - total // func.count()
    independent = outcomes.c.lens.in_([lens.value for lens in INDEPENDENT])
    votes = func.sum(case((outcomes.c.lens == Lens.HUMAN.value, 1), else_=0))
    query = select(outcomes.c.battle_id, outcomes.c.arena, doubt.label("doubt"))
    return query.where(independent).group_by(outcomes.c.battle_id, outcomes.c.arena).having(votes == 0)
