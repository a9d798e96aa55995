"""What labels mean: their order, their level, their spelling."""

from typing import Any

import pytest

from nuggetstream.crowd.scale import LabelScale, ScaleOptions, UnusableLabels, scale_labels
from nuggetstream.domain.worker_label import WorkerLabel
from nuggetstream.statistics.krippendorff import Level


def scale_of(used: str, **options: Any) -> LabelScale:
    labels = [
        WorkerLabel(f"i{n}", "w", label, line=f"votes.csv:{n + 2}") for n, label in enumerate(used.split())
    ]
    scales, _ = scale_labels({"label": labels}, ScaleOptions(**options))
    return scales["label"]


def test_numbers_and_choices_between_two_answers_have_an_order() -> None:
    numbers = scale_of("10 9 -1")
    assert (numbers.labels, numbers.level, numbers.preference) == (("-1", "9", "10"), Level.ORDINAL, False)
    choice = scale_of("B a TIE")
    assert (choice.labels, choice.level, choice.preference) == (("a", "tie", "b"), Level.ORDINAL, True)


def test_other_labels_are_equal_or_different() -> None:
    words = scale_of("good poor good")
    assert (words.labels, words.level, words.given) == (("good", "poor"), Level.NOMINAL, False)
    letters = scale_of("A B C")
    assert (letters.labels, letters.preference) == (("A", "B", "C"), False)
    with pytest.raises(UnusableLabels, match="name the labels in their order"):
        scale_of("good poor", level=Level.ORDINAL)


def test_the_interval_level_needs_numbers() -> None:
    assert scale_of("1 90 2", level=Level.INTERVAL).labels == ("1", "2", "90")
    for used, labels in (("a b", {}), ("low high", {"": ("low", "high")}), ("1 inf", {})):
        with pytest.raises(UnusableLabels, match=r"label: level interval: '[a-z]+' is no number"):
            scale_of(used, labels=labels, level=Level.INTERVAL)
    assert scale_of("1 90 0", level=Level.RATIO).labels == ("0", "1", "90")
    with pytest.raises(UnusableLabels, match="label: level ratio: '-1' is below 0"):
        scale_of("1 -1", level=Level.RATIO)


def test_named_labels_give_the_order_and_refuse_others() -> None:
    named = scale_of("Good poor", labels={"": ("poor", "fair", "good")})
    assert (named.labels, named.level, named.given) == (("poor", "fair", "good"), Level.ORDINAL, True)
    with pytest.raises(UnusableLabels, match=r"votes\.csv:3: label: is 'bad'; expected one of poor, good"):
        scale_of("good bad", labels={"": ("poor", "good")})
    with pytest.raises(UnusableLabels, match="depth: is no dimension; there is label"):
        scale_of("good", labels={"depth": ("poor", "good")})
    with pytest.raises(UnusableLabels, match="at least two labels, each once"):
        ScaleOptions({"": ("good",)})


def test_a_label_that_comes_from_no_file_is_named_by_item_and_worker() -> None:
    labels = [WorkerLabel("tide", "ann", "bad")]
    with pytest.raises(UnusableLabels, match="item 'tide', worker 'ann': label: is 'bad'"):
        scale_labels({"label": labels}, ScaleOptions({"": ("poor", "good")}))
