"""What counters must be, as queries over the rows that they count."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    FromClause,
    Select,
    String,
    Table,
    and_,
    case,
    func,
    literal,
    select,
    true,
    union_all,
)

from nuggetstream.domain.lens import JUDGED, Lens
from services.store.outcomes.consensus import common_rows
from services.store.outcomes.counters import LENS_PAIRS
from services.store.outcomes.doubts import counted_doubts, doubts
from services.store.outcomes.facets import DETECTED, EVALUATOR
from services.store.outcomes.judge_biases import counted_judges, judge_counters
from services.store.outcomes.label_agreement import counted_labels
from services.store.outcomes.label_tables import label_counters
from services.store.outcomes.outcome_rows import cells_of_outcome, source_number, utc_text
from services.store.outcomes.slices import unfolded
from services.store.spend.spend import BOOKED, WHOLE_DAY
from services.store.tables import (
    JOINT_COLUMNS,
    battle_counters,
    battles,
    joint_counters,
    lens_counters,
    outcomes,
    pair_counters,
    spend_counters,
)

Query = Select[Any] | CompoundSelect[Any]


def _facets(*, sqlite: bool) -> Query:
    """(battle, arena, kind, value) of every facet of every battle but that of all battles."""
    battle = battles.c.id.label("battle_id"), battles.c.arena
    month, day = (utc_text(battles.c.received_at, length, sqlite=sqlite) for length in (7, 10))
    tags = unfolded(battles.c.tags, sqlite=sqlite)
    return union_all(
        select(*battle, _word("language"), battles.c.language.label("value")).where(
            battles.c.language.is_not(None)
        ),
        select(*battle, _word("month"), func.replace(month, "-", "", type_=String).label("value")),
        select(*battle, _word("day"), func.replace(day, "-", "", type_=String).label("value")),
        select(*battle, _word("tag"), tags.c.value.label("value"))
        .select_from(battles.join(tags, true()))
        .distinct(),
    )


def _word(kind: str) -> Any:
    return literal(kind, String).label("kind")


def _battles(*, sqlite: bool) -> Query:
    facets = _facets(sqlite=sqlite).subquery()
    one = literal(1).label("battles")
    everything = select(battles.c.arena, _word("all"), literal("", String).label("value"), one)
    detected = select(battles.c.arena, _word(DETECTED), battles.c.language.label("value"), one)
    detected = detected.where(battles.c.language_confidence.is_not(None))
    of_facets = select(facets.c.arena, facets.c.kind, facets.c.value, one)
    return union_all(everything, of_facets, detected)


def _per_judge(*columns: Any) -> Select[Any]:
    """A row for every verdict, in the facet of its judge."""
    evaluator = func.substr(outcomes.c.source, func.length(outcomes.c.lens) + 2, type_=String)
    query = select(*columns, _word(EVALUATOR), evaluator.label("value"))
    return query.where(outcomes.c.lens.in_(JUDGED))


def _per_facet(columns: Sequence[Any], source: Any, verdicts: Select[Any], *, sqlite: bool) -> Query:
    """Rows of the source for all battles and for each other facet of their battles, and the verdicts."""
    facets = _facets(sqlite=sqlite).subquery()
    everything = select(*columns, _word("all"), literal("", String).label("value"))
    joined = select(*columns, facets.c.kind, facets.c.value).select_from(
        source.join(facets, facets.c.battle_id == source.c.battle_id)
    )
    return union_all(everything, joined, verdicts)


def _lenses(*, sqlite: bool) -> Query:
    differ = case((outcomes.c.system_a != outcomes.c.system_b, 1), else_=0)
    first = func.max(differ)
    has_probability = (outcomes.c.probability_a.is_not(None)) & (outcomes.c.system_a != outcomes.c.system_b)
    pairs = common_rows().add_columns(func.count().label("outcomes"), first.label("decided")).subquery()
    probable = case((pairs.c.probability_a.is_not(None) & (pairs.c.decided == 1), 1), else_=0)
    battle = (pairs.c.battle_id, pairs.c.arena, pairs.c.lens)
    numbers = (
        func.sum(pairs.c.outcomes).label("outcomes"),
        func.max(pairs.c.decided).label("decided"),
        func.sum(probable).label("probable"),
    )
    source = select(*battle, *numbers).group_by(*battle).subquery()
    columns = (source.c.arena, source.c.lens, source.c.outcomes, source.c.decided, source.c.probable)
    verdicts = _per_judge(
        outcomes.c.arena,
        outcomes.c.lens,
        literal(1).label("outcomes"),
        differ.label("decided"),
        case((has_probability, 1), else_=0).label("probable"),
    )
    return _per_facet(columns, source, verdicts, sqlite=sqlite)


def _pairs(*, sqlite: bool) -> Query:
    common = common_rows().where(outcomes.c.system_a != outcomes.c.system_b).subquery()
    rows = select(common.c.battle_id, *_pair_and_cells(common)).subquery()
    verdicts = _per_judge(*_pair_and_cells(outcomes)).where(outcomes.c.system_a != outcomes.c.system_b)
    columns = [column for column in rows.c if column.name != "battle_id"]
    return _per_facet(columns, rows, verdicts, sqlite=sqlite)


def _pair_and_cells(rows: FromClause) -> list[ColumnElement[Any]]:
    """Arena, lens and systems of outcomes, and what they add to the counter of their pair."""
    return [rows.c.arena, rows.c.lens, rows.c.system_a, rows.c.system_b, *cells_of_outcome(rows)]


def _joints(*, sqlite: bool) -> Query:
    columns = (outcomes.c.arena, outcomes.c.battle_id, outcomes.c.system_a, outcomes.c.system_b)
    numbered = select(*columns, outcomes.c.lens, outcomes.c.winner, source_number(sqlite=sqlite))
    rows = numbered.where(outcomes.c.system_a != outcomes.c.system_b).subquery()
    battle = (rows.c.arena, rows.c.battle_id, rows.c.system_a, rows.c.system_b)
    queries = []
    for first, second in LENS_PAIRS:
        winners = [func.max(case((rows.c.lens == lens.value, rows.c.winner))) for lens in (first, second)]
        joined_rows = (
            select(*battle, winners[0].label("left"), winners[1].label("right"))
            .where(rows.c.source_number == 1, rows.c.lens.in_([first.value, second.value]))
            .group_by(*battle)
            .subquery()
        )
        cells = [
            _one_where(
                joined_rows.c.left.is_not_distinct_from(left)
                & joined_rows.c.right.is_not_distinct_from(right),
                name,
            )
            for (left, right), name in JOINT_COLUMNS.items()
        ]
        lenses = literal(first.value, String).label("first"), literal(second.value, String).label("second")
        queries.append(
            select(joined_rows.c.arena, *lenses, joined_rows.c.system_a, joined_rows.c.system_b, *cells)
        )
    return union_all(*queries, _joint_verdicts(sqlite=sqlite))


def _joint_verdicts(*, sqlite: bool) -> Select[Any]:
    """A row for every two verdicts about the same battle."""
    one, other = outcomes.alias("one"), outcomes.alias("other")
    sources = (one.c.source, other.c.source) if sqlite else (one.c.source.collate("C"), other.c.source)
    battle = [one.c[name] == other.c[name] for name in ("battle_id", "arena", "system_a", "system_b")]
    cells = [
        _one_where((one.c.winner == left) & (other.c.winner == right), name)
        if left and right
        else literal(0).label(name)
        for (left, right), name in JOINT_COLUMNS.items()
    ]
    query = select(one.c.arena, one.c.source, other.c.source, one.c.system_a, one.c.system_b, *cells)
    return query.join(other, and_(*battle, sources[0] < sources[1])).where(
        one.c.lens == Lens.JUDGE.value,
        other.c.lens == Lens.JUDGE.value,
        one.c.system_a != one.c.system_b,
    )


def _one_where(condition: ColumnElement[bool], name: str) -> ColumnElement[int]:
    return case((condition, 1), else_=0).label(name)


def _booked(**_: bool) -> Query:
    """Every call twice: for its stage, and for its day."""
    of = BOOKED.subquery().c
    whole = {"stage": literal(WHOLE_DAY), "model": literal("")}
    return union_all(BOOKED, select(*(whole.get(column.name, column).label(column.name) for column in of)))


COUNTED: dict[Table, Callable[..., Query]] = {
    battle_counters: _battles,
    lens_counters: _lenses,
    pair_counters: _pairs,
    joint_counters: _joints,
    judge_counters: counted_judges,
    spend_counters: _booked,
    doubts: counted_doubts,
    label_counters: counted_labels,
}

OPEN_KEYS: dict[Table, dict[str, int | str]] = {
    # A booked call of a deleted battle no longer has its arena and key, which the counters keep.
    spend_counters: {"slot": 0, "arena": "", "key_name": ""},
}
"""Keys that the rows lack: counters are compared in sum over them, corrected where they are this."""
