"""How much silence an endpoint may have, by its speed."""

from contextlib import ExitStack

import pytest

from services.runtime.llm.prices import Tokens
from services.runtime.llm.speed import Speed, work_of

PROMPT = 10_000  # tokens


def test_a_fast_endpoint_has_the_seconds_of_the_settings() -> None:
    speed = Speed(60.0)
    speed.answered(PROMPT, seconds=2.0)
    assert speed.silence(PROMPT) == 60.0


def test_a_slow_endpoint_has_what_it_needs_with_room() -> None:
    speed = Speed(60.0)
    speed.answered(3_000, seconds=100.0)
    assert 2 * PROMPT / 30 < speed.silence(PROMPT) < 6 * PROMPT / 30
    speed.answered(3_000, seconds=1.0)  # the slowest of the last calls counts
    assert speed.silence(PROMPT) > 2 * PROMPT / 30
    for _ in range(10):
        speed.answered(3_000, seconds=1.0)
    assert speed.silence(PROMPT) == 60.0


def test_a_slow_endpoint_has_the_time_of_the_calls_before_which_it_does_first() -> None:
    # One slot: the call before read 2,952 tokens and wrote up to 4,000 of them, at 20 tokens read per second.
    speed, before = Speed(60.0), work_of(Tokens(input=2_952, output=4_000))
    speed.answered(2_000, seconds=110.0)
    assert speed.silence(2_000) < 840
    with speed.running(before):
        assert speed.silence(2_000) > 840
    assert speed.silence(2_000) < 840


def test_many_calls_at_once_are_done_side_by_side() -> None:
    speed = Speed(60.0)
    speed.answered(2_000, seconds=110.0)
    alone = speed.silence(2_000)
    with ExitStack() as running:
        for _ in range(4):
            running.enter_context(speed.running(2_000))
        assert speed.silence(2_000) == alone


def test_a_short_prompt_says_little_about_the_speed() -> None:
    speed = Speed(60.0)
    speed.answered(10, seconds=1.0)
    assert speed.silence(PROMPT) < 300


def test_an_endpoint_that_was_never_heard_of_may_be_a_slow_one() -> None:
    speed = Speed(60.0)
    assert speed.silence(100) == 60.0
    assert 300 <= speed.silence(PROMPT) <= 900
    assert speed.silence(10_000_000) == 900.0


@pytest.mark.parametrize(("waited", "next_time"), [(60.0, 120.0), (600.0, 900.0), (3000.0, 900.0)])
def test_silence_that_ended_a_call_is_allowed_to_be_longer_next_time(waited: float, next_time: float) -> None:
    speed = Speed(60.0)
    speed.silent(waited)
    assert speed.silence(100) == next_time
    speed.answered(100, seconds=1.0)
    assert speed.silence(100) == 60.0


def test_what_the_settings_allow_is_never_cut() -> None:
    speed = Speed(7200.0)
    speed.silent(7200.0)
    assert speed.silence(100) == 7200.0
