"""The API, the command and the report give the same answers for the same votes."""

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from arena.v1 import ratings_pb2

from nuggetstream.domain.battle import Vote
from nuggetstream.files.results import read_results
from nuggetstream.ratings.advice import advise
from nuggetstream.ratings.counts import PairCount
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.report.numbers.combined import compute_combined
from nuggetstream.report.numbers.leaderboards import compute_leaderboards
from services.rater.counting import board_of_counts
from services.wire.convert import to_message
from tests.e2e.processes import run_here
from tests.evaluated import battle, file_of

SANDWICH = Options(intervals=Intervals.SANDWICH)


@dataclass(frozen=True)
class Row:
    a: str
    b: str
    winner: Vote


def random_rows(seed: int) -> list[Row]:
    """Votes on four systems of different strength, some of them close, one pair never asked about."""
    chance = random.Random(seed)
    strength = {"p": 0.0, "q": chance.uniform(0, 0.3), "r": chance.uniform(0, 1), "s": chance.uniform(0, 2)}
    rows = []
    for _ in range(chance.randint(60, 200)):
        a, b = chance.sample(["p", "q", "r", "s"], 2)
        if {a, b} == {"p", "s"}:
            continue
        gap = strength[a] - strength[b]
        winner = Vote.A if chance.random() < 1 / (1 + 10**-gap) else Vote.B
        rows.append(Row(a, b, chance.choice([winner] * 5 + [Vote.TIE, Vote.BOTH_BAD])))
    return rows


def counts_of(rows: list[Row]) -> list[PairCount]:
    return [PairCount(row.a, row.b, row.winner, 1) for row in rows]


def command(folder: Path, rows: list[Row], *options: str) -> dict[str, Any]:
    """What `nuggetstream rate` writes."""
    path, out = folder / "votes.csv", folder / "out"
    lines = [f"{row.a},{row.b},{row.winner.value},q{number}" for number, row in enumerate(rows)]
    path.write_text("\n".join(["a,b,winner,query", *lines]) + "\n", encoding="utf-8")
    code, output = run_here("rate", str(path), "--out", str(out), *options)
    assert code == 0, output
    found: dict[str, Any] = json.loads((out / "ratings.json").read_text(encoding="utf-8"))
    return found


def report(folder: Path, rows: list[Row]) -> Any:
    """What the report computes from."""
    battles = [
        battle(f"b{number}", row.a, row.b, human=row.winner.value, judge=None, scores=None)
        | {"query": f"q{number}"}
        for number, row in enumerate(rows)
    ]
    return read_results(file_of(folder, battles))


def pairs_of(neighbours: Any) -> list[tuple[str, str, str, int | None]]:
    return [(pair["above"], pair["below"], str(pair["state"]), pair["needed"]) for pair in neighbours]


@pytest.mark.parametrize("seed", range(6))
def test_advice_is_the_same_everywhere(seed: int, tmp_path: Path) -> None:
    rows = random_rows(seed)
    plain = command(tmp_path, rows, "--intervals", "sandwich", "--advise")["advice"]
    ratings = board_of_counts(counts_of(rows), SANDWICH)
    advice = advise(ratings, power=0.8, count=10)
    sent = [to_message(pair, ratings_pb2.Neighbours) for pair in advice.neighbours]
    api = [
        (pair.above, pair.below, pair.state, pair.needed if pair.HasField("needed") else None)
        for pair in sent
    ]
    assert pairs_of(plain["neighbours"]) == api
    assert [(pair["a"], pair["b"]) for pair in plain["next"]] == [(pair.a, pair.b) for pair in advice.next]
    assert [pair["shrinkage"] for pair in plain["next"]] == [pair.shrinkage for pair in advice.next]

    clustered = command(tmp_path, rows, "--intervals", "sandwich", "--advise", "--cluster", "query")["advice"]
    (arena,) = compute_combined(report(tmp_path, rows))
    asked = [(pair.above, pair.below, pair.state.value, pair.needed) for pair in arena.next.neighbours]
    assert pairs_of(clustered["neighbours"]) == asked
    # Where every vote is a cluster of its own, clusters change the variance by n / (n - 1) and nothing else.
    for one, other in zip(api, asked, strict=True):
        assert one[:3] == other[:3]
        if one[3] and other[3]:
            assert one[3] == pytest.approx(other[3], rel=0.05, abs=2)


@pytest.mark.parametrize("seed", range(4))
def test_a_board_is_the_same_everywhere(seed: int, tmp_path: Path) -> None:
    rows = random_rows(seed)
    written = command(tmp_path, rows)["standings"]
    ratings = board_of_counts(counts_of(rows), Options())
    sent = [to_message(standing, ratings_pb2.Standing) for standing in ratings.standings]
    (arena,) = compute_leaderboards(report(tmp_path, rows))
    shown = arena.boards[0].standings
    for row, standing, section in zip(written, sent, shown, strict=True):
        assert row["system"] == standing.system == section.system
        assert row["rating"] == standing.rating == section.rating
        assert (row["low"], row["high"]) == (standing.low, standing.high) == (section.low, section.high)
        assert row["rank"] == standing.rank == section.rank
        assert row["group"] == standing.group == section.group
        assert row["probability_first"] == standing.probability_first == section.probability_first
        assert row["interval_state"] == standing.interval_state == section.interval_state
        assert row["provisional"] is standing.provisional is section.provisional


@pytest.mark.slow
def test_a_thousand_and_one_against_nine_hundred_and_ninety_nine_is_equal_everywhere(tmp_path: Path) -> None:
    rows = [Row("x", "y", Vote.A)] * 1001 + [Row("x", "y", Vote.B)] * 999
    ratings = board_of_counts(counts_of(rows), SANDWICH)
    advice = advise(ratings, power=0.8, count=10)
    (pair,) = (to_message(pair, ratings_pb2.Neighbours) for pair in advice.neighbours)
    assert (pair.state, pair.HasField("needed")) == ("equal", False)
    advised = command(tmp_path, rows, "--intervals", "sandwich", "--advise")["advice"]["neighbours"]
    assert [(pair["state"], pair["needed"]) for pair in advised] == [("equal", None)]
    (arena,) = compute_combined(report(tmp_path, rows))
    assert [(pair.state.value, pair.needed) for pair in arena.next.neighbours] == [("equal", None)]
