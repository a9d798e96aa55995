"""F20 and F21: W-LLM against human acceptability, and its weights fitted again."""

from collections.abc import Mapping
from pathlib import Path

from nuggetstream.aspects.ratings import HumanMeans
from nuggetstream.aspects.reading import read_human_means, read_model_ratings
from nuggetstream.aspects.weights import refit, weighted_score
from nuggetstream.fidelity.row import Row, near
from nuggetstream.statistics.ranks import pearson

# Judge -> file, Pearson of W-LLM, Pearson of the overall rating alone: the W-LLM paper.
PUBLISHED_PEARSON = {
    "GPT-4": ("gpt4_ratings.jsonl", 0.716, 0.701),
    "LLaMA": ("llama_ratings.jsonl", 0.742, 0.712),
}
# Weights by the paper's method on all 1,200 answers.
PUBLISHED_REFIT = {"factuality": 2.045, "amount": 0.680, "formality": 0.321}


def rows(data: Path) -> list[Row]:
    """F20 and F21 from the folder `lfqa`."""
    folder = data / "lfqa"
    human = read_human_means(folder / "mturk_ratings.jsonl")
    found: list[Row] = []
    for judge, (file, combined, alone) in PUBLISHED_PEARSON.items():
        ratings = read_model_ratings(folder / file)
        ours = _against_people(human, {answer: weighted_score(r.aspects) for answer, r in ratings.items()})
        overall = _against_people(human, {answer: r.overall for answer, r in ratings.items()})
        found += [
            near("F20", f"W-LLM, Pearson with people: {judge}", combined, ours, tolerance=0.003),
            near("F20", f"overall rating alone: {judge}", alone, overall, tolerance=0.003),
        ]
    return [*found, *_refit(human)]


def _against_people(human: Mapping[str, HumanMeans], scores: Mapping[str, float]) -> float:
    if unknown := scores.keys() - human.keys():
        raise ValueError(f"{len(unknown)} rated answers were never shown to people")
    people = [human[answer].acceptability for answer in scores]
    found = pearson(list(scores.values()), people)
    if found is None:
        raise ValueError("one side never varies: there is no correlation")
    return found.coefficient


def _refit(human: Mapping[str, HumanMeans]) -> list[Row]:
    answers = list(human.values())
    found = refit([one.aspects for one in answers], [one.acceptability for one in answers])
    ours = {
        "factuality": found.weights.factuality,
        "amount": found.weights.amount,
        "formality": found.weights.formality,
    }
    return [
        near(
            "F21",
            f"weight of {name}, fitted to {found.answers} answers",
            published,
            ours[name],
            tolerance=0.005,
        )
        for name, published in PUBLISHED_REFIT.items()
    ]
