"""Edits of a nugget list by people: a list and operations give a new list, or say what is wrong."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nuggetstream.domain.battle import Side
from nuggetstream.domain.disputes import disputed
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.nugget import Assignment, Correction, Importance, Nugget, Support, vital_first
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

MOST_NUGGETS = 100
Labels = Mapping[tuple[str, Side], Support]
"""Labels by the id of their nugget and the side of their answer."""


class InvalidEdit(ValueError):
    """An edit that cannot be made; one problem per operation that is at fault."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))


@dataclass(frozen=True, slots=True)
class Edited:
    """An edited list.

    Attributes:
        nuggets: The nuggets, vital ones first. A nugget whose text was in the list before has its id, so that
            its labels stay valid. The grounding of a new text is not known yet.
        changes: What each operation changed.
        reassigned: Whether all nuggets are to be labelled again, but for labels that a person set.
        model: Model that labels them again; None for the assigner's own.
        labels: Labels that the edit sets.
    """

    nuggets: tuple[Nugget, ...]
    changes: tuple[NuggetChange, ...]
    reassigned: bool = False
    model: str | None = None
    labels: Labels = field(default_factory=dict)


def edited(
    nuggets: Sequence[Nugget], operations: Sequence[Operation], key: str, labels: Iterable[Assignment] = ()
) -> Edited:
    """Apply operations to a list, in order.

    Operations name nuggets by the ids that they have in `nuggets`. A nugget that was merged into another one
    or deleted cannot be changed any more.

    Args:
        nuggets: The list before.
        operations: What to change.
        key: Identifies the edit; ids of new nuggets are derived from it.
        labels: The labels that can be corrected.

    Raises:
        InvalidEdit: An operation names no nugget of the list or no label, nothing changes, two nuggets of the
            new list have the same text, the new list has no vital nugget or more than 100, all nuggets are to
            be labelled again twice, or a label is set of a nugget that is not in the new list with its text.
    """
    before = {(label.nugget_id, label.side): label.support for label in labels}
    draft = _Draft({nugget.id: nugget for nugget in nuggets}, dict(before))
    for number, operation in enumerate(operations):
        try:
            draft.apply(operation)
        except ValueError as error:
            draft.problems.append(f"operations.{number}: {error}")
    if draft.problems:
        raise InvalidEdit(draft.problems)
    by_text = {nugget.text: nugget for nugget in nuggets}
    result = [
        _known(nugget, by_text[nugget.text])
        if nugget.text in by_text
        else replace(nugget, id=derived_id(key, nugget.text), grounds=None, vital_probability=None)
        for nugget in draft.nuggets.values()
    ]
    result = [
        disputed(nugget, nugget.grounds.quotation) if nugget.is_disputed and nugget.grounds else nugget
        for nugget in result
    ]
    again = [operation for operation in operations if isinstance(operation, ReassignNuggets)]
    corrected = {name: label for name, label in draft.labels.items() if label is not before[name]}
    problems = [*_lost(corrected, result), *_problems(nuggets, result, len(again), bool(corrected))]
    if problems:
        raise InvalidEdit(problems)
    return Edited(
        vital_first(result),
        tuple(draft.changes),
        reassigned=bool(again),
        model=again[0].model if again else None,
        labels=corrected,
    )


def with_label(before: Assignment, label: Support, author: str, reason: str) -> Assignment:
    """A label as a person sets it, with that of the model beside it.

    The sentence that the model named stays where the label says that there is one. Setting what the model
    said withdraws an earlier correction.
    """
    model = before.by_model
    if label is model.support:
        return replace(
            before,
            support=label,
            quote=model.quote,
            probabilities=model.probabilities,
            correction=None,
        )
    quote = None if label is Support.NOT_SUPPORT else model.quote
    correction = Correction(author, reason, model)
    return replace(before, support=label, quote=quote, probabilities=None, correction=correction)


