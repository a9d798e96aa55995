"""An edit of a bank before it is kept: its new lines, and the scores that it changes.

operations, bank, graded file  ->  a proposal, with every score before and after  ->  kept, as it was shown
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nuggetstream.files.numerals import many
from nuggetstream.rubric.bank_edit import BankChange, BankOperation, edited_bank
from nuggetstream.rubric.bank_file import BankEntry, keep, read_lines, write_lines

if TYPE_CHECKING:
    from services.cli.rubric.bank_grading import Regraded


@dataclass(frozen=True, slots=True, kw_only=True)
class BankFiles:
    """A bank with the file that was graded on its questions.

    Attributes:
        bank: The bank; where there is none, an edit supplies it.
        graded: Graded file of `rubric grade`; None when no scores are shown.
        queries: Id -> text of queries that the bank lacks.
        per_question: Whether each new question is asked in a call of its own.
        k: Depth of the top.
        minimum: Lowest grade at which a question counts as answered.
    """

    bank: Path
    graded: Path | None
    queries: Mapping[str, str]
    per_question: bool
    k: int
    minimum: int

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of the bank; none where there is no file.

        Raises:
            UnusableFile: The bank cannot be read.
        """
        return read_lines(self.bank) if self.bank.exists() else []

    async def propose(
        self, operations: Sequence[BankOperation], stop: asyncio.Event
    ) -> "ProposedEdit | None":
        """What operations change. New questions alone are graded, by the model that graded the file.

        Returns:
            The edit, of which nothing is written; None when it was stopped.

        Raises:
            UnusableFile, InvalidBankEdit, NothingToCover: A file or an operation cannot be used.
        """
        lines, changes = edited_bank(self.lines, operations, self.queries)
        after = None
        if self.graded is not None:
            from services.cli.rubric.bank_grading import regraded

            after = await regraded(
                self.graded,
                lines,
                changes,
                self.queries,
                stop,
                per_question=self.per_question,
                k=self.k,
                minimum=self.minimum,
            )
            if after is None:
                return None
        return ProposedEdit(self, lines, changes, after)


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """An edit that is not kept yet.

    Attributes:
        files: The files before it.
        lines: The lines of the bank after it.
        changes: What each operation changes.
        after: The graded file after it; None when there is none.
    """

    files: BankFiles
    lines: Sequence[dict[str, Any]]
    changes: Sequence[BankChange]
    after: "Regraded | None"

    @property
    def notes(self) -> list[str]:
        """What a person should know beside the scores."""
        if self.after is None:
            return ["name the graded file with --graded to see how scores change"]
        missing = len(self.after.ungraded)
        return [f"{many(missing, 'passage')} without grades on new questions"] if missing else []

    def keep(self, by: str, reason: str) -> BankEntry:
        """Write the bank, its history and the graded file.

        Raises:
            UnusableFile: The history cannot be read.
            OSError: A file cannot be written.
        """
        entry = keep(self.files.bank, self.lines, self.changes, by=by, reason=reason, at=datetime.now(UTC))
        if self.after is not None and self.files.graded is not None:
            write_lines(self.files.graded, self.after.lines)
        return entry
