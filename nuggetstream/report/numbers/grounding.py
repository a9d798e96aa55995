"""How much of a nugget's wording stands in the passages it was read from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import LCSseq

from nuggetstream.files.evaluated import BattleRow, NuggetRow
from nuggetstream.files.graded import GradeRow
from nuggetstream.report.numbers.spread import Spread, spread
from nuggetstream.text.sentences import sentences
from nuggetstream.text.statistics import words

NEAR = 0.8  # share of a nugget's words, in order, in one sentence: copied from it rather than concluded

_EVALUATOR, _ENTAILED = "nugget_entailment", 1.0  # the evaluator's name, and its value for "entailed"


@dataclass(frozen=True, slots=True)
class Grounding:
    """All nuggets by where they were read.

    Attributes:
        nuggets: All nuggets.
        groundings: Nuggets by grounding, "grounded", "answer-only" or "disputed"; without unknown ones.
        from_passages: Nuggets that name at least one passage of the evidence.
        from_answers: Nuggets that name answers only: there is no evidence to compare them with.
        unnamed: Nuggets that do not say where they were read, or name passages that the results lack.
        recall: ROUGE-L recall, highest over the sentences of the passages named; None without one.
        near: Nuggets with a recall of at least 0.8.
        entailment: Probability that the passages entail the nugget, where the results carry one; None where
            nothing measured it.
        judged: Nuggets by what the evaluator `nugget_entailment` says: "entailed", "neutral", "contradicted".
    """

    nuggets: int
    groundings: Mapping[str, int]
    from_passages: int
    from_answers: int
    unnamed: int
    recall: Spread | None
    near: int
    entailment: Spread | None
    judged: Mapping[str, int]


def grounding(battles: Sequence[BattleRow]) -> Grounding:
    """How close nuggets are to the passages they name."""
    from_passages = from_answers = total = 0
    recalls: list[float] = []
    for battle in battles:
        passages = {passage.chunk_id: passage.text for passage in battle.evidence if passage.chunk_id}
        for nugget in battle.nuggets:
            total += 1
            documents = [origin.document for origin in nugget.provenance]
            named = [document for document in documents if document in passages]
            if named:
                from_passages += 1
                recalls += _recall(nugget, [part for name in named for part in _words_of(passages[name])])
            elif documents and all(document.startswith("answer:") for document in documents):
                from_answers += 1
    entailed = [value for battle in battles for value in _entailment(battle)]
    groundings = Counter(
        nugget.grounding.value for battle in battles for nugget in battle.nuggets if nugget.grounding
    )
    judged = Counter(grade.label for battle in battles for grade in _entailment_grades(battle) if grade.label)
    return Grounding(
        nuggets=total,
        groundings=dict(groundings.most_common()),
        from_passages=from_passages,
        from_answers=from_answers,
        unnamed=total - from_passages - from_answers,
        recall=spread(recalls),
        near=sum(recall >= NEAR for recall in recalls),
        entailment=spread(entailed),
        judged=dict(judged.most_common()),
    )


def _entailment(battle: BattleRow) -> list[float]:
    """The probability that its passages entail a nugget, of each nugget for which it is known."""
    graded = {
        grade.item: share.probability
        for grade in _entailment_grades(battle)
        for share in grade.probabilities
        if share.value == _ENTAILED
    }
    values = [
        graded.get(nugget.id) if nugget.entailment is None else nugget.entailment for nugget in battle.nuggets
    ]
    return [value for value in values if value is not None]


def _entailment_grades(battle: BattleRow) -> list[GradeRow]:
    return [
        grade
        for grading in battle.gradings
        if grading.evaluator == _EVALUATOR
        for grade in grading.grades
        if grade.item is not None
    ]


def rouge_l_recall(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """Share of the candidate's words that stand in the reference in the same order: LCS / |candidate|.

    Args:
        candidate: Words of the text to be covered, at least one.
        reference: Words of the text to cover it.

    Returns:
        In [0, 1]; 1 means that every word is there.

    Source: Lin, 2004.

    >>> rouge_l_recall(["tides", "follow", "the", "moon"], ["tides", "often", "follow", "a", "moon"])
    0.75
    """
    return float(LCSseq.similarity(candidate, reference)) / len(candidate)


@lru_cache(maxsize=256)  # the nuggets of a battle share their passages
def _words_of(passage: str) -> Sequence[Sequence[str]]:
    """The words of each sentence of a passage."""
    return tuple(words(sentence) for sentence in sentences(passage))


def _recall(nugget: NuggetRow, references: Sequence[Sequence[str]]) -> list[float]:
    """The highest recall of one nugget; none where it, or the passages, have no words."""
    candidate = words(nugget.text)
    if not candidate or not references:
        return []
    return [max(rouge_l_recall(candidate, reference) for reference in references)]
