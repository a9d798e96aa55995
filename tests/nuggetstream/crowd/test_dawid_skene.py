"""Dawid and Skene's labels, by hand, against a slow second implementation, and beside MACE."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.crowd.dawid_skene import dawid_skene
from nuggetstream.crowd.label_matrix import LabelMatrix
from nuggetstream.crowd.learning import CompetenceOptions
from nuggetstream.crowd.scale import ScaleOptions, UnusableLabels, scale_labels
from nuggetstream.crowd.study import CrowdOptions, study_labels, worker_labels

QUICK = CompetenceOptions(restarts=3, iterations=30)


def em_in_loops(votes: list[tuple[int, int, int]], labels: int, rounds: int) -> np.ndarray:
    """The same model with loops over items, workers and labels."""
    items, workers = (1 + max(vote[place] for vote in votes) for place in (0, 1))
    truth = np.zeros((items, labels))
    for item, _, label in votes:
        truth[item, label] += 1
    truth /= truth.sum(axis=1, keepdims=True)
    for _ in range(rounds):
        common = (truth.sum(axis=0) + 0.01) / (truth.sum() + 0.01 * labels)
        confusion = np.full((workers, labels, labels), 0.01)  # worker, true label, label given
        for item, worker, label in votes:
            confusion[worker, :, label] += truth[item]
        confusion /= confusion.sum(axis=2, keepdims=True)
        after = np.tile(common, (items, 1))
        for item, worker, label in votes:
            after[item] *= confusion[worker, :, label]
        truth = after / after.sum(axis=1, keepdims=True)
    return truth


def drawn(seed: int, items: int = 12, workers: int = 4, labels: int = 3) -> list[tuple[int, int, int]]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, items, p=[0.7, 0.2, 0.1])
    return [
        (item, worker, int(truth[item] if rng.random() < 0.8 else rng.integers(labels)))
        for item, worker in product(range(items), range(workers))
    ]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_two_implementations_agree(seed: int) -> None:
    votes = drawn(seed)
    found = dawid_skene(LabelMatrix.collect(votes, range(3)), iterations=4)
    assert found == pytest.approx(em_in_loops(votes, 3, 4), abs=1e-6)


def test_a_worker_who_exchanges_two_labels_is_understood() -> None:
    """A vote of cem for 0 says 1, whenever the others can be asked: MACE calls that spam."""
    votes = []
    for item in range(20):
        truth = item % 2
        votes += [(item, "ann", truth), (item, "ben", truth), (item, "cem", 1 - truth)]
    votes += [(20, "ann", 0), (20, "cem", 1), (21, "cem", 0)]
    matrix = LabelMatrix.collect(votes, [0, 1])
    assert dawid_skene(matrix)[[20, 21]].argmax(axis=1).tolist() == [0, 1]


def test_no_iteration_is_an_error() -> None:
    with pytest.raises(ValueError, match="one iteration"):
        dawid_skene(LabelMatrix.collect([(0, "ann", 0), (1, "ann", 1)], [0, 1]), iterations=0)


def skewed() -> list[tuple[str, str, str]]:
    """Nine of ten items are good; workers are right in three of five votes, and guess else."""
    rng = np.random.default_rng(4)
    return [
        (
            f"i{item}",
            f"w{worker}",
            ("bad" if item % 10 == 0 else "good")
            if rng.random() < 0.6
            else str(rng.choice(["good", "good", "bad"])),
        )
        for item in range(60)
        for worker in rng.choice(12, 4, replace=False)
    ]


def test_a_skewed_label_is_named_and_so_is_how_often_three_ways_differ() -> None:
    study = study_labels(worker_labels(skewed()), CrowdOptions(competence=QUICK))
    notes = {note.state: note.text for note in study.notes}
    assert "of the votes are good; MACE takes all labels for equally common" in notes["skewed"]
    items = study.dimensions[0].learned.items
    apart = sum(None not in (one.gold, one.majority) and one.gold != one.majority for one in items)
    assert apart > 0
    assert f"gold by MACE differs from majority on {apart} and from Dawid–Skene on" in notes["methods_differ"]
    even = study_labels(worker_labels([("i", "v", "x"), ("i", "w", "x"), ("j", "v", "y"), ("j", "w", "y")]))
    assert {note.state for note in even.notes} & {"skewed", "methods_differ"} == set()


@pytest.mark.parametrize("named", [("A", "N", "B"), ("a", "n", "b"), ("A", "Tie", "B"), ("a", "B")])
def test_named_labels_of_a_choice_are_the_usual_ones_in_any_case(named: tuple[str, ...]) -> None:
    """Naming a label that nobody chose changes no number, and sides stay sides."""
    votes = [(f"i{i}", f"w{w}", "AB"[(i + (w == i % 5)) % 2]) for i in range(10) for w in range(4)]
    plain = study_labels(worker_labels(votes), CrowdOptions(competence=QUICK))
    options = CrowdOptions(competence=QUICK, scale=ScaleOptions({"": named}))
    (ours,), (other,) = (study_labels(worker_labels(votes), options).dimensions, plain.dimensions)
    assert ours.scale.preference
    assert ours.agreement == other.agreement
    assert ours.without_spam == other.without_spam
    assert [item.gold for item in ours.learned.items] == [item.gold for item in other.learned.items]
    assert set(ours.counts) == {label.casefold() for label in named}


def test_a_tie_is_no_preference_where_both_words_occur() -> None:
    labels = worker_labels([("i", "v", "tie"), ("i", "w", "N"), ("j", "v", "a"), ("j", "w", "B")])
    for options in (ScaleOptions(), ScaleOptions({"": ("A", "N", "B")})):
        _, spelt = scale_labels(labels, options)
        assert [label.label for label in spelt["label"]] == ["n", "n", "a", "b"]
    _, spelt = scale_labels(labels, ScaleOptions({"": ("a", "tie", "b")}))
    assert [label.label for label in spelt["label"]] == ["tie", "tie", "a", "b"]


def test_grades_keep_their_case() -> None:
    labels = worker_labels([("i", "v", "A"), ("i", "w", "C"), ("j", "v", "B"), ("j", "w", "b")])
    _, spelt = scale_labels(labels, ScaleOptions({"": ("C", "B", "A")}))
    assert [label.label for label in spelt["label"]] == ["A", "C", "B", "B"]
    with pytest.raises(UnusableLabels, match="expected one of B, A"):
        scale_labels(labels, ScaleOptions({"": ("B", "A")}))
