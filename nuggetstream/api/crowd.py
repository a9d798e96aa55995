"""Labels of a crowd from a file, a DataFrame or rows: agreement, gold labels, competence, grades."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from nuggetstream.api.sources import Rows, in_python, names_of, reject_unknown, rows_of
from nuggetstream.api.votes import where_of
from nuggetstream.crowd.arms import ArmStudy, compare_arms
from nuggetstream.crowd.contrasts import GroupComparison, compare_groups, grouped_grades
from nuggetstream.crowd.grades import REGULARISATION, TIE
from nuggetstream.crowd.learning import CompetenceOptions
from nuggetstream.crowd.scale import ScaleOptions
from nuggetstream.crowd.study import CrowdOptions, CrowdStudy, study_labels
from nuggetstream.crowd.topic_grades import TopicGrades, grade_topics
from nuggetstream.domain.inputs import VALUES, Kind, check_kind
from nuggetstream.domain.worker_label import shortest_form
from nuggetstream.files.arm_labels import arms_of
from nuggetstream.files.pair_labels import PairColumns, pair_labels_of
from nuggetstream.files.worker_labels import LabelColumns, worker_labels_of
from nuggetstream.statistics.krippendorff import Level

Order = Sequence[object] | Mapping[str, Sequence[object]]


class LabelNames(TypedDict, total=False):
    """Columns of labels; one that is not named is found by its usual names.

    Attributes:
        item: Column, or columns, that name the item.
        worker: Worker who gave the label.
        label: Labels; several columns are one dimension each.
        dimension: Dimension of the label.
        spam: Probability that the label is spam, estimated elsewhere.
        sides: Answer shown first and answer shown second; together they name the item.
        position: Position of the item in its worker's session.
        where: Only rows with these values in these columns.
        missing: Further values that mean that there is no label; NA and its like do beside known labels.
    """

    item: str | Sequence[str]
    worker: str
    label: str | Sequence[str]
    dimension: str
    spam: str
    sides: tuple[str, str]
    position: str
    where: Mapping[str, object]
    missing: Iterable[object]


@in_python
def crowd_agreement(
    labels: Rows,
    *,
    order: Order = (),
    level: Level | str | None = None,
    spam_limit: float = CompetenceOptions().limit,
    restarts: int = CompetenceOptions().restarts,
    iterations: int = CompetenceOptions().iterations,
    seed: int = CompetenceOptions().seed,
    **columns: Unpack[LabelNames],
) -> CrowdStudy:
    """What the labels of a crowd tell: Krippendorff's alpha, gold labels, and the competence of workers.

    α = 1 - D_observed / D_expected, of all labels, and of those by workers who are no spammers according to
    MACE.

    Args:
        labels: Path of a file, a DataFrame, or rows: dictionaries, or tuples (item, worker, label). One row
            is one label; or one item with a column of labels per worker, or with a list of workers and a list
            NAME_vote per dimension.
        order: Every label in ascending order, for all dimensions or by dimension. Numbers have an order, and
            so have a, tie, b.
        level: "nominal", "ordinal", "interval" or "ratio"; by default ordinal where the order is known, else
            nominal.
        spam_limit: Probability of spam above which the labels of a worker are dropped.
        restarts: Number of random starts of MACE, whose results are averaged.
        iterations: Maximum number of iterations per start.
        seed: Seed of the random starts.
        columns: Columns with unusual names and which rows to read, see `LabelNames`.

    Returns:
        Agreement per dimension, at most 1, higher is better, 0 is chance; the labels and workers behind it.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        UnusableLabels: The labels do not fit `order` or `level`.

    Source: Krippendorff, "Content Analysis", 2004; Hovy et al., "Learning Whom to Trust with MACE", 2013.

    >>> votes = [("tide", "ann", 2), ("tide", "ben", 2), ("reef", "ann", 0), ("reef", "ben", 0)]
    >>> crowd_agreement(votes, restarts=1).mean_alpha("agreement")
    1.0
    """
    path, records = rows_of(labels, ("item", "worker", "label"), argument="labels")
    named = _labels(order)
    known = frozenset(label for ascending in named.values() for label in ascending)
    read = worker_labels_of(path, records, replace(_columns(columns), known=known))
    options = CrowdOptions(
        scale=ScaleOptions(named, None if level is None else Level(level)),
        competence=CompetenceOptions(limit=spam_limit, restarts=restarts, iterations=iterations, seed=seed),
    )
    return study_labels(read.dimensions, options, unlabelled=read.unlabelled, remarks=read.remarks)


@in_python
def crowd_grades(
    labels: Rows,
    *,
    topic: str | None = None,
    sides: tuple[str, str] | None = None,
    label: str | Sequence[str] = (),
    dimension: str | None = None,
    regularisation: float = REGULARISATION,
    tie: float = TIE,
    where: Mapping[str, object] | None = None,
    missing: Iterable[object] = (),
) -> TopicGrades:
    """Merits and grades of the items of every topic, from labels that compare two items.

    P(i > j) = e^i / (e^i + e^(j + t)): a tie-aware Bradley-Terry model per topic and dimension.

    Args:
        labels: Path of a file, a DataFrame, or rows: dictionaries, or tuples (first item, second item,
            label). A label is a (the first is better), b (the second), or n or tie (neither).
        topic: Column of the topic.
        sides: Columns of the first and of the second item.
        label: Column of labels; several columns are one dimension each.
        dimension: Column of the dimension.
        regularisation: λ, above 0: wins and losses of every item against a dummy item.
        tie: t, above 0: how close two merits must be for a tie.
        where: Only rows with these values in these columns.
        missing: Further values that mean that there is no label.

    Returns:
        A merit and a grade per item, higher is better.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        ValueError: A parameter is not above 0.

    Source: Rao and Kupper, 1967; Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", 2025.

    >>> pairs = [("x", "y", "a"), ("y", "z", "tie"), ("x", "z", "a")]
    >>> [(item.item, item.grade) for item in crowd_grades(pairs).items]
    [('x', 3), ('y', 2), ('z', 1)]
    """
    path, records = rows_of(labels, ("response_a", "response_b", "label"), argument="labels")
    columns = PairColumns(
        topic=topic,
        sides=sides,
        labels=names_of("label", label),
        dimension=dimension,
        where=where_of(where),
        missing=frozenset(names_of("missing", missing)),
    )
    read = pair_labels_of(path, records, columns)
    return grade_topics(
        read.labels,
        regularisation=regularisation,
        tie=tie,
        unlabelled=read.unlabelled,
        remarks=read.remarks,
    )


@in_python
def crowd_compare(
    grades: Rows,
    *,
    by: str,
    within: str | None = None,
    items: Rows | None = None,
    text: str | None = None,
) -> GroupComparison:
    """Compare the grades of groups of items, and correlate dimensions.

    Args:
        grades: Path of a file, a DataFrame such as `crowd_grades(...).to_frame()`, or dictionaries with item
            and grade, and perhaps topic and dimension.
        by: Column of the group of an item.
        within: Column whose values are compared apart from each other.
        items: Path, DataFrame or dictionaries with item and these columns; by default grades have them.
        text: Column of the texts of items, to be compared with the best one of their topic; None for none.

    Returns:
        Wilcoxon tests of every two groups, paired by topic and adjusted by Benjamini-Hochberg;
        `means_table()`, `dimensions_table()` with Kendall's tau-b within topics, and with texts
        `references_table()` with Spearman's rho of BLEU and ROUGE-L.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.

    Source: Wilcoxon, 1945; Benjamini and Hochberg, 1995; Kendall, 1945.

    >>> rows = [{"item": g, "topic": t, "grade": n, "kind": g} for t in "uvw" for n, g in enumerate("ab")]
    >>> crowd_compare(rows, by="kind").contrasts[0].p_value
    0.25
    """
    _, described = rows_of(items, (), "items") if items is not None else (None, ())
    _, graded = rows_of(grades, (), "grades")
    return compare_groups(*grouped_grades(graded, by, within, described, text))


@in_python
def crowd_arms(
    arms: Mapping[str, Rows],
    *,
    gold: Rows | None = None,
    by: str | None = None,
    **columns: Unpack[LabelNames],
) -> ArmStudy:
    """How far people, experts, a judge and ratings of single answers agree, with gold labels and each other.

    Args:
        arms: Name -> path of a file, a DataFrame, or rows, as `crowd_agreement` takes them. Rows without a
            column of workers are by one.
        gold: Gold labels in a column gold, such as those of `gold_table()`, or in columns NAME_gold.
        by: Column each of whose values is an arm of its own.
        columns: Columns with unusual names, see `LabelNames`; each counts in the arms that have it.

    Returns:
        Alpha of every arm by dimension, at most 1, and its mean; `across_table()` has that of every two arms.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025, Table 9.

    >>> people, judge = [("tide", "ann", "a"), ("reef", "ann", "b")], [("tide", "m", "a"), ("reef", "m", "b")]
    >>> crowd_arms({"people": people, "judge": judge}).across[0].alpha
    1.0
    """
    cells = ("item", "worker", "label")
    check_kind("arms", arms, (Kind.MAPPING,), "a path, a DataFrame or rows by the name of the arm")
    sources = {name: rows_of(rows, cells, name) for name, rows in arms.items()}
    golden = None if gold is None else rows_of(gold, (), "gold")
    remarks: list[str] = []
    return compare_arms(*arms_of(sources, golden, _columns(columns), by, remarks), remarks)


def _columns(given: LabelNames) -> LabelColumns:
    reject_unknown(given, LabelNames)
    return LabelColumns(
        items=names_of("item", given.get("item", ())),
        worker=given.get("worker"),
        labels=names_of("label", given.get("label", ())),
        dimension=given.get("dimension"),
        spam=given.get("spam"),
        sides=given.get("sides"),
        position=given.get("position"),
        where=where_of(given.get("where")),
        missing=frozenset(names_of("missing", given.get("missing", ()))),
    )


def _labels(order: Order) -> dict[str, tuple[str, ...]]:
    """Dimension -> its labels; under "" those of every other dimension."""
    check_kind("order", order, VALUES | {Kind.MAPPING}, "every label in ascending order, in a list")
    named = order if isinstance(order, Mapping) else {"": list(order)} if len(order) else {}
    for labels in named.values():
        check_kind("order", labels, VALUES, "every label in ascending order, in a list")
    return {name: tuple(shortest_form(str(one)) for one in labels) for name, labels in named.items()}
