"""Files of labels: three forms of them, what their labels mean, and what is said about wrong ones."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.crowd.scale import Asked, NoOrder, Scale, scaled
from nuggetstream.crowd.votes import Columns, Crowd, read_crowd
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.statistics.krippendorff import Level

LONG = "item,worker,label\nx,ann,a\nx,ben,b\ny,ann,n\n"


def written(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str, **columns: Any) -> Crowd:
    return read_crowd(written(folder, text), Columns(**columns))


def nested(**changes: Any) -> str:
    row = {
        "response_a": "r1",
        "response_b": "r2",
        "worker": ["ann", "ben"],
        "depth_vote": ["A", "N"],
        "depth_spam_probability": [0.1, 0.8],
        "style_vote": ["B", None],
    }
    return json.dumps(row | changes)


def scale_of(folder: Path, used: str, **asked: Any) -> Scale:
    rows = "".join(f"i{n},w,{label}\n" for n, label in enumerate(used.split()))
    scales, _ = scaled(read(folder, "item,worker,label\n" + rows), Asked(**asked))
    return scales["label"]


def test_a_row_is_one_label(tmp_path: Path) -> None:
    found = read(tmp_path, LONG)
    assert (found.rows, found.unlabelled, list(found.dimensions)) == (3, 0, ["label"])
    votes = found.dimensions["label"]
    assert [(vote.item, vote.worker, vote.label) for vote in votes] == [
        ("x", "ann", "a"), ("x", "ben", "b"), ("y", "ann", "n"),
    ]  # fmt: skip
    assert votes[1].place.endswith("votes.csv:3")


def test_a_column_of_dimensions_and_one_of_known_spam(tmp_path: Path) -> None:
    text = "unit;rater;answer;dimension;p\nx;ann;1;depth;0.25\nx;ann;2.0;style;1\n"
    found = read(tmp_path, text, spam="p")
    assert {name: [vote.label for vote in votes] for name, votes in found.dimensions.items()} == {
        "depth": ["1"],
        "style": ["2"],  # 2.0 and 2 are one label
    }
    assert found.dimensions["depth"][0].spam == 0.25


def test_a_row_may_be_one_worker_on_one_item_with_several_labels(tmp_path: Path) -> None:
    text = "left,right,who,depth,style\nx,y,ann,a,\nx,y,ben,b,b\n"
    found = read(tmp_path, text, items=("left", "right"), worker="who", labels=("depth", "style"))
    assert [vote.item for vote in found.dimensions["depth"]] == ["x | y", "x | y"]
    assert [vote.worker for vote in found.dimensions["style"]] == ["ben"]
    assert found.unlabelled == 1  # and no vote


def test_a_row_may_be_one_item_with_a_list_of_votes_per_dimension(tmp_path: Path) -> None:
    path = written(tmp_path, nested() + "\n", "ratings.jsonl")
    zipped = path.with_name("ratings.jsonl.gz")
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    found = read_crowd(zipped, Columns())
    depth = found.dimensions["depth"]
    assert [(vote.item, vote.worker, vote.label, vote.spam) for vote in depth] == [
        ("r1 | r2", "ann", "A", 0.1),
        ("r1 | r2", "ben", "N", 0.8),
    ]
    assert [(vote.worker, vote.spam) for vote in found.dimensions["style"]] == [("ann", None)]
    assert found.unlabelled == 1
    scales, votes = scaled(found, Asked())
    assert [vote.label for vote in votes["depth"]] == ["a", "n"]
    assert scales["depth"].preference


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "votes.csv: is empty"),
        ("item,worker,label\n", "votes.csv: holds no vote"),
        ("item,worker,what\nx,ann,a\n", "label or vote or answer or rating: is no column, see --label"),
        ("thing,worker,label\nx,ann,a\n", "is no column, see --item; it has thing, worker, label"),
        ("item,who,label\nx,ann,a\n", "is no column, see --worker"),
        ("item,worker,label\nx,,a\n", "votes.csv:2: worker: is missing"),
        ("item,worker,label\n,ann,a\n", "votes.csv:2: item: is missing"),
        ("item,worker,label\nx,ann,\n", "votes.csv: label: none of 1 rows has one"),
        ("item,worker,label\nx,ann,NaN\n", "votes.csv:2: label: is 'NaN', which is no label"),
        ("item,worker,label\nx,ann,-inf\n", "votes.csv:2: label: is '-inf', which is no label"),
        (LONG + "x,ben,a\n", "votes.csv:5: worker: 'ben' labels 'x' twice in 'label', first at"),
        ("item,worker,label,dimension\nx,ann,a,\n", "votes.csv:2: dimension: is missing"),
        ('{"item": "x", "worker": "w", "label": NaN}', "votes.csv:1: is not JSON: NaN"),
        ('{"item": "x", "worker": "w", "label": ["a"]}', 'votes.csv:1: label: is ["a"]'),
        (nested(depth_vote=["A"]), "votes.csv:1: depth_vote: has 1 entries for 2 workers"),
        (nested(worker="ann"), "votes.csv:1: worker: is no list"),
        (nested(depth_vote=["A", ["B"]]), "votes.csv:1: depth: holds ['B']"),
        (nested(depth_spam_probability=[0.1, 1.5]), "depth_spam_probability: is 1.5; expected a probability"),
        (nested(worker=["ann", "ann"]), "worker: 'ann' labels 'r1 | r2' twice in 'depth'"),
        (
            nested() + "\n" + json.dumps({"response_a": "x", "response_b": "y"}),
            "votes.csv:2: worker: is missing",
        ),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UnusableFile) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)


def test_a_probability_that_is_none_is_refused(tmp_path: Path) -> None:
    for said in ("2", "-0.1", "nan", "sure", ""):
        with pytest.raises(UnusableFile, match=r"votes\.csv:2: p: is .*; expected a probability from 0 to 1"):
            read(tmp_path, f"item,worker,label,p\nx,ann,a,{said}\n", spam="p")


def test_numbers_and_choices_between_two_answers_have_an_order(tmp_path: Path) -> None:
    numbers = scale_of(tmp_path, "10 9 -1")
    assert (numbers.labels, numbers.level, numbers.preference) == (("-1", "9", "10"), Level.ORDINAL, False)
    choice = scale_of(tmp_path, "B a TIE")
    assert (choice.labels, choice.level, choice.preference) == (("a", "tie", "b"), Level.ORDINAL, True)


def test_other_labels_are_the_same_or_another(tmp_path: Path) -> None:
    words = scale_of(tmp_path, "good poor good")
    assert (words.labels, words.level, words.given) == (("good", "poor"), Level.NOMINAL, False)
    letters = scale_of(tmp_path, "A B C")
    assert (letters.labels, letters.preference) == (("A", "B", "C"), False)
    with pytest.raises(NoOrder, match="name the labels in their order"):
        scale_of(tmp_path, "good poor", level=Level.ORDINAL)


def test_named_labels_give_the_order_and_refuse_others(tmp_path: Path) -> None:
    named = scale_of(tmp_path, "Good poor", labels={"": ("poor", "fair", "good")})
    assert (named.labels, named.level, named.given) == (("poor", "fair", "good"), Level.ORDINAL, True)
    with pytest.raises(UnusableFile, match=r"votes\.csv:3: label: is 'bad'; expected one of poor, good"):
        scale_of(tmp_path, "good bad", labels={"": ("poor", "good")})
    with pytest.raises(UnusableFile, match="depth: is no dimension; there is label"):
        scale_of(tmp_path, "good", labels={"depth": ("poor", "good")})
    with pytest.raises(NoOrder, match="at least two labels, each once"):
        Asked({"": ("good",)})
