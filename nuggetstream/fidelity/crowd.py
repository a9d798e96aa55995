"""F14 to F19: votes of a crowd, of experts and of an LLM judge on CrowdRAG-25.

Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025, and its repository.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from nuggetstream.crowd.arms import MEAN, Arm, ArmStudy, compare_arms
from nuggetstream.crowd.contrasts import Contrast, compare_groups
from nuggetstream.crowd.differentiability import split_by_differentiability
from nuggetstream.crowd.dimension import within_limit
from nuggetstream.crowd.grades import same_order
from nuggetstream.crowd.learning import SPAM_LIMIT, CompetenceOptions, learn
from nuggetstream.crowd.ordering import forward
from nuggetstream.crowd.reliability import alpha_of, mean
from nuggetstream.crowd.scale import ScaleOptions, scale_labels
from nuggetstream.crowd.topic_grades import ItemGrade, grade_topics
from nuggetstream.crowd.within_topics import GroupedGrade
from nuggetstream.domain.pair_label import PREFERENCES, PairLabel
from nuggetstream.domain.worker_label import JOINED, WorkerLabel
from nuggetstream.fidelity.row import Basis, MakeRows, Row, equal, near
from nuggetstream.files import crowdrag
from nuggetstream.files.arm_labels import arms_of
from nuggetstream.files.crowdrag_authors import read_authors
from nuggetstream.files.pair_labels import PairColumns, read_pair_labels
from nuggetstream.files.records import read_records
from nuggetstream.files.worker_labels import LabelColumns, read_worker_labels

_SEED = 2025
_ALPHA_TOLERANCE = 0.01
_LEAST_GOLD_AGREEMENT = 0.88
_CELLS, _LEAST_IDENTICAL = 455, 449
_CONTRASTS = 21
_JUDGE, _EXPERTS = "judge", "experts"
# (dimension, style) in which grades of human and LLM answers do not differ significantly.
_NOT_SIGNIFICANT = {
    ("coherence_logical", "essay"),
    ("coverage_broad", "news"),
    ("coverage_deep", "news"),
    ("coverage_deep", "bullet"),
}
# The same cells are significant without adjustment; this p-value is 0.0845 without it.
ADJUSTED = {("coverage_deep", "news"): 0.0951}


def counts(data: Path) -> Iterator[Row]:
    """F14: sizes of the data."""
    votes, gold, (arms, _) = _votes(data), _gold(data), _arms(data)
    of_llm = [labels for name, arm in arms.items() if name != _EXPERTS for labels in arm.values()]
    for what, reference, ours in (
        ("pairs", 1352, len({vote.item for given in votes.values() for vote in given})),
        ("topics", 65, len({label.topic for label in gold})),
        ("human votes", 47_320, sum(map(len, votes.values()))),
        ("LLM votes without retries", 10_556, sum(map(len, of_llm))),
    ):
        yield equal("F14", what, reference, ours, basis=Basis.RECORDED)


def crowd_agreement(data: Path) -> Iterator[Row]:
    """F15: Krippendorff's alpha of crowd and experts, mean over 7 dimensions."""
    votes, experts = _votes(data), _arms(data)[0][_EXPERTS]
    by_item: dict[str, dict[str, list[WorkerLabel]]] = {}
    for name, given in votes.items():
        for vote in given:
            by_item.setdefault(vote.item, {}).setdefault(name, []).append(vote)
    preferences = {
        item: {name: [PREFERENCES[vote.label] for vote in given] for name, given in dimensions.items()}
        for item, dimensions in by_item.items()
    }
    clear = set(split_by_differentiability(preferences).differentiable)
    easy = {name: [vote for vote in given if vote.item in clear] for name, given in votes.items()}
    of_experts = {label.item for labels in experts.values() for label in labels}
    hard = {name: [vote for vote in given if vote.item in of_experts] for name, given in votes.items()}
    yield equal("F15", "differentiable pairs", 1062, len(clear), basis=Basis.PRINTED)
    for what, reference, ours in (
        ("all votes", 0.19, votes),
        ("competence-corrected", 0.41, _corrected(votes)),
        ("differentiable pairs", 0.27, easy),
        ("differentiable, corrected", 0.48, _corrected(easy)),
        ("minimally differentiable", -0.07, hard),
        ("experts on those", 0.03, experts),
    ):
        yield _alpha("F15", what, reference, _mean_alpha(ours))


