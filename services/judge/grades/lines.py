"""Replies that are lists of grades, one short line each: `accuracy 1: It dates the tower to 1890.`"""

import re
from collections.abc import Callable, Iterable, Mapping

from nuggetstream.domain.grade import Criterion, Grade, Subject
from services.runtime.llm.lines import Lines
from services.runtime.llm.replies import Line, Reply, every_id_once


class GradeLine(Line):
    """One grade: what was graded, the value, and the reason (None where none was given)."""

    pattern = re.compile(
        r"(?P<name>[\w.-]+)[ \t:=]+(?P<value>-?\d{1,4}(?:\.\d{1,4})?)(?:[ \t]*[:–-][ \t]*(?P<reason>.*))?",
        re.DOTALL,
    )
    example = "accuracy 1: It names a wrong year."

    name: str
    value: float
    reason: str | None = None

    def line(self) -> str:
        """The item as a line."""
        return f"{self.name} {self.value:g}" + (f": {self.reason}" if self.reason else "")

    def grade(self, subject: Subject, criterion: str | None = None) -> Grade:
        """The grade of a subject; by default the line names the criterion."""
        return Grade(
            subject=subject,
            criterion=self.name if criterion is None else criterion,
            value=self.value,
            reason=self.reason or None,
        )


class GradesReply(Reply):
    """Reply of evaluators that grade on a scale."""

    form = (
        "Write each grade as one line: the name or ID of what is graded, the value, a colon and the reason "
        "in one short sentence; for example: accuracy 1: It names a wrong year."
    )
    grades: list[GradeLine]

    def by_name(self) -> Mapping[str, GradeLine]:
        """The lines by what they grade."""
        return {line.name: line for line in self.grades}


def on_scales(scales: Mapping[str, Criterion]) -> Callable[[GradesReply], None]:
    """A check that a reply has exactly one grade for each name, on its scale.

    Args:
        scales: The criterion of each name.

    Returns:
        A function that raises ValueError for another reply; the message says what is wrong.
    """

    def check(reply: GradesReply) -> None:
        every_id_once((line.name for line in reply.grades), scales)
        for line in reply.grades:
            low, high = scales[line.name].low, scales[line.name].high
            if low is None or high is None or not low <= line.value <= high or line.value % 1:
                raise ValueError(f"{line.name}: {line.value:g} is no whole number from {low:g} to {high:g}")

    return check


def graded(scales: Mapping[str, Criterion]) -> Lines:
    """The form of a reply that has exactly one grade for each name, on its scale."""
    return Lines.labelled(list(scales), "-?[0-9]{1,4}(: {character}+)?")


def of_criteria(criteria: Iterable[Criterion]) -> Callable[[GradesReply], None]:
    """A check that a reply has exactly one grade for each criterion, on its scale."""
    return on_scales({criterion.name: criterion for criterion in criteria})
