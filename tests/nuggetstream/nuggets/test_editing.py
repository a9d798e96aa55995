"""Edits of a nugget list by people: what a list becomes, and which edits are rejected."""

from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import (
    Assignment,
    Grounding,
    Grounds,
    Importance,
    Nugget,
    Provenance,
    Support,
    SupportProbabilities,
)
from nuggetstream.domain.nugget_edit import (
    AddNugget,
    DeleteNugget,
    EditKind,
    LabelChange,
    MergeNuggets,
    NuggetChange,
    Operation,
    ReassignNuggets,
    RewordNugget,
    SetImportance,
    SetLabel,
)
from nuggetstream.nuggets.editing import InvalidEdit, edited, with_label
from nuggetstream.nuggets.scores import expected_score

VITAL, OKAY = Importance.VITAL, Importance.OKAY
LIST = (
    Nugget("n1", "Tea is a drink.", VITAL, (Provenance("answer:a"),)),
    Nugget("n2", "Tea is made of leaves.", VITAL, (Provenance("c1"),)),
    Nugget("n3", "People drink tea.", OKAY, (Provenance("c1"), Provenance("c2"))),
)

STATED, PARTLY, MISSED, CONTRADICTED = Support
LABELS = [Assignment(nugget.id, Side.A, PARTLY, "Tea, a drink.") for nugget in LIST]


def add(text: str, importance: Importance = OKAY) -> AddNugget:
    return AddNugget(EditKind.ADD, text, importance)


def reword(name: str, text: str) -> RewordNugget:
    return RewordNugget(EditKind.REWORD, name, text)


def delete(name: str) -> DeleteNugget:
    return DeleteNugget(EditKind.DELETE, name)


def merge(*names: str, text: str | None = None) -> MergeNuggets:
    return MergeNuggets(EditKind.MERGE, names, text)


def important(name: str, importance: Importance) -> SetImportance:
    return SetImportance(EditKind.IMPORTANCE, name, importance)


def label(name: str, to: Support, side: Side = Side.A) -> SetLabel:
    return SetLabel(EditKind.LABEL, name, side, to)


def test_a_grounding_belongs_to_a_text_and_is_not_known_of_a_new_one() -> None:
    grounds = Grounds(Grounding.GROUNDED)
    listed = [replace(nugget, grounds=grounds) for nugget in LIST]
    operations = [reword("n1", "Tea is hot."), important("n3", VITAL), add("Tea has caffeine.")]
    result = edited(listed, operations, "k")
    assert {nugget.text: nugget.grounds for nugget in result.nuggets} == {
        "Tea is hot.": None,
        "Tea is made of leaves.": grounds,
        "People drink tea.": grounds,
        "Tea has caffeine.": None,
    }
    merged = edited(listed, [merge("n1", "n2", text=LIST[1].text)], "k")
    assert [nugget.grounds for nugget in merged.nuggets] == [grounds, grounds]


def test_a_probability_does_not_outlive_the_importance_or_the_text_that_it_is_about() -> None:
    listed = [replace(n, vital_probability=0.9 if n.importance is VITAL else 0.1) for n in LIST]
    other = VITAL if listed[2].importance is OKAY else OKAY
    operations = [reword("n1", "Tea is hot."), important("n3", other), add("Tea has caffeine.")]
    result = edited(listed, operations, "k")
    assert {nugget.text: nugget.vital_probability for nugget in result.nuggets} == {
        "Tea is hot.": None,
        LIST[1].text: listed[1].vital_probability,
        LIST[2].text: None,
        "Tea has caffeine.": None,
    }
    with pytest.raises(InvalidEdit, match="changes nothing"):
        edited(listed, [important("n3", listed[2].importance)], "k")


