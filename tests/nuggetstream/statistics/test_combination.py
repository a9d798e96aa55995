"""Panels and cascades: worked by hand, and never judged on the topics that they are chosen on."""

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.combination import Voter, best_threshold, combine, held_out, majority

A, TIE, B = Vote.A, Vote.TIE, Vote.B
NAMES = [f"topic {number}" for number in range(40)]
CHOSEN = [name for name in NAMES if not held_out(name)][:4]
REPORTED = [name for name in NAMES if held_out(name)][:4]
TOPICS = [*CHOSEN, *REPORTED]
PEOPLE = [A] * 8


def voter(name: str, votes: str, margins: tuple[float, ...] = (), calls: float | None = None) -> Voter:
    """A voter with a letter per battle, the first four of the half that the choice is made on."""
    return Voter(name, [{"a": A, "t": TIE, "b": B}[letter] for letter in votes], margins, calls)


def test_a_split_halves_topics_about_evenly_and_is_always_the_same() -> None:
    shares = [held_out(f"query {number}") for number in range(2000)]
    assert 0.45 < np.mean(shares) < 0.55
    assert shares == [held_out(f"query {number}") for number in range(2000)]


@pytest.mark.parametrize(
    ("votes", "expected"),
    [((A, A, B), A), ((A, B, TIE), TIE), ((B, Vote.BOTH_BAD, TIE), TIE), ((A, B), TIE), ((B,), B)],
)
def test_a_panel_decides_by_more_than_half_of_its_votes(votes: tuple[Vote, ...], expected: Vote) -> None:
    assert majority(votes) is expected


def test_a_cascade_is_chosen_on_one_half_and_reported_on_the_other() -> None:
    # On the first half the cheap one is right from 0.6 on. Over all battles 0.2 would be the best threshold.
    cheap = voter("cheap", "bbaaaaab", (0.1, 0.2, 0.6, 0.9, 0.9, 0.2, 0.2, 0.8), calls=1)
    dear = voter("dear", "aabbbbbt", (0.0,) * 8, calls=4)
    found = combine([cheap, dear], PEOPLE, TOPICS)
    assert (found.chosen_on, found.reported_on) == ((4, 4), (4, 4))
    (cascade,) = [row for row in found.rows if row.kind == "cascade"]  # the dearer one is never asked first
    assert (cascade.name, cascade.threshold, cascade.chosen_on) == ("cheap, else dear", 0.6, 1.0)
    # Battles 5 and 8 are decided by the cheap one (right, wrong), 6 and 7 by the other (wrong, wrong).
    assert (cascade.share, cascade.saved, cascade.best) == (0.25, 0.5, True)
    assert cascade.low <= 0.25 <= cascade.high
    singles = {row.name: (row.chosen_on, row.share, row.saved) for row in found.rows if row.kind == "single"}
    assert singles == {"cheap": (0.5, 0.75, None), "dear": (0.5, 0.125, None)}


def test_a_panel_of_three_is_right_where_two_of_it_are() -> None:
    voters = [voter("x", "aabbaaab"), voter("y", "ababaaba"), voter("z", "baababaa")]
    found = combine(voters, PEOPLE, TOPICS)
    (panel,) = [row for row in found.rows if row.kind == "panel"]
    assert (panel.name, panel.chosen_on, panel.share, panel.best) == ("x, y, z", 0.75, 1.0, True)
    assert [row.kind for row in found.rows] == ["single"] * 3 + ["panel"]  # nobody tells margins


def test_a_threshold_asks_the_second_one_no_more_often_than_it_helps() -> None:
    margins = np.array([0.1, 0.5, 0.5, 0.9])
    first, second = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0])
    assert best_threshold(margins, first, second) == 0.9
    assert best_threshold(margins, second, second) == 0.1  # equally good: the second one is never asked
    assert best_threshold(margins, np.zeros(4), second) is None


def test_what_cannot_be_split_or_has_no_answer_is_said() -> None:
    assert combine([voter("x", "aaaa")], PEOPLE[:4], CHOSEN).rows == ()
    assert combine([], PEOPLE, TOPICS).rows == ()
    with pytest.raises(ValueError, match="a tie has no right decision"):
        combine([voter("x", "aaaaaaaa")], [TIE] * 8, TOPICS)
