"""The column of the winner as a whole: which systems it may name, and how its words and numbers are read."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.inputs import marks_in, marks_said
from nuggetstream.domain.system_name import one_spelling
from nuggetstream.files.columns import Columns
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.outcomes import (
    OutcomeWords,
    UnknownOutcome,
    meaning_of,
    numbers_in,
    numbers_said,
    winner_text,
    words_of,
)
from nuggetstream.files.record import Record, as_number


@dataclass(frozen=True, slots=True)
class WinnerColumn:
    """How the column of the winner of a file is read.

    Attributes:
        name: Name of the column.
        words: How its words and numbers are read.
        marks: Values that mean that there is none.
        remarks: How marks and numbers were read, and how many votes fell to each side, as sentences.
    """

    name: str
    words: OutcomeWords
    marks: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        path: Path,
        records: Iterable[Record],
        columns: Columns,
        outcomes: Mapping[str, str],
        missing: Collection[str] = (),
    ) -> "WinnerColumn":
        """Look at every row of a file once, in memory of the different values.

        Args:
            path: Name of the file, for errors.
            records: Its rows.
            columns: Columns of the rows.
            outcomes: What words and numbers mean, as a person says.
            missing: Further values that mean that there is none.

        Raises:
            UnusableFile: Its numbers may mean several things, or a person names no outcome.
        """
        systems, votes = set[str](), Counter[str]()
        for record in records:
            own = {one_spelling(str(record.value(name))) for name in (columns.a, columns.b)}
            systems |= own
            if isinstance(record.value(columns.winner), list | dict):
                continue  # rejected where the row is read
            value = winner_text(record, columns.winner)
            if value is not None and one_spelling(value) not in own:
                votes[value] += _count(record, columns.count)
        try:
            named = words_of(outcomes)
            plain = OutcomeWords(named)
            marks = marks_in(
                votes,
                lambda value: plain.is_known(value) or one_spelling(value) in systems,
                missing,
            )
            numbers = numbers_in(
                Counter({value: votes[value] for value in votes if value not in marks}), named
            )
            words = OutcomeWords(named, meaning_of(numbers))
        except UnknownOutcome as error:
            raise UnusableFile(f"{path}: {columns.winner}: {error}") from error
        said = [marks_said(columns.winner, marks)] if marks else []
        said += numbers_said(columns.winner, words, numbers)
        return cls(columns.winner, words, frozenset(marks), tuple(said))

    def outcome(self, record: Record, system_a: str, system_b: str) -> Vote | float | None:
        """The outcome of a row; None where it says none.

        Raises:
            UnusableFile: It says something else; names file, line and field.
        """
        text = winner_text(record, self.name)
        if text is None:
            return None
        winner = one_spelling(text)
        if winner in self.marks and winner not in (system_a, system_b):
            return None
        try:
            return self.words.outcome(winner, system_a, system_b)
        except UnknownOutcome as error:
            raise record.wrong(self.name, str(error)) from error


def _count(record: Record, column: str | None) -> int:
    count = 1.0 if column is None else as_number(record.value(column))
    return int(count) if count >= 0 and count % 1 == 0 else 0
