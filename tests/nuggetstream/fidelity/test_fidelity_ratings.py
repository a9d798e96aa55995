"""The published ratings, from recorded votes."""

from pathlib import Path

import pytest

from nuggetstream.fidelity.ratings import arena_votes, llmfao_votes, ragelo_table, rows
from nuggetstream.ratings.tally import TiePolicy, connectivity

IDS = ["F4", "F5", "F6", "F6", "F7"]


def test_every_published_rating_is_reproduced(recorded_data: Path) -> None:
    found = rows(recorded_data)
    assert [row.id for row in found] == IDS
    assert [row for row in found if not row.passed] == []


def test_the_recorded_votes_are_all_there(recorded_data: Path) -> None:
    arena = arena_votes(recorded_data / "lmsys_2024_08")
    assert arena.points(TiePolicy.HALF).sum() == 1_670_250
    crowd = llmfao_votes(recorded_data / "llmfao" / "crowd-comparisons.csv")
    assert crowd.points(TiePolicy.HALF).sum() == 8_931
    assert [len(group) for group in connectivity(crowd).groups] == [59]


def test_table_5_is_200_whole_games_a_pair(recorded_data: Path) -> None:
    tally = ragelo_table(recorded_data / "ragelo")
    assert tally.points(TiePolicy.HALF).sum() == pytest.approx(15 * 200)
