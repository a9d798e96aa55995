"""Whether a nugget says what the passages it was read from say, as far as words tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import LCSseq

from nuggetstream.files.evaluated import BattleRow, NuggetRow
from nuggetstream.text.sentences import sentences
from nuggetstream.text.statistics import words

NEAR = 0.8  # of a nugget's words, in order, in one sentence: read off it rather than concluded


@dataclass(frozen=True, slots=True)
class Quartiles:
    """A quantity per nugget: its mean and quartiles over `nuggets`."""

    nuggets: int
    mean: float
    quarter: float
    median: float
    three_quarters: float


@dataclass(frozen=True, slots=True)
class Grounding:
    """All nuggets by where they were read.

    Attributes:
        nuggets: in all.
        from_passages: that name at least one passage of the evidence.
        from_answers: that name answers only: no evidence to compare them with.
        unnamed: that do not say where they were read, or name passages that are not at hand.
        recall: ROUGE-L recall, highest over the sentences of the passages named; None without one.
        near: nuggets with a recall of at least 0.8.
        entailment: chance that the passages entail the nugget, where the results carry one; None where
            nothing measured it.
    """

    nuggets: int
    from_passages: int
    from_answers: int
    unnamed: int
    recall: Quartiles | None
    near: int
    entailment: Quartiles | None


def grounding(rows: Sequence[BattleRow]) -> Grounding:
    """How close nuggets are to their passages."""
    passages = answers = total = 0
    recalls: list[float] = []
    for row in rows:
        texts = {each.chunk_id: each.text for each in row.evidence if each.chunk_id}
        for nugget in row.nuggets:
            total += 1
            places = [place.document for place in nugget.provenance]
            if any(place in texts for place in places):
                passages += 1
                recalls += _recall(nugget, texts)
            elif places and all(place.startswith("answer:") for place in places):
                answers += 1
    entailed = [n.entailment for row in rows for n in row.nuggets if n.entailment is not None]
    return Grounding(
        nuggets=total,
        from_passages=passages,
        from_answers=answers,
        unnamed=total - passages - answers,
        recall=_quartiles(recalls),
        near=sum(recall >= NEAR for recall in recalls),
        entailment=_quartiles(entailed),
    )


def rouge_l_recall(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Share of the candidate's words that stand in the reference in the same order: LCS / |candidate|.

    Args:
        candidate: words of the text to be covered, at least one.
        reference: words of the text to cover it.

    Returns:
        In [0, 1]; 1 means that every word is there.

    Source: Lin, 2004.

    >>> rouge_l_recall(["tides", "follow", "the", "moon"], ["tides", "often", "follow", "a", "moon"])
    0.75
    """
    return float(LCSseq.similarity(candidate, reference)) / len(candidate)


def _recall(nugget: NuggetRow, texts: Mapping[str, str]) -> list[float]:
    """The highest recall of one nugget; none where it, or the passages, have no words."""
    candidate = words(nugget.text)
    places = [texts[place.document] for place in nugget.provenance if place.document in texts]
    read = [words(sentence) for text in places for sentence in sentences(text)]
    return [max(rouge_l_recall(candidate, each) for each in read)] if candidate and read else []


def _quartiles(values: Sequence[float]) -> Quartiles | None:
    if not values:
        return None
    quarter, median, three_quarters = map(float, np.quantile(values, [0.25, 0.5, 0.75]))
    return Quartiles(len(values), float(np.mean(values)), quarter, median, three_quarters)
