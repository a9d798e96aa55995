"""Grades of groups of items, tested topic by topic, and how far dimensions agree."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import nuggetstream as ns
from nuggetstream.crowd.contrasts import compare_groups
from nuggetstream.crowd.within_topics import GroupedGrade
from nuggetstream.files.opening import UnusableFile
from services.cli.main import main


def one(dimension: str, topic: str, item: str, grade: float, group: str, within: str = "") -> GroupedGrade:
    return GroupedGrade(dimension=dimension, topic=topic, item=item, grade=grade, group=group, within=within)


def graded(dimension: str, grades: Sequence[float], group: str, within: str = "") -> list[GroupedGrade]:
    return [one(dimension, f"t{n}", f"{group}{n}", grade, group, within) for n, grade in enumerate(grades)]


def test_groups_are_paired_by_topic_and_all_tests_are_adjusted_together() -> None:
    people, model = [1.0, 1, 2, 1, 2, 1], [3.0, 2, 4, 6, 3, 5]
    rows = graded("depth", people, "people") + graded("depth", model, "model")
    rows += graded("style", people, "people") + graded("style", people, "model")
    rows += graded("length", people, "people") + graded("length", [4.0, 2, 4, 1, 3, 5], "model")
    depth, style, length = compare_groups(rows).contrasts
    # All six differences have one sign: two of 2⁶ orders are as extreme.
    assert (depth.first, depth.second, depth.topics) == ("model", "people", 6)
    assert depth.p_value == pytest.approx(2 / 64)
    assert depth.mean_difference == pytest.approx((23 - 8) / 6)
    assert (style.p_value, style.adjusted, style.mean_difference) == (None, None, None)  # no topic differs
    assert depth.p_value is not None
    assert length.p_value is not None
    # Two tests have a p-value; the smaller one is at most doubled.
    assert depth.adjusted == pytest.approx(min(2 * depth.p_value, length.p_value))
    assert not style.significant()


def test_a_topic_that_only_one_group_has_counts_for_its_mean_alone() -> None:
    rows = [*graded("depth", [1, 2, 3], "x"), *graded("depth", [2, 4], "y")]
    found = compare_groups(rows)
    assert [(row.group, row.items, row.mean, row.deviation) for row in found.means] == [
        ("x", 3, 2.0, 1.0), ("y", 2, 3.0, pytest.approx(2**0.5)),
    ]  # fmt: skip
    (contrast,) = found.contrasts
    assert (contrast.topics, contrast.mean_difference) == (2, -1.5)
    twice = [*rows, one("depth", "t0", "another", 5.0, "x")]  # the mean of two items counts
    assert compare_groups(twice).contrasts[0].mean_difference == -0.5


def test_groups_are_compared_within_each_style_alone() -> None:
    rows = [
        *graded("d", [1, 2], "x", "essay"),
        *graded("d", [2, 3], "y", "essay"),
        *graded("d", [1], "x", "news"),
    ]
    assert [(row.within, row.topics) for row in compare_groups(rows).contrasts] == [("essay", 2)]


def test_dimensions_are_correlated_within_topics_and_a_topic_without_order_is_none() -> None:
    rows = []
    for topic, first, second in (
        ("t", (1, 2, 3), (1, 2, 3)),
        ("u", (1, 2, 3), (3, 2, 1)),
        ("v", (1, 1, 1), (1, 2, 3)),
    ):
        for n in range(3):
            rows.append(one("depth", topic, f"{topic}{n}", first[n], "g"))
            rows.append(one("style", topic, f"{topic}{n}", second[n], "g"))
    (pair,) = compare_groups(rows).dimensions
    assert (pair.first, pair.second, pair.topics, pair.tau) == ("depth", "style", 2, 0.0)
    assert (pair.low, pair.high) == (-1.0, 1.0)


GRADES = "dimension,topic,item,grade\n" + "".join(
    f"{dimension},{topic},{kind}-{topic},{grade}\n"
    for dimension in ("depth", "style")
    for topic in ("t", "u", "v")
    for grade, kind in enumerate(("human", "model"), start=1)
)
ITEMS = "item,kind\n" + "".join(f"human-{t},human\nmodel-{t},model\n" for t in "tu")


def run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, ["crowd", "compare", *map(str, arguments)])


def test_overlap_with_the_best_text_is_correlated_with_the_grades_of_the_others(tmp_path: Path) -> None:
    texts = ("the moon raises two tides a day", "the moon raises tides", "the moon is far", "tea calms us")
    rows = [
        {
            "item": f"{topic}{n}",
            "topic": topic,
            "grade": 4 - n if topic == "up" else (4, 1, 2, 3)[n],
            "text": text,
        }
        for topic in ("up", "down")
        for n, text in enumerate(texts)
    ]
    rows += [{"item": "x", "topic": "few", "grade": 1, "text": "alone"}]
    path = tmp_path / "grades.jsonl"
    path.write_text("".join(json.dumps(row | {"kind": "model"}) + "\n" for row in rows), encoding="utf-8")
    done = CliRunner().invoke(
        main, ["crowd", "compare", str(path), "--by", "kind", "--text", "text", "--plain"]
    )
    assert done.exit_code == 0, done.output
    found = [line.split("\t") for line in done.output.splitlines() if "ROUGE-L" in line]
    # The others follow the grades exactly in one topic, and in the opposite order in the other.
    assert found == [["grade", "ROUGE-L", "2", "0.00", "-1.00 to 1.00"]]


def test_the_command_takes_groups_from_a_file_of_items_and_counts_what_lacks_one(tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text(GRADES, encoding="utf-8")
    (tmp_path / "items.csv").write_text(ITEMS, encoding="utf-8")
    done = run(tmp_path / "grades.csv", "--by", "kind", "--items", tmp_path / "items.csv")
    assert done.exit_code == 0, done.output
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    assert "depth human model 2 −1.00 0.500 0.500" in lines
    assert "depth human 2 1.00 0.00" in lines
    assert "depth style 2 1.00 1.00–1.00" in lines
    assert "4 grades of items without a known group, left out" in lines


def test_a_column_that_is_nowhere_and_a_grade_that_is_no_number_are_named(tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text(GRADES, encoding="utf-8")
    done = run(tmp_path / "grades.csv", "--by", "kind")
    assert (done.exit_code, "kind: no graded item has this column, see --by" in done.output) == (2, True)
    (tmp_path / "grades.csv").write_text(GRADES.replace(",1\n", ",good\n"), encoding="utf-8")
    done = run(tmp_path / "grades.csv", "--by", "kind")
    assert (done.exit_code, "grades.csv:2: grade: is 'good'; expected a number" in done.output) == (
        2,
        True,
    ), done.output
    with pytest.raises(UnusableFile, match="row 0: item: is missing"):
        ns.crowd_compare([{"grade": 1}], by="kind")


def test_in_python_the_grades_of_a_crowd_are_compared_as_they_are() -> None:
    labels = [
        {"topic": topic, "first": f"h{topic}", "second": f"m{topic}", "label": "b"} for topic in "tuvwx"
    ]
    items = [{"item": f"{kind}{topic}", "kind": kind} for topic in "tuvwx" for kind in "hm"]
    found = ns.crowd_compare(ns.crowd_grades(labels).to_frame(), by="kind", items=items)
    (row,) = found.to_frame().to_dicts()
    assert (row["topics"], row["mean_difference"], row["p_value"]) == (5, -1.0, 2 / 32)
    assert "Wilcoxon" in str(found)
