"""Keys over HTTP: when they are needed, until when they are valid, their limits, and the audit log."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc, battle_pb2

from nuggetstream.client import AsyncClient, Forbidden, NotFound, Unauthenticated, Unavailable
from nuggetstream.domain.failure import Reason
from nuggetstream.views.audit import AuditView
from services.access.callers import ANYBODY, Caller, Role, TooMany
from services.access.callers import Unauthenticated as NoKey
from services.access.embed_tokens import caller_of, embed_token
from services.access.exposure import Unprotected, policy_of, require_protection
from services.access.keys import Keys, NewKey, Policy
from services.access.limits import Quotas, Rates
from services.access.signing import is_signed, signature
from services.runtime import rpc
from services.runtime.bus import Bus
from services.runtime.errors import Outage
from services.store.access.api_keys import ApiKeys
from services.store.access.audit_log import AuditLog
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore
from services.wire.convert import to_message
from tests.integration.gateway.access.samples import bearer, issued
from tests.integration.gateway.world import NOW, Story, World, battle, opened, submission

TOKEN = "t" * 24


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.seconds)


def keys_of(database: Database, clock: Clock, policy: Policy | None = None) -> Keys:
    return Keys(ApiKeys(database), policy or Policy(), 10.0, clock, clock.now)


async def test_the_first_key_ends_open_access_and_its_revocation_does_not_bring_it_back(world: World) -> None:
    assert (await world.http.get("/v1/battles")).status_code == 200
    key = await issued(world.database, Role.READ)
    rejected = await world.http.get("/v1/battles")
    assert rejected.status_code == 401
    assert rejected.headers["www-authenticate"].startswith("Bearer")
    assert (await world.http.get("/v1/battles", headers=bearer(key))).status_code == 200
    await ApiKeys(world.database).revoke(key.id, NOW)
    assert (await world.http.get("/v1/battles", headers=bearer(key))).status_code == 401
    assert (await world.http.get("/v1/battles")).status_code == 401


async def test_a_login_ends_after_its_time(record: Database) -> None:
    clock = Clock()
    keys = keys_of(record, clock, Policy(admin_token=TOKEN))
    caller, cookie, until = await keys.log_in(TOKEN)
    clock.seconds = (until - NOW).total_seconds() - 1
    assert (await keys.of_session(cookie)).key_id == caller.key_id
    clock.seconds += 1
    with pytest.raises(NoKey, match="the login has ended"):
        await keys.of_session(cookie)


async def test_the_signature_of_a_service_is_valid_for_five_minutes(record: Database) -> None:
    clock = Clock()
    keys = keys_of(record, clock)
    sent = await signature(keys)
    clock.seconds = 300.0
    assert await is_signed(keys, sent)
    clock.seconds = 301.0
    assert not await is_signed(keys, sent)


async def test_a_token_of_a_frame_expires(record: Database) -> None:
    clock = Clock()
    keys = keys_of(record, clock)
    until = NOW + timedelta(hours=1)
    token = await embed_token(keys, "tides", ANYBODY.key_id, until, may_vote=True)
    clock.seconds = 3599.0
    assert (await caller_of(keys, token, "tides")).frame == "tides"
    clock.seconds = 3600.0
    with pytest.raises(NoKey, match="has expired"):
        await caller_of(keys, token, "tides")


async def test_a_revoked_key_is_rejected_when_what_is_remembered_is_ten_seconds_old(record: Database) -> None:
    clock = Clock()
    keys, key = keys_of(record, clock), await issued(record, Role.READ)
    assert (await keys.of_token(key.token)).key_id == key.id
    await ApiKeys(record).revoke(key.id, NOW)
    clock.seconds = 9.9
    assert (await keys.of_token(key.token)).key_id == key.id
    clock.seconds = 10.0
    with pytest.raises(NoKey):
        await keys.of_token(key.token)


async def test_a_key_expires_and_a_rotated_key_works_until_the_overlap_ends(record: Database) -> None:
    clock, store = Clock(), ApiKeys(record)
    keys, old = keys_of(record, clock), await issued(record, Role.VOTE, expires_at=NOW + timedelta(hours=9))
    made, stored = NewKey.make(), await store.get(old.id)
    assert stored is not None
    await store.rotate(stored, made.hash, made.id, NOW, NOW + timedelta(hours=1))
    assert await keys.of_token(old.token) == replace(await keys.of_token(made.token), key_id=old.id)
    clock.seconds = 3601
    with pytest.raises(NoKey):
        await keys.of_token(old.token)
    assert (await keys.of_token(made.token)).key_id == made.id
    clock.seconds = 9 * 3600
    with pytest.raises(NoKey):
        await keys.of_token(made.token)


@pytest.mark.parametrize(
    "change", [lambda t: t[:-1], lambda t: t.upper(), lambda t: t.split("_")[1], lambda _: ""]
)
async def test_nothing_but_the_whole_key_counts(record: Database, change: object) -> None:
    key = await issued(record, Role.READ)
    with pytest.raises(NoKey):
        await keys_of(record, Clock()).of_token(change(key.token))  # type: ignore[operator]


async def test_only_a_hash_of_a_key_is_stored(record: Database) -> None:
    key = await issued(record, Role.READ)
    stored = await ApiKeys(record).get(key.id)
    assert stored is not None
    assert key.token.split("_", 2)[2] not in str(stored)
    assert stored.hash == key.hash


async def test_while_the_database_is_away_nobody_is_let_in(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await issued(world.database, Role.READ)
    assert world.gateway.access is not None

    async def away(*_: object) -> object:
        raise Outage(Reason.DEADLINE, "the database does not answer")

    for name in ("exist", "get", "session"):
        monkeypatch.setattr(world.gateway.access.keys.store, name, away)
    for headers in (bearer(key), {"cookie": "nuggetstream_session=x"}, {}):
        response = await world.http.get("/v1/battles", headers=headers)
        assert response.status_code == 503, headers
        assert "retry-after" in response.headers
    assert (await world.http.get("/healthz")).status_code == 200


async def test_requests_per_minute_end_in_429_with_the_time_to_wait(world: World) -> None:
    key = await issued(world.database, Role.READ, per_minute=2)
    statuses = [(await world.http.get("/v1/battles", headers=bearer(key))).status_code for _ in range(2)]
    limited = await world.http.get("/v1/battles", headers=bearer(key))
    assert [*statuses, limited.status_code] == [200, 200, 429]
    assert 1 <= int(limited.headers["retry-after"]) <= 30


def test_a_bucket_refills_with_time() -> None:
    clock = Clock()
    rates, caller = Rates(clock), Caller(key_id="k", roles=frozenset(), per_minute=60)
    for _ in range(60):
        rates.take(caller)
    with pytest.raises(TooMany) as caught:
        rates.take(caller)
    assert caught.value.retry_after == pytest.approx(1.0)
    clock.seconds = 1.0
    rates.take(caller)
    rates.take(ANYBODY)


async def test_a_quota_is_shared_by_gateways_and_begins_again_every_day(record: Database) -> None:
    key = await issued(record, Role.SUBMIT, battles_per_day=3)
    caller = Caller(key_id=key.id, roles=frozenset({Role.SUBMIT}), battles_per_day=3)
    today, tomorrow = datetime(2026, 5, 4, 23, 0, tzinfo=UTC), datetime(2026, 5, 5, 0, 0, tzinfo=UTC)
    one, other = (Quotas(ApiKeys(record), lambda: today) for _ in range(2))
    assert [await one.take(caller, 2), await other.take(caller, 2), await one.take(caller, 1)] == [2, 1, 0]
    assert one.exhausted(caller).retry_after == 3600
    assert await Quotas(ApiKeys(record), lambda: tomorrow).take(caller, 5) == 3


async def test_battles_over_the_quota_are_rejected_one_by_one(world: World) -> None:
    key = await issued(world.database, Role.SUBMIT, battles_per_day=2)
    lines = [submission(id=f"n{number}", query=f"{number}?") for number in range(3)]
    lines.insert(0, submission(id="other", arena="elsewhere"))
    async with AsyncClient(str(world.http.base_url), key=key.token, patience=0) as client:
        results = [result async for result in client.submit_many(lines)]
        assert [result.status for result in results] == [403, 202, 202, 429]
        with pytest.raises(Unavailable) as caught:
            await client.submit(submission(id="n4"))
        assert caught.value.retry_after is not None
        with pytest.raises(Forbidden):
            await client.battle("n0")
    logged = await AuditLog(world.database).latest(9)
    assert [(entry.key, entry.action, entry.arena) for entry in logged] == [(key.id, "submit", "demo")]
    assert await DatabaseSpendStore(world.database).key_of("n0") == "test"  # the name of the key


async def test_clients_take_a_key_as_argument_or_from_the_environment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, url = await issued(world.database, Role.READ, Role.SUBMIT), str(world.http.base_url)
    async with AsyncClient(url, patience=0) as client:
        with pytest.raises(Unauthenticated):
            await client.battles()
    monkeypatch.setenv("NUGGETSTREAM_API_KEY", key.token)
    async with AsyncClient(url, patience=0) as client:
        assert await client.battles() == []
        with pytest.raises(NotFound):
            await client.battle("tides")
    async with AsyncClient(url, patience=0, key="ngs_x_y") as client:
        with pytest.raises(Unauthenticated):
            await client.battles()


async def test_a_stream_ends_when_its_key_is_revoked(world: World) -> None:
    key, story = await issued(world.database, Role.READ), Story(battle())
    admin = await issued(world.database, Role.ADMIN)
    await world.http.post("/v1/battles", json=submission(), headers=bearer(admin))
    await world.happens(*story.told()[:2])
    async with world.http.stream("GET", "/v1/battles/tides/events", headers=bearer(key)) as response:
        lines = response.aiter_lines()
        while "scraped" not in await anext(lines):
            pass
        await ApiKeys(world.database).revoke(key.id, NOW)
        await world.happens(*story.told()[2:])
        rest = [line async for line in lines]
    assert not any("indexed" in line for line in rest)


async def test_a_revoked_key_submits_no_more_in_a_stream_that_is_open(guarded: World) -> None:
    key = await issued(guarded.database, Role.SUBMIT)

    async def lines() -> AsyncIterator[bytes]:
        yield json.dumps(submission(id="before")).encode() + b"\n"
        while await guarded.gateway.battles.get("before") is None:
            await asyncio.sleep(0.01)
        await ApiKeys(guarded.database).revoke(key.id, NOW)
        yield json.dumps(submission(id="after")).encode() + b"\n{\n"

    headers = bearer(key) | {"content-type": "application/x-ndjson"}
    async with asyncio.timeout(90):
        response = await guarded.http.post("/v1/battles", content=lines(), headers=headers)
    assert [json.loads(line)["status"] for line in response.text.splitlines()] == [202, 401, 422]
    assert await guarded.gateway.battles.get("after") is None


async def test_a_revoked_key_submits_no_more_over_grpc(guarded: World) -> None:
    key = await issued(guarded.database, Role.SUBMIT)

    def request(battle_id: str) -> arena_pb2.SubmitBattlesRequest:
        sent = to_message(battle(id=battle_id), battle_pb2.Battle)
        return arena_pb2.SubmitBattlesRequest(battle=sent)

    async with rpc.channel(guarded.grpc_target) as channel, asyncio.timeout(90):
        metadata = [("authorization", f"Bearer {key.token}")]
        call = arena_pb2_grpc.ArenaStub(channel).SubmitBattles(metadata=metadata)
        await call.write(request("before"))
        assert (await call.read()).created
        await ApiKeys(guarded.database).revoke(key.id, NOW)
        await call.write(request("after"))
        assert "unknown, expired or revoked" in (await call.read()).error
        await call.done_writing()
    assert await guarded.gateway.battles.get("after") is None


async def test_a_request_with_two_credentials_is_rejected(world: World) -> None:
    key = await issued(world.database, Role.READ)
    problem = "'authorization' is there 2 times; send it once"
    for tokens in ([key.token, "x"], ["x", key.token], [key.token, key.token]):
        sent = [("authorization", f"Bearer {token}") for token in tokens]
        rejected = await world.http.get("/v1/battles", headers=sent)
        assert rejected.status_code == 401
        assert problem in rejected.text
        async with rpc.channel(world.grpc_target) as channel:
            call = arena_pb2_grpc.ArenaStub(channel).WatchBattle(
                arena_pb2.WatchBattleRequest(battle_id="tides"), metadata=sent
            )
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await call.read()
        assert (error.value.code(), error.value.details()) == (grpc.StatusCode.UNAUTHENTICATED, problem)


@pytest.fixture
async def guarded(bus: Bus, record: Database) -> AsyncIterator[World]:
    async with opened(bus, record, key_lifetime=0, admin_token=TOKEN) as world:
        yield world


async def test_the_administrators_token_is_a_key_of_all_arenas(guarded: World) -> None:
    assert (await guarded.http.get("/v1/battles")).status_code == 200  # no key was created: as before
    await issued(guarded.database, Role.READ)
    assert (await guarded.http.get("/v1/battles")).status_code == 401
    for path in ("/v1/battles", "/v1/admin/failures", "/v1/admin/audit", "/v1/leaderboard?arena=x"):
        assert (await guarded.http.get(path, headers=bearer(TOKEN))).status_code == 200
    deleted = await guarded.http.delete("/v1/admin/battles/unknown", headers=bearer(TOKEN))
    assert deleted.status_code == 404


async def test_actions_are_logged_by_key_and_arena_and_the_log_is_bounded(record: Database) -> None:
    log = AuditLog(record, kept=3)
    for number in range(7):
        await log.add(
            AuditView(at=NOW, key=f"k{number}", action="vote", arena="demo" if number % 2 else "elsewhere")
        )
    assert [entry.key for entry in await log.latest(9)] == ["k6", "k5", "k4", "k3"]
    assert [entry.key for entry in await log.latest(9, {"demo"})] == ["k5", "k3"]
    assert [entry.key for entry in await log.latest(9, None, "k4")] == ["k4"]


async def test_an_address_that_others_can_reach_needs_a_key_at_the_start(record: Database) -> None:
    store = ApiKeys(record)
    for host in ("0.0.0.0", "::", "192.0.2.1", "gateway"):
        with pytest.raises(Unprotected, match="NUGGETSTREAM_OPEN_ACCESS"):
            await require_protection(host, policy_of(host, None, open_access=False), store)
        await require_protection(host, policy_of(host, TOKEN, open_access=False), store)
        await require_protection(host, policy_of(host, None, open_access=True), store)
        assert await keys_of(record, Clock(), policy_of(host, TOKEN, open_access=False)).required()
        assert not await keys_of(record, Clock(), policy_of(host, None, open_access=True)).required()
    for host in ("127.0.0.1", "::1", "localhost"):
        await require_protection(host, policy_of(host, None, open_access=False), store)
    await issued(record, Role.READ)
    await require_protection("192.0.2.1", policy_of("192.0.2.1", None, open_access=False), store)
