"""What KEDA reads from the broker: every consumer it is told of exists, and its lag is the true one.

KEDA takes a consumer that it cannot find for one that is behind by the whole stream, so a wrong name
scales a service to its maximum and says nothing.
"""

import json
from pathlib import Path
from typing import Any

import httpx2
import yaml

from services.runtime.bus import Bus, Outgoing
from services.runtime.nats_server import NatsServer
from services.wire.subjects import PREFIX
from tests.e2e.processes import clean_environment, run_command

KEDA = Path(__file__).parents[3] / "k8s/components/keda"


def triggers() -> list[dict[str, str]]:
    texts = [(KEDA / name).read_text(encoding="utf-8") for name in ("scaled-objects.yaml", "stages.yaml")]
    objects = [scaled for text in texts for scaled in yaml.safe_load_all(text)]
    of_all = [trigger for scaled in objects for trigger in scaled["spec"]["triggers"]]
    return [trigger["metadata"] for trigger in of_all if trigger["type"] == "nats-jetstream"]


async def read_as_keda(folder: Path, account: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Every consumer by stream and name, from the monitoring endpoint, of this account."""
    (ports,) = folder.glob("*.ports")
    (monitoring,) = json.loads(ports.read_text(encoding="utf-8"))["monitoring"]
    async with httpx2.AsyncClient(base_url=monitoring, timeout=90) as http:
        answer = await http.get("/jsz", params={"acc": account, "consumers": "true", "config": "true"})
    accounts = answer.json()["account_details"]
    streams = [s for each in accounts if each["name"] == account for s in each["stream_detail"]]
    return {(s["name"], c["name"]): c for s in streams for c in s.get("consumer_detail", [])}


def lag(consumer: dict[str, Any]) -> int:
    """As KEDA counts: what waits, and what is in somebody's hands."""
    return int(consumer["num_pending"]) + int(consumer["num_ack_pending"])


async def test_every_consumer_that_scales_exists_and_its_lag_is_right(
    nats_server: NatsServer, bus: Bus, tmp_path: Path
) -> None:
    code, output = await run_command(clean_environment(nats_url=nats_server.url), "bootstrap")
    assert code == 0, output
    named = {(trigger["stream"], trigger["consumer"]) for trigger in triggers()}
    (account,) = {trigger["account"] for trigger in triggers()}
    at_rest = await read_as_keda(tmp_path / "nats", account)
    assert named == set(at_rest)
    assert {lag(consumer) for consumer in at_rest.values()} == {0}

    for number in range(3):
        await bus.publish(Outgoing(f"{PREFIX}.battle.submitted", f"m{number}", "test", b""))
    await bus.publish(Outgoing(f"{PREFIX}.battle.retrieved", "m3", "test", b""))
    await bus.publish(Outgoing(f"{PREFIX}.ingest", "m4", "test", b""))
    behind = {name: lag(c) for (_, name), c in (await read_as_keda(tmp_path / "nats", account)).items()}
    assert {name: waiting for name, waiting in behind.items() if waiting} == {
        "scraper": 3, "nuggetizer": 1, "judge": 1, "recorder": 4, "intake": 1,
    }  # fmt: skip

    subscription = await bus.js.pull_subscribe_bind("scraper", "ARENA")
    (taken, *_) = await subscription.fetch(2, timeout=90)
    await taken.ack_sync()
    scraper = (await read_as_keda(tmp_path / "nats", account))["ARENA", "scraper"]
    assert (scraper["num_pending"], scraper["num_ack_pending"], lag(scraper)) == (1, 1, 2)
