"""Human and automatic votes in one rating."""

import math

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings import combined
from nuggetstream.ratings.combined import Combined
from nuggetstream.ratings.combined_standing import CombinedStanding, EstimateState, Rating
from nuggetstream.ratings.counts import JointCount
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.options import Anchor, AnchorNotRanked, Options
from nuggetstream.ratings.standing import Unrankable
from tests.nuggetstream.ratings.counts import jointly

ELO_PER_LOGIT = 400 / math.log(10)
TRUE_JUDGE = jointly(
    ("x", "y", Vote.A, Vote.A, 12),
    ("x", "y", Vote.B, Vote.B, 6),
    ("x", "y", None, Vote.A, 200),
    ("x", "y", None, Vote.B, 100),
)


def combine(joint: list[JointCount], **options: object) -> Combined:
    return combined.combine(JointVotes.of_counts(joint), Options(**options))  # type: ignore[arg-type]


def of(found: Combined, system: str) -> CombinedStanding:
    (standing,) = (each for each in found.standings if each.system == system)
    return standing


def ends(rating: Rating | None) -> tuple[float, float]:
    assert rating is not None
    assert rating.low is not None
    assert rating.high is not None
    return rating.low, rating.high


def width(rating: Rating | None) -> float:
    low, high = ends(rating)
    return high - low


def test_a_good_automatic_vote_makes_intervals_narrower_than_people_alone() -> None:
    found = combine(TRUE_JUDGE)
    assert found.state is EstimateState.RATED
    assert (found.human.battles, found.automatic.battles, found.combined.battles) == (18, 318, 318)
    # cov / ((1 + n/N) · var): both are p(1 - p), one estimated from 18 battles and one from 318.
    assert found.tuning == pytest.approx((18 / 17) / (318 / 317) / (1 + 18 / 300))
    x = of(found, "x")
    assert width(x.combined) < width(x.human) / 2
    for rating in (x.human, x.automatic, x.combined):
        assert rating is not None
        assert rating.rating == pytest.approx(1000 + ELO_PER_LOGIT * math.log(2) / 2)
    assert (x.human_battles, x.automatic_battles) == (18, 318)
    y = of(found, "y")
    ranks = [each.rank for each in (y.human, y.automatic, y.combined) if each is not None]
    assert ranks == [1, 2, 2]  # 12 to 6 is no significant difference


def test_an_automatic_vote_that_says_nothing_leaves_the_human_rating_as_it_is() -> None:
    found = combine(
        jointly(
            ("x", "y", Vote.A, Vote.TIE, 6), ("x", "y", Vote.B, Vote.TIE, 2), ("x", "y", None, Vote.TIE, 50)
        )
    )
    assert (found.state, found.tuning) == (EstimateState.RATED, 0)
    assert (found.automatic.state, of(found, "x").automatic) == (EstimateState.ALL_TIED, None)
    x = of(found, "x")
    assert x.combined == x.human
    assert x.human is not None
    assert x.human.rating == pytest.approx(1000 + ELO_PER_LOGIT * math.log(3) / 2)
    assert width(x.human) == pytest.approx(ELO_PER_LOGIT * 1.959963984540054 * math.sqrt(2 / 3))


def test_a_biased_automatic_vote_is_corrected() -> None:
    """The judge sees A win nine times of ten; people say it is even."""
    found = combine(
        jointly(
            ("x", "y", Vote.A, Vote.A, 50),
            ("x", "y", Vote.B, Vote.B, 10),
            ("x", "y", Vote.B, Vote.A, 40),
            ("x", "y", None, Vote.A, 900),
            ("x", "y", None, Vote.B, 100),
        )
    )
    x = of(found, "x")
    assert ends(x.automatic)[0] > 1150
    low, high = ends(x.combined)
    assert low < 1000 < high


@pytest.mark.parametrize(
    ("cells", "human", "automatic", "state"),
    [
        ([], "empty", "empty", "empty"),
        ([("x", "y", Vote.A, None, 9)], "empty", "empty", "empty"),
        ([("x", "y", Vote.A, Vote.A, 9)], "nobody_ranked", "nobody_ranked", "nobody_ranked"),
        (
            [("x", "y", Vote.A, Vote.A, 1), ("x", "y", None, Vote.B, 9)],
            "too_few_votes",
            "rated",
            "too_few_votes",
        ),
        (
            [("x", "y", Vote.TIE, Vote.A, 5), ("x", "y", Vote.TIE, Vote.B, 3), ("x", "y", None, Vote.B, 9)],
            "all_tied",
            "rated",
            "all_tied",
        ),
        (
            [("x", "y", Vote.A, Vote.A, 5), ("x", "y", Vote.A, Vote.B, 3)],
            "not_linked",
            "rated",
            "not_linked",
        ),
    ],
)
def test_what_the_votes_do_not_allow_has_a_name_and_no_number(
    cells: list[tuple[str, str, Vote | None, Vote | None, int]], human: str, automatic: str, state: str
) -> None:
    found = combine(jointly(*cells))
    assert (found.human.state, found.automatic.state, found.combined.state) == (human, automatic, state)
    assert (found.state, found.tuning) == (state, None)
    assert found.note
    for standing in found.standings:
        assert (standing.human, standing.combined) == (None, None)
        assert (standing.automatic is not None) == (automatic == "rated")


def test_human_votes_that_cannot_be_used_are_counted() -> None:
    found = combine(
        [
            *TRUE_JUDGE,
            *jointly(("x", "y", Vote.A, None, 4), ("champion", "x", Vote.A, Vote.A, 3)),
        ]
    )
    assert (found.human.battles, found.human_votes_unused) == (18, 7)
    champion = of(found, "champion")
    assert found.standings[-1] is champion
    assert (champion.unrankable, champion.automatic) == (Unrankable.UNDEFEATED, None)
    assert (champion.human_battles, champion.automatic_battles) == (3, 3)


def test_an_anchor_fixes_all_three() -> None:
    found = combine(TRUE_JUDGE, anchor=Anchor("y", 1200.0))
    y = of(found, "y")
    for rating in (y.human, y.automatic, y.combined):
        assert rating is not None
        assert (rating.rating, rating.low, rating.high) == (1200, 1200, 1200)
    with pytest.raises(AnchorNotRanked, match="anchor: 'ghost' is not ranked"):
        combine(TRUE_JUDGE, anchor=Anchor("ghost", 1200.0))


def test_a_system_that_only_tied_with_the_anchor_has_no_interval() -> None:
    found = combine([*TRUE_JUDGE, *jointly(("x", "twin", None, Vote.TIE, 20))], anchor=Anchor("x", 1000.0))
    twin = of(found, "twin")
    for rating in (twin.automatic, twin.combined):
        assert rating is not None
        assert (rating.rating, rating.low, rating.high) == (pytest.approx(1000), None, None)
    assert ends(of(found, "x").combined) == (1000, 1000)


def test_more_battles_than_memory_allows_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combined, "MOST_NUMBERS", 318 * 2 - 1)
    found = combine(TRUE_JUDGE)
    assert (found.state, found.automatic.state) == ("too_many_battles", "rated")
    monkeypatch.setattr(combined, "MOST_NUMBERS", 318 * 2)
    assert combine(TRUE_JUDGE).state == "rated"
