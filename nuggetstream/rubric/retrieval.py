"""How good is a ranking? MRR@k, nDCG@k and every other measure ir_measures knows.

Source: MacAvaney et al., "Streamlining Evaluation with ir-measures", ECIR 2022 (trec_eval inside).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from subprocess import CalledProcessError

import ir_measures

from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.rubric.grading import first_ranks

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
        ValueError: no such measure, it has no value for a query, or a document twice in one ranking.
    """
    if not labels:
        raise NothingToMeasure("no relevance labels")
    evaluator = _evaluator(measure, labels)
    try:
        return {name: _measured(evaluator, ranking, labels) for name, ranking in rankings.items()}
    except (CalledProcessError, KeyError) as error:
        raise ValueError(f"{measure} has no value for these labels and rankings: {error}") from error


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


def _evaluator(measure: str, labels: Sequence[Relevance]) -> ir_measures.providers.Evaluator:
    judged = [ir_measures.Qrel(row.query, row.passage, row.label) for row in labels]
    unknown = f"ir_measures knows no measure {measure!r}"
    try:
        wanted = ir_measures.parse_measure(measure)
        evaluator = ir_measures.evaluator([wanted], judged)
    except (AssertionError, KeyError, NameError, SyntaxError, TypeError, ValueError) as error:
        raise ValueError(unknown) from error
    # trec_eval would end the whole process at a depth of 0.
    if wanted.params.get("cutoff", 1) < 1:
        raise ValueError(f"{unknown}: a depth is at least 1")
    return evaluator


def _measured(
    evaluator: ir_measures.providers.Evaluator, ranking: Ranking, labels: Sequence[Relevance]
) -> Measured:
    found = {each.query_id: float(each.value) for each in evaluator.iter_calc(_scored(ranking))}
    judged = dict.fromkeys(row.query for row in labels)
    # A ranked query without a value, such as accuracy where nothing is relevant, is missing and no 0.
    per_query = {query: found[query] if query in ranking else 0.0 for query in judged}
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
