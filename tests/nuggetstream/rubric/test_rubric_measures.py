"""Runs by the labels of one file: means by hand, and what happens to queries that only one of them has."""

import csv
import json
from math import log2
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.files.opening import UnusableFile
from nuggetstream.rubric.leaderboards import read_labels
from nuggetstream.rubric.measuring import NoQueryInCommon, RunsMeasured, measure_runs
from nuggetstream.rubric.run_files import read_rankings
from nuggetstream.rubric.scoring import Labels, NoMeasure
from services.cli.commands.files.rubric import command

LABELS = "q1 0 d1 3\nq1 0 d2 2\nq1 0 d3 0\nq2 0 d1 1\n"


def run(folder: Path, name: str, rankings: dict[str, str]) -> Path:
    """A run file; documents of a query as letters with blanks between, best first."""
    path = folder / f"{name}.run"
    lines = (
        f"{query} Q0 {document} {place} {100 - place} {name}\n"
        for query, documents in rankings.items()
        for place, document in enumerate(documents.split(), start=1)
    )
    path.write_text("".join(lines), encoding="utf-8")
    return path


def measured(folder: Path, *runs: Path, labels: str = LABELS, fuse: bool = False) -> RunsMeasured:
    qrels = folder / "labels.qrels"
    qrels.write_text(labels, encoding="utf-8")
    return measure_runs(read_labels(qrels), read_rankings(runs), fuse=fuse)


def states(result: RunsMeasured) -> list[str]:
    return [note.state for note in result.notes]


def test_means_and_their_standard_errors_by_hand(tmp_path: Path) -> None:
    runs = measured(tmp_path, run(tmp_path, "mine", {"q1": "d3 d2", "q2": "d1"}))
    (mine,) = runs.runs
    first = (2 / log2(3)) / (3 + 2 / log2(3))
    assert mine.means["nDCG@10"].mean == pytest.approx((first + 1) / 2)
    assert mine.means["nDCG@10"].error == pytest.approx((1 - first) / 2)  # two values: half their distance
    assert (mine.means["RR@10"].mean, mine.means["RR@10"].error) == pytest.approx((0.75, 0.25))
    assert (runs.labels, runs.queries, runs.fused, states(runs)) == (4, 2, None, [])


def test_a_query_with_labels_that_is_not_ranked_counts_0_and_is_reported(tmp_path: Path) -> None:
    runs = measured(tmp_path, run(tmp_path, "half", {"q2": "d1"}))
    (half,) = runs.runs
    assert half.means["RR@10"].mean == 0.5
    assert (half.received, half.scored, half.unranked) == (1, 1, 1)
    assert states(runs) == ["queries_missing"]


def test_a_ranked_query_without_labels_counts_for_nothing_and_is_reported(tmp_path: Path) -> None:
    runs = measured(tmp_path, run(tmp_path, "more", {"q1": "d1", "q2": "d1", "q3": "d1", "q4": "d1"}))
    (more,) = runs.runs
    assert more.means["RR@10"].mean == 1
    assert (more.received, more.scored, more.unranked) == (4, 2, 0)
    assert states(runs) == ["queries_without_labels"]


def test_runs_stand_in_the_order_of_the_first_measure(tmp_path: Path) -> None:
    worse, better = (
        run(tmp_path, name, {"q1": documents}) for name, documents in (("worse", "d3 d1"), ("better", "d1"))
    )
    assert [each.run for each in measured(tmp_path, worse, better).runs] == ["better", "worse"]


def test_the_fusion_of_runs_by_hand(tmp_path: Path) -> None:
    # In q1 d2 has 1/62 + 1/61, d3 1/61 and d1 1/62; q2 is as the second run has it.
    one = run(tmp_path, "one", {"q1": "d3 d2"})
    two = run(tmp_path, "two", {"q1": "d2 d1", "q2": "d2 d1"})
    runs = measured(tmp_path, one, two, fuse=True)
    assert runs.fused is not None
    gains = 2 + 0 / log2(3) + 3 / log2(4)  # d2 d3 d1
    expected = gains / (3 + 2 / log2(3))
    assert runs.fused.means["nDCG@10"].mean == pytest.approx((expected + 1 / log2(3)) / 2)
    assert runs.fused.means["RR@10"].mean == pytest.approx((1 + 1 / 2) / 2)
    assert (runs.fused.received, runs.fused.unranked) == (2, 0)
    assert [each.run for each in runs.runs] == ["two", "one"]


