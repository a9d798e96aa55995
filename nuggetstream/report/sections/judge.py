"""Judge: does its verdict depend on the order of the answers, on their length, or on its own family?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.model_family import common_family, family_of
from nuggetstream.files.evaluated import BattleRow, JudgmentRow
from nuggetstream.files.numerals import part_of, percent, percent_interval
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, Notice, NotMeasured, Table
from nuggetstream.report.charts import (
    GREEN,
    figure,
    names_axis,
    rows_height,
    share_axis,
    share_marks,
    vertical_line,
)
from nuggetstream.report.section import Content, Part
from nuggetstream.report.wording import FEW_NOTE, and_list, share_of
from nuggetstream.statistics.share import Share, share

_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How often systems of the judge's family win: by its own verdict, and by people's votes.

    Both are over the same battles: those in which one competes against a system that is not known to be of
    the family, and both the judge and people prefer an answer.
    """

    by_judge: Share
    by_people: Share


@dataclass(frozen=True, slots=True)
class Audit:
    """One judge.

    Attributes:
        evaluator: Name of the judge.
        model: Its model.
        received: All battles.
        judged: Battles with a verdict.
        flipped: Verdicts that changed with the order, of those asked in both orders.
        tied: Verdicts that are ties.
        first_shown: Single verdicts (one per order asked) that prefer the answer shown first, of those that
            prefer one. An unbiased judge asked in both orders is at one half.
        longer: Verdicts that prefer the longer answer, of those that prefer one of two unequal lengths.
        twice_as_long: Verdicts that prefer an answer at least twice as long, of those between two such.
        people_longer: As `longer`, for human votes in the same battles.
        own: None when no system of these battles is of the judge's family: not applicable.
        speaks: Whether it can speak for the lens of judges; not where it was shown the nuggets.
    """

    evaluator: str
    model: str
    received: int
    judged: int
    flipped: Share
    tied: Share
    first_shown: Share
    longer: Share
    twice_as_long: Share
    people_longer: Share
    own: SelfPreference | None
    speaks: bool = True


_Judged = tuple[BattleRow, JudgmentRow]


def compute(results: Results) -> tuple[Audit, ...]:
    """One audit per judge and model; additional judges and those shown the nuggets come last."""
    judges: dict[tuple[bool, bool, str, str], list[_Judged]] = {}
    for battle in results.battles:
        for guided, judgments in enumerate((battle.judgments, battle.guided)):
            for judgment in judgments:
                key = bool(guided), judgment.additional, judgment.evaluator, judgment.model
                judges.setdefault(key, []).append((battle, judgment))
    audits = []
    for (guided, _, evaluator, model), judged in sorted(judges.items(), key=itemgetter(0)):
        name = f"{evaluator} (shown the nuggets)" if guided else evaluator
        audits.append(_audit(name, model, results.received, judged, speaks=not guided))
    return tuple(audits)


def _audit(evaluator: str, model: str, received: int, judged: Sequence[_Judged], *, speaks: bool) -> Audit:
    judgments = [judgment for _, judgment in judged]
    twice = [judgment for judgment in judgments if judgment.flipped is not None]
    single = [
        verdict for judgment in judgments for verdict in judgment.verdicts if verdict.winner in _DECIDED
    ]
    return Audit(
        evaluator=evaluator,
        model=model,
        received=received,
        judged=len({battle.id for battle, _ in judged}),
        flipped=share(sum(judgment.flipped is True for judgment in twice), len(twice)),
        tied=share(sum(judgment.winner not in _DECIDED for judgment in judgments), len(judgments)),
        first_shown=share(
            sum(verdict.winner.value == verdict.first.value for verdict in single), len(single)
        ),
        longer=_longer((battle, judgment.winner) for battle, judgment in judged),
        twice_as_long=_longer(((battle, judgment.winner) for battle, judgment in judged), 2),
        people_longer=_longer((battle, battle.human_vote) for battle, _ in judged),
        own=_self_preference(model, judged),
        speaks=speaks,
    )


def _longer(votes: Iterable[tuple[BattleRow, Vote | None]], times: int = 1) -> Share:
    lengths = ((vote, len(battle.a.text), len(battle.b.text)) for battle, vote in votes)
    counted = [
        (vote, a > b)
        for vote, a, b in lengths
        if vote in _DECIDED and a != b and max(a, b) >= times * min(a, b)
    ]
    return share(sum((vote is Vote.A) == a_is_longer for vote, a_is_longer in counted), len(counted))


