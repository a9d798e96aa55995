"""Files as strangers send them: each is read to its right value, or refused in words that name the cause.

The files in `files` are small, made by hand, and each stands for a kind; further ones are made here.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import nuggetstream as ns
from nuggetstream.domain.battle import Vote
from nuggetstream.files.formats.format import Remark
from nuggetstream.files.formats.registry import read_lines
from nuggetstream.files.opening import UnusableFile
from services.cli.main import main

FILES = Path(__file__).parent / "files"
VOTES = [("x", "y", "a"), ("x", "y", "b"), ("y", "z", "a"), ("x", "z", "a"), ("z", "x", "a")] * 6


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, [*map(str, arguments), "--plain"], env={"COLUMNS": "200"})
    return done.exit_code, done.output


def imported(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["import", *map(str, arguments)])
    return done.exit_code, done.output


def table(
    rows: list[tuple[Any, ...]], header: tuple[str, ...] = ("model_a", "model_b", "winner"), **form: Any
) -> str:
    text = io.StringIO()
    csv.writer(text, **form).writerows([header, *rows])
    return text.getvalue()


def written(folder: Path, content: str | bytes, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def outcomes(source: Any, **options: Any) -> list[Vote | float]:
    return [vote.outcome for vote in ns.read_votes(source, **options).votes]


def winners_in(path: Path) -> list[Any]:
    return [json.loads(line)["winner"] for line in path.read_text(encoding="utf-8").splitlines()]


def notes(result: Any) -> str:
    return "\n".join(note.text for note in result.notes)


# Labels of a crowd.


@pytest.mark.parametrize(
    ("name", "options", "votes", "workers", "alpha", "said"),
    [
        ("c_one_na.csv", {}, 6, 2, 0.778, "1 cell without a label"),
        ("c_semi_dec.csv", {}, 9, 3, 0.556, ""),
        ("c_wide.csv", {}, 8, 3, 0.5625, "one column per annotator: ann, ben, cem; not read as labels: item"),
        (
            "c_mturk.csv",
            {
                "item": "Input.item",
                "worker": "WorkerId",
                "label": "Answer.choice.label",
                "where": {"AssignmentStatus": "Approved"},
            },
            6,
            2,
            1.0,
            "",
        ),
    ],
)
def test_labels_of_a_crowd_have_their_alpha(
    name: str, options: Any, votes: int, workers: int, alpha: float, said: str
) -> None:
    study = ns.crowd_agreement(FILES / name, restarts=1, **options)
    [dimension] = study.dimensions
    assert (study.votes, dimension.workers, dimension.scale.level.value) == (votes, workers, "ordinal")
    assert study.mean_alpha("agreement") == pytest.approx(alpha, abs=5e-4)
    assert said in notes(study)


def test_a_crowd_is_read_the_same_by_the_command() -> None:
    options = ("--where", "AssignmentStatus=Approved", "--item", "Input.item", "--worker", "WorkerId")
    code, output = run("crowd", FILES / "c_mturk.csv", *options, "--label", "Answer.choice.label")
    assert (code, "6 votes in 6 rows" in output) == (0, True), output
    code, output = run("crowd", FILES / "c_one_na.csv")
    assert code == 0
    assert "label: 1 cell says that a value is missing ('NA' 1)" in output


@pytest.mark.parametrize(
    "mark", ["NA", "N/A", "#N/A", "NULL", "None", "-", ".", "nan", "<NA>", "n.a.", "", " "]
)
def test_a_mark_of_a_missing_label_changes_no_alpha(tmp_path: Path, mark: str) -> None:
    text = (FILES / "c_one_na.csv").read_text(encoding="utf-8").replace("NA", mark)
    study = ns.crowd_agreement(written(tmp_path, text), restarts=1)
    assert (study.votes, study.unlabelled, round(study.mean_alpha("agreement") or 0, 3)) == (6, 1, 0.778)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_every_missing_value_of_python_is_missing(missing: object) -> None:
    rows = [("t", "a", 2), ("t", "b", 2), ("r", "a", 0), ("r", "b", 1), ("d", "a", 1), ("d", "b", 1)]
    alpha = ns.crowd_agreement(rows, restarts=1).mean_alpha("agreement")
    assert ns.crowd_agreement([*rows, ("t", "c", missing)], restarts=1).mean_alpha("agreement") == alpha
    assert ns.krippendorff([[1, 2, 3, missing], [1, 2, 3, 3]]) == 1.0
    assert ns.agreement(["a", missing, "b"], ["a", "b", "b"]).pairs == 2
    assert ns.paired([1, 2, missing], [0, 0, 5]).only_second == (2,)
    votes = [{"model_a": "x", "model_b": "y", "winner": outcome} for outcome in ("a", missing, "b")]
    assert (ns.read_votes(votes).cast, ns.read_votes(votes).without_vote) == (2, 1)
    with pytest.raises(UnusableFile, match="row 1: model_a: is missing"):
        ns.rate([*votes[:1], {"model_a": missing, "model_b": "y", "winner": "a"}])
    measured = ns.rubric_measure({"q": {"d1": 1, "d2": missing}}, {"x": {"q": ["d1"]}}, measures=["RR@10"])
    assert measured.labels == 1
    assert "1 row without a label" in notes(measured)
    assert ns.rubric_correlate({"a": 3, "b": 2, "c": missing}, {"a": 1, "b": 2, "c": 3}).first.unscored == (
        "c",
    )


def test_a_document_without_a_score_is_not_ranked() -> None:
    runs = {"x": {"q": {"d2": float("nan"), "d1": 0.5}}}
    with pytest.warns(UserWarning, match="1 document without a score, not ranked"):
        measured = ns.rubric_measure({"q": {"d1": 1, "d2": 0}}, runs, measures=["RR@10"])
    assert measured.runs[0].means["RR@10"].mean == 1.0


def test_what_means_a_missing_label_can_be_named(tmp_path: Path) -> None:
    text = (FILES / "c_one_na.csv").read_text(encoding="utf-8").replace("NA", "unsure")
    path = written(tmp_path, text)
    code, output = run("crowd", path)
    assert code == 2
    assert "label: 'unsure' is no number beside '2', so the labels have no known order" in output
    assert (
        round(ns.crowd_agreement(path, missing=["unsure"], restarts=1).mean_alpha("agreement") or 0, 3)
        == 0.778
    )
    assert run("crowd", path, "--missing", "unsure")[0] == 0


def test_na_is_a_label_beside_words_and_a_name_among_names() -> None:
    words = [("t", "a", "good"), ("t", "b", "NA"), ("r", "a", "bad"), ("r", "b", "bad")]
    assert ns.crowd_agreement(words, restarts=1).votes == 4
    named = [("NA", "None", "NA"), ("NA", "None", "None"), ("None", "NA", "a")]
    assert [(v.system_a, v.system_b, v.outcome) for v in ns.read_votes(named).votes] == [
        ("NA", "None", Vote.A),
        ("NA", "None", Vote.B),
        ("None", "NA", Vote.A),
    ]


# Votes.


@pytest.mark.parametrize("name", ["v_sepline.csv", "v_comment.csv", "v_utf16.csv", "v_time_utc.csv"])
def test_votes_of_other_programs_are_read(name: str) -> None:
    assert ns.read_votes(FILES / name).cast == (30 if name in ("v_comment.csv", "v_time_utc.csv") else 34)


def test_exact_copies_are_one_vote_and_counted() -> None:
    rated = ns.rate(FILES / "v_dup_id.csv")
    assert "30 of 60 rows are exact copies of earlier rows (the same question_id, judge, tstamp)" in notes(
        rated
    )
    resampled = ns.rate(FILES / "v_dup_id.csv", intervals="bootstrap")
    bounds = [(board["x"].low, board["x"].high) for board in (rated, resampled)]
    assert [tuple(round(bound or 0) for bound in both) for both in bounds] == [(890, 1191), (900, 1193)]


def test_equal_rows_are_several_votes_where_nothing_says_that_they_are_one() -> None:
    assert ns.read_votes([("x", "y", "a")] * 3).cast == 3
    alike = ns.read_votes([{"id": 1, "a": "x", "b": "y", "winner": "a"}] * 3)
    assert alike.cast == 3
    assert "2 of 3 rows are exact copies of earlier rows and count" in alike.remarks[0]


def test_times_of_bigquery_are_read_and_a_missing_one_is_counted_once() -> None:
    assert [period.votes for period in ns.rate_over_time(FILES / "v_time_utc.csv", resamples=10).periods] == [
        15,
        15,
    ]
    over_time = ns.rate_over_time(FILES / "v_time_missing.csv", resamples=10)
    assert sum(period.votes for period in over_time.periods) == 29
    code, output = run("rate", FILES / "v_time_missing.csv", "--over-time", "month")
    assert code == 0
    assert output.count("created_at: 29 votes with a time; 1 without one, in no period") == 1


@pytest.mark.parametrize(
    "time",
    ["2026-03-01", "2026-03-01 10:00:00 UTC", "2026-03-01T10:00:00.123456789Z", "1772359200", "1772359200000",
     "1772359200000000", "1772359200000000000", "20260301", "2026/03/01 10:00",
     "Sun, 01 Mar 2026 10:00:00 GMT", "2026-03-01 10:00:00 +0000"],
)  # fmt: skip
def test_a_time_is_the_same_day_however_it_is_written(time: str) -> None:
    [vote] = ns.read_votes([{"a": "x", "b": "y", "winner": "a", "time": time}], time=True).votes
    assert vote.time is not None
    assert vote.time.date().isoformat() == "2026-03-01"


def test_formats_are_read_as_they_were_released() -> None:
    alpaca = ns.rate(FILES / "alpaca.json")
    assert ns.read_votes(FILES / "alpaca.json").cast == 11
    assert [round(alpaca[name].rating or 0) for name in ("base,model", "org/mine")] == [1019, 981]
    bench = ns.rate(FILES / "mtbench_human.jsonl")
    standing = bench["alpaca-13b"]
    assert (standing.wins, standing.losses, standing.ties) == (6, 3, 3)
    assert [round(bench[name].rating or 0) for name in ("alpaca-13b", "vicuna-13b")] == [1044, 956]
    assert ns.read_votes(FILES / "mtbench_human.jsonl").votes[0].voter == "author_2"


def test_several_votes_on_one_content_are_all_counted() -> None:
    row = {"question_id": 81, "model_a": "x", "model_b": "y", "turn": 1}
    rows = [
        row | {"judge": judge, "winner": winner} for judge, winner in (("1", "a"), ("2", "b"), ("3", "b"))
    ]
    rated = ns.rate(rows)
    assert (rated["y"].wins, rated["y"].losses) == (2, 1)
    assert [vote.voter for vote in ns.read_votes(rows).votes] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("winners", "expected"),
    [
        (["1", "2", "tie"], [Vote.A, Vote.B, Vote.TIE]),
        ([1, 2, 1], [Vote.A, Vote.B, Vote.A]),
        ([1, -1, 0], [Vote.A, Vote.B, Vote.TIE]),
        ([1, 0, 0.25], [Vote.A, Vote.B, 0.25]),
        ([1, 2, 1.25], [Vote.A, Vote.B, 0.75]),
    ],
)
def test_numbers_say_who_won_and_one_line_says_how_they_were_read(
    winners: list[Any], expected: list[Any]
) -> None:
    read = ns.read_votes([("x", "y", winner) for winner in winners])
    assert [vote.outcome for vote in read.votes] == expected
    [said] = [remark for remark in read.remarks if "numbers are read as" in remark]
    points = [vote.points if isinstance(vote, Vote) else vote for vote in expected if vote is not Vote.TIE]
    first, second = (sum(point > 0.5 for point in points), sum(point < 0.5 for point in points))
    assert f"for the first, {second} for the second" in said
    assert f"; {first} vote" in said


def test_numbers_that_may_mean_several_things_are_refused_until_somebody_says() -> None:
    rows = [("x", "y", winner) for winner in (0, 1, 2, 2)]
    with pytest.raises(UnusableFile, match=r"winner: holds the numbers 0, 1, 2, .*outcomes=\{\"1\": \"a\""):
        ns.read_votes(rows)
    meant = {0: "tie", 1: "a", 2: "b"}
    assert outcomes(rows, outcomes=meant) == [Vote.TIE, Vote.A, Vote.B, Vote.B]


def test_a_number_of_no_convention_is_named_with_its_line(tmp_path: Path) -> None:
    for wrong in ("1.5", "7", "-0.5"):
        path = written(tmp_path, table([("x", "y", "a"), ("x", "y", wrong), ("x", "y", "b")]))
        with pytest.raises(UnusableFile, match=rf"votes\.csv:3: winner: is '{wrong}'; expected a, b, tie"):
            ns.read_votes(path)


def test_words_mean_what_a_person_says(tmp_path: Path) -> None:
    path = written(tmp_path, table([("x", "y", "win"), ("x", "y", "loss"), ("x", "y", "meh")]))
    code, output = run("rate", path)
    assert (
        code,
        "votes.csv:2: winner: is 'win'; expected a, b, tie" in output,
        "--outcome win=" in output,
    ) == (2, True, True)
    options = ("--outcome", "WIN=a", "--outcome", "loss=b", "--outcome", "meh=tie")
    code, output = run("rate", path, *options)
    assert (code, "3 votes in 3 rows" in output) == (0, True), output
    assert imported(path, "--out", tmp_path / "in", *options)[0] == 0
    kept = winners_in(tmp_path / "in" / "votes.jsonl")
    assert kept == ["a", "b", "tie"]


def test_one_and_two_are_the_sides_in_a_board_and_in_an_import(tmp_path: Path) -> None:
    rated = ns.rate(FILES / "winner-1-2.csv")
    assert (rated["atlas"].wins, rated["atlas"].losses) == (3, 2)
    code, output = imported(FILES / "winner-1-2.csv", "--out", tmp_path)
    assert (code, "5 rows imported, 0 rejected" in output, "numbers are read as 1" in output) == (
        0,
        True,
        True,
    )
    kept = winners_in(tmp_path / "votes.jsonl")
    assert kept == ["a", "a", "b", "a", "b"]


def test_votes_of_battles_are_read_by_the_same_rules(tmp_path: Path) -> None:
    header = ("query", "model_a", "response_a", "model_b", "response_b", "winner")
    rows = [
        ("Why?", "x", f"So {n}.", "y", "No.", vote)
        for n, vote in enumerate(("win", "loss", "NA", "x", "None"))
    ]
    path = written(tmp_path, table(rows, header), "battles.csv")
    code, output = imported(path, "--out", tmp_path / "out", "--outcome", "win=a", "--outcome", "loss=b")
    assert (code, "5 rows imported, 0 rejected" in output) == (0, True), output
    assert "vote: 2 cells say that a value is missing ('NA' 1, 'None' 1)" in output
    kept = (tmp_path / "out" / "battles.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line).get("vote") for line in kept] == ["a", "b", None, "a", None]
    code, output = imported(path, "--out", tmp_path / "again")
    assert (code, "3 rows imported, 2 rejected" in output) == (0, True), output
    assert 'winner: is \\"win\\"; expected a, b' in (tmp_path / "again" / "rejected.jsonl").read_text(
        encoding="utf-8"
    )


def test_an_import_that_would_lose_one_side_keeps_nothing(tmp_path: Path) -> None:
    path = written(
        tmp_path, table([("x", "y", "a"), ("x", "y", "zweite"), ("x", "y", "a"), ("x", "y", "zweite")])
    )
    code, output = imported(path, "--out", tmp_path / "out")
    assert code == 2
    assert "2 rows would be rejected for one outcome alone, from line 3 on" in output
    assert not (tmp_path / "out" / "votes.jsonl").exists()


def test_votes_of_three_lenses_are_never_one_board(tmp_path: Path) -> None:
    code, output = run("rate", FILES / "votes-all-lenses.csv")
    assert code == 2
    assert "lens: holds human, judge, nugget" in output
    assert "choose one with --where lens=human" in output
    assert ns.read_votes(FILES / "votes-all-lenses.csv", where={"lens": "human"}).cast == 60
    assert imported(FILES / "votes-all-lenses.csv", "--out", tmp_path)[0] == 0
    with pytest.raises(UnusableFile, match="lens: holds human, judge, nugget"):
        ns.rate(tmp_path / "votes.jsonl")


# Containers, encodings and headers.


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_compressed_files_are_read(tmp_path: Path, pack: Any) -> None:
    assert ns.read_votes(written(tmp_path, pack(table(VOTES).encode()), "votes")).cast == 30
    lines = "\n".join(
        json.dumps(dict(zip(("model_a", "model_b", "winner"), row, strict=True))) for row in VOTES
    )
    assert ns.read_votes(written(tmp_path, pack(lines.encode()), "lines")).cast == 30


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"PK\x03\x04rest", "is a zip archive or a spreadsheet; unzip it"),
        (b"(\xb5/\xfdrest", "is compressed with zstandard; decompress it with unzstd"),
        (b"%PDF-1.7", "is a PDF; export the table as CSV"),
        (
            "model_a,model_b,winner\nx,y,a\ncafé,y,a\n".encode("latin-1"),
            "votes:3: is not UTF-8 text (byte 0xE9)",
        ),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, start: bytes, said: str) -> None:
    with pytest.raises(UnusableFile) as refused:
        ns.read_votes(written(tmp_path, start, "votes"))
    assert said in str(refused.value)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_is_read_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    rows = [("modèle", "模型", "a")] * 12
    [vote, *_] = ns.read_votes(written(tmp_path, table(rows).encode(encoding))).votes
    assert (vote.system_a, vote.system_b) == ("modèle", "模型")


@pytest.mark.parametrize(
    "header",
    [("Model A", "Model B", "Winner"), ("MODEL_A", "MODEL_B", "WINNER"), ("model a ", " model-b", "Outcome"),
     ("System A", "System B", "Vote"), ("modelA", "modelB", "winner")],
)  # fmt: skip
def test_headers_are_found_in_any_case(tmp_path: Path, header: tuple[str, ...]) -> None:
    assert ns.read_votes(written(tmp_path, table(VOTES, header))).cast == 30
    assert ns.read_votes(pd.DataFrame(VOTES, columns=list(header))).cast == 30
    assert (
        sum(not isinstance(line, Remark) for line in read_lines(tmp_path / "votes.csv", battles=False)) == 30
    )


@pytest.mark.parametrize(
    "text",
    [
        "sep=,\n" + table(VOTES),
        "# exported 2026\n# by a script\n" + table(VOTES),
        "# model_a,model_b,winner\n" + table(VOTES).split("\n", 1)[1],
        table(VOTES) + ",,\n,,\n",
        table(VOTES).replace("\r\n", ",,\r\n"),
        table(VOTES, delimiter="|"),
        table(VOTES, delimiter="\t"),
        table(VOTES, delimiter=";", quoting=csv.QUOTE_ALL),
    ],
)
def test_what_spreadsheets_and_scripts_add_is_no_vote(tmp_path: Path, text: str) -> None:
    assert ns.read_votes(written(tmp_path, text)).cast == 30


def test_decimal_commas_are_numbers_only_where_commas_separate_nothing(tmp_path: Path) -> None:
    header = ("a", "b", "winner", "weight")
    path = written(
        tmp_path, table([("x", "y", "0,5", "1.000,5"), ("x", "y", "1", "2")], header, delimiter=";")
    )
    votes = ns.read_votes(path).votes
    assert [(vote.outcome, vote.weight) for vote in votes] == [(0.5, 1000.5), (Vote.A, 2.0)]
    named = written(tmp_path, table([("1,5b", "y", "a"), ("1,5b", "z", "b")], header[:3], delimiter=";"))
    assert ns.read_votes(named).votes[0].system_a == "1,5b"
    with pytest.raises(UnusableFile, match=r"votes\.csv:2: weight: is '1,5'"):
        ns.read_votes(written(tmp_path, table([("x", "y", "a", "1,5")], header)))


def test_whole_and_broken_numbers_are_one_id() -> None:
    people = [{"id": 1, "a": "x", "b": "y", "winner": "a"}, {"id": 2, "a": "x", "b": "y", "winner": "b"}]
    judge = pd.DataFrame(people).assign(id=[1.0, 2.0])
    assert ns.read_votes(judge, battle=True).votes[0].battle == "1"
    assert ns.rate(judge, human=people).joint is not None
    labels = [(1, "a", 2), (1.0, "b", 2), ("2", "a", 0), ("2.0", "b", 0)]
    assert ns.crowd_agreement(labels, restarts=1).dimensions[0].items == 2


def test_rankings_and_labels_have_the_columns_of_ir_measures_and_pyterrier() -> None:
    ours = ns.rubric_measure({"q": {"d1": 1, "d2": 0}}, {"x": {"q": ["d2", "d1"]}}, measures=["RR@10"])
    names = {"ir_measures": ("query_id", "doc_id", "relevance"), "pyterrier": ("qid", "docno", "label")}
    for query, document, label in names.values():
        qrels = pd.DataFrame({query: ["q", "q"], document: ["d1", "d2"], label: [1, 0]})
        run = pd.DataFrame(
            {query: ["q", "q"], "query": ["why", "why"], document: ["d1", "d2"], "score": [0.1, 0.9]}
        )
        measured = ns.rubric_measure(qrels, {"x": run}, measures=["RR@10"])
        assert measured.runs[0].means == ours.runs[0].means
        assert ns.rubric_measure(qrels, run, measures=["RR@10"]).runs[0].run == "run"
