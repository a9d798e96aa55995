"""Arms of a study in one table: alphas by hand, the way from results and gold labels, and CrowdRAG-25."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import nuggetstream as ns
from nuggetstream.files import crowdrag
from nuggetstream.files.opening import UnusableFile
from services.cli.main import main
from tests.evaluated import battle, judgment

# Turned to one order the judge says a, a of x and y, and b, a of v and w.
JUDGE = [("x", "y", "a"), ("y", "x", "b"), ("v", "w", "b"), ("w", "v", "b")]
GOLD = [{"first": "x", "second": "y", "gold": "a"}, {"first": "w", "second": "v", "gold": "a"}]
RATED = [("x", 3), ("x", 4), ("y", 1), ("v", 2), ("w", 2)]  # x is better than y, v and w are tied


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_a_judge_and_ratings_of_single_answers_are_set_beside_gold_labels_in_one_order() -> None:
    judge = [{"first": first, "second": second, "label": label} for first, second, label in JUDGE]
    rated = [{"response": item, "worker": n, "rating": rating} for n, (item, rating) in enumerate(RATED)]
    found = ns.crowd_arms({"judge": judge, "rated": rated}, gold=GOLD, item="response")
    first, second = found.arms
    assert (first.items, first.alpha, first.gold_items) == (4, None, 2)
    # aa, ba: disagreement 2/4, expected 2 · 3 · 1 / (4 · 3). With gold aaa, bab: 1/3 and 2 · 4 · 2 / (6 · 5).
    assert first.both_orders == pytest.approx(0)
    assert first.with_gold == pytest.approx(0.375)
    # aa, nb: 2 · 1 / 4, and 2 (2 · 1 · 1.5² + 2 · 1 · 2.5² + 1) / 12 with the ordinal distances.
    assert (second.items, second.both_orders, second.gold_items) == (4, None, 2)
    assert second.with_gold == pytest.approx(1 - 0.5 / 3)
    assert (found.across[0].items, "both orders" in str(found)) == (2, True)


def test_what_a_judge_said_is_exported_and_set_beside_people_by_dimension(tmp_path: Path) -> None:
    def said(first: str, deep: str) -> dict[str, object]:
        parts = [{"dimension": "deep", "winner": deep}, {"dimension": "overall", "winner": "a"}]
        return {"first": first, "winner": "a", "reasoning": "", "dimensions": parts}

    orders = {"b1": [said("a", "a"), said("b", "tie")], "b2": [said("a", "b"), said("b", "b")]}
    lines = (
        battle(name, judgments=[judgment("a", evaluator="utility", verdicts=both)])
        for name, both in orders.items()
    )
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    verdicts, votes = tmp_path / "verdicts.csv", tmp_path / "votes.csv"
    done = run("export", tmp_path / "results.jsonl", "--to", "verdicts", "--out", verdicts)
    assert done.exit_code == 0, done.output
    with verdicts.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["first"], row["label"], row["shown"]) for row in rows if row["dimension"] == "overall"] == [
        ("left", "a", "a"), ("right", "a", "b"), ("left", "a", "a"), ("right", "a", "b"),
    ]  # fmt: skip
    labels = "b1,ann,deep,a\nb1,ben,deep,a\nb2,ann,deep,b\nb2,ben,deep,b\n"
    votes.write_text(f"item,worker,dimension,label\n{labels}", encoding="utf-8")
    run("crowd", votes, "--out", tmp_path, "--restarts", "1")
    arms = (f"people={votes}", f"judge={verdicts}", "--gold", tmp_path / "gold.csv", "--plain")
    done = run("crowd", "arms", *arms, "--by", "evaluator")
    assert done.exit_code == 0, done.output
    table = [line.split("\t") for line in done.output.splitlines()]
    # an, bb: 2 · 1 / 4, and 2 (1 + 2 · 1.5² + 2 · 2.5²) / 12. With people: aa, an, aa, an, bb four times.
    assert ["people", "deep", "2", "1.000", "", "2", "1.000"] in table
    assert ["judge utility", "overall", "2", "", "", "0", ""] in table
    assert ["people", "judge utility", "deep", "2", "0.893"] in table
    # By sides, the labels as shown are turned back: the same agreement of both orders.
    sides = ("--item", "item", "--sides", "first", "second", "--label", "shown")
    done = run("crowd", "arms", f"judge={verdicts}", *sides, "--plain")
    by_sides = next(line for line in done.output.splitlines() if line.startswith("judge\tdeep")).split("\t")
    by_item = next(row for row in table if row[:2] == ["judge utility", "deep"])
    assert (by_sides[2:5], by_item[2:4]) == (["4", "", by_item[3]], ["2", "0.833"])


def test_what_is_no_arm_is_named(tmp_path: Path) -> None:
    rows = [("tide", "ann", "a")]
    with pytest.raises(UnusableFile, match="topic: is no column, see by="):
        ns.crowd_arms({"people": rows}, by="topic")
    (tmp_path / "votes.csv").write_text("item,label\ntide,a\n", encoding="utf-8")
    done = run("crowd", "arms", tmp_path / "votes.csv", tmp_path / "votes.csv")
    assert (done.exit_code, "two arms have one name" in done.output) == (2, True)


def test_the_recorded_judges_and_experts_agree_as_published(recorded_data: Path) -> None:
    folder = recorded_data / "crowdrag25"
    read = {"judge": crowdrag.read_verdicts(folder), "experts": crowdrag.read_experts(folder)}
    arms = {name: [dict(record.fields) for record in records] for name, records in read.items()}
    columns = {"label": crowdrag.DIMENSIONS, "sides": crowdrag.SIDES}
    found = ns.crowd_arms(arms, gold=folder / "ratings.jsonl.gz", by="inference", **columns)
    means = {row.arm: row for row in found.arms if row.dimension == "mean"}
    near = [pytest.approx(value, abs=0.01) for value in (0.65, 0.76, 0.32, 0.26, 0.03, 0.46)]
    combined, individual, experts = means["judge combined"], means["judge individual"], means["experts"]
    assert [
        *(combined.both_orders, individual.both_orders, combined.with_gold, individual.with_gold),
        *(experts.alpha, next(row.alpha for row in found.across if row.dimension == "mean")),
    ] == near