def judge_agreement(data: Path) -> Iterator[Row]:
    """F16: Krippendorff's alpha of an LLM judge with itself and with the crowd.

    Beside the crowd the paper prints 0.096 and 0.099. They come out where the judge's verdicts are turned to
    one order and the gold labels are left in the order that people saw, so that half of the pairs are
    compared with the opposite. Turned alike, they agree in 0.32 and 0.26.
    """
    study, (arms, gold) = _study(data), _arms(data)
    means = {row.arm: row for row in study.arms if row.dimension == MEAN}
    modes = [f"{_JUDGE} {mode}" for mode in crowdrag.MODES]
    for mode, itself, with_gold, printed in zip(
        modes, (0.65, 0.76), (0.32, 0.26), (0.096, 0.099), strict=True
    ):
        yield _alpha("F16", f"both orders of {mode}", itself, means[mode].both_orders)
        yield _alpha("F16", f"{mode} and human", with_gold, means[mode].with_gold, Basis.SECOND)
        ours = _mean_alpha({name: _beside_as_shown(arms[mode][name], gold[name]) for name in gold})
        yield _alpha("F16", f"{mode} and human, as printed", printed, ours, digits=3)
    across = next(row for row in study.across if [row.first, row.second, row.dimension] == [*modes, MEAN])
    yield _alpha("F16", "combined and individual", 0.46, across.alpha)


def grades(data: Path) -> Iterator[Row]:
    """F17: recorded grades per topic and dimension."""
    recorded = crowdrag.read_grades(data / "crowdrag25")
    cells: dict[tuple[str, str | None], list[ItemGrade]] = {}
    for item in grade_topics(_gold(data)).items:
        cells.setdefault((item.dimension, item.topic), []).append(item)
    # Some cells hold two answers of exactly the same merit; their recorded order is arbitrary.
    identical, tied = 0, True
    for (dimension, _), items in cells.items():
        reference = {item.item: recorded[item.item][dimension] for item in items}
        identical += all(item.grade == reference[item.item] for item in items)
        tied = tied and same_order(reference, {item.item: item.merit for item in items})
    yield Row(
        id="F17",
        basis=Basis.RECORDED,
        what="identical grades, by topic and dimension",
        reference=f"{_CELLS} of {_CELLS}",
        ours=f"{identical} of {len(cells)}, the rest {'tied' if tied else 'NOT tied'}",
        tolerance=f"≥ {_LEAST_IDENTICAL}, rest tied",
        passed=identical >= _LEAST_IDENTICAL and len(cells) == _CELLS and tied,
    )


def human_and_llm_grades(data: Path) -> Iterator[Row]:
    """F18: where grades of human and LLM answers differ significantly."""
    contrasts = _contrasts(data)
    ours = {cell for cell, contrast in contrasts.items() if not contrast.significant()}
    topics = max(contrast.topics for contrast in contrasts.values())
    wrong = ", ".join("/".join(cell) for cell in sorted(ours ^ _NOT_SIGNIFICANT))
    significant = len(contrasts) - len(ours)
    yield Row(
        id="F18",
        basis=Basis.PRINTED,
        what=f"human and LLM grades differ significantly, {topics} of 65 topics",
        reference=f"{_CONTRASTS - len(_NOT_SIGNIFICANT)} of {_CONTRASTS} cells",
        ours=f"{significant} of {len(contrasts)} cells, {f'differing in {wrong}' if wrong else 'the same'}",
        tolerance="exact",
        passed=not wrong and len(contrasts) == _CONTRASTS,
    )


def adjusted_p_values(data: Path) -> Iterator[Row]:
    """F18b: a p-value that adjusting for 21 tests changes."""
    contrasts = _contrasts(data)
    for cell, reference in ADJUSTED.items():
        yield near(
            "F18b",
            f"adjusted p-value, {'/'.join(cell)}",
            reference,
            contrasts[cell].adjusted,
            basis=Basis.SECOND,
            tolerance=0.002,
            digits=4,
        )


