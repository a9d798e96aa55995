"""The language of a battle that declares none: detected, stored, and named as detected everywhere."""

from nuggetstream.domain.battle import Vote
from tests.integration.gateway.world import Story, World, battle, submission

QUERY = "Warum gibt es zweimal am Tag Flut?"


async def test_a_detected_language_is_named_as_such_in_the_api_on_the_page_and_on_boards(
    world: World,
) -> None:
    for name, sent in (
        ("detected", {"query": QUERY, "language": None}),
        ("declared", {"query": QUERY, "language": "de"}),
        ("short", {"query": "Flut?", "language": None}),
    ):
        await world.http.post("/v1/battles", json=submission(id=name, **sent))
        await world.happens(Story(battle(id=name, **sent)).voted(Vote.A))
    views = {
        name: (await world.http.get(f"/v1/battles/{name}")).json()
        for name in ("detected", "declared", "short")
    }
    found = views["detected"]["detected_language"]
    assert (views["detected"]["language"], found["tag"]) == (None, "de")
    assert 0.6 <= found["confidence"] <= 1
    assert (views["declared"]["language"], views["declared"]["detected_language"]) == ("de", None)
    assert (views["short"]["language"], views["short"]["detected_language"]) == (None, None)

    page = (await world.http.get("/battles/detected")).text
    assert "language detected: de (" in page
    assert '<h1 lang="de"' in page
    assert "language detected" not in (await world.http.get("/battles/declared")).text

    board = (await world.http.get("/v1/leaderboard?arena=demo&language=de&lens=human")).json()[0]
    assert (board["scored"], board["received"]) == (2, 2)
    said = "The language of 1 of 2 battles was detected, not declared."
    assert said in [note["text"] for note in board["notes"]]
    assert said in (await world.http.get("/leaderboard?arena=demo&language=de")).text
    everything = (await world.http.get("/v1/leaderboard?arena=demo&lens=human")).json()[0]
    assert "detected_language" not in str(everything["notes"])
