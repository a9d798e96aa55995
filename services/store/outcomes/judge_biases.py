"""Counters of what a judge's verdicts depend on beside the answers, by judge, model and pair of systems.

judge_counters   verdicts whose model is known: how often the order of the answers changed them, how often the
                 longer answer won, and how people and nuggets decide the same battles; and preferences by
                 nuggets, by the model of their labels, from which it is known which models an arena rests on

They change in the transaction of the outcome, as all counters, so reading them costs as much as there are
pairs of systems.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Select,
    String,
    Table,
    and_,
    case,
    literal,
    or_,
    select,
)

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens, source_of_judge
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from services.store.tables import metadata, outcomes

_OWN = ("verdicts", "a", "b", "ordered", "first", "second", "longer", "longer_wins", "twice", "twice_wins")
_JUDGES = (Lens.JUDGE, Lens.GUIDED, Lens.MEMBER)
_REFERENCES = {"people": Lens.HUMAN, "nugget": Lens.NUGGET}
_OF_REFERENCE = ("a", "b", "longer", "longer_wins")
COLUMNS = (*_OWN, *(f"{who}_{name}" for who in _REFERENCES for name in _OF_REFERENCE))

judge_counters = Table(
    "judge_counters",
    metadata,
    Column("arena", String(200), primary_key=True),
    Column("source", String(80), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("system_a", String(200), primary_key=True),
    Column("system_b", String(200), primary_key=True),
    *(Column(name, BigInteger, nullable=False) for name in COLUMNS),
)


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """Counts of one judge and model in battles of two systems.

    Attributes:
        source: Source of the outcomes, such as "judge:pairwise".
        model: Model that judged.
        system_a: Name of the system that wrote answer A.
        system_b: Name of the system that wrote answer B.
        numbers: Counts by column. `verdicts`: all. `a`, `b`: won by A and B. `ordered`: asked in both orders.
            `first`, `second`: changed with the order, in favour of the answer shown first or second.
            `longer`, `twice`: decided with a longer answer, and with one at least twice as long;
            `longer_wins`, `twice_wins`: that answer won. `people_...`, `nugget_...`: the same of human votes
            and of the nuggets, in the battles of these verdicts.
    """

    source: str
    model: str
    system_a: str
    system_b: str
    numbers: Mapping[str, int]


def judge_cells(stored: Iterable[Outcome]) -> list[tuple[tuple[str, str, str, str, str], Counter[str]]]:
    """What the outcomes of one battle add to the counters of its judges."""
    verdicts = [outcome for outcome in stored if outcome.system_a != outcome.system_b]
    cells = []
    for verdict in verdicts:
        if verdict.judge_model is None:
            continue
        pair = (verdict.arena, verdict.system_a, verdict.system_b)
        counts = Counter(_preferences("", verdict.winner, verdict.longer))
        counts["verdicts"] = 1
        counts["ordered"] = int(verdict.favoured is not None)
        counts["first"], counts["second"] = int(verdict.favoured == 1), int(verdict.favoured == -1)
        if abs(verdict.longer or 0) == 2:
            counts["twice"], counts["twice_wins"] = counts["longer"], counts["longer_wins"]
        for who, lens in _REFERENCES.items():
            for outcome in verdicts:
                if (
                    outcome.source == lens.value
                    and (outcome.arena, outcome.system_a, outcome.system_b) == pair
                ):
                    counts.update(_preferences(f"{who}_", outcome.winner, verdict.longer))
        key = (verdict.arena, verdict.source, verdict.judge_model, verdict.system_a, verdict.system_b)
        cells.append((key, counts))
    return cells


def _preferences(prefix: str, winner: Vote, longer: int | None) -> dict[str, int]:
    sign = {Vote.A: 1, Vote.B: -1}.get(winner, 0) * (longer or 0)
    return {
        f"{prefix}a": int(winner is Vote.A),
        f"{prefix}b": int(winner is Vote.B),
        f"{prefix}longer": int(sign != 0),
        f"{prefix}longer_wins": int(sign > 0),
    }


def counted_judges(*, sqlite: bool) -> Select[Any]:  # noqa: ARG001 - the same query on both
    """A row for every verdict with a model, with what it adds to the counters; see `recount.py`."""
    verdict = outcomes.alias("verdict")
    row, keys = verdict.c, [verdict.c[name] for name in ("arena", "source", "system_a", "system_b")]
    source = verdict
    sides = {"": row.winner}
    for who, lens in _REFERENCES.items():
        other = outcomes.alias(who)
        same = [other.c[name] == row[name] for name in ("battle_id", "arena", "system_a", "system_b")]
        source = source.outerjoin(other, and_(*same, other.c.source == lens.value))  # type: ignore[assignment]
        sides[f"{who}_"] = other.c.winner
    cells: dict[str, ColumnElement[int]] = {"verdicts": literal(1)}
    for prefix, winner in sides.items():
        decided, wins = _longer_in(winner, row.longer)
        cells |= {f"{prefix}{side}": _one_if(winner == side) for side in ("a", "b")}
        cells |= {f"{prefix}longer": _one_if(decided), f"{prefix}longer_wins": _one_if(wins)}
    decided, wins = _longer_in(row.winner, row.longer)
    twice = row.longer.in_((-2, 2))
    cells |= {"twice": _one_if(decided & twice), "twice_wins": _one_if(wins & twice)}
    cells |= {"ordered": _one_if(row.favoured.is_not(None))}
    cells |= {"first": _one_if(row.favoured == 1), "second": _one_if(row.favoured == -1)}
    query = select(*keys, row.judge_model.label("model"), *(cells[name].label(name) for name in COLUMNS))
    return query.select_from(source).where(row.judge_model.is_not(None), row.system_a != row.system_b)


def _longer_in(winner: Any, longer: Any) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    decided = winner.in_(("a", "b")) & (longer != 0)
    return decided, ((winner == "a") & (longer > 0)) | ((winner == "b") & (longer < 0))


def _one_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)


async def read_judge_counts(database: Database, arena: str) -> Sequence[JudgeCounts]:
    """The counters of an arena, by judge, model and pair of systems; without those of nuggets."""
    row = judge_counters.c
    is_judge = or_(*(row.source.startswith(source_of_judge("", lens)) for lens in _JUDGES))
    query = select(judge_counters).where(row.arena == arena, row.verdicts > 0, is_judge)
    query = query.order_by(row.source, row.model, row.system_a, row.system_b)
    return [
        JudgeCounts(
            source=counted.source,
            model=counted.model,
            system_a=counted.system_a,
            system_b=counted.system_b,
            numbers={name: counted._mapping[name] for name in COLUMNS},
        )
        for counted in await database.rows(query)
    ]


async def read_models(database: Database, arena: str) -> list[str]:
    """The models of judges and of labels that outcomes of an arena rest on, by name."""
    row = judge_counters.c
    query = select(row.model).distinct().where(row.arena == arena, row.verdicts > 0).order_by(row.model)
    return [row.model for row in await database.rows(query)]
