"""Battles: identity by content, sides, and what is carried on."""

from dataclasses import replace

from services.core.battle import Answer, Battle, Side, Source
from tests import samples


def test_the_id_is_no_part_of_the_content_and_everything_else_is() -> None:
    battle = samples.battle(urls_a=["u"])
    changed = [
        replace(battle, arena="other"),
        replace(battle, query="Why?"),
        replace(battle, language="de"),
        replace(battle, tags=("x",)),
        replace(battle, a=battle.b, b=battle.a),
        replace(battle, a=replace(battle.a, sources=(Source("u", text=""),))),
    ]
    assert replace(battle, id="other").content_hash() == battle.content_hash()
    assert len({battle.content_hash(), *(other.content_hash() for other in changed)}) == 7


def test_a_page_is_cited_by_the_sides_that_name_it() -> None:
    battle = samples.battle(urls_a=["x", "y"], urls_b=["y"])
    assert battle.sides_citing("x") == (Side.A,)
    assert battle.sides_citing("y") == (Side.A, Side.B)
    assert battle.sides_citing("z") == ()


def test_page_texts_stay_behind_and_nothing_else() -> None:
    source = Source("u", "title", "long text")
    battle = Battle("b", "x", "q", Answer("m", "t", (source,)), Answer("n", "u"))
    light = battle.without_source_texts()
    assert light.a.sources == (Source("u", "title", None),)
    assert replace(light, a=battle.a) == battle


def test_each_side_has_its_answer_and_an_opponent() -> None:
    battle = samples.battle()
    assert (battle.answer(Side.A).system, battle.answer(Side.B).system) == ("left", "right")
    assert (Side.A.other, Side.B.other) == (Side.B, Side.A)
