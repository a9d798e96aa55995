"""Long answers rated by aspect."""

import json
from pathlib import Path

import pytest

from services.analysis.dataset import UnusableFile
from services.analysis.lfqa import acceptability_tree, read_human_means, read_model_ratings
from services.core.aspects import EQUAL_WEIGHTS, refit, weighted_score
from services.core.statistics.ranks import pearson

HUMAN = {"answer_id": "a", "factuality": 2, "amountInfo": 1, "formality": 0, "acceptability": 2}
MODEL = {"answer_id": "a", "factuality": 2, "amountInfo": -1, "formality": 0, "overall": 1}


def write(folder: Path, *rows: dict[str, object]) -> Path:
    path = folder / "ratings.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_too_much_and_too_little_do_not_cancel_out(tmp_path: Path) -> None:
    found = read_human_means(write(tmp_path, HUMAN, HUMAN | {"amountInfo": -1, "acceptability": 1}))["a"]
    assert (found.aspects.amount, found.acceptability, found.raters) == (1.0, 1.5, 2)


@pytest.mark.parametrize("change", [{"factuality": None}, {"factuality": 9}, {"formality": "high"}])
def test_a_missing_or_impossible_rating_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    with pytest.raises(UnusableFile):
        read_human_means(write(tmp_path, HUMAN | change))
    with pytest.raises(UnusableFile):
        read_model_ratings(write(tmp_path, MODEL | change))


def test_an_answer_rated_twice_by_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="twice"):
        read_model_ratings(write(tmp_path, MODEL, MODEL))


def test_equal_weights_and_a_small_tree_do_as_well_on_recorded_answers(recorded_data: Path) -> None:
    human = read_human_means(recorded_data / "lfqa" / "mturk_ratings.jsonl")
    model = read_model_ratings(recorded_data / "lfqa" / "gpt4_ratings.jsonl")
    people = [human[answer].acceptability for answer in model]
    equal = pearson([weighted_score(one.aspects, EQUAL_WEIGHTS) for one in model.values()], people)
    tree = acceptability_tree([one.aspects for one in model.values()], people, seed=1)
    learned = pearson(tree.predicted, people)
    assert equal is not None
    assert learned is not None
    assert equal.coefficient == pytest.approx(0.735, abs=0.001)
    assert learned.coefficient == pytest.approx(equal.coefficient, abs=0.05)
    assert tree.rules.count("factuality") >= 1


def test_a_tree_is_the_same_for_the_same_seed_and_needs_answers(recorded_data: Path) -> None:
    human = list(read_human_means(recorded_data / "lfqa" / "mturk_ratings.jsonl").values())[:200]
    aspects, accepted = [one.aspects for one in human], [one.acceptability for one in human]
    assert acceptability_tree(aspects, accepted, 7) == acceptability_tree(aspects, accepted, 7)
    with pytest.raises(ValueError, match="no tree"):
        acceptability_tree(aspects[:3], accepted[:3], 7)


def test_the_refit_on_recorded_answers_is_far_from_0_by_its_own_errors(recorded_data: Path) -> None:
    human = read_human_means(recorded_data / "lfqa" / "mturk_ratings.jsonl").values()
    found = refit([one.aspects for one in human], [one.acceptability for one in human])
    assert found.answers == 1200
    assert found.weights.formality > 5 * found.errors.formality > 0
    assert found.weights.factuality > found.weights.amount > found.weights.formality
