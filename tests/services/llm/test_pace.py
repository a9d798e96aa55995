"""Retries that spread, waits that are kept to, and what an endpoint's error messages teach."""

import random
from dataclasses import replace
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.llm.dialect import Dialect, ModelRequest
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


QUESTION = ModelRequest(
    [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
    "verdict",
    {"type": "object", "title": "lines"},
    {"type": "object"},
    500,
    0.0,
)


def test_a_dialect_learns_from_refusals_and_stops() -> None:
    first = Dialect()
    assert first.parameters(QUESTION)["response_format"]["json_schema"]["schema"] == QUESTION.schema
    schema = first.learn("Invalid schema for response_format 'verdict': 'pattern' is not permitted")
    assert schema is not None
    assert schema.parameters(QUESTION)["response_format"]["json_schema"]["schema"] == QUESTION.plain
    an_object = schema.learn("Invalid parameter: 'response_format' of type 'json_schema' is not supported")
    assert an_object is not None
    assert an_object.parameters(QUESTION)["response_format"] == {"type": "json_object"}
    plain = an_object.learn("Unknown parameter: response_format")
    assert plain is not None
    reasoning = plain.learn(
        "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    assert reasoning is not None
    last = reasoning.learn("'temperature' does not support 0.0 with this model")
    assert last is not None
    uncounted = last.learn("Extra inputs are not permitted: stream_options")
    assert uncounted is not None
    assert uncounted.parameters(QUESTION)["stream"] is True
    last = uncounted.learn("Streaming is not supported")
    assert last is not None
    assert last.learn("response_format temperature max_completion_tokens stream_options stream") is None
    parameters = last.parameters(QUESTION)
    assert set(parameters) == {"messages", "max_completion_tokens"}
    assert '{"type": "object"}' in parameters["messages"][0]["content"]


@pytest.mark.parametrize("message", ["messages must not be empty", "the upstream server objects"])
def test_an_ordinary_bad_request_teaches_nothing(message: str) -> None:
    assert Dialect().learn(message) is None


def test_a_short_reply_is_not_streamed_unless_the_model_reasons_before() -> None:
    short = replace(QUESTION, max_tokens=60)
    assert not Dialect().streams(short)
    assert Dialect().streams(replace(short, effort="low"))
