"""How the grades of a panel's members become one.

    grades or an abstention per member  ->  a grade per subject and criterion

    values    the median, of an even number the lower of the two in the middle; or the value of a majority
    words     the word of a majority

What no more than half of all members graded has no grade of the panel, and neither has that on which a
majority is needed and missing. An abstention is no grade, so it is in no median.

Source: panels of several models instead of one large judge, Verga et al., "Replacing Judges with Juries",
2024; the rules are our own.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median_low

from nuggetstream.domain.grade import Grade, GradeAggregation, Subject, ValueProbability


def aggregate_grades(
    given: Sequence[Sequence[Grade]], members: int, wanted: GradeAggregation
) -> tuple[Grade, ...]:
    """The grades of the panel, in the order in which the members name the subjects.

    Args:
        given: The grades of each member that answered, in the order of the members.
        members: Number of all members.
        wanted: How values become one.

    >>> from nuggetstream.domain.grade import SubjectKind
    >>> said = [[Grade(Subject(SubjectKind.QUERY), "harmful", value)] for value in (0, 9, 10)]
    >>> [pooled] = aggregate_grades(said, 3, GradeAggregation.MEDIAN)
    >>> pooled.value
    9
    """
    by_subject: dict[tuple[Subject, str], list[Grade]] = {}
    for grades in given:
        first = {(grade.subject, grade.criterion): grade for grade in reversed(grades)}
        for key in dict.fromkeys((grade.subject, grade.criterion) for grade in grades):
            by_subject.setdefault(key, []).append(first[key])
    pooled = [_pooled(same, wanted) for same in by_subject.values() if 2 * len(same) > members]
    return tuple(grade for grade in pooled if grade is not None)


def _pooled(same: Sequence[Grade], wanted: GradeAggregation) -> Grade | None:
    """One grade from those of several members for the same subject; None without a majority.

    Its reason is that of the first member who gave the same grade.
    """
    value: float | None
    values = [grade.value for grade in same if grade.value is not None]
    if len(values) == len(same) and wanted is GradeAggregation.MEDIAN:
        value = median_low(values)
        same_value = [grade for grade in same if grade.value == value]
        label, _ = Counter(grade.label for grade in same_value).most_common(1)[0]
    else:
        counts = Counter((grade.value, grade.label) for grade in same)
        ((value, label), votes), *_ = counts.most_common()
        if 2 * votes <= len(same):
            return None
    first = next(grade for grade in same if (grade.value, grade.label) == (value, label))
    shares = _mean([grade.probabilities for grade in same])
    confidence = next((share.probability for share in shares if share.value == value), None)
    return Grade(
        subject=first.subject,
        criterion=first.criterion,
        value=value,
        label=label,
        reason=first.reason,
        confidence=confidence,
        probabilities=shares,
    )


def _mean(distributions: Sequence[Sequence[ValueProbability]]) -> tuple[ValueProbability, ...]:
    """The mean probability of each value; empty where a member told none."""
    if not all(distributions):
        return ()
    by_member = [{share.value: share.probability for share in shares} for shares in distributions]
    return tuple(
        ValueProbability(share.value, fmean(shares.get(share.value, 0.0) for shares in by_member))
        for share in distributions[0]
    )
