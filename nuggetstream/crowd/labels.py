"""What a crowd's votes say together: gold labels, grades per topic, and which systems differ."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.crowd.ballot import Ballots
from nuggetstream.crowd.grades import Comparison, grades, merits
from nuggetstream.crowd.mace import Competence, mace
from nuggetstream.domain.battle import Vote
from nuggetstream.files.crowdrag import DIMENSIONS, FORCED_CHOICE, ORDINAL, Judged, RatedPair
from nuggetstream.statistics.paired import benjamini_hochberg, wilcoxon

STYLES = ("bullet", "essay", "news")


@dataclass(frozen=True, slots=True)
class Graded:
    """The answers of one topic in one dimension.

    Attributes:
        merit: answer -> merit in logits, higher is better.
        grade: answer -> 1 (worst) to the number of answers.
    """

    merit: Mapping[str, float]
    grade: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Contrast:
    """Human against LLM answers of one style in one dimension, paired by topic.

    Attributes:
        topics: in which both kinds have a grade.
        p_value: Wilcoxon, two-sided; None where no topic differs.
        adjusted: Benjamini-Hochberg over all contrasts with a p-value.
        mean_difference: of the grades, human minus LLM; None without topics.
    """

    topics: int
    p_value: float | None
    adjusted: float | None
    mean_difference: float | None

    def significant(self, rate: float = 0.05) -> bool:
        """Whether the difference is a discovery at this false discovery rate."""
        return self.adjusted is not None and self.adjusted < rate


def competence(
    questionnaires: Sequence[Judged], rng: np.random.Generator, *, restarts: int = 20
) -> dict[str, Competence]:
    """Dimension -> MACE on every answer to every questionnaire.

    All answers, not the five kept per pair: the published labels come from them, and a worker's
    competence shows in every answer given.
    """
    return {name: mace(_ballots(questionnaires, name), rng, restarts=restarts) for name in DIMENSIONS}


def topic_grades(pairs: Sequence[RatedPair], dimension: str) -> dict[str, Graded]:
    """Topic -> grades of its answers, from the gold labels of one dimension."""
    by_topic: dict[str, list[RatedPair]] = defaultdict(list)
    for rated in pairs:
        by_topic[rated.topic].append(rated)
    return {topic: _graded(rated, dimension) for topic, rated in by_topic.items()}


def human_against_llm(
    published: Mapping[str, Mapping[str, int]], systems: Mapping[str, tuple[str, str]]
) -> dict[tuple[str, str], Contrast]:
    """(dimension, style) -> human against LLM grades, adjusted over all of them.

    Args:
        published: answer -> dimension -> grade within its topic.
        systems: answer -> (topic, "human-essay" and the like); answers not named here are left out.
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


def _ballots(questionnaires: Sequence[Judged], dimension: str) -> Ballots:
    labels = [label for label in ORDINAL if label is not Vote.TIE or dimension not in FORCED_CHOICE]
    votes = [
        (judged.pair, judged.by, judged.labels[dimension])
        for judged in questionnaires
        if dimension in judged.labels
    ]
    return Ballots.collect(votes, labels)


def _graded(pairs: Sequence[RatedPair], dimension: str) -> Graded:
    # Where nothing else decides, the later name is higher: names in descending order.
    names = sorted({name for rated in pairs for name in rated.pair}, reverse=True)
    place = {name: index for index, name in enumerate(names)}
    comparisons = []
    for rated in pairs:
        a, b = (place[name] for name in rated.pair)
        label = rated.gold[dimension]
        winner, loser = (b, a) if label is Vote.B else (a, b)
        comparisons.append(Comparison(winner, loser, tie=label is Vote.TIE))
    found = merits(comparisons, len(names))
    merit = {name: float(found[index]) for name, index in place.items()}
    return Graded(merit, grades(names, found, comparisons))