def gold_labels(data: Path) -> Iterator[Row]:
    """F19: recorded gold labels, learned again by MACE."""
    scales, labels = scale_labels(crowdrag.read_questionnaires(data / "crowdrag25"), ScaleOptions())
    for dimension, given in labels.items():
        learned = learn(given, scales[dimension].labels, CompetenceOptions(seed=_SEED))
        gold = {item.item: item.gold for item in learned.items}
        pairs = [label for label in _gold(data) if label.dimension == dimension]
        golds = [gold.get(JOINED.join((pair.first, pair.second))) for pair in pairs]
        same = [name and PREFERENCES[name] is pair.label for name, pair in zip(golds, pairs, strict=True)]
        share = sum(map(bool, same)) / len(pairs)
        yield Row(
            id="F19",
            basis=Basis.RECORDED,
            what=f"MACE gold labels, {dimension}",
            reference="1.000",
            ours=f"{share:.3f}",
            tolerance=f"≥ {_LEAST_GOLD_AGREEMENT}",
            passed=share >= _LEAST_GOLD_AGREEMENT,
        )


ROWS: Mapping[str, MakeRows] = {
    "F14": counts,
    "F15": crowd_agreement,
    "F16": judge_agreement,
    "F17": grades,
    "F18": human_and_llm_grades,
    "F18b": adjusted_p_values,
    "F19": gold_labels,
}


@cache
def _votes(data: Path) -> Arm:
    """Dimension -> the votes of people, with published probabilities of spam."""
    votes = read_worker_labels(data / "crowdrag25" / "ratings.jsonl.gz", LabelColumns()).dimensions
    return scale_labels(votes, ScaleOptions())[1]


@cache
def _gold(data: Path) -> Sequence[PairLabel]:
    return read_pair_labels(data / "crowdrag25" / "ratings.jsonl.gz", PairColumns()).labels


@cache
def _arms(data: Path) -> tuple[Mapping[str, Arm], Arm]:
    """The labels of the judge in each mode and of the experts, and the gold labels."""
    folder = data / "crowdrag25"
    read = {_JUDGE: crowdrag.read_verdicts(folder), _EXPERTS: crowdrag.read_experts(folder)}
    path = folder / "ratings.jsonl.gz"
    sources = {name: (folder / name, records) for name, records in read.items()}
    arms, gold = arms_of(sources, (path, read_records(path)), crowdrag.COLUMNS, "inference")
    return arms, gold or {}


@cache
def _study(data: Path) -> ArmStudy:
    return compare_arms(*_arms(data))


def _contrasts(data: Path) -> Mapping[tuple[str, str], Contrast]:
    folder = data / "crowdrag25"
    return human_against_llm(crowdrag.read_grades(folder), read_authors(folder))


def human_against_llm(
    published: Mapping[str, Mapping[str, int]], systems: Mapping[str, tuple[str, str]]
) -> dict[tuple[str, str], Contrast]:
    """(dimension, style) -> contrast of human and LLM grades, adjusted over all contrasts.

    Args:
        published: Answer -> dimension -> grade within its topic.
        systems: Answer -> (topic, system such as "human-essay"); other answers are left out.
    """
    rows = [
        GroupedGrade(
            dimension=dimension,
            topic=systems[answer][0],
            item=answer,
            grade=grade,
            group=systems[answer][1].partition("-")[0],
            within=systems[answer][1].partition("-")[2],
        )
        for answer, row in published.items()
        if answer in systems
        for dimension, grade in row.items()
    ]
    return {(contrast.dimension, contrast.within): contrast for contrast in compare_groups(rows).contrasts}


def _corrected(votes: Arm) -> Arm:
    return {name: within_limit(given, SPAM_LIMIT) for name, given in votes.items()}


def _mean_alpha(labels: Arm) -> float | None:
    scales, spelt = scale_labels(labels, ScaleOptions())
    return mean({name: alpha_of(given, scales[name]).value for name, given in spelt.items()})


def _beside_as_shown(verdicts: Sequence[WorkerLabel], gold: Sequence[WorkerLabel]) -> list[WorkerLabel]:
    """Verdicts turned to one order with the gold labels of their pairs, as if these were about that order."""
    turned = [forward(verdict) for verdict in verdicts]
    judged = {verdict.item for verdict in turned}
    as_shown = [replace(label, item=label.shown.name) for label in gold if label.shown]
    return [*turned, *(label for label in as_shown if label.item in judged)]


def _alpha(
    id_: str,
    what: str,
    reference: float,
    ours: float | None,
    basis: Basis = Basis.PRINTED,
    *,
    digits: int = 2,
) -> Row:
    return near(
        id_, f"alpha, {what}", reference, ours, basis=basis, tolerance=_ALPHA_TOLERANCE, digits=digits
    )
