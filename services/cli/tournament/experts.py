"""Grades of experts beside those of evaluators: do they agree about each answer, criterion by criterion?

    experts.csv   query, agent, criterion, grade   a row per expert and answer; several experts are averaged
    results       grades of evaluators on answers  averaged over the battles of an answer

Source: Rackauckas, Câmara, Zavrel, "Evaluating RAG-Fusion with RAGElo", 2024; Bland and Altman, 1986.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from nuggetstream.domain.grade import SubjectKind
from nuggetstream.files import tables
from nuggetstream.files.columns import with_columns
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import many
from nuggetstream.files.record import as_number
from nuggetstream.files.records import read_records
from nuggetstream.files.tables import Table
from nuggetstream.statistics.bland_altman import LimitsOfAgreement, bland_altman
from nuggetstream.statistics.paired import PairedTest, paired_t
from nuggetstream.statistics.ranks import Correlation, kendall, spearman

AnswerOf: TypeAlias = tuple[str, str]
"""Id of a query, and name of an agent."""
Grades: TypeAlias = Mapping[AnswerOf, float]
EXPERT_COLUMNS = (
    tables.text("evaluator"),
    tables.text("criterion"),
    tables.count("answers"),
    tables.number("tau", digits=3),
    tables.number("rho", digits=3),
    tables.number("bias"),
    tables.interval("low", "high", "95% limits of agreement"),
    tables.number("t"),
    tables.p_value("p_value", "p"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertAgreement:
    """How the grades of one evaluator agree with those of experts on one criterion.

    Attributes:
        evaluator: Name of the evaluator.
        criterion: The criterion.
        answers: Answers that both graded.
        alone: Answers that only the experts graded.
        grades: Those answers with the grade of the evaluator and that of the experts.
        tau: Kendall's tau-b; None where one side gave all answers the same grade.
        rho: Spearman's rho; None in the same case.
        t: Student's paired t-test; None with fewer than 2 answers, or where all differences are the same.
        limits: Bias (evaluator minus experts) and limits of agreement; None with fewer than 3 answers.
    """

    evaluator: str
    criterion: str
    answers: int
    alone: int
    grades: Sequence[tuple[AnswerOf, float, float]]
    tau: Correlation | None
    rho: Correlation | None
    t: PairedTest | None
    limits: LimitsOfAgreement | None


def read_experts(path: Path, queries: Mapping[str, str], agents: Sequence[str]) -> dict[str, Grades]:
    """The grades of experts by criterion.

    Args:
        path: CSV with a header, or JSONL, with `query` (its id or text), `agent`, `criterion` and `grade`.
        queries: The queries by id.
        agents: Names of the agents.

    Raises:
        UnusableFile: A row cannot be used; names file, line and field.
    """
    ids = {text: name for name, text in queries.items()} | {name: name for name in queries}
    grades_of: dict[str, dict[AnswerOf, list[float]]] = {}
    for record in with_columns(read_records(path), ("query", "agent", "criterion", "grade")):
        query, agent = record.needed_key("query"), record.needed_key("agent")
        if query not in ids:
            raise record.wrong("query", f"{query!r} is no query of the tournament")
        if agent not in agents:
            raise record.wrong("agent", f"{agent!r} is no agent of the plan")
        if not isfinite(grade := as_number(text := record.needed("grade"))):
            raise record.wrong("grade", f"is {text!r}; expected a number")
        grades_of.setdefault(record.needed("criterion"), {}).setdefault((ids[query], agent), []).append(grade)
    return {
        criterion: {name: fmean(grades) for name, grades in own.items()}
        for criterion, own in grades_of.items()
    }


def evaluator_grades(results: Path, queries: Mapping[str, str]) -> dict[tuple[str, str], Grades]:
    """The grades that evaluators gave answers, by evaluator and criterion; the mean over the battles."""
    ids = {text: name for name, text in queries.items()}
    grades_of: dict[tuple[str, str], dict[AnswerOf, list[float]]] = {}
    with results.open(encoding="utf-8") as lines:
        for line in lines:
            battle = BattleRow.model_validate_json(line)
            for name, grade in (
                (grading.evaluator, grade) for grading in battle.gradings for grade in grading.grades
            ):
                if grade.subject is SubjectKind.ANSWER and grade.value is not None and battle.query in ids:
                    answer = (ids[battle.query], battle.answer(grade.sides[0]).system)
                    grades_of.setdefault((name, grade.criterion), {}).setdefault(answer, []).append(
                        grade.value
                    )
    return {key: {name: fmean(grades) for name, grades in own.items()} for key, own in grades_of.items()}


def compared(
    ours: Mapping[tuple[str, str], Grades], experts: Mapping[str, Grades]
) -> Iterator[ExpertAgreement]:
    """The agreement of every evaluator with experts on the criteria that both have."""
    for (evaluator, criterion), grades in ours.items():
        theirs = experts.get(criterion)
        both = [name for name in theirs or () if name in grades]
        if theirs is None or not both:
            continue
        first, second = [grades[name] for name in both], [theirs[name] for name in both]
        yield ExpertAgreement(
            evaluator=evaluator,
            criterion=criterion,
            answers=len(both),
            alone=len(theirs) - len(both),
            grades=list(zip(both, first, second, strict=True)),
            tau=kendall(first, second),
            rho=spearman(first, second),
            t=paired_t(first, second),
            limits=bland_altman(first, second) if len(both) > 2 else None,
        )


def experts_table(agreements: Sequence[ExpertAgreement], experts: Mapping[str, Grades]) -> Table:
    """One row per evaluator and criterion; bias and limits are in the unit of the grades."""
    rows = tuple(
        (
            agreement.evaluator,
            agreement.criterion,
            agreement.answers,
            None if agreement.tau is None else agreement.tau.coefficient,
            None if agreement.rho is None else agreement.rho.coefficient,
            None if agreement.limits is None else agreement.limits.bias,
            None if agreement.limits is None else (agreement.limits.low, agreement.limits.high),
            *((None, None) if agreement.t is None else (agreement.t.statistic, agreement.t.p_value)),
        )
        for agreement in agreements
    )
    missing = sorted(set(experts) - {agreement.criterion for agreement in agreements})
    alone = sum(agreement.alone for agreement in agreements)
    notes = (
        "bias: evaluator minus experts (Bland and Altman); t: paired",
        *(
            [f"{many(alone, 'grade')} of experts on answers that the evaluator did not grade"]
            if alone
            else []
        ),
        *(
            [f"no evaluator graded {', '.join(missing)}: declare one with NUGGETSTREAM_EVALUATORS"]
            if missing
            else []
        ),
    )
    return Table("Evaluators and experts", EXPERT_COLUMNS, rows, notes)


def expert_grades(agreements: Sequence[ExpertAgreement]) -> list[dict[str, str | float]]:
    """A row per evaluator, criterion and answer that both it and experts graded."""
    return [
        {"evaluator": agreement.evaluator, "criterion": agreement.criterion, "query": query, "agent": agent}
        | {"grade": ours, "expert_grade": theirs}
        for agreement in agreements
        for (query, agent), ours, theirs in agreement.grades
    ]
