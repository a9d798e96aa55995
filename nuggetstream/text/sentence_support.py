"""Which sentences of an answer its sources support, as `citation_support` graded them.

the answer, (sentence, source, value) per grade  ->  each checked sentence with its best support
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.text.cited_sentences import citing_sentences, worded_spans

EVALUATOR = "citation_support"
CITED, UNCITED = "support", "uncited_support"  # criteria of its grades of sentences


class SentenceSupport(StrEnum):
    """How much of a sentence a source states."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence that was compared with sources of its answer.

    Attributes:
        number: Number of the sentence in its answer, from 1.
        start: Where it begins in the answer.
        end: Where it ends.
        support: The best support that one source gives it.
        document: URL of that source; the first one where several give the same.
    """

    number: int
    start: int
    end: int
    support: SentenceSupport
    document: str


def checked_sentences(
    text: str, sources: int, grades: Iterable[tuple[int, str, float]]
) -> list[CheckedSentence]:
    """The sentences of an answer whose support is known, in their order.

    A sentence that also cites a source that could not be graded is left out unless a graded source supports
    it: nothing is known about the other one.

    Args:
        text: The answer.
        sources: Number of its sources.
        grades: Sentence number, URL of the source and value (0, 0.5 or 1) of each grade.

    >>> graded = [(1, "https://sea.example", 1.0), (2, "https://sea.example", 0.0)]
    >>> [(each.number, each.support.value) for each in checked_sentences("It is. It was.", 1, graded)]
    [(1, 'full'), (2, 'none')]
    """
    by_sentence: dict[int, list[tuple[float, str]]] = {}
    for number, document, value in grades:
        by_sentence.setdefault(number, []).append((value, document))
    citing, _ = citing_sentences(text, sources)
    cited = [citation.sentence for citation in citing]
    checked = []
    for number, (start, end) in enumerate(worded_spans(text), start=1):
        graded = by_sentence.get(number, [])
        value, document = max(graded, key=lambda grade: grade[0], default=(0.0, ""))
        if graded and (value > 0 or len(graded) >= cited.count(number)):
            checked.append(CheckedSentence(number, start, end, _support(value), document))
    return checked


def _support(value: float) -> SentenceSupport:
    if value >= 1:
        return SentenceSupport.FULL
    return SentenceSupport.PARTIAL if value > 0 else SentenceSupport.NONE
