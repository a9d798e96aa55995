"""Attempts to log in: how many of one address, and what is remembered of them."""

from ipaddress import ip_network

import pytest
from starlette.types import Scope

from services.access.callers import Role, TooMany
from services.access.limits import Attempts
from services.gateway.access.proxies import TrustedProxies
from services.runtime.bus import Bus
from services.store.database import Database
from tests.integration.gateway.access.samples import FORM, issued
from tests.integration.gateway.world import World, opened


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def status(world: World, key: str) -> int:
    reply = await world.http.post("/login", content=f"key={key}", headers=FORM, follow_redirects=False)
    if reply.status_code == 429:
        assert 1 <= int(reply.headers["retry-after"]) <= 6
        assert "too many attempts to log in" in reply.text
    return int(reply.status_code)


async def test_ten_wrong_keys_end_in_429_and_right_ones_do_not_count(world: World) -> None:
    key = await issued(world.database, Role.READ)
    assert [await status(world, key.token) for _ in range(12)] == [303] * 12
    assert [await status(world, f"guess{number}") for number in range(11)] == [401] * 10 + [429]
    assert await status(world, key.token) == 429  # of the same address


async def test_failed_logins_from_elsewhere_do_not_lock_out_who_has_the_key(
    bus: Bus, record: Database
) -> None:
    proxies = TrustedProxies((ip_network("127.0.0.0/8"),))
    async with opened(bus, record, key_lifetime=0, proxies=proxies) as world:
        key = await issued(world.database, Role.ADMIN)
        wrong = key.token[:-4] + "0000"  # names the key

        async def status_from(address: str, token: str) -> int:
            headers = FORM | {"x-forwarded-for": address}
            reply = await world.http.post(
                "/login", content=f"key={token}", headers=headers, follow_redirects=False
            )
            return int(reply.status_code)

        guesses = [await status_from(f"198.51.100.{number}", wrong) for number in range(20)]
        guesses += [await status_from("203.0.113.9", wrong) for _ in range(11)]
        assert guesses == [401] * 30 + [429]
        assert await status_from("192.0.2.7", key.token) == 303


def test_an_address_gets_more_attempts_with_time_and_others_have_their_own() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    for _ in range(10):
        attempts.take("one")
    with pytest.raises(TooMany) as caught:
        attempts.take("one")
    assert caught.value.retry_after == pytest.approx(6.0)
    attempts.take("other")
    clock.seconds = 6.0
    attempts.take("one")
    with pytest.raises(TooMany):
        attempts.take("one")
    attempts.succeeded("one")
    attempts.take("one")


def test_what_is_remembered_is_bounded_and_those_tried_last_are_kept() -> None:
    attempts = Attempts(Clock())
    for _ in range(10):
        attempts.take("victim")
    for number in range(10_000):
        attempts.take(f"address {number}")
        if number % 5_000 == 0:
            with pytest.raises(TooMany):
                attempts.take("victim")
    assert len(attempts._left) == 10_000


@pytest.mark.parametrize(
    ("client", "forwarded", "address"),
    [
        ("192.0.2.7", "198.51.100.1", "192.0.2.7/32"),  # no trusted proxy
        ("10.0.0.5", "198.51.100.1", "198.51.100.1/32"),
        (
            "10.0.0.5",
            "203.0.113.9, 198.51.100.1, 10.0.0.6",
            "198.51.100.1/32",
        ),
        ("10.0.0.5", "", ""),
        ("2001:db8:1:2:3::4", "", "2001:db8:1:2::/64"),
    ],
)
def test_the_address_of_a_client_is_what_trusted_proxies_say(
    client: str, forwarded: str, address: str
) -> None:
    proxies = TrustedProxies((ip_network("10.0.0.0/24"),))
    scope: Scope = {
        "type": "http",
        "client": (client, 4711),
        "headers": [(b"x-forwarded-for", forwarded.encode())],
    }
    assert proxies.client_of(scope) == address