def test_each_operation_changes_what_it_says_and_other_nuggets_keep_their_ids() -> None:
    operations: list[Operation] = [
        reword("n2", "Tea is made of the leaves of one plant."),
        important("n3", VITAL),
        delete("n1"),
        add("Tea has caffeine."),
    ]
    result = edited(LIST, operations, "k")
    assert [(n.text, n.importance) for n in result.nuggets] == [
        ("Tea is made of the leaves of one plant.", VITAL),
        ("People drink tea.", VITAL),
        ("Tea has caffeine.", OKAY),
    ]
    reworded, same, new = result.nuggets
    assert same.id == "n3"
    assert {reworded.id, new.id}.isdisjoint({"n1", "n2", "n3"})
    assert (reworded.provenance, new.provenance) == (LIST[1].provenance, ())
    assert result.changes == (
        NuggetChange(EditKind.REWORD, (LIST[1].text,), reworded.text, VITAL),
        NuggetChange(EditKind.IMPORTANCE, (LIST[2].text,), LIST[2].text, VITAL),
        NuggetChange(EditKind.DELETE, (LIST[0].text,), None, None),
        NuggetChange(EditKind.ADD, (), "Tea has caffeine.", OKAY),
    )


def test_a_merged_nugget_is_vital_if_one_was_and_was_read_in_all_their_documents() -> None:
    result = edited(LIST, [merge("n3", "n1")], "k")
    kept = next(nugget for nugget in result.nuggets if nugget.id == "n3")
    assert (kept.text, kept.importance) == ("People drink tea.", VITAL)
    assert [source.document for source in kept.provenance] == ["c1", "c2", "answer:a"]
    assert [nugget.id for nugget in result.nuggets] == ["n2", "n3"]


def test_a_merged_nugget_with_the_text_of_the_other_has_its_id_and_so_its_labels() -> None:
    result = edited(LIST, [merge("n3", "n1", text=LIST[0].text)], "k")
    assert {nugget.id for nugget in result.nuggets} == {"n1", "n2"}


def test_the_same_edit_gives_the_same_ids_and_another_one_other_ids() -> None:
    first, again, other = (edited(LIST, [add("Tea has caffeine.")], key) for key in ("k", "k", "l"))
    assert first == again
    assert first.nuggets[-1].id != other.nuggets[-1].id


@pytest.mark.parametrize(
    ("operations", "problem"),
    [
        ([delete("n9")], "operations.0: the list has no nugget 'n9', or it was merged or deleted before"),
        ([delete("n1"), reword("n1", "x")], "operations.1: the list has no nugget 'n1'"),
        ([merge("n1", "n2"), delete("n2")], "operations.1: the list has no nugget 'n2'"),
        ([merge("n1")], "operations.0: name two or more different nuggets"),
        ([merge("n1", "n1")], "operations.0: name two or more different nuggets"),
        ([important("n3", OKAY)], "operations.0: changes nothing"),
        ([reword("n1", "a"), reword("n1", LIST[0].text)], "operations: the list stays as it is"),
        ([delete("n1"), delete("n2")], "operations: no nugget is vital any more"),
        ([add("tea is  a drink.")], "operations: two nuggets have the text"),
        ([add(f"Fact {i}.") for i in range(98)], "operations: the list would have 101 nuggets"),
        ([delete("n8"), delete("n9")], "operations.1: the list has no nugget 'n9'"),
    ],
)
def test_an_edit_that_cannot_be_made_says_why(operations: list[Operation], problem: str) -> None:
    with pytest.raises(InvalidEdit) as caught:
        edited(LIST, operations, "k")
    assert problem in str(caught.value)


def test_labelling_all_nuggets_again_changes_no_nugget() -> None:
    again = edited(LIST, [ReassignNuggets(EditKind.REASSIGN, "other")], "key")
    assert (again.nuggets, again.reassigned, again.model) == (tuple(LIST), True, "other")
    assert again.changes == (NuggetChange(EditKind.REASSIGN, (), None, None, "other"),)
    assert not edited(LIST, [delete(LIST[0].id)], "key").reassigned


def test_two_models_cannot_label_a_list() -> None:
    with pytest.raises(InvalidEdit, match="name one model"):
        edited(LIST, [ReassignNuggets(EditKind.REASSIGN, name) for name in ("x", "y")], "key")


