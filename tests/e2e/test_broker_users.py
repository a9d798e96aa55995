"""Every service as its own user of the broker: the platform works, and a service can do nothing else."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import nats
import nats.errors
import pytest
from arena.v1 import arena_pb2, battle_pb2

from nuggetstream.client import AsyncClient, NotFound
from nuggetstream.domain.event import BattleJudged, BattleScraped, BattleVoted
from nuggetstream.domain.pipeline import Stage
from nuggetstream.files.submission import parse_submission
from nuggetstream.views.failures import FailureEntry
from services.cli.wiring.registry import SERVICES
from services.runtime.bus import Bus, BusSettings, Notification, Outgoing, ensure
from services.runtime.errors import Outage
from services.runtime.rpc_tls import AUTHORITY
from services.wire.convert import to_message
from services.wire.permissions import ARENA, permissions
from services.wire.subjects import BATTLES, DEAD, INGEST, STREAM_ARENA, SUBJECTS
from services.wire.topology import consumer, consumers, dead_subject, streams
from tests.brokers import ServerWithUsers
from tests.certificates import certificates
from tests.e2e.battles import battle
from tests.e2e.processes import Platform, separate_processes
from tests.tree import ROOT

MANIFESTS = ROOT / "k8s/components"
GRADES = ("aspects", "language_quality")  # evaluators that grade
EVALUATORS = (*GRADES, "utility")
VIOLATION = re.compile(r'/user:(\w+)" - (Publish|Subscription) Violation - Subject "([^"]*)"')


def password(user: str) -> str:
    return f"password-of-{user}"


def with_users(folder: Path) -> ServerWithUsers:
    """A nats-server with the users and the TLS of the manifests."""
    users = (MANIFESTS / "nats-cluster/users.conf").read_text("utf-8")
    users = re.sub(r"\$NATS_PASSWORD_(\w+)", lambda found: password(found[1]), users)
    tls = (MANIFESTS / "nats-tls/tls.conf").read_text("utf-8")
    tls = tls.replace("/etc/nats-tls", str(certificates(folder / "certificates", "127.0.0.1", *SERVICES)))
    server = ServerWithUsers(folder / "nats")
    server.users = f"authorization {{\n{users}\n}}\n{tls}"
    return server


def violations(server: ServerWithUsers) -> list[tuple[str, ...]]:
    """What the server denied: user, publication or subscription, and subject."""
    return [found.groups() for found in VIOLATION.finditer(server.log_path.read_text("utf-8"))]


@asynccontextmanager
async def connected(server: ServerWithUsers, user: str, folder: Path) -> AsyncIterator[Bus]:
    trusted = folder / "certificates" / AUTHORITY
    settings = BusSettings(servers=(server.address,), user=user, password=password(user), tls_ca=trusted)
    async with Bus.connect(settings) as bus:
        yield bus


async def until_ended(client: AsyncClient, count: int) -> None:
    async with asyncio.timeout(120):
        for number in range(count):
            while await state_of(client, f"battle-{number:03}") in (None, "running"):
                await asyncio.sleep(0.2)


async def state_of(client: AsyncClient, battle_id: str) -> str | None:
    """The state of a battle; None while what was sent over NATS is not accepted yet."""
    try:
        return (await client.battle(battle_id)).state
    except NotFound:
        return None


@asynccontextmanager
async def platform(folder: Path, server: ServerWithUsers) -> AsyncIterator[Platform]:
    def own(name: str) -> Mapping[str, str]:
        return {"nats_user": name, "nats_password": password(name)}

    settings = {
        "evaluators": ",".join(EVALUATORS),
        "nats_tls_ca": str(folder / "certificates" / AUTHORITY),
        "grpc_tls_dir": str(folder / "certificates"),
    }
    async with separate_processes(folder, broker=server, own=own, **settings) as started:
        yield started


async def send_over_nats(server: ServerWithUsers, folder: Path, body: bytes) -> None:
    """Send as a program of an arena does, which knows nothing of this platform but the subject."""
    trusted = ssl.create_default_context(cafile=folder / "certificates" / AUTHORITY)
    client = await nats.connect(server.address, user=ARENA, password=password(ARENA), tls=trusted)
    try:
        await client.jetstream().publish(INGEST, body)
    finally:
        await client.close()


async def failed_message(client: AsyncClient) -> FailureEntry:
    """The entry of the message that is no battle."""
    async with asyncio.timeout(60):
        while not (found := [entry for entry in await client.admin_failures() if entry.open]):
            await asyncio.sleep(0.2)
    return found[0]


@pytest.mark.timeout(300)
async def test_services_with_their_own_users_do_all_that_they_have_to(tmp_path: Path) -> None:
    server = with_users(tmp_path)
    sent = to_message(parse_submission(battle(0)).to_core(), battle_pb2.Battle)
    request = arena_pb2.SubmitBattleRequest(battle=sent)
    async with platform(tmp_path, server) as started, AsyncClient(started.url, patience=60) as client:
        for body in request.SerializeToString(), b"\xff":
            await send_over_nats(server, tmp_path, body)
        await client.submit(battle(1))
        await client.vote("battle-001", "b")
        await until_ended(client, 2)
        async with asyncio.timeout(60):
            while len((await client.battle("battle-001")).gradings) < len(GRADES):
                await asyncio.sleep(0.2)

        message = await failed_message(client)
        assert (message.kind, message.stage) == ("message", "intake")
        assert (await client.act_on_failure(message.id, "retry")).result == "retried"
        again = await failed_message(client)
        assert (await client.act_on_failure(again.id, "discard")).result == "discarded"
        assert await client.leaderboard("test")  # of the rater, over gRPC
        async with httpx2.AsyncClient(base_url=started.url) as http:
            assert "nuggetizer" in (await http.get("/operations")).text
        async with connected(server, "recorder", tmp_path) as bus:
            await bus.js.delete_consumer(STREAM_ARENA, "judge")  # which the judge declares again
        await client.submit(battle(2))
        await until_ended(client, 3)
        assert (await client.delete_battle("battle-000")).result == "deleted"
    assert violations(server) == []
    assert set(started.exit_codes.values()) == {0}


async def test_a_service_that_is_taken_over_cannot_do_the_work_of_another(tmp_path: Path) -> None:
    heard: list[Notification] = []

    async def hear(notification: Notification) -> None:
        heard.append(notification)

    async with (
        with_users(tmp_path) as server,
        connected(server, "recorder", tmp_path) as recorder,
        connected(server, "scraper", tmp_path) as scraper,
    ):
        await ensure(recorder.js, streams(), consumers())
        allowed = Outgoing(SUBJECTS[BattleScraped], "1", "schema", b"")
        assert (await scraper.publish(allowed)).stream == STREAM_ARENA
        forbidden = [SUBJECTS[BattleJudged], SUBJECTS[BattleVoted], INGEST, dead_subject(Stage.JUDGE)]
        for subject in forbidden:
            with pytest.raises(Outage):
                await scraper.publish(Outgoing(subject, "1", "schema", b""), within=1.0)
        own = consumer(Stage.SCRAPER)
        await scraper.js.add_consumer(STREAM_ARENA, own.config())
        of_all = replace(own, subjects=(BATTLES,)).config()
        for attempt in (
            scraper.js.delete_stream(STREAM_ARENA),
            scraper.js.add_consumer(STREAM_ARENA, of_all),
        ):
            with pytest.raises(nats.errors.TimeoutError):
                await attempt
        listened = [BATTLES, "_INBOX_recorder.>", f"{DEAD}.>"]
        async with AsyncExitStack() as listening:
            for subject in listened:
                await listening.enter_async_context(scraper.core_subscribe(subject, hear))
            await recorder.publish(Outgoing(dead_subject(Stage.JUDGE), "2", "schema", b"secret"))
            await scraper.flush()
        denied = violations(server)
    assert heard == []
    published = [
        *forbidden,
        "$JS.API.STREAM.DELETE.ARENA",
        f"$JS.API.CONSUMER.CREATE.ARENA.scraper.{BATTLES}",
    ]
    assert set(denied) == {
        *(("scraper", "Publish", subject) for subject in published),
        *(("scraper", "Subscription", subject) for subject in listened),
    }


def test_every_service_has_a_user_and_only_judges_publish_verdicts() -> None:
    users = permissions()
    assert users.keys() == {*SERVICES, ARENA}
    judged = SUBJECTS[BattleJudged]
    allowed = {name for name, may in users.items() if {judged, "arena.v1.>"} & {*may.publish}}
    assert allowed == {"judge", "gateway", "recorder"}
