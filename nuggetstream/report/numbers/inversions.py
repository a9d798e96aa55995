"""Inversions: where does the machine prefer the very answer that people reject?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.report.lenses import AUTOMATIC
from nuggetstream.statistics.inversions import confusion_table, inversions
from nuggetstream.statistics.share import Share, share

CATEGORY = "category:"
_NOT_GIVEN = "not given"
_DECIDED = (Vote.A, Vote.B)
EXAMPLES = 100  # inverted battles that are listed


@dataclass(frozen=True, slots=True)
class Slice:
    """Inversions among some battles.

    Attributes:
        by: "all", "language" or "category".
        name: Name of the language, declared or detected, or of the category; "not given" where a battle has
            none.
        battles: How many are in the slice.
        inverted: Per automatic lens, inverted battles as a share of those in which both the lens and people
            prefer an answer.
        of_all: Per automatic lens, inverted battles as a share of all in which both have a vote, ties and
            "both bad" included: the rate that "Search Arena Meets Nuggets" prints.
    """

    by: str
    name: str
    battles: int
    inverted: dict[Lens, Share]
    of_all: dict[Lens, Share]


@dataclass(frozen=True, slots=True)
class Inverted:
    """A battle in which people prefer one answer and the machine the other.

    Attributes:
        battle: Id of the battle.
        query: Its query.
        human: The answer that people prefer, such as "A (atlas)".
        by: The automatic lenses that prefer the other answer.
    """

    battle: str
    query: str
    human: str
    by: tuple[Lens, ...]


@dataclass(frozen=True, slots=True)
class Inversions:
    """All slices for one human dimension.

    Attributes:
        dimension: Name of the human dimension; None without a human preference.
        labelled: Battles with this dimension.
        received: All battles.
        has_categories: Whether a battle has a category; if not, there are no slices by category.
        slices: All battles first, then languages and categories, larger ones first.
        examples: Up to a hundred inverted battles, those that more lenses invert first.
    """

    dimension: str | None
    labelled: int
    received: int
    has_categories: bool
    slices: tuple[Slice, ...]
    examples: tuple[Inverted, ...] = ()


def compute_inversions(results: Results) -> Inversions:
    """Inversions for the first human dimension, the overall preference where there is one."""
    if not results.dimensions:
        return Inversions(
            dimension=None, labelled=0, received=results.received, has_categories=False, slices=()
        )
    dimension = results.dimensions[0]
    battles = [battle for battle in results.battles if dimension in battle.preferences]
    has_categories = any(categories_of(battle) != (_NOT_GIVEN,) for battle in battles)
    slices = [_slice(dimension, "all", "all battles", battles)]
    slices += _slices(dimension, "language", _language, battles)
    if has_categories:
        slices += _slices(dimension, "category", categories_of, battles)
    return Inversions(
        dimension=dimension,
        labelled=len(battles),
        received=results.received,
        has_categories=has_categories,
        slices=tuple(slices),
        examples=tuple(_examples(dimension, battles)),
    )


def _examples(dimension: str, battles: Iterable[BattleRow]) -> list[Inverted]:
    examples = []
    for battle in battles:
        human = battle.preferences[dimension]
        other = {Vote.A: Vote.B, Vote.B: Vote.A}.get(human)
        by = tuple(lens for lens in AUTOMATIC if other is not None and battle.vote(lens) is other)
        if by:
            system = (battle.a if human is Vote.A else battle.b).system
            examples.append(Inverted(battle.id, battle.query, f"{human.upper()} ({system})", by))
    return sorted(examples, key=lambda example: -len(example.by))[:EXAMPLES]


def _language(battle: BattleRow) -> tuple[str, ...]:
    return (battle.known_language or _NOT_GIVEN,)


def categories_of(battle: BattleRow) -> tuple[str, ...]:
    """The categories of a battle by its tags; "not given" where it has none."""
    categories = tuple(tag.removeprefix(CATEGORY) for tag in battle.tags if tag.startswith(CATEGORY))
    return categories or (_NOT_GIVEN,)


def _slices(
    dimension: str,
    by: str,
    names_of: Callable[[BattleRow], Iterable[str]],
    battles: Iterable[BattleRow],
) -> list[Slice]:
    members = grouped((name, battle) for battle in battles for name in names_of(battle))
    ordered = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_slice(dimension, by, name, own) for name, own in ordered]


def _slice(dimension: str, by: str, name: str, battles: Sequence[BattleRow]) -> Slice:
    inverted, of_all = {}, {}
    for lens in AUTOMATIC:
        votes = [
            (battle.preferences[dimension], vote)
            for battle in battles
            if (vote := battle.vote(lens)) is not None
        ]
        counts = inversions(confusion_table([human for human, _ in votes], [vote for _, vote in votes]))
        decided = sum(human in _DECIDED and vote in _DECIDED for human, vote in votes)
        inverted[lens] = share(int(counts.inverted), decided)
        of_all[lens] = share(int(counts.inverted), int(counts.battles))
    return Slice(by, name, len(battles), inverted, of_all)
