"""MACE: true labels and competence learned from labels alone."""

import numpy as np
import pytest
from scipy.special import digamma

from nuggetstream.crowd.label_matrix import LabelMatrix
from nuggetstream.crowd.mace import mace
from nuggetstream.domain.battle import Vote

A, TIE, B = Vote.A, Vote.TIE, Vote.B


def crowd(
    seed: int, items: int = 120, honest: int = 6, spammers: int = 3
) -> tuple[LabelMatrix, dict[object, Vote]]:
    """Honest workers are right nine times in ten; spammers mostly say A."""
    rng = np.random.default_rng(seed)
    truth: dict[object, Vote] = {f"item{i}": (A, TIE, B)[rng.integers(3)] for i in range(items)}
    votes = []
    for item, label in truth.items():
        for worker in range(honest + spammers):
            guess = (A, TIE, B)[rng.choice(3, p=[0.8, 0.1, 0.1] if worker >= honest else [1 / 3] * 3)]
            votes.append((item, worker, label if worker < honest and rng.random() < 0.9 else guess))
    return LabelMatrix.collect(votes, (A, TIE, B)), truth


def test_mace_finds_the_spammers_and_the_labels() -> None:
    matrix, truth = crowd(1)
    competence = mace(matrix, np.random.default_rng(0), restarts=5)
    assert np.mean([competence.gold[item] is label for item, label in truth.items()]) > 0.97
    spam = competence.spam_of
    assert (
        max(spam[worker] for worker in range(6)) < 0.35 < 0.65 < min(spam[worker] for worker in range(6, 9))
    )
    assert competence.posterior.sum(axis=1) == pytest.approx(1)


def test_mace_outdoes_a_majority_that_spammers_hold() -> None:
    matrix, truth = crowd(2, items=200, honest=3, spammers=4)
    gold = mace(matrix, np.random.default_rng(0), restarts=5).gold
    counted = matrix.counts.argmax(axis=1)
    majority_right = np.mean([(A, TIE, B)[k] is truth[i] for i, k in zip(matrix.items, counted, strict=True)])
    assert np.mean([gold[item] is label for item, label in truth.items()]) > majority_right + 0.1


def test_the_same_seed_gives_the_same_labels() -> None:
    matrix, _ = crowd(3, items=30)
    first, again = (mace(matrix, np.random.default_rng(9), restarts=3) for _ in range(2))
    assert np.array_equal(first.posterior, again.posterior)
    assert np.array_equal(first.spam, again.spam)


def test_one_restart_equals_em_written_out_vote_by_vote() -> None:
    matrix, _ = crowd(4, items=12, honest=2, spammers=1)
    competence = mace(matrix, np.random.default_rng(5), restarts=1, iterations=4)
    rng, k, workers = np.random.default_rng(5), 3, len(matrix.workers)
    way, habit = rng.random((workers, 2)), rng.random((workers, k))
    way, habit = way / way.sum(1, keepdims=True), habit / habit.sum(1, keepdims=True)
    votes = list(zip(matrix.item, matrix.worker, matrix.label, strict=True))
    for step in range(5):
        likelihood = np.full((len(matrix.items), k), 1 / k)
        for i, w, vote in votes:
            likelihood[i] *= way[w, 0] * habit[w, vote] + way[w, 1] * (np.arange(k) == vote)
        posterior = likelihood / likelihood.sum(1, keepdims=True)
        if step == 4:
            break
        spammed, knew = np.zeros((workers, k)), np.zeros(workers)
        for i, w, vote in votes:
            know = posterior[i, vote] * way[w, 1] / (way[w, 1] + way[w, 0] * habit[w, vote])
            knew[w] += know
            spammed[w, vote] += 1 - know
        ways, habits = np.stack([spammed.sum(1), knew], 1) + 0.5 + 0.1 / 3, spammed + 10 + 0.1 / 3
        way = np.exp(digamma(ways) - digamma(ways.sum(1, keepdims=True)))
        habit = np.exp(digamma(habits) - digamma(habits.sum(1, keepdims=True)))
    assert competence.posterior == pytest.approx(posterior)
    assert competence.log_likelihood[0] == pytest.approx(np.log(likelihood.sum(1)).sum())
    assert competence.spam == pytest.approx(way[:, 0] / way.sum(1))


def test_a_run_without_restarts_or_iterations_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one restart"):
        mace(crowd(1, items=2)[0], np.random.default_rng(0), restarts=0)
    with pytest.raises(ValueError, match="one iteration"):
        mace(crowd(1, items=2)[0], np.random.default_rng(0), iterations=0)


def test_a_crowd_that_always_says_the_same_and_one_worker_alone_have_probabilities() -> None:
    same = LabelMatrix.collect([(item, worker, A) for item in range(3) for worker in range(3)], (A, B))
    competence = mace(same, np.random.default_rng(0), restarts=2)
    assert set(competence.gold.values()) == {A}
    assert ((competence.spam >= 0) & (competence.spam <= 1)).all()
    alone = mace(LabelMatrix.collect([("item", "worker", B)], (A, B)), np.random.default_rng(0), restarts=2)
    assert alone.posterior.sum() == pytest.approx(1)
