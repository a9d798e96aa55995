"""Lines of a file that have the same battle: each may have the vote of another person."""

from collections.abc import Iterable, Sequence

from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.numerals import many
from nuggetstream.files.submission import parse_submission_json
from services.cli.evaluation.kept_lines import Keeper, KeptLine


def with_voters(lines: Sequence[KeptLine], keeper: Keeper) -> list[KeptLine]:
    """The lines, where different votes on one battle without a voter become votes of different people.

    The first stays without a voter, as in a file that has it alone; the others are numbered in their order.

    Args:
        lines: The battles of a file.
        keeper: Where the submissions of lines are kept.
    """
    voters: dict[int, str] = {}
    for group in _repeated(lines):
        votes = [(line.line, line.vote.vote) for line in group if line.vote and line.vote.voter is None]
        if len({vote for _, vote in votes}) > 1:
            voters |= {line: f"row {number}" for number, (line, _) in enumerate(votes[1:], start=2)}
    return [_voted_by(line, voters[line.line], keeper) if line.line in voters else line for line in lines]


def repetitions(lines: Sequence[KeptLine]) -> str | None:
    """A sentence on lines that repeat a battle; None where there are none."""
    groups = _repeated(lines)
    if not groups:
        return None
    repeats = sum(len(group) - 1 for group in groups)
    several = sum(len({line.vote for line in group if line.vote is not None}) > 1 for group in groups)
    text = f"{many(repeats, 'line')} with the battle of an earlier line"
    if not several:
        return f"{text}: each battle is evaluated once, and counts once"
    return (
        f"{text}: each battle is evaluated once, and {many(several, 'battle')} with several votes "
        "counts by the majority of its voters, as a tie without one (`nuggetstream rate` counts every vote)"
    )


def _repeated(lines: Iterable[KeptLine]) -> list[list[KeptLine]]:
    """The groups of several lines with one battle, by id and content."""
    groups: dict[tuple[str, str], list[KeptLine]] = {}
    for line in lines:
        groups.setdefault((line.id, line.content_hash), []).append(line)
    return [group for group in groups.values() if len(group) > 1]


def _voted_by(line: KeptLine, voter: str, keeper: Keeper) -> KeptLine:
    submission = parse_submission_json(line.submission()).model_copy(update={"voter": voter})
    return keeper.keep(BattleLine(line.line, submission, line.reference))
