"""Crowds, rubrics and the report from Python: files, frames and plain values say the same."""

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import nuggetstream as ns
from nuggetstream.crowd.scale import UnusableLabels
from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.files.opening import UnusableFile
from nuggetstream.rubric.correlating import NothingToRank
from tests.evaluated import file_of, round_robin

LABELS = [
    {"item": item, "worker": worker, "label": label}
    for item, labels in {
        "tide": (2, 2, 1),
        "reef": (0, 0, 2),
        "dune": (1, 1, 1),
        "cape": (2, 1, None),
    }.items()
    for worker, label in zip(("ann", "ben", "cat"), labels, strict=True)
]
GRADES = [
    {"query": query, "passage": passage, "item": item, "grade": grade, "judgment": judgment}
    for query, passage, judgment, grades in (
        ("q1", "p1", 3, {"why": 5, "when": 0}),
        ("q1", "p2", 0, {"why": 0, "when": 4}),
        ("q2", "p3", 2, {"who": 1}),
    )
    for item, grade in grades.items()
]
RUNS = {"x": {"q1": ["p1", "p2"], "q2": ["p3"]}, "y": {"q1": ["p2"], "q2": ["p3"]}}


def written(rows: list[dict[str, Any]], path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("wrap", [pl.DataFrame, pd.DataFrame, list, "csv"])
def test_labels_of_a_crowd_are_studied_wherever_they_are(tmp_path: Path, wrap: Any) -> None:
    source = written(LABELS, tmp_path / "labels.csv") if wrap == "csv" else wrap(LABELS)
    study = ns.crowd_agreement(source, restarts=2)
    assert (study.votes, study.unlabelled) == (11, 1)
    rows = [tuple(row.values()) for row in LABELS]
    assert study.mean_alpha("agreement") == ns.crowd_agreement(rows, restarts=2).mean_alpha("agreement")
    assert study.to_frame()["votes"].to_list() == [11]
    assert "alpha" in str(study)


def test_gold_labels_and_workers_of_a_crowd_are_tables() -> None:
    study = ns.crowd_agreement(LABELS, restarts=2)
    (dimension,) = study.dimensions
    gold = study.gold_table().to_frame()
    assert gold["item"].to_list() == ["tide", "reef", "dune", "cape"]
    assert gold["gold"].to_list() == [item.gold for item in dimension.learned.items]
    assert gold["majority"].to_list() == ["2", "0", "1", None]  # of cape's two labels none is more frequent
    assert gold["votes"].to_list() == [3, 3, 3, 2]
    assert gold["differentiable"].null_count() == 4  # the labels are no preferences
    workers = study.workers_table().to_frame()
    assert dict(zip(workers["worker"], workers["votes"], strict=True)) == {"ann": 4, "ben": 4, "cat": 3}
    assert workers["competence"].to_list() == [worker.competence for worker in dimension.learned.workers]
    assert workers["kept"].to_list() == [worker.kept for worker in dimension.learned.workers]


def test_relevance_labels_are_written_as_qrels_and_read_again(tmp_path: Path) -> None:
    labelled = ns.rubric_qrels(GRADES)
    path = labelled.to_qrels(tmp_path / "new" / "labels.qrels")
    assert path.read_text(encoding="utf-8") == "q1 0 p1 5\nq1 0 p2 4\nq2 0 p3 1\n"
    measured = ns.rubric_measure(path, RUNS)
    assert measured.to_frame().equals(
        ns.rubric_measure({"q1": {"p1": 5, "p2": 4}, "q2": {"p3": 1}}, RUNS).to_frame()
    )


def test_the_order_of_labels_may_be_named() -> None:
    rows = [("tide", "ann", "low"), ("tide", "ben", "mid"), ("reef", "ann", "high"), ("reef", "ben", "high")]
    assert ns.crowd_agreement(rows, restarts=1).dimensions[0].scale.level == "nominal"
    study = ns.crowd_agreement(rows, order=["low", "mid", "high"], restarts=1)
    assert study.dimensions[0].scale.level == "ordinal"
    with pytest.raises(UnusableLabels, match="name the labels in their order with order="):
        ns.crowd_agreement(rows, level="ordinal")


def test_at_the_interval_level_labels_are_as_far_apart_as_their_numbers() -> None:
    units = [(1, 2), (2, 1), (1, 2), (90, 90), (1, 1), (2, 90)]
    rows = [
        (f"i{n}", worker, label)
        for n, unit in enumerate(units)
        for worker, label in zip("vw", unit, strict=True)
    ]
    study = ns.crowd_agreement(rows, level="interval", restarts=1)
    assert study.mean_alpha("agreement") == pytest.approx(0.598, abs=0.0005)
    ratings = [[first for first, _ in units], [second for _, second in units]]
    assert study.mean_alpha("agreement") == ns.krippendorff(ratings, "interval")


def test_pairs_are_graded_per_topic() -> None:
    rows = [
        {"topic": topic, "response_a": a, "response_b": b, "label": label}
        for topic in ("t1", "t2")
        for a, b, label in (("x", "y", "a"), ("y", "z", "n"), ("x", "z", "a"))
    ]
    grades = ns.crowd_grades(pl.DataFrame(rows))
    first = grades.to_frame().select("topic", "item", "grade").head(3)
    assert first.rows() == [("t1", "x", 3), ("t1", "y", 2), ("t1", "z", 1)]
    with pytest.raises(UnusableFile, match="rows, row 0: label"):
        ns.crowd_grades([("x", "y", "better")])


def test_what_is_wrong_with_labels_is_named_by_row_and_keyword() -> None:
    with pytest.raises(UnusableFile, match=r"DataFrame.*worker="):
        ns.crowd_agreement(pl.DataFrame({"item": ["x"], "label": [1]}))
    with pytest.raises(UnusableFile, match=r"rows, row 1: .*'ann' labels 'tide' twice"):
        ns.crowd_agreement([("tide", "ann", 1), ("tide", "ann", 2)])


NESTED = [
    GradedPassage("q1", "p1", {"why": 5, "when": 0}, 3),
    GradedPassage("q1", "p2", {"why": 0, "when": 4}, 0),
    GradedPassage("q2", "p3", {"who": 1}, 2),
]


@pytest.mark.parametrize("graded", [GRADES, pl.DataFrame(GRADES), pd.DataFrame(GRADES), NESTED])
def test_cover_of_graded_passages(graded: Any) -> None:
    coverage = ns.rubric_cover(graded, runs=RUNS, k=1)
    assert {system.system: system.score.cover for system in coverage.systems} == {"x": 0.25, "y": 0.25}
    assert coverage.to_frame()["cover"].to_list() == [0.25, 0.25]
    assert "Cover@1" in str(coverage)
    deep = ns.rubric_cover(graded, runs=RUNS, k=2, unanswerable="zero")
    assert [(system.system, system.score.n_exam) for system in deep.systems] == [("x", 0.5), ("y", 0.25)]


def test_a_passage_that_only_a_run_knows_has_no_grade() -> None:
    coverage = ns.rubric_cover(GRADES, runs={"x": {"q1": ["unknown", "p1"], "q2": []}}, k=1)
    assert coverage.systems[0].score.cover == 0.0
    assert "1 passage without a grade" in str(coverage)


def test_labels_checks_and_agreement_of_graded_passages() -> None:
    labelled = ns.rubric_qrels(GRADES)
    assert labelled.to_frame().rows() == [("q1", "p1", 5), ("q1", "p2", 4), ("q2", "p3", 1)]
    checked = ns.rubric_verify(GRADES, min_grade=4, relevant=2)
    assert checked.to_frame().select("contradiction", "query", "item", "passage").rows() == [
        ("spurious item", "q1", "when", None),
        ("uncovered passage", "q2", None, "p3"),
    ]
    own = ns.rubric_agree(GRADES)
    given = ns.rubric_agree(GRADES, [("q1", "p1", 3), ("q1", "p2", 0), ("q2", "p3", 2)])
    assert own.counts == given.counts
    assert own.to_frame()["total"].sum() == 3


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"grade": 9}, "rows, row 1: grade: passage 'p1': grade 9 of 'when' is not in 0..5"),
        ({"grade": 1.5}, "rows, row 1: grade: is '1.5'; expected a whole number"),
        ({"item": "why"}, "rows, row 1: item: 'why' is graded twice for passage 'p1'"),
        ({"judgment": 1}, "rows, row 1: judgment: is 1, and 3 in an earlier row"),
        ({"passage": None}, "rows, row 1: passage: is missing"),
    ],
)
def test_a_grade_that_is_none_is_named_by_row_and_field(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(UnusableFile) as error:
        ns.rubric_cover([GRADES[0], GRADES[1] | changed])
    assert str(error.value) == problem


def test_runs_are_measured_by_labels(tmp_path: Path) -> None:
    qrels = {"q1": {"p1": 1, "p2": 0}, "q2": {"p3": 1}}
    measured = ns.rubric_measure(qrels, RUNS, measures=["RR@10"], fuse=True)
    assert [(run.run, run.means["RR@10"].mean) for run in measured.runs] == [("x", 1.0), ("y", 0.5)]
    assert measured.to_frame()["RR@10"].to_list()[:2] == [1.0, 0.5]
    (tmp_path / "qrels").write_text("q1 0 p1 1\nq1 0 p2 0\nq2 0 p3 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("q1 Q0 p1 1 2.0 x\nq1 Q0 p2 2 1.0 x\nq2 Q0 p3 1 1.0 x\n", encoding="utf-8")
    from_files = ns.rubric_measure(tmp_path / "qrels", tmp_path / "run", measures=["RR@10"])
    assert from_files.runs[0].means == measured.runs[0].means
    scored = {"x": {"q1": {"p1": 0.9, "p2": 0.1}, "q2": {"p3": 1.0}}}
    assert ns.rubric_measure(qrels, scored, measures=["RR@10"]).runs[0].means == measured.runs[0].means
    with pytest.raises(UnusableFile, match="labels, row 1: document: 'p1' is labelled twice for query 'q1'"):
        ns.rubric_measure([("q1", "p1", 1), ("q1", "p1", 0)], RUNS)


def test_leaderboards_are_compared(tmp_path: Path) -> None:
    ours, theirs = {"x": 3.0, "y": 2.0, "z": 1.0}, {"x": 30.0, "y": 10.0, "z": 20.0}
    comparison = ns.rubric_correlate(ours, theirs)
    assert comparison.correlation.spearman == 0.5
    assert comparison.to_frame()["system"].to_list() == ["x", "z", "y"]
    assert "Spearman's rho 0.500" in str(comparison)
    board = written([{"system": name, "score": score} for name, score in theirs.items()], tmp_path / "b.csv")
    assert ns.rubric_correlate(ours, board).correlation == comparison.correlation
    assert ns.rubric_correlate(ours, theirs, without=["z"]).correlation.spearman == 1.0
    (tmp_path / "qrels").write_text("q1 0 p1 1\n", encoding="utf-8")
    with pytest.raises(NothingToRank, match="name them with runs="):
        ns.rubric_correlate(tmp_path / "qrels", ours)


def test_the_report_of_an_evaluation_is_written(tmp_path: Path) -> None:
    written_report = ns.write_report(file_of(tmp_path, round_robin()), tmp_path / "report")
    assert written_report.page.read_text(encoding="utf-8").startswith("<!")
    numbers = json.loads(written_report.numbers.read_text(encoding="utf-8"))
    assert (numbers["received"], written_report.received) == (12, 12)


TEXTS = ["Tides rise twice a day [1].", "The moon pulls the water."]


def test_texts_are_measured_wherever_they_are(tmp_path: Path) -> None:
    rows = [{"answer": text, "system": system} for text, system in zip(TEXTS, ("x", "y"), strict=True)]
    path = written(rows, tmp_path / "texts.csv")
    plain = [measured.measures for measured in ns.study_texts(TEXTS).texts]
    for source in (path, rows, pl.DataFrame(rows), pd.DataFrame(rows)):
        study = ns.study_texts(source, group="system")
        assert [measured.measures for measured in study.texts] == plain
        assert study.to_frame()["group"].to_list() == ["x", "y", "all"]
    assert [m.measures for m in ns.study_texts(pl.DataFrame(rows), text="answer").texts] == plain


def test_texts_are_a_frame_with_their_sources(tmp_path: Path) -> None:
    cited = [
        {"answer": "Tides rise [1]. So it is [3].", "pages": 2},
        {"answer": "Tides fall.", "pages": None},
    ]
    for source in (cited, pl.DataFrame(cited), pd.DataFrame(cited), written(cited, tmp_path / "cited.csv")):
        frame = ns.study_texts(source, sources="pages").texts_table().to_frame()
        assert frame["sources"].to_list() == [2, None]
        assert frame["invalid_citations"].to_list() == [1, None]
    assert ns.study_texts([cited[0]["answer"]], sources=3).texts[0].measures.invalid_citations == 0
    with pytest.raises(UnusableFile, match=r"pages: is '2\.5'; expected a number of sources"):
        ns.study_texts([{"text": "Yes.", "pages": 2.5}], sources="pages")


def test_a_row_without_a_text_is_left_out_and_counted() -> None:
    study = ns.study_texts([{"text": "Yes."}, {"text": None}, {"text": float("nan")}])
    assert len(study.texts) == 1
    assert "2 rows without a text, left out" in study.table().notes
    with pytest.raises(UnusableFile, match=r"rows: text or .*: is no column, see text="):
        ns.study_texts([{"words": "Yes."}])
    with pytest.raises(UnusableFile, match="rows: system: is no column, see group=; it has text"):
        ns.study_texts([{"text": "Yes."}], group="system")
    with pytest.raises(ValueError, match="there must be a text"):
        ns.study_texts([])


def test_scores_from_aspects_are_compared_with_people(tmp_path: Path) -> None:
    aspects = {"amountInfo": 0, "formality": 0}
    judge = [{"answer_id": f"{n}", "factuality": n % 4, "overall": n % 3} | aspects for n in range(12)]
    people = [{"answer_id": f"{n}", "factuality": n % 4, "acceptability": n % 4} | aspects for n in range(12)]
    scores = ns.rubric_aspects(judge, pl.DataFrame(people))
    assert scores.scores == ns.rubric_aspects(written(judge, tmp_path / "j.csv"), people).scores
    assert scores.to_frame()["pearson"][0] == pytest.approx(1.0)
    with pytest.raises(UnusableFile, match="people, row 0: acceptability"):
        ns.rubric_aspects(judge, judge)
