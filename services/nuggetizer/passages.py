"""Which passages to read: those that resemble an answer or the query.

A nugget list costs as much as what is read for it. Passages that neither answer used and that hardly speak of
the query rarely add a nugget that decides anything, so a limit leaves them out first.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt

from nuggetstream.domain.evidence import Evidence
from nuggetstream.text.terms import terms

Vector = Mapping[str, float]


def worth_reading(evidence: Sequence[Evidence], texts: Iterable[str], limit: int) -> list[Evidence]:
    """At most so many passages, those that resemble one of the texts most, in their order.

    Args:
        evidence: The passages, best first.
        texts: The query and both answers.
        limit: Maximum number of passages.
    """
    if len(evidence) <= limit:
        return list(evidence)
    counted = [Counter(terms(item.text)) for item in evidence]
    rarity = _rarity(counted)
    wanted = [_vector(Counter(terms(text)), rarity) for text in texts]
    scores = [max(_cosine(_vector(counts, rarity), text) for text in wanted) for counts in counted]
    # Equally similar passages are taken in their order, which is that of retrieval.
    chosen = sorted(range(len(evidence)), key=lambda place: -scores[place])[:limit]
    return [evidence[place] for place in sorted(chosen)]


def _rarity(documents: Sequence[Counter[str]]) -> Vector:
    """Inverse document frequency of the passages' terms; never 0, so that terms of all passages count."""
    found = Counter(term for document in documents for term in document)
    return {term: log((1 + len(documents)) / (1 + count)) + 1 for term, count in found.items()}


def _vector(counts: Counter[str], rarity: Vector) -> Vector:
    return {term: (1 + log(count)) * rarity[term] for term, count in counts.items() if term in rarity}


def _cosine(one: Vector, other: Vector) -> float:
    shared = sum(weight * other[term] for term, weight in one.items() if term in other)
    lengths = sqrt(sum(w * w for w in one.values()) * sum(w * w for w in other.values()))
    return shared / lengths if lengths else 0.0
