"""Battles: identity by content, sides, and what is carried on."""

from dataclasses import replace

from nuggetstream.domain.battle import Answer, Battle, Side, Source, Vote
from nuggetstream.domain.event import (
    BattleFailed,
    BattleSubmitted,
    BattleVoted,
    RatingsUpdated,
    arena_of,
    battle_id_of,
)
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from tests import samples
from tests.samples import TURNS


def test_the_id_is_no_part_of_the_content_and_everything_else_is() -> None:
    battle = samples.battle(urls_a=["u"])
    changed = [
        replace(battle, arena="other"),
        replace(battle, query="Why?"),
        replace(battle, language="de"),
        replace(battle, tags=("x",)),
        replace(battle, a=battle.b, b=battle.a),
        replace(battle, a=replace(battle.a, sources=(Source("u", text=""),))),
        replace(battle, conversation=TURNS),
        replace(battle, a=replace(battle.a, conversation=TURNS)),
    ]
    assert replace(battle, id="other").content_hash() == battle.content_hash()
    assert len({battle.content_hash(), *(other.content_hash() for other in changed)}) == 9


def test_the_hash_of_a_battle_of_a_single_turn_is_that_of_versions_without_conversations() -> None:
    stored = "fd04ef65701f04f974206ff958a4fa02"
    assert samples.battle(urls_a=["x"]).content_hash() == stored


def test_a_page_is_cited_by_the_sides_that_name_it() -> None:
    battle = samples.battle(urls_a=["x", "y"], urls_b=["y"])
    assert battle.sides_citing("x") == (Side.A,)
    assert battle.sides_citing("y") == (Side.A, Side.B)
    assert battle.sides_citing("z") == ()


def test_page_texts_stay_behind_and_nothing_else() -> None:
    source, other = Source("u", "title", "long text"), Source("v", "", "another")
    battle = Battle("b", "x", "q", Answer("m", "t", (source,)), Answer("n", "u", (other,)))
    light = battle.without_source_texts()
    assert light.a.sources == (Source("u", "title", None),)
    assert light.b.sources == (Source("v", "", None),)
    assert replace(light, a=battle.a, b=battle.b) == battle


def test_each_side_has_its_answer_and_an_opponent() -> None:
    battle = samples.battle()
    assert (battle.answer(Side.A).system, battle.answer(Side.B).system) == ("left", "right")
    assert (Side.A.other, Side.B.other) == (Side.B, Side.A)


def test_an_event_belongs_to_a_battle_and_an_arena_whether_it_carries_the_battle_or_names_it() -> None:
    battle = replace(samples.battle(), id="own", arena="arena of its own")
    failure = StageFailure(Stage.JUDGE, Reason.DEADLINE, "")
    for event in (
        BattleSubmitted("k", battle),
        BattleVoted("k", "own", "arena of its own", "x", "y", Vote.A, samples.NOON),
        BattleFailed("k", "own", "arena of its own", failure),
    ):
        assert (battle_id_of(event), arena_of(event)) == ("own", "arena of its own")
    assert arena_of(RatingsUpdated("k", "another", 3, samples.NOON)) == "another"


def test_an_absent_title_and_language_leave_the_hash_as_earlier_versions_stored_it() -> None:
    """A battle that is sent again after an update must still be recognised."""
    answers = Answer("s", "A.", (Source("http://a/"),)), Answer("t", "B.")
    battle = Battle("x", "default", "Why?", *answers)
    assert battle.content_hash() == "da4a62c0a6cdec2678fb091904515c85"
