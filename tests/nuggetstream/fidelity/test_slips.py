"""A row is worth what it can catch: each slip, made in memory, turns the rows named here red."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nuggetstream.crowd import contrasts, topic_grades
from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.fidelity import crowd, ragelo, ratings, rubric_leaderboards, rubric_passages, search_arena
from nuggetstream.fidelity.row import MakeRows
from nuggetstream.ratings.fitting import elo
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.rubric import cover, self_rating
from nuggetstream.statistics.agreement import KappaWeights, weighted_kappa

Slip = Callable[[pytest.MonkeyPatch], None]

ROWS: dict[str, MakeRows] = {
    id_: make
    for family in (search_arena, ratings, ragelo, rubric_passages, rubric_leaderboards, crowd)
    for id_, make in family.ROWS.items()
}


def the_sign_of_elo(patch: pytest.MonkeyPatch) -> None:
    right = elo.expected
    patch.setattr(elo, "expected", lambda own, other: right(other, own))


def k_of(k: float) -> Slip:
    def slip(patch: pytest.MonkeyPatch) -> None:
        patch.setitem(elo.tournaments.__kwdefaults__, "k", k)

    return slip


def ties_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Tally, "drawn", lambda tally, policy: np.zeros_like(tally.ties))


def both_bad_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Tally, "drawn", lambda tally, policy: tally.ties)


def no_benjamini_hochberg(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(contrasts, "benjamini_hochberg", dict)


def linear_kappa(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(weighted_kappa, "__defaults__", (KappaWeights.LINEAR, None))


def cover_at_19(patch: pytest.MonkeyPatch) -> None:
    right = cover._top
    patch.setattr(cover, "_top", lambda passages, run, start, k: right(passages, run, start, k - 1))


def float_means(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cover.statistics, "mean", lambda shares: np.mean([float(share) for share in shares]))


def a_grade_more_to_cover(patch: pytest.MonkeyPatch) -> None:
    right = cover.covered
    patch.setattr(cover, "covered", lambda passages, minimum: right(passages, minimum + 1))


def a_grade_more(patch: pytest.MonkeyPatch) -> None:
    right = GradedPassage.best.fget
    assert right is not None
    patch.setattr(GradedPassage, "best", property(lambda passage: right(passage) + 1))


def ndcg_at_11(patch: pytest.MonkeyPatch) -> None:
    right = rubric_leaderboards.printed_scores
    patch.setattr(
        rubric_leaderboards, "printed_scores", lambda rankings, qrels, k: right(rankings, qrels, k + 1)
    )


def a_letter_is_1(patch: pytest.MonkeyPatch) -> None:
    right = self_rating.self_rating
    patch.setattr(
        rubric_passages, "self_rating", lambda reply: 1 if reply.strip(".").isalpha() else right(reply)
    )


def majority_for_mace(patch: pytest.MonkeyPatch) -> None:
    right = crowd.learn

    def vote(votes: Any, labels: Any, options: Any) -> Any:
        learned = right(votes, labels, replace(options, restarts=1, iterations=1))
        return replace(learned, items=tuple(replace(item, gold=item.majority) for item in learned.items))

    patch.setattr(crowd, "learn", vote)


def merits_with(**parameters: float) -> Slip:
    def slip(patch: pytest.MonkeyPatch) -> None:
        right = topic_grades.merits
        patch.setattr(
            topic_grades,
            "merits",
            lambda comparisons, items, **given: right(comparisons, items, **given | parameters),
        )

    return slip


def spam_limit_of(limit: float) -> Slip:
    def slip(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(crowd, "SPAM_LIMIT", limit)

    return slip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slip", "red"),
    [
        pytest.param(the_sign_of_elo, ["F5b", "F7", "F7b"], id="Elo sign"),
        pytest.param(k_of(8), ["F7b"], id="K of 8"),
        pytest.param(k_of(16), ["F7b"], id="K of 16"),
        pytest.param(ties_dropped, ["F4", "F5", "F6b"], id="ties dropped"),
        pytest.param(both_bad_dropped, ["F4"], id="both bad dropped"),
        pytest.param(no_benjamini_hochberg, ["F18b"], id="no Benjamini-Hochberg"),
        pytest.param(linear_kappa, ["F1"], id="linear kappa"),
        pytest.param(cover_at_19, ["F11"], id="Cover@19"),
        pytest.param(float_means, ["F11b"], id="means as floats"),
        pytest.param(a_grade_more_to_cover, ["F11"], id="grade + 1 to cover"),
        pytest.param(a_grade_more, ["F9", "F12"], id="grade + 1"),
        pytest.param(ndcg_at_11, ["F10"], id="nDCG@11"),
        pytest.param(a_letter_is_1, ["F13"], id="a letter is 1"),
        pytest.param(majority_for_mace, ["F19"], id="majority for MACE"),
        pytest.param(merits_with(tie=0.025), ["F17"], id="half of t"),
        pytest.param(merits_with(tie=0.1), ["F17"], id="twice t"),
        pytest.param(merits_with(regularisation=0.1), ["F17"], id="half of λ"),
        pytest.param(merits_with(regularisation=0.4), ["F17"], id="twice λ"),
        pytest.param(spam_limit_of(0.65), ["F15"], id="spam limit of 0.65"),
        pytest.param(spam_limit_of(0.75), ["F15"], id="spam limit of 0.75"),
    ],
)
def test_a_slip_turns_a_row_red(
    recorded_data: Path, monkeypatch: pytest.MonkeyPatch, slip: Slip, red: list[str]
) -> None:
    slip(monkeypatch)
    failed = {id_: [row for row in ROWS[id_](recorded_data) if not row.passed] for id_ in red}
    assert all(failed.values()), f"passes: {[id_ for id_, rows in failed.items() if not rows]}"
