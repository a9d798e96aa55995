"""How few votes decide the first place: by hand, by a search of all subsets, and verified by new boards."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import expit

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting import dropping
from nuggetstream.ratings.fitting.estimate import fit
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.prior import with_prior, without_phantom
from nuggetstream.ratings.fitting.tally import Tally, rankable
from nuggetstream.ratings.fitting.votes import pairs_among
from nuggetstream.ratings.fragility import first_place, order
from nuggetstream.ratings.standing import DroppedVotes, Fragility, Unchanged
from nuggetstream.ratings.ties import TiePolicy

Entries = list[tuple[str, str, Vote, float]]
CLOSE = 1e-6


def ratings(tally: Tally, policy: TiePolicy = TiePolicy.HALF, prior: float | None = None) -> dict[str, float]:
    """Strengths of the rated systems, as a board has them; no code of the search is used."""
    points = tally.points(policy)
    if prior is not None:
        group = np.flatnonzero(points.sum(axis=0) + points.sum(axis=1))
        theta = without_phantom(fit(with_prior(pairs_among(tally, group, policy), prior), policy)[0])
    else:
        group, _ = rankable(points)
        if not len(group):
            return {}
        try:
            theta, _ = fit(pairs_among(tally, group, policy), policy)
        except NotConverged:
            return {}
    return {tally.systems[system]: float(value) for system, value in zip(group, theta, strict=True)}


def without(tally: Tally, kinds: tuple[DroppedVotes, ...]) -> Tally:
    wins, ties, both_bad = tally.wins.copy(), tally.ties.copy(), tally.both_bad.copy()
    for kind in kinds:
        a, b = tally.systems.index(kind.system_a), tally.systems.index(kind.system_b)
        if kind.winner is Vote.TIE:
            ties_first = min(kind.votes, ties[a, b])
            for counts, votes in ((ties, ties_first), (both_bad, kind.votes - ties_first)):
                counts[a, b] -= votes
                counts[b, a] -= votes
        else:
            wins[(a, b) if kind.winner is Vote.A else (b, a)] -= kind.votes
    left = (np.where(counts < 1e-9, 0.0, counts) for counts in (wins, ties, both_bad))
    assert all((counts > -1e-9).all() for counts in (wins, ties, both_bad))
    return Tally(tally.systems, *left)


def first_of(rated: dict[str, float]) -> str:
    return max(rated, key=lambda name: rated[name])


def boards(rng: np.random.Generator, count: int) -> Iterator[Tally]:
    """Boards of three or four systems with 6 to 12 votes, and one system in front."""
    while count:
        size, strength = int(rng.integers(3, 5)), rng.normal(0, 0.7, 4)
        entries: Entries = []
        for _ in range(int(rng.integers(6, 13))):
            a, b = rng.choice(size, 2, replace=False)
            chance = expit(strength[a] - strength[b])
            vote = Vote.TIE if rng.random() < 0.25 else Vote.A if rng.random() < chance else Vote.B
            entries.append(("wxyz"[a], "wxyz"[b], vote, 1))
        tally = Tally.count(entries)
        best = sorted(ratings(tally).values())[-2:]
        if len(best) == 2 and best[1] - best[0] > CLOSE:
            count -= 1
            yield tally


def fewest_by_search(tally: Tally, leader: str) -> int | None:
    """The true smallest number, by all subsets of votes in the order of their size."""
    pairs = pairs_among(tally, np.arange(len(tally.systems)), TiePolicy.HALF)
    kinds = [
        (int(pair), outcome, int(pairs.cells[row, pair]))
        for row, outcome in enumerate((Vote.A, Vote.B, Vote.TIE))
        for pair in np.flatnonzero(pairs.cells[row])
    ]
    subsets = product(*(range(count + 1) for _, _, count in kinds))
    for subset in sorted(subsets, key=sum):
        dropped = tuple(
            DroppedVotes(
                system_a=tally.systems[pairs.first[pair]],
                system_b=tally.systems[pairs.second[pair]],
                winner=outcome,
                votes=votes,
                of=of,
            )
            for (pair, outcome, of), votes in zip(kinds, subset, strict=True)
        )
        rated = ratings(without(tally, dropped))
        if leader in rated and max(rated.values()) > rated[leader] + CLOSE:
            return sum(subset)
    return None


def check(tally: Tally, result: Fragility, policy: TiePolicy, prior: float | None = None) -> None:
    """A board of the votes that are left has another system first, and the numbers are consistent."""
    before = ratings(tally, policy, prior)
    assert result.leader == first_of(before)
    after = ratings(without(tally, result.kinds), policy, prior)
    assert result.leader in after
    assert result.successor is not None
    assert after[result.successor] == pytest.approx(max(after.values()), abs=1e-6)
    assert after[result.successor] > after[result.leader]
    assert result.drops == sum(kind.votes for kind in result.kinds)
    assert result.share == pytest.approx(result.drops / result.votes)
    assert result.reason is None
    assert all(0 < kind.votes <= kind.of for kind in result.kinds)
    if len(result.kinds) == 1 and result.drops > 1:
        fewer = ratings(without(tally, (replace(result.kinds[0], votes=result.drops - 1),)), policy, prior)
        assert result.leader not in fewer or max(fewer.values()) <= fewer[result.leader] + CLOSE


def test_two_systems_as_worked_by_hand() -> None:
    result = first_place(Tally.count([("x", "y", Vote.A, 3), ("x", "y", Vote.B, 2)]))
    dropped = DroppedVotes(system_a="x", system_b="y", winner=Vote.A, votes=2, of=3)
    assert result == Fragility(
        drops=2, votes=5, share=0.4, leader="x", successor="y", kinds=(dropped,), reason=None
    )


def test_the_second_system_of_a_pair_can_be_the_leader() -> None:
    result = first_place(Tally.count([("x", "y", Vote.B, 3), ("x", "y", Vote.A, 2)]))
    assert (result.drops, result.leader, result.successor) == (2, "y", "x")
    assert [(kind.system_a, kind.winner, kind.votes) for kind in result.kinds] == [("x", Vote.B, 2)]


def test_one_vote_decides_between_neighbours_that_never_met() -> None:
    """x beat z 6 to 2, y beat z 11 to 4: log 3 against log 2.75. Without a win, x has 5 to 2."""
    entries: Entries = [("x", "z", Vote.A, 6), ("x", "z", Vote.B, 2), ("y", "z", Vote.A, 11)]
    result = first_place(Tally.count([*entries, ("y", "z", Vote.B, 4)]))
    assert (result.drops, result.leader, result.successor) == (1, "x", "y")
    assert [(kind.system_b, kind.winner) for kind in result.kinds] in ([("z", Vote.A)], [("z", Vote.B)])


def test_the_only_loss_of_a_leader_stays() -> None:
    """Without it x would be undefeated and have no rating; two of its three wins are the answer."""
    entries: Entries = [
        ("x", "y", Vote.A, 2),
        ("x", "z", Vote.A, 1),
        ("y", "x", Vote.A, 1),
        ("y", "z", Vote.A, 1),
    ]
    tally = Tally.count([*entries, ("z", "y", Vote.A, 1)])
    result = first_place(tally)
    check(tally, result, TiePolicy.HALF)
    assert all((kind.system_a, kind.winner) != ("x", Vote.B) for kind in result.kinds)
    assert result.drops == fewest_by_search(tally, "x")


def test_where_every_drop_unrates_the_leader_there_is_no_number() -> None:
    """1 to 1 is even, and without one of the two votes nobody is rated."""
    result = order(Tally.count([("x", "y", Vote.A, 2), ("x", "y", Vote.B, 1)]), "x", "y")
    assert (result.drops, result.reason) == (None, Unchanged.NOT_FOUND)
    assert (result.leader, result.share, result.kinds) == ("x", None, ())


def test_boards_without_an_order_have_a_reason() -> None:
    nothing = Tally.count([])
    alone = Tally(("x",), *(np.zeros((1, 1)) for _ in range(3)))
    undefeated = Tally.count([("x", "y", Vote.A, 4)])
    for tally in (nothing, alone, undefeated):
        result = first_place(tally)
        assert (result.drops, result.leader, result.votes) == (None, None, 0)
        assert result.reason is Unchanged.UNRANKED
    even = first_place(Tally.count([("x", "y", Vote.A, 3), ("x", "y", Vote.B, 3)]))
    assert (even.drops, even.leader, even.votes, even.reason) == (None, None, 6, Unchanged.EQUAL)


def test_a_model_of_ties_without_a_solution_has_a_reason() -> None:
    tally = Tally.count([("x", "y", Vote.TIE, 5), ("y", "z", Vote.TIE, 3)])
    for policy in (TiePolicy.DAVIDSON, TiePolicy.RAO_KUPPER):
        result = first_place(tally, policy)
        assert (result.drops, result.votes, result.reason) == (None, 0, Unchanged.UNRANKED)


def test_the_order_of_two_systems_in_the_middle() -> None:
    entries: Entries = [("w", "x", Vote.A, 40), ("w", "x", Vote.B, 10), ("x", "y", Vote.A, 22)]
    entries += [("x", "y", Vote.B, 20), ("y", "z", Vote.A, 30), ("y", "z", Vote.B, 10)]
    tally = Tally.count(entries)
    result = order(tally, "x", "y")
    assert (result.drops, result.leader, result.successor) == (3, "x", "y")  # 22 - 3 < 20
    assert result.votes == 132
    first = first_place(tally)
    assert first.leader == "w"
    # w is log 4 above x. With 4 to 20, y is log 5 above x; x itself would need 31 votes to pass w.
    assert (first.drops, first.successor) == (18, "y")


def test_the_order_of_systems_that_are_not_rated_together_has_a_reason() -> None:
    tally = Tally.count([("x", "y", Vote.TIE, 3), ("z", "y", Vote.A, 1)])
    assert order(tally, "z", "y").reason is Unchanged.UNRATED
    assert order(tally, "x", "y").reason is Unchanged.EQUAL


def test_what_is_not_ahead_is_an_error() -> None:
    tally = Tally.count([("x", "y", Vote.A, 3), ("x", "y", Vote.B, 2)])
    with pytest.raises(ValueError, match="'y' is not ahead of 'x'"):
        order(tally, "y", "x")
    with pytest.raises(ValueError, match="'x' is not ahead of 'x'"):
        order(tally, "x", "x")
    with pytest.raises(ValueError, match="unknown systems"):
        order(tally, "x", "nobody")


def test_ties_that_do_not_count_are_neither_dropped_nor_counted() -> None:
    entries: Entries = [("x", "y", Vote.A, 5), ("x", "y", Vote.B, 2), ("x", "y", Vote.TIE, 20)]
    tally = Tally.count([*entries, ("x", "y", Vote.BOTH_BAD, 30)])
    votes = {policy: first_place(tally, policy).votes for policy in TiePolicy}
    assert votes[TiePolicy.HALF] == votes[TiePolicy.DAVIDSON] == votes[TiePolicy.RAO_KUPPER] == 57
    assert (votes[TiePolicy.DROP_BOTH_BAD], votes[TiePolicy.DROP]) == (27, 7)
    for policy in TiePolicy:
        result = first_place(tally, policy)
        check(tally, result, policy)
        assert result.drops == 4  # wins of x, under every policy
        assert [kind.winner for kind in result.kinds] == [Vote.A]


def test_ties_can_be_what_to_drop() -> None:
    """x is in front as y tied often with the weak z; without those ties y is."""
    entries: Entries = [("x", "z", Vote.A, 30), ("x", "z", Vote.B, 10), ("y", "z", Vote.A, 29)]
    tally = Tally.count([*entries, ("y", "z", Vote.B, 9), ("y", "z", Vote.TIE, 6)])
    result = first_place(tally)
    check(tally, result, TiePolicy.HALF)
    assert result.leader == "x"


# The numbers are those of the search of all subsets.
SMALL: list[tuple[Entries, int | None]] = [
    ([("x", "y", Vote.A, 4), ("x", "y", Vote.B, 2), ("y", "z", Vote.A, 2), ("y", "z", Vote.B, 1)], 3),
    ([("x", "y", Vote.A, 2), ("y", "z", Vote.A, 2), ("z", "x", Vote.A, 1), ("x", "z", Vote.TIE, 3)], 1),
    ([("x", "y", Vote.TIE, 4), ("x", "y", Vote.A, 1), ("y", "z", Vote.TIE, 2)], None),
    ([("w", "x", Vote.A, 3), ("x", "w", Vote.A, 2), ("w", "y", Vote.A, 2), ("y", "w", Vote.A, 1)], 2),
]


@pytest.mark.parametrize(("entries", "expected"), SMALL)
def test_fixed_small_boards_agree_with_the_search_of_all_subsets(
    entries: Entries, expected: int | None
) -> None:
    tally = Tally.count(entries)
    assert fewest_by_search(tally, first_of(ratings(tally))) == expected
    assert first_place(tally).drops == expected


@pytest.mark.slow
def test_random_small_boards_agree_with_the_search_of_all_subsets() -> None:
    """Never below the true minimum; above it, by one, on at most one board in twenty."""
    above, changed = 0, 0
    for tally in boards(np.random.default_rng(11), 40):
        result, least = first_place(tally), fewest_by_search(tally, first_of(ratings(tally)))
        if least is None:
            assert result.reason is Unchanged.NOT_FOUND
            continue
        changed += 1
        assert result.drops in (least, least + 1)
        above += result.drops > least
    assert changed >= 25
    assert above <= changed / 20


@st.composite
def linked(draw: st.DrawFn) -> Tally:
    """Boards of three to five systems that win in a circle, with up to 60 further votes."""
    names = "vwxyz"[: draw(st.integers(3, 5))]
    circle: Entries = [(a, b, Vote.A, 1) for a, b in zip(names, names[1:] + names[0], strict=True)]
    pair = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda two: two[0] != two[1])
    more = draw(st.lists(st.tuples(pair, st.sampled_from(Vote), st.integers(1, 9)), max_size=9))
    return Tally.count([*circle, *((*two, vote, votes) for two, vote, votes in more)])


@pytest.mark.slow
@pytest.mark.parametrize("policy", TiePolicy)
@given(linked())
@settings(max_examples=15, deadline=None)
def test_a_board_of_the_other_votes_has_another_leader(policy: TiePolicy, tally: Tally) -> None:
    result = first_place(tally, policy)
    assume(result.reason is None)
    check(tally, result, policy)


@pytest.mark.slow
@given(linked())
@settings(max_examples=15, deadline=None)
def test_names_do_not_matter(tally: Tally) -> None:
    turned = tally.wins[::-1, ::-1], tally.ties[::-1, ::-1], tally.both_bad[::-1, ::-1]
    result, other = first_place(tally), first_place(Tally(tally.systems, *(part.copy() for part in turned)))
    assert (result.votes, result.reason) == (other.votes, other.reason)
    if result.drops is not None and other.drops is not None:
        # Two kinds of equal influence are dropped in the order of their names, which may cost a vote.
        assert abs(result.drops - other.drops) <= 1


@pytest.mark.slow
@given(linked())
@settings(max_examples=15, deadline=None)
def test_the_same_votes_give_the_same_result(tally: Tally) -> None:
    assert first_place(tally) == first_place(tally)


def test_with_a_prior_an_undefeated_leader_has_a_number() -> None:
    tally = Tally.count([("x", "z", Vote.A, 3), ("y", "z", Vote.A, 9), ("y", "z", Vote.B, 1)])
    assert first_place(tally).leader == "y"  # x has no rating
    result = first_place(tally, prior=1)
    check(tally, result, TiePolicy.HALF, prior=1)
    assert (result.leader, result.successor, result.votes) == ("x", "y", 13)
    for policy in (TiePolicy.DAVIDSON, TiePolicy.DROP):
        check(tally, first_place(tally, policy, prior=1), policy, prior=1)


def test_a_weighted_vote_is_dropped_whole_or_in_units_of_one() -> None:
    """5 times 0.2 is one unit, in spite of rounding; 2.5 are three, the last of weight one half."""
    fifths = sum([0.2] * 5) + 0.2 + 0.2 - 0.4
    assert fifths != 1
    tally = Tally.count([("x", "y", Vote.A, 2.5), ("x", "y", Vote.B, 1), ("y", "z", Vote.TIE, fifths)])
    result = first_place(tally)
    assert result.votes == pytest.approx(4.5)
    assert (result.leader, result.successor, result.drops) == ("x", "y", 2)
    assert [(kind.votes, kind.of) for kind in result.kinds] == [(2.0, 2.5)]
    assert result.share == pytest.approx(2 / 4.5)


def test_a_rival_with_few_votes_is_found_behind_many_closer_ones() -> None:
    """Thirty systems lie close behind the leader, all with many votes; the last one has few."""
    entries: Entries = []
    for number in range(30):
        name = f"close {number:02}"
        entries += [(name, "base", Vote.A, 3000 + number), (name, "base", Vote.B, 1500)]
    entries += [("leader", "base", Vote.A, 3500), ("leader", "base", Vote.B, 1500)]
    entries += [("few", "base", Vote.A, 9), ("few", "base", Vote.B, 6)]
    result = first_place(Tally.count(entries))
    assert (result.leader, result.successor, result.drops) == (
        "leader",
        "few",
        3,
    )  # 9 to 3 is above 3500 to 1500
    assert [(kind.system_b, kind.winner, kind.votes) for kind in result.kinds] == [("few", Vote.A, 3)]


def test_a_million_votes_need_few_refits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, size = np.random.default_rng(0), 100
    strength = rng.normal(0, 0.5, size)
    first, second = np.triu_indices(size, 1)
    votes = rng.multinomial(1_000_000, np.full(len(first), 1 / len(first)))
    tied = rng.binomial(votes, 0.3)
    won = rng.binomial(votes - tied, expit(strength[first] - strength[second]))
    wins, ties = np.zeros((2, size, size))
    wins[first, second], wins[second, first] = won, votes - tied - won
    ties[first, second] = ties[second, first] = tied
    tally = Tally(tuple(f"system {number:03}" for number in range(size)), wins, ties, np.zeros((size, size)))
    fits = []
    fit_once = dropping.fitted
    monkeypatch.setattr(dropping, "fitted", lambda *args, **named: fits.append(1) or fit_once(*args, **named))
    result = first_place(tally)
    check(tally, result, TiePolicy.HALF)
    assert 0 < len(fits) <= 20
    assert result.share is not None
    assert result.share < 0.01
