"""Grades and panels.

How do the evaluators grade each system, and do several models say the same?
"""

from collections.abc import Container, Sequence

from nuggetstream.domain.grouping import grouped
from nuggetstream.files.numerals import integer, interval, many, number, percent
from nuggetstream.nuggets.label_agreement import ORDER, LabelAgreement
from nuggetstream.report.blocks import Block, NotMeasured, Table
from nuggetstream.report.numbers.assigners import SecondAssigner, compute_assigners
from nuggetstream.report.numbers.grades import SystemGrade, compute_grades
from nuggetstream.report.numbers.panels import CriterionAgreement, MemberAudit, Panels, compute_panels
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import in_words, share_of


def draw_grades(grades: Sequence[SystemGrade]) -> Content:
    """One table per evaluator, and one per member of a panel."""
    by_grader = grouped(((grade.evaluator, grade.member, grade.model), grade) for grade in grades)
    panels = {grade.evaluator for grade in grades if grade.member is not None}
    blocks: list[Block] = [
        _grades_table(_caption(*grader, panels), by_grader[grader])
        for grader in sorted(by_grader, key=_order)
    ]
    return Content(
        findings=(),
        reading="A mean is over battles, so that an answer with many documents counts once. The interval "
        "comes from a bootstrap over battles. A battle without a grade is missing and never counts as zero: "
        "it was not selected for grading, had nothing to grade, or the evaluator gave up. The grades of a "
        "panel are those of its members together; a member of a panel gives up by abstaining.",
        basis=many(len({grade.evaluator for grade in grades}), "evaluator"),
        blocks=tuple(blocks) or (NotMeasured("grades", "no evaluator graded these battles"),),
    )


def _order(grader: tuple[str, str | None, str]) -> tuple[str, str, str]:
    """Evaluators by name, the members of a panel after it."""
    evaluator, member, model = grader
    return evaluator, member or "", model


def _caption(evaluator: str, member: str | None, model: str, panels: Container[str]) -> str:
    name = in_words(evaluator)
    if member is not None:
        return f"{name}, member {member}: {model}"
    return f"{name}, panel of {model}" if evaluator in panels else f"{name}, {model}"


def _grades_table(caption: str, grades: Sequence[SystemGrade]) -> Table:
    return Table(
        caption=caption,
        columns=(
            "system", "subject", "criterion (scale)", "mean", "95% interval", "battles graded", "missing",
            "of these given up",
        ),
        rows=[
        (
            grade.system or "all battles",
            grade.subject,
            f"{grade.criterion} ({grade.scale})",
            number(grade.mean, 2),
            interval(grade.low, grade.high, 2),
            str(grade.graded),
            str(grade.missing),
            str(grade.failed),
        )
        for grade in grades
    ],
        text_columns=(1, 2),
    )  # fmt: skip


def draw_panels(panels: Panels) -> Content:
    """A table of the members of each panel, and one of criteria where it grades."""
    names = list(dict.fromkeys(member.panel for member in panels.members))
    blocks: list[Block] = []
    for name in names:
        blocks.append(_member_table(name, [audit for audit in panels.members if audit.panel == name]))
        if criteria := [criterion for criterion in panels.criteria if criterion.panel == name]:
            blocks.append(_criterion_table(name, criteria))
    silent = sum(sum(member.abstentions.values()) for member in panels.members)
    return Content(
        findings=(f"{many(silent, 'abstention')} of members of panels.",) if names else (),
        reading="A member that declines, whose reply cannot be used, or whose budget is used up abstains. An "
        "abstention is no tie, no grade and no zero. Krippendorff's alpha is agreement beyond chance: 1 for "
        "equal grades, 0 for what chance gives; models that err alike agree, too. Battles on which a panel "
        "gave up are among the failures.",
        basis=many(len(names), "panel"),
        blocks=tuple(blocks) or (NotMeasured("panels", "no evaluator of these battles is a panel"),),
    )


def _member_table(panel: str, members: Sequence[MemberAudit]) -> Table:
    return Table(
        caption=f"{in_words(panel)}: members",
        columns=("member", "answered", "abstentions", "flips with the order", "agrees with the panel"),
        rows=[
            (
                member.member,
                share_of(member.answered),
                ", ".join(f"{reason} {count}" for reason, count in member.abstentions.items()) or "none",
                share_of(member.flipped),
                share_of(member.agrees),
            )
            for member in members
        ],
        text_columns=(2,),
    )


def _criterion_table(panel: str, criteria: Sequence[CriterionAgreement]) -> Table:
    return Table(
        caption=f"{in_words(panel)}: agreement of the members",
        columns=("criterion (scale)", "graded by two or more", "no grade of the panel", "alpha"),
        rows=[
            (
                f"{in_words(criterion.criterion)} ({criterion.scale})",
                integer(criterion.subjects),
                integer(criterion.ungraded),
                number(criterion.alpha, 2),
            )
            for criterion in criteria
        ],
    )


def draw_assigners(assigners: Sequence[SecondAssigner]) -> Content:
    """Per assigner the table of labels, with kappa in its caption."""
    findings: tuple[str, ...] = ()
    if assigners:
        first = assigners[0].agreement
        same = f"{integer(first.agreed)} of {many(first.labels, 'label')} are the same"
        findings = (f"{same} ({_kappas(first)}).",)
    blocks: list[Block] = [_assigners_table(assigner) for assigner in assigners]
    return Content(
        findings=findings,
        reading="A second model labels the same nuggets for the same answers. Its labels are in no score. "
        "Cohen's kappa is agreement beyond chance: 1 for equal labels, 0 for what chance gives. Two models "
        "that err alike agree, too, so a high kappa does not show that labels are right; a low one shows "
        "that they are doubtful.",
        basis=many(sum(assigner.battles for assigner in assigners), "battle"),
        blocks=tuple(blocks) or (NotMeasured("labels of a second assigner", "no evaluator is one"),),
    )


def _kappas(agreement: LabelAgreement) -> str:
    weighted, plain = (
        "unknown" if kappa is None else number(kappa, 2) for kappa in (agreement.kappa, agreement.unweighted)
    )
    return f"kappa {weighted} weighted, {plain} unweighted"


def _assigners_table(assigner: SecondAssigner) -> Table:
    rows = []
    for first in ORDER:
        counted = assigner.counts[first.value]
        row = [counted[second.value] for second in ORDER]
        share = None if not sum(row) else counted[first.value] / sum(row)
        rows.append((in_words(first), *map(integer, row), "–" if share is None else percent(share, 0)))
    return Table(
        caption=f"{in_words(assigner.evaluator)}, {assigner.model}: {_kappas(assigner.agreement)}",
        columns=("label of the first", *(in_words(second) for second in ORDER), "the same"),
        rows=rows,
    )


SECTION = Section(
    name="evaluators",
    title="Grades and panels",
    question="How do the evaluators grade each system, and do several models say the same?",
    parts=(
        Part("grades", compute_grades, draw_grades),
        Part("panels", compute_panels, draw_panels),
        Part("assigners", compute_assigners, draw_assigners),
    ),
)
