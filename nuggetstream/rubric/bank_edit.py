"""Edits of a question bank by people: lines of a bank and operations give new lines, or say what is wrong.

A question whose text changes becomes another question, with an id of its own, so that no grade of the old one
counts for it. It loses its answer keys unless the edit brings new ones. Held-back questions are graded as all
others, and are left out of what is published.
"""

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from nuggetstream.domain.question_bank import question_id
from nuggetstream.files.grade_sets import KINDS
from nuggetstream.files.rubric import items_of_line, keys_of, kind_of

Json = dict[str, Any]
_LONGEST = 400  # characters of a question, as of those that a model makes


class BankOp(StrEnum):
    """What an operation does with a question, or a nugget."""

    ADD = "add"
    CHANGE = "change"
    REMOVE = "remove"
    KEYS = "keys"
    HOLD_BACK = "hold_back"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class BankOperation:
    """One change that a person asks for.

    Attributes:
        op: What it does.
        item: The question, by its id or its text; for `add` the id of its query.
        text: Its new text, for `add` and `change`.
        keys: Right answers of a test; those of `keys` replace the ones before.
    """

    op: BankOp
    item: str
    text: str | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BankChange:
    """What one operation changed.

    Attributes:
        op: What it did.
        query: Id of the query.
        before: Id of the question before; None for one that was added.
        after: Id of the question now; None for one that was removed.
        text: Its text now; of a removed one its last text.
        keys: Its answer keys now.
        held_back: Whether it is held back now.
    """

    op: BankOp
    query: str
    before: str | None
    after: str | None
    text: str
    keys: tuple[str, ...] = ()
    held_back: bool = False

    @property
    def words(self) -> str:
        """The change as one line for a person."""
        right = f"; right: {', '.join(self.keys)}" if self.keys else ""
        return f"{self.op.value.replace('_', ' ')}: {self.text} ({self.after or self.before}){right}"


class InvalidBankEdit(ValueError):
    """An edit that cannot be made; one problem per operation that is at fault."""


def edited_bank(
    lines: Sequence[Json],
    operations: Sequence[BankOperation],
    queries: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[Json], list[BankChange]]:
    """Apply operations to the lines of a bank, in order.

    Args:
        lines: The lines of the bank file, which stay as they are.
        operations: What to change.
        queries: Id -> text of queries to which questions may be added although the bank lacks them.

    Returns:
        The new lines, and what each operation changed.

    Raises:
        InvalidBankEdit: An operation names no question or several, changes nothing, has no text or too long a
            one, a text is there twice, or a query has no question any more.
    """
    draft, changes, problems = _Draft(deepcopy(list(lines)), queries), list[BankChange](), list[str]()
    if not operations:
        problems.append("there is nothing to change")
    for operation in operations:
        try:
            changes.append(draft.apply(operation))
        except ValueError as error:
            problems.append(f"{operation.op.value} {operation.item!r}: {error}")
    empty = (line["query_id"] for line in draft.lines if not items_of_line(line))
    problems += [f"query {query!r} has no question any more" for query in empty]
    if problems:
        raise InvalidBankEdit("; ".join(problems))
    return draft.lines, changes


def name_of(item: Json) -> str:
    """The id of a question or nugget."""
    return str(item[f"{kind_of(item)}_id"])


def text_of(item: Json) -> str:
    """The text of a question or nugget."""
    return str(item[f"{kind_of(item)}_text"])


def held_back(lines: Sequence[Json]) -> set[str]:
    """The ids of questions that are held back."""
    return {name_of(item) for line in lines for item in items_of_line(line) if item.get("held_back")}


def public_bank(lines: Sequence[Json]) -> list[Json]:
    """The lines of a bank without held-back questions; a query that has no others is left out."""
    hidden, public = held_back(lines), deepcopy(list(lines))
    for line in public:
        items = items_of_line(line)
        items[:] = [item for item in items if name_of(item) not in hidden]
    return [line for line in public if items_of_line(line)]


@dataclass(slots=True)
class _Draft:
    lines: list[Json]
    queries: Mapping[str, str]

    def apply(self, operation: BankOperation) -> BankChange:
        """Make one change.

        Raises:
            ValueError: It cannot be made.
        """
        if operation.op is BankOp.ADD:
            return self._add(operation)
        line, item = self._found(operation.item)
        before = name_of(item)
        match operation.op:
            case BankOp.CHANGE:
                self._change(line, item, _text(operation.text), operation.keys)
            case BankOp.REMOVE:
                items_of_line(line).remove(item)
            case BankOp.KEYS:
                _set(item, "gold_answers", list(operation.keys))
            case BankOp.HOLD_BACK | BankOp.RELEASE:
                _set(item, "held_back", operation.op is BankOp.HOLD_BACK)
        return _changed(operation.op, line, item, before)

    def _add(self, operation: BankOperation) -> BankChange:
        line = next(
            (candidate for candidate in self.lines if str(candidate["query_id"]) == operation.item), None
        )
        if line is None:
            if operation.item not in self.queries:
                raise ValueError("the bank has no such query; name a file with its text")
            line = {"query_id": operation.item, "query_text": self.queries[operation.item], "items": []}
            self.lines.append(line)
        items = items_of_line(line)
        kind = kind_of(items[0]) if items else KINDS[0]
        item: Json = {"query_id": operation.item, f"{kind}_id": "", f"{kind}_text": ""}
        self._change(line, item, _text(operation.text), operation.keys)
        items.append(item)
        return _changed(operation.op, line, item, None)

    def _change(self, line: Json, item: Json, text: str, keys: Collection[str]) -> None:
        kind = kind_of(item)
        if any(_text(text_of(other)) == text for other in items_of_line(line)):
            raise ValueError(f"the query has the question {text!r} already")
        item |= {f"{kind}_id": question_id(str(line["query_id"]), text), f"{kind}_text": text}
        item.pop("gold_answers", None)
        if keys:
            item["gold_answers"] = list(keys)

    def _found(self, name: str) -> tuple[Json, Json]:
        named = [
            (line, item)
            for line in self.lines
            for item in items_of_line(line)
            if name in (name_of(item), text_of(item))
        ]
        if len(named) != 1:
            raise ValueError(
                "the bank has no such question" if not named else "several questions are named so"
            )
        return named[0]


def _set(item: Json, field: str, value: Any) -> None:
    if (item.get(field) or type(value)()) == value:
        raise ValueError("changes nothing")
    item.pop(field, None)
    if value:
        item[field] = value


def _text(text: str | None) -> str:
    line = " ".join((text or "").split())
    if not line or len(line) > _LONGEST:
        raise ValueError(f"a question has 1 to {_LONGEST} characters; this one has {len(line)}")
    return line


def _changed(op: BankOp, line: Json, item: Json, before: str | None) -> BankChange:
    return BankChange(
        op=op,
        query=str(line["query_id"]),
        before=before,
        after=None if op is BankOp.REMOVE else name_of(item),
        text=text_of(item),
        keys=keys_of(item),
        held_back=bool(item.get("held_back")),
    )
