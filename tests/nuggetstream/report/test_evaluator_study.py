"""Evaluators beside people: counted by hand, and as the command and the library give them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import nuggetstream as ns
from nuggetstream.figures.drawn import NothingToDraw
from nuggetstream.files.results import Results, read_results
from nuggetstream.report.comparing import DifferentAnswers
from nuggetstream.report.evaluator_study import study_evaluators
from nuggetstream.report.evaluator_tables import EvaluatorStudy
from services.cli.main import main
from tests.evaluated import Json, battle, judgment, nugget

pytestmark = pytest.mark.slow

LIKE_A, TIE, LIKE_B = (0.75, 0.25), (0.5, 0.5), (0.25, 0.75)
SURE = {"a": 0.9, "tie": 0.0, "b": 0.1}


def part(stage: str, calls: int, amount: float | None = 0.25) -> Json:
    price = None if amount is None else {"amount": amount, "currency": "USD"}
    tokens = {"input_tokens": 100, "output_tokens": 10}
    return {"stage": stage, "model": "m", "calls": calls, "cost": price} | tokens


SPENT: Json = {
    "spend": [part("retriever", 1), part("nuggetizer", 2), part("assigner", 2), part("judge", 2, 1.0)],
    "cost": {"amount": 1.75, "currency": "USD"},
}


def rows() -> list[Json]:
    """People: a, a, tie, b, b. The nuggets are right once, wrong once and tie twice; the judge is right."""
    sure = [judgment("a", probabilities=SURE)]
    unsure = [judgment("b", probabilities={"a": 0.4, "tie": 0.0, "b": 0.6})]
    return [
        battle("1", scores=LIKE_A, human="a", judgments=sure, tags=["category:sea"], **SPENT),
        battle("2", scores=TIE, human="a", judgments=sure, language="de", **SPENT),
        battle("3", scores=LIKE_B, human="tie", judgments=unsure, **SPENT),
        battle("4", scores=LIKE_A, human="b", judgments=unsure, query="query of 1", **SPENT),
        battle("5", scores=TIE, human="b", judgments=unsure, tags=["category:sea"], **SPENT),
        battle("6", scores=None, human="b", judge=None),
    ]


def written(path: Path, lines: list[Json]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
    return path


def results(path: Path, lines: list[Json]) -> Results:
    return read_results(written(path, lines))


def study(folder: Path, by: str | None = None, **evaluations: list[Json]) -> EvaluatorStudy:
    given = {name: results(folder / f"{name}.jsonl", lines) for name, lines in evaluations.items()}
    return study_evaluators(given, by)


def test_evaluators_are_set_beside_people(tmp_path: Path) -> None:
    nuggets, judge, longer = study(tmp_path, one=rows()).people
    assert [row.evaluator for row in (nuggets, judge, longer)] == [
        "nugget preference", "judge", "longer answer wins",
    ]  # fmt: skip
    assert (nuggets.battles, nuggets.right.compared, nuggets.right.share) == (5, 4, 0.5)
    assert nuggets.confusion == [[1, 1, 0], [0, 0, 1], [1, 1, 0]]
    assert nuggets.inverted == ["4"]
    alone = study(tmp_path, one=rows()).decided_table().to_frame()
    assert alone.row(0)[:6] == ("nugget preference", 1, 0, 1, 0, 0.5)
    assert (judge.right.share, judge.inverted, judge.battles) == (1.0, [], 5)
    assert longer.battles == 6  # it needs no model, so it has a vote on battle 6
    assert judge.kappa is not None
    # Squared distances: observed ¼ of 5, expected 1.2 + 0.8 between A and B and (0.4 + 0.6) / 4 with ties.
    assert judge.kappa.value == pytest.approx(1 - 0.25 / 2.25)


def test_groups_are_those_of_the_battles_and_a_battle_without_a_vote_is_in_none(tmp_path: Path) -> None:
    found = study(tmp_path, "category", one=rows())
    groups = {(row.evaluator, row.group): (row.battles, row.right.share) for row in found.people if row.group}
    assert groups["nugget preference", "sea"] == (2, 0.75)
    assert groups["judge", "not given"] == (3, 1.0)
    table = found.to_frame()
    assert table.filter(table["group"] == "sea")["battles"].to_list() == [2, 2, 2]
    with pytest.raises(ValueError, match="colour"):
        study(tmp_path, "colour", one=rows())


def test_evaluators_and_labels_of_several_evaluations_are_compared_with_each_other(tmp_path: Path) -> None:
    other = rows()
    other[0]["nuggets"] = [nugget(a="partial_support")]
    other[1]["judgments"] = [judgment("b")]
    found = study(tmp_path, one=rows(), two=other)
    pairs = {(row.first, row.second): (row.cases, row.equal.value) for row in found.pairs}
    assert len(pairs) == 6
    assert pairs["one: judge", "two: judge"] == (5, 0.8)
    assert pairs["one: nugget preference", "two: nugget preference"] == (5, 1.0)
    (labels,) = found.labels
    assert (labels.cases, labels.equal.value) == (10, 0.9)
    assert labels.kappa is not None
    # Squared distances in ninths: observed 1 of 10, expected 0.5 + 10 + 8 + 0.5 of 10.
    assert labels.kappa.value == pytest.approx(18 / 19)
    assert labels.kappa.low is not None
    assert labels.kappa.low < labels.kappa.value
    assert [row.evaluator for row in found.people if "longer" in row.evaluator] == ["longer answer wins"]


def test_the_cost_of_an_evaluator_is_that_of_its_stages_and_unknown_is_no_zero(tmp_path: Path) -> None:
    costs = study(tmp_path, one=rows()).costs
    nuggets, judge = costs["nugget preference"], costs["judge"]
    assert (nuggets.calls, nuggets.amount, judge.calls, judge.amount) == (4.0, 0.5, 2.0, 1.0)
    assert (costs["longer answer wins"].calls, costs["longer answer wins"].amount) == (0.0, 0.0)
    two = [judgment("a"), judgment("b", evaluator="utility")]
    several = study(tmp_path, one=[battle("1", judgments=two, **SPENT)]).costs
    assert (several["judge pairwise"].calls, several["judge utility"].amount) == (None, None)
    shared = SPENT | {"spend": [part("judge", 2, 1.0)]}  # its nuggets are those of another battle
    costs = study(tmp_path, one=[battle("1", **SPENT), battle("2", **shared)]).costs
    assert (costs["nugget preference"].calls, costs["nugget preference"].amount) == (2.0, 0.25)
    unpriced = SPENT | {"spend": [part("judge", 2, None)], "cost": None}
    judge = study(tmp_path, one=[battle("1", **unpriced)]).costs["judge"]
    assert (judge.calls, judge.amount) == (2.0, None)


def test_accuracy_is_drawn_against_money_or_else_against_calls(tmp_path: Path) -> None:
    table = study(tmp_path, one=rows()).costs_table()
    drawn = table.drawing()
    assert drawn is not None
    (marks,) = drawn.spec["data"]
    assert list(marks["x"]) == [0.5, 1.0, 0.0]
    assert list(marks["y"])[:2] == [0.5, 1.0]
    assert "USD" in drawn.spec["layout"]["xaxis"]["title"]["text"]
    free = [battle(f"{n}", **(SPENT | {"spend": [part("judge", 2, None)], "cost": None})) for n in range(2)]
    drawn = study(tmp_path, one=free).costs_table().drawing()
    assert drawn is not None
    assert "calls" in drawn.spec["layout"]["xaxis"]["title"]["text"]
    with pytest.raises(NothingToDraw):
        study(tmp_path, one=[battle("1", human=None)]).costs_table().plot()


def test_probabilities_are_calibrated_against_people_and_nuggets_by_resampling(tmp_path: Path) -> None:
    lines = rows()
    lines[0]["nuggets"] = [nugget("One."), nugget("Two.")]
    found = study(tmp_path, one=lines)
    judge, nuggets = [own for _, own in found.calibrations]
    assert (judge.evaluator, judge.calibration.cases) == ("pairwise", 5)
    # Two of 0.9 that are right, three of 0.6 of which two are right.
    bins = [(one.right.count, one.right.of) for one in judge.calibration.bins]
    assert bins == [(2, 3), (2, 2)]
    assert judge.calibration.error == pytest.approx((2 * 0.1 + 3 * (2 / 3 - 0.6)) / 5)
    assert (nuggets.evaluator, nuggets.told, nuggets.judged) == ("nuggets, resampled", 1, 5)
    assert found.bins_table().to_frame()["cases"].to_list()[:2] == [3, 2]


def test_preferences_for_position_length_and_the_own_family_are_counted(tmp_path: Path) -> None:
    nuggets, judge = study(tmp_path, one=rows()).biases  # answer A is the longer one everywhere
    assert (nuggets.evaluator, nuggets.longer.count, nuggets.longer.of) == ("nugget preference", 2, 3)
    assert (nuggets.people_longer.value, nuggets.first_shown, nuggets.own) == (0.5, None, None)
    assert judge.first_shown is not None
    assert (judge.first_shown.count, judge.first_shown.of) == (5, 10)
    assert (judge.evaluator, judge.longer.count, judge.longer.of, judge.own) == ("judge", 2, 5, None)
    flipping = [judgment("tie", flipped=True, model="gpt-4o-mini"), judgment("a", model="gpt-4o-mini")]
    lines = [
        battle(name, "gpt-4o", human="b", judgments=[verdict])
        for name, verdict in zip("12", flipping, strict=True)
    ]
    found = study(tmp_path, one=lines)
    judge = found.biases[-1]
    assert judge.first_shown is not None
    assert judge.flipped is not None
    assert judge.own is not None
    assert (judge.first_shown.value, judge.flipped.value) == (0.75, 0.5)
    assert (judge.own.by_judge.value, judge.own.by_people.value, judge.own.by_judge.of) == (1.0, 0.0, 1)
    assert found.biases_table().to_frame()["own"].to_list() == [None, 1.0]


def test_evaluators_are_combined_on_the_battles_that_all_decide(tmp_path: Path) -> None:
    lines = [
        battle(f"{n}", human="a", scores=LIKE_A if n % 2 else LIKE_B, judge="a", **SPENT) for n in range(30)
    ]
    found = study(tmp_path, one=lines)
    assert found.combinations is not None
    (chosen, _), (reported, _) = found.combinations.chosen_on, found.combinations.reported_on
    assert (chosen + reported, found.left_out) == (30, [])
    # The nuggets need more calls than the judge, and the judge tells no margin: there is no cascade.
    assert {row.kind for row in found.combinations.rows} == {"single"}
    table = found.combinations_table().to_frame()
    assert table["combination"].to_list()[0] == "judge"
    assert table["best"].to_list() == [True, False]
    lines = [row | {"judgments": []} if n > 3 else row for n, row in enumerate(lines)]
    assert study(tmp_path, one=lines).left_out == ["judge"]


def test_without_people_evaluators_are_compared_with_each_other_alone(tmp_path: Path) -> None:
    found = study(tmp_path, one=[battle("1", human=None)], two=[battle("1", human=None)])
    assert (found.people, found.combinations, len(found.pairs)) == ([], None, 6)


def test_two_evaluations_with_other_answers_are_rejected(tmp_path: Path) -> None:
    other = battle("1") | {"a": {"system": "left", "text": "Another answer.", "sources": []}}
    with pytest.raises(DifferentAnswers, match=r"other answers in two\.jsonl than in one\.jsonl"):
        study(tmp_path, one=[battle("1")], two=[other])


def test_in_python_the_study_is_a_table_of_agreement(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", rows())
    found = ns.compare_evaluators(one, by="language")
    assert "nugget preference" in str(found)
    assert set(found.to_frame()["group"].to_list()) == {"all", "de", "en"}
    with pytest.raises(ValueError, match="must be a file"):
        ns.compare_evaluators()


def run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_the_command_sets_one_evaluation_beside_votes_and_writes_all_numbers(tmp_path: Path) -> None:
    written(tmp_path / "one" / "results.jsonl", rows())
    out, page = tmp_path / "study.json", tmp_path / "cost.html"
    done = run(tmp_path / "one", "votes", "--by", "category", "--examples", "1", "--out", out, "--plot", page)
    assert done.exit_code == 0, done.output
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert lines[0] == "6 battles"
    assert "nugget preference 4 query of 1" in lines
    for title in (
        "Agreement with people",
        "Accuracy against cost",
        "Calibration",
        "Inverted battles",
        "Biases",
    ):
        assert title in lines
    numbers = json.loads(out.read_text(encoding="utf-8"))
    assert numbers["people"][0]["right"]["share"] == 0.5
    assert "battles" not in numbers
    assert "Accuracy against cost" in page.read_text(encoding="utf-8")


def test_three_evaluations_have_their_paths_as_names_where_files_are_alike(tmp_path: Path) -> None:
    paths = [written(tmp_path / name / "results.jsonl", rows()) for name in ("one", "two", "three")]
    done = run(*paths, "--plain")
    assert done.exit_code == 0, done.output
    assert f"{paths[2]}: judge" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument"),
        (("votes",), "name two evaluations"),
        (("one.jsonl",), "name two evaluations"),
        (("one.jsonl", "one.jsonl", "--plot", "x.html"), "--plot goes with"),
        (("none.jsonl", "votes"), "none.jsonl: No such file"),
    ],
)
def test_sides_that_cannot_be_compared_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    written(tmp_path / "one.jsonl", rows())
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert (done.exit_code, message in done.output) == (2, True), done.output
