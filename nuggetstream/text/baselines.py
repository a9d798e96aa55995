"""Preferences from length and overlap of words alone: the baselines that a judge has to beat."""

from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from nuggetstream.domain.battle import Vote
from nuggetstream.text.terms import terms


def longer(answer_a: str, answer_b: str) -> Vote:
    """The preference for the answer with more characters; equal lengths are a tie."""
    return _higher(len(answer_a), len(answer_b))


def closer_to_evidence(answer_a: str, answer_b: str, evidence: Sequence[str]) -> Vote | None:
    """The preference for the answer with the higher ROUGE-L against the evidence; None without evidence."""
    reference = terms(" ".join(evidence))
    if not reference:
        return None
    return _higher(rouge_l(terms(answer_a), reference), rouge_l(terms(answer_b), reference))


def rouge_l(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """ROUGE-L F1: harmonic mean of LCS / |candidate| and LCS / |reference|.

    Args:
        candidate: Terms of the text to score.
        reference: Terms of the text to compare with.

    Returns:
        In [0, 1], higher is closer; 0 when either text has no terms.

    Source: Lin, 2004.

    >>> rouge_l(["a", "b", "c"], ["a", "c", "d"])
    0.6666666666666666
    """
    if not candidate or not reference:
        return 0.0
    common = LCSseq.similarity(candidate, reference)
    return 2 * common / (len(candidate) + len(reference))


def _higher(a: float, b: float) -> Vote:
    if a == b:
        return Vote.TIE
    return Vote.A if a > b else Vote.B
