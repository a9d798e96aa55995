"""A battle counts once on the board of all judges, however many judges read it, on both databases."""

from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens, source_of_judge
from nuggetstream.domain.slice import EVERYTHING, Slice
from nuggetstream.ratings.counts import PairCount
from nuggetstream.views.ratings import BoardView
from services.rater.boards import Boards
from services.store.battles.accepting import NewBattle
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.probabilities import Probabilities
from services.store.outcomes.recount import recount
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes, pair_counts

JUDGES = ("kind", "quick", "strict")
FROM_ROWS = Slice(language="en", tags=("t",))  # several conditions have no counters


def verdict(name: str, judge: str, winner: Vote, told: Probabilities | None = None) -> Outcome:
    return Outcome(
        battle_id=name,
        source=source_of_judge(judge),
        lens=Lens.JUDGE,
        arena="default",
        system_a="left",
        system_b="right",
        winner=winner,
        margin=None,
        decided_at=NOON,
        probabilities=told,
    )


async def accept(database: Database, *names: str) -> None:
    sent = [replace(battle(name), language="en", tags=("t",)) for name in names]
    await Battles(database).accept_all([NewBattle(each, b"") for each in sent], NOON)


async def judged(database: Database, battles: int, judges: tuple[str, ...] = JUDGES) -> None:
    """Battles about whose winner all judges agree; every third has another one."""
    await accept(database, *(f"b{number}" for number in range(battles)))
    for number in range(battles):
        winner = Vote.B if number % 3 == 0 else Vote.A
        await WrittenOutcomes(database).put_all([verdict(f"b{number}", judge, winner) for judge in judges])


async def board(database: Database, slice_: Slice = EVERYTHING) -> BoardView:
    (found,) = await Boards(WrittenOutcomes(database), Battles(database)).get(
        "default", [Lens.JUDGE], slice_=slice_
    )
    return found


async def test_eight_battles_are_too_few_for_a_rank_also_with_three_judges(database: Database) -> None:
    await judged(database, 8)
    found = await board(database)
    assert (found.scored, found.outcomes) == (8, 8)
    assert {(each.rank, each.provisional) for each in found.standings} == {(None, True)}
    (note,) = [note.text for note in found.notes if note.state == "several_judges"]
    assert note == (
        "A battle counts once, with the verdict of more than half of its judges, or else as a tie; "
        "3 judges have verdicts here."
    )


async def test_three_judges_that_agree_give_the_same_board_as_one_of_them(database: Database) -> None:
    await judged(database, 30)
    together, alone = await board(database), await board(database, Slice(evaluator="strict"))
    assert together.standings == alone.standings
    assert together.standings[0].rank == 1
    assert "several_judges" not in [note.state for note in alone.notes]
    assert (await board(database, FROM_ROWS)).standings == together.standings


async def test_more_than_half_of_the_judges_decide(database: Database) -> None:
    said = {
        "b1": (Vote.A, Vote.A, Vote.B),
        "b2": (Vote.A, Vote.B, Vote.TIE),
        "b3": (Vote.B, Vote.B),
        "b4": (Vote.A, Vote.TIE),
        "b5": (Vote.A, Vote.A, Vote.B, Vote.B),
    }
    await accept(database, *said)
    verdicts = [
        verdict(name, f"judge {number}", winner)
        for name, winners in said.items()
        for number, winner in enumerate(winners)
    ]
    await WrittenOutcomes(database).put_all(verdicts)
    counted = [
        PairCount("left", "right", Vote.A, 1),
        PairCount("left", "right", Vote.B, 1),
        PairCount("left", "right", Vote.TIE, 3),
    ]
    assert await pair_counts(database, "default", Lens.JUDGE) == counted
    assert await pair_counts(database, "default", Lens.JUDGE, FROM_ROWS) == counted
    assert set((await recount(database, repair=False)).values()) == {0}


async def test_probabilities_of_a_battle_are_the_mean_of_its_judges(database: Database) -> None:
    sure, unsure = Probabilities(900_000, 100_000), Probabilities(300_000, 200_000)
    outcomes, expected = WrittenOutcomes(database), Slice(expected=True)
    await outcomes.put(verdict("b1", "kind", Vote.A, sure))
    await outcomes.put(verdict("b1", "strict", Vote.TIE, unsure))
    counts = await outcomes.lens_counts("default", Lens.JUDGE, expected)
    assert counts.tally.wins[0, 1] == pytest.approx(0.6)
    assert (counts.outcomes, counts.probable) == (1, 1)
    await outcomes.put(verdict("b1", "quick", Vote.A))  # does not tell, so the majority decides
    counts = await outcomes.lens_counts("default", Lens.JUDGE, expected)
    assert (counts.tally.wins[0, 1], counts.outcomes, counts.probable) == (1, 1, 0)
    alone = await outcomes.lens_counts("default", Lens.JUDGE, replace(expected, evaluator="kind"))
    assert (alone.tally.wins[0, 1], alone.probable) == (0.9, 1)
    assert set((await recount(database, repair=False)).values()) == {0}
