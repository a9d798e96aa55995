"""How good is a ranking? MRR@k, nDCG@k and every other measure ir_measures knows.

Source: MacAvaney et al., "Streamlining Evaluation with ir-measures", ECIR 2022 (trec_eval inside).
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from subprocess import CalledProcessError

import ir_measures

from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.rubric.grading import first_ranks

# Query -> documents, best first. None is a rank whose document is not known: it earns nothing.
Ranking = Mapping[str, Sequence[str | None]]


class NothingToMeasure(ValueError):
    """There are no relevance labels: every measure would divide by zero."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of one ranking.

    Attributes:
        mean: Mean over every query with labels; one that the ranking leaves out counts 0, as in trec_eval -c.
        per_query: Query -> value.
    """

    mean: float
    per_query: Mapping[str, float]


def evaluate_all(
    rankings: Mapping[str, Ranking], labels: Sequence[Relevance], measure: str
) -> dict[str, Measured]:
    """Several rankings by one measure.

    nDCG@k = DCG@k / ideal DCG@k with DCG = Σ label / log₂(rank + 1); RR@k = 1 / rank of the first relevant
    document, 0 when none is in the top k (its mean is MRR@k). Ranks count from 1.

    Args:
        rankings: System -> query -> documents, best first.
        labels: Labels of the assessor.
        measure: Name in ir_measures, such as "nDCG@10", "RR@10", "AP".

    Returns:
        System -> values, 0..1 for all measures named here, higher is better.

    Raises:
        NothingToMeasure: There are no labels.
        ValueError: There is no such measure, it has no value for a query, or a ranking has a document twice.
    """
    if not labels:
        raise NothingToMeasure("no relevance labels")
    evaluator = _evaluator(measure, labels)
    try:
        return {name: _measured(evaluator, ranking, labels) for name, ranking in rankings.items()}
    except (CalledProcessError, KeyError) as error:
        raise ValueError(f"{measure} has no value for these labels and rankings: {error}") from error


def rankings_of(passages: Sequence[GradedPassage]) -> dict[str, Ranking]:
    """Run -> its ranking, put together from the ranks that passages recorded.

    The ranks of a run start at the smallest it recorded, 0 or 1. A rank without a recorded passage stays
    empty, so that the documents below it do not move up.

    Raises:
        ValueError: A run ranks two passages of a query equally.
    """
    starts = first_ranks(passages)
    by_rank: dict[str, dict[str, dict[int, str]]] = {run: {} for run in starts}
    for passage in passages:
        for run, rank in passage.ranks.items():
            documents = by_rank[run].setdefault(passage.query, {})
            if rank in documents:
                raise ValueError(f"run {run!r} ranks two passages of query {passage.query!r} at {rank}")
            documents[rank] = passage.passage
    return {
        run: {query: _with_gaps(documents, starts[run]) for query, documents in queries.items()}
        for run, queries in by_rank.items()
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
    values = {result.query_id: float(result.value) for result in evaluator.iter_calc(_scored(ranking))}
    judged = dict.fromkeys(row.query for row in labels)
    # A ranked query without a value, such as accuracy where nothing is relevant, is missing and not a 0.
    per_query = {query: values[query] if query in ranking else 0.0 for query in judged}
    return Measured(statistics.fmean(per_query.values()), per_query)


def _with_gaps(documents: Mapping[int, str], start: int) -> list[str | None]:
    return [documents.get(rank) for rank in range(start, max(documents) + 1)]


def _scored(ranking: Ranking) -> list[ir_measures.ScoredDoc]:
    scored = []
    for query, documents in ranking.items():
        named = [document for document in documents if document is not None]
        if len(named) != len(set(named)):
            raise ValueError(f"query {query!r} ranks a document twice")
        for index, document in enumerate(documents):
            # An empty rank needs a name unlike that of any document: ids of TREC files hold no blank.
            name = f"empty rank {index}" if document is None else document
            scored.append(ir_measures.ScoredDoc(query, name, float(-index)))
    return scored