def test_a_corrected_label_leaves_the_list_as_it_is() -> None:
    result = edited(LIST, [label("n2", STATED), important("n3", VITAL)], "k", LABELS)
    assert [nugget.id for nugget in result.nuggets] == ["n1", "n2", "n3"]
    assert result.labels == {("n2", Side.A): STATED}
    assert result.changes[0] == NuggetChange(
        EditKind.LABEL, (LIST[1].text,), LIST[1].text, VITAL, label=LabelChange(Side.A, PARTLY, STATED)
    )


@pytest.mark.parametrize(
    ("operations", "problem"),
    [
        ([label("n1", PARTLY)], "operations.0: changes nothing"),
        ([label("n1", STATED), label("n1", PARTLY)], "operations: the list stays as it is"),
        ([label("n9", STATED)], "operations.0: the list has no nugget 'n9'"),
        ([label("n1", STATED, Side.B)], "operations.0: nugget 'n1' has no label to correct for answer b"),
        ([label("n1", STATED), reword("n1", "Tea is hot.")], "nugget 'n1' is not in the new list"),
        ([reword("n1", "Tea is hot."), label("n1", STATED)], "nugget 'n1' is not in the new list"),
        ([label("n1", STATED), delete("n1")], "nugget 'n1' is not in the new list"),
        ([delete("n1"), label("n1", STATED)], "operations.1: the list has no nugget 'n1'"),
    ],
)
def test_a_label_that_cannot_be_corrected_is_named(operations: list[Operation], problem: str) -> None:
    with pytest.raises(InvalidEdit) as caught:
        edited(LIST, operations, "k", LABELS)
    assert problem in str(caught.value)


def test_the_label_of_the_model_stays_beside_that_of_a_person_and_can_be_restored() -> None:
    shares = SupportProbabilities(0.2, 0.7, 0.1)
    given = Assignment("n1", Side.A, PARTLY, "Tea, a drink.", shares)
    missed = with_label(given, MISSED, "Ada", "It says coffee.")
    assert (missed.support, missed.quote, missed.probabilities) == (MISSED, None, None)
    wrong = with_label(missed, CONTRADICTED, "Grace", "It says no tea.")
    assert (wrong.support, wrong.quote, wrong.by_model) == (CONTRADICTED, "Tea, a drink.", given.by_model)
    assert wrong.correction is not None
    assert (wrong.correction.author, wrong.correction.reason) == ("Grace", "It says no tea.")
    assert with_label(wrong, PARTLY, "Ada", "The model was right.") == given


def test_the_label_of_a_person_is_certain_and_makes_no_other_label_known() -> None:
    unsure = Assignment("n1", Side.A, MISSED, None, SupportProbabilities(0.4, 0.0, 0.6))
    corrected = with_label(replace(unsure, nugget_id="n2"), STATED, "Ada", "It does.")
    assert expected_score(LIST[:2], [unsure, corrected], Side.A) == pytest.approx((0.4 + 1.0) / 2)
    unknown = replace(unsure, probabilities=None)
    assert expected_score(LIST[:2], [unknown, corrected], Side.A) is None


def test_a_disputed_nugget_does_not_become_vital() -> None:
    doubtful = Nugget("n4", "Tea is a mineral.", OKAY, grounds=Grounds(Grounding.DISPUTED))
    with pytest.raises(InvalidEdit, match="a disputed nugget cannot be vital; reword it"):
        edited((*LIST, doubtful), [SetImportance(EditKind.IMPORTANCE, "n4", VITAL)], "key")
    merged = edited((doubtful, *LIST), [merge("n4", "n1")], "key").nuggets
    assert {nugget.text: nugget.importance for nugget in merged}["Tea is a mineral."] is OKAY


def test_a_list_without_a_vital_nugget_because_all_were_disputed_can_be_edited() -> None:
    doubtful = Nugget("n4", "Tea is a mineral.", OKAY, grounds=Grounds(Grounding.DISPUTED))
    assert len(edited((doubtful,), [add("Tea is a plant.")], "key").nuggets) == 2
