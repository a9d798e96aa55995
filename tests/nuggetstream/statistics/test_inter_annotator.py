"""How two annotators' labels meet."""

import pytest

from nuggetstream.statistics.inter_annotator import group, inter_annotator

PAIRS = [(5, 3)] * 4 + [(4, 0)] * 1 + [(0, 2)] * 2 + [(0, 0)] * 3
ROWS = [group(4, 5, name="good & sure"), group(0, 1, 2, 3)]
COLUMNS = [group(2, 3), group(0, 1)]


def test_counts_and_kappa_by_hand() -> None:
    table = inter_annotator(PAIRS, ROWS, COLUMNS)
    assert (table.counts, table.totals) == (((4, 1), (2, 3)), (5, 5))
    # Observed 0.7; expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    assert table.kappas == pytest.approx(((0.7 - 0.5) / 0.5,) * 2)


def test_scikit_learn_finds_the_same_kappa() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    theirs = metrics.cohen_kappa_score([a >= 4 for a, _ in PAIRS], [b >= 2 for _, b in PAIRS])
    assert inter_annotator(PAIRS, ROWS, COLUMNS).kappas[0] == pytest.approx(theirs)


def test_where_chance_alone_agrees_kappa_has_no_answer() -> None:
    table = inter_annotator([(5, 3)] * 4, ROWS, COLUMNS)
    assert table.kappas == (None, None)


def test_a_row_without_its_column_has_no_kappa() -> None:
    table = inter_annotator(PAIRS, [*ROWS, group(9)], COLUMNS)
    assert table.kappas[2] is None


def test_labels_in_no_group_are_counted_as_left_out() -> None:
    assert inter_annotator([*PAIRS, (7, 0)], ROWS, COLUMNS).left_out == 1


def test_nothing_to_compare_or_overlapping_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing was labelled"):
        inter_annotator([], ROWS, COLUMNS)
    with pytest.raises(ValueError, match="two groups"):
        inter_annotator(PAIRS, [group(1, 2), group(2)], COLUMNS)
