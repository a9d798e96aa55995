"""Does the side of an answer or its place in the session change what workers agree on?"""

import json
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.crowd.learning import CompetenceOptions
from nuggetstream.crowd.ordering import AlphaByGroup, SessionPositions, SideAgreement
from nuggetstream.crowd.study import CrowdOptions, CrowdStudy, study_labels
from nuggetstream.crowd.writing import write_crowd
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.worker_labels import LabelColumns, read_worker_labels

QUICK = CompetenceOptions(restarts=1, iterations=2)
LED_BY_THE_SIDE = """first,second,worker,label
x,y,ann,a
x,y,ben,a
y,x,cem,a
y,x,dov,a
v,w,ann,b
v,w,ben,b
w,v,cem,b
w,v,dov,b
"""


def study_of(folder: Path, text: str, **columns: Any) -> CrowdStudy:
    path = folder / "votes.csv"
    path.write_text(text, encoding="utf-8")
    file = read_worker_labels(path, LabelColumns(**columns))
    return study_labels(file.dimensions, CrowdOptions(competence=QUICK), unlabelled=file.unlabelled)


def sides_of(study: CrowdStudy) -> SideAgreement:
    (only,) = study.dimensions
    assert only.sides is not None
    return only.sides


def positions_of(study: CrowdStudy) -> AlphaByGroup:
    (only,) = study.dimensions
    assert only.places is not None
    return only.places


def states(study: CrowdStudy) -> list[str]:
    return [note.state for note in study.notes]


def test_workers_led_by_the_side_agree_in_each_order_and_not_in_both_together(tmp_path: Path) -> None:
    once = "x,z,ann,a\nx,z,ben,b\n"  # shown one way round only: no part of it
    sides = sides_of(study_of(tmp_path, LED_BY_THE_SIDE + once, sides=("first", "second")))
    assert (sides.pairs, sides.both) == (3, 2)
    assert {name: (alpha.value, alpha.votes) for name, alpha in sides.effect.groups.items()} == {
        "forward": (1, 4),
        "backward": (1, 4),
    }
    # Two units of a, a, b, b: observed 2/3 disagree, expected 4/7. So 1 - (2/3) / (4/7).
    assert sides.effect.pooled.value == pytest.approx(-1 / 6)
    assert sides.effect.delta == pytest.approx(1 + 1 / 6)
    assert sides.effect.missing is None


def test_workers_who_follow_the_answer_agree_in_both_orders_together(tmp_path: Path) -> None:
    turned = LED_BY_THE_SIDE.replace("y,x,cem,a", "y,x,cem,b").replace("y,x,dov,a", "y,x,dov,b")
    turned = turned.replace("w,v,cem,b", "w,v,cem,a").replace("w,v,dov,b", "w,v,dov,a")
    assert sides_of(study_of(tmp_path, turned, sides=("first", "second"))).effect.delta == 0


def test_a_turned_vote_may_have_a_label_that_nobody_gave(tmp_path: Path) -> None:
    text = "l,r,worker,label\nx,y,ann,a\nx,y,ben,n\ny,x,cem,a\ny,x,dov,n\n"
    sides = sides_of(study_of(tmp_path, text, sides=("l", "r"))).effect
    assert sides.groups["backward"].value == sides.groups["forward"].value == 0
    assert sides.pooled.value is not None


def test_a_pair_is_the_same_only_about_the_same_question(tmp_path: Path) -> None:
    text = "topic,l,r,worker,label\nt,x,y,ann,a\nt,x,y,ben,b\nu,y,x,ann,a\nu,y,x,ben,b\n"
    study = study_of(tmp_path, text, items=("topic",), sides=("l", "r"))
    assert [item.item for item in study.dimensions[0].learned.items] == ["t | x | y", "u | y | x"]
    sides = sides_of(study)
    assert (sides.pairs, sides.both, sides.effect.delta) == (2, 0, None)
    assert sides.effect.missing == "no pair was shown in both orders"
    assert "no_sides" in states(study)


