"""F20 to F22: aspects of long-form answers, rated by people and by judge models.

Source: Kamoda et al., "Quantifying the Influence of Evaluation Aspects on Long-Form Response Assessment",
2025, and its repository gokamoda/lfqa-weighted-eval.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from nuggetstream.aspects.errors import held_out_scores
from nuggetstream.aspects.ratings import HumanMeans
from nuggetstream.aspects.reading import human_means_of, read_human_means, read_model_ratings
from nuggetstream.aspects.tree import TREE_DEPTH
from nuggetstream.aspects.weights import refit, weighted_score
from nuggetstream.fidelity.row import Basis, MakeRows, Row, near
from nuggetstream.files.record import Record
from nuggetstream.statistics.krippendorff import Level, alpha
from nuggetstream.statistics.ranks import pearson

# Judge -> file, Pearson's r of W-LLM (printed), Pearson's r of the overall rating alone (computed twice).
_PEARSON = {
    "GPT-4": ("gpt4_ratings.jsonl", 0.716, 0.701),
    "LLaMA": ("llama_ratings.jsonl", 0.742, 0.712),
}
# Weights by the method of the paper on all 1,200 answers; the paper fitted them to a split of its own.
_REFITTED = {"factuality": 2.045, "amount": 0.680, "formality": 0.321}
# Field, possible values, alpha at the ordinal level (computed twice) and at the interval level (printed).
_HUMAN_ALPHA = (
    ("factuality", (0, 1, 2, 3), 0.284, 0.31),
    ("amountInfo", (-1, 0, 1), 0.523, 0.50),
    ("formality", (-1, 0, 1), 0.396, 0.37),
    ("acceptability", (0, 1, 2, 3), 0.467, 0.48),
)

_SEED = 2025


def pearson_with_people(data: Path) -> Iterator[Row]:
    """F20: W-LLM, and the overall rating alone, against people's acceptability."""
    human = _human(data)
    for judge, (file, combined, alone) in _PEARSON.items():
        ratings = read_model_ratings(data / "lfqa" / file)
        scores = {answer: weighted_score(rating.aspects) for answer, rating in ratings.items()}
        yield near(
            "F20",
            f"W-LLM, Pearson with people, {judge}",
            combined,
            _with_people(human, scores),
            basis=Basis.PRINTED,
            tolerance=0.003,
        )
        yield near(
            "F20",
            f"overall rating alone, Pearson with people, {judge}",
            alone,
            _with_people(human, {answer: rating.overall for answer, rating in ratings.items()}),
            basis=Basis.SECOND,
            tolerance=0.003,
        )


def refitted_weights(data: Path) -> Iterator[Row]:
    """F21: weights fitted to all answers that people rated."""
    means = list(_human(data).values())
    fitted = refit([answer.aspects for answer in means], [answer.acceptability for answer in means])
    for name, reference in _REFITTED.items():
        what = f"weight of {name}, fitted to {fitted.answers:,} answers"
        ours = getattr(fitted.weights, name)
        yield near("F21", what, reference, ours, basis=Basis.SECOND, tolerance=0.005)


def held_out_scores_of_ratings(data: Path) -> Iterator[Row]:
    """F21b: weights and a tree on a fifth of the single ratings, fitted to the others.

    The paper prints the number of one split, and not which one, so it is compared with the range over random
    splits. About one split of twenty reaches the 0.853 of the weights.
    """
    with (data / "lfqa" / "mturk_ratings.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) | {"answer_id": f"{number}"} for number, line in enumerate(lines)]
    ratings = human_means_of(Record(f"row {number}", row) for number, row in enumerate(rows))
    for score in held_out_scores(list(ratings.values()), TREE_DEPTH, _SEED):
        yield Row(
            id="F21b",
            basis=Basis.PRINTED,
            what=f"{score.score}, Pearson on held-out ratings",
            reference=f"{score.published:.3f}",
            ours=f"{score.pearson:.3f} ({score.low:.3f} to {score.high:.3f})",
            tolerance="in 95% of splits",
            passed=score.low <= score.published <= score.high,
        )


def human_alpha(data: Path) -> Iterator[Row]:
    """F22: alpha of people's ratings.

    The paper also prints 0.74 over all aspects, which does not come out of these data: it is 0.79.
    """
    ratings = defaultdict(list)
    with (data / "lfqa" / "mturk_ratings.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            rating = json.loads(line)
            ratings[rating["answer_id"]].append(rating)
    for field, domain, ordinal, interval in _HUMAN_ALPHA:
        units = [[rating[field] for rating in group] for group in ratings.values()]
        for level, reference, basis in (
            (Level.INTERVAL, interval, Basis.PRINTED),
            (Level.ORDINAL, ordinal, Basis.SECOND),
        ):
            what = f"human alpha, {field}, {level.value}"
            ours = alpha(units, domain, level)
            yield near("F22", what, reference, ours, basis=basis, tolerance=0.01)


ROWS: Mapping[str, MakeRows] = {
    "F20": pearson_with_people,
    "F21": refitted_weights,
    "F21b": held_out_scores_of_ratings,
    "F22": human_alpha,
}


@cache
def _human(data: Path) -> dict[str, HumanMeans]:
    return read_human_means(data / "lfqa" / "mturk_ratings.jsonl")


def _with_people(human: Mapping[str, HumanMeans], scores: Mapping[str, float]) -> float | None:
    if unknown := scores.keys() - human.keys():
        raise ValueError(f"{len(unknown)} rated answers were never shown to people")
    people = [human[answer].acceptability for answer in scores]
    correlation = pearson(list(scores.values()), people)
    return None if correlation is None else correlation.coefficient
