"""`nuggetstream rate` as a user runs it: files in, tables and files out, bad files named and exit code 2."""

import csv
import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.e2e.processes import run_here
from tests.evaluated import file_of, round_robin

TITLES = (
    "Leaderboard",
    "At equal style",
    "What style is worth",
    "tournaments (float)",
    "tournaments (ragelo)",
    "Battles until",
    "Win rates by people",
    "Ratings by people",
)
QUICK = ("--resamples", "100")


async def rate(*arguments: str | Path) -> tuple[int, str]:
    return run_here("rate", *map(str, arguments))


def written(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def strict(path: Path) -> dict[str, Any]:
    """JSON as the standard has it: no infinity and no NaN."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{path} holds {name}")

    found = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


async def test_every_section_is_written_as_strict_json_and_tables(tmp_path: Path) -> None:
    rows = ["battle_id,system_a,system_b,winner,query,text_a,text_b"]
    rows += [
        f"{n},{a},{b},{'ab'[n % 3 == 0]},q{n % 7},{'long ' * (n % 5)}text,{'long ' * (n % 4)}text"
        for n, (a, b) in enumerate([("x", "y"), ("y", "z"), ("x", "z"), ("z", "x")] * 8)
    ]
    judge = written(tmp_path, "\n".join([*rows, "99,up,x,a,q0,t,t"]), "judge.csv")
    people = written(tmp_path, "\n".join(rows[:14]), "people.csv")
    out = tmp_path / "out"
    code, output = await rate(
        judge, "--human", people, "--style", "--elo", "--ragelo", "--rounds", "20", "--advise",
        "--bootstrap", "multinomial", "--anchor", "x=1000", *QUICK, "--out", out,
    )  # fmt: skip
    assert code == 0, output
    for title in TITLES:
        assert title in output
    assert "never lost or tied: only a lower bound exists" in output
    found = strict(out / "ratings.json")
    assert found["rests_on"]["sources"][0]["votes"] == 33
    assert found["rests_on"]["bootstrap"] == "multinomial"
    assert found["rests_on"]["anchor"] == {"system": "x", "rating": 1000.0}
    standings = {standing["system"]: standing for standing in found["standings"]}
    assert standings["x"]["interval"] == "fixed"
    assert standings["up"]["rating"] is None
    assert standings["up"]["interval"] is None
    assert [played["arithmetic"] for played in found["elo"]] == ["float", "ragelo"]
    assert {each["system"] for each in found["combined"]["systems"]} == {"x", "y", "z", "up"}
    ratings = table(out / "ratings.csv")
    assert [row["system"] for row in ratings] == [each["system"] for each in found["standings"]]
    assert ratings[-1]["rating"] == ""
    assert len(table(out / "differences.csv")) == 3
    wins = {(row["system"], row["opponent"]): row for row in table(out / "wins.csv")}
    assert wins["up", "x"]["battles"] == "1.0"
    assert float(wins["x", "y"]["wins"]) == float(wins["y", "x"]["losses"])
    assert {row["by"] for row in table(out / "combined.csv")} == {"human", "automatic", "combined"}


async def test_intervals_without_an_end_are_null_with_a_state(tmp_path: Path) -> None:
    path, out = written(tmp_path, "a,b,winner\nx,y,a\nx,y,b\n"), tmp_path / "out"
    code, output = await rate(path, "--bootstrap", "multinomial", "--out", out)
    assert code == 0
    assert "resamples could not be ranked" in output
    for standing in strict(out / "ratings.json")["standings"]:
        assert (standing["low"], standing["high"], standing["interval"]) == (None, None, "unbounded")
    (gap,) = table(out / "differences.csv")
    assert (gap["low"], gap["high"], gap["interval"]) == ("", "", "unbounded")


async def test_only_ties_and_two_islands_are_states_and_no_errors(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, output = await rate(written(tmp_path, "a,b,winner\nx,y,tie\nx,y,tie\n"), "--out", out)
    assert code == 0
    assert "Every battle between ranked systems is a tie" in output
    found = strict(out / "ratings.json")
    assert [note["state"] for note in found["notes"]] == ["all_tied", "provisional"]
    assert {standing["interval"] for standing in found["standings"]} == {"degenerate"}
    islands = written(tmp_path, "a,b,winner\nx,y,a\ny,x,a\np,q,a\nq,p,a\n", "islands.csv")
    code, output = await rate(islands, "--out", out)
    assert code == 0
    assert "form 2 groups that never met" in output
    assert strict(out / "ratings.json")["islands"] == [["p", "q"], ["x", "y"]]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("a,b,winner\nx,y,a\nx,x,b\n", (), "votes.csv:3: b: system 'x' battles itself"),
        ("a,b,winner\nx,y,NaN\n", (), "votes.csv: winner: none of 1 rows says an outcome"),
        ("a,b,winner,weight\nx,y,a,-2\n", (), "votes.csv:2: weight: is '-2'"),
        ("a,b,winner,count\nx,y,a,few\n", (), "votes.csv:2: count: is 'few'"),
        ("a,b,winner\nx,y,a\n", ("--systems", "x,z"), "votes.csv:2: b: system 'y' is unknown; known: x, z"),
        ("a,b,who\nx,y,a\n", (), "winner or vote or outcome: is no column, see --winner"),
        ("", (), "votes.csv: is empty"),
        ("a,b,winner\nx,y,a\nx,y,b\n", ("--anchor", "z=1000"), "anchor: 'z' has no battle here"),
        ("a,b,winner\nx,y,a\n", ("--anchor", "x"), "--anchor: 'x' is not of the form NAME=RATING"),
        ("a,b,winner\nx,y,a\n", ("--anchor", "x=inf"), "--anchor: 'inf' is not a number"),
        ("a,b,winner\nx,y,a\n", ("--weigh", "judge=1"), "'judge' is no source; there is votes"),
        ("a,b,winner\nx,y,a\n", ("--weigh", "votes=1", "--weigh", "votes=2"), "is weighed twice"),
        ("a,b,winner\nx,y,a\n", ("--ties", "davidson", "--intervals", "sandwich"), "not for davidson"),
        ("a,b,winner,q\nx,y,a,1\nx,y,b,1\n", ("--cluster", "q"), "votes are one cluster"),
        ("a,b,winner,q\nx,y,a,1\n", ("--cluster", "q", "--human", "x.csv"), "does not go with --cluster"),
        (
            "a,b,winner\nx,y,a\n",
            ("--ties", "davidson", "--human", "x.csv"),
            "does not go with a model of ties",
        ),
        (
            "a,b,winner\nx,y,a\n",
            ("--human", "x.csv"),
            "or battle or question_id or id: is no column, see --battle",
        ),
    ],
)
async def test_bad_input_is_named_and_exits_2(
    tmp_path: Path, text: str, options: tuple[str, ...], said: str
) -> None:
    code, output = await rate(written(tmp_path, text), *options, "--out", tmp_path / "out")
    assert code == 2
    assert said in output
    assert "Traceback" not in output
    assert not (tmp_path / "out").exists()


async def test_several_files_are_one_rating_with_visible_weights(tmp_path: Path) -> None:
    people = written(tmp_path, "a,b,winner,count\nx,y,a,3\nx,y,b,1\n", "people.csv")
    judge = written(tmp_path, "a,b,winner,count\nx,y,a,1\nx,y,b,3\n", "judge.csv")
    systems = written(tmp_path, "x\ny\n", "systems.txt")
    out = tmp_path / "out"
    code, output = await rate(
        people, judge, "--weigh", "judge=0.5", "--systems", systems, "--out", out, *QUICK
    )
    assert code == 0, output
    assert "from people: 4 votes in 2 rows, weight 1, 66.7% of the total weight" in output
    assert "from judge: 4 votes in 2 rows, weight 0.5, 33.3% of the total weight" in output
    assert [each["weight"] for each in strict(out / "ratings.json")["rests_on"]["sources"]] == [1.0, 0.5]


async def test_results_of_an_evaluation_are_rated_by_lens(tmp_path: Path) -> None:
    results = file_of(tmp_path, round_robin(4))
    code, output = await rate(results, *QUICK)
    assert code == 0, output
    assert "from human: 12 votes in 12 rows" in output
    both = ("--weigh", "human=1", "--weigh", "judge=0.2", "--cluster", "query")
    code, output = await rate(results, *both, *QUICK)
    assert code == 0, output
    assert "from judge: 12 votes in 12 rows, weight 0.2" in output
    assert "over 12 clusters (query)" in output


async def test_the_recorded_crowd_is_rated_without_any_option(recorded_data: Path) -> None:
    code, output = await rate(recorded_data / "llmfao" / "crowd-comparisons.csv", *QUICK)
    assert code == 0, output
    assert "from crowd-comparisons: 8,931 votes in 8,931 rows" in output
    first = next(line for line in output.splitlines() if line.split()[:1] == ["1"])
    assert "GPT 4 " in first
    assert "1172" in first
