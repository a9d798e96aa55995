"""What an edit of a bank changes: the grades of a graded file, and the score and rank of every system.

graded file, removed questions, grades on new ones  ->  edited_lines   the file after the edit
cover before, cover after                           ->  score_changes  per system
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.numerals import many
from nuggetstream.files.tables import Table
from nuggetstream.rubric.covering import Coverage, SystemCover
from nuggetstream.rubric.verification import HIGH_GRADE

Json = dict[str, Any]
_ITEM_IDS = ("question_id", "nugget_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChange:
    """The scores of one system before and after an edit.

    Attributes:
        system: Name of the system.
        cover: Its cover, before and after; None where it ranked no graded passage.
        n_exam: Its n-EXAM, before and after; None where no passage answers anything.
        rank: Its rank by cover, from 1, before and after. Systems with equal cover share a rank.
    """

    system: str
    cover: tuple[float | None, float | None]
    n_exam: tuple[float | None, float | None]
    rank: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, repr=False)
class ScoreChanges(Drawn):
    """The scores of all systems before and after an edit, the best one after it first.

    Attributes:
        k: Depth of the top.
        minimum: Lowest grade at which an item counts as answered.
        systems: The systems.
        items: Number of graded items, before and after.
    """

    k: int
    minimum: int
    systems: tuple[ScoreChange, ...]
    items: tuple[int, int]

    def table(self) -> Table:
        """One row per system."""
        columns = (
            tables.text("system"),
            *(
                tables.number(f"{name}_{when}", f"{title} {when}", digits=3)
                for name, title in (("cover", f"Cover@{self.k}"), ("n_exam", "n-EXAM"))
                for when in ("before", "after")
            ),
            tables.count("rank_before", "rank before"),
            tables.count("rank_after", "rank after"),
        )
        rows = tuple((score.system, *score.cover, *score.n_exam, *score.rank) for score in self.systems)
        moved = sum(score.rank[0] != score.rank[1] for score in self.systems)
        notes = (
            f"{many(self.items[0], 'item')} before, {self.items[1]:,} after",
            f"answered from grade {self.minimum} on",
            f"{many(moved, 'system')} with another rank",
        )
        return Table("Scores before and after the edit", columns, rows, notes)


def score_changes(before: Coverage, after: Coverage) -> ScoreChanges:
    """The scores of every system before and after an edit."""
    old, new = _by_name(before), _by_name(after)
    names = dict.fromkeys([*new, *old])
    return ScoreChanges(
        k=after.k,
        minimum=after.minimum,
        systems=tuple(
            ScoreChange(
                system=name,
                cover=(_cover(old.get(name)), _cover(new.get(name))),
                n_exam=(_n_exam(old.get(name)), _n_exam(new.get(name))),
                rank=(_rank(before, old.get(name)), _rank(after, new.get(name))),
            )
            for name in names
        ),
        items=(before.graded.basis.items, after.graded.basis.items),
    )


def edited_lines(
    lines: Sequence[tuple[str, Sequence[Json]]],
    removed: Mapping[str, Collection[str]],
    added: Mapping[tuple[str, str], Sequence[Json]],
) -> list[tuple[str, list[Json]]]:
    """The lines of a graded file after an edit; all other fields stay as they are.

    Args:
        lines: Query and its passages, as the file has them.
        removed: Query -> ids of items whose grades are left out.
        added: Query and passage -> sets of grades on new items, which join the sets of their prompt class.
    """
    return [
        (
            query,
            [
                passage
                | {
                    "exam_grades": list(
                        _sets(
                            passage.get("exam_grades") or (),
                            removed.get(query, ()),
                            added.get((query, str(passage["paragraph_id"])), ()),
                        )
                    )
                }
                for passage in passages
            ],
        )
        for query, passages in lines
    ]


def _sets(old: Sequence[Json], removed: Collection[str], new: Sequence[Json]) -> Iterator[Json]:
    joining = {_class(grade_set): grade_set for grade_set in new}
    for grades in old:
        kept = _joined(grades, removed, joining.pop(_class(grades), None))
        if kept.get("self_ratings") or kept.get("correctAnswered") or kept.get("wrongAnswered"):
            yield kept
    yield from joining.values()


def _joined(grades: Json, removed: Collection[str], new: Json | None) -> Json:
    """A set of grades without the removed items, and with those of a new set."""
    joined = dict(grades)
    for field, name in (("correctAnswered", str), ("wrongAnswered", str), ("answers", _first)):
        if isinstance(grades.get(field), list):
            joined[field] = [grade for grade in grades[field] if name(grade) not in removed]
            joined[field] += [] if new is None else new[field]
    if grades.get("self_ratings") is not None:
        joined["self_ratings"] = [grade for grade in grades["self_ratings"] if _item(grade) not in removed]
        joined["self_ratings"] += [] if new is None else new["self_ratings"]
        good = sum(int(grade["self_rating"]) >= HIGH_GRADE for grade in joined["self_ratings"])
        joined["exam_ratio"] = good / max(1, len(joined["self_ratings"]))
    return joined


def _first(pair: Sequence[Any]) -> str:
    return str(pair[0])


def _item(rating: Json) -> str:
    return str(next(rating[name] for name in _ITEM_IDS if rating.get(name)))


def _class(grades: Json) -> str | None:
    return (grades.get("prompt_info") or {}).get("prompt_class")


def _by_name(coverage: Coverage) -> dict[str, SystemCover]:
    return {system.system: system for system in coverage.systems}


def _cover(system: SystemCover | None) -> float | None:
    return None if system is None else system.score.cover


def _n_exam(system: SystemCover | None) -> float | None:
    return None if system is None else system.score.n_exam


def _rank(coverage: Coverage, system: SystemCover | None) -> int | None:
    if system is None:
        return None
    return 1 + sum(other.score.cover > system.score.cover for other in coverage.systems)
