"""Question banks that people edit: new versions with who, when and why, and what they change in scores."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nuggetstream.api.choices import choice
from nuggetstream.api.passages import Passages, graded_of
from nuggetstream.api.rankings import Runs
from nuggetstream.api.sources import in_python, path_of
from nuggetstream.domain.inputs import Kind, check_kind
from nuggetstream.files.tables import Table
from nuggetstream.rubric.bank_edit import BankOp, BankOperation, InvalidBankEdit, edited_bank
from nuggetstream.rubric.bank_file import history_table, keep, read_lines
from nuggetstream.rubric.bank_scores import ScoreChanges, score_changes
from nuggetstream.rubric.covering import cover


@in_python
def rubric_edit(
    bank: str | Path,
    operations: Iterable[Mapping[str, Any]],
    *,
    by: str,
    reason: str,
    queries: Mapping[str, str] | None = None,
) -> Table:
    """Edit a question bank; the next `nuggetstream rubric grade` grades only what the edit touches.

    Args:
        bank: Path of the bank, which is written. Where there is none, it is made.
        operations: What to change, in order: dictionaries with `op` ("add", "change", "remove", "keys",
            "hold_back" or "release"), `item` (id or text of a question; for "add" the id of its query),
            `text` for "add" and "change", and `keys`, right answers of a test.
        by: Who edits.
        reason: Why.
        queries: Id -> text of queries that the bank lacks.

    Returns:
        The history: one row per version and approval.

    Raises:
        UnusableFile: The bank or its history cannot be read.
        InvalidBankEdit: An operation cannot be made; the message names all that are at fault.

    Source: Farzi and Dietz, the Rubric-Grading Workbench, 2024.

    >>> from tempfile import mkdtemp
    >>> bank = Path(mkdtemp()) / "bank.jsonl"
    >>> wanted = [{"op": "add", "item": "q1", "text": "Why?"}, {"op": "hold_back", "item": "Why?"}]
    >>> rubric_edit(bank, wanted, by="ada", reason="first", queries={"q1": "tides"}).rows[0][:3]
    (1, 'supplied', 'ada')
    """
    path = path_of("bank", bank, "a question bank")
    check_kind("operations", operations, (Kind.SEQUENCE, Kind.ITERATOR), "a list of dictionaries")
    asked = [_operation(row) for row in operations]
    lines, changes = edited_bank(read_lines(path) if path.exists() else [], asked, queries or {})
    keep(path, lines, changes, by=by, reason=reason, at=datetime.now(UTC))
    return history_table(path)


@in_python
def rubric_change(
    before: Passages,
    after: Passages,
    *,
    runs: Runs | None = None,
    k: int = 20,
    min_grade: int = 3,
    prompt_class: str | None = None,
) -> ScoreChanges:
    """How Cover@k, n-EXAM and the rank of every system change from one set of grades to another.

    Args:
        before: As for `rubric_cover`.
        after: The same passages, graded on the edited bank.
        runs: Rankings of the passages, where both hold none.
        k: Depth of the top.
        min_grade: Lowest grade at which a question counts as answered, 1 to 5.
        prompt_class: Which grades of files to take, where passages carry several sets.

    Returns:
        One row per system, the best one after the change first.

    Raises:
        UnusableFile: A row cannot be used.
        NothingToCover: No item was graded.

    >>> runs = {"x": {"q1": ["p1"]}}
    >>> old = [("q1", "p1", "why", 5)]
    >>> rubric_change(old, [*old, ("q1", "p1", "when", 0)], runs=runs, k=1).systems[0].cover
    (1.0, 0.5)
    """
    first, second = (
        graded_of(source, runs, prompt_class, name) for name, source in (("before", before), ("after", after))
    )
    return score_changes(cover(first, k, min_grade), cover(second, k, min_grade))


def _operation(row: Mapping[str, Any]) -> BankOperation:
    check_kind("operations", row, (Kind.MAPPING,), "a list of dictionaries")
    try:
        op = choice("op", BankOp, str(row["op"]))
        keys = row.get("keys") or ()
        return BankOperation(
            op, str(row["item"]), row.get("text"), (keys,) if isinstance(keys, str) else tuple(keys)
        )
    except (KeyError, ValueError) as error:
        operations = ", ".join(known_op.value for known_op in BankOp)
        raise InvalidBankEdit(f"{dict(row)}: expected `item`, and `op` of {operations}") from error
