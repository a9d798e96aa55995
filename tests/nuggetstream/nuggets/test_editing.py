"""Edits of a nugget list by people: what a list becomes, and which edits are rejected."""

from dataclasses import replace

import pytest

from nuggetstream.domain.nugget import Grounding, Grounds, Importance, Nugget, Provenance
from nuggetstream.domain.nugget_edit import (
    AddNugget,
    DeleteNugget,
    EditKind,
    MergeNuggets,
    NuggetChange,
    Operation,
    ReassignNuggets,
    RewordNugget,
    SetImportance,
)
from nuggetstream.nuggets.editing import InvalidEdit, edited

VITAL, OKAY = Importance.VITAL, Importance.OKAY
LIST = (
    Nugget("n1", "Tea is a drink.", VITAL, (Provenance("answer:a"),)),
    Nugget("n2", "Tea is made of leaves.", VITAL, (Provenance("c1"),)),
    Nugget("n3", "People drink tea.", OKAY, (Provenance("c1"), Provenance("c2"))),
)


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
