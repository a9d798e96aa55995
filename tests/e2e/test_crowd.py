"""`nuggetstream crowd` as a user runs it: files in, tables and files out."""

import gzip
import json
import math
from pathlib import Path

import pytest

from nuggetstream.crowd.grades import same_order
from nuggetstream.files.crowdrag import DIMENSIONS, read_grades
from tests.e2e.command_line import nuggetstream, rows, strict, written

TWO_VOTES = "item,worker,label\nx,ann,a\nx,ben,b\n"
ONE_WIN = "topic,first,second,label\nt,x,y,a\n"


async def test_plain_output_is_rows_for_another_program(tmp_path: Path) -> None:
    votes = written(tmp_path, "votes.csv", TWO_VOTES)
    code, output = await nuggetstream("crowd", "agreement", votes, "--plain", "--out", tmp_path / "out")
    assert code == 0, output
    table = [line.split("\t") for line in output.splitlines() if "\t" in line]
    assert table[0] == [
        *("dimension", "level", "items", "workers", "votes"),
        *("alpha", "kept", "votes per label"),  # without spam nothing could have disagreed
    ]
    assert table[1][:6] == ["label", "ordinal", "1", "2", "2", "0.000"]
    assert table[1][-1] == "a 1, b 1"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", (), "votes.csv: is empty"),
        ("item,worker\nx,ann\n", (), "is no column, see --label"),
        (TWO_VOTES + "x,ann,b\n", (), "votes.csv:4: worker: 'ann' labels 'x' twice"),
        (TWO_VOTES, ("--labels", "a,n"), "votes.csv:3: label: is 'b'; expected one of a, n"),
        (TWO_VOTES, ("--labels", "a"), "expected at least two labels"),
        (TWO_VOTES, ("--labels", "depth=a,b"), "depth: is no dimension; there is label"),
        (TWO_VOTES, ("--spam", "p"), "p: is no column, see --spam"),
        (TWO_VOTES.replace(",a", ",good"), ("--level", "ordinal"), "name the labels in their order"),
        (TWO_VOTES, ("--label", "label", "--label", "item", "--dimension", "item"), "goes with one --label"),
    ],
)
async def test_votes_that_cannot_be_used_are_named_and_exit_2(
    tmp_path: Path, text: str, options: tuple[str, ...], message: str
) -> None:
    votes = written(tmp_path, "votes.csv", text)
    code, output = await nuggetstream("crowd", votes, *options, "--out", tmp_path / "out")
    assert code == 2, output
    assert message in output
    assert "Traceback" not in output
    assert not (tmp_path / "out").exists()


async def test_one_worker_is_a_state_and_no_error(tmp_path: Path) -> None:
    votes = written(tmp_path, "votes.csv", "item,worker,label\nx,ann,1\ny,ann,2\n")
    code, output = await nuggetstream("crowd", votes, "--out", tmp_path / "out")
    assert code == 0, output
    assert "no gold labels and no competence: one worker only" in output
    assert strict(tmp_path / "out" / "crowd.json")["mean_alpha"]["agreement"] is None
    assert [row["gold"] for row in rows(tmp_path / "out" / "gold.csv")] == ["", ""]


async def test_the_recorded_crowd_agrees_as_published(recorded_data: Path, tmp_path: Path) -> None:
    ratings = recorded_data / "crowdrag25" / "ratings.jsonl.gz"
    code, output = await nuggetstream("crowd", ratings, "--restarts", "2", "--out", tmp_path)
    assert code == 0, output
    numbers = strict(tmp_path / "crowd.json")
    assert (numbers["rests_on"]["votes"], len(numbers["dimensions"])) == (47_320, 7)
    assert numbers["mean_alpha"]["agreement"] == pytest.approx(0.19, abs=0.01)
    assert numbers["mean_alpha"]["by_file"] == pytest.approx(0.41, abs=0.01)
    clear = numbers["split"]["differentiable"]
    assert clear["pairs"] == 1062
    assert clear["mean_alpha"]["agreement"] == pytest.approx(0.27, abs=0.01)
    assert clear["mean_alpha"]["by_file"] == pytest.approx(0.48, abs=0.01)
    assert numbers["split"]["minimally_differentiable"]["pairs"] == 290
    assert len(rows(tmp_path / "gold.csv")) == 7 * 1352


async def test_gold_from_every_recorded_answer_is_the_published_one(
    recorded_data: Path, tmp_path: Path
) -> None:
    folder = recorded_data / "crowdrag25"
    code, output = await nuggetstream(
        "crowd", folder / "raw_study2_responses.jsonl.gz", "--item", "response_a", "--item", "response_b",
        "--label", "validity", "--label", "quality_overall", "--labels", "validity=a,n,b",
        "--labels", "quality_overall=a,b", "--restarts", "20", "--out", tmp_path,
    )  # fmt: skip
    assert code == 0, output
    with gzip.open(folder / "ratings.jsonl.gz", "rt", encoding="utf-8") as lines:
        rated = [json.loads(line) for line in lines]
    gold = {(row["dimension"], row["item"]): row["gold"] for row in rows(tmp_path / "gold.csv")}
    for ours, theirs in (("validity", "correctness_topical"), ("quality_overall", "quality_overall")):
        same = [
            gold[ours, f"{row['response_a']} | {row['response_b']}"] == row[f"{theirs}_gold"] for row in rated
        ]
        assert sum(same) / len(same) >= 0.88


