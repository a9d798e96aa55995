"""Trouble on demand: the faults of real endpoints at given rates, the same ones for the same seed.

What befalls a request depends on the seed, its bytes, and how many times those bytes have come, so a
run can be repeated whatever the order of concurrent requests, and a retry may fare better.
"""

import hashlib
import random
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum

_REMEMBERED = 10_000


class Fault(StrEnum):
    """What can go wrong with one request."""

    RATE_LIMITED = "rate_limited"  # 429 with Retry-After
    SERVER_ERROR = "server_error"  # 500
    TIMEOUT = "timeout"  # silence, then 504
    DROPPED = "dropped"  # the connection closes in the middle of the body
    CUT = "cut"  # the reply stops half way, finish_reason length
    INVALID_JSON = "invalid_json"  # prose with half an object in it
    REFUSAL = "refusal"  # the model declines


@dataclass(frozen=True, slots=True)
class Faults:
    """A way for an endpoint to behave. The default one never fails and answers at once.

    Attributes:
        seed: of everything random.
        latency_s, latency_per_token_s: before a reply, and for each token of it; both vary by a third.
        rate_limited ... refusal: the share of requests that meet each fault, together at most 1.
        retry_after_s: what a 429 asks for.
        hang_s: how long a timeout is silent.
        structured_outputs: whether `response_format` is understood; answered with a 400 otherwise.
    """

    seed: int = 0
    latency_s: float = 0.0
    latency_per_token_s: float = 0.0
    rate_limited: float = 0.0
    server_error: float = 0.0
    timeout: float = 0.0
    dropped: float = 0.0
    cut: float = 0.0
    invalid_json: float = 0.0
    refusal: float = 0.0
    retry_after_s: float = 1.0
    hang_s: float = 300.0
    structured_outputs: bool = True

    def __post_init__(self) -> None:
        rates = [self.rate(fault) for fault in Fault]
        if min(rates) < 0 or sum(rates) > 1 + 1e-9:
            raise ValueError(f"rates must not be negative and add up to at most 1, not {sum(rates)}")

    def rate(self, fault: Fault) -> float:
        """The share of requests that meet this fault."""
        rate: float = getattr(self, fault.value)
        return rate


@dataclass(frozen=True, slots=True)
class Fate:
    """What befalls one request."""

    fault: Fault | None
    pace: float  # factor on the latency, in [2/3, 4/3]


class Fates:
    """Draws the fate of each request."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._seen: OrderedDict[bytes, int] = OrderedDict()

    def draw(self, body: bytes) -> Fate:
        """The fate of a request with these bytes, coming once more."""
        key = hashlib.sha256(body).digest()
        times = self._seen.pop(key, 0)
        self._seen[key] = times + 1
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        rng = random.Random(f"{self._faults.seed} {key.hex()} {times}")  # noqa: S311 - a simulation
        return Fate(self._choose(rng.random()), rng.uniform(2 / 3, 4 / 3))

    def _choose(self, drawn: float) -> Fault | None:
        for fault in Fault:
            drawn -= self._faults.rate(fault)
            if drawn < 0:
                return fault
        return None
