"""Style control depends neither on the order of votes nor on names and units of features."""

from dataclasses import replace

import pytest
from hypothesis import given

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.fitting.style_control import control
from tests.nuggetstream.ratings.drawn import CIRCLE, NAMES, SEEDS, few, seeded


@given(SEEDS)
@few
def test_style_control_does_not_care_about_order_names_or_units_of_a_feature(seed: int) -> None:
    rng = seeded(seed)
    votes = CIRCLE + [
        (NAMES[i], NAMES[(i + s) % 4], list(Vote)[v]) for i, s, v in rng.integers(1, 4, (60, 3))
    ]
    style, order = rng.normal(size=(len(votes), 2)), rng.permutation(len(votes))
    ballots = Ballots.of(Ballot(*vote) for vote in votes)
    plain = control(ballots, style, ["length", "bold"])
    shuffled = control(Ballots.of(Ballot(*votes[i]) for i in order), style[order], ["length", "bold"])
    scaled = control(ballots, style * (100, 0.1), ["length", "bold"])
    heavy = control(replace(ballots, weight=ballots.weight * 2), style, ["length", "bold"])
    turned = control(ballots, style[:, ::-1], ["bold", "length"])
    for other in (shuffled, scaled, heavy, turned):
        assert other.theta == pytest.approx(plain.theta, abs=1e-6)
        found = {c.feature: (c.value, c.error) for c in other.coefficients}
        for coefficient in plain.coefficients:
            assert found[coefficient.feature] == pytest.approx(
                (coefficient.value, coefficient.error), abs=1e-6
            )
