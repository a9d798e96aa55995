"""Rubrics from files or plain values: cover, labels, checks, runs and leaderboards."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TypeAlias, cast

from nuggetstream.api.passages import Passages, Qrels, graded_of, labels_of
from nuggetstream.api.rankings import Runs, rankings_of_runs
from nuggetstream.api.sources import in_python, names_of, path_of
from nuggetstream.domain.inputs import Kind, NotAccepted, check_kind, is_mark, is_missing, kind_of, type_named
from nuggetstream.files.record import as_number
from nuggetstream.files.rubric import read_bank
from nuggetstream.rubric.agreeing import GradeAgreement, Grouping, agree
from nuggetstream.rubric.checking import Check, Limits, check
from nuggetstream.rubric.correlating import Comparison, compare
from nuggetstream.rubric.cover import Unanswerable
from nuggetstream.rubric.covering import Coverage, cover
from nuggetstream.rubric.graded import Graded, load_checked
from nuggetstream.rubric.labelling import By, LabelledPassages, label
from nuggetstream.rubric.leaderboards import Column, read_side
from nuggetstream.rubric.measuring import USUAL_MEASURES, RunsMeasured, measure_runs
from nuggetstream.rubric.scoring import Labels, Scoring
from nuggetstream.rubric.verification import HIGH_GRADE, NOT_RELEVANT, RELEVANT

Side: TypeAlias = str | Path | Mapping[str, float] | Labels
_SIDE = "system -> score, or the path of a leaderboard or of a qrels file"


@in_python
def rubric_cover(
    graded: Passages,
    *,
    runs: Runs | None = None,
    k: int = 20,
    min_grade: int = 3,
    unanswerable: Unanswerable | str = Unanswerable.LEFT_OUT,
    alpha: float | None = None,
    prompt_class: str | None = None,
) -> Coverage:
    """Cover@k of every system: the share of each query's questions that its first k passages answer.

    Args:
        graded: Path of a graded file; or one row per grade with `query`, `passage`, `item` and `grade` (0 to
            5), as a DataFrame, dictionaries or tuples; or `GradedPassage`s.
        runs: Rankings of the passages, where `graded` holds none: run -> query -> passages, best first, or
            paths of TREC run files.
        k: Depth of the top.
        min_grade: Lowest grade at which a question counts as answered, 1 to 5.
        unanswerable: How n-EXAM counts a query in which no passage answers anything: "left-out" or "zero".
        alpha: Also compute α-nDCG with this α, in [0, 1]; 0.5 is usual.
        prompt_class: Which grades of a file to take, where passages carry several sets.

    Returns:
        Cover and n-EXAM per system, in [0, 1], higher is better, with standard errors; best first.
        `per_query()`, `pair(first, second)` (paired tests) and `without_each()`, which leaves out each
        question alone, give more tables.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        NothingToCover: No item was graded.
        ValueError: `alpha` is not in [0, 1].

    Source: Dietz, "A Workbench for Autograding Retrieve/Generate Systems", SIGIR 2024 (arXiv:2405.13177);
    Clarke et al., SIGIR 2008 (α-nDCG).

    >>> rows = [("q1", "p1", "why", 5), ("q1", "p1", "when", 0), ("q1", "p2", "when", 4)]
    >>> rubric_cover(rows, runs={"x": {"q1": ["p1", "p2"]}}, k=1).to_frame()["cover"].to_list()
    [0.5]
    """
    return cover(graded_of(graded, runs, prompt_class), k, min_grade, Unanswerable(unanswerable), alpha)


@in_python
def rubric_qrels(
    graded: Passages, *, by: By | str = By.MAX, min_grade: int | None = None, prompt_class: str | None = None
) -> LabelledPassages:
    """Relevance labels of graded passages, as a qrels file holds them.

    Args:
        graded: As for `rubric_cover`.
        by: "max" takes the best grade of a passage, "count" the number of questions it answers.
        min_grade: Lowest grade at which a question is answered; a best grade below it becomes 0.
        prompt_class: Which grades of a file to take, where passages carry several sets.

    Returns:
        One label per graded passage, higher is more relevant.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        NoMinimum: Answered questions are to be counted and there is no `min_grade`.
        NoLabel: No passage has a grade.

    >>> [row.label for row in rubric_qrels([("q1", "p1", "why", 5), ("q1", "p2", "why", 1)]).labels]
    [5, 1]
    """
    return label(graded_of(graded, None, prompt_class), By(by), min_grade)


@in_python
def rubric_verify(
    graded: Passages,
    labels: Qrels | None = None,
    *,
    bank: str | Path | None = None,
    min_grade: int = HIGH_GRADE,
    relevant: int = RELEVANT,
    not_relevant: int = NOT_RELEVANT,
    prompt_class: str | None = None,
) -> Check:
    """Where grades, checks and assessors contradict each other, and which questions tell nothing.

    Args:
        graded: As for `rubric_cover`, with the `judgment` of an assessor on every passage that has one.
        labels: Path of a qrels file, rows (query, passage, label), or query -> passage -> label, in place of
            the judgments of the passages.
        bank: Path of the bank, whose texts the page and the tables show.
        min_grade: Lowest grade at which an answer is good.
        relevant: Lowest judgment that means relevant.
        not_relevant: Highest judgment that means not relevant.
        prompt_class: Which grades of a file to take, where passages carry several sets.

    Returns:
        Questions that passages judged not relevant answer well, relevant passages that answer none, good
        grades that a check of a graded file contradicts, and questions that all passages answer or none.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        ValueError: A judgment would mean both relevant and not relevant.

    >>> rows = [{"query": "q1", "passage": "p1", "item": "why", "grade": 5, "judgment": 0}]
    >>> rubric_verify(rows).spurious["q1"][0].item
    'why'
    """
    checks: Mapping[str, Graded] = {}
    if kind_of(graded) is Kind.PATH:
        graded, checks = load_checked(path_of("graded", graded, "a graded file"), prompt_class)
    return check(
        graded_of(graded, None, prompt_class),
        Limits(min_grade, relevant, not_relevant),
        read_bank(path_of("bank", bank, "a question bank")) if bank is not None else (),
        checks,
        None if labels is None else labels_of(labels).rows,
    )


@in_python
def rubric_agree(
    graded: Passages,
    labels: Qrels | None = None,
    *,
    min_grade: int = HIGH_GRADE,
    min_answers: int = 1,
    relevant: int = RELEVANT,
    ungrouped: bool = False,
    prompt_class: str | None = None,
) -> GradeAgreement:
    """How the best grade of each passage agrees with its relevance label: counts and Cohen's kappa.

    Args:
        graded: As for `rubric_cover`.
        labels: Path of a qrels file, rows (query, passage, label), or query -> passage -> label; None for the
            judgments that the passages carry.
        min_grade: Lowest grade that counts as relevant.
        min_answers: Number of questions of a passage that have to reach a grade.
        relevant: Lowest label that means relevant.
        ungrouped: Count every grade against every label instead, without kappa.
        prompt_class: Which grades of a file to take, where passages carry several sets.

    Returns:
        Counts, and kappa in [-1, 1], higher is better.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        NothingInCommon: No passage has both a grade and a label.

    Source: Cohen, 1960.

    >>> rows = [("q1", "p1", "why", 5), ("q1", "p2", "why", 0)]
    >>> rubric_agree(rows, {"q1": {"p1": 3, "p2": 0}}).counts.kappas
    (1.0, 1.0)
    """
    grouping = Grouping(minimum=min_grade, relevant=relevant, ungrouped=ungrouped, answers=min_answers)
    given_labels = None if labels is None else labels_of(labels)
    return agree(graded_of(graded, None, prompt_class), given_labels, grouping)


@in_python
def rubric_measure(
    qrels: Qrels, runs: Runs, *, measures: Sequence[str] = USUAL_MEASURES, fuse: bool = False
) -> RunsMeasured:
    """How good rankings are by relevance labels, as trec_eval measures them.

    Args:
        qrels: Path of a qrels file, rows (query, document, label), or query -> document -> label.
        runs: Run -> query -> documents, best first, or -> document -> score; or paths of TREC run files.
        measures: Names in ir_measures, such as "nDCG@10".
        fuse: Also measure the reciprocal rank fusion of all runs.

    Returns:
        Means over all queries with labels, higher is better, with standard errors.

    Raises:
        UnusableFile: A line or row cannot be used; the message names it and its field.
        NoMeasure: A measure cannot be computed from these labels and rankings.
        NoQueryInCommon: A run ranks no query with labels.

    Source: Cormack et al., 2009 (the fusion).

    >>> found = rubric_measure({"q1": {"d1": 1, "d2": 0}}, {"x": {"q1": ["d2", "d1"]}}, measures=["RR@10"])
    >>> found.runs[0].means["RR@10"].mean
    0.5
    """
    return measure_runs(
        labels_of(qrels, "qrels"), rankings_of_runs(runs), names_of("measures", measures), fuse=fuse
    )


@in_python
def rubric_correlate(
    leaderboard: Side,
    official: Side,
    *,
    runs: Runs | None = None,
    measure: str | None = None,
    without: Iterable[str] = (),
    break_ties: bool = False,
) -> Comparison:
    """Whether two scorings put systems in the same order: Spearman's rho and Kendall's tau-b.

    Args:
        leaderboard: System -> score, or the path of a leaderboard (CSV or JSONL) or of a qrels file, whose
            labels score `runs`.
        official: The other scoring.
        runs: Rankings to be scored by labels, as for `rubric_measure`.
        measure: Measure of rankings in ir_measures; nDCG@10 by default.
        without: Systems that take no part.
        break_ties: Give the official side ranks without ties, as trec_eval prints them.

    Returns:
        Coefficients in [-1, 1], 1 for the same order, and both scores of every system.

    Raises:
        UnusableFile: A line or row cannot be used; the message names it and its field.
        NothingToRank: There are labels without runs, or runs without labels.
        NoCommonOrder: Fewer than two systems are scored by both, or one side scores all alike.
        UnknownSystem: A system in `without` is on neither side.

    Source: Spearman, 1904; Kendall, 1938.

    >>> rubric_correlate({"a": 3, "b": 2, "c": 1}, {"a": 30, "b": 10, "c": 20}).correlation.spearman
    0.5
    """
    return compare(
        _side("leaderboard", leaderboard),
        _side("official", official),
        None if runs is None else rankings_of_runs(runs),
        measure=measure,
        left_out=names_of("without", without),
        break_ties=break_ties,
    )


def _side(argument: str, given: Side) -> Scoring | Labels:
    if isinstance(given, Labels):
        return given
    kind = check_kind(argument, given, (Kind.PATH, Kind.MAPPING, Kind.SERIES), _SIDE)
    if kind is Kind.PATH:
        return read_side(path_of(argument, given, "a leaderboard"), Column())
    if not hasattr(given, "items"):  # a column of polars, which names no systems
        raise NotAccepted(f"{argument}: is {type_named(given)}, which names no systems; expected {_SIDE}")
    by_system = cast("Mapping[str, object]", given)
    scores = {str(system): _score(f"{argument}[{system!r}]", score) for system, score in by_system.items()}
    return Scoring(
        scores={system: score for system, score in scores.items() if score is not None},
        unscored=tuple(system for system, score in scores.items() if score is None),
    )


def _score(location: str, score: object) -> float | None:
    if is_missing(score) or (isinstance(score, str) and is_mark(score)):
        return None
    number = as_number(score)
    if not isfinite(number):
        raise NotAccepted(f"{location}: is {type_named(score)}; expected a number")
    return number
