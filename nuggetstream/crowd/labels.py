"""Gold labels and grades of CrowdRAG-25, and which systems differ by them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.crowd.contrasts import Contrast, compare_groups
from nuggetstream.crowd.label_matrix import LabelMatrix
from nuggetstream.crowd.mace import Competence, mace
from nuggetstream.crowd.topic_grades import merits_and_grades
from nuggetstream.crowd.within_topics import GroupedGrade
from nuggetstream.domain.battle import Vote
from nuggetstream.files.crowdrag import DIMENSIONS, FORCED_CHOICE, ORDINAL, Judged, RatedPair
from nuggetstream.files.crowdrag_authors import STYLES


@dataclass(frozen=True, slots=True)
class Graded:
    """The answers of one topic in one dimension.

    Attributes:
        merit: Answer -> merit in logits, higher is better.
        grade: Answer -> grade from 1 (worst) to the number of answers.
    """

    merit: Mapping[str, float]
    grade: Mapping[str, int]


def competence(
    questionnaires: Sequence[Judged], rng: np.random.Generator, *, restarts: int = 20
) -> dict[str, Competence]:
    """Dimension -> MACE on every answer to every questionnaire.

    The published gold labels were learned from all answers, not from the five kept per pair: every answer
    informs about the competence of its worker.

    Args:
        questionnaires: Answers of workers.
        rng: Source of the random starts.
        restarts: Number of random starts per dimension.
    """
    return {name: mace(_label_matrix(questionnaires, name), rng, restarts=restarts) for name in DIMENSIONS}


def topic_grades(pairs: Sequence[RatedPair], dimension: str) -> dict[str, Graded]:
    """Topic -> grades of its answers, from the gold labels of one dimension."""
    by_topic: dict[str, list[RatedPair]] = defaultdict(list)
    for rated in pairs:
        by_topic[rated.topic].append(rated)
    return {topic: _graded(rated, dimension) for topic, rated in by_topic.items()}


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
            topic=topic,
            item=answer,
            grade=row[dimension],
            group=system.partition("-")[0],
            within=system.partition("-")[2],
        )
        for answer, row in published.items()
        if answer in systems
        for topic, system in (systems[answer],)
        for dimension in DIMENSIONS
    ]
    unknown = {
        (dimension, style): Contrast(
            *(dimension, style, "human", "llm"), topics=0, p_value=None, adjusted=None, mean_difference=None
        )
        for dimension in DIMENSIONS
        for style in STYLES
    }
    return unknown | {
        (contrast.dimension, contrast.within): contrast for contrast in compare_groups(rows).contrasts
    }


def _label_matrix(questionnaires: Sequence[Judged], dimension: str) -> LabelMatrix:
    labels = [label for label in ORDINAL if label is not Vote.TIE or dimension not in FORCED_CHOICE]
    entries = [
        (judged.pair, judged.by, judged.labels[dimension])
        for judged in questionnaires
        if dimension in judged.labels
    ]
    return LabelMatrix.collect(entries, labels)


def _graded(pairs: Sequence[RatedPair], dimension: str) -> Graded:
    return Graded(*merits_and_grades([(*rated.pair, rated.gold[dimension]) for rated in pairs]))
