"""The page of inversions: how far the lenses agree, and disagreements by reason."""

import re
from dataclasses import replace

from nuggetstream.domain.battle import Battle, Side, Vote
from nuggetstream.domain.event import BattleEvent
from nuggetstream.domain.nugget import Support
from tests.integration.gateway.world import LABELS, Story, World, battle

LONG = {"system": "birch", "text": "The Moon pulls the water towards itself. " * 20}

CLEAR = tuple(replace(one, support=Support.NOT_SUPPORT) if one.side is Side.B else one for one in LABELS)


def clear(fought: Battle) -> list[BattleEvent]:
    """All that happens to a battle of which A states far more nuggets than B."""
    story = Story(fought)
    return [*story.told()[:5], story.assigned(CLEAR), story.judged()]


async def test_disagreements_stand_under_the_first_reason_that_holds(world: World) -> None:
    await world.happens(*(s := Story(battle(id="close"))).told(), s.voted(Vote.B))
    flipped = clear(battle(id="flipped"))
    await world.happens(*flipped[:-1], Story(battle(id="flipped")).judged(flipped=True))
    for name, vote, changes in (
        ("longer", Vote.B, {"b": LONG}),
        ("agreed", Vote.A, {}),
        ("other", Vote.TIE, {}),
    ):
        fought = battle(id=name, **changes)
        await world.happens(*clear(fought), Story(fought).voted(vote))
    page = (await world.http.get("/inversions?arena=demo")).text
    section = r'<h2 id="reason-\d+">The (\w+).*?</section>'
    parts = {found[1]: found[0] for found in re.finditer(section, page, re.DOTALL)}
    listed = {word: re.findall(r'href="/battles/(\w+)"', text) for word, text in parts.items()}
    assert listed["judge"] == ["flipped"]
    assert listed["preferred"] == ["longer"]
    assert listed["nuggets"] == ["close"]
    assert sorted(re.findall(r'href="/battles/(\w+)"', page)) == [
        "close",
        "flipped",
        "longer",
        "other",
    ]
    rows = re.findall(r"<tr><th scope=\"row\">([^<]+)</th>\s*<td [^>]*>(\d+)</td>", page)
    assert [(names, int(count)) for names, count in rows] == [
        ("Human votes, Nuggets", 4),
        ("Human votes, Judge", 4),
        ("Nuggets, Judge", 5),
    ]


async def test_an_arena_without_disagreements_says_so(world: World) -> None:
    story = Story(battle())
    await world.happens(*story.told(), story.voted(Vote.A))
    assert "No two lenses disagree" in (await world.http.get("/inversions")).text