def test_labels_that_are_no_choice_between_two_have_no_sides(tmp_path: Path) -> None:
    text = LED_BY_THE_SIDE.replace(",a\n", ",1\n").replace(",b\n", ",2\n")
    effect = sides_of(study_of(tmp_path, text, sides=("first", "second"))).effect
    assert effect.missing == "labels do not choose between two answers (a, n, b)"
    assert (effect.pooled.value, effect.delta) == (None, None)


PLACED = """item,worker,label,nth
x,ann,a,1
x,ben,a,1
y,ann,b,2
y,ben,b,2
z,ann,a,3
z,ben,b,3
v,ann,b,4
v,ben,a,4
"""


def test_late_votes_can_agree_less_than_early_ones(tmp_path: Path) -> None:
    study = study_of(tmp_path, PLACED, position="nth")
    assert study.sessions == SessionPositions(1, 2, 4)
    effect = positions_of(study)
    early, late = effect.groups["early"], effect.groups["late"]
    assert (early.value, early.votes, late.votes) == (1, 4, 4)
    assert late.value == pytest.approx(1 - 1 / (2 / 3))  # all differ; by chance 2 * 2 * 2 / (4 * 3)
    assert effect.pooled.value == pytest.approx(1 - (1 / 2) / (4 / 7))
    assert effect.delta == pytest.approx(1 - 1 / 8)  # of early; late is 5 / 8 away


def test_a_vote_without_a_place_is_in_neither_half_and_said(tmp_path: Path) -> None:
    study = study_of(tmp_path, PLACED.replace("v,ben,a,4", "v,ben,a,"), position="nth")
    assert positions_of(study).pooled.votes == 7
    assert "no_place" in states(study)


def test_one_place_only_is_a_state_and_unasked_there_is_none(tmp_path: Path) -> None:
    study = study_of(tmp_path, "item,worker,label,nth\nx,ann,a,3\nx,ben,b,3\n", position="nth")
    assert positions_of(study).missing == "late: no item has two votes"
    assert "no_places" in states(study)
    unasked = study_of(tmp_path, PLACED)
    assert (unasked.dimensions[0].places, unasked.dimensions[0].sides, unasked.sessions) == (None,) * 3


def test_a_file_of_items_with_lists_names_its_sides_itself(tmp_path: Path) -> None:
    row = {"worker": ["ann", "ben"], "depth_vote": ["a", "b"], "at": [1, None]}
    ways = [("r1", "r2"), ("r2", "r1")]
    lines = [json.dumps({"response_a": a, "response_b": b, **row}) for a, b in ways]
    study = study_of(tmp_path, "\n".join(lines), position="at")
    assert (sides_of(study).pairs, sides_of(study).both) == (1, 1)
    assert positions_of(study).pooled.votes == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sides": ("first", "third")}, "third: is no column, see --sides"),
        ({"sides": ("first", "second"), "position": "nth"}, "nth: is no column, see --position"),
        (
            {"sides": ("first", "second"), "position": "worker"},
            "votes.csv:2: worker: is 'ann'; expected a whole",
        ),
    ],
)
def test_columns_that_cannot_be_used_are_named(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(UnusableFile) as refused:
        study_of(tmp_path, LED_BY_THE_SIDE, **columns)
    assert message in str(refused.value)


def test_both_effects_are_written(tmp_path: Path) -> None:
    text = (
        LED_BY_THE_SIDE.replace("label\n", "label,nth\n").replace(",a\n", ",a,1\n").replace(",b\n", ",b,2\n")
    )
    content, *_ = write_crowd(
        study_of(tmp_path, text, sides=("first", "second"), position="nth"),
        tmp_path,
        file="votes.csv",
        rows=8,
    )
    written = json.loads(content.read_text(encoding="utf-8"))
    (only,) = written["dimensions"]
    assert (only["sides"]["both"], only["sides"]["effect"]["groups"]["forward"]["value"]) == (2, 1)
    assert only["places"]["missing"] == "early: one label only: nothing could have disagreed"
    assert written["rests_on"]["sessions"] == {"first": 1, "middle": 1, "last": 2}