@dataclass(slots=True)
class _Draft:
    """A list while it is edited: its nuggets by the ids that operations use, and their labels."""

    nuggets: dict[str, Nugget]
    labels: dict[tuple[str, Side], Support]
    changes: list[NuggetChange] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def apply(self, operation: Operation) -> None:
        """Make one change.

        Raises:
            ValueError: The operation names a nugget that the list does not have, or changes nothing.
        """
        match operation:
            case AddNugget(text=text, importance=importance):
                name = f"added {len(self.changes)}"
                self._put(operation.op, (), replace(_EMPTY, id=name, text=text, importance=importance))
            case RewordNugget(nugget=name, text=text):
                self._change(operation.op, replace(self._nugget(name), text=text))
            case SetImportance(nugget=name, importance=importance):
                changed = replace(self._nugget(name), importance=importance)
                if changed.is_disputed and importance is Importance.VITAL:
                    raise ValueError(
                        "a disputed nugget cannot be vital; reword it so that a source states it"
                    )
                self._change(operation.op, changed)
            case MergeNuggets():
                self._merge(operation)
            case DeleteNugget(nugget=name):
                old = self._nugget(name)
                del self.nuggets[name]
                self._log(operation.op, (old,))
            case ReassignNuggets(model=model):
                self._log(operation.op, (), model=model)
            case SetLabel():
                self._label(operation)

    def _merge(self, operation: MergeNuggets) -> None:
        names = operation.nuggets
        if len(names) < 2 or len(set(names)) < len(names):
            raise ValueError("name two or more different nuggets to merge")
        together = [self._nugget(name) for name in names]
        vital = any(nugget.importance is Importance.VITAL for nugget in together)
        merged = replace(
            together[0],
            text=operation.text or together[0].text,
            importance=Importance.VITAL if vital else Importance.OKAY,
            provenance=tuple(dict.fromkeys(source for nugget in together for source in nugget.provenance)),
        )
        for name in names[1:]:
            del self.nuggets[name]
        self._put(operation.op, together, merged)

    def _label(self, operation: SetLabel) -> None:
        nugget, side, label = self._nugget(operation.nugget), operation.answer, operation.to
        before = self.labels.get((operation.nugget, side))
        if before is None:
            raise ValueError(
                f"nugget {operation.nugget!r} has no label to correct for answer {side.value}: "
                "it is not labelled yet, or the answer is empty"
            )
        if before is label:
            raise ValueError("changes nothing")
        self.labels[operation.nugget, side] = label
        self._log(operation.op, (nugget,), nugget, label=LabelChange(side, before, label))

    def _change(self, op: EditKind, nugget: Nugget) -> None:
        before = self.nuggets[nugget.id]
        if nugget == before:
            raise ValueError("changes nothing")
        self._put(op, (before,), nugget)

    def _put(self, op: EditKind, before: Sequence[Nugget], nugget: Nugget) -> None:
        self.nuggets[nugget.id] = nugget
        self._log(op, before, nugget)

    def _log(
        self,
        op: EditKind,
        before: Sequence[Nugget],
        after: Nugget | None = None,
        *,
        model: str | None = None,
        label: LabelChange | None = None,
    ) -> None:
        change = NuggetChange(
            op=op,
            before=tuple(old.text for old in before),
            after=None if after is None else after.text,
            importance=None if after is None else after.importance,
            model=model,
            label=label,
        )
        self.changes.append(change)

    def _nugget(self, name: str) -> Nugget:
        if name not in self.nuggets:
            raise ValueError(f"the list has no nugget {name!r}, or it was merged or deleted before")
        return self.nuggets[name]


def _known(nugget: Nugget, before: Nugget) -> Nugget:
    """A nugget whose text the list had before; a probability does not outlive an importance that it gave."""
    same = nugget.importance is before.importance
    probability = before.vital_probability if same else None
    return replace(nugget, id=before.id, grounds=before.grounds, vital_probability=probability)


_EMPTY = Nugget(id="", text="", importance=Importance.OKAY)


def _lost(labels: Labels, after: Sequence[Nugget]) -> Iterator[str]:
    """Labels that are set of nuggets whose text does not stay."""
    ids = {nugget.id for nugget in after}
    for name in dict.fromkeys(nugget_id for nugget_id, _ in labels if nugget_id not in ids):
        yield f"operations: nugget {name!r} is not in the new list with its text, so its labels cannot be set"


def _problems(
    before: Sequence[Nugget], after: Sequence[Nugget], again: int, corrected: bool
) -> Iterator[str]:
    """What is wrong with the list as a whole.

    Args:
        before: The list before.
        after: The list after.
        again: How often it is to be labelled again.
        corrected: Whether a label is set.
    """
    if again > 1:
        yield "operations: name one model that labels all nuggets again"
    if list(before) == list(after) and not again and not corrected:
        yield "operations: the list stays as it is"
    had_vital, has_vital = (
        any(n.importance is Importance.VITAL for n in listed) for listed in (before, after)
    )
    if had_vital and not has_vital:  # nuggets that turned out to be disputed are not vital
        yield "operations: no nugget is vital any more, and the battle could not be scored"
    if len(after) > MOST_NUGGETS:
        yield f"operations: the list would have {len(after)} nuggets; at most {MOST_NUGGETS} are accepted"
    seen: set[str] = set()
    for nugget in after:
        name = " ".join(nugget.text.casefold().split())
        if name in seen:
            yield f"operations: two nuggets have the text {nugget.text!r}; merge them"
        seen.add(name)
