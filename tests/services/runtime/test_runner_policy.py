"""The runner's decisions, without a broker."""

import pytest

from nuggetstream.domain.failure import Reason
from services.runtime.bus import UNLIMITED, Backoff, ConsumerSpec, StreamSpec
from services.runtime.bus.pull import PullStatus, pull_status
from services.runtime.errors import BudgetExceeded, Retryable, Unavailable
from services.runtime.runner import DeadLetter
from services.runtime.runner.flow import SlowStart, demand
from services.runtime.runner.policy import GiveUp, Retry, after_error, may_decode, when_exhausted

SPEC = ConsumerSpec("JOBS", "judge", (), "dead.judge", max_deliver=4, backoff=Backoff(base=2.0, cap=10.0))
AWAY = Unavailable(Reason.LLM_UNAVAILABLE, "503")


def test_the_delay_is_the_drawn_part_of_a_ceiling_that_doubles_up_to_its_cap():
    ceilings = [Retry(2.0), Retry(4.0), Retry(8.0)]
    assert [after_error(AWAY, attempt, SPEC, 1.0) for attempt in (1, 2, 3)] == ceilings
    assert after_error(AWAY, 3, SPEC, 0.25) == Retry(2.0)
    assert Backoff(2.0, 10.0).ceiling(5000) == 10.0


def test_a_delay_the_other_side_asked_for_is_the_least_delay():
    limited = Retryable(Reason.LLM_UNAVAILABLE, "429", retry_after=30.0)
    assert after_error(limited, 1, SPEC, 0.0) == Retry(30.0)
    assert after_error(limited, 1, SPEC, 0.5) == Retry(31.0)


def test_a_permanent_error_is_dead_at_the_first_attempt():
    assert after_error(BudgetExceeded("spent"), 1, SPEC, 0.5) == GiveUp(Reason.BUDGET_EXCEEDED, "spent")


def test_the_last_attempt_is_dead_with_the_reason_of_its_error():
    assert after_error(AWAY, 4, SPEC, 0.5) == GiveUp(Reason.LLM_UNAVAILABLE, "503")
    assert after_error(KeyError("x"), 4, SPEC, 0.5) == GiveUp(Reason.BUG, "KeyError", "KeyError: 'x'")
    assert isinstance(after_error(KeyError("x"), 3, SPEC, 0.5), Retry)


def test_a_consumer_without_a_limit_never_gives_up_on_a_passing_error():
    patient = ConsumerSpec("JOBS", "mover", (), "dead.mover", max_deliver=UNLIMITED)
    assert isinstance(after_error(AWAY, 10_000, patient, 0.5), Retry)
    assert when_exhausted(10_000, patient) is None
    assert patient.broker_max_deliver == UNLIMITED


def test_a_message_beyond_its_deliveries_is_not_handled_and_decoded_once_more_only():
    assert when_exhausted(4, SPEC) is None
    assert when_exhausted(5, SPEC).reason is Reason.MAX_DELIVERIES
    assert [may_decode(attempt, SPEC) for attempt in (5, 6, 7)] == [True, False, False]


def test_the_broker_stops_later_than_the_runner_gives_up():
    assert SPEC.config().max_deliver > SPEC.max_deliver + 1


def test_a_dedup_window_longer_than_the_stream_keeps_messages_is_cut_to_it():
    assert StreamSpec("S", ("s",), max_age=60.0, duplicate_window=600.0).config().duplicate_window == 60.0


@pytest.mark.parametrize("concurrency", [1, 3, 8])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_demand_never_exceeds_the_limit_and_never_starves_a_free_worker(concurrency, share):
    prefetch = int(concurrency * share)
    limit = concurrency + prefetch
    for handling in range(concurrency + 1):
        for waiting in range(prefetch + 1):
            for outstanding in range(limit - handling - waiting + 1):
                in_flight = handling + waiting
                more = demand(
                    limit=limit,
                    in_flight=in_flight,
                    waiting=waiting,
                    outstanding=outstanding,
                    prefetch=prefetch,
                )
                assert 0 <= more <= limit - in_flight - outstanding
                if waiting + outstanding == 0 and handling < concurrency:
                    assert more > 0


def test_slow_start_allows_one_more_for_each_redelivered_message_that_was_settled():
    slow_start = SlowStart(maximum=3, limit=1)
    slow_start.settled(attempt=1)
    assert slow_start.limit == 1
    limits = []
    for _ in range(3):
        slow_start.settled(attempt=2)
        limits.append(slow_start.limit)
    assert limits == [2, 3, 3]


def test_slow_start_ends_with_the_maximum():
    slow_start = SlowStart(maximum=16, limit=1)
    slow_start.end()
    assert slow_start.limit == 16


@pytest.mark.parametrize(
    ("status", "description", "meaning"),
    [
        ("100", "Idle Heartbeat", PullStatus.HEARTBEAT),
        ("404", "No Messages", PullStatus.EXPIRED),
        ("408", "Request Timeout", PullStatus.EXPIRED),
        ("409", "Batch Completed", PullStatus.EXPIRED),
        ("409", "Consumer Deleted", PullStatus.CONSUMER_MISSING),
        ("409", "Leadership Change", PullStatus.LOST),
        ("409", "Server Shutdown", PullStatus.LOST),
        ("409", "Exceeded MaxWaiting", PullStatus.REJECTED),
        ("503", "", PullStatus.CONSUMER_MISSING),
        ("400", "Bad Request", PullStatus.REJECTED),
    ],
)
def test_every_pull_status_has_a_meaning(status, description, meaning):
    assert pull_status(status, description) is meaning


def test_a_dead_letter_reads_back_as_it_was_written_without_the_brokers_own_headers():
    headers = {"schema": "t.Job", "traceparent": "00-x", "Nats-Msg-Id": "id", "Nats-Expected-Stream": "OTHER"}
    letter = DeadLetter(
        "judge", "job.one", "id", "t.Job", headers, b"body", Reason.BUG, "why\nso", 3, "JOBS", 7
    )
    sent = letter.outgoing("dead.judge")
    read = DeadLetter.read({**sent.headers, "schema": sent.schema}, sent.body)
    assert not [key for key in sent.headers if key.startswith("Nats-")]
    assert (read.id, read.subject, read.reason, read.attempts) == ("id", "job.one", Reason.BUG, 3)
    assert dict(read.headers) == {"traceparent": "00-x"}
    assert read.outgoing("dead.judge") == sent


def test_a_long_detail_is_cut_so_that_headers_stay_small():
    letter = DeadLetter("judge", "s", "id", "", {}, b"", Reason.BUG, "x" * 10_000, 1, "JOBS", 1)
    assert len(letter.outgoing("dead").headers["dead-detail"]) == 500
