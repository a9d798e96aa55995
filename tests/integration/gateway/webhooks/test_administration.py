"""Webhooks over the API and on the command line: who may, what is shown, the secret that is shown once."""

import asyncio
import http.server
import json
import re
import threading
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog
from click.testing import CliRunner, Result

from nuggetstream.client import (
    AsyncClient,
    Forbidden,
    Invalid,
    InvalidSignature,
    NotFound,
    webhook_event,
)
from services.access.callers import Role
from services.cli.commands.access.webhooks import command
from services.gateway.stream.reading import EventReader
from services.gateway.webhooks.deliveries import Deliveries
from services.gateway.webhooks.sender import Sender
from services.runtime.address_guard import GuardedBackend, SystemResolver
from services.runtime.bus import Bus
from services.store.access.audit_log import AuditLog
from services.store.access.webhooks import Webhooks
from services.store.database import Database
from tests.integration.gateway.access.samples import issued
from tests.integration.gateway.webhooks.receiver import Receiver, receiver, statuses
from tests.integration.gateway.world import Story, World, battle, opened

DOCS = Path(__file__).parents[4] / "docs" / "webhooks.md"
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture
async def target() -> AsyncIterator[Receiver]:
    async with receiver() as started:
        yield started


@pytest.fixture
async def world(bus: Bus, record: Database, target: Receiver) -> AsyncIterator[World]:
    async with opened(bus, record, key_lifetime=0.0, receivers=[target.host]) as world:
        yield world


def client(world: World, key: str | None = None) -> AsyncClient:
    return AsyncClient(str(world.http.base_url), patience=0, key=key)


async def test_a_webhook_is_added_listed_tested_and_removed(world: World, target: Receiver) -> None:
    async with client(world) as platform:
        added = await platform.add_webhook(f"{target.url}?token=abc", "demo", kinds=["ended"], tags=["x"])
        [listed] = await platform.webhooks("demo")
        assert listed.model_dump() == added.model_dump(exclude={"secret"})
        assert (listed.kinds, listed.tags, listed.enabled) == (["ended"], ["x"], True)
        assert listed.url.endswith("?token=***")
        assert await platform.webhooks("abroad") == []
        tested = await platform.test_webhook(added.id)
        assert (tested.accepted, tested.detail) == (True, "the receiver answers 204")
        [arrived] = target.arrived
        assert arrived.event["kind"] == "test"
        assert webhook_event(added.secret, arrived.headers, arrived.body) is None
        target.answer = statuses(500)
        assert (await platform.test_webhook(added.id)).detail == "the receiver answers 500"
        assert await platform.webhook_failures(added.id) == []
        assert (await platform.retry_webhook(added.id)).events == 0
        assert (await platform.remove_webhook(added.id)).result == "removed"
        for call in (platform.remove_webhook, platform.test_webhook, platform.retry_webhook):
            with pytest.raises(NotFound):
                await call(added.id)


async def test_a_secret_is_replaced_with_an_overlap_and_without(world: World, target: Receiver) -> None:
    def accepts(secret: str) -> bool:
        latest = target.arrived[-1]
        try:
            return webhook_event(secret, latest.headers, latest.body) is None
        except InvalidSignature:
            return False

    theirs = await issued(world.database, Role.ADMIN, arenas=("abroad",))
    mine = await issued(world.database, Role.ADMIN)
    async with client(world, mine.token) as platform, client(world, theirs.token) as other:
        added = await platform.add_webhook(target.url, "demo")
        with pytest.raises(NotFound):
            await other.rotate_webhook(added.id)
        rotated = await platform.rotate_webhook(added.id)
        assert rotated.secret != added.secret
        [listed] = await platform.webhooks()
        assert listed.model_dump() == rotated.model_dump(exclude={"secret"})
        until = listed.previous_secret_until
        assert until is not None
        assert abs(until - datetime.now(UTC) - timedelta(hours=24)) < timedelta(minutes=5)
        await platform.test_webhook(added.id)
        assert (accepts(added.secret), accepts(rotated.secret)) == (True, True)
        last = await platform.rotate_webhook(added.id, overlap_hours=0)
        await platform.test_webhook(added.id)
        assert [accepts(each.secret) for each in (added, rotated, last)] == [False, False, True]
        for wrong in (-1, 721):
            with pytest.raises(Invalid):
                await platform.rotate_webhook(added.id, overlap_hours=wrong)
        with pytest.raises(NotFound):
            await platform.rotate_webhook("wh_nobody")