async def test_grades_follow_the_likelihood_worked_by_hand(tmp_path: Path) -> None:
    # One win. With merits 1 + u and 1 - u the gradient is 0 where 1 / (1 + e^(2u - t)) = λ tanh(u / 2).
    # For t = ln 3 and λ = 1/2 that is u = ln 3: 1 / (1 + 9 / 3) = 1/4 = 1/2 · (3 - 1) / (3 + 1).
    labels = written(tmp_path, "labels.csv", ONE_WIN)
    parameters = ("--lambda", "0.5", "-t", str(math.log(3)))
    code, output = await nuggetstream("crowd", "grades", labels, *parameters, "--out", tmp_path / "out")
    assert code == 0, output
    graded = [
        (row["item"], row["grade"], float(row["merit"])) for row in rows(tmp_path / "out" / "grades.csv")
    ]
    assert graded == [
        ("x", "2", pytest.approx(1 + math.log(3), abs=1e-6)),
        ("y", "1", pytest.approx(1 - math.log(3), abs=1e-6)),
    ]
    basis = strict(tmp_path / "out" / "grades.json")["rests_on"]
    assert (basis["regularisation"], basis["tie"], basis["topics"]) == (0.5, math.log(3), 1)


async def test_recorded_gold_labels_give_the_published_grades(recorded_data: Path, tmp_path: Path) -> None:
    folder = recorded_data / "crowdrag25"
    code, output = await nuggetstream("crowd", "grades", folder / "ratings.jsonl.gz", "--out", tmp_path)
    assert code == 0, output
    assert "9,464 labels in 1,352 rows, 65 topics, 7 dimensions" in output
    published = read_grades(folder)
    cells: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows(tmp_path / "grades.csv"):
        cells.setdefault((row["dimension"], row["topic"]), []).append(row)
    assert len(cells) == 65 * len(DIMENSIONS)
    identical = 0
    for (dimension, _), items in cells.items():
        theirs = {row["item"]: published[row["item"]][dimension] for row in items}
        identical += theirs == {row["item"]: int(row["grade"]) for row in items}
        assert same_order(theirs, {row["item"]: float(row["merit"]) for row in items})
    assert identical >= 449  # in the other cells items of equal merit are published in another order


async def test_gold_labels_that_one_command_writes_are_graded_by_the_other(tmp_path: Path) -> None:
    pairs = [("t", "x", "y", "a"), ("t", "y", "z", "a"), ("u", "x", "z", "b")]
    lines = [
        f"{topic},{first},{second},{who},{label}" for topic, first, second, label in pairs for who in "vw"
    ]
    votes = written(tmp_path, "votes.csv", "\n".join(["topic,first,second,worker,label", *lines]))
    code, output = await nuggetstream(
        "crowd", votes, "--item", "topic", "--sides", "first", "second", "--out", tmp_path
    )
    assert code == 0, output
    code, output = await nuggetstream("crowd", "grades", tmp_path / "gold.csv", "--plain")
    assert code == 0, output
    table = [line.split("\t") for line in output.splitlines() if not line.startswith("#")]
    assert [(row[1], row[2], row[-2]) for row in table[1:]] == [
        ("t", "x", "3"), ("t", "y", "2"), ("t", "z", "1"), ("u", "z", "2"), ("u", "x", "1"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("topic,first,second\nt,x,y\n", (), "gold or label or vote or NAME_gold: is no column, see --label"),
        ("topic,label\nt,a\n", (), "is no column, see --sides; it has topic, label"),
        (ONE_WIN, ("--topic", "query"), "labels.csv: query: is no column, see --topic"),
        (ONE_WIN.replace(",a", ",c"), (), "labels.csv:2: label: is 'c'; expected one of a, n, tie, b"),
        (ONE_WIN.replace("y", "x"), (), "labels.csv:2: second: item 'x' is compared with itself"),
        (ONE_WIN.replace("\nt,", "\n,"), (), "labels.csv:2: topic: is missing"),
        (ONE_WIN.replace(",a", ","), (), "labels.csv: label: none of 1 rows has one"),
        (ONE_WIN, ("--lambda", "0"), "Invalid value for '--regularisation'"),
        (ONE_WIN, ("--tie", "nan"), "Invalid value for '--tie'"),
        (ONE_WIN, ("--label", "label", "--label", "topic", "--dimension", "topic"), "goes with one --label"),
    ],
)
async def test_comparisons_that_cannot_be_used_are_named_and_exit_2(
    tmp_path: Path, text: str, options: tuple[str, ...], message: str
) -> None:
    labels = written(tmp_path, "labels.csv", text)
    code, output = await nuggetstream("crowd", "grades", labels, *options, "--out", tmp_path / "out")
    assert code == 2, output
    assert message in output.replace(" \n", " ").replace("\n", " ") or message in output
    assert not (tmp_path / "out").exists()
