"""Gold labels of items and competence of workers in one dimension, beside the plain majority."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.crowd.dawid_skene import dawid_skene
from nuggetstream.crowd.label_matrix import LabelMatrix
from nuggetstream.crowd.mace import Competence, mace
from nuggetstream.domain.worker_label import ShownPair, WorkerLabel

# Votes whose probability of being spam is above this are dropped; a vote at exactly this probability is kept.
SPAM_LIMIT = 0.7
_EQUAL = 1e-9  # probabilities closer than this are equal but for rounding


@dataclass(frozen=True, slots=True)
class CompetenceOptions:
    """How the competence of workers is learned.

    Attributes:
        limit: Labels of a worker whose spam probability is above this are dropped; exactly this much is kept.
        restarts: Number of random starts of EM, whose results are averaged.
        iterations: Maximum number of iterations per start.
        seed: Seed of the random starts; the same seed gives the same numbers in every dimension.
    """

    limit: float = SPAM_LIMIT
    restarts: int = 20
    iterations: int = 100
    seed: int = 20250504


@dataclass(frozen=True, slots=True)
class ItemLabels:
    """What the labels of one item add up to.

    Attributes:
        item: Name of the item.
        gold: Most probable label; None when it is undefined or two labels are equally probable.
        probability: Probability of the most probable label, in [0, 1].
        dawid_skene: Most probable label by Dawid and Skene; None as for `gold`.
        majority: Label with the most votes; None when several labels have as many.
        without_spam: Majority of the kept votes; None also when no vote is kept.
        votes: Number of votes.
        kept: Number of kept votes.
        shown: The two answers of the item as first shown; None where the item is no pair.
    """

    item: str
    gold: str | None
    probability: float | None
    dawid_skene: str | None
    majority: str | None
    without_spam: str | None
    votes: int
    kept: int
    shown: ShownPair | None = None


@dataclass(frozen=True, slots=True)
class WorkerCompetence:
    """One worker.

    Attributes:
        worker: Name of the worker.
        votes: Number of votes.
        met: Number of votes on items that other workers labelled too.
        spam: Probability that a vote is spam, in [0, 1]; None for a worker who was alone on every item.
        competence: 1 - spam.
        kept: Whether the votes are kept; those of a worker of unknown competence are.
    """

    worker: str
    votes: int
    met: int
    spam: float | None
    competence: float | None
    kept: bool


@dataclass(frozen=True, slots=True)
class LearnedLabels:
    """Gold labels of items and competence of workers.

    Attributes:
        items: One entry per item, in order of first appearance.
        workers: One entry per worker, the least competent first and those of unknown competence last.
        converged: Number of random starts that converged; None when nothing could be learned.
        log_likelihood: Lowest and highest final log-likelihood of the starts, in nats; None when
            nothing could be learned.
        missing: Why competence and gold labels are undefined; None when they are defined.
    """

    items: tuple[ItemLabels, ...]
    workers: tuple[WorkerCompetence, ...]
    converged: int | None
    log_likelihood: tuple[float, float] | None
    missing: str | None


def learn(
    votes: Sequence[WorkerLabel], labels: Sequence[str], options: CompetenceOptions | None = None
) -> LearnedLabels:
    """Gold labels and competence by MACE, and Dawid and Skene's labels and the plain majority beside them.

    Args:
        votes: Votes of one dimension, at least one, no worker twice on an item.
        labels: Every label that could be chosen. One that nobody chose changes nothing.
        options: How competence is learned; the defaults where None.

    Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning Whom to Trust with MACE", NAACL 2013; Dawid
    and Skene, 1979.
    """
    options = options or CompetenceOptions()
    votes_of = Counter(vote.item for vote in votes)
    missing = _why_no_competence(votes, votes_of)
    competence, beside = None, {}
    if missing is None:
        chosen = {vote.label for vote in votes}
        used = [label for label in labels if label in chosen]
        matrix = LabelMatrix.collect([(vote.item, vote.worker, vote.label) for vote in votes], used)
        rng = np.random.default_rng(options.seed)
        competence = mace(matrix, rng, restarts=options.restarts, iterations=options.iterations)
        beside = _most_probable(matrix, dawid_skene(matrix, iterations=options.iterations))
    workers = _workers(votes, votes_of, competence, options.limit)
    return LearnedLabels(
        items=_items(votes, competence, beside, {worker.worker for worker in workers if worker.kept}),
        workers=workers,
        converged=competence.converged if competence else None,
        log_likelihood=_range(competence) if competence else None,
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


def _why_no_competence(votes: Sequence[WorkerLabel], votes_of: Counter[str]) -> str | None:
    if len({vote.worker for vote in votes}) < 2:
        return "one worker only: competence shows in agreement with others"
    if max(votes_of.values()) < 2:
        return "no item has two votes: competence shows in agreement with others"
    if len({vote.label for vote in votes}) < 2:
        return "one label only: competence and habit look the same"
    return None


def _workers(
    votes: Sequence[WorkerLabel], votes_of: Counter[str], competence: Competence | None, limit: float
) -> tuple[WorkerCompetence, ...]:
    votes_by = Counter(vote.worker for vote in votes)
    met = Counter(vote.worker for vote in votes if votes_of[vote.item] > 1)
    spam_of = competence.spam_of if competence else {}
    workers = []
    for name, count in votes_by.items():
        spam = spam_of[name] if competence and met[name] else None
        workers.append(
            WorkerCompetence(
                worker=name,
                votes=count,
                met=met[name],
                spam=spam,
                competence=None if spam is None else 1 - spam,
                kept=spam is None or spam <= limit,
            )
        )
    return tuple(
        sorted(workers, key=lambda worker: -1.0 if worker.spam is None else worker.spam, reverse=True)
    )


def _items(
    votes: Sequence[WorkerLabel],
    competence: Competence | None,
    beside: Mapping[str, tuple[str | None, float]],
    kept_workers: set[str],
) -> tuple[ItemLabels, ...]:
    by_item: dict[str, list[WorkerLabel]] = defaultdict(list)
    for vote in votes:
        by_item[vote.item].append(vote)
    gold_of = _most_probable(competence.matrix, competence.posterior) if competence else {}
    items = []
    for item, own in by_item.items():
        kept = [vote.label for vote in own if vote.worker in kept_workers]
        gold, probability = gold_of.get(item, (None, None))
        items.append(
            ItemLabels(
                item=item,
                gold=gold,
                probability=probability,
                dawid_skene=beside[item][0] if item in beside else None,
                majority=majority(vote.label for vote in own),
                without_spam=majority(kept) if competence else None,
                votes=len(own),
                kept=len(kept),
                shown=own[0].shown,
            )
        )
    return tuple(items)


def _most_probable(
    matrix: LabelMatrix, posterior: NDArray[np.float64]
) -> dict[str, tuple[str | None, float]]:
    """Item -> its most probable label, None where two are equally probable, and that label's probability."""
    found: dict[str, tuple[str | None, float]] = {}
    for item, probabilities in zip(matrix.items, posterior, strict=True):
        second, first = np.sort(probabilities)[-2:]
        label = str(matrix.labels[int(probabilities.argmax())])
        found[str(item)] = (label if first - second > _EQUAL else None, float(first))
    return found


def _range(competence: Competence) -> tuple[float, float]:
    return float(competence.log_likelihood.min()), float(competence.log_likelihood.max())
