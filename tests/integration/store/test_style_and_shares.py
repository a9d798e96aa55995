"""What the pages of a system and of style control read, on both databases."""

from dataclasses import replace
from datetime import timedelta

from nuggetstream.domain.battle import Answer, Vote
from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from services.gateway.ratings.style_boards import StyleBoards
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.styled_outcomes import StyledOutcomes
from services.store.outcomes.system_shares import SystemShares
from services.wire.codec import encode
from tests import samples
from tests.samples import NOON
from tests.stored import WrittenOutcomes

TAGS = (("category:art", "seen"), ("category:law",), ("seen",))


async def vote(database: Database, number: int, winner: Vote, pair: tuple[str, str] = ("x", "y")) -> None:
    """A battle on a query of its own, in which A writes as much more as its number says, with a vote."""
    a, b = Answer(pair[0], "word " * (number + 2)), Answer(pair[1], "word")
    battle = replace(
        samples.battle(),
        id=f"b{number}",
        query=f"Query {number}?",
        language="de" if number < 2 else None,
        tags=TAGS[number % 3],
        a=a,
        b=b,
    )
    at = NOON + timedelta(minutes=number)
    body = encode(BattleSubmitted(f"submitted {number}", battle))
    await Battles(database).accept(battle, body, at)
    outcome = Outcome(
        battle_id=battle.id,
        source="human",
        lens=Lens.HUMAN,
        arena=battle.arena,
        system_a=pair[0],
        system_b=pair[1],
        winner=winner,
        margin=None,
        decided_at=at,
    )
    await WrittenOutcomes(database).put(outcome)


async def test_shares_are_of_categories_and_languages_from_both_sides(database: Database) -> None:
    await vote(database, 0, Vote.A)
    await vote(database, 1, Vote.A, ("y", "x"))
    await vote(database, 2, Vote.B)
    await vote(database, 3, Vote.BOTH_BAD)
    shares = SystemShares(database)
    found = await shares.of_system(samples.battle().arena, Lens.HUMAN, "x")
    groups = [(each.kind, each.name, each.wins, each.ties, each.losses) for each in found]
    assert groups == [("language", "de", 1, 0, 1), ("tag", "art", 1, 1, 0), ("tag", "law", 0, 0, 1)]
    assert found[1].share == 0.75
    [largest] = await shares.of_system(samples.battle().arena, Lens.HUMAN, "x", limit=1)
    assert largest.name == "de"
    assert await shares.of_system(samples.battle().arena, Lens.JUDGE, "x") == []


async def test_style_is_measured_from_the_stored_battles_the_newest_first(database: Database) -> None:
    for number in range(12):
        await vote(database, number, Vote.B if number % 3 else Vote.A)
    outcomes = StyledOutcomes(database)
    newest = await outcomes.newest(samples.battle().arena, Lens.HUMAN, 5)
    assert [each.battle_id for each in newest] == ["b11", "b10", "b9", "b8", "b7"]
    assert set(await outcomes.submissions(["b1", "b2", "nobody"])) == {"b1", "b2"}
    board = await StyleBoards(outcomes).of(samples.battle().arena, Lens.HUMAN)
    assert board.note is None
    length = board.effects[0]
    assert (length.feature, length.differs) == ("length", 12)
    assert {line.system for line in board.standings} == {"x", "y"}


async def test_a_period_moves_the_window_and_other_conditions_select_in_it(database: Database) -> None:
    for number in range(9):
        await vote(database, number, Vote.A)

    async def found(window: int, slice_: Slice) -> list[str]:
        outcomes = StyledOutcomes(database, window)
        newest = await outcomes.newest(samples.battle().arena, Lens.HUMAN, 100, slice_)
        return [each.battle_id for each in newest]

    assert await found(3, Slice(until=NOON + timedelta(minutes=6))) == ["b5", "b4", "b3"]
    assert await found(3, Slice(since=NOON + timedelta(minutes=7))) == ["b8", "b7"]
    assert await found(100, Slice(language="de")) == ["b1", "b0"]
    assert await found(3, Slice(language="de")) == []  # none of the newest three
    assert await found(100, Slice(tags=("category:art", "seen"))) == ["b6", "b3", "b0"]
    assert await found(100, Slice(flagged=Flagged.ONLY)) == []
