"""The page and the API say how the evidence was found."""

from dataclasses import replace

from nuggetstream.files.evaluated import BattleRow
from tests.integration.gateway.world import GONE, TIDES, Story, World, battle


async def test_the_page_says_what_else_was_searched_for(world: World) -> None:
    story = Story(battle())
    event = replace(story.retrieved(), variations=("spring <tide>", "moon"))
    await world.happens(story.submitted(), event)
    page = (await world.http.get("/battles/tides")).text
    assert "spring &lt;tide&gt;" in page
    body = (await world.http.get("/v1/battles/tides")).json()
    assert body["retrieval"] == {
        "ranking": event.ranking,
        "variations": ["spring <tide>", "moon"],
    }


async def test_a_battle_without_variations_says_nothing_of_them(world: World) -> None:
    story = Story(battle())
    await world.happens(story.submitted())
    assert (await world.http.get("/v1/battles/tides")).json()["retrieval"] is None
    await world.happens(story.retrieved())
    page = (await world.http.get("/battles/tides")).text
    assert "Also searched for" not in page


async def test_the_page_says_which_passages_the_embedding_model_read_in_part(world: World) -> None:
    story = Story(battle())
    event = story.retrieved()
    first, *others = event.evidence
    cut = replace(first, read_share=0.625)
    await world.happens(*story.told()[:3], replace(event, evidence=(cut, *others)))
    body = (await world.http.get("/v1/battles/tides")).json()
    assert [chunk["read_share"] for chunk in body["evidence"]] == [0.625, *(None for _ in others)]
    shown = {source["url"]: source["partly_read"] for source in body["a"]["sources"]}
    assert shown == {TIDES: 1, GONE: 0}
    page = (await world.http.get("/battles/tides")).text
    sentence = (
        "The embedding model read the first 62% of this passage; the rest was searched by its words alone."
    )
    assert page.count(sentence) == 1
    assert page.count("1 chunk used, 1 read in part") == 1
    row = BattleRow.model_validate(body | {"reference": {}})
    assert [source.partly_read for source in row.a.sources] == [1, 0]
