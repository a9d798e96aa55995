"""Links from board to board keep which battles count: their language, tags and period."""

import re
from dataclasses import replace
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.judgment import MemberVerdict
from tests.integration.gateway.test_flags import FLAGGED
from tests.integration.gateway.world import Story, World, battle, submission

PERIOD = {"since": ["2020-01-01"], "until": ["2100-01-01"]}
FILTER = {"language": ["en"], "tag": ["category:science", "level:easy"], **PERIOD}
TAGS = FILTER["tag"]
BOARDS = f"/leaderboard?{urlencode({'arena': 'demo', **FILTER}, doseq=True)}"
GROUNDED, ALL_NUGGETS = "On grounded nuggets alone", "On all nuggets"


async def judged(world: World) -> None:
    """Let a battle happen that has a flagged answer, two judges and a member of a panel."""
    changes = {"b": FLAGGED, "tags": TAGS}
    await world.http.post("/v1/battles", json=submission(**changes))
    story = Story(battle(**changes))
    verdict = story.judged()
    member = MemberVerdict(name="x", model="x", winner=Vote.B, flipped=None)
    panel = replace(verdict.judgment, evaluator="strict", members=(member,))
    await world.happens(*story.told()[1:], replace(verdict, key="strict", judgment=panel))


async def links(world: World, path: str) -> dict[str, str]:
    """Where the links of a page lead, by their texts."""
    page = (await world.http.get(path)).text
    found = re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', page, re.DOTALL)
    return {text: link.replace("&amp;", "&") for link, text in found}


async def test_links_to_other_boards_keep_language_tags_and_period(world: World) -> None:
    await judged(world)
    for asked, text, lens, more in (
        ("", GROUNDED, ["grounded"], {}),
        ("&anchor=atlas:1000", GROUNDED, ["grounded"], {}),  # which may not be on that board
        ("&lens=grounded&evaluator=strict", ALL_NUGGETS, ["nugget"], {}),
        ("", "strict", [], {"evaluator": ["strict"]}),
        ("&lens=judge&evaluator=strict", "pairwise", ["judge"], {"evaluator": ["pairwise"]}),
        ("&lens=judge&evaluator=strict", "all together", ["judge"], {}),
        ("", "strict/x", ["member"], {"evaluator": ["strict/x"]}),
        ("&lens=human", "leave out", ["human"], {"flagged": ["exclude"]}),
        ("&lens=human&flagged=exclude", "include", ["human"], {"flagged": ["include"]}),
        ("&lens=human&flagged=only", "count all", ["human"], {"flagged": ["include"]}),
    ):
        link = (await links(world, BOARDS + asked))[text]
        query = parse_qs(urlsplit(link).query)
        assert query.pop("lens", []) == lens, (asked, text)
        assert query == {"arena": ["demo"], **FILTER, **more}, (asked, text)
        assert (await world.http.get(link)).status_code == 200, (asked, text)


async def test_the_list_of_flagged_battles_has_the_language_and_the_tag_of_the_board(world: World) -> None:
    await judged(world)
    link = (await links(world, BOARDS))["1 battle flagged"]
    expected = [("language", "en"), ("arena", "demo"), ("flagged", "true"), ("tag", "category:science")]
    assert parse_qsl(urlsplit(link).query) == expected  # a list has one tag and no period
    listed = await world.http.get(link)
    assert (listed.status_code, "/battles/tides" in listed.text) == (200, True)
    assert "tag" not in parse_qs((await links(world, "/leaderboard?arena=demo"))["1 battle flagged"])
