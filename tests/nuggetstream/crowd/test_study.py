"""What labels of a crowd tell: exact values by hand, and states where there is no answer."""

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

import pytest

from nuggetstream.crowd.learning import CompetenceOptions
from nuggetstream.crowd.reliability import mean
from nuggetstream.crowd.scale import ScaleOptions, UnusableLabels
from nuggetstream.crowd.study import CrowdOptions, CrowdStudy, study_labels, worker_labels
from nuggetstream.crowd.writing import write_crowd
from nuggetstream.files.worker_labels import LabelColumns, read_worker_labels

QUICK = CompetenceOptions(restarts=4, iterations=30)
TRUTH = {f"i{n}": "xy"[n % 2] for n in range(10)}


def study_of(
    folder: Path,
    rows: list[tuple[str, ...]],
    header: str = "item,worker,label",
    *,
    spam: str | None = None,
    labels: dict[str, tuple[str, ...]] | None = None,
) -> CrowdStudy:
    path = folder / "votes.csv"
    path.write_text("\n".join([header, *map(",".join, rows)]) + "\n", encoding="utf-8")
    file = read_worker_labels(path, LabelColumns(spam=spam))
    options = CrowdOptions(ScaleOptions(labels or {}), QUICK)
    return study_labels(file.dimensions, options, unlabelled=file.unlabelled)


def honest_and_a_spammer() -> list[tuple[str, ...]]:
    honest = [(item, worker, label) for item, label in TRUTH.items() for worker in ("ann", "ben", "cem")]
    return honest + [(item, "dov", "x") for item in TRUTH]


def states(study: CrowdStudy) -> list[str]:
    return [note.state for note in study.notes]


def test_alpha_of_three_items_by_hand(tmp_path: Path) -> None:
    rows = [
        ("i", "v", "x"),
        ("i", "w", "x"),
        ("j", "v", "y"),
        ("j", "w", "y"),
        ("k", "v", "x"),
        ("k", "w", "y"),
    ]
    (only,) = study_of(tmp_path, rows).dimensions
    # Coincidences: 2 of 6 votes disagree; expected 2 * 3 * 3 / (6 * 5) = 0.6. So 1 - (2/6) / 0.6.
    assert only.agreement.value == pytest.approx(1 - (1 / 3) / 0.6)
    assert (only.items, only.workers, only.counts) == (3, 2, {"x": 3, "y": 3})


def test_a_worker_who_always_says_the_same_is_spam_and_dropped(tmp_path: Path) -> None:
    (only,) = study_of(tmp_path, honest_and_a_spammer()).dimensions
    spammer, *honest = only.learned.workers
    assert spammer.worker == "dov"
    assert spammer.spam is not None
    assert spammer.competence == 1 - spammer.spam
    assert spammer.spam > 0.7 > max(worker.spam or 0 for worker in honest)
    assert [worker.kept for worker in only.learned.workers] == [False, True, True, True]
    assert {item.item: item.gold for item in only.learned.items} == TRUTH
    assert only.without_spam is not None
    assert (only.without_spam.value, only.without_spam.votes) == (1.0, 30)
    assert only.agreement.value is not None
    assert only.agreement.value < 0.9


def test_a_dropped_vote_can_settle_what_was_divided(tmp_path: Path) -> None:
    rows = [*honest_and_a_spammer(), ("k", "ann", "y"), ("k", "dov", "x")]
    (only,) = study_of(tmp_path, rows).dimensions
    item = only.learned.items[-1]
    assert (item.majority, item.without_spam, item.votes, item.kept) == (None, "y", 2, 1)
    assert item.gold == "y"


def test_the_same_seed_gives_the_same_numbers_whatever_other_dimensions_there_are(tmp_path: Path) -> None:
    rows = honest_and_a_spammer()
    alone = study_of(tmp_path, [(*row, "depth") for row in rows], "item,worker,label,dimension")
    header = "item,worker,label,dimension"
    beside = study_of(tmp_path, [(*row, name) for name in ("style", "depth") for row in rows], header)
    (depth,) = alone.dimensions
    assert beside.dimensions[1].learned == depth.learned


