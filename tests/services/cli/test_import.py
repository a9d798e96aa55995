"""`nuggetstream import`: files of others become battles, votes or rows, and what cannot be used is named."""

import csv
import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.registry import FORMATS, read_battles
from nuggetstream.files.results import read_results
from services.cli.main import main

SAMPLES = Path(__file__).parents[2] / "nuggetstream" / "files" / "formats" / "samples"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["import", *map(str, arguments)])


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_battles_are_written_as_the_platform_takes_them(tmp_path: Path) -> None:
    result = run(SAMPLES / "comparia.jsonl", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "ComparIA; 3 rows imported, 1 rejected" in result.output
    again = list(read_battles(tmp_path / "battles.jsonl"))
    first = [line for line in read_battles(SAMPLES / "comparia.jsonl") if isinstance(line, BattleLine)]
    assert [line.submission for line in again if isinstance(line, BattleLine)] == [
        line.submission for line in first
    ]
    [bad] = read(tmp_path / "rejected.jsonl")
    assert bad["line"] == 4
    assert bad["problems"][0].startswith("conversation_a: is not valid JSON")


def test_another_import_replaces_what_was_there(tmp_path: Path) -> None:
    run(SAMPLES / "comparia.jsonl", "--out", tmp_path)
    run(SAMPLES / "ragelo_verdicts.csv", "--out", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rejected.jsonl", "votes.jsonl"]
    assert [vote["winner"] for vote in read(tmp_path / "votes.jsonl")] == ["a", "tie"]
    rated = CliRunner().invoke(main, ["rate", str(tmp_path / "votes.jsonl"), "--plain"])
    assert rated.exit_code == 0, rated.output
    assert "agent_0" in rated.output
    run(SAMPLES / "qrels.txt", "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]
    assert read(tmp_path / "rows.jsonl")[0]["label"] == 3


@pytest.mark.parametrize("is_folder", [True, False])
@pytest.mark.parametrize("name", ["votes.jsonl", "battles.jsonl", "votes.jsonl.part"])
def test_an_import_never_replaces_a_file_that_it_reads(name: str, is_folder: bool, tmp_path: Path) -> None:
    if is_folder and name.endswith(".part"):
        pytest.skip("a folder is read without files of this ending")
    text = (SAMPLES / "votes.jsonl").read_text("utf-8")
    (tmp_path / name).write_text(text, "utf-8")
    result = run(tmp_path if is_folder else tmp_path / name, "--out", tmp_path)
    assert result.exit_code == 2
    assert f"{name}: the import would replace this file; name another folder with --out" in result.output
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [(name, text)]
    other = tmp_path / "other"
    assert run(tmp_path / name, "--out", other).exit_code == 0
    assert read(other / "votes.jsonl")


def test_an_import_never_replaces_its_documents(tmp_path: Path) -> None:
    text = json.dumps({"docid": "d1", "text": "So."}) + "\n"
    (tmp_path / "rows.jsonl").write_text(text)
    result = run(SAMPLES / "comparia.jsonl", "--out", tmp_path, "--documents", tmp_path / "rows.jsonl")
    assert result.exit_code == 2
    assert "rows.jsonl: the import would replace this file" in result.output
    assert (tmp_path / "rows.jsonl").read_text() == text


def test_an_import_that_cannot_be_read_to_its_end_leaves_an_earlier_one(tmp_path: Path) -> None:
    run(SAMPLES / "comparia.jsonl", "--out", tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    whole = gzip.compress((SAMPLES / "votes.jsonl").read_bytes() * 100)
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:-20])
    result = run(tmp_path / "cut.jsonl.gz", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_assignments_of_nuggetizer_become_results_and_come_back(tmp_path: Path) -> None:
    sample = tmp_path / "assignments.jsonl"
    rows = read(SAMPLES / "nuggetizer_assignments.jsonl")
    failed = rows[0] | {"run_id": "failed", "nuggets": [rows[0]["nuggets"][0] | {"assignment": "failed"}]}
    other = rows[0] | {"run_id": "other", "nuggets": rows[0]["nuggets"][:2]}
    sample.write_text("\n".join(json.dumps(row) for row in (*rows, failed, other)) + "\n{\n")
    result = run(sample, "--to", "results", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    problems = {(row["line"], row["problems"][0][:34]) for row in read(tmp_path / "out" / "rejected.jsonl")}
    assert {line for line, _ in problems} >= {3, 5}
    assert any(problem.startswith("nuggets: differ from those of") for _, problem in problems)
    [battle] = read_results(tmp_path / "out" / "results.jsonl").battles
    assert battle.nugget_verdict is not None
    scores = {
        battle.a.system: battle.nugget_verdict.a.all_score,
        battle.b.system: battle.nugget_verdict.b.all_score,
    }
    assert scores == {"base": pytest.approx(0.5), "deep": 0.0}
    back = tmp_path / "back.jsonl"
    exported = [
        "export",
        str(tmp_path / "out" / "results.jsonl"),
        "--to",
        "nuggetizer-assignments",
        "--out",
        str(back),
    ]
    assert CliRunner().invoke(main, exported).exit_code == 0
    kept = ("query", "answer_text", "run_id", "nuggets", "response_length")
    again = sorted(read(back), key=lambda row: row["run_id"])
    assert [{name: row[name] for name in kept} for row in again] == [
        {name: row[name] for name in kept} for row in rows
    ]
    refused = run(SAMPLES / "comparia.jsonl", "--to", "results", "--out", tmp_path / "out")
    assert "is ComparIA; --to results needs nuggetizer assignments" in refused.output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([SAMPLES / "qrels.txt"], "Name either --out or --url"),
        ([SAMPLES / "nothing.jsonl", "--out", "out"], "No such file"),
        (
            [SAMPLES / "qrels.txt", "--url", "http://127.0.0.1:9"],
            "is TREC qrels: relevance labels, not battles",
        ),
        ([SAMPLES / "qrels.txt", "--out", "out", "--format", "comparia"], "nothing could be imported"),
    ],
)
def test_what_cannot_be_imported_is_said(
    arguments: list[object], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert problem in result.output


def test_the_formats_are_listed_with_what_is_lost() -> None:
    result = run("--formats")
    assert result.exit_code == 0
    for known in FORMATS:
        assert f"{known.name}: {known.title}; holds {known.holds}\n    read: {known.fields}" in result.output


def test_eval_names_a_file_of_something_else() -> None:
    result = CliRunner().invoke(main, ["eval", str(SAMPLES / "ragelo_verdicts.csv"), "--dry-run"])
    assert result.exit_code == 2
    assert "is RAGElo verdicts: votes, not battles; see `nuggetstream rate`" in result.output


@pytest.mark.parametrize("shape", ["lines", "array", "answers"])
def test_a_large_file_is_read_in_the_memory_of_a_few_rows(shape: str, tmp_path: Path) -> None:
    path, text, rows = tmp_path / "file", "word " * 15_000, 120  # 75 kB per answer, 18 MB in all
    values: list[dict[str, Any]] = [
        {"run_id": f"r{number % 2}", "qid": str(number // 2), "query": "Why?", "answer_text": text}
        if shape == "answers"
        else {
            "query": f"Why {number}?",
            "model_a": "x",
            "model_b": "y",
            "response_a": text,
            "response_b": text,
        }
        for number in range(rows)
    ]
    path.write_text(json.dumps(values) if shape == "array" else "\n".join(map(json.dumps, values)))
    del values
    tracemalloc.start()
    try:
        found = sum(1 for line in read_battles(path) if not isinstance(line, BadLine))
        assert tracemalloc.get_traced_memory()[1] < rows * 75_000 // 2
    finally:
        tracemalloc.stop()
    assert found == (rows // 2 if shape == "answers" else rows)


VOTES = """\
model_a,model_b,winner,count,weight,battle_id
x,y,model_a,900,1,1
x,y,y,100,1,2
x,z,0.75,10,0.5,3
y,z,0.5,4,1,4
 y ,z,tie,40,1,5
b,x,x,7,1,6
x,z,,1,1,7
z,y,1.0,3,1,8
a,b,right,2,1,9
b,a,left,2,1,10
"""


def rated(path: Path, out: Path) -> dict[str, bytes]:
    """The tables that `rate` writes, which name no file."""
    done = CliRunner().invoke(main, ["rate", str(path), "--plain", "--out", str(out)])
    assert done.exit_code == 0, done.output
    return {table.name: table.read_bytes() for table in out.glob("*.csv")}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_imported_votes_are_rated_as_the_original(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"original.{kind}"
    rows = list(csv.DictReader(VOTES.splitlines()))
    lines = [row | {"count": int(row["count"]), "weight": float(row["weight"])} for row in rows]
    path.write_text(VOTES if kind == "csv" else "".join(json.dumps(line) + "\n" for line in lines))
    result = run(path, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "10 rows imported, 0 rejected" in result.output
    assert rated(tmp_path / "out" / "votes.jsonl", tmp_path / "2") == rated(path, tmp_path / "1")
    votes = read(tmp_path / "out" / "votes.jsonl")
    assert votes[2] == {
        "battle": "3", "system_a": "x", "system_b": "z", "winner": 0.75, "count": 10, "weight": 0.5,
    }  # fmt: skip
    assert votes[6] == {
        "battle": "7", "system_a": "x", "system_b": "z", "winner": None, "count": 1, "weight": 1.0,
    }  # fmt: skip


def test_votes_without_an_id_have_one_each_in_a_folder_of_files(tmp_path: Path) -> None:
    for name in ("1.jsonl", "2.jsonl"):
        row = json.dumps({"model_a": "x", "model_b": "y", "winner": "x"})
        (tmp_path / name).write_text(f"{row}\n{row}\n")
    assert run(tmp_path, "--out", tmp_path / "out").exit_code == 0
    battles = [vote["battle"] for vote in read(tmp_path / "out" / "votes.jsonl")]
    assert battles == ["1.jsonl:1", "1.jsonl:2", "2.jsonl:1", "2.jsonl:2"]


def test_a_vote_that_cannot_be_rated_is_rejected(tmp_path: Path) -> None:
    vote = {"model_a": "x", "model_b": "y", "winner": "a"}
    wrong = [
        ({"model_b": "x"}, "model_b: system 'x' battles itself"),
        ({"winner": 1.5}, "winner: is '1.5'; expected a, b, tie, both_bad, the name of the winner"),
        ({"winner": True}, "winner: is 'True'; expected a, b, tie, both_bad, the name of the winner"),
        ({"count": 0.5}, "count: is '0.5'; expected a whole number of votes"),
        ({"weight": None}, "weight: is missing"),
        ({"model_a": ["x"]}, 'model_a: is ["x"]; expected text or a number'),
        ({"battle_id": ["x"]}, 'battle_id: is ["x"]; expected text or a number'),
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in (vote, *(vote | change for change, _ in wrong)))
    )
    assert run(path, "--out", tmp_path / "out").exit_code == 0
    rejected = read(tmp_path / "out" / "rejected.jsonl")
    assert [row["line"] for row in rejected] == list(range(2, 9))
    for row, (_, problem) in zip(rejected, wrong, strict=True):
        assert row["problems"][0].startswith(problem)
