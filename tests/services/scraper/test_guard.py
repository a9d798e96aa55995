"""The address guard, without a network: names come from a scripted resolver, connections are recorded."""

import ipaddress
import ssl
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from importlib.resources import files
from typing import Any

import httpcore2
import pytest

from services.runtime.address_guard import AddressBlocked, GuardedBackend, NameNotResolved
from services.runtime.public_addresses import special_purpose, why_forbidden
from services.scraper.canonical import canonicalize
from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable
from services.scraper.settings import ScraperSettings
from services.scraper.transport import ByteLimits, GuardedTransport

PUBLIC = "93.184.216.34"
LIMITS = ByteLimits(10_000, 10_000)


class ScriptedResolver:
    def __init__(self, **names: Sequence[str]) -> None:
        self.names = {name.replace("_", "."): list(found) for name, found in names.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.names:
            raise OSError("no such name")
        return self.names[host]


class RecordingStream(httpcore2.AsyncMockStream):
    def __init__(self, network: "RecordingNetwork", reply: bytes) -> None:
        super().__init__([reply])
        self.network = network

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.network.sent += buffer

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        self.network.tls_names.append(server_hostname)
        self.network.verifying.append(ssl_context.check_hostname)
        return self


class RecordingNetwork(httpcore2.AsyncNetworkBackend):
    """Stands where the sockets would be: nothing in these tests ever opens one."""

    def __init__(self, *replies: bytes, dead: Iterable[str] = ()) -> None:
        self.replies = list(replies) or [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]
        self.dead = set(dead)
        self.connected: list[tuple[str, int]] = []
        self.tls_names: list[str | None] = []
        self.verifying: list[bool] = []
        self.sent = b""

    async def connect_tcp(self, host: str, port: int, *args: Any) -> httpcore2.AsyncNetworkStream:
        self.connected.append((host, port))
        if host in self.dead:
            raise httpcore2.ConnectError("refused")
        return RecordingStream(self, self.replies.pop(0))


def transport(resolver: ScriptedResolver, network: RecordingNetwork, *allowed: str) -> GuardedTransport:
    backend = GuardedBackend(resolver, allowed, inner=network)
    return GuardedTransport(ScraperSettings(), backend, Clock())


PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "168.63.129.16",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "2001::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::a00:1",
    "not an address",
    "192.0.0.9",
    "192.0.0.10",
    "192.31.196.1",
    "192.88.99.1",
    "192.175.48.6",
    "3fff::1",
    "3fff:fff:ffff::1",
    "5f00::1",
    "100:0:0:1::1",
    "2001:20::1",
    "2001:4:112::1",
    "2620:4f:8000::1",
    "4000::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_outside_the_public_web_is_refused(address: str) -> None:
    assert why_forbidden(address) is not None


@pytest.mark.parametrize(
    "address",
    [PUBLIC, "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_a_public_address_is_let_through_however_it_is_wrapped(address: str) -> None:
    assert why_forbidden(address) is None


@pytest.mark.parametrize("address", PRIVATE)
async def test_a_name_that_leads_inside_is_refused_before_any_connection(address: str) -> None:
    resolver, network = ScriptedResolver(evil_example=[address]), RecordingNetwork()
    async with transport(resolver, network) as guarded:
        with pytest.raises(Unfetchable) as refused:
            await guarded.get(canonicalize("http://evil.example/"), LIMITS)
    assert refused.value.quality is Quality.BLOCKED
    assert network.connected == []


def test_the_vendored_registries_say_where_they_come_from_and_of_what_date() -> None:
    text = files("services.runtime").joinpath("special_purpose.csv").read_text(encoding="utf-8")
    notes = [line for line in text.splitlines() if line.startswith("#")]
    sources = [note for note in notes if note.startswith("# source: https://www.iana.org/assignments/")]
    assert len(sources) == 2
    (as_of,) = (note.removeprefix("# as of: ") for note in notes if note.startswith("# as of: "))
    assert date(2026, 7, 1) <= date.fromisoformat(as_of) <= datetime.now(UTC).date()


@pytest.mark.parametrize("block", sorted(map(str, special_purpose())))
async def test_no_address_of_a_vendored_block_is_connected_to(block: str) -> None:
    network = ipaddress.ip_network(block)
    if block in ("::ffff:0:0/96", "64:ff9b::/96", "2002::/16"):  # judged by the IPv4 address inside
        return
    for address in (network[0], network[-1], network[network.num_addresses // 2]):
        resolver, recording = ScriptedResolver(evil_example=[str(address)]), RecordingNetwork()
        async with transport(resolver, recording) as guarded:
            with pytest.raises(Unfetchable):
                await guarded.get(canonicalize("http://evil.example/"), LIMITS)
        assert recording.connected == []


@pytest.mark.parametrize("version", ["_IPv4Constants", "_IPv6Constants"])
def test_the_vendored_registries_cover_what_this_interpreter_knows(version: str) -> None:
    known = getattr(ipaddress, version)._private_networks
    blocks = list(special_purpose())
    for network in known:
        covering = [b for b in blocks if b.version == network.version and network.subnet_of(b)]
        assert covering, f"{network} is missing in special_purpose.csv"


async def test_one_bad_address_among_good_ones_condemns_the_name() -> None:
    resolver, network = ScriptedResolver(mixed_example=[PUBLIC, "10.0.0.1"]), RecordingNetwork()
    async with transport(resolver, network) as guarded:
        with pytest.raises(Unfetchable, match=r"10\.0\.0\.1 is a private address"):
            await guarded.get(canonicalize("http://mixed.example/"), LIMITS)
    assert network.connected == []


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://[::1]/", "http://[::ffff:10.0.0.1]/"])
async def test_a_literal_address_is_vetted_without_asking_the_resolver(url: str) -> None:
    resolver, network = ScriptedResolver(), RecordingNetwork()
    async with transport(resolver, network) as guarded:
        with pytest.raises(Unfetchable) as refused:
            await guarded.get(canonicalize(url), LIMITS)
    assert refused.value.quality is Quality.BLOCKED
    assert (resolver.asked, network.connected) == ([], [])


@pytest.mark.parametrize("port", [22, 25, 3306, 6379, 8080])
async def test_other_ports_than_the_webs_are_refused(port: int) -> None:
    resolver, network = ScriptedResolver(site_example=[PUBLIC]), RecordingNetwork()
    async with transport(resolver, network) as guarded:
        with pytest.raises(Unfetchable, match="not a web port"):
            await guarded.get(canonicalize(f"http://site.example:{port}/"), LIMITS)
    assert network.connected == []


async def test_the_connection_goes_to_the_vetted_address_and_keeps_the_name_for_host_and_certificate() -> (
    None
):
    resolver, network = ScriptedResolver(site_example=[PUBLIC]), RecordingNetwork()
    async with transport(resolver, network) as guarded:
        response = await guarded.get(canonicalize("https://site.example/x"), LIMITS)
    assert response.body == b"ok"
    assert network.connected == [(PUBLIC, 443)]
    assert (network.tls_names, network.verifying) == (["site.example"], [True])
    assert b"Host: site.example\r\n" in network.sent
    assert resolver.asked == ["site.example"]


async def test_a_name_that_changes_its_answer_is_vetted_at_each_connection() -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    resolver, network = ScriptedResolver(rebind_example=[PUBLIC]), RecordingNetwork(reply, reply)
    async with transport(resolver, network) as guarded:
        await guarded.get(canonicalize("http://rebind.example/"), LIMITS)
        resolver.names["rebind.example"] = ["127.0.0.1"]
        with pytest.raises(Unfetchable) as refused:
            await guarded.get(canonicalize("http://rebind.example/"), LIMITS)
    assert refused.value.quality is Quality.BLOCKED
    assert network.connected == [(PUBLIC, 80)]


async def test_the_next_vetted_address_is_tried_when_the_first_is_dead() -> None:
    resolver = ScriptedResolver(site_example=["2606:2800:220:1::1", PUBLIC])
    network = RecordingNetwork(dead=["2606:2800:220:1::1"])
    async with transport(resolver, network) as guarded:
        assert (await guarded.get(canonicalize("http://site.example/"), LIMITS)).status == 200
    assert network.connected == [("2606:2800:220:1::1", 80), (PUBLIC, 80)]


async def test_an_exception_covers_one_host_and_port_only() -> None:
    resolver, network = ScriptedResolver(wiki_internal=["10.0.0.7"]), RecordingNetwork()
    async with transport(resolver, network, "wiki.internal:8080") as guarded:
        assert (await guarded.get(canonicalize("http://wiki.internal:8080/"), LIMITS)).status == 200
        with pytest.raises(Unfetchable):
            await guarded.get(canonicalize("http://wiki.internal/"), LIMITS)
    assert network.connected == [("10.0.0.7", 8080)]


async def test_an_unknown_name_is_unreachable_and_not_refused() -> None:
    async with transport(ScriptedResolver(), RecordingNetwork()) as guarded:
        with pytest.raises(Unfetchable) as failed:
            await guarded.get(canonicalize("http://nowhere.example/"), LIMITS)
    assert failed.value.quality is Quality.UNREACHABLE
    with pytest.raises(NameNotResolved):
        await GuardedBackend(ScriptedResolver(empty_example=[])).connect_tcp("empty.example", 80)


async def test_proxies_from_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:3128")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:3128")
    network = RecordingNetwork()
    async with transport(ScriptedResolver(site_example=[PUBLIC]), network) as guarded:
        await guarded.get(canonicalize("http://site.example/"), LIMITS)
    assert network.connected == [(PUBLIC, 80)]


async def test_local_sockets_are_never_connected() -> None:
    with pytest.raises(AddressBlocked):
        await GuardedBackend(ScriptedResolver()).connect_unix_socket("/run/docker.sock")