@pytest.mark.parametrize(
    ("url", "kinds", "problem"),
    [
        ("ftp://example.org", [], "should begin with https:// or http://"),
        ("https://ada:secret@example.org", [], "user name or password"),
        ("https://example.org/#x", [], "fragment"),
        ("https://example.org", ["invented"], "there are no events invented"),
    ],
)
async def test_what_cannot_be_a_webhook_is_rejected_with_the_reason(
    world: World, url: str, kinds: list[str], problem: str
) -> None:
    async with client(world) as platform:
        with pytest.raises(Invalid) as caught:
            await platform.add_webhook(url, kinds=kinds)
        assert problem in str(caught.value.problems)
        assert "secret" not in str(caught.value)


class Names:
    """A resolver that knows some names."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        known = {"inside.example.org": ["10.0.0.7"], "outside.example.org": ["93.184.216.34", "192.168.1.1"]}
        if host not in known:
            raise OSError("no such name")
        return known[host]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://127.0.0.1/hooks", "127.0.0.1 is a loopback address"),
        ("http://[::1]/hooks", "::1 is a loopback address"),
        ("https://169.254.169.254/latest", "169.254.169.254"),
        ("https://inside.example.org/hooks", "inside.example.org resolves to 10.0.0.7"),
        ("https://outside.example.org/hooks", "outside.example.org resolves to 192.168.1.1"),
        ("https://new.example.org:8443/hooks", "port 8443 is not a web port"),
    ],
)
async def test_a_webhook_to_an_address_inside_is_rejected_when_it_is_added(
    bus: Bus, record: Database, url: str, problem: str
) -> None:
    async with opened(bus, record, resolver=Names()) as world, client(world) as platform:
        with pytest.raises(Invalid) as caught:
            await platform.add_webhook(url)
        assert problem in str(caught.value.problems)
        assert await platform.webhooks() == []
        await platform.add_webhook("https://new.example.org/hooks")  # its name may be known later
    async with (
        opened(bus, record, resolver=Names(), receivers=["inside.example.org:443"]) as world,
        client(world) as platform,
    ):
        assert (await platform.add_webhook("https://inside.example.org/hooks")).enabled


async def test_administrators_of_an_arena_manage_its_webhooks_alone(world: World, target: Receiver) -> None:
    mine = await issued(world.database, Role.ADMIN)
    theirs = await issued(world.database, Role.ADMIN, arenas=("abroad",))
    reader = await issued(world.database, Role.READ)
    async with (
        client(world, mine.token) as own,
        client(world, theirs.token) as other,
        client(world, reader.token) as reading,
    ):
        added = await own.add_webhook(target.url, "demo")
        with pytest.raises(Forbidden):
            await own.add_webhook(target.url, "abroad")
        with pytest.raises(Forbidden):
            await reading.webhooks()
        assert await other.webhooks() == []
        for call in (other.remove_webhook, other.test_webhook, other.retry_webhook, other.webhook_failures):
            with pytest.raises(NotFound):
                await call(added.id)
        await own.remove_webhook(added.id)
    async with asyncio.timeout(90):
        while len(entries := await AuditLog(world.database).latest(9)) < 2:  # written after the reply
            await asyncio.sleep(0.01)
    actions = [(entry.key, entry.action, entry.arena) for entry in entries]
    assert actions == [(mine.id, "remove webhook", "demo"), (mine.id, "add webhook", "demo")]
    assert target.arrived == []


async def test_the_secret_is_shown_once_and_never_logged(world: World, target: Receiver) -> None:
    target.answer = statuses(500)
    stop = asyncio.Event()
    with structlog.testing.capture_logs() as logs:
        async with (
            client(world) as platform,
            Sender(GuardedBackend(SystemResolver(), [target.host])) as sender,
        ):
            added = await platform.add_webhook(target.url, "demo")
            reader = EventReader(world.gateway.battles, world.gateway.view)
            sending = asyncio.create_task(
                Deliveries(world.database, reader, sender, world.bus, refresh=0.05).run(stop)
            )
            await world.happens(Story(battle()).submitted())
            async with asyncio.timeout(90):
                while not (failures := await platform.webhook_failures(added.id)):
                    await asyncio.sleep(0.01)
            shown = [*failures, *await platform.webhooks()]
            stop.set()
            await sending
    secret = added.secret.removeprefix("whsec_")
    assert all(secret not in each.model_dump_json() for each in shown)
    assert secret not in json.dumps(logs, default=str)
    assert "secret=" not in repr(await Webhooks(world.database).all())
    assert failures[0].reason == "the receiver answers 500"


async def test_the_command_manages_webhooks(world: World, target: Receiver) -> None:
    gateway = str(world.http.base_url)

    async def run(*arguments: str) -> Result:
        return await asyncio.to_thread(
            CliRunner().invoke, command, [*arguments, "--url", gateway], catch_exceptions=False
        )

    added = await run("add", target.url, "--arena", "demo", "--kind", "voted")
    assert re.fullmatch(r"whsec_\S+", added.stdout.strip())
    webhook_id = added.stderr.split()[-1]
    listed = await run("list")
    assert listed.stdout.split() == [webhook_id, "on", "demo", target.url, "voted"]
    assert (await run("test", webhook_id)).stdout.strip() == "the receiver answers 204"
    rotated = await run("rotate", webhook_id, "--overlap-hours", "2")
    assert re.fullmatch(r"whsec_\S+", rotated.stdout.strip())
    assert rotated.stdout != added.stdout
    assert f"id   {webhook_id}; the secret before signs as well until 20" in rotated.stderr
    target.answer = statuses(500)
    failed = await run("test", webhook_id)
    assert (failed.exit_code, "the receiver answers 500" in failed.output) == (1, True)
    assert (await run("failures", webhook_id)).stdout == ""
    assert (await run("retry", webhook_id)).stdout.strip() == "0 events are sent again"
    assert (await run("remove", webhook_id)).stdout.strip() == f"removed {webhook_id}"
    assert (await run("remove", webhook_id)).exit_code == 1


async def test_the_receiver_of_the_documentation_checks_and_counts_every_event_once(
    bus: Bus, record: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = _PYTHON.findall(DOCS.read_text(encoding="utf-8"))
    code, _, last = example.rstrip().rpartition("\n")
    assert last == "server.serve_forever()"
    names: dict[str, Any] = {}
    exec(compile(code.replace('("127.0.0.1", 8000)', '("127.0.0.1", 0)'), "webhooks.md", "exec"), names)
    server: http.server.HTTPServer = names["server"]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    host = f"127.0.0.1:{server.server_port}"
    try:
        async with opened(bus, record, receivers=[host]) as world, client(world) as platform:
            added = await platform.add_webhook(f"http://{host}/", "demo", kinds=["judged"])
            assert (await platform.test_webhook(added.id)).detail == "the receiver answers 401"
            names["SECRET"] = added.secret
            assert (await platform.test_webhook(added.id)).accepted
            stop = asyncio.Event()
            async with Sender(GuardedBackend(SystemResolver(), [host])) as sender:
                reader = EventReader(world.gateway.battles, world.gateway.view)
                deliveries = Deliveries(world.database, reader, sender, world.bus, refresh=0.05)
                sending = asyncio.create_task(deliveries.run(stop))
                await world.happens(*Story(battle()).told())
                async with asyncio.timeout(90):
                    while not names["seen"]:
                        await asyncio.sleep(0.01)
                stop.set()
                await sending
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join()
    assert capsys.readouterr().out.splitlines() == ["judged tides"]
