"""Opinions: where several judges run, what each says, and which of them leads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import integer, many, percent
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Notice, Table
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import FEW_NOTE, share_of
from nuggetstream.statistics.share import Share, share


@dataclass(frozen=True, slots=True)
class Opinion:
    """One judge.

    Attributes:
        name: Its name.
        battles: Battles with its verdict.
        leads: Battles in which it speaks for its lens, in all other sections.
        with_people: Its verdicts that are those of people, of the battles with both.
        with_leading: Its verdicts that are those of the leading one, of the battles with both; None for
            one that leads wherever it has a verdict.
        points: System -> its share of the points, a tie being half a point.
    """

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
    """The judges in the order of how often they lead; none where there is one at most."""
    counts: dict[str, _Counts] = {}
    for battle in results.battles:
        verdicts = list(_verdicts(battle))
        for name, vote in verdicts:
            own = counts.setdefault(name, _Counts())
            own.votes.append((battle, vote))
            own.leading.append(verdicts[0][1])
            own.leads += name == verdicts[0][0]
    if len(counts) < 2:
        return ()
    return tuple(
        _opinion(name, counts[name]) for name in sorted(counts, key=lambda name: (-counts[name].leads, name))
    )


def _verdicts(battle: BattleRow) -> Iterator[tuple[str, Vote]]:
    """Names and verdicts, that of the leading judge first."""
    leading = battle.judgment
    for judgment in sorted(battle.judgments, key=lambda each: (each is not leading, each.evaluator)):
        yield judgment.evaluator, judgment.winner


def _opinion(name: str, own: _Counts) -> Opinion:
    voted = [(battle.human_vote, vote) for battle, vote in own.votes if battle.human_vote is not None]
    beside = [(leading, vote) for (_, vote), leading in zip(own.votes, own.leading, strict=True)]
    return Opinion(
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
    """A table of all judges and one of the systems."""
    battles = many(max((opinion.battles for opinion in opinions), default=0), "battle")
    return Content(
        finding=_finding(opinions),
        reading="In the other sections one judge speaks for the lens of judges: the first by name that gave "
        "a verdict, before additional ones. Agreement counts a tie and “both bad” as the same.",
        basis=battles,
        blocks=(_table(opinions), _systems(opinions))
        if opinions
        else (Notice("There is one judge at most."),),
    )


def _finding(opinions: Sequence[Opinion]) -> str:
    if not opinions:
        return ""
    first, battles = opinions[0], many(sum(opinion.leads for opinion in opinions), "battle")
    return f"Of {len(opinions)} judges, {first.name} leads, in {integer(first.leads)} of {battles}."


def _table(own: Sequence[Opinion]) -> Table:
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
    return Table(caption="Judges", columns=columns, rows=rows, note=FEW_NOTE)


def _systems(own: Sequence[Opinion]) -> Table:
    systems = sorted({system for opinion in own for system in opinion.points})
    systems.sort(key=lambda system: -own[0].points.get(system, -1.0))
    rows = [(system, *(percent(opinion.points.get(system)) for opinion in own)) for system in systems]
    return Table(
        caption="Share of the points by judge",
        columns=("system", *(opinion.name for opinion in own)),
        rows=rows,
        folded=True,
    )


SECTION = Section(
    name="opinions",
    title="Opinions of several judges",
    question="Do several judges say the same, and which of them leads?",
    compute=compute,
    draw=draw,
)
