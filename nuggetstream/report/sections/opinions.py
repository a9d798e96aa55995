"""Opinions: where several judges or nuggetizers run, what each says, and which of them leads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import integer, many, percent
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Notice, Table
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import FEW_NOTE, share_of
from nuggetstream.statistics.share import Share, share

JUDGES, LISTS = "judges", "nugget lists"
_FIRST_LIST = "the first list"  # in results of a single nuggetizer, which has no name


@dataclass(frozen=True, slots=True)
class Opinion:
    """One judge, or one nuggetizer with the preferences that follow from its lists.

    Attributes:
        kind: "judges" or "nugget lists".
        name: Its name.
        battles: Battles with its preference.
        leads: Battles in which it speaks for its lens, in all other sections.
        with_people: Its preferences that are those of people, of the battles with both.
        with_leading: Its preferences that are those of the leading one, of the battles with both; None for
            one that leads wherever it has a preference.
        points: System -> its share of the points, a tie being half a point.
    """

    kind: str
    name: str
    battles: int
    leads: int
    with_people: Share
    with_leading: Share | None
    points: dict[str, float]


@dataclass(slots=True)
class _Counts:
    votes: list[tuple[BattleRow, Vote]] = field(default_factory=list)
    leading: list[Vote] = field(default_factory=list)
    leads: int = 0


def compute(results: Results) -> tuple[Opinion, ...]:
    """The judges and the nuggetizers, each in the order of how often they lead; none where each is alone."""
    counts: dict[tuple[str, str], _Counts] = {}
    for battle in results.battles:
        for kind, said in ((JUDGES, list(_judges(battle))), (LISTS, list(_lists(battle)))):
            for name, vote in said:
                own = counts.setdefault((kind, name), _Counts())
                own.votes.append((battle, vote))
                own.leading.append(said[0][1])
                own.leads += name == said[0][0]
    kinds = [kind for kind, _ in counts]
    several = {key: own for key, own in counts.items() if kinds.count(key[0]) > 1}
    ordered = sorted(several, key=lambda key: (key[0], -several[key].leads, key[1]))
    return tuple(_opinion(*key, several[key]) for key in ordered)


def _judges(battle: BattleRow) -> Iterator[tuple[str, Vote]]:
    """Names and verdicts, that of the leading judge first."""
    leading = battle.judgment
    for judgment in sorted(battle.judgments, key=lambda each: (each is not leading, each.evaluator)):
        yield judgment.evaluator, judgment.winner


def _lists(battle: BattleRow) -> Iterator[tuple[str, Vote]]:
    """Nuggetizers and preferences; scores and causes rest on the list of the first one."""
    if battle.nugget_verdict is None:
        return
    yield battle.nuggetizer or _FIRST_LIST, battle.nugget_verdict.preference
    for other in battle.other_lists:
        if other.verdict is not None:
            yield other.nuggetizer, other.verdict.preference


def _opinion(kind: str, name: str, own: _Counts) -> Opinion:
    voted = [(battle.human_vote, vote) for battle, vote in own.votes if battle.human_vote is not None]
    beside = [(leading, vote) for (_, vote), leading in zip(own.votes, own.leading, strict=True)]
    return Opinion(
        kind=kind,
        name=name,
        battles=len(own.votes),
        leads=own.leads,
        with_people=share(sum(_same(*pair) for pair in voted), len(voted)),
        with_leading=None
        if own.leads == len(own.votes)
        else share(sum(_same(*pair) for pair in beside), len(beside)),
        points=_points(own.votes),
    )


def _same(one: Vote, other: Vote) -> bool:
    """Whether two preferences are the same; to call both bad is a tie."""
    decided = (Vote.A, Vote.B)
    return one is other or (one not in decided and other not in decided)


def _points(votes: Sequence[tuple[BattleRow, Vote]]) -> dict[str, float]:
    taken: dict[str, list[float]] = {}
    for battle, vote in votes:
        if battle.a.system == battle.b.system:
            continue
        for side, own in ((Side.A, Vote.A), (Side.B, Vote.B)):
            point = 1.0 if vote is own else 0.0 if vote in (Vote.A, Vote.B) else 0.5
            taken.setdefault(battle.answer(side).system, []).append(point)
    return {system: sum(points) / len(points) for system, points in sorted(taken.items())}


def draw(opinions: Sequence[Opinion]) -> Content:
    """Per kind, a table of all opinions and one of the systems."""
    blocks: list[Block] = []
    for kind in (JUDGES, LISTS):
        if own := [opinion for opinion in opinions if opinion.kind == kind]:
            blocks += [_table(kind, own), _systems(kind, own)]
    return Content(
        finding=" ".join(_finding(kind, opinions) for kind in (JUDGES, LISTS)).strip(),
        reading="In the other sections one judge speaks for the lens of judges: the first by name that gave "
        "a verdict, before additional ones. Scores and misses rest on the list of the first nuggetizer. "
        "Agreement counts a tie and “both bad” as the same.",
        basis=many(max((opinion.battles for opinion in opinions), default=0), "battle"),
        blocks=tuple(blocks) or (Notice("There is one judge at most, and one nuggetizer."),),
    )


def _finding(kind: str, opinions: Sequence[Opinion]) -> str:
    own = [opinion for opinion in opinions if opinion.kind == kind]
    if not own:
        return ""
    first, battles = own[0], many(sum(opinion.leads for opinion in own), "battle")
    return f"Of {len(own)} {kind}, {first.name} leads, in {integer(first.leads)} of {battles}."


def _table(kind: str, own: Sequence[Opinion]) -> Table:
    rows = [
        (
            opinion.name,
            integer(opinion.battles),
            integer(opinion.leads),
            share_of(opinion.with_people),
            "it leads" if opinion.with_leading is None else share_of(opinion.with_leading),
        )
        for opinion in own
    ]
    columns = ("name", "battles", "leads", "agrees with people", "agrees with the one that leads")
    return Table(caption=kind.capitalize(), columns=columns, rows=rows, note=FEW_NOTE)


def _systems(kind: str, own: Sequence[Opinion]) -> Table:
    systems = sorted({system for opinion in own for system in opinion.points})
    systems.sort(key=lambda system: -own[0].points.get(system, -1.0))
    rows = [(system, *(percent(opinion.points.get(system)) for opinion in own)) for system in systems]
    return Table(
        caption=f"Share of the points by {kind}",
        columns=("system", *(opinion.name for opinion in own)),
        rows=rows,
        folded=True,
    )


SECTION = Section(
    name="opinions",
    title="Several opinions: judges and nugget lists",
    question="Do several judges, or several nuggetizers, say the same, and which of them leads?",
    compute=compute,
    draw=draw,
)
