"""One kappa of two files of labels: by hand, against another implementation, and what cannot be paired."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from nuggetstream.files.opening import UnusableFile
from nuggetstream.rubric.label_agreement import (
    LabelSet,
    NothingLabelledTwice,
    UnknownLabel,
    label_agreement,
)
from nuggetstream.rubric.label_files import read_label_set
from nuggetstream.rubric.scoring import UnusedOption
from services.cli.main import main

PEOPLE = "item,label\nq1,good\nq2,fair\nq3,poor\nq4,poor\nq5,good\n"
JUDGE = "item,label\nq1,good\nq2,good\nq3,poor\nq4,fair\nq6,good\n"


def labels(*values: object) -> LabelSet:
    return LabelSet({f"item {number}": str(value) for number, value in enumerate(values)})


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def kappa(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["rubric", "kappa", *map(str, arguments)])


def test_kappa_of_four_pairs_by_hand() -> None:
    agreement = label_agreement(
        labels("good", "fair", "poor", "poor"),
        labels("good", "good", "poor", "fair"),
        ["poor", "fair", "good"],
    )
    assert agreement.counts == ((1, 1, 0), (0, 0, 1), (0, 0, 1))
    # Chance agrees in 5 of 16; linear costs are 1 observed and 2 expected, quadratic ones 0.5 and 1.625.
    assert agreement.observed == 0.5
    assert agreement.unweighted == pytest.approx((1 / 2 - 5 / 16) / (1 - 5 / 16))
    assert agreement.linear == pytest.approx(1 - 2 / 4)
    assert agreement.quadratic == pytest.approx(1 - 2 / 6.5)


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


@given(PAIRS)
def test_scikit_learn_finds_the_same_kappas_of_whole_numbers(pairs: list[tuple[int, int]]) -> None:
    assume(len({label for pair in pairs for label in pair}) > 1)
    first, second = zip(*pairs, strict=True)
    agreement = label_agreement(labels(*first), labels(*second))
    theirs = [
        cohen_kappa_score(first, second, labels=range(4), weights=w) for w in (None, "linear", "quadratic")
    ]
    ours = [agreement.unweighted, agreement.linear, agreement.quadratic]
    assert [value for value in ours if value is not None] == pytest.approx(
        [theirs[i] for i, value in enumerate(ours) if value is not None]
    )


def test_the_same_number_in_two_spellings_is_the_same_label() -> None:
    agreement = label_agreement(labels("2", "10", "1"), labels("2.0", "1e1", "10"))
    assert agreement.labels == ("1", "2", "10")
    assert agreement.observed == pytest.approx(2 / 3)


def test_labels_without_an_order_have_no_weighted_kappa() -> None:
    agreement = label_agreement(labels("cat", "dog", "cat"), labels("cat", "dog", "dog"))
    assert agreement.unweighted == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    assert (agreement.linear, agreement.quadratic) == (None, None)
    assert [note.state for note in agreement.notes] == ["no_order"]


def test_one_label_only_has_no_kappa() -> None:
    agreement = label_agreement(labels(1, 1), labels(1, 1))
    assert (agreement.unweighted, agreement.linear, agreement.observed) == (None, None, 1)
    assert [note.state for note in agreement.notes] == ["no_kappa"]


def test_labels_that_cannot_be_used_are_errors() -> None:
    with pytest.raises(NothingLabelledTwice, match="1 label and 1 label, no item in both"):
        label_agreement(LabelSet({"x": "1"}), LabelSet({"y": "1"}))
    with pytest.raises(UnknownLabel, match="'bad' is not one of the labels named: poor, good"):
        label_agreement(labels("good", "bad"), labels("good", "good"), ["poor", "good"])


def test_what_cannot_be_paired_is_counted_and_named(tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.csv", PEOPLE + "q7,\n"), written(tmp_path, "b.csv", JUDGE)
    result = kappa(first, second, "--labels", "poor,fair,good", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "       4           1" in result.output  # compared, only in the first file
    assert "1 item with a label only in" in result.output
    assert "a.csv, left out: q5" in result.output
    assert "b.csv, left out: q6" in result.output
    assert "1 item without a label in" in result.output
    content = json.loads((tmp_path / "out" / "kappa.json").read_text(encoding="utf-8"))
    assert content["kappa"]["linear"] == pytest.approx(0.5)
    assert (content["rests_on"]["pairs"], content["only_first"], content["only_second"]) == (
        4,
        ["q5"],
        ["q6"],
    )
    with (tmp_path / "out" / "confusion.csv").open(encoding="utf-8", newline="") as file:
        assert sum(int(row["items"]) for row in csv.DictReader(file)) == 4


def test_qrels_pair_by_query_and_document(tmp_path: Path) -> None:
    first = written(tmp_path, "a.qrels", "q 0 x 2\nq 0 y 0\nr 0 x 1\n")
    second = written(tmp_path, "b.qrels", "q 0 x 2\nq 0 y 1\ns 0 x 1\n")
    agreement = label_agreement(read_label_set(first), read_label_set(second))
    assert (agreement.pairs, agreement.only_first, agreement.only_second) == (2, ("r x",), ("s x",))
    refused = kappa(first, second, "--label", "grade")
    assert (refused.exit_code, "relevance labels have no columns" in refused.output) == (2, True)
    with pytest.raises(UnusedOption):
        read_label_set(first, ["query"])


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        (PEOPLE + "q1,poor\n", {}, "labels.csv:7: item: 'q1' is labelled twice"),
        ("item,label\n,good\n", {}, "labels.csv:2: item: is missing"),
        ("item,score\nq1,1\n", {}, "is no column, see --label; it has item, score"),
        (PEOPLE, {"items": ["who"]}, "labels.csv: who: is no column, see --item"),
    ],
)
def test_a_table_of_labels_that_cannot_be_used_is_named(
    tmp_path: Path, text: str, options: dict[str, list[str]], problem: str
) -> None:
    with pytest.raises(UnusableFile) as refused:
        read_label_set(written(tmp_path, "labels.csv", text), **options)  # type: ignore[arg-type]
    assert problem in str(refused.value)


def test_several_columns_name_one_item(tmp_path: Path) -> None:
    path = written(tmp_path, "labels.csv", "query,answer,vote\nq,x,1\nq,y,2\n")
    assert read_label_set(path, ["query", "answer"]).labels == {"q x": "1", "q y": "2"}


def test_plain_output_is_rows_that_a_program_reads(tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.csv", PEOPLE), written(tmp_path, "b.csv", JUDGE)
    result = kappa(first, second, "--plain")
    rows = [line.split("\t") for line in result.output.splitlines() if line and not line.startswith("#")]
    assert rows[0][4:] == ["kappa", "kappa, linear", "kappa, quadratic"]
    assert rows[1][4:] == ["0.273", "", ""]  # no order, no weights
    assert rows[2] == ["first", "fair", "good", "poor"]
