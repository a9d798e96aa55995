"""A graded file with what a reader has to know about it before any number."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.rubric import read_graded
from nuggetstream.rubric.grading import first_ranks


@dataclass(frozen=True, slots=True)
class Basis:
    """What numbers about a graded file rest on.

    Attributes:
        file: its path.
        queries: with at least one passage.
        passages: in all.
        items: questions or nuggets graded at least once, counted query by query.
        grades: given to an item on a passage.
        ungraded: passages without any grade.
        judged: passages with a judgment of an assessor.
        ranked: passages that a system ranked.
        systems: that ranked a passage.
    """

    file: str
    queries: int
    passages: int
    items: int
    grades: int
    ungraded: int
    judged: int
    ranked: int
    systems: int


@dataclass(frozen=True, slots=True)
class Graded:
    """The passages of a file and what they are."""

    passages: tuple[GradedPassage, ...]
    basis: Basis


def load(path: Path, prompt_class: str | None = None, query: str | None = None) -> Graded:
    """The passages of a graded file.

    Args:
        path: of the file, gzipped or not.
        prompt_class: whose grades to take, where passages carry several sets.
        query: the only one to take; None for all.

    Raises:
        UnusableFile: naming file, line and field; also when there is no passage.
    """
    passages = read_graded(path, prompt_class)
    if not passages:
        raise UnusableFile(f"{path}: holds no passage")
    if query is not None:
        known = {passage.query for passage in passages}
        passages = [passage for passage in passages if passage.query == query]
        if not passages:
            raise UnusableFile(f"{path}: has no query {query!r} among its {len(known)}")
    return Graded(tuple(passages), _basis(path, passages))


def _basis(path: Path, passages: Sequence[GradedPassage]) -> Basis:
    return Basis(
        file=str(path),
        queries=len({passage.query for passage in passages}),
        passages=len(passages),
        items=len({(passage.query, item) for passage in passages for item in passage.grades}),
        grades=sum(len(passage.grades) for passage in passages),
        ungraded=sum(not passage.grades for passage in passages),
        judged=sum(passage.judgment is not None for passage in passages),
        ranked=sum(bool(passage.ranks) for passage in passages),
        systems=len(first_ranks(passages)),
    )
