"""Every route and every gRPC method: for every role in its own arena and another one, and without a key."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import grpc
import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc, ratings_pb2, ratings_pb2_grpc

from nuggetstream.domain.pipeline import Stage
from services.access.callers import Role
from services.access.keys import NewKey
from services.access.rpc_guard import RpcRule
from services.gateway.access.rules import RULES, Rule, Scope
from services.gateway.battles import grpc_service as arena_service
from services.rater import grpc_service as ratings_service
from services.runtime import rpc
from tests.integration.gateway.access.samples import SAMPLES, Sample, bearer, issued, study, webhook
from tests.integration.gateway.world import Story, World, battle, submission

ARENAS = ("demo", "abroad")  # everything that the samples ask about is in the first


async def prepare(world: World) -> dict[tuple[Role, str], NewKey]:
    """A battle that has ended, one that runs, one that failed, and a key of each role in each arena."""
    for name in ("tides", "running", "failed"):
        await world.http.post("/v1/battles", json=submission(id=name, query=f"About {name}?"))
    told = Story(battle(query="About tides?"))
    await world.happens(*told.told())
    broken = Story(battle(id="failed", query="About failed?"))
    await world.happens(broken.submitted(), broken.failed(Stage.NUGGETIZER), broken.failed(Stage.JUDGE))
    return {
        (role, arena): await issued(world.database, role, arenas=(arena,))
        for role in Role
        for arena in ARENAS
    }


def expected(rule: Rule, sample: Sample, role: Role, arena: str) -> int:
    """The status that docs/access.md gives."""
    if rule.role is None:
        return sample.allowed
    if role not in (rule.role, Role.ADMIN):
        return 403
    if arena == "demo" or rule.scope is Scope.ANYWHERE:
        return sample.allowed
    if (
        rule.scope is Scope.BATTLE
        or "FAILURE" in f"{sample.path}{sample.content!r}"
        or "WEBHOOK" in sample.path
        or "STUDY" in sample.path
    ):
        return 404  # as unknown as what does not exist
    return 403


async def asked(world: World, method: str, sample: Sample, key: NewKey | None, failure: str) -> int:
    path = sample.path.replace("FAILURE", failure)
    if "WEBHOOK" in path:
        path = path.replace("WEBHOOK", await webhook(world.database))
    if "STUDY" in path:
        path = path.replace("STUDY", await study(world.database))
    response = await world.http.request(
        method,
        path,
        params=sample.params,
        json=sample.json,
        content=None if sample.content is None else sample.content.replace(b"FAILURE", failure.encode()),
        headers=sample.headers | bearer(key),
    )
    assert "About tides?" not in response.text or response.status_code == sample.allowed
    return int(response.status_code)


async def test_every_route_answers_every_role_in_its_own_arena_alone(world: World) -> None:
    keys = await prepare(world)
    [failure, *_] = await world.gateway.battles.failures(5)
    admin = keys[Role.ADMIN, "demo"]
    listed = (await world.http.get("/v1/admin/failures", headers=bearer(admin))).json()
    assert {entry["arena"] for entry in listed} == {failure.arena} == {"demo"}
    wrong = {}
    for (method, path), rule in RULES.items():
        sample = SAMPLES[method, path]
        without = await asked(world, method, sample, None, listed[0]["id"])
        if without != (sample.allowed if rule.role is None else 401):
            wrong[method, path, None] = without
        for (role, arena), key in keys.items():
            status = await asked(world, method, sample, key, listed[0]["id"])
            if sample.path.endswith("/retry") and status == 429:
                pytest.fail("the samples are too fast for the pace of administrators")
            if status != expected(rule, sample, role, arena):
                wrong[method, path, role, arena] = status
    assert wrong == {}


async def test_what_names_no_arena_shows_the_callers_arenas_alone(world: World) -> None:
    keys = await prepare(world)
    await world.http.post(
        "/v1/battles",
        json=submission(id="theirs", arena="abroad", query="About theirs?"),
        headers=bearer(keys[Role.SUBMIT, "abroad"]),
    )
    paths = ["/v1/battles", "/v1/failures", "/v1/admin/failures", "/v1/admin/audit", "/", "/leaderboard"]
    paths += ["/leaderboard/timeline"]
    for path in paths:
        mine = await world.http.get(path, headers=bearer(keys[Role.ADMIN, "demo"]))
        theirs = await world.http.get(path, headers=bearer(keys[Role.ADMIN, "abroad"]))
        assert mine.status_code == theirs.status_code == 200, path
        assert "abroad" not in mine.text, path
        assert "demo" not in theirs.text, path
        assert "tides" not in theirs.text, path
    refused = await world.http.post(
        "/v1/admin/battles/delete-expired",
        params={"before": "2020-01-01", "dry_run": "true"},
        headers=bearer(keys[Role.ADMIN, "demo"]),
    )
    assert refused.status_code == 403


async def watch_all(arena: arena_pb2_grpc.ArenaStub, metadata: Any) -> None:
    """Such a stream never ends; this one is rejected after the checks."""
    request = arena_pb2.WatchBattlesRequest(arena="demo", kinds=["nothing"])
    try:
        [_ async for _ in arena.WatchBattles(request, metadata=metadata)]
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.INVALID_ARGUMENT:
            raise


def rpc_calls(
    arena: arena_pb2_grpc.ArenaStub, ratings: ratings_pb2_grpc.RatingsStub, metadata: Any
) -> dict[str, Callable[[], Awaitable[Any]]]:
    """One call of every method, about the arena `demo`."""

    def submitted(name: str) -> Any:
        return arena_pb2.SubmitBattleRequest(
            battle={
                "id": name,
                "arena": "demo",
                "query": "Why?",
                "a": {"system": "x", "text": "One."},
                "b": {"system": "y", "text": "Two."},
            }
        )

    def many() -> Iterator[Any]:
        yield arena_pb2.SubmitBattlesRequest(battle=submitted("many").battle)

    async def submit_many() -> Any:
        [reply] = [reply async for reply in arena.SubmitBattles(many(), metadata=metadata)]
        return reply

    async def watch() -> Any:
        request = arena_pb2.WatchBattleRequest(battle_id="tides")
        return [event async for event in arena.WatchBattle(request, metadata=metadata)]

    vote = arena_pb2.CastVoteRequest(battle_id="tides", vote=1)  # type: ignore[arg-type]
    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "SubmitBattle": lambda: arena.SubmitBattle(submitted("one"), metadata=metadata),
        "SubmitBattles": submit_many,
        "WatchBattle": watch,
        "WatchBattles": partial(watch_all, arena, metadata),
        "CastVote": lambda: arena.CastVote(vote, metadata=metadata),
    }
    for name in ratings_service.RULES:
        request = getattr(ratings_pb2, f"{name}Request")(arena="demo")
        if name in ("GetPairs", "GetAdvice", "GetTimeline"):
            request.lens = ratings_pb2.LENS_HUMAN
        if name == "GetCombined":
            request.automatic = ratings_pb2.LENS_NUGGET
        if name == "GetTimeline":
            request.every = "month"
        calls[name] = partial(getattr(ratings, name), request, metadata=metadata)
    return calls


async def code_of(call: Callable[[], Awaitable[Any]]) -> grpc.StatusCode:
    try:
        reply = await call()
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.INTERNAL and "execute_batch" in (error.details() or ""):
            return await code_of(call)  # the server ended the stream while this client was writing to it
        print(error.code(), error.details())  # shown when the test fails
        return error.code()
    if isinstance(reply, arena_pb2.SubmitBattlesResponse) and reply.error:
        assert "arena" in reply.error
        return grpc.StatusCode.PERMISSION_DENIED
    return grpc.StatusCode.OK


def expected_code(rule: RpcRule, role: Role, arena: str) -> grpc.StatusCode:
    if role not in (rule.role, Role.ADMIN):
        return grpc.StatusCode.PERMISSION_DENIED
    if arena == "demo":
        return grpc.StatusCode.OK
    return grpc.StatusCode.PERMISSION_DENIED if rule.battle is None else grpc.StatusCode.NOT_FOUND


async def test_every_rpc_answers_every_role_in_its_own_arena_alone(world: World) -> None:
    keys = await prepare(world)
    rules = arena_service.RULES | ratings_service.RULES
    wrong = {}
    async with rpc.channel(world.grpc_target) as one, rpc.channel(world.ratings_target) as other:
        stubs = arena_pb2_grpc.ArenaStub(one), ratings_pb2_grpc.RatingsStub(other)
        for (role, arena), key in keys.items():
            metadata = (("authorization", f"Bearer {key.token}"),)
            for name, call in rpc_calls(*stubs, metadata).items():
                code = await code_of(call)
                if code is not expected_code(rules[name], role, arena):
                    wrong[name, role, arena] = code
        for name, call in rpc_calls(*stubs, None).items():
            if (code := await code_of(call)) is not grpc.StatusCode.UNAUTHENTICATED:
                wrong[name, None, None] = code
        forged = (("nuggetstream-internal", "1.2"),)
        assert await code_of(rpc_calls(*stubs, forged)["GetPairs"]) is grpc.StatusCode.UNAUTHENTICATED
    assert wrong == {}
