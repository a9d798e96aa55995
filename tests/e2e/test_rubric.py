"""`nuggetstream rubric` as a user runs it: files in, tables and files out."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command_line import nuggetstream, rows, strict
from tests.graded import graded_file, passage, tides


async def test_everything_about_a_graded_file_is_written(tmp_path: Path) -> None:
    graded, out = graded_file(tmp_path), tmp_path / "out"
    code, output = await nuggetstream("rubric", "cover", graded, "--at", "1", "--out", out)
    assert code == 0, output
    assert [row["cover"] for row in rows(out / "cover.csv")] == ["0.5", "0.5"]
    assert strict(out / "cover.json")["rests_on"]["k"] == 1
    qrels = tmp_path / "labels.qrels"
    code, output = await nuggetstream(
        "rubric", "qrels", graded, "--by", "count", "--min-grade", "3", "--out", qrels
    )
    assert code == 0, output
    assert qrels.read_text(encoding="utf-8").splitlines() == [
        "tides 0 p1 1", "tides 0 p2 2", "tides 0 p3 1", "rivers 0 p4 1", "rivers 0 p5 0",
    ]  # fmt: skip
    code, output = await nuggetstream("rubric", "verify", graded, "--grid", "--query", "tides", "--out", out)
    assert code == 0, output
    assert "Grades of query tides" in " ".join(output.split())
    assert "Spurious" not in output
    assert [row["item"] for row in rows(out / "spurious.csv")] == ["t/moon"]
    code, output = await nuggetstream(
        "rubric", "correlate", qrels, qrels, "--graded", graded, "--measure", "RR@10", "--out", out
    )
    assert code == 2  # both systems find a relevant passage first: there is no order
    assert "scores them all alike" in output
    code, output = await nuggetstream(
        "rubric", "agree", graded, "--with", qrels, "--relevant", "1", "--format", "csv"
    )
    assert code == 0, output
    assert output.startswith("grade,label_1+2,label_0,total,kappa\n4+5,4,0,4,1.0\n0+1+2+3,0,1,1,1.0\n")


async def test_studies_of_covers_are_printed_and_written(tmp_path: Path) -> None:
    graded, out = graded_file(tmp_path), tmp_path / "out"
    studies = ("--alpha-ndcg", "0.5", "--per-query", "--pair", "reef", "kelp", "--without-each")
    code, output = await nuggetstream("rubric", "cover", graded, "--at", "2", *studies, "--out", out)
    assert code == 0, output
    for title in ("α-nDCG@2", "Each query", "reef and kelp", "Cover@2 without one item"):
        assert title in output
    assert [row["query"] for row in rows(out / "cover-queries.csv")] == ["tides", "rivers"] * 2
    [cover, *_] = rows(out / "cover-pair.csv")
    assert (cover["measure"], cover["t"], cover["queries"]) == ("Cover@2", "1.0", "2")
    assert strict(out / "cover.json")["pair"]["rows"][0]["difference"] == 0.25
    written = strict(out / "cover.json")["without_each"]["rows"]
    assert (written[0]["item"], written[0]["kendall"]) == ("t/sun", None)
    assert [row["item"] for row in rows(out / "cover-without-each.csv")] == [row["item"] for row in written]
    code, output = await nuggetstream("rubric", "agree", graded, "--min-answers", "2", "--format", "latex")
    assert code == 0, output
    assert "highest grade that 2 of its items reach" in output
    code, output = await nuggetstream("rubric", "cover", graded, "--pair", "reef", "cod")
    assert (code, "'cod' is no system" in output) == (2, True)


@pytest.mark.parametrize(
    ("command", "passages", "problem"),
    [
        (("cover",), [passage("p", {"x": 6})], "graded.jsonl:1: self_rating: is 6 for passage 'p'"),
        (("cover",), [passage("p", {"x": float("nan")})], "graded.jsonl:1: self_rating: is nan"),
        (("cover",), [passage("p", {})], "no item was graded for any query"),
        (("cover",), [], "graded.jsonl: holds no passage"),
        (("verify",), [*tides(), *tides()], "graded.jsonl:1: paragraph_id: 'p1' is there twice"),
        (("verify", "--query", "lakes"), tides(), "has no query 'lakes'"),
        (("verify", "--relevant", "0"), tides(), "cannot mean relevant"),
        (("agree",), [passage("p", {"x": 1})], "1 passage with a grade and 0 passages with a label"),
        (("agree", "--grades", "good"), tides(), "'good' is not of the form"),
        (("qrels", "--by", "count", "--out", "labels.qrels"), tides(), "--by count needs --min-grade"),
        (("qrels", "--out", "labels.qrels"), [passage("a b", {"x": 1})], "paragraph_id: 'a b' is empty or"),
    ],
)
async def test_a_graded_file_that_cannot_be_used_is_named_and_exits_2(
    tmp_path: Path, command: tuple[str, ...], passages: list[dict[str, Any]], problem: str
) -> None:
    name, *options = command
    graded = graded_file(tmp_path, {"q": passages})
    options = [str(tmp_path / each) if each.endswith(".qrels") else each for each in options]
    code, output = await nuggetstream("rubric", name, graded, *options)
    assert code == 2, output
    assert problem in output
    assert "Traceback" not in output
    assert not (tmp_path / "labels.qrels").exists()


async def test_recorded_grades_give_the_published_labels_cover_and_contradictions(
    recorded_data: Path, tmp_path: Path
) -> None:
    folder = recorded_data / "rubric"
    graded, upstream = folder / "dl19-graded.jsonl.gz", folder / "upstream"
    code, output = await nuggetstream("rubric", "qrels", graded, "--out", tmp_path / "labels.qrels")
    assert code == 0, output
    assert (tmp_path / "labels.qrels").read_bytes() == (folder / "dl19-exam-3.qrels").read_bytes()
    assert "9,260 lines of 43 queries" in output

    code, output = await nuggetstream(
        "rubric", "cover", graded, "--at", "20", "--min-grade", "3", "--out", tmp_path
    )
    assert code == 0, output
    published = strict(upstream / "dl19_exam_cover_upstream.json")["3"]
    found = strict(tmp_path / "cover.json")
    ours = {row["system"]: row for row in found["systems"]} | {"_overall_": found["overall"]}
    assert ours.keys() == published.keys()
    for system, numbers in published.items():
        mine = [ours[system][name] for name in ("cover", "cover_error", "n_exam", "n_exam_error")]
        assert mine == pytest.approx(numbers, abs=1e-6), system

    code, output = await nuggetstream("rubric", "verify", graded, "--out", tmp_path)
    assert code == 0, output
    bad = (upstream / "dl19_bad_question.txt").read_text(encoding="utf-8")
    expected = Counter(re.findall(r"^(\S+/\S+)\t *(\d+)(?:\t|$)", bad, flags=re.M))
    assert Counter((row["item"], row["passages"]) for row in rows(tmp_path / "spurious.csv")) == expected
    uncovered = (upstream / "dl19_uncovered_passages.txt").read_text(encoding="utf-8")
    lines = Counter(re.findall(r"^(\S+)\t(\d+)\t(\d+)\t", uncovered, flags=re.M))
    found_rows = rows(tmp_path / "uncovered.csv")
    assert Counter((row["passage"], row["judgment"], row["best"]) for row in found_rows) == lines


@pytest.mark.parametrize(("minimum", "spearman", "kendall"), [("3", 0.719, 0.535), ("5", 0.874, 0.676)])
async def test_the_recorded_cover_orders_systems_as_published(
    recorded_data: Path, tmp_path: Path, minimum: str, spearman: float, kendall: float
) -> None:
    folder = recorded_data / "rubric"
    graded = folder / "dl19-graded.jsonl.gz"
    code, output = await nuggetstream("rubric", "cover", graded, "--min-grade", minimum, "--out", tmp_path)
    assert code == 0, output
    code, output = await nuggetstream(
        "rubric", "correlate", tmp_path / "cover.csv", folder / "nist-2019qrels-pass.txt", "--graded", graded,
        "--without", "UNH_exDL_bm25", "--break-ties", "--out", tmp_path,
    )  # fmt: skip
    assert code == 0, output
    found = strict(tmp_path / "correlation.json")
    assert found["spearman"] == pytest.approx(spearman, abs=0.003)
    assert found["kendall"] == pytest.approx(kendall, abs=0.003)


@pytest.mark.parametrize(
    ("labels", "spearman", "kendall"), [("Thomas", 0.960, 0.833), ("FagB_few", 0.979, 0.885)]
)
async def test_recorded_labels_order_systems_as_published(
    recorded_data: Path, tmp_path: Path, labels: str, spearman: float, kendall: float
) -> None:
    folder = recorded_data / "rubric"
    code, output = await nuggetstream(
        "rubric", "correlate", folder / "phase3-qrels-dl19" / f"{labels}.qrel",
        folder / "nist-2019qrels-pass.txt", "--graded", folder / "dl19-graded.jsonl.gz",
        "--without", "UNH_exDL_bm25", "--break-ties", "--out", tmp_path,
    )  # fmt: skip
    assert code == 0, output
    found = strict(tmp_path / "correlation.json")
    assert found["spearman"] == pytest.approx(spearman, abs=0.003)
    assert found["kendall"] == pytest.approx(kendall, abs=0.003)
    assert (found["rests_on"]["systems"], found["rests_on"]["queries"]) == (36, 43)
