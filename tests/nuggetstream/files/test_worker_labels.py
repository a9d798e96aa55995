"""Files of labels: their three forms, and what is wrong with one that cannot be used."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.crowd.scale import ScaleOptions, scale_labels
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.worker_labels import LabelColumns, LabelFile, read_worker_labels

LONG = "item,worker,label\nx,ann,a\nx,ben,b\ny,ann,n\n"


def written(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str, **columns: Any) -> LabelFile:
    return read_worker_labels(written(folder, text), LabelColumns(**columns))


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


def test_a_row_is_one_label(tmp_path: Path) -> None:
    labels = read(tmp_path, LONG)
    assert (labels.rows, labels.unlabelled, list(labels.dimensions)) == (3, 0, ["label"])
    votes = labels.dimensions["label"]
    assert [(vote.item, vote.worker, vote.label) for vote in votes] == [
        ("x", "ann", "a"), ("x", "ben", "b"), ("y", "ann", "n"),
    ]  # fmt: skip
    assert str(votes[1].line).endswith("votes.csv:3")


def test_a_column_of_dimensions_and_one_of_known_spam(tmp_path: Path) -> None:
    text = "unit;rater;answer;dimension;p\nx;ann;1;depth;0.25\nx;ann;2.0;style;1\n"
    labels = read(tmp_path, text, spam="p")
    assert {name: [vote.label for vote in votes] for name, votes in labels.dimensions.items()} == {
        "depth": ["1"],
        "style": ["2"],  # 2.0 and 2 are one label
    }
    assert labels.dimensions["depth"][0].spam == 0.25


def test_a_row_may_be_one_worker_on_one_item_with_several_labels(tmp_path: Path) -> None:
    text = "left,right,who,depth,style\nx,y,ann,a,\nx,y,ben,b,b\n"
    labels = read(tmp_path, text, items=("left", "right"), worker="who", labels=("depth", "style"))
    assert [vote.item for vote in labels.dimensions["depth"]] == ["x | y", "x | y"]
    assert [vote.worker for vote in labels.dimensions["style"]] == ["ben"]
    assert labels.unlabelled == 1  # and no vote


def test_a_row_may_be_one_item_with_a_list_of_votes_per_dimension(tmp_path: Path) -> None:
    path = written(tmp_path, nested() + "\n", "ratings.jsonl")
    zipped = path.with_name("ratings.jsonl.gz")
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    labels = read_worker_labels(zipped, LabelColumns())
    depth = labels.dimensions["depth"]
    assert [(vote.item, vote.worker, vote.label, vote.spam) for vote in depth] == [
        ("r1 | r2", "ann", "A", 0.1),
        ("r1 | r2", "ben", "N", 0.8),
    ]
    assert [(vote.worker, vote.spam) for vote in labels.dimensions["style"]] == [("ann", None)]
    assert labels.unlabelled == 1
    scales, votes = scale_labels(labels.dimensions, ScaleOptions())
    assert [vote.label for vote in votes["depth"]] == ["a", "n"]
    assert scales["depth"].preference


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "votes.csv: is empty"),
        ("item,worker,label\n", "votes.csv: has no row under its header"),
        ("item,worker,what\nx,ann,a\n", "label or vote or answer or rating: is no column, see --label"),
        ("thing,worker,label\nx,ann,a\n", "is no column, see --item; it has thing, worker, label"),
        ("item,who,label\nx,ann,a\n", "is no column, see --worker"),
        ("item,worker,label\nx,,a\n", "votes.csv:2: worker: is missing"),
        ("item,worker,label\n,ann,a\n", "votes.csv:2: item: is missing"),
        ("item,worker,label\nx,ann,\n", "votes.csv: label: none of 1 rows has one"),
        ("item,worker,label\nx,ann,NaN\n", "votes.csv: label: none of 1 rows has one"),
        ("item,worker,label\nx,ann,-inf\n", "votes.csv:2: label: is '-inf', which is no label"),
        (LONG + "x,ben,a\n", "votes.csv:5: worker: 'ben' labels 'x' twice in 'label', first at"),
        ("item,worker,label,dimension\nx,ann,a,\n", "votes.csv:2: dimension: is missing"),
        ('{"item": "x", "worker": "w", "label": NaN}', "votes.csv: label: none of 1 rows has one"),
        ('{"item": "x", "worker": "w", "label": Infinity}', "votes.csv:1: is not valid JSON: Infinity"),
        ('{"item": "x", "worker": "w", "label": ["a"]}', 'votes.csv:1: label: is ["a"]'),
        (nested(depth_vote=["A"]), "votes.csv:1: depth_vote: has 1 entries for 2 workers"),
        (nested(worker="ann"), "votes.csv:1: worker: is no list"),
        (nested(depth_vote=["A", ["B"]]), 'votes.csv:1: depth_vote: is ["B"]'),
        (nested(depth_spam_probability=[0.1, 1.5]), "depth_spam_probability: is 1.5; expected a probability"),
        (nested(worker=["ann", "ann"]), "worker: 'ann' labels 'r1 | r2' twice in 'depth'"),
        (
            nested() + "\n" + json.dumps({"response_a": "x", "response_b": "y"}),
            "votes.csv:2: worker: is missing",
        ),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UnusableFile) as refused:
        read(tmp_path, text)
    assert message in str(refused.value)


def test_a_probability_that_is_none_is_refused(tmp_path: Path) -> None:
    for message in ("2", "-0.1", "nan", "sure", ""):
        with pytest.raises(UnusableFile, match=r"votes\.csv:2: p: is .*; expected a probability from 0 to 1"):
            read(tmp_path, f"item,worker,label,p\nx,ann,a,{message}\n", spam="p")
