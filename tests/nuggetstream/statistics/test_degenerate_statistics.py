"""Preferences, agreement, crowds and rubrics without an answer: a named error, a named state, or None."""

from collections.abc import Callable

import numpy as np
import pytest

from nuggetstream.aspects.weights import AspectRating, DegenerateRatings, refit
from nuggetstream.crowd.ballot import Ballots
from nuggetstream.crowd.competence import kept_votes
from nuggetstream.crowd.differentiability import Split, split_by_differentiability
from nuggetstream.crowd.grades import grades, merits, same_order
from nuggetstream.crowd.mace import mace
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.domain.judgment import OrderedVerdict, combine_orders
from nuggetstream.nuggets.preference import (
    NoThreshold,
    preference_probability,
    sweep,
    threshold_by_equal_split,
    threshold_by_kappa,
)
from nuggetstream.nuggets.scores import Unscorable, labels_of, nugget_margin, preference
from nuggetstream.rubric.cover import NothingToCover, cover_at, cover_overall, standard_error
from nuggetstream.rubric.grading import by_query, covered, first_ranks, items_of
from nuggetstream.rubric.relevance import best_grade, relevance_labels
from nuggetstream.rubric.verification import (
    grade_counts,
    grade_grid,
    spurious_items,
    uncovered_passages,
    verification_listing,
)
from nuggetstream.statistics.agreement import Agreement, agreement, clustered_interval, confusion_of
from nuggetstream.statistics.bland_altman import bland_altman
from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from nuggetstream.statistics.inversions import confusion_table, inversions
from nuggetstream.statistics.order_effects import order_effect, position_preference
from nuggetstream.statistics.paired import benjamini_hochberg, wilcoxon
from nuggetstream.statistics.ranks import kendall, pearson, spearman

NAN = float("nan")
A, TIE, B, BAD = Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD


def seeded() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(("a", "b", "threshold"), [(NAN, 0, 0.1), (0, NAN, 0.1), (1, 0, NAN), (1, 0, -0.1)])
def test_a_missing_score_is_no_preference_for_the_other_answer(a: float, b: float, threshold: float) -> None:
    with pytest.raises(Unscorable, match="cannot be compared"):
        preference(a, b, threshold)


def test_a_battle_without_nuggets_has_no_margin_and_no_probability() -> None:
    with pytest.raises(Unscorable, match="no nuggets"):
        nugget_margin([], [])
    with pytest.raises(Unscorable, match="0 nuggets"):
        preference_probability(np.array([]), np.array([]), 0.1, seeded())
    with pytest.raises(Unscorable, match="threshold of nan"):
        preference_probability(np.ones(2), np.zeros(2), NAN, seeded())
    with pytest.raises(ValueError, match="at least one resample"):
        preference_probability(np.ones(2), np.zeros(2), 0.1, seeded(), resamples=0)
    assert labels_of([], Side.A) == {}


def test_without_battles_there_is_no_threshold() -> None:
    for choose in (threshold_by_equal_split, threshold_by_kappa, lambda m, h: sweep(m, h, [0.1])):
        with pytest.raises(NoThreshold):
            choose([], [])
        with pytest.raises(NoThreshold):
            choose([0.3], [BAD])
    with pytest.raises(ValueError, match="outside"):
        threshold_by_kappa([NAN, 0.1], [TIE, A])


def test_agreement_about_nothing_is_none() -> None:
    assert agreement([], [], [], seeded()) == Agreement(None, None, None, 0, 0, 0)
    assert agreement([A, B], [TIE, BAD], ["1", "2"], seeded()) == Agreement(None, None, None, 0, 2, 0)
    assert confusion_of([], []).sum() == 0
    with pytest.raises(ValueError, match="0 resamples"):
        agreement([A], [A], ["1"], seeded(), resamples=0)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        agreement([A, B], [A], ["1"], seeded())
    for values, clusters in (([], []), ([1.0, NAN], ["1", "2"]), ([1.0], ["1", "2"])):
        with pytest.raises(ValueError, match="resamples of"):
            clustered_interval(np.array(values), clusters, seeded(), 9)


