"""Two evaluations of the same battles, counted by hand, and as the command prints them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import nuggetstream as ns
from nuggetstream.files.results import Results, read_results
from nuggetstream.report.battle_cost import BattleCost
from nuggetstream.report.comparing import DifferentAnswers, compare
from nuggetstream.report.estimates import Estimate
from services.cli.main import main
from tests.evaluated import Json, battle, judgment, nugget

LIKE_A, TIE, LIKE_B = (0.75, 0.25), (0.5, 0.5), (0.25, 0.75)


def results(path: Path, rows: list[Json]) -> Results:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_results(path)


def first_rows() -> list[Json]:
    return [
        battle("1", scores=LIKE_A, judge="a"),
        battle("2", scores=LIKE_A, judge="b", language="de"),
        battle("3", scores=LIKE_B, judge="tie", human="tie"),
        battle("4", scores=TIE, judge="a", human="b"),
        battle("only first", judge="a"),
    ]


def second_rows() -> list[Json]:
    return [
        battle("1", scores=LIKE_A, judge="a", nuggets=[nugget(a="partial_support"), nugget("Other.")]),
        battle("2", scores=LIKE_B, judge="a", language="de"),
        battle("3", scores=LIKE_B, judge=None, human="tie"),
        battle("4", scores=LIKE_B, judge="b", human="b"),
    ]


def test_two_evaluations_are_compared_on_the_battles_of_both(tmp_path: Path) -> None:
    compared = compare(
        results(tmp_path / "one.jsonl", first_rows()),
        results(tmp_path / "two.jsonl", second_rows()),
        "language",
    )
    assert (compared.battles, compared.only_first, compared.only_second) == (4, 1, 0)
    nuggets, judge = compared.preferences
    assert (nuggets.predictor, nuggets.battles, judge.predictor, judge.battles) == (
        "nugget preference", 4, "judge", 3,
    )  # fmt: skip
    assert (judge.only_first, judge.only_second) == (1, 0)
    assert nuggets.equal is not None
    assert nuggets.equal.value == 0.5
    assert nuggets.equal.low is not None
    assert nuggets.equal.high is not None
    assert nuggets.equal.low < 0.5 < nuggets.equal.high
    assert nuggets.confusion == [[1, 0, 1], [0, 0, 1], [0, 0, 1]]
    assert (nuggets.opposite, judge.opposite) == (["2"], ["2", "4"])
    assert {group: (equal.value, count) for group, (equal, count) in nuggets.by.items()} == {
        "de": (0.0, 1),
        "en": (pytest.approx(2 / 3), 3),
    }


def test_both_are_compared_with_people_on_the_battles_that_both_decided(tmp_path: Path) -> None:
    compared = compare(
        results(tmp_path / "one.jsonl", first_rows()), results(tmp_path / "two.jsonl", second_rows())
    )
    nuggets, judge = compared.people
    # People: a, a, tie (left out), b. A predicted tie counts half.
    assert (nuggets.battles, nuggets.first, nuggets.second) == (
        3,
        pytest.approx(2.5 / 3),
        pytest.approx(2 / 3),
    )
    assert nuggets.difference.value == pytest.approx(-0.5 / 3)
    assert (judge.battles, judge.first, judge.second) == (3, pytest.approx(1 / 3), 1.0)
    low, high = judge.difference.low, judge.difference.high
    assert low is not None
    assert high is not None
    assert low < judge.difference.value < high


def test_labels_are_compared_where_both_have_a_nugget_with_the_same_text(tmp_path: Path) -> None:
    compared = compare(
        results(tmp_path / "one.jsonl", first_rows()), results(tmp_path / "two.jsonl", second_rows())
    )
    # One nugget in each of four battles, labelled for both answers; one label differs.
    assert (compared.labels.labels, compared.labels.agreed) == (8, 7)


def spent(amount: float | None, tokens: int) -> Json:
    price = None if amount is None else {"amount": amount, "currency": "USD"}
    part = {"stage": "judge", "model": "m", "calls": 2, "input_tokens": tokens, "output_tokens": 10}
    return {"spend": [part | {"cost": price}] * 2, "cost": price}


def test_the_calls_tokens_and_money_of_a_battle_are_means_and_no_price_is_no_zero(tmp_path: Path) -> None:
    first = [battle("1", **spent(1.0, 100)), battle("2", **spent(2.0, 200)), battle("3")]
    second = [battle("1", **spent(1.0, 100)), battle("2", **spent(None, 100)), battle("3")]
    rows = (results(tmp_path / "one.jsonl", first), results(tmp_path / "two.jsonl", second))
    costs = compare(*rows).costs
    assert costs[0] == BattleCost(
        battles=2, calls=4.0, input_tokens=300.0, output_tokens=20.0, amount=1.5, currency="USD"
    )
    assert costs[1] == replace(costs[0], input_tokens=200.0, amount=None, currency=None)
    (unrecorded, _) = compare(*[results(tmp_path / "three.jsonl", [battle("1")])] * 2).costs
    assert (unrecorded.battles, unrecorded.calls, unrecorded.input_tokens) == (0, None, None)


def test_in_python_a_comparison_is_a_table_of_preferences(tmp_path: Path) -> None:
    results(tmp_path / "one.jsonl", first_rows())
    results(tmp_path / "two.jsonl", second_rows())
    compared = ns.compare(tmp_path / "one.jsonl", tmp_path / "two.jsonl")
    assert "nugget preference" in str(compared)
    (nuggets, _) = compared.to_frame().to_dicts()
    assert (nuggets["battles"], nuggets["equal"], nuggets["opposite"]) == (4, 0.5, 1)
    with pytest.raises(ValueError, match="colour"):
        ns.compare(tmp_path / "one.jsonl", tmp_path / "two.jsonl", by="colour")


def test_a_battle_with_other_answers_is_not_compared(tmp_path: Path) -> None:
    other = battle("1") | {"a": {"system": "left", "text": "Another answer.", "sources": []}}
    with pytest.raises(
        DifferentAnswers, match=r"battle 1 has other answers in two\.jsonl than in one\.jsonl"
    ):
        compare(results(tmp_path / "one.jsonl", [battle("1")]), results(tmp_path / "two.jsonl", [other]))


def test_judges_are_compared_by_name_where_there_are_several(tmp_path: Path) -> None:
    rows = [battle("1", judgments=[judgment("a"), judgment("b", evaluator="utility")])]
    compared = compare(results(tmp_path / "one.jsonl", rows), results(tmp_path / "two.jsonl", rows))
    assert [row.predictor for row in compared.preferences] == [
        "nugget preference", "judge pairwise", "judge utility",
    ]  # fmt: skip
    assert [row.kappa for row in compared.preferences] == [None] * 3  # one category: undefined
    for row in compared.people:  # all resamples are alike
        assert row.difference == Estimate(0.0, None, None)


def run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_the_command_takes_folders_and_files_and_writes_all_numbers(tmp_path: Path) -> None:
    results(tmp_path / "one" / "results.jsonl", first_rows())
    results(tmp_path / "two.jsonl", second_rows())
    out = tmp_path / "compared.json"
    done = run(tmp_path / "one", tmp_path / "two.jsonl", "--out", out, "--examples", "1")
    assert done.exit_code == 0, done.output
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert lines[0] == "4 battles in both, 1 only in the first and 0 only in the second"
    assert "judge: opposite preferences, 1 of 2" in lines
    assert "2 query of 2" in lines
    # 1 - (1/9) / (5/3): distances of labels are thirds of the scale.
    assert "labels of nuggets with the same text: 7 of 8 are equal, kappa 0.93" in lines
    assert json.loads(out.read_text(encoding="utf-8"))["preferences"][1]["opposite"] == ["2", "4"]


def test_files_without_a_common_battle_are_no_error(tmp_path: Path) -> None:
    results(tmp_path / "one.jsonl", [battle("1")])
    results(tmp_path / "two.jsonl", [battle("2")])
    done = run(tmp_path / "one.jsonl", tmp_path / "two.jsonl")
    assert (done.exit_code, done.output.splitlines()[0]) == (
        0,
        "0 battles in both, 1 only in the first and 1 only in the second",
    )


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"id": "1"}\n', encoding="utf-8")
    done = run(tmp_path / "one.jsonl", tmp_path / "one.jsonl")
    assert done.exit_code == 2
    assert done.output.startswith(f"Error: {tmp_path}/one.jsonl:1: ")