@pytest.mark.parametrize(
    ("rows", "state", "message"),
    [
        ([("i", "w", "x"), ("j", "w", "y")], ["no_alpha", "no_competence"], "one worker only"),
        ([("i", "v", "x"), ("j", "w", "y")], ["no_alpha", "no_competence"], "no item has two votes"),
        ([("i", "v", "x"), ("i", "w", "x")], ["no_alpha", "no_competence"], "one label only"),
    ],
)
def test_votes_that_cannot_disagree_have_no_answer_but_a_majority(
    tmp_path: Path, rows: list[tuple[str, ...]], state: list[str], message: str
) -> None:
    study = study_of(tmp_path, rows)
    (only,) = study.dimensions
    assert only.agreement.value is None
    assert message in str(only.learned.missing)
    assert only.without_spam is None
    assert states(study) == state
    assert {item.gold for item in only.learned.items} == {None}
    assert {worker.spam for worker in only.learned.workers} == {None}
    assert only.learned.items[0].majority == "x"
    assert only.learned.items[0].without_spam is None  # nothing is known to be spam


def test_one_label_only_is_a_state_even_if_others_could_have_been_chosen(tmp_path: Path) -> None:
    rows = [("i", "v", "x"), ("i", "w", "x")]
    study = study_of(tmp_path, rows, labels={"": ("x", "y")})
    assert states(study) == ["no_alpha", "no_competence"]
    assert study.dimensions[0].counts == {"x": 2, "y": 0}


def test_a_worker_alone_on_every_item_is_unknown_and_kept(tmp_path: Path) -> None:
    study = study_of(tmp_path, [*honest_and_a_spammer(), ("z", "eve", "y")])
    eve = study.dimensions[0].learned.workers[-1]
    assert (eve.worker, eve.spam, eve.competence, eve.met, eve.kept) == ("eve", None, None, 0, True)
    assert "never_met" in states(study)


def test_few_votes_per_item_and_empty_labels_are_said(tmp_path: Path) -> None:
    rows = [("i", "v", "x"), ("i", "w", "y"), ("j", "v", "y"), ("j", "w", ""), ("k", "w", "y")]
    assert {"no_label", "few_votes"} <= set(states(study_of(tmp_path, rows)))


def test_known_spam_is_dropped_vote_by_vote_beside_what_is_learned(tmp_path: Path) -> None:
    header = "item,worker,label,p"
    rows = [("i", "u", "x", "0"), ("i", "v", "x", "0.7"), ("i", "w", "y", "0.71"),
            ("j", "u", "y", "0"), ("j", "v", "y", "0"), ("j", "w", "y", "0")]  # fmt: skip
    (only,) = study_of(tmp_path, rows, header, spam="p").dimensions
    assert only.by_file is not None
    assert (only.by_file.value, only.by_file.votes) == (1.0, 5)  # exactly at the limit is kept


def pairs(clear: int, divided: int) -> list[tuple[str, ...]]:
    """Items with five votes in five dimensions: all five alike, or two against two and a tie."""
    rows = []
    for dimension, n in product("vwxyz", range(clear + divided)):
        labels = ["a" if n % 2 else "b"] * 5 if n < clear else ["a", "b", "a", "b", "n"]
        rows += [(f"pair{n}", f"w{m}", label, dimension) for m, label in enumerate(labels)]
    return rows


def test_pairs_are_split_by_what_people_can_tell_apart(tmp_path: Path) -> None:
    study = study_of(tmp_path, pairs(4, 2), "item,worker,label,dimension")
    split = study.split
    assert split.differentiable is not None
    assert split.minimal is not None
    assert split.differentiable.items == ("pair0", "pair1", "pair2", "pair3")
    assert split.minimal.items == ("pair4", "pair5")
    assert split.differentiable.mean_alpha["agreement"] == 1.0
    assert split.minimal.mean_alpha["agreement"] is not None
    assert split.minimal.mean_alpha["agreement"] < 0
    assert study.mean_alpha("agreement") == pytest.approx(study.dimensions[0].agreement.value)


