"""What the offline model's answers to evaluators have in common: shares of texts as values of a scale."""

from collections.abc import Sequence

from nuggetstream.domain.grade import Criterion
from services.judge.grades.lines import GradeLine, GradesReply
from services.offline.answers import ParsedPrompt
from services.offline.heuristics import Label, assign
from services.offline.heuristics.verdict import CREDIT
from services.runtime.llm.blocks import Block


def value_of(share: float, criterion: Criterion) -> float:
    """The value of a scale whose part, of as many equal parts as the scale has values, contains the share.

    >>> value_of(0.5, Criterion("relevance", "0-2", 0, 2)), value_of(1.0, Criterion("fluency", "1-5", 1, 5))
    (1.0, 5.0)
    """
    low, high = criterion.low or 0.0, criterion.high or 0.0
    steps = int(high - low) + 1
    return float(low + min(steps - 1, int(share * steps)))


def line(criterion: Criterion, share: float, reason: str, name: str | None = None) -> GradeLine:
    """A grade that follows from a share in [0, 1]."""
    return GradeLine(name=name or criterion.name, value=value_of(share, criterion), reason=reason)


def stated_share(prompt: ParsedPrompt, facts: Sequence[str], text: str) -> float | None:
    """The share of facts that a text states, partly stated ones half; None where there are no facts."""
    labels = [fact.label for fact in assign(prompt.query, facts, text, embed=prompt.embed)]
    return sum(CREDIT[label] for label in labels) / len(labels) if labels else None


def closeness_of(prompt: ParsedPrompt, text: str) -> float:
    """How far a text is about the query: 1 for support of the query's terms, 0.5 for a part, else 0."""
    (label,) = assign(prompt.query, [prompt.query], text, embed=prompt.embed)
    return {Label.SUPPORT: 1.0, Label.PARTIAL: 0.5, Label.NONE: 0.0}[label.label]


def shares_of_query(prompt: ParsedPrompt, block: Block) -> tuple[float, float, float]:
    """How probable it is that a text has the query's terms, has a part of them, or has none."""
    (label,) = assign(prompt.query, [prompt.query], block.text, embed=prompt.embed)
    return label.probabilities


def reply_of(*lines: GradeLine) -> GradesReply:
    """The reply with these lines."""
    return GradesReply(grades=list(lines))
