"""Preference, agreement and crowd votes: F1-F3, F14-F19, F22.

Sources: Sharifymoghaddam et al., "Search Arena Meets Nuggets", 2025 (arXiv:2504.20006); Gienapp et al.,
"The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025; the LFQA ratings of
gokamoda/lfqa-weighted-eval.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nuggetstream.crowd.agreement import (
    crowd_alpha,
    differentiable,
    judge_and_gold_alpha,
    judged_alpha,
    mean,
)
from nuggetstream.crowd.grades import same_order
from nuggetstream.crowd.labels import competence, human_against_llm, topic_grades
from nuggetstream.fidelity.row import Row, near
from nuggetstream.files import crowdrag
from nuggetstream.files.crowdrag_authors import read_authors
from nuggetstream.statistics.agreement import weighted_kappa
from nuggetstream.statistics.inversions import inversions
from nuggetstream.statistics.krippendorff import alpha
from nuggetstream.statistics.ranks import kendall, spearman

_SEED = 2025
_GOLD_AGREEMENT = 0.88
_SAME_GRADES = 449
# (dimension, style) in which human and LLM answers are not significantly different.
_NOT_SIGNIFICANT = {
    ("coherence_logical", "essay"),
    ("coverage_broad", "news"),
    ("coverage_deep", "news"),
    ("coverage_deep", "bullet"),
}
# LFQA: field, possible values, published alpha.
_LFQA = (
    ("factuality", (0, 1, 2, 3), 0.284),
    ("amountInfo", (-1, 0, 1), 0.523),
    ("formality", (-1, 0, 1), 0.396),
    ("acceptability", (0, 1, 2, 3), 0.467),
)


def rows(data: Path) -> list[Row]:
    """The rows of this module, in order.

    Args:
        data: the folder of recorded data.
    """
    crowd = data / "crowdrag25"
    pairs = crowdrag.read_ratings(crowd)
    verdicts = crowdrag.without_retries(crowdrag.read_llm_ratings(crowd))
    return [
        *_search_arena(json.loads((data / "search_arena_nuggets" / "published.json").read_text("utf-8"))),
        *_counts(pairs, verdicts),
        *_crowd_agreement(pairs, crowdrag.read_experts(crowd)),
        *_judge_agreement(pairs, verdicts),
        _grades(pairs, crowdrag.read_grades(crowd)),
        _human_against_llm(crowd),
        *_gold(pairs, crowdrag.read_questionnaires(crowd)),
        *_lfqa(data / "lfqa" / "mturk_ratings.jsonl"),
    ]


def _search_arena(published: Mapping[str, Any]) -> Iterator[Row]:
    everywhere = _table(published["confusion_all_score_threshold_0.07"]["rows_human_preference"])
    kappa = weighted_kappa(everywhere[:3])  # without the "both bad" row
    yield _close("F1", "weighted kappa, human vs nugget", 0.30, kappa, 0.005)
    for language, percent in (("english", 17), ("german", 20)):
        share = inversions(_table(published[f"confusion_{language}"])).share
        yield _equal("F2", f"inversions, {language}, percent", percent, round(100 * (share or 0)))
    boards = published["leaderboards_bradley_terry"]
    for lens, tau, rho in (("nugget", 0.71, 0.88), ("judge", 0.64, 0.79)):
        by_rank = (boards["human_rank"], boards[f"{lens}_rank"])
        for name, target, found in (("tau", tau, kendall(*by_rank)), ("rho", rho, spearman(*by_rank))):
            value = found.coefficient if found else None
            yield _close("F3", f"{name} of leaderboards, {lens} vs human", target, value, 0.005)


def _counts(pairs: Sequence[crowdrag.RatedPair], verdicts: crowdrag.Verdicts) -> Iterator[Row]:
    votes = sum(len(given) for rated in pairs for given in rated.votes.values())
    labels = sum(len(verdict.labels) for group in verdicts.values() for verdict in group)
    yield _equal("F14", "pairs", 1352, len(pairs))
    yield _equal("F14", "topics", 65, len({rated.topic for rated in pairs}))
    yield _equal("F14", "human votes", 47_320, votes)
    yield _equal("F14", "LLM votes without retries", 10_556, labels)


def _crowd_agreement(
    pairs: Sequence[crowdrag.RatedPair], experts: Sequence[crowdrag.Judged]
) -> Iterator[Row]:
    split = differentiable(pairs)
    easy = [rated for rated in pairs if rated.pair in set(split.differentiable)]
    seen = {expert.pair for expert in experts}
    by_pair = defaultdict(list)
    for expert in experts:
        by_pair[expert.pair].append(expert)
    yield _equal("F15", "differentiable pairs", 1062, len(easy))
    for what, published, ours in (
        ("all votes", 0.19, crowd_alpha(pairs)),
        ("competence-corrected", 0.41, crowd_alpha(pairs, corrected=True)),
        ("differentiable pairs", 0.27, crowd_alpha(easy)),
        ("differentiable, corrected", 0.48, crowd_alpha(easy, corrected=True)),
        ("minimally differentiable", -0.07, crowd_alpha([p for p in pairs if p.pair in seen])),
        ("experts on those", 0.03, judged_alpha(by_pair.values(), as_shown=True)),
    ):
        yield _close("F15", f"alpha, {what}", published, mean(ours), 0.01)


def _judge_agreement(pairs: Sequence[crowdrag.RatedPair], verdicts: crowdrag.Verdicts) -> Iterator[Row]:
    modes = {mode: {p: group for (m, p), group in verdicts.items() if m == mode} for mode in crowdrag.MODES}
    for mode, published in zip(crowdrag.MODES, (0.65, 0.76), strict=True):
        found = mean(judged_alpha(modes[mode].values()))
        yield _close("F16", f"alpha, both orders of {mode}", published, found, 0.01)
    for mode, published in zip(crowdrag.MODES, (0.32, 0.26), strict=True):
        found = mean(judge_and_gold_alpha(modes[mode].values(), pairs))
        yield _close("F16", f"alpha, {mode} vs human", published, found, 0.01)
    # The first verdict of one mode meets the first of the other, whichever order each was asked in.
    combined, individual = (modes[mode] for mode in crowdrag.MODES)
    met = [two for p in combined for two in zip(combined[p], individual[p], strict=True)]
    yield _close("F16", "alpha, combined vs individual", 0.46, mean(judged_alpha(met)), 0.01)


def _grades(pairs: Sequence[crowdrag.RatedPair], published: Mapping[str, Mapping[str, int]]) -> Row:
    # Some cells hold two answers of exactly the same merit; their published order is arbitrary.
    identical, cells, tied = 0, 0, True
    for dimension in crowdrag.DIMENSIONS:
        for found in topic_grades(pairs, dimension).values():
            theirs = {name: published[name][dimension] for name in found.merit}
            identical, cells = identical + (found.grade == theirs), cells + 1
            tied = tied and same_order(theirs, found.merit)
    ours = f"{identical} of {cells}, the rest {'tied' if tied else 'NOT tied'}"
    passed = identical >= _SAME_GRADES and cells == 455 and tied
    return Row(
        "F17", "identical grades per topic", "455 of 455", ours, f"≥ {_SAME_GRADES}, rest tied", passed
    )


def _human_against_llm(crowd: Path) -> Row:
    found = human_against_llm(crowdrag.read_grades(crowd), read_authors(crowd))
    ours = {key for key, contrast in found.items() if not contrast.significant()}
    topics = max(contrast.topics for contrast in found.values())
    what = f"human vs LLM grades, not significant, {topics} of 65 topics"
    return Row("F18", what, _cells(_NOT_SIGNIFICANT), _cells(ours), "exact", ours == _NOT_SIGNIFICANT)


def _gold(pairs: Sequence[crowdrag.RatedPair], questionnaires: Sequence[crowdrag.Judged]) -> Iterator[Row]:
    found = competence(questionnaires, np.random.default_rng(_SEED))
    for dimension, learned in found.items():
        gold = learned.gold
        share = sum(gold[rated.pair] is rated.gold[dimension] for rated in pairs) / len(pairs)
        passed = share >= _GOLD_AGREEMENT
        yield Row("F19", f"MACE gold, {dimension}", "1.000", f"{share:.3f}", f"≥ {_GOLD_AGREEMENT}", passed)


def _lfqa(path: Path) -> Iterator[Row]:
    ratings = defaultdict(list)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            rating = json.loads(line)
            ratings[rating["answer_id"]].append(rating)
    for field, domain, published in _LFQA:
        found = alpha([[rating[field] for rating in group] for group in ratings.values()], domain)
        yield _close("F22", f"human alpha, {field}", published, found, 0.01)


def _table(confusion: Mapping[str, Any]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([confusion[row] for row in ("model_a", "tie", "model_b", "tie_bothbad")], dtype=float)


def _cells(cells: set[tuple[str, str]]) -> str:
    return ", ".join(sorted(f"{dimension}/{style}" for dimension, style in cells))


def _close(id_: str, what: str, published: float, ours: float | None, tolerance: float) -> Row:
    if ours is None:
        return Row(id_, what, f"{published:.2f}", "no answer", f"±{tolerance:g}", passed=False)
    return near(id_, what, published, ours, tolerance=tolerance)


def _equal(id_: str, what: str, published: int, ours: int) -> Row:
    return Row(id_, what, f"{published:,}", f"{ours:,}", "exact", ours == published)
