"""Edits of a nugget list by people: a list and operations give a new list, or say what is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.nugget import Importance, Nugget
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

MOST_NUGGETS = 100


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
        reassigned: Whether all nuggets are to be labelled again.
        model: Model that labels them again; None for the assigner's own.
    """

    nuggets: tuple[Nugget, ...]
    changes: tuple[NuggetChange, ...]
    reassigned: bool = False
    model: str | None = None


def edited(nuggets: Sequence[Nugget], operations: Sequence[Operation], key: str) -> Edited:
    """Apply operations to a list, in order.

    Operations name nuggets by the ids that they have in `nuggets`. A nugget that was merged into another one
    or deleted cannot be changed any more.

    Args:
        nuggets: The list before.
        operations: What to change.
        key: Identifies the edit; ids of new nuggets are derived from it.

    Raises:
        InvalidEdit: An operation names no nugget of the list, nothing changes, two nuggets of the new list
            have the same text, the new list has no vital nugget or more than 100, or all nuggets are to be
            labelled again twice.
    """
    draft = _Draft({nugget.id: nugget for nugget in nuggets})
    for number, operation in enumerate(operations):
        try:
            draft.apply(operation)
        except ValueError as error:
            draft.problems.append(f"operations.{number}: {error}")
    if draft.problems:
        raise InvalidEdit(draft.problems)
    known = {nugget.text: nugget for nugget in nuggets}
    result = [
        replace(nugget, id=known[nugget.text].id, grounds=known[nugget.text].grounds)
        if nugget.text in known
        else replace(nugget, id=derived_id(key, nugget.text), grounds=None)
        for nugget in draft.nuggets.values()
    ]
    result.sort(key=lambda nugget: nugget.importance is not Importance.VITAL)
    again = [operation for operation in operations if isinstance(operation, ReassignNuggets)]
    if problems := list(_problems(nuggets, result, len(again))):
        raise InvalidEdit(problems)
    return Edited(
        tuple(result), tuple(draft.changes), reassigned=bool(again), model=again[0].model if again else None
    )


@dataclass(slots=True)
class _Draft:
    """A list while it is edited: its nuggets by the ids that operations use."""

    nuggets: dict[str, Nugget]
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
                self._change(operation.op, replace(self._nugget(name), importance=importance))
            case MergeNuggets():
                self._merge(operation)
            case DeleteNugget(nugget=name):
                old = self._nugget(name)
                del self.nuggets[name]
                self.changes.append(NuggetChange(operation.op, (old.text,), None, None))
            case ReassignNuggets(model=model):
                self.changes.append(NuggetChange(operation.op, (), None, None, model))

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

    def _change(self, op: EditKind, nugget: Nugget) -> None:
        before = self.nuggets[nugget.id]
        if nugget == before:
            raise ValueError("changes nothing")
        self._put(op, (before,), nugget)

    def _put(self, op: EditKind, before: Sequence[Nugget], nugget: Nugget) -> None:
        self.nuggets[nugget.id] = nugget
        texts = tuple(old.text for old in before)
        self.changes.append(NuggetChange(op, texts, nugget.text, nugget.importance))

    def _nugget(self, name: str) -> Nugget:
        if name not in self.nuggets:
            raise ValueError(f"the list has no nugget {name!r}, or it was merged or deleted before")
        return self.nuggets[name]


_EMPTY = Nugget("", "", Importance.OKAY)


def _problems(before: Sequence[Nugget], after: Sequence[Nugget], again: int) -> Iterator[str]:
    """What is wrong with the list as a whole; `again` says how often it is to be labelled again."""
    if again > 1:
        yield "operations: name one model that labels all nuggets again"
    if list(before) == list(after) and not again:
        yield "operations: the list stays as it is"
    if not any(nugget.importance is Importance.VITAL for nugget in after):
        yield "operations: no nugget is vital any more, and the battle could not be scored"
    if len(after) > MOST_NUGGETS:
        yield f"operations: the list would have {len(after)} nuggets; at most {MOST_NUGGETS} are accepted"
    seen: set[str] = set()
    for nugget in after:
        name = " ".join(nugget.text.casefold().split())
        if name in seen:
            yield f"operations: two nuggets have the text {nugget.text!r}; merge them"
        seen.add(name)
