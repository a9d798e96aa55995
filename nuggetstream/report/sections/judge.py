"""The judge, audited: does it keep its mind, and what does it seem to like for the wrong reason?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.files.evaluated import BattleRow, JudgmentRow
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import (
    GREEN,
    GREY,
    figure,
    marks_with_intervals,
    names_axis,
    rows_height,
    share_axis,
)
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import FEW_NOTE, of, percent, share_of, span
from nuggetstream.statistics.share import Share, share

_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How often the judge's model wins as a system: by its own verdict, and by people's.

    Both over the same battles: those in which it competes against another system and both the
    judge and people prefer an answer.
    """

    by_judge: Share
    by_people: Share


@dataclass(frozen=True, slots=True)
class Audit:
    """One judge.

    Attributes:
        judged: battles with a verdict, of `received`.
        flipped: verdicts that changed with the order, of those asked in both.
        tied: verdicts that are ties.
        first_shown: single verdicts (one per order asked) that prefer the answer shown first, of those
            that prefer one. An even-handed judge asked both ways is at one half.
        longer: verdicts that prefer the longer answer, of those that prefer one of two unequal lengths.
        people_longer: the same for human votes in the same battles.
        own: None when the judge's model is no system of these battles: not applicable.
    """

    evaluator: str
    model: str
    received: int
    judged: int
    flipped: Share
    tied: Share
    first_shown: Share
    longer: Share
    people_longer: Share
    own: SelfPreference | None


_Judged = tuple[BattleRow, JudgmentRow]


def compute(results: Results) -> tuple[Audit, ...]:
    """One audit per judge and model."""
    judges: dict[tuple[str, str], list[_Judged]] = {}
    for row in results.battles:
        for judgment in row.judgments:
            judges.setdefault((judgment.evaluator, judgment.model), []).append((row, judgment))
    return tuple(_audit(*judge, results.received, pairs) for judge, pairs in judges.items())


def _audit(evaluator: str, model: str, received: int, pairs: Sequence[_Judged]) -> Audit:
    judgments = [judgment for _, judgment in pairs]
    twice = [judgment for judgment in judgments if judgment.flipped is not None]
    single = [v for judgment in judgments for v in judgment.verdicts if v.winner in _DECIDED]
    lengths = {id(row): (len(row.a.text), len(row.b.text)) for row, _ in pairs}
    return Audit(
        evaluator=evaluator,
        model=model,
        received=received,
        judged=len({row.id for row, _ in pairs}),
        flipped=share(sum(judgment.flipped is True for judgment in twice), len(twice)),
        tied=share(sum(judgment.winner not in _DECIDED for judgment in judgments), len(judgments)),
        first_shown=share(sum(v.winner.value == v.first.value for v in single), len(single)),
        longer=_longer((judgment.winner, *lengths[id(row)]) for row, judgment in pairs),
        people_longer=_longer((row.human_vote, *lengths[id(row)]) for row, _ in pairs),
        own=_own(model, pairs),
    )


def _longer(votes: Iterable[tuple[Vote | None, int, int]]) -> Share:
    counted = [(vote, a > b) for vote, a, b in votes if vote in _DECIDED and a != b]
    return share(sum((vote is Vote.A) == a_longer for vote, a_longer in counted), len(counted))


def _own(model: str, pairs: Sequence[_Judged]) -> SelfPreference | None:
    own = [
        (Vote.A if row.a.system == model else Vote.B, judgment.winner, row.human_vote)
        for row, judgment in pairs
        if (row.a.system == model) != (row.b.system == model)
    ]
    if not own:
        return None
    both = [each for each in own if each[1] in _DECIDED and each[2] in _DECIDED]
    return SelfPreference(
        share(sum(side is judge for side, judge, _ in both), len(both)),
        share(sum(side is human for side, _, human in both), len(both)),
    )


def draw(found: Sequence[Audit]) -> Content:
    """Flips, ties and the preferences a judge should not have."""
    blocks: list[Block] = (
        [] if found else [State("No battle has a judge's verdict: there is nothing to audit.")]
    )
    charts = {f"{each.evaluator}, {each.model}": (_chart(each),) for each in found}
    if charts:
        blocks.append(Figures("Judge" if len(charts) > 1 else "", charts))
    for each in found:
        blocks += [_table(each), *_states(each)]
    return Content(
        finding=" ".join(_finding(each) for each in found),
        reading="A flip is a verdict that changes when the answers swap places; flips count as ties. An "
        "even-handed judge prefers the answer shown first half of the time. A taste for the longer answer "
        "is not wrong in itself, so the same share for people stands beside it.",
        basis="; ".join(f"{each.evaluator} {of(each.judged, each.received)}" for each in found)
        or "0 battles",
        blocks=tuple(blocks),
    )


def _finding(each: Audit) -> str:
    parts = []
    if each.flipped.value is not None:
        parts.append(f"changes its mind with the order in {share_of(each.flipped)}")
    if each.longer.value is not None:
        people = percent(each.people_longer.value)
        parts.append(f"prefers the longer answer in {percent(each.longer.value)} (people: {people})")
    return f"The {each.evaluator} judge {' and '.join(parts)}." if parts else ""


def _measures(each: Audit) -> dict[str, Share]:
    shares = {
        "flips with the order": each.flipped,
        "ties": each.tied,
        "prefers the answer shown first": each.first_shown,
        "prefers the longer answer": each.longer,
        "people prefer the longer answer": each.people_longer,
    }
    if each.own is not None:
        shares["judge lets its own model win"] = each.own.by_judge
        shares["people let that model win"] = each.own.by_people
    return shares


def _chart(each: Audit) -> Figure:
    shares = _measures(each)
    known = [(i, x) for i, x in enumerate(shares.values()) if x.value is not None]
    points = marks_with_intervals(
        "share",
        [x.value or 0.0 for _, x in known],
        [i for i, _ in known],
        [x.low or 0.0 for _, x in known],
        [x.high or 0.0 for _, x in known],
        marker={"color": GREEN, "symbol": "square", "size": 11},
        customdata=[(x.count, x.of) for _, x in known],
        hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]})<extra></extra>",
    )
    half = {"type": "line", "x0": 0.5, "x1": 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {
        "yaxis": names_axis(list(shares)),
        "xaxis": share_axis("share of cases", range=[-0.02, 1.02]),
        "shapes": [{**half, "line": {"color": GREY, "dash": "dot", "width": 1.5}}],
    }
    alt = "; ".join(f"{name}: {share_of(x)}" for name, x in shares.items())
    title = f"{each.evaluator}, {each.model}: {of(each.judged, each.received)}"
    return figure(title, alt, [points], rows_height(len(shares)), layout)


def _table(each: Audit) -> Table:
    rows = [(name, share_of(x), span(x.low, x.high)) for name, x in _measures(each).items()]
    caption = f"{each.evaluator}, {each.model}"
    return Table(caption, ("measure", "share", "95%"), rows, FEW_NOTE, folded=True)


def _states(each: Audit) -> list[State]:
    states = []
    if each.own is None:
        text = f"Self preference: not applicable, because the judge's model ({each.model}) is no system here."
        states.append(State(text))
    if each.flipped.value is None:
        states.append(State(f"Flip rate: no battle was judged in both orders by {each.evaluator}."))
    return states


SECTION = Section(
    name="judge",
    title="The judge, audited",
    question="Does the judge keep its mind, and does it like answers for the wrong reason?",
    compute=compute,
    draw=draw,
)