def test_a_tie_of_every_prediction_agrees_by_half_and_is_not_sure_of_it() -> None:
    found = agreement([TIE] * 4, [A, B, A, B], list("wxyz"), seeded())
    assert found.share == 0.5
    assert found.low < 0.2 < 0.8 < found.high


def test_two_verdicts_on_one_order_say_nothing_about_order() -> None:
    again = [OrderedVerdict(Side.A, winner, "") for winner in (A, B)]
    with pytest.raises(ValueError, match="same order"):
        combine_orders(again)


def test_rankings_of_nothing_fuse_to_nothing() -> None:
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []
    for constant in (-1, NAN):
        with pytest.raises(ValueError, match="last ranks"):
            reciprocal_rank_fusion([["x"]], constant)


def test_a_crowd_that_says_nothing_or_always_the_same() -> None:
    assert kept_votes([], []) == []
    with pytest.raises(ValueError, match="probability"):
        kept_votes([A], [0.1], limit=NAN)
    assert split_by_differentiability({}) == Split((), ())
    same = Ballots.collect([(item, worker, A) for item in range(3) for worker in range(3)], (A, B))
    found = mace(same, seeded(), restarts=2)
    assert set(found.gold.values()) == {A}
    assert ((found.spam >= 0) & (found.spam <= 1)).all()
    alone = mace(Ballots.collect([("item", "worker", B)], (A, B)), seeded(), restarts=2)
    assert alone.posterior.sum() == pytest.approx(1)


def test_a_missing_merit_is_not_the_best() -> None:
    with pytest.raises(ValueError, match="missing or not finite"):
        grades(["x", "y"], np.array([NAN, 1.0]))
    with pytest.raises(ValueError, match="there must be an item"):
        merits([], 0)
    assert merits([], 2) == pytest.approx(np.ones(2))
    assert grades([], np.array([])) == {}
    assert same_order({}, {})


def test_aspects_of_nothing_have_no_weights() -> None:
    with pytest.raises(DegenerateRatings):
        refit([AspectRating(1, 0, 0)] * 9, [float(n) for n in range(9)])
    with pytest.raises(ValueError, match="off its scale"):
        AspectRating(1, NAN, 0)


def test_a_rubric_without_grades_covers_nothing_and_lists_nothing() -> None:
    ungraded = [GradedPassage("q", "p", {}, judgment=2, ranks={"run": 1})]
    for passages in ([], ungraded):
        with pytest.raises(NothingToCover):
            cover_at(passages, 5, 3)
        with pytest.raises(NothingToCover):
            cover_overall(passages, 3)
        assert relevance_labels(passages) == uncovered_passages(passages) == []
        assert verification_listing(passages) == []
        assert grade_counts(passages) == {}
        assert items_of(passages) == ()
        assert covered(passages, 1) == set()
    assert best_grade(ungraded[0]) is None
    assert grade_grid(ungraded)["q"].grades == ((),)
    assert spurious_items([]) == by_query([]) == first_ranks([]) == {}
    assert standard_error([]) is None
    with pytest.raises(ValueError, match=r"not in 0\.\.5"):
        GradedPassage("q", "p", {"item": NAN})


@pytest.mark.parametrize("test", [kendall, spearman, pearson, wilcoxon])
def test_a_test_of_nothing_says_none_and_one_of_missing_numbers_refuses(test: Callable) -> None:
    assert test([], []) is None
    assert test([1, 1, 1], [1, 1, 1]) is None
    for missing in (NAN, float("inf")):
        with pytest.raises(ValueError, match="missing or not finite"):
            test([1, missing, 3], [1, 2, 4])
    with pytest.raises(ValueError, match="cannot be paired"):
        test([1, 2, 3], [1, 2])


def test_counts_of_nothing_have_no_share_and_few_pairs_no_limits() -> None:
    with pytest.raises(ValueError, match="at least 3 pairs"):
        bland_altman([], [])
    with pytest.raises(ValueError, match="level"):
        bland_altman([1, 2, 3], [1, 2, 4], NAN)
    assert benjamini_hochberg({}) == {}
    assert inversions(confusion_table([], [])).share is None
    nothing = position_preference([])
    assert (nothing.share, nothing.p_value) == (None, None)
    assert order_effect({"x": []}, [], lambda units: None).delta is None
