"""Graded passages with what a reader has to know about them before any number."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.files.grade_sets import KEY_SET, SET, VERIFIED_SET
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.rubric import prompt_classes, read_graded
from nuggetstream.rubric.grading import first_ranks


@dataclass(frozen=True, slots=True)
class Basis:
    """What numbers about graded passages rest on.

    Attributes:
        file: Path of the file; None for passages that come from no file.
        queries: Queries with at least one passage.
        passages: All passages.
        items: Questions or nuggets graded at least once, counted query by query.
        grades: Grades given to an item on a passage.
        ungraded: Passages without any grade.
        judged: Passages with a judgment of an assessor.
        ranked: Passages that a system ranked.
        systems: Systems that ranked a passage.
    """

    file: str | None
    queries: int
    passages: int
    items: int
    grades: int
    ungraded: int
    judged: int
    ranked: int
    systems: int

    @property
    def line(self) -> str:
        """What the passages hold, in one line."""
        return (
            f"from {self.file or 'memory'}: {many(self.grades, 'grade')} of {many(self.items, 'item')} on "
            f"{many(self.passages, 'passage')} of {many(self.queries, 'query', 'queries')}; {self.judged:,} "
            f"judged, {self.ranked:,} ranked by {many(self.systems, 'system')}"
        )


@dataclass(frozen=True, slots=True)
class Graded:
    """Graded passages and counts of what they hold."""

    passages: tuple[GradedPassage, ...]
    basis: Basis

    @classmethod
    def of(cls, passages: Sequence[GradedPassage], file: str | None = None) -> "Graded":
        """Graded passages with their counts.

        Args:
            passages: At least one.
            file: Path of the file they come from; None for none.

        Raises:
            ValueError: There is no passage.
        """
        if not passages:
            raise ValueError("there is no passage")
        basis = Basis(
            file=file,
            queries=len({passage.query for passage in passages}),
            passages=len(passages),
            items=len({(passage.query, item) for passage in passages for item in passage.grades}),
            grades=sum(len(passage.grades) for passage in passages),
            ungraded=sum(not passage.grades for passage in passages),
            judged=sum(passage.judgment is not None for passage in passages),
            ranked=sum(bool(passage.ranks) for passage in passages),
            systems=len(first_ranks(passages)),
        )
        return cls(tuple(passages), basis)


def load(path: Path, prompt_class: str | None = None, query: str | None = None) -> Graded:
    """The passages of a graded file.

    Args:
        path: The file, gzipped or not.
        prompt_class: Which grades to take, where passages carry several sets.
        query: The only query to take; None for all.

    Raises:
        UnusableFile: A line cannot be used, naming file, line and field, or there is no passage.
    """
    passages = read_graded(path, prompt_class)
    if not passages:
        raise UnusableFile(f"{path}: holds no passage")
    if query is not None:
        queries = {passage.query for passage in passages}
        passages = [passage for passage in passages if passage.query == query]
        if not passages:
            raise UnusableFile(f"{path}: has no query {query!r} among its {len(queries)}")
    return Graded.of(passages, str(path))


def load_checked(
    path: Path, prompt_class: str | None = None, query: str | None = None
) -> tuple[Graded, dict[str, Graded]]:
    """The passages of a graded file, and those with grades of which it was checked what was found.

    Args:
        path: The file, gzipped or not.
        prompt_class: Which grades to take; without it those of `nuggetstream rubric grade`, if there are any.
        query: The only query to take; None for all.

    Returns:
        The passages, and prompt class -> the same passages with checked grades.

    Raises:
        UnusableFile: As for `load`.
    """
    classes = prompt_classes(path)
    if prompt_class is None and SET in classes:
        prompt_class = SET
    checks = [name for name in (VERIFIED_SET, KEY_SET) if name in classes and prompt_class == SET]
    return load(path, prompt_class, query), {name: load(path, name, query) for name in checks}
