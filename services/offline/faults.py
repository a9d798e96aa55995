"""Simulated faults of real endpoints at given rates, reproducible by a seed.

The fault of a request depends on the seed, its bytes, and how often the same bytes came before. A run can
therefore be repeated, whatever the order of concurrent requests, and a retry may succeed.
"""

import hashlib
import random
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum

_REMEMBERED = 10_000


class Fault(StrEnum):
    """The faults that one request can have."""

    RATE_LIMITED = "rate_limited"  # 429 with Retry-After
    SERVER_ERROR = "server_error"  # 500
    TIMEOUT = "timeout"  # no response for a while, then 504
    DROPPED = "dropped"  # the connection closes in the middle of the body
    CUT = "cut"  # the reply stops half way, finish_reason length
    INVALID_JSON = "invalid_json"  # prose with half an object in it
    WRONG_COUNT = "wrong_count"  # the last label is missing
    UNKNOWN_LABEL = "unknown_label"  # a label that does not exist
    EMPTY = "empty"  # a reply without text
    REFUSAL = "refusal"  # the model declines
    CONTENT_FILTER = "content_filter"  # the provider's filter stops the reply


@dataclass(frozen=True, slots=True)
class Faults:
    """The behaviour of a simulated endpoint. By default it never fails and answers at once.

    Attributes:
        seed: Seed of all random choices.
        latency_s: Seconds before a reply; it varies by a third.
        latency_per_token_s: Seconds per token of a reply; it varies by a third.
        rate_limited: Share of requests with this fault; all shares together are at most 1.
        server_error: Share of requests with this fault.
        timeout: Share of requests with this fault.
        dropped: Share of requests with this fault.
        cut: Share of requests with this fault.
        invalid_json: Share of requests with this fault.
        wrong_count: Share of requests with this fault.
        unknown_label: Share of requests with this fault.
        empty: Share of requests with this fault.
        refusal: Share of requests with this fault.
        content_filter: Share of requests with this fault.
        retry_after_s: Seconds that a 429 reply asks to wait.
        hang_s: Seconds without a response in case of a timeout.
        structured_outputs: Whether `response_format` is supported; if not, the reply is a 400.
        streaming: Whether replies can be sent in parts; if not, a request for that is a 400.
        decisions: Whether there is a path for decisions.
        logprobs: Whether `logprobs` is supported; if not, the reply is a 400.
        declined: Share of the questions of a decision that are declined.
        confidence: Exponent of all probabilities of decisions: above 1 it simulates an overconfident model,
            below 1 an underconfident one.
        reasoning_tokens: Tokens that a model that reasons writes before every reply, unless its effort is
            "none"; it accepts neither a temperature nor `max_tokens`. None for a model that does not reason.
        batches: Whether there are batches.
        batch_s: Seconds that a batch takes; it varies by a third.
        batch_failed: Share of batches that fail when they are validated.
        batch_expired: Share of batches that expire when half of their requests are answered.
        batch_tokens: Estimated tokens that all batches in progress may have together; any number by default.
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
    wrong_count: float = 0.0
    unknown_label: float = 0.0
    empty: float = 0.0
    refusal: float = 0.0
    content_filter: float = 0.0
    retry_after_s: float = 1.0
    hang_s: float = 300.0
    structured_outputs: bool = True
    streaming: bool = True
    decisions: bool = True
    logprobs: bool = True
    declined: float = 0.0
    confidence: float = 1.0
    reasoning_tokens: int | None = None
    batches: bool = True
    batch_s: float = 0.0
    batch_failed: float = 0.0
    batch_expired: float = 0.0
    batch_tokens: int | None = None

    def __post_init__(self) -> None:
        rates = [self.rate(fault) for fault in Fault]
        if min(rates) < 0 or sum(rates) > 1 + 1e-9:
            raise ValueError(f"rates must not be negative and add up to at most 1, not {sum(rates)}")
        if min(self.batch_failed, self.batch_expired) < 0 or self.batch_failed + self.batch_expired > 1:
            raise ValueError("shares of batches must not be negative and add up to at most 1")
        if not 0 <= self.declined <= 1 or self.confidence <= 0:
            raise ValueError("the share of declined questions is in [0, 1], and the confidence is above 0")

    def rate(self, fault: Fault) -> float:
        """The share of requests with this fault."""
        rate: float = getattr(self, fault.value)
        return rate


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The behaviour of the endpoint for one request.

    Attributes:
        fault: The fault, or None.
        pace: Factor of the latency, in [2/3, 4/3].
    """

    fault: Fault | None
    pace: float


class FaultSampler:
    """Draws the behaviour of the endpoint for each request."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._seen: OrderedDict[bytes, int] = OrderedDict()

    def draw(self, body: bytes) -> Behaviour:
        """The behaviour for a request with these bytes, counting how often they came before."""
        key = hashlib.sha256(body).digest()
        times = self._seen.pop(key, 0)
        self._seen[key] = times + 1
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        rng = random.Random(f"{self._faults.seed} {key.hex()} {times}")  # noqa: S311 - a simulation
        return Behaviour(self._choose(rng.random()), rng.uniform(2 / 3, 4 / 3))

    def _choose(self, drawn: float) -> Fault | None:
        for fault in Fault:
            drawn -= self._faults.rate(fault)
            if drawn < 0:
                return fault
        return None
