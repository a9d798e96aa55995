"""Retries that spread, waits that are kept to, and a limit that finds itself."""

import asyncio
import random
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.llm.dialect import Dialect, ModelRequest
from services.runtime.llm.limiter import AdaptiveLimit
from services.runtime.llm.retries import RetryPolicy, retry_after_of


@given(st.integers(1, 4), st.integers())
def test_waits_are_within_the_growing_bound(failures: int, seed: int) -> None:
    wait = RetryPolicy(attempts=5, base_s=1.0, cap_s=3.0).wait(failures, None, random.Random(seed))
    assert wait is not None
    assert 0 <= wait <= min(3.0, 2.0 ** (failures - 1))


@given(st.floats(0, 60), st.integers())
def test_a_wait_the_server_asked_for_is_never_cut_short(retry_after: float, seed: int) -> None:
    wait = RetryPolicy().wait(1, retry_after, random.Random(seed))
    assert wait is not None
    assert wait >= retry_after


def test_retries_end() -> None:
    rng = random.Random(0)
    assert RetryPolicy(attempts=3).wait(3, None, rng) is None
    assert RetryPolicy(longest_s=60).wait(1, 61.0, rng) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_of(headers, now=1_000_000.0) == seconds


async def test_the_limit_halves_once_per_overload_and_grows_by_one_per_window() -> None:
    limit = AdaptiveLimit(maximum=8)
    async with limit.slot() as one, limit.slot() as two:
        limit.overloaded(one)
        limit.overloaded(two)  # began under the same limit: the same news
        assert limit.value == 4
    async with limit.slot() as later:
        limit.overloaded(later)
    assert limit.value == 2
    grown = []
    for _ in range(2 + 3 + 4):
        limit.succeeded()
        grown.append(limit.value)
    assert grown == [2, 3, 3, 3, 4, 4, 4, 4, 5]


async def test_the_limit_stays_between_one_and_its_maximum() -> None:
    limit = AdaptiveLimit(maximum=2)
    for _ in range(10):
        limit.succeeded()
    assert limit.value == 2
    for _ in range(3):
        async with limit.slot() as slot:
            limit.overloaded(slot)
    assert limit.value == 1


async def test_no_more_calls_run_than_the_limit_allows_and_all_get_their_turn() -> None:
    limit, running, most, done = AdaptiveLimit(maximum=3), 0, 0, 0

    async def call() -> None:
        nonlocal running, most, done
        async with limit.slot():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            done += 1

    await asyncio.gather(*(call() for _ in range(20)))
    assert (most, done) == (3, 20)


QUESTION = ModelRequest(
    [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
    "verdict",
    {"type": "object"},
    10,
    0.0,
)


def test_a_dialect_learns_from_refusals_and_stops() -> None:
    first = Dialect()
    plain = first.learn("Invalid parameter: 'response_format' of type 'json_schema' is not supported")
    assert plain is not None
    reasoning = plain.learn(
        "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    assert reasoning is not None
    last = reasoning.learn("'temperature' does not support 0.0 with this model")
    assert last is not None
    assert last.learn("response_format temperature max_completion_tokens") is None
    parameters = last.parameters(QUESTION)
    assert set(parameters) == {"messages", "max_completion_tokens"}
    assert '{"type": "object"}' in parameters["messages"][0]["content"]


def test_an_ordinary_bad_request_teaches_nothing() -> None:
    assert Dialect().learn("messages must not be empty") is None