def _self_preference(model: str, judged: Sequence[_Judged]) -> SelfPreference | None:
    family = common_family(model)

    def is_own(system: str) -> bool:
        return system == model or (family is not None and family_of(system) == family)

    own = [
        (Vote.A if is_own(battle.a.system) else Vote.B, judgment.winner, battle.human_vote)
        for battle, judgment in judged
        if is_own(battle.a.system) != is_own(battle.b.system)
    ]
    if not own:
        return None
    decided = [(side, verdict, vote) for side, verdict, vote in own if {verdict, vote} <= {*_DECIDED}]
    return SelfPreference(
        by_judge=share(sum(side is verdict for side, verdict, _ in decided), len(decided)),
        by_people=share(sum(side is vote for side, _, vote in decided), len(decided)),
    )


def draw(audits: Sequence[Audit]) -> Content:
    """Flips, ties and the biases a judge should not have."""
    blocks: list[Block] = (
        [] if audits else [NotMeasured("audit of the judge", "no battle has a judge's verdict")]
    )
    charts = {f"{audit.evaluator}, {audit.model}": (_chart(audit),) for audit in audits}
    if charts:
        blocks.append(Figures("Judge" if len(charts) > 1 else "", charts))
    for audit in audits:
        blocks += [_table(audit), *_not_measured(audit)]
    blocks += _which_speaks(audits)
    judged = (f"{each.evaluator} {part_of(each.judged, each.received, 'battles')}" for each in audits)
    return Content(
        findings=tuple(filter(None, map(_finding, audits))),
        reading="A flip is a verdict that changes when the answers swap places; flips count as ties. An "
        "unbiased judge prefers the answer shown first half of the time. Preferring the longer answer is "
        "not an error by itself, so the same share for people stands beside it.",
        basis="; ".join(judged) or "0 battles",
        blocks=tuple(blocks),
    )


def _which_speaks(audits: Sequence[Audit]) -> list[Block]:
    """Which judge the other sections mean, where there are several."""
    names = list(dict.fromkeys(audit.evaluator for audit in audits if audit.speaks))
    if len(names) <= 1:
        return []
    text = (
        f"Where other sections show one judge, it is {names[0]}; where it gave no verdict, the next of "
        f"{and_list(names[1:])}. The verdicts of all judges are here, in the section on agreement and in "
        "results.jsonl."
    )
    return [Notice(text)]


def _finding(audit: Audit) -> str:
    parts = []
    if audit.flipped.value is not None:
        parts.append(f"changes its verdict with the order in {share_of(audit.flipped)} of the battles")
    if audit.longer.value is not None:
        people = percent(audit.people_longer.value)
        parts.append(f"prefers the longer answer in {percent(audit.longer.value)} (people: {people})")
    return f"The {audit.evaluator} judge {' and '.join(parts)}." if parts else ""


def _measures(audit: Audit) -> dict[str, Share]:
    shares = {
        "verdict flips with the order": audit.flipped,
        "verdict is a tie": audit.tied,
        "prefers the answer shown first": audit.first_shown,
        "prefers the longer answer": audit.longer,
        "people prefer the longer answer": audit.people_longer,
        "prefers an answer at least twice as long": audit.twice_as_long,
    }
    if audit.own is not None:
        shares["judge prefers its own family"] = audit.own.by_judge
        shares["people prefer that family"] = audit.own.by_people
    return shares


def _chart(audit: Audit) -> Figure:
    shares = _measures(audit)
    marks = share_marks("share", list(enumerate(shares.values())), GREEN, "square", "<extra></extra>")
    layout = {
        "yaxis": names_axis(list(shares)),
        "xaxis": share_axis("share of cases", range=[-0.02, 1.02]),
        "shapes": [vertical_line(0.5)],
    }
    alt = "; ".join(f"{name}: {share_of(value)}" for name, value in shares.items())
    title = f"{audit.evaluator}, {audit.model}: {part_of(audit.judged, audit.received, 'battles')}"
    return figure(title, alt, [marks], rows_height(len(shares)), layout)


def _table(audit: Audit) -> Table:
    rows = [
        (name, share_of(value), percent_interval(value.low, value.high))
        for name, value in _measures(audit).items()
    ]
    caption = f"{audit.evaluator}, {audit.model}"
    return Table(
        caption=caption, columns=("measure", "share", "95% interval"), rows=rows, note=FEW_NOTE, folded=True
    )


def _not_measured(audit: Audit) -> list[NotMeasured]:
    notices = []
    if audit.own is None:
        notices.append(
            NotMeasured(
                f"self-preference of {audit.evaluator} ({audit.model})",
                "no system with a name of the family of this model competes with one of another family",
            )
        )
    if audit.flipped.value is None:
        notices.append(
            NotMeasured(
                f"flips of {audit.evaluator} ({audit.model})",
                "it judged no battle in both orders, or is a panel, whose members are audited one by one",
            )
        )
    return notices


PART = Part("judge", compute, draw)
