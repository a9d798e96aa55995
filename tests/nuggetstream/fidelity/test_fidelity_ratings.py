"""What the published ratings rest on; the numbers: tests/e2e/test_fidelity.py."""

from pathlib import Path

import pytest

from nuggetstream.fidelity.ragelo import ragelo_table
from nuggetstream.fidelity.ratings import arena_votes, llmfao_votes
from nuggetstream.ratings.fitting.tally import connectivity
from nuggetstream.ratings.ties import TiePolicy


def test_the_recorded_votes_are_all_there(recorded_data: Path) -> None:
    arena = arena_votes(recorded_data / "lmsys_2024_08")
    assert arena.points(TiePolicy.HALF).sum() == 1_670_250
    crowd = llmfao_votes(recorded_data / "llmfao" / "crowd-comparisons.csv")
    assert crowd.points(TiePolicy.HALF).sum() == 8_931
    assert [len(group) for group in connectivity(crowd).groups] == [59]


def test_table_5_is_200_whole_games_a_pair(recorded_data: Path) -> None:
    tally = ragelo_table(recorded_data / "ragelo")
    assert tally.points(TiePolicy.HALF).sum() == pytest.approx(15 * 200)
