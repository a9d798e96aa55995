"""Measures of rankings, and leaderboards made from them."""

from math import log2
from pathlib import Path

import pytest

from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.files.qrels import read_qrels
from nuggetstream.files.rubric import read_graded
from nuggetstream.rubric.leaderboard_correlation import (
    NoCommonOrder,
    correlate,
    official_order,
    printed_scores,
)
from nuggetstream.rubric.retrieval import Measured, NothingToMeasure, Ranking, evaluate_all, rankings_of

LABELS = [Relevance("q", "a", 3), Relevance("q", "b", 1), Relevance("q", "c", 0), Relevance("r", "a", 2)]


def evaluate(ranking: Ranking, labels: list[Relevance], measure: str) -> Measured:
    return evaluate_all({"run": ranking}, labels, measure)["run"]


def test_ndcg_by_hand_with_linear_gains() -> None:
    values = evaluate({"q": ["c", "a", "b"], "r": ["a"]}, LABELS, "nDCG@10")
    by_hand = (3 / log2(3) + 1 / log2(4)) / (3 + 1 / log2(3))
    assert values.per_query == pytest.approx({"q": by_hand, "r": 1.0})
    assert values.mean == pytest.approx((by_hand + 1) / 2)


def test_what_lies_below_k_earns_nothing() -> None:
    assert evaluate({"q": ["c", "a"], "r": ["a"]}, LABELS, "nDCG@1").mean == pytest.approx(0.5)
    assert evaluate({"q": ["c", "a"], "r": ["x", "a"]}, LABELS, "RR@1").mean == 0


def test_mrr_is_one_over_the_place_of_the_first_relevant_document() -> None:
    ranking = {"q": ["c", "x", "b"], "r": ["a"]}
    assert evaluate(ranking, LABELS, "RR@10").mean == pytest.approx((1 / 3 + 1) / 2)


def test_a_query_the_ranking_leaves_out_counts_0_and_one_without_labels_does_not_count() -> None:
    values = evaluate({"q": ["a", "b"], "elsewhere": ["a"]}, LABELS, "nDCG@10")
    assert values.per_query == pytest.approx({"q": 1.0, "r": 0.0})
    assert values.mean == pytest.approx(0.5)


def test_an_empty_place_does_not_move_the_rest_up() -> None:
    assert evaluate({"q": [None, "a"]}, LABELS[:1], "RR@10").mean == 0.5
    assert evaluate({"q": [None, None, "a"]}, LABELS[:1], "nDCG@10").mean == pytest.approx(1 / log2(4))


def test_no_labels_no_measure_or_a_repeated_document_is_an_error() -> None:
    with pytest.raises(NothingToMeasure):
        evaluate({"q": ["a"]}, [], "nDCG@10")
    with pytest.raises(ValueError, match="no measure"):
        evaluate({"q": ["a"]}, LABELS, "elegance@10")
    with pytest.raises(ValueError, match="twice"):
        evaluate({"q": ["a", "a"]}, LABELS, "nDCG@10")


@pytest.mark.parametrize("measure", ["nDCG@0", "RR@0", "nDCG@-1", "P", "P@1.5", "P(joy=3)@1", "BPM@10"])
def test_a_measure_that_would_end_the_process_or_lacks_its_depth_is_an_error(measure: str) -> None:
    with pytest.raises(ValueError, match="no measure"):
        evaluate({"q": ["a"]}, LABELS, measure)


def test_a_ranked_query_without_a_value_is_missing_and_not_a_zero() -> None:
    labels = [*LABELS, Relevance("s", "a", 0)]  # accuracy needs a relevant document and another
    with pytest.raises(ValueError, match="Accuracy has no value"):
        evaluate({"q": ["a", "c"], "s": ["a"]}, labels, "Accuracy")


def test_several_rankings_are_measured_apart() -> None:
    values = evaluate_all({"one": {"q": ["a"]}, "two": {"q": ["c"]}}, LABELS[:3], "RR@10")
    assert (values["one"].mean, values["two"].mean) == (1.0, 0.0)


def passage(name: str, **ranks: int) -> GradedPassage:
    return GradedPassage("q", name, {}, ranks=ranks)


def test_rankings_start_where_the_run_starts_and_keep_their_gaps() -> None:
    rankings = rankings_of([passage("b", zero=1, one=3), passage("a", zero=0, one=1)])
    assert rankings == {"zero": {"q": ["a", "b"]}, "one": {"q": ["a", None, "b"]}}


def test_two_passages_at_one_rank_are_refused() -> None:
    with pytest.raises(ValueError, match="at 1"):
        rankings_of([passage("a", run=1), passage("b", run=1)])


def test_the_same_order_correlates_perfectly_and_the_reverse_perfectly_badly() -> None:
    board = {"a": 3.0, "b": 2.0, "c": 1.0}
    same = correlate(board, {name: 10 * score for name, score in board.items()})
    assert (same.spearman, same.kendall, same.systems) == pytest.approx((1, 1, 3))
    assert correlate(board, {name: -score for name, score in board.items()}).kendall == pytest.approx(-1)


def test_tied_ranks_are_averaged() -> None:
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
    correlation = correlate({"a": 4, "b": 2, "c": 2, "d": 1}, {"a": 4, "b": 3, "c": 2, "d": 1})
    assert correlation.spearman == pytest.approx(4.5 / (4.5 * 5) ** 0.5)


def test_systems_of_one_side_only_do_not_count() -> None:
    assert correlate({"a": 1, "b": 2, "x": 3}, {"a": 1, "b": 2, "y": 3}).systems == 2


def test_without_two_orders_there_is_no_correlation() -> None:
    with pytest.raises(NoCommonOrder):
        correlate({"a": 1, "b": 2}, {"c": 1})
    with pytest.raises(NoCommonOrder):
        correlate({"a": 1, "b": 1}, {"a": 1, "b": 2})


def test_the_official_order_is_the_one_trec_published(recorded_data: Path) -> None:
    folder = recorded_data / "rubric"
    published = {}
    for line in (folder / "dl19-cover-leaderboard-min3.tsv").read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) > 7 and fields[7].strip().replace(".", "").isdigit():
            published[fields[0]] = -float(fields[7])
    rankings = rankings_of(read_graded(folder / "dl19-graded.jsonl.gz"))
    submitted = {run: result for run, result in rankings.items() if run in published}
    scores = printed_scores(submitted, read_qrels(folder / "nist-2019qrels-pass.txt"), 10)
    assert len(published) == 36
    assert official_order(scores) == published
