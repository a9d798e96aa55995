"""Where grades, checks and assessors contradict each other, and what a person reads to oversee a rubric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.domain.note import Note
from nuggetstream.files import tables
from nuggetstream.files.numerals import many
from nuggetstream.files.rubric import BankItem
from nuggetstream.files.tables import Table, Tabular
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.grading import items_of
from nuggetstream.rubric.oversight import (
    AlikeItem,
    ContradictedGrade,
    alike_items,
    contradicted_grades,
    judged_by,
)
from nuggetstream.rubric.verification import (
    HIGH_GRADE,
    NOT_RELEVANT,
    RELEVANT,
    Grid,
    Listed,
    SpuriousItem,
    grade_counts,
    grade_grid,
    spurious_items,
    uncovered_passages,
    verification_listing,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Where good, relevant and not relevant begin.

    Attributes:
        minimum: Lowest grade at which an answer is good.
        relevant: Lowest judgment that means relevant.
        not_relevant: Highest judgment that means not relevant.

    Raises:
        ValueError: A judgment would mean both.
    """

    minimum: int = HIGH_GRADE
    relevant: int = RELEVANT
    not_relevant: int = NOT_RELEVANT

    def __post_init__(self) -> None:
        if self.not_relevant >= self.relevant:
            raise ValueError(
                f"judgment {self.relevant} cannot mean relevant when {self.not_relevant} means not relevant"
            )


@dataclass(frozen=True, slots=True, repr=False)
class Check(Tabular):
    """Contradictions between grades and judgments, and listings of every grade.

    Attributes:
        graded: The passages that were checked.
        limits: Where good, relevant and not relevant begin.
        relevant: Number of graded passages judged relevant.
        not_relevant: Number of passages judged not relevant.
        spurious: Query -> items that passages judged not relevant answer well, most frequent first; None
            when no passage was judged not relevant.
        uncovered: Passages judged relevant that answer nothing well; None when none was judged relevant.
        contradicted: Good grades that a check does not confirm; None when nothing was checked.
        alike: Items that all passages of their query answer well, or that none does.
        grids: Query -> grades of its passages on its items.
        listing: Every answer with a grade above 0, best first within its item.
        counts: Grade -> how often it was given.
        texts: Item -> its question or nugget, for the items that a bank names.
        unread: Passages that labels call relevant and that are not among the passages.
    """

    graded: Graded
    limits: Limits
    relevant: int
    not_relevant: int
    spurious: Mapping[str, Sequence[SpuriousItem]] | None
    uncovered: tuple[GradedPassage, ...] | None
    contradicted: tuple[ContradictedGrade, ...] | None
    alike: tuple[AlikeItem, ...]
    grids: Mapping[str, Grid]
    listing: tuple[Listed, ...]
    counts: Mapping[int, int]
    texts: Mapping[str, str]
    unread: int = 0

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(_notes(self))

    def table(self) -> Table:
        """One row per finding: spurious items, uncovered passages, contradicted grades, alike items."""
        columns = (
            tables.text("contradiction"),
            tables.text("query"),
            tables.text("item"),
            tables.text("passage"),
            tables.count("passages"),
            tables.count("judgment"),
            tables.count("best", "best grade"),
            tables.text("check"),
        )
        spurious = tuple(
            ("spurious item", query, entry.item, None, entry.passages, None, None, None)
            for query, entries in (self.spurious or {}).items()
            for entry in entries
        )
        uncovered = tuple(
            ("uncovered passage", entry.query, None, entry.passage, None, entry.judgment, entry.best, None)
            for entry in self.uncovered or ()
        )
        denied = tuple(
            (
                "contradicted grade",
                finding.query,
                finding.item,
                finding.passage,
                None,
                None,
                finding.grade,
                finding.check,
            )
            for finding in self.contradicted or ()
        )
        alike = tuple(
            (
                "answered by all" if finding.answered else "answered by nothing",
                *(finding.query, finding.item, None, finding.passages, None, finding.best, None),
            )
            for finding in self.alike
        )
        notes = tuple(note.text for note in self.notes)
        return Table("Grades against judgments", columns, spurious + uncovered + denied + alike, notes)


def check(
    graded: Graded,
    limits: Limits = Limits(),
    bank: Sequence[BankItem] = (),
    checks: Mapping[str, Graded] = MappingProxyType({}),
    labels: Sequence[Relevance] | None = None,
) -> Check:
    """Contradictions between grades, judgments and checks, and listings of every grade.

    Args:
        graded: Passages, judged or not.
        limits: Where good, relevant and not relevant begin.
        bank: The questions or nuggets behind the item ids.
        checks: Prompt class -> the same passages with grades that were checked, see `contradicted_grades`.
        labels: Judgments in place of those of the passages; None keeps these.
    """
    unread = 0
    if labels is not None:
        given, absent = judged_by(graded.passages, labels)
        graded = Graded.of(given, graded.basis.file)
        unread = sum(label.label >= limits.relevant for label in absent)
    passages = graded.passages
    judged = [(p.judgment, p.best) for p in passages if p.judgment is not None]
    relevant = sum(judgment >= limits.relevant and best is not None for judgment, best in judged)
    not_relevant = sum(judgment <= limits.not_relevant for judgment, _ in judged)
    uncovered = uncovered_passages(passages, limits.minimum, limits.relevant)
    return Check(
        graded=graded,
        limits=limits,
        relevant=relevant,
        not_relevant=not_relevant,
        spurious=spurious_items(passages, limits.minimum, limits.not_relevant) if not_relevant else None,
        uncovered=tuple(uncovered) if relevant else None,
        contradicted=tuple(_denied(passages, checks, limits)) if checks else None,
        alike=tuple(alike_items(passages, limits.minimum)),
        grids=grade_grid(passages),
        listing=tuple(verification_listing(passages)),
        counts=grade_counts(passages),
        texts={item.id: item.text for item in bank},
        unread=unread,
    )


def _denied(
    passages: Sequence[GradedPassage], checks: Mapping[str, Graded], limits: Limits
) -> list[ContradictedGrade]:
    checked = {name: graded.passages for name, graded in checks.items()}
    return contradicted_grades(passages, checked, limits.minimum)


def _notes(checked: Check) -> Iterator[Note]:
    basis = checked.graded.basis
    if not basis.judged:
        yield Note("nobody_judged", "no passage was judged: nothing can contradict the grades")
    elif basis.judged < basis.passages:
        unjudged = many(basis.passages - basis.judged, "passage")
        yield Note("not_judged", f"{unjudged} without a judgment, counted for and against no item")
    if basis.judged and not checked.not_relevant:
        yield Note("none_not_relevant", "no passage was judged not relevant: spurious items are not known")
    if basis.judged and not checked.relevant:
        yield Note("none_relevant", "no graded passage was judged relevant: uncovered ones are not known")
    if basis.ungraded:
        yield Note("ungraded", f"{many(basis.ungraded, 'passage')} without a grade, left out")
    if checked.unread:
        text = f"{many(checked.unread, 'passage')} that the labels call relevant, and that the file lacks"
        yield Note("not_in_file", f"{text}: whether an item covers them is not known")
    if checked.texts:
        unnamed = sum(item not in checked.texts for item in items_of(checked.graded.passages))
        if unnamed:
            yield Note("not_in_bank", f"{many(unnamed, 'item')} that the bank does not name")
