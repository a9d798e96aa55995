"""F14 to F19: votes of a crowd, of experts and of an LLM judge on CrowdRAG-25.

Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025, and its repository.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from nuggetstream.crowd.agreement import (
    crowd_alpha,
    differentiable,
    judge_and_gold_alpha,
    judged_alpha,
    mean,
    pairs_of,
)
from nuggetstream.crowd.contrasts import Contrast
from nuggetstream.crowd.grades import same_order
from nuggetstream.crowd.labels import competence, human_against_llm, topic_grades
from nuggetstream.fidelity.row import Basis, MakeRows, Row, equal, near
from nuggetstream.files import crowdrag
from nuggetstream.files.crowdrag_authors import read_authors

_SEED = 2025
_ALPHA_TOLERANCE = 0.01
_LEAST_GOLD_AGREEMENT = 0.88
_CELLS, _LEAST_IDENTICAL = 455, 449
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
    pairs = _pairs(data)
    votes = sum(len(given) for rated in pairs for given in rated.votes.values())
    labels = sum(len(verdict.labels) for group in _verdicts(data).values() for verdict in group)
    for what, reference, ours in (
        ("pairs", 1352, len(pairs)),
        ("topics", 65, len({rated.topic for rated in pairs})),
        ("human votes", 47_320, votes),
        ("LLM votes without retries", 10_556, labels),
    ):
        yield equal("F14", what, reference, ours, basis=Basis.RECORDED)


def crowd_agreement(data: Path) -> Iterator[Row]:
    """F15: Krippendorff's alpha of crowd and experts, mean over 7 dimensions."""
    pairs, experts = _pairs(data), crowdrag.read_experts(data / "crowdrag25")
    clear = set(differentiable(pairs).differentiable)
    easy = [rated for rated in pairs if rated.pair in clear]
    by_pair = defaultdict(list)
    for expert in experts:
        by_pair[expert.pair].append(expert)
    hard = [rated for rated in pairs if rated.pair in by_pair]
    yield equal("F15", "differentiable pairs", 1062, len(easy), basis=Basis.PRINTED)
    for what, reference, ours in (
        ("all votes", 0.19, crowd_alpha(pairs)),
        ("competence-corrected", 0.41, crowd_alpha(pairs, corrected=True)),
        ("differentiable pairs", 0.27, crowd_alpha(easy)),
        ("differentiable, corrected", 0.48, crowd_alpha(easy, corrected=True)),
        ("minimally differentiable", -0.07, crowd_alpha(hard)),
        ("experts on those", 0.03, judged_alpha(by_pair.values(), as_shown=True)),
    ):
        yield _alpha("F15", what, reference, mean(ours))


def judge_agreement(data: Path) -> Iterator[Row]:
    """F16: Krippendorff's alpha of an LLM judge with itself and with the crowd.

    Beside the crowd the paper prints 0.096 and 0.099. They come out where the judge's verdicts are turned to
    one order and the gold labels are left in the order that people saw, so that half of the pairs are
    compared with the opposite. Turned alike, they agree in 0.32 and 0.26.
    """
    verdicts = _verdicts(data)
    modes = {mode: {p: group for (m, p), group in verdicts.items() if m == mode} for mode in crowdrag.MODES}
    for mode, reference in zip(crowdrag.MODES, (0.65, 0.76), strict=True):
        yield _alpha("F16", f"both orders of {mode}", reference, mean(judged_alpha(modes[mode].values())))
    for mode, reference in zip(crowdrag.MODES, (0.32, 0.26), strict=True):
        ours = mean(judge_and_gold_alpha(modes[mode].values(), _pairs(data)))
        yield _alpha("F16", f"{mode} and human", reference, ours, Basis.SECOND)
    for mode, reference in zip(crowdrag.MODES, (0.096, 0.099), strict=True):
        ours = mean(judged_alpha(_beside_golds_as_shown(modes[mode].values(), _pairs(data))))
        yield _alpha("F16", f"{mode} and human, as printed", reference, ours, digits=3)
    # The first verdict of one mode is paired with the first of the other, whichever order each was asked in.
    combined, individual = (modes[mode] for mode in crowdrag.MODES)
    paired = [two for pair in combined for two in zip(combined[pair], individual[pair], strict=True)]
    yield _alpha("F16", "combined and individual", 0.46, mean(judged_alpha(paired)))


def grades(data: Path) -> Iterator[Row]:
    """F17: recorded grades per topic and dimension."""
    recorded = crowdrag.read_grades(data / "crowdrag25")
    # Some cells hold two answers of exactly the same merit; their recorded order is arbitrary.
    identical, cells, tied = 0, 0, True
    for dimension in crowdrag.DIMENSIONS:
        for graded in topic_grades(_pairs(data), dimension).values():
            reference = {name: recorded[name][dimension] for name in graded.merit}
            identical, cells = identical + (graded.grade == reference), cells + 1
            tied = tied and same_order(reference, graded.merit)
    yield Row(
        id="F17",
        basis=Basis.RECORDED,
        what="identical grades, by topic and dimension",
        reference=f"{_CELLS} of {_CELLS}",
        ours=f"{identical} of {cells}, the rest {'tied' if tied else 'NOT tied'}",
        tolerance=f"≥ {_LEAST_IDENTICAL}, rest tied",
        passed=identical >= _LEAST_IDENTICAL and cells == _CELLS and tied,
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
        reference=f"{len(contrasts) - len(_NOT_SIGNIFICANT)} of {len(contrasts)} cells",
        ours=f"{significant} of {len(contrasts)} cells, {f'differing in {wrong}' if wrong else 'the same'}",
        tolerance="exact",
        passed=not wrong,
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
    pairs = _pairs(data)
    questionnaires = crowdrag.read_questionnaires(data / "crowdrag25")
    for dimension, learned in competence(questionnaires, np.random.default_rng(_SEED)).items():
        gold = learned.gold
        share = sum(gold[rated.pair] is rated.gold[dimension] for rated in pairs) / len(pairs)
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
def _pairs(data: Path) -> Sequence[crowdrag.RatedPair]:
    return crowdrag.read_ratings(data / "crowdrag25")


@cache
def _verdicts(data: Path) -> crowdrag.Verdicts:
    return crowdrag.without_retries(crowdrag.read_llm_ratings(data / "crowdrag25"))


def _contrasts(data: Path) -> Mapping[tuple[str, str], Contrast]:
    folder = data / "crowdrag25"
    return human_against_llm(crowdrag.read_grades(folder), read_authors(folder))


def _beside_golds_as_shown(
    groups: Iterable[Sequence[crowdrag.Judged]], pairs: Sequence[crowdrag.RatedPair]
) -> Iterator[list[crowdrag.Judged]]:
    """The verdicts on each pair with its gold labels, as if all of these were about one order."""
    ratings_of = pairs_of(pairs)
    for group in groups:
        ratings = ratings_of.get(group[0].unordered, ())
        pair = group[0].unordered
        yield [*group, *(crowdrag.Judged(rated.topic, pair, "gold", rated.gold) for rated in ratings)]


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
