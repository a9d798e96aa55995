"""Boards that count outcomes by their probabilities, and the list of battles that wait for a vote."""

from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleJudged
from nuggetstream.domain.judgment import Judgment, OrderedVerdict, VoteProbabilities
from nuggetstream.domain.nugget import Support, SupportProbabilities
from services.store.outcomes.probabilities import Probabilities
from services.store.outcomes.stated_outcomes import outcomes_of
from tests import samples
from tests.integration.gateway.world import NOW, Story, World, between
from tests.samples import NOON

SURE = VoteProbabilities(a=0.9, b=0.05, tie=0.05)
ARENA = between("x", "y", 0).arena
UNSURE = VoteProbabilities(a=0.5, b=0.4, tie=0.1)


def decided(story: Story, told: VoteProbabilities | None) -> BattleJudged:
    verdict = OrderedVerdict(Side.A, Vote.A, None, told)
    return replace(story.judged(), judgment=Judgment("pairwise", Vote.A, None, (verdict,), "m", "1"))


async def play(world: World) -> None:
    """x beats y for sure, y beats z and z beats x perhaps; a verdict on x and z has no probabilities."""
    told = [("x", "y", SURE), ("y", "z", UNSURE), ("z", "x", UNSURE), ("x", "z", None)]
    for number, (one, other, probabilities) in enumerate(told):
        story = Story(between(one, other, number))
        await world.gateway.battles.accept(story.battle, b"", NOW)
        await world.recorder(decided(story, probabilities))


async def test_a_board_counts_outcomes_by_their_probabilities_if_asked(world: World) -> None:
    await play(world)
    expected = (await world.http.get(f"/v1/leaderboard?arena={ARENA}&lens=judge&expected=true")).json()[0]
    plain = (await world.http.get(f"/v1/leaderboard?arena={ARENA}&lens=judge")).json()[0]
    records = {each["system"]: (each["wins"], each["losses"], each["ties"]) for each in expected["standings"]}
    assert records["x"] == pytest.approx((0.9 + 0.4 + 1, 0.05 + 0.5, 0.05 + 0.1))
    assert (expected["probable"], expected["outcomes"], plain["probable"]) == (3, 4, None)
    assert expected["method"]["slice"]["expected"] is True
    ratings = [{each["system"]: each["rating"] for each in board["standings"]} for board in (expected, plain)]
    assert ratings[0] != ratings[1]
    human = (await world.http.get(f"/v1/leaderboard?arena={ARENA}&lens=human&expected=true")).json()[0]
    assert human["probable"] is None
    page = (await world.http.get(f"/leaderboard?arena={ARENA}&expected=true")).text
    assert "3 of 4 outcomes count by their probabilities, the others as decided." in page


@pytest.mark.parametrize("path", ["leaderboard", "leaderboard/pairs", "leaderboard/timeline"])
async def test_whole_battles_cannot_be_drawn_from_expected_outcomes(world: World, path: str) -> None:
    answer = await world.http.get(f"/v1/{path}?lens=judge&expected=true&bootstrap=multinomial")
    assert answer.status_code == 422
    assert "bootstrap: multinomial draws whole battles" in answer.text
    assert (await world.http.get(f"/v1/{path}?lens=judge&expected=true")).status_code == 200


async def test_people_are_asked_first_where_the_machine_is_unsure(world: World) -> None:
    await play(world)

    async def waiting() -> list[Any]:
        return [(each["id"], each["doubt"]) for each in (await world.http.get(path)).json()]

    path = f"/v1/battles?arena={ARENA}&order=doubt"
    assert await waiting() == [("z-x-2", 0.9), ("y-z-1", 0.9), ("x-y-0", 0.15)]
    await world.recorder(Story(between("y", "z", 1)).voted())
    assert await waiting() == [("z-x-2", 0.9), ("x-y-0", 0.15)]
    assert all(each["doubt"] is None for each in (await world.http.get("/v1/battles")).json())
    refused = await world.http.get("/v1/battles?order=doubt")
    assert (refused.status_code, refused.json()["problems"]) == (422, ["arena: is needed with order=doubt"])
    page = (await world.http.get(f"/?arena={ARENA}&order=doubt")).text
    assert page.index("/battles/z-x-2") < page.index("/battles/x-y-0")
    assert "Votes wanted" in page
    assert "90%" in page


def test_an_outcome_has_the_probabilities_of_the_judge_or_of_the_labels() -> None:
    event = decided(Story(between("x", "y", 1)), SURE)
    assert outcomes_of(event, NOON)[0].probabilities == Probabilities(900_000, 50_000)
    assigned = samples.assigned(1, 0, of=1)
    sure = {Support.SUPPORT: (0.8, 0.0, 0.2), Support.NOT_SUPPORT: (0.0, 0.0, 1.0)}
    told = [
        replace(each, probabilities=SupportProbabilities(*sure[each.support]))
        for each in assigned.assignment_set.assignments
    ]
    labelled = replace(assigned, assignment_set=replace(assigned.assignment_set, assignments=tuple(told)))
    assert outcomes_of(labelled, NOON)[0].probabilities == Probabilities(800_000, 0)
    assert outcomes_of(assigned, NOON)[0].probabilities is None
