"""A battle with two nuggetizers, as clients and people see it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from nuggetstream.domain.event import (
    BattleAssigned,
    BattleEvent,
    BattleFailed,
    BattleNuggetized,
    Event,
    nuggetizer_of,
)
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from nuggetstream.domain.nugget import Correction, ModelLabel, Support, SupportProbabilities
from nuggetstream.domain.progress import BattleState
from services.gateway.battles.reruns import rerun_events
from services.recorder.reconciler import reconciler
from services.recorder.stage import Recorder
from services.runtime.bus import ensure
from services.store.battles import Battles
from services.wire import topology
from tests.integration.gateway.world import Story, World, battle, submission

E = TypeVar("E", BattleNuggetized, BattleAssigned)


def of(name: str, event: E) -> E:
    listed = replace(event.nugget_list, nuggetizer=name, additional=name != "first", model=f"model of {name}")
    return replace(event, key=f"{event.key} {name}", nugget_list=listed)


async def test_the_lists_and_failures_of_two_nuggetizers_are_told_apart(world: World) -> None:
    battles = Battles(world.database, nuggetizers=("first", "second"))
    recorder, story = Recorder(battles, world.bus.core_publish), Story(battle())
    await world.http.post("/v1/battles", json=submission())
    told = [each for each in story.told() if not isinstance(each, BattleNuggetized | BattleAssigned)]
    for event in [*told, of("first", story.nuggetized()), of("first", story.assigned())]:
        await recorder(event)

    async def seen() -> dict[str, object]:
        view = (await world.http.get("/v1/battles/tides")).json()
        lists = {other["nuggetizer"]: other["verdict"] is not None for other in view["other_lists"]}
        failures = [(failure["stage"], failure["evaluator"]) for failure in view["failures"]]
        return {"state": view["state"], "first": view["nuggetizer"], "lists": lists, "failures": failures}

    assert await seen() == {"state": "running", "first": "first", "lists": {}, "failures": []}
    first = (await world.http.get("/v1/battles/tides")).json()

    await recorder(of("second", story.nuggetized()))
    refused = StageFailure(Stage.ASSIGNER, Reason.LLM_REFUSED, "It declined.", evaluator="second")
    await recorder(BattleFailed("second failed", "tides", story.battle.arena, refused))
    assert await seen() == {
        "state": "partial",
        "first": "first",
        "lists": {"second": False},
        "failures": [("assigner", "second")],
    }

    await recorder(of("second", story.assigned()))
    assert await seen() == {"state": "scored", "first": "first", "lists": {"second": True}, "failures": []}
    now = (await world.http.get("/v1/battles/tides")).json()
    for part in ("nuggets", "nugget_verdict", "explanation", "nugget_history"):  # rest on the first list
        assert now[part] == first[part]
    page = (await world.http.get("/battles/tides")).text
    assert 'Nuggetizer <strong dir="auto">second</strong>' in page
    assert 'by <span dir="auto">model of second</span>' in page
    assert page.count('id="nugget-1"') == 1


async def test_the_other_list_shows_how_sure_the_model_is_and_what_people_set(world: World) -> None:
    story = Story(battle())
    first, assigned = story.nuggetized(), of("second", story.assigned())
    nuggets = tuple(replace(nugget, vital_probability=0.8) for nugget in assigned.nugget_list.nuggets)
    shares = SupportProbabilities(support=0.7, partial_support=0.2, not_support=0.1)
    set_by = Correction("Ada", "Read again.", ModelLabel(Support.PARTIAL_SUPPORT))
    labels = tuple(
        replace(label, correction=set_by) if number == 0 else replace(label, probabilities=shares)
        for number, label in enumerate(assigned.assignment_set.assignments)
    )
    assigned = replace(
        assigned,
        nugget_list=replace(assigned.nugget_list, nuggets=nuggets),
        assignment_set=replace(assigned.assignment_set, assignments=labels),
    )
    await world.happens(*story.told()[:4], of("first", first), of("first", story.assigned()), assigned)
    page = (await world.http.get("/battles/tides")).text
    listed = page[page.index('id="list-1"') :]
    assert "states it 0.70, in part 0.20, does not state it 0.10" in listed
    assert (
        listed.count("set by <bdi>Ada</bdi>: <bdi>Read again.</bdi>; the model said “states it in part”") == 1
    )
    assert "Probability that it is vital: 0.80" in listed
    assert "% sure" not in page[: page.index('id="list-1"')]


async def test_the_board_of_nuggets_counts_the_first_list_and_leads_to_the_other(world: World) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*story.told(), of("second", story.nuggetized()), of("second", story.assigned()))
    arena = story.battle.arena
    boards = (await world.http.get(f"/v1/leaderboard?arena={arena}&lens=nugget&lens=other_nugget")).json()
    nugget, other = boards
    assert (nugget["outcomes"], other["outcomes"]) == (1, 1)
    assert (nugget["evaluators"], other["evaluators"]) == ([], ["second"])
    page = (await world.http.get(f"/leaderboard?arena={arena}")).text
    link = f"/leaderboard?arena={arena}&amp;lens=other_nugget&amp;evaluator=second"
    assert f'href="{link}"' in page
    assert "Other nugget lists" not in page
    page = (await world.http.get(link.replace("&amp;", "&"))).text
    assert "Other nugget lists" in page
    assert 'The nuggetizer <strong dir="auto">second</strong>' in page


async def recorded(world: World, *happened: BattleEvent) -> Battles:
    """A battle of two nuggetizers, of which these events are recorded and the stream is lost."""
    battles = Battles(world.database, nuggetizers=("first", "second"))
    recorder, story = Recorder(battles, world.bus.core_publish), Story(battle())
    await world.http.post("/v1/battles", json=submission())
    for event in (*story.told()[:4], story.judged(), *happened):
        await recorder(event)
    await world.bus.js.delete_stream("ARENA")
    await ensure(world.bus.js, topology.streams(), topology.consumers())
    return battles


def named(events: list[Event]) -> list[tuple[str, str | None]]:
    return sorted(
        (type(event).__name__, nuggetizer_of(event)) for event in events if isinstance(event, BattleEvent)
    )


async def test_a_lost_stream_runs_the_nuggetizer_without_a_list_and_labels_the_other_list(
    world: World,
) -> None:
    story = Story(battle())
    await recorded(world, of("first", story.nuggetized()))
    names = ("first", "second")
    reconciling = reconciler(world.bus, world.database, world.blobs, quiet_after=900.0, nuggetizers=names)
    assert await reconciling.reconcile(datetime.now(UTC) + timedelta(minutes=20)) == 1
    assert named(await world.published()) == [
        ("BattleNuggetized", "first"),
        ("BattleRetrieved", None),
    ]


async def test_a_rerun_after_failed_labels_publishes_the_lists_of_all_nuggetizers(world: World) -> None:
    story = Story(battle())
    declined = StageFailure(Stage.ASSIGNER, Reason.LLM_REFUSED, "It declined.", evaluator="second")
    first, second = (of(name, story.nuggetized()) for name in ("first", "second"))
    failed = BattleFailed("second failed", "tides", story.battle.arena, declined)
    battles = await recorded(world, first, second, of("first", story.assigned()), failed)
    events = await rerun_events(battles, "tides")
    assert named(events) == [
        ("BattleNuggetized", "first"),
        ("BattleNuggetized", "second"),
        ("BattleRetrieved", None),
    ]
    assert await rerun_events(battles, "tides") == events  # asked twice, it is one run
    assert {event.key for event in events}.isdisjoint({first.key, second.key, story.retrieved().key})
    recorder = Recorder(battles, world.bus.core_publish)
    await recorder(replace(of("second", story.assigned()), key="of the second run"))
    row = await battles.get("tides")
    assert row is not None
    assert row.state is BattleState.SCORED  # what the first had done counts
