"""Which items graded passages cover, and where each run ranked the passages."""

from collections.abc import Sequence

from nuggetstream.domain.graded_passage import GradedPassage


class UnknownSystem(ValueError):
    """A system that was named is not there."""


def by_query(passages: Sequence[GradedPassage]) -> dict[str, list[GradedPassage]]:
    """Query -> its passages, both in the order given.

    Raises:
        ValueError: A passage is given twice for one query; its grades would count twice.
    """
    queries: dict[str, list[GradedPassage]] = {}
    seen: set[tuple[str, str]] = set()
    for passage in passages:
        key = (passage.query, passage.passage)
        if key in seen:
            raise ValueError(f"passage {passage.passage!r} of query {passage.query!r} is there twice")
        seen.add(key)
        queries.setdefault(passage.query, []).append(passage)
    return queries


def items_of(passages: Sequence[GradedPassage]) -> tuple[str, ...]:
    """Every item that is graded on any of the passages, in the order of first appearance."""
    return tuple(dict.fromkeys(item for passage in passages for item in passage.grades))


def covered(passages: Sequence[GradedPassage], minimum: int) -> set[str]:
    """The items that at least one passage answers with `minimum` or better."""
    return {item for passage in passages for item, grade in passage.grades.items() if grade >= minimum}


def first_ranks(passages: Sequence[GradedPassage]) -> dict[str, int]:
    """Run -> the smallest rank it recorded, which shows whether it counts from 0 or from 1."""
    smallest: dict[str, int] = {}
    for passage in passages:
        for run, rank in passage.ranks.items():
            smallest[run] = min(rank, smallest.get(run, rank))
    return smallest
