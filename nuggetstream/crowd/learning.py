"""Gold labels and competence of workers in one dimension, beside what a plain majority says."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.crowd.ballot import Ballots
from nuggetstream.crowd.competence import SPAM_LIMIT
from nuggetstream.crowd.mace import Competence, mace
from nuggetstream.crowd.votes import CrowdVote

_EQUAL = 1e-9  # probabilities closer than this decide nothing


@dataclass(frozen=True, slots=True)
class Method:
    """How competence is learned.

    Attributes:
        limit: votes of a worker likelier spam than this are dropped; exactly this much is kept.
        restarts: random starts of EM, averaged.
        iterations: of each.
        seed: the same seed gives the same numbers, dimension by dimension.
    """

    limit: float = SPAM_LIMIT
    restarts: int = 20
    iterations: int = 100
    seed: int = 20250504


@dataclass(frozen=True, slots=True)
class Item:
    """What the votes about one item say.

    Attributes:
        item: its name.
        gold: the likeliest label; None without an answer, or when two are equally likely.
        probability: of the likeliest label, in [0, 1].
        majority: the label with most votes; None when several have as many.
        without_spam: the same over the votes that are kept; None also when none is left.
        votes: about it.
        kept: of them.
    """

    item: str
    gold: str | None
    probability: float | None
    majority: str | None
    without_spam: str | None
    votes: int
    kept: int


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker.

    Attributes:
        worker: the name.
        votes: given.
        met: of them, those on items that somebody else labelled as well.
        spam: probability that a vote is spam, in [0, 1]; None for one who never met anybody.
        competence: 1 - spam.
        kept: whether the votes are kept; those of an unknown worker are.
    """

    worker: str
    votes: int
    met: int
    spam: float | None
    competence: float | None
    kept: bool


@dataclass(frozen=True, slots=True)
class Learned:
    """Gold labels and competence.

    Attributes:
        items: in the order of the file.
        workers: the least competent first, those without an answer last.
        converged: starts that settled.
        log_likelihood: lowest and highest of the starts, in nats; None without an answer.
        missing: why competence and gold have no answer.
    """

    items: tuple[Item, ...]
    workers: tuple[Worker, ...]
    converged: int | None
    log_likelihood: tuple[float, float] | None
    missing: str | None


def learn(votes: Sequence[CrowdVote], labels: Sequence[str], method: Method) -> Learned:
    """Gold labels by MACE, and the plain majority beside them.

    Args:
        votes: at least one, no worker twice on an item.
        labels: that could have been chosen.
        method: likewise.
    """
    about = Counter(vote.item for vote in votes)
    missing = _unanswerable(votes, about)
    found = None
    if missing is None:
        ballots = Ballots.collect([(vote.item, vote.worker, vote.label) for vote in votes], labels)
        rng = np.random.default_rng(method.seed)
        found = mace(ballots, rng, restarts=method.restarts, iterations=method.iterations)
    workers = _workers(votes, about, found, method.limit)
    return Learned(
        items=_items(votes, found, {worker.worker for worker in workers if worker.kept}),
        workers=workers,
        converged=found.converged if found else None,
        log_likelihood=_ends(found) if found else None,
        missing=missing,
    )


def majority(labels: Iterable[str]) -> str | None:
    """The label with more votes than any other; None without votes or without such a label.

    >>> majority(["x", "x", "y"]), majority(["x", "y"])
    ('x', None)
    """
    ranked = Counter(labels).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def _unanswerable(votes: Sequence[CrowdVote], about: Counter[str]) -> str | None:
    if len({vote.worker for vote in votes}) < 2:
        return "one worker only: competence shows in agreement with others"
    if max(about.values()) < 2:
        return "no item has two votes: competence shows in agreement with others"
    if len({vote.label for vote in votes}) < 2:
        return "one label only: competence and habit look the same"
    return None


def _workers(
    votes: Sequence[CrowdVote], about: Counter[str], found: Competence | None, limit: float
) -> tuple[Worker, ...]:
    given = Counter(vote.worker for vote in votes)
    met = Counter(vote.worker for vote in votes if about[vote.item] > 1)
    spam = found.spam_of if found else {}
    workers = []
    for name, count in given.items():
        known = spam[name] if found and met[name] else None
        kept = known is None or known <= limit
        workers.append(Worker(name, count, met[name], known, None if known is None else 1 - known, kept))
    return tuple(
        sorted(workers, key=lambda worker: -1.0 if worker.spam is None else worker.spam, reverse=True)
    )


def _items(votes: Sequence[CrowdVote], found: Competence | None, trusted: set[str]) -> tuple[Item, ...]:
    said: dict[str, list[CrowdVote]] = defaultdict(list)
    for vote in votes:
        said[vote.item].append(vote)
    gold = _gold(found) if found else {}
    rows = []
    for item, given in said.items():
        kept = [vote.label for vote in given if vote.worker in trusted]
        label, probability = gold.get(item, (None, None))
        plain = majority(vote.label for vote in given)
        without_spam = majority(kept) if found else None
        rows.append(Item(item, label, probability, plain, without_spam, len(given), len(kept)))
    return tuple(rows)


def _gold(found: Competence) -> dict[str, tuple[str | None, float]]:
    gold: dict[str, tuple[str | None, float]] = {}
    likeliest = found.gold
    for item, shares in zip(found.ballots.items, found.posterior, strict=True):
        second, first = np.sort(shares)[-2:]
        decided = first - second > _EQUAL
        gold[str(item)] = (str(likeliest[item]) if decided else None, float(first))
    return gold


def _ends(found: Competence) -> tuple[float, float]:
    return float(found.log_likelihood.min()), float(found.log_likelihood.max())
