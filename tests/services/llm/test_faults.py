"""Faults come at their rates, and the same ones for the same seed."""

from collections import Counter

import pytest

from services.offline.faults import Fault, Faults, FaultSampler

HALF = Faults(seed=7, server_error=0.2, invalid_json=0.3)


def _drawn(faults: Faults, bodies: list[bytes]) -> dict[bytes, Fault | None]:
    sampler = FaultSampler(faults)
    return {body: sampler.draw(body).fault for body in bodies}


def test_fates_do_not_depend_on_the_order_of_requests() -> None:
    bodies = [b"%d" % n for n in range(50)]
    assert _drawn(HALF, bodies) == _drawn(HALF, bodies[::-1])


def test_another_seed_is_another_run() -> None:
    bodies = [b"%d" % n for n in range(50)]
    assert _drawn(HALF, bodies) != _drawn(Faults(seed=8, server_error=0.2, invalid_json=0.3), bodies)


def test_faults_come_at_about_their_rates() -> None:
    counts = Counter(_drawn(HALF, [b"%d" % n for n in range(4000)]).values())
    assert counts[Fault.SERVER_ERROR] == pytest.approx(800, abs=100)
    assert counts[Fault.INVALID_JSON] == pytest.approx(1200, abs=100)
    assert set(counts) == {None, Fault.SERVER_ERROR, Fault.INVALID_JSON}


def test_a_retry_of_the_same_request_may_fare_better() -> None:
    sampler = FaultSampler(HALF)
    assert len({sampler.draw(b"same").fault for _ in range(50)}) > 1


def test_without_rates_nothing_ever_fails() -> None:
    assert set(_drawn(Faults(), [b"%d" % n for n in range(100)]).values()) == {None}


@pytest.mark.parametrize("rates", [{"cut": 0.6, "timeout": 0.6}, {"cut": -0.1}])
def test_rates_that_are_no_shares_are_an_error(rates: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="rates"):
        Faults(**rates)  # type: ignore[arg-type]
