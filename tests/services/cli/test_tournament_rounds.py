"""Pairs in rounds, grades of experts, and the tables of the RAGElo paper."""

import json
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile
from nuggetstream.ratings.fitting.tally import Tally
from services.cli.tournament.experts import compared, experts_table, read_experts
from services.cli.tournament.plan import read_plan
from services.cli.tournament.rounds import add_chosen, next_pairs, read_chosen
from services.cli.tournament.standings import Standings, elo_of, pairs_of, paper_tables

AGENTS = ["a", "b", "c"]
PAIRS = [(f"q{n}", *two) for n in range(20) for two in (("a", "b"), ("a", "c"), ("b", "c"))]
QUERIES = {"q1": "Why?", "q2": "Who?", "q3": "When?"}


def tally(**won: int) -> Tally:
    """Counts such as ab=3: a won three battles against b."""
    return Tally.count((two[0], two[1], Vote.A, count) for two, count in won.items())


def test_the_first_round_is_every_two_agents_and_the_next_the_least_certain_ones() -> None:
    first = next_pairs(PAIRS, (), Tally.count([]), 12, seed=1)
    assert sorted(pair[1:] for pair in first) == [("a", "b"), ("a", "c"), ("b", "c")]
    # c loses to everybody again and again; nobody knows about a and b.
    more = next_pairs(PAIRS, first, tally(ac=8, bc=8), 12, seed=1)
    assert [pair[1:] for pair in more] == [("a", "b")] * 3
    assert not set(more) & set(first)
    assert more == next_pairs(PAIRS, first, tally(ac=8, bc=8), 12, seed=1)


def test_rounds_end_with_the_budget_or_with_the_pairs() -> None:
    for budget, total in ((7, 7), (1, 1), (1000, len(PAIRS))):
        chosen: list[Any] = []
        while new := next_pairs(PAIRS, chosen, Tally.count([]), budget, seed=1):
            chosen += new
        assert len(chosen) == len(set(chosen)) == total


def test_chosen_pairs_are_read_back(tmp_path: Path) -> None:
    assert read_chosen(tmp_path) == []
    add_chosen(tmp_path, PAIRS[:2])
    add_chosen(tmp_path, PAIRS[2:3])
    assert read_chosen(tmp_path) == PAIRS[:3]


def test_informative_pairs_need_a_budget(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("q1\tWhy?\n", encoding="utf-8")
    plan = tmp_path / "plan.toml"
    agents = "".join(
        f'[agents.{name}]\nkind = "http"\nurl = "http://localhost"\nmodel = "m"\n' for name in "ab"
    )
    plan.write_text(f'queries = "q.tsv"\npairs = "informative"\n{agents}', encoding="utf-8")
    with pytest.raises(UnusableFile, match="budget: is missing"):
        read_plan(plan)


def experts_file(folder: Path, *rows: str) -> Path:
    path = folder / "experts.csv"
    path.write_text("\n".join(["query,agent,criterion,grade", *rows]) + "\n", encoding="utf-8")
    return path


def test_experts_are_averaged_and_compared_by_hand(tmp_path: Path) -> None:
    rows = (
        "q1,a,relevance,2",
        "Why?,a,relevance,1",
        "q2,a,relevance,0",
        "q3,a,relevance,1",
        "q1,b,relevance,2",
    )
    experts = read_experts(experts_file(tmp_path, *rows, "q1,a,style,1"), QUERIES, AGENTS)
    assert experts["relevance"]["q1", "a"] == 1.5
    ours = {
        ("answer_quality", "relevance"): {
            ("q1", "a"): 2.0,
            ("q2", "a"): 0.0,
            ("q3", "a"): 2.0,
            ("q3", "c"): 1.0,
        }
    }
    [found] = compared(ours, experts)
    assert (found.answers, found.alone) == (3, 1)
    assert found.limits is not None
    # Differences 0.5, 0 and 1: bias 0.5, standard deviation 0.5.
    assert (found.limits.bias, found.limits.sd) == (0.5, 0.5)
    assert (found.limits.low, found.limits.high) == pytest.approx((0.5 - 0.98, 0.5 + 0.98), abs=1e-3)
    assert found.t is not None
    assert found.t.statistic == pytest.approx(3**0.5)
    assert found.tau is not None
    assert found.tau.coefficient == pytest.approx(2 / 6**0.5)
    printed = str(experts_table([found], experts))
    assert "no evaluator graded style" in printed
    assert "1 grade of experts on answers that the evaluator did not grade" in printed


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("q9,a,relevance,1", "'q9' is no query of the tournament"),
        ("q1,z,relevance,1", "'z' is no agent of the plan"),
        ("q1,a,relevance,good", "grade"),
        ("q1,a,relevance,", "grade"),
    ],
)
def test_a_row_of_experts_that_cannot_be_used_is_named(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(UnusableFile, match=r"experts\.csv") as error:
        read_experts(experts_file(tmp_path, row), QUERIES, AGENTS)
    assert said in str(error.value)


def test_the_tables_of_the_paper_have_our_numbers() -> None:
    counts = Tally.count([("a", "b", Vote.A, 3), ("a", "b", Vote.B, 1), ("a", "b", Vote.TIE, 1)])
    standings = Standings(
        agents={"a": None, "b": None, "c": None},  # type: ignore[dict-item]
        boards={},
        elo=elo_of(counts),
        pairs={"judge": pairs_of(counts)},
        retrieval=None,
        currency="USD",
    )
    found = paper_tables(standings)
    columns, rows = found["win_percent.csv"]
    assert columns == ["row_agent", "a", "b", "c"]
    assert [list(row.values()) for row in rows] == [
        ["a", None, 60.0, None], ["b", 20.0, None, None], ["c", None, None, None],
    ]  # fmt: skip
    columns, rows = found["elo.csv"]
    assert columns == ["agent", "elo_mean"]
    assert [row["agent"] for row in rows] == ["a", "b"]
    assert json.loads(json.dumps(rows))[0]["elo_mean"] > 1000
