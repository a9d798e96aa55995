"""How good is a ranking? MRR@k, nDCG@k and every other measure ir_measures knows.

Source: MacAvaney et al., "Streamlining Evaluation with ir-measures", ECIR 2022 (trec_eval inside).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ir_measures

from services.core.rubric.grading import GradedPassage, first_ranks
from services.core.rubric.relevance import Relevance

# Query -> documents, best first. None is a place whose document is not known: it earns nothing.
Ranking = Mapping[str, Sequence[str | None]]


class NothingToMeasure(ValueError):
    """There are no relevance labels: every measure would divide by zero."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of one ranking.

    Attributes:
        mean: over every query with labels; one the ranking leaves out counts 0, as in trec_eval.
        per_query: query -> value.
    """

    mean: float
    per_query: Mapping[str, float]


def evaluate(ranking: Ranking, labels: Sequence[Relevance], measure: str) -> Measured:
    """One ranking by one measure; see `evaluate_all`."""
    return evaluate_all({"": ranking}, labels, measure)[""]


def evaluate_all(
    rankings: Mapping[str, Ranking], labels: Sequence[Relevance], measure: str
) -> dict[str, Measured]:
    """Several rankings by one measure.

    nDCG@k = DCG@k / ideal DCG@k with DCG = Σ label / log₂(place + 1); RR@k = 1 / place of the first
    relevant document, 0 when none is in the top k (its mean is MRR@k).

    Args:
        rankings: system -> query -> documents, best first.
        labels: of the assessor.
        measure: by its name in ir_measures, such as "nDCG@10", "RR@10", "AP".

    Returns:
        System -> values, 0..1 for all measures named here, higher is better.

    Raises:
        NothingToMeasure: no labels.
        ValueError: no such measure, or a document twice in one ranking.
    """
    if not labels:
        raise NothingToMeasure("no relevance labels")
    try:
        wanted = ir_measures.parse_measure(measure)
    except (NameError, ValueError, SyntaxError) as error:
        raise ValueError(f"ir_measures knows no measure {measure!r}") from error
    judged = [ir_measures.Qrel(row.query, row.passage, row.label) for row in labels]
    evaluator = ir_measures.evaluator([wanted], judged)
    return {name: _measured(evaluator, ranking, labels) for name, ranking in rankings.items()}


def mean_reciprocal_rank(ranking: Ranking, labels: Sequence[Relevance], k: int) -> float:
    """MRR@k, in [0, 1]."""
    return evaluate(ranking, labels, f"RR@{k}").mean


def ndcg(ranking: Ranking, labels: Sequence[Relevance], k: int) -> float:
    """Mean nDCG@k with linear gains, in [0, 1]."""
    return evaluate(ranking, labels, f"nDCG@{k}").mean


def rankings_of(passages: Sequence[GradedPassage]) -> dict[str, Ranking]:
    """Run -> its ranking, put together from the ranks its passages recorded.

    Each run's ranks start where it started them, 0 or 1. A rank nobody kept the passage of stays an
    empty place, so that what follows does not move up.

    Raises:
        ValueError: a run ranks two passages of a query equally.
    """
    starts = first_ranks(passages)
    places: dict[str, dict[str, dict[int, str]]] = {run: {} for run in starts}
    for passage in passages:
        for run, rank in passage.ranks.items():
            row = places[run].setdefault(passage.query, {})
            if rank in row:
                raise ValueError(f"run {run!r} ranks two passages of query {passage.query!r} at {rank}")
            row[rank] = passage.passage
    return {
        run: {query: _row(row, starts[run]) for query, row in queries.items()}
        for run, queries in places.items()
    }


def _measured(
    evaluator: ir_measures.providers.Evaluator, ranking: Ranking, labels: Sequence[Relevance]
) -> Measured:
    values = {found.query_id: float(found.value) for found in evaluator.iter_calc(_scored(ranking))}
    per_query = {query: values.get(query, 0.0) for query in dict.fromkeys(row.query for row in labels)}
    return Measured(sum(per_query.values()) / len(per_query), per_query)


def _row(places: Mapping[int, str], start: int) -> list[str | None]:
    return [places.get(rank) for rank in range(start, max(places) + 1)]


def _scored(ranking: Ranking) -> list[ir_measures.ScoredDoc]:
    found = []
    for query, documents in ranking.items():
        known = [document for document in documents if document is not None]
        if len(known) != len(set(known)):
            raise ValueError(f"query {query!r} ranks a document twice")
        for place, document in enumerate(documents):
            # An empty place needs a name unlike any document's: ids of TREC files hold no blank.
            name = f"empty place {place}" if document is None else document
            found.append(ir_measures.ScoredDoc(query, name, float(-place)))
    return found
