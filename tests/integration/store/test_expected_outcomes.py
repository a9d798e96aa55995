"""Outcomes that count by their probabilities add up as the rows do, and doubtful battles are listed first."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import JUDGED, Lens, evaluator_of, source_of_judge
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.options import Every
from nuggetstream.ratings.ties import TiePolicy
from services.store.battles.accepting import NewBattle
from services.store.battles.battles import Battles
from services.store.battles.deletion import Deletions
from services.store.database import Database
from services.store.outcomes.doubts import Doubt, Doubts
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.probabilities import UNIT, Probabilities
from services.store.outcomes.recount import recount
from services.store.tables import battles
from tests.integration.store.test_counters import SLICES, Operations
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes

TOLD = {"b1": Probabilities(700_000, 200_000), "b2": Probabilities(480_000, 500_000), "b3": None}


def outcome(name: str, lens: Lens, winner: Vote, told: Probabilities | None = None) -> Outcome:
    source = source_of_judge("pairwise") if lens is Lens.JUDGE else lens.value
    return Outcome(name, source, lens, "default", "x", "y", winner, None, NOON, told)


def of_slice(outcomes: Iterable[Outcome], selection: Slice, lens: Lens) -> list[Outcome]:
    chosen = [
        each
        for each in outcomes
        if each.lens is lens and each.system_a != each.system_b
        if lens not in JUDGED or selection.evaluator in (None, evaluator_of(each.source))
    ]
    groups = defaultdict(list)
    for each in chosen:
        groups[each.battle_id, each.system_a, each.system_b].append(each)
    return [common(group) for group in groups.values()]


def common(group: list[Outcome]) -> Outcome:
    """What the judges of one battle say together: the majority, and the mean of all probabilities."""
    for winner in Vote:
        if sum(each.winner is winner for each in group) > len(group) / 2:
            break
    else:
        winner = Vote.TIE
    told = [each.probabilities for each in group if each.probabilities]
    mean = Probabilities(sum(p.a for p in told) // len(group), sum(p.b for p in told) // len(group))
    return replace(group[0], winner=winner, probabilities=mean if len(told) == len(group) else None)


def wins_of(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], float]:
    """Expected wins, by winner and loser, added up one by one."""
    wins: dict[tuple[str, str], float] = defaultdict(float)
    for each in outcomes:
        told = each.probabilities
        discrete = (float(each.winner is Vote.A), float(each.winner is Vote.B))
        shares = discrete if told is None else (told.a / UNIT, told.b / UNIT)
        wins[each.system_a, each.system_b] += shares[0]
        wins[each.system_b, each.system_a] += shares[1]
    return wins


def holds(row: Any, selection: Slice) -> bool:
    """Whether a battle is in a slice; one that is not stored is only in slices without conditions."""
    since, until = selection.since, selection.until
    if row is None:
        return (selection.language, selection.tags, since, until) == (None, (), None, None)
    return (
        selection.language in (None, row.language)
        and set(selection.tags) <= set(row.tags)
        and (since is None or row.received_at >= since)
        and (until is None or row.received_at < until)
    )


@pytest.mark.parametrize("seed", range(2))
async def test_counters_and_rows_give_the_expected_wins_of_every_slice(database: Database, seed: int) -> None:
    await Operations(database, seed).several(150)
    outcomes, compared = WrittenOutcomes(database), 0
    known = await outcomes.of_battles([f"b{number}" for number in range(8)])
    async with database.reading() as tx:
        rows = {row.id: row for row in await tx.execute(select(battles))}
    for selection in SLICES:
        chosen = [
            each
            for name, stored in known.items()
            for each in stored
            if each.arena == "default" and holds(rows.get(name), selection)
        ]
        for lens in Lens:
            counted = of_slice(chosen, selection, lens)
            expected = wins_of(counted)
            found = await outcomes.lens_counts("default", lens, replace(selection, expected=True))
            tally = found.tally
            for first, winner in enumerate(tally.systems):
                for second, loser in enumerate(tally.systems):
                    assert tally.wins[first, second] == pytest.approx(expected.get((winner, loser), 0.0))
            assert (tally.ties >= 0).all()
            assert tally.points(TiePolicy.HALF).sum() == pytest.approx(len(counted)) == found.outcomes
            probable = sum(each.probabilities is not None for each in counted)
            assert found.probable == (None if lens is Lens.HUMAN else probable)
            compared += probable
    assert compared > 20


@pytest.mark.parametrize("every", Every)
async def test_periods_count_expected_outcomes_too(database: Database, every: Every) -> None:
    stored, outcomes = Battles(database), WrittenOutcomes(database)
    for number, name in enumerate(("b1", "b2", "b3")):
        at = NOON + timedelta(days=40 * (number // 2))
        await stored.accept_all([NewBattle(battle(name), b"")], at)
        await outcomes.put(outcome(name, Lens.JUDGE, Vote.A if number else Vote.B, TOLD[name]))
    for selection in (Slice(), Slice(since=NOON - timedelta(hours=1))):
        dated = await outcomes.dated("default", Lens.JUDGE, replace(selection, expected=True), every)
        assert [tally.wins[0, 1] for _, tally in dated] == pytest.approx([1.18, 1.0])
        assert [tally.wins[1, 0] for _, tally in dated] == pytest.approx([0.7, 0.0])
        assert [tally.ties[0, 1] for _, tally in dated] == pytest.approx([0.12, 0.0])
        discrete = await outcomes.dated("default", Lens.JUDGE, selection, every)
        assert [tally.wins[0, 1] for _, tally in discrete] == [1, 1]


async def test_the_battles_about_which_the_machine_is_most_unsure_are_listed_first(
    database: Database,
) -> None:
    outcomes, doubts = WrittenOutcomes(database), Doubts(database)
    for name, told in TOLD.items():
        await outcomes.put(outcome(name, Lens.JUDGE, Vote.A, told))
    assert await doubts.greatest("default", 9) == [Doubt("b2", 0.98), Doubt("b1", 0.5)]
    await outcomes.put(outcome("b3", Lens.NUGGET, Vote.B))  # two certain outcomes that contradict each other
    await outcomes.put(outcome("b1", Lens.NUGGET, Vote.TIE))
    assert await doubts.greatest("default", 2) == [Doubt("b3", 1.0), Doubt("b2", 0.98)]
    assert await doubts.count("default") == 3
    await outcomes.put(outcome("b3", Lens.HUMAN, Vote.B))
    assert await doubts.greatest("default", 9) == [Doubt("b2", 0.98), Doubt("b1", 0.75)]
    assert await doubts.greatest("other", 9) == []
    assert set((await recount(database, repair=False)).values()) == {0}


async def test_deleting_a_battle_deletes_its_doubt(database: Database) -> None:
    await Battles(database).accept_all([NewBattle(battle("b2"), b"")], NOON)
    await WrittenOutcomes(database).put(outcome("b2", Lens.JUDGE, Vote.A, TOLD["b2"]))
    async with database.transaction() as tx:
        await tx.execute(update(battles).values(ended_at=NOON))
    assert await Doubts(database).count("default") == 1
    await Deletions(database).delete("b2", NOON)
    assert await Doubts(database).count("default") == 0
