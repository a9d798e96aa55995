"""A difference of exactly the threshold is a tie everywhere."""

from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.snapshot import snapshot_of
from nuggetstream.files.numerals import decisive_digits
from nuggetstream.nuggets.explanation import explain
from nuggetstream.nuggets.preference import (
    sweep,
    threshold_by_equal_split,
    threshold_by_kappa,
)
from nuggetstream.nuggets.scores import nugget_margin, preference, tie_threshold
from services.store.outcomes.stated_outcomes import outcomes_of
from tests import samples

A, TIE, B = Vote.A, Vote.TIE, Vote.B


@st.composite
def at_the_threshold(draw: st.DrawFn) -> tuple[int, int, int, bool]:
    """Counts of stated nuggets whose shares differ by exactly 0.07 with URLs, 0.10 without."""
    urls = draw(st.booleans())
    of, gap = (100, 7) if urls else draw(st.sampled_from([(10, 1), (20, 2), (30, 3), (70, 7)]))
    less = draw(st.integers(0, of - gap))
    return less, less + gap, of, urls


@given(at_the_threshold(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_exactly_the_threshold_is_a_tie_in_every_place_that_decides(
    counts: tuple[int, int, int, bool], turn: bool
) -> None:
    less, more, of, urls = counts
    fought = samples.battle(urls_b=["https://example.org"] if urls else [])
    event = samples.assigned(more, less, of, fought) if turn else samples.assigned(less, more, of, fought)
    nuggets, assignments = event.nugget_list.nuggets, event.assignment_set.assignments
    margin, threshold = nugget_margin(nuggets, assignments), tie_threshold(fought)
    assert abs(margin) == pytest.approx(threshold)
    assert preference(margin, 0.0, threshold) is TIE
    assert preference(0.0, margin, threshold) is TIE
    assert outcomes_of(event, samples.NOON)[0].winner is TIE
    explanation = explain(snapshot_of(fought, [event]))
    assert explanation.preference is TIE
    assert "see a tie" in explanation.lines[0]
    (point,) = sweep([margin], [TIE], [threshold])
    assert point.tie_share == 1
    # Called a tie by people, the battle wants exactly its own margin as threshold. A second one, decided
    # and far off, gives kappa an answer.
    assert threshold_by_kappa([margin, 1.0], [TIE, A]).threshold == pytest.approx(threshold)
    even = threshold_by_equal_split([margin, 1.0, -1.0], [TIE] * 3)
    assert (even.threshold, even.tie_share) == pytest.approx((threshold, 1 / 3))


@given(at_the_threshold())
@settings(max_examples=20, deadline=None)
def test_one_nugget_more_is_no_tie_in_any_of_them(counts: tuple[int, int, int, bool]) -> None:
    less, more, of, urls = counts
    if more == of:
        return
    fought = samples.battle(urls_b=["https://example.org"] if urls else [])
    event = samples.assigned(more + 1, less, of, fought)
    margin = nugget_margin(event.nugget_list.nuggets, event.assignment_set.assignments)
    assert preference(margin, 0.0, tie_threshold(fought)) is A
    assert outcomes_of(event, samples.NOON)[0].winner is A
    assert explain(snapshot_of(fought, [event])).preference is A
    assert sweep([margin], [A], [tie_threshold(fought)])[0].tie_share == 0


@pytest.mark.parametrize("threshold", [0.07, 0.1])
def test_printed_scores_show_the_decision_that_the_threshold_makes(threshold: float) -> None:
    for total in range(1, 31):
        scores = [halves / (2 * total) for halves in range(2 * total + 1)]
        for a, b in product(scores, repeat=2):
            digits = decisive_digits(a, b, threshold)
            printed_a, printed_b = Decimal(f"{a:.{digits}f}"), Decimal(f"{b:.{digits}f}")
            differs = abs(printed_a - printed_b) > Decimal(f"{threshold:.{digits}f}")
            assert differs is (preference(a, b, threshold) is not Vote.TIE), (a, b, digits)
