"""Two orders of the same systems: coefficients by hand, and what is left out of them."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.files.opening import UnusableFile
from nuggetstream.rubric.correlating import (
    Comparison,
    NothingToRank,
    Queries,
    compare,
)
from nuggetstream.rubric.grading import UnknownSystem
from nuggetstream.rubric.leaderboard_correlation import NoCommonOrder
from nuggetstream.rubric.leaderboards import Column, is_qrels, read_side
from nuggetstream.rubric.run_files import read_rankings
from nuggetstream.rubric.scoring import NoMeasure, UnusedOption
from tests.graded import graded_file, passage

OURS = "system,score\nw,4\nx,3\ny,1\nz,2\n"
OFFICIAL = "system,score\nw,0.9\nx,0.8\ny,0.7\nz,0.6\n"
RUN = "q1 Q0 d1 9 {0} {2}\nq1 Q0 d2 1 {1} {2}\n"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def compared(
    folder: Path,
    first: str,
    official: str,
    *,
    columns: tuple[Column, Column] = (Column(), Column()),
    runs: tuple[Path, ...] = (),
    graded: Path | None = None,
    **more: Any,
) -> Comparison:
    return compare(
        read_side(written(folder, "first", first), columns[0]),
        read_side(written(folder, "official", official), columns[1], "official-"),
        read_rankings(runs, graded),
        **more,
    )


def states(result: Comparison) -> list[str]:
    return [note.state for note in result.notes]


def test_coefficients_of_four_systems_by_hand(tmp_path: Path) -> None:
    comparison = compared(tmp_path, OURS, OFFICIAL)
    # One swap of neighbours: rho = 1 - 6 * 2 / 60, tau = (5 - 1) / 6.
    assert (comparison.correlation.spearman, comparison.correlation.kendall) == pytest.approx((0.8, 2 / 3))
    assert states(comparison) == []


def test_places_count_from_the_best_and_are_shown_as_they_are(tmp_path: Path) -> None:
    places = "run\trank\nw\t1\nx\t2\ny\t3\nz\t4\n"
    comparison = compared(tmp_path, OURS, places)
    assert comparison.correlation.spearman == pytest.approx(0.8)
    assert comparison.official.shown("z") == 4
    by_rank = compared(tmp_path, OURS, places, columns=(Column(), Column(rank="rank")))
    assert by_rank.correlation.spearman == pytest.approx(0.8)
    as_score = compared(tmp_path, OURS, places, columns=(Column(), Column(score="rank")))
    assert as_score.correlation.spearman == pytest.approx(-0.8)
    losses = compared(tmp_path, OURS, "system,score\nw,-1\nx,-2\ny,-3\nz,-4\n")
    assert losses.official.shown("z") == -4


def test_systems_in_one_file_or_without_a_score_are_left_out_and_reported(tmp_path: Path) -> None:
    comparison = compared(tmp_path, OURS + "v,9\nu,\n", OFFICIAL + "t,0.1\n")
    assert comparison.correlation.systems == 4
    assert (comparison.only_first, comparison.only_official) == (("v",), ("t",))
    assert comparison.first.unscored == ("u",)
    assert states(comparison) == ["system_in_one_file", "system_in_one_file", "unscored"]


def test_two_systems_always_agree_or_contradict_and_that_is_reported(tmp_path: Path) -> None:
    comparison = compared(tmp_path, "system,score\nx,2\ny,1\n", OFFICIAL)
    assert comparison.correlation.spearman == pytest.approx(1)
    assert "two_systems" in states(comparison)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("system,score\nx,1\nx,2\n", "first:3: system: 'x' is there twice"),
        ("system,score\nx,nan\n", "first: score: none of 1 systems has a value"),
        ("system,score\nx,high\n", "first:2: score: is 'high'"),
        ("system,score\n,1\n", "first:2: system: is missing"),
        ("system,score\nx,\n", "first: score: none of 1 systems has a value"),
        ("system,points\nx,1\n", "is no column, see --score; it has system, points"),
        ("who,score\nx,1\n", "is no column, see --system; it has who, score"),
        ("", "first: is empty"),
    ],
)
def test_a_leaderboard_that_cannot_be_used_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UnusableFile) as refused:
        compared(tmp_path, text, OFFICIAL)
    assert problem in str(refused.value)


def test_no_common_order_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(NoCommonOrder, match="1 system in both files, fewer than two"):
        compared(tmp_path, "system,score\nw,1\nq,2\n", OFFICIAL)
    with pytest.raises(NoCommonOrder, match="scores them all alike"):
        compared(tmp_path, "system,score\nw,1\nx,1\n", OFFICIAL)


def runs(folder: Path, *scores: tuple[float, float]) -> tuple[Path, ...]:
    return tuple(
        written(folder, f"{n}.run", RUN.format(one, two, f"run{n}")) for n, (one, two) in enumerate(scores)
    )


def test_labels_score_runs_by_their_scores_and_not_by_their_rank_column(tmp_path: Path) -> None:
    comparison = compared(
        tmp_path, "q1 0 d1 0\nq1 0 d2 1\n", "q1 0 d1 1\nq1 0 d2 0\n",
        runs=runs(tmp_path, (2.0, 1.0), (1.0, 2.0)), measure="RR@10",
    )  # fmt: skip
    assert comparison.official.scores == {"run0": 1.0, "run1": 0.5}
    assert comparison.first.scores == {"run0": 0.5, "run1": 1.0}
    assert comparison.correlation.spearman == pytest.approx(-1)
    assert is_qrels(tmp_path / "first")


def test_of_equal_scores_the_later_name_is_first_as_in_trec_eval(tmp_path: Path) -> None:
    labels = "q1 0 d1 1\nq1 0 d2 0\n"
    comparison = compared(tmp_path, labels, labels, runs=runs(tmp_path, (1, 1), (2, 1)), measure="RR@10")
    assert comparison.first.scores == {"run0": 0.5, "run1": 1.0}


def test_only_queries_with_labels_in_both_files_count(tmp_path: Path) -> None:
    comparison = compared(
        tmp_path, "q1 0 d1 1\nq2 0 d1 1\n", "q1 0 d1 1\nq3 0 d1 1\n",
        runs=runs(tmp_path, (2, 1), (1, 2)), measure="RR@10",
    )  # fmt: skip
    assert comparison.first.scores == {"run0": 1.0, "run1": 0.5}  # not halved by q2
    assert comparison.queries is not None
    assert (comparison.queries.only_first, comparison.queries.only_official) == (("q2",), ("q3",))
    assert states(comparison)[:2] == ["query_in_one_file", "query_in_one_file"]
    with pytest.raises(NothingToRank, match="no query is labelled in both files"):
        compared(tmp_path, "q1 0 d1 1\n", "q9 0 d1 1\n", runs=runs(tmp_path, (2, 1), (1, 2)))


def test_a_query_without_a_ranking_counts_0_and_is_reported(tmp_path: Path) -> None:
    labels = "q1 0 d1 1\nq2 0 d1 1\n"
    comparison = compared(tmp_path, labels, labels, runs=runs(tmp_path, (2, 1), (1, 2)), measure="RR@10")
    assert comparison.first.scores == {"run0": 0.5, "run1": 0.25}
    assert comparison.unranked == {"run0": 1, "run1": 1}
    assert "queries_missing" in states(comparison)


def test_a_leaderboard_may_meet_labels_and_recorded_ranks(tmp_path: Path) -> None:
    labels = "tides 0 p1 1\ntides 0 p2 0\ntides 0 p3 0\n"
    comparison = compared(
        tmp_path, "system,score\nreef,2\nkelp,1\n", labels, graded=graded_file(tmp_path), measure="RR@10"
    )
    assert comparison.official.scores == {"reef": 1.0, "kelp": 0.5}
    assert comparison.correlation.kendall == pytest.approx(1)


def test_ties_of_the_official_side_can_be_broken_as_trec_eval_prints_them(tmp_path: Path) -> None:
    tied = "system,score\nx,1\ny,1\nz,0\n"
    ours = "system,score\nx,3\ny,2\nz,1\n"
    assert compared(tmp_path, ours, tied).correlation.kendall == pytest.approx(2 / 6**0.5)
    broken = compared(tmp_path, ours, tied, break_ties=True)  # y before x
    assert broken.correlation.kendall == pytest.approx(1 / 3)


def test_labels_and_rankings_need_each_other(tmp_path: Path) -> None:
    with pytest.raises(NothingToRank, match="name them with --runs or --graded"):
        compared(tmp_path, "q1 0 d1 1\n", OFFICIAL)
    with pytest.raises(NothingToRank, match="two leaderboards are compared as they are"):
        compared(tmp_path, OURS, OFFICIAL, runs=runs(tmp_path, (1, 2)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("q1 Q0 d1 1 nan mine\n", "bad.run:1: score: is 'nan'; expected a number"),
        ("q1 Q0 d1 first 1 mine\n", "bad.run:1: rank: is 'first'; expected a whole number"),
        ("q1 Q0 d1 1 1 mine\nq1 Q0 d2 2 1 yours\n", "bad.run: tag: holds mine, yours; expected one run"),
        ("", "bad.run: tag: holds no line"),
        ("q1 Q0 d1 1\n", "bad.run:1: 4 columns where 6 are due"),
    ],
)
def test_a_run_that_cannot_be_used_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UnusableFile) as refused:
        compared(tmp_path, "q1 0 d1 1\n", "q1 0 d1 1\n", runs=(written(tmp_path, "bad.run", text),))
    assert problem in str(refused.value)


def test_a_system_that_is_not_there_cannot_be_left_out(tmp_path: Path) -> None:
    with pytest.raises(UnknownSystem, match="'ghost' cannot be left out; there is run0"):
        compared(tmp_path, "q1 0 d1 1\n", "q1 0 d1 1\n", runs=runs(tmp_path, (1, 2)), left_out=("ghost",))
    twice = runs(tmp_path, (1, 2)) * 2
    with pytest.raises(UnusableFile, match="the run 'run0' is there twice"):
        compared(tmp_path, "q1 0 d1 1\n", "q1 0 d1 1\n", runs=twice)


def test_labels_are_read_gzipped_or_with_a_byte_order_mark(tmp_path: Path) -> None:
    labels = "q1 0 d1 1\nq1 0 d2 0\n"
    zipped, marked = tmp_path / "zipped.gz", tmp_path / "marked"
    zipped.write_bytes(gzip.compress(labels.encode()))
    marked.write_text(labels, encoding="utf-8-sig")
    comparison = compare(
        read_side(zipped, Column()),
        read_side(marked, Column()),
        read_rankings(runs(tmp_path, (1, 2), (2, 1))),
    )
    assert comparison.queries == Queries(1, (), ())
    assert comparison.correlation.spearman == pytest.approx(1)


def test_a_system_is_left_out_of_leaderboards_too(tmp_path: Path) -> None:
    comparison = compared(tmp_path, OURS, OFFICIAL + "t,0.1\n", left_out=("z", "t"), break_ties=True)
    assert (comparison.correlation.systems, comparison.correlation.spearman) == (
        3,
        pytest.approx(1),
    )  # only y and z change places
    assert states(comparison) == []
    with pytest.raises(UnknownSystem, match="'ghost' cannot be left out; there is w, x, y, z"):
        compared(tmp_path, OURS, OFFICIAL, left_out=("ghost",))


def test_two_passages_at_one_rank_are_refused_with_the_file(tmp_path: Path) -> None:
    path = graded_file(
        tmp_path, {"q": [passage("p", {"x": 1}, 1, {"r": 1}), passage("s", {"x": 1}, 1, {"r": 1})]}
    )
    with pytest.raises(UnusableFile, match=r"graded\.jsonl: rank: run 'r' ranks two passages"):
        compared(tmp_path, "q 0 p 1\n", "q 0 p 1\n", graded=path)


def test_a_measure_nobody_knows_is_a_mistake(tmp_path: Path) -> None:
    labels = "q1 0 d1 1\n"
    for measure in ("joy@3", "nDCG@", "alpha_nDCG@10"):
        with pytest.raises(NoMeasure, match="measure"):
            compared(tmp_path, labels, labels, runs=runs(tmp_path, (1, 2)), measure=measure)


def test_an_option_that_would_be_ignored_is_refused(tmp_path: Path) -> None:
    labels, ranked = "q1 0 d1 1\n", runs(tmp_path, (1, 2), (2, 1))
    with pytest.raises(UnusedOption, match="--measure does nothing without relevance labels"):
        compared(tmp_path, OURS, OFFICIAL, measure="RR@10")
    for columns, option in (
        ((Column(system="run"), Column()), "--system"),
        ((Column(), Column(rank="rank")), "--official-rank"),
    ):
        with pytest.raises(UnusedOption, match=f"{option} does nothing: the file holds relevance labels"):
            compared(tmp_path, labels, labels, runs=ranked, columns=columns)
    both = (Column(), Column(score="score", rank="rank"))
    with pytest.raises(UnusedOption, match="--official-rank does nothing beside --official-score"):
        compared(tmp_path, OURS, OFFICIAL, columns=both)
