"""Labels and buckets of the metrics."""

import pytest
from prometheus_client import REGISTRY

from services.runtime import metrics


@pytest.fixture
def no_arenas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_arenas", set())


@pytest.mark.usefixtures("no_arenas")
def test_strangers_cannot_make_the_number_of_arena_labels_grow() -> None:
    labels = {metrics.arena_label(f"arena-{number}") for number in range(1000)}
    assert len(labels) == 31
    assert metrics.OTHER in labels
    assert metrics.arena_label("arena-0") == "arena-0"
    assert metrics.arena_label("arena-999") == metrics.OTHER
    assert metrics.arena_label(None) == metrics.OTHER


@pytest.mark.parametrize(
    "histogram",
    [metrics.PROCESS_SECONDS, metrics.STAGE_SECONDS, metrics.BATTLE_SECONDS, metrics.LLM_SECONDS],
)
def test_buckets_go_beyond_the_longest_attempt(histogram: object) -> None:
    bounds = [bound for bound in histogram._upper_bounds if bound != float("inf")]  # type: ignore[attr-defined]
    assert 300 in bounds  # the deadline of the nuggetizer and the indexer
    assert max(bounds) > 300


def test_the_series_of_a_stage_exist_before_its_first_message() -> None:
    metrics.begin_stage("a-new-stage", ["bug"])
    stage = {"stage": "a-new-stage"}
    for name, labels in (
        ("nuggetstream_deliveries_total", {"redelivered": "true"}),
        ("nuggetstream_dead_letters_total", {"reason": "bug"}),
        ("messaging_process_duration_seconds_count", {"outcome": "dead_lettered"}),
        ("messaging_process_duration_seconds_count", {"outcome": "retried"}),
        ("nuggetstream_in_flight", {}),
    ):
        assert REGISTRY.get_sample_value(name, stage | labels) == 0, name
