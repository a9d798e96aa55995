"""Battles by filters and page by page, on both databases."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.progress import BattleState
from services.store.battles.accepting import NewBattle
from services.store.battles.battle_search import BattleFilter, BattleSearch
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes

QUERIES = ("Why is the sky blue?", "Über Wolken 100%", "WHY do clouds float?")


async def receive(database: Database) -> None:
    """Battles b0 to b5, one a minute; two queries each, b4 and b5 of another arena."""
    for number in range(6):
        sample = battle(f"b{number}")
        sent = replace(
            sample,
            arena="other" if number > 3 else "default",
            query=QUERIES[number % 3],
            language="de" if number % 3 == 1 else "en",
            tags=("category:sky",) if number % 2 else (),
            a=replace(sample.a, system="left" if number < 3 else "third"),
        )
        await Battles(database).accept(sent, b"", NOON + timedelta(minutes=number), flagged=number == 2)


async def ids(database: Database, selection: BattleFilter) -> Sequence[str]:
    return [row.id for row in (await BattleSearch(database).page(selection, 10)).rows]


@pytest.mark.parametrize(
    ("selection", "found"),
    [
        (BattleFilter(), "543210"),
        (BattleFilter("default"), "3210"),
        (BattleFilter(text="why"), "5320"),
        (BattleFilter(text="WHY blue"), "30"),
        (BattleFilter(text="über"), "41"),
        (BattleFilter(text="100%"), "41"),
        (BattleFilter(text="%"), "41"),
        (BattleFilter(text="_"), ""),
        (BattleFilter(systems=("third",)), "543"),
        (BattleFilter("other", systems=("right",)), "54"),
        (BattleFilter(systems=("right", "third")), "543"),
        (BattleFilter(systems=("left", "third")), ""),
        (BattleFilter(tag="category:sky"), "531"),
        (BattleFilter(tag="category:sky", language="de"), "1"),
        (BattleFilter(state=BattleState.RUNNING), "543210"),
        (BattleFilter(state=BattleState.FAILED), ""),
        (BattleFilter(flagged=True), "2"),
        (BattleFilter("nobody"), ""),
    ],
)
async def test_every_condition_of_a_filter_must_hold(
    database: Database, selection: BattleFilter, found: str
) -> None:
    await receive(database)
    assert await ids(database, selection) == [f"b{number}" for number in found]


@pytest.mark.parametrize(
    ("human", "nugget", "judges", "disagree"),
    [
        (Vote.A, Vote.A, (Vote.A,), False),
        (Vote.A, Vote.B, (), True),
        (None, Vote.A, (Vote.TIE,), True),
        (Vote.BOTH_BAD, Vote.TIE, (), False),
        (None, Vote.A, (Vote.A, Vote.B), False),  # of several judges the first by name counts, as in the list
        (None, Vote.B, (Vote.A, Vote.B), True),
        (Vote.A, None, (), False),
    ],
)
async def test_lenses_disagree_where_they_prefer_different_answers(
    database: Database, human: Vote | None, nugget: Vote | None, judges: tuple[Vote, ...], disagree: bool
) -> None:
    await receive(database)
    winners = [("human", Lens.HUMAN, human), ("nugget", Lens.NUGGET, nugget)]
    winners += [(f"judge:{name}", Lens.JUDGE, vote) for name, vote in zip("xy", judges, strict=False)]
    put = [
        Outcome("b0", source, lens, "default", "left", "right", vote, None, NOON)
        for source, lens, vote in winners
        if vote is not None
    ]
    await WrittenOutcomes(database).put_all(put)
    assert await ids(database, BattleFilter(disagreeing=True)) == (["b0"] if disagree else [])


async def test_grounded_nuggets_disagree_in_place_of_all_where_they_lead(database: Database) -> None:
    await receive(database)
    lenses = {"nugget": Lens.NUGGET, "grounded": Lens.GROUNDED, "judge:x": Lens.JUDGE}
    for name, winners in (("b0", (Vote.A, Vote.B, Vote.A)), ("b1", (Vote.B, Vote.A, Vote.A))):
        put = [
            Outcome(name, source, lens, "default", "left", "right", winner, None, NOON)
            for (source, lens), winner in zip(lenses.items(), winners, strict=True)
        ]
        await WrittenOutcomes(database).put_all(put)
    for nuggets, found in ((Lens.NUGGET, "b1"), (Lens.GROUNDED, "b0")):
        assert await ids(database, BattleFilter(disagreeing=True, nuggets=nuggets)) == [found]


async def test_pages_follow_each_other_without_a_gap_even_where_battles_came_at_the_same_time(
    database: Database,
) -> None:
    new = [NewBattle(battle(f"b{number}"), b"") for number in range(7)]
    await Battles(database).accept_all(new[:5], NOON)
    await Battles(database).accept_all(new[5:], NOON + timedelta(minutes=1))
    search, after, found = BattleSearch(database), None, []
    for _ in range(4):
        page = await search.page(BattleFilter("default"), 2, after)
        found += [row.id for row in page.rows]
        after = page.next
    assert found == ["b6", "b5", "b4", "b3", "b2", "b1", "b0"]
    assert after is None


async def test_a_search_reads_a_window_and_goes_on_where_it_ended(database: Database) -> None:
    await receive(database)
    search, after, pages = BattleSearch(database, window=2), None, []
    for _ in range(3):
        page = await search.page(BattleFilter(text="sky"), 10, after)
        pages.append(([row.id for row in page.rows], page.is_cut))
        after = page.next
    # The boundary belongs to the window: others may have been received at the same time.
    assert pages == [(["b3"], True), (["b0"], True), ([], False)]
    assert after is None