def test_one_query_has_no_standard_error_and_one_without_a_relevant_document_a_note(tmp_path: Path) -> None:
    runs = measured(tmp_path, run(tmp_path, "mine", {"q": "d"}), labels="q 0 d 0\n")
    assert runs.runs[0].means["RR@10"].error is None
    assert states(runs) == ["nothing_relevant", "one_query"]


def test_a_run_without_a_query_in_common_has_no_mean(tmp_path: Path) -> None:
    with pytest.raises(NoQueryInCommon, match=r"'lost' ranks none of the 2 queries with labels in .*\.qrels"):
        measured(tmp_path, run(tmp_path, "mine", {"q1": "d1"}), run(tmp_path, "lost", {"q9": "d1"}))


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    mine = run(tmp_path, "mine", {"q1": "d1"})
    with pytest.raises(UnusableFile, match=r"labels\.qrels:2: label: is 'high'; expected a whole number"):
        measured(tmp_path, mine, labels="q1 0 d1 1\nq1 0 d2 high\n")
    with pytest.raises(UnusableFile, match="tag: the run 'mine' is there twice"):
        measured(tmp_path, mine, mine)
    with pytest.raises(NoMeasure, match="no measure 'joy@3'"):
        measure_runs(read_labels(tmp_path / "labels.qrels"), read_rankings([mine]), ["joy@3"])


def answered(folder: Path, *options: str | Path) -> Result:
    (folder / "labels.qrels").write_text(LABELS, encoding="utf-8")
    mine = run(folder, "mine", {"q1": "d3 d2"})
    asked = ["measure", "--qrels", folder / "labels.qrels", "--runs", mine, *options]
    return CliRunner().invoke(command, list(map(str, asked)))


def test_the_numbers_are_written_with_what_they_rest_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = answered(tmp_path, "--measure", "RR@10", "--measure", "P@1", "--out", out)
    assert result.exit_code == 0, result.output
    with (out / "measure.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["measure"], row["mean"], row["unranked"]) for row in csv.DictReader(file)]
    assert rows == [("RR@10", "0.25", "1"), ("P@1", "0.0", "1")]
    content = json.loads((out / "measure.json").read_text(encoding="utf-8"))
    assert content["runs"][0]["means"]["RR@10"] == {"mean": 0.25, "error": 0.25}
    assert content["rests_on"]["queries"] == 2
    assert content["fused"] is None


def test_a_command_that_cannot_be_answered_exits_2(tmp_path: Path) -> None:
    for options, problem in (
        (("--measure", "nDCG@0"), "a depth is at least 1"),
        (("--fuse",), "--fuse needs two runs or more"),
        (("--runs", tmp_path / "nowhere.run"), "nowhere.run: No such file"),
    ):
        result = answered(tmp_path, *options)
        assert result.exit_code == 2
        assert problem in result.output


def test_runs_with_the_same_values_in_another_order_are_tied() -> None:
    """Added up one by one, 1/2 + 1/3 + 1/7 and 1/7 + 1/3 + 1/2 differ, and the runs would not be tied."""
    queries, ranks = ("q", "r", "s"), (2, 3, 7)

    def ranking(rank: int) -> list[str | None]:
        return [*(f"d{number}" for number in range(1, rank)), "good"]

    runs = measure_runs(
        Labels(tuple(Relevance(query, "good", 1) for query in queries)),
        {
            "rising": {query: ranking(rank) for query, rank in zip(queries, ranks, strict=True)},
            "falling": {query: ranking(rank) for query, rank in zip(queries, ranks[::-1], strict=True)},
        },
        ["RR@10"],
    )
    assert runs.runs[0].means == runs.runs[1].means
    assert [run.run for run in runs.runs] == ["falling", "rising"]
