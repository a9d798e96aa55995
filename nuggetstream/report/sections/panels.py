"""Panels: what each member says, how often it abstains, and how often it agrees with its panel."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.files.evaluated import JudgmentRow, MemberRow
from nuggetstream.files.numerals import many
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Notice, Table
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import share_of
from nuggetstream.statistics.share import Share, share


@dataclass(frozen=True, slots=True)
class MemberAudit:
    """One member of a panel.

    Attributes:
        panel: Name of the panel.
        member: Name of the member.
        verdicts: Battles with its verdict, of those with a verdict of the panel.
        abstentions: Why it gave none -> number of battles.
        flipped: Verdicts that changed with the order, of those asked in both orders.
        agrees: Verdicts that are the panel's.
    """

    panel: str
    member: str
    verdicts: Share
    abstentions: dict[str, int]
    flipped: Share
    agrees: Share


_Said = tuple[JudgmentRow, MemberRow]


def compute(results: Results) -> tuple[MemberAudit, ...]:
    """One audit per panel and member."""
    said: dict[tuple[str, str], list[_Said]] = {}
    for battle in results.battles:
        for judgment in (*battle.judgments, *battle.guided):
            for member in judgment.members:
                said.setdefault((judgment.evaluator, member.name), []).append((judgment, member))
    return tuple(_audit(*name, pairs) for name, pairs in sorted(said.items()))


def _audit(panel: str, member: str, said: Sequence[_Said]) -> MemberAudit:
    voted = [(judgment, own) for judgment, own in said if own.winner is not None]
    twice = [own for _, own in voted if own.flipped is not None]
    reasons = Counter(own.abstention or "unknown" for _, own in said if own.winner is None)
    return MemberAudit(
        panel=panel,
        member=member,
        verdicts=share(len(voted), len(said)),
        abstentions=dict(sorted(reasons.items())),
        flipped=share(sum(own.flipped is True for own in twice), len(twice)),
        agrees=share(sum(own.winner is judgment.winner for judgment, own in voted), len(voted)),
    )


def draw(audits: Sequence[MemberAudit]) -> Content:
    """A table of the members of each panel."""
    panels = list(dict.fromkeys(audit.panel for audit in audits))
    blocks: list[Block] = [_table(panel, [a for a in audits if a.panel == panel]) for panel in panels]
    silent = sum(sum(audit.abstentions.values()) for audit in audits)
    return Content(
        finding=f"{many(silent, 'abstention')} of members of panels." if audits else "",
        reading="The verdict of a panel is that of its members together. A member that declines, whose reply "
        "cannot be used, or whose budget is used up abstains, which is not a tie. The verdicts of a panel in "
        "which too many abstain are among the failures.",
        basis=many(len(panels), "panel"),
        blocks=tuple(blocks) or (Notice("No judge of these battles is a panel."),),
    )


def _table(panel: str, audits: Sequence[MemberAudit]) -> Table:
    rows = [
        (
            audit.member,
            share_of(audit.verdicts),
            ", ".join(f"{reason} {count}" for reason, count in audit.abstentions.items()) or "none",
            share_of(audit.flipped),
            share_of(audit.agrees),
        )
        for audit in audits
    ]
    columns = ("member", "gave a verdict", "abstentions", "flips with the order", "agrees with the panel")
    return Table(caption=panel, columns=columns, rows=rows, text_columns=(2,))


SECTION = Section(
    name="panels",
    title="The panels, member by member",
    question="Who abstains, who flips, and who agrees with the panel?",
    compute=compute,
    draw=draw,
)