def test_a_split_that_does_not_apply_says_why(tmp_path: Path) -> None:
    header = "item,worker,label,dimension"
    few = study_of(tmp_path, [row for row in pairs(2, 1) if row[3] in "vw"], header)
    assert few.split.missing == "2 of the 5 dimensions that must be decided"
    assert "no_split" in states(few)
    assert study_of(tmp_path, honest_and_a_spammer()).split.missing is not None
    cut = study_of(tmp_path, [row for row in pairs(3, 1) if row[0] != "pair0" or row[3] != "v"], header)
    assert cut.split.left_out == 1
    assert "too_few_dimensions" in states(cut)


def test_written_files_are_strict_and_empty_where_there_is_no_answer(tmp_path: Path) -> None:
    def refuse(name: str) -> NoReturn:
        raise AssertionError(name)

    study = study_of(tmp_path, [("i", "v", "x"), ("j", "w", "y")])
    content, gold, workers = write_crowd(study, tmp_path / "out", file="votes.csv", rows=2)
    read = json.loads(content.read_text(encoding="utf-8"), parse_constant=refuse)
    (only,) = read["dimensions"]
    nothing = {"value": None, "low": None, "high": None, "votes": 2, "missing": "no item has two votes"}
    assert only["alpha_agreement"] == nothing
    assert only["alpha_without_spam"] is None
    assert read["rests_on"]["votes"] == 2
    assert gold.read_text(encoding="utf-8").splitlines()[1] == "label,i,,,,x,,1,1,,,,"
    assert workers.read_text(encoding="utf-8").splitlines()[1] == "label,v,1,0,,,yes"


def test_labels_in_memory_give_the_same_numbers_as_a_file(tmp_path: Path) -> None:
    rows = [("i", "v", 1.0), ("i", "w", 1), ("j", "v", "2"), ("j", "w", 1), ("k", "v", None)]
    study = study_labels(worker_labels(rows), CrowdOptions(competence=QUICK))
    (only,) = study.dimensions
    (by_file,) = study_of(
        tmp_path, [(item, worker, str(label)) for item, worker, label in rows[:4]]
    ).dimensions
    assert only.agreement == by_file.agreement
    assert only.learned == by_file.learned
    assert only.counts == {"1": 3, "2": 1}
    assert study.to_frame()["alpha"].to_list() == [only.agreement.value]
    assert "Krippendorff" in str(study)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({}, "there must be a dimension"),
        ({"label": ()}, "every dimension must have a label"),
        (
            worker_labels([("i", "v", "x"), ("i", "v", "y")]),
            "'v' labels 'i' twice in 'label', first at item 'i'",
        ),
    ],
)
def test_labels_in_memory_that_cannot_be_used_are_refused(labels: Any, message: str) -> None:
    with pytest.raises(UnusableLabels, match=message):
        study_labels(labels)


def test_the_mean_over_dimensions_is_exact_in_any_order() -> None:
    values = {str(number): 0.1 for number in range(10)}
    assert mean(values) == 0.1  # a plain sum gives 0.09999999999999999
    assert mean({}) is None


def test_gold_labels_of_pairs_are_written_with_their_two_answers(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("q,l,r,worker,label\nt,y,x,ann,a\nt,y,x,ben,a\nt,x,y,cem,b\nt,x,y,dov,n\n")
    file = read_worker_labels(path, LabelColumns(items=("q",), sides=("l", "r")))
    study = study_labels(file.dimensions, CrowdOptions(competence=QUICK))
    _, gold, _ = write_crowd(study, tmp_path, file=file.path, rows=file.rows)
    with gold.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["item"], row["topic"], row["first"], row["second"]) for row in rows] == [
        ("t | y | x", "t", "y", "x"),
        ("t | x | y", "t", "x", "y"),
    ]
