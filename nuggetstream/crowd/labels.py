"""Gold labels and grades of CrowdRAG-25, and which systems differ by them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.crowd.label_matrix import LabelMatrix
from nuggetstream.crowd.mace import Competence, mace
from nuggetstream.crowd.topic_grades import merits_and_grades
from nuggetstream.domain.battle import Vote
from nuggetstream.files.crowdrag import DIMENSIONS, FORCED_CHOICE, ORDINAL, Judged, RatedPair
from nuggetstream.statistics.paired import benjamini_hochberg, wilcoxon

STYLES = ("bullet", "essay", "news")


@dataclass(frozen=True, slots=True)
class Graded:
    """The answers of one topic in one dimension.

    Attributes:
        merit: Answer -> merit in logits, higher is better.
        grade: Answer -> grade from 1 (worst) to the number of answers.
    """

    merit: Mapping[str, float]
    grade: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Contrast:
    """Grades of human and LLM answers of one style in one dimension, paired by topic.

    Attributes:
        topics: Number of topics in which both answers have a grade.
        p_value: p-value of the two-sided Wilcoxon test; None where no topic differs.
        adjusted: p-value adjusted by Benjamini-Hochberg over all contrasts that have one.
        mean_difference: Mean of human grade minus LLM grade; None without topics.
    """

    topics: int
    p_value: float | None
    adjusted: float | None
    mean_difference: float | None

    def significant(self, rate: float = 0.05) -> bool:
        """Whether the difference is significant at this false discovery rate."""
        return self.adjusted is not None and self.adjusted < rate


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
    graded = {systems[answer]: row for answer, row in published.items() if answer in systems}
    samples = {}
    for dimension in DIMENSIONS:
        for style in STYLES:
            human, llm = f"human-{style}", f"llm-{style}"
            topics = sorted(t for t, system in graded if system == human and (t, llm) in graded)
            samples[dimension, style] = [
                (graded[t, human][dimension], graded[t, llm][dimension]) for t in topics
            ]
    tests = {key: wilcoxon([x for x, _ in rows], [y for _, y in rows]) for key, rows in samples.items()}
    adjusted = benjamini_hochberg({key: test.p_value for key, test in tests.items() if test})
    return {
        key: Contrast(
            topics=len(samples[key]),
            p_value=test.p_value if test else None,
            adjusted=adjusted.get(key),
            mean_difference=test.mean_difference if test else None,
        )
        for key, test in tests.items()
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
