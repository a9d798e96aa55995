"""Support: which sentences of the answers do their sources state, as `citation_support` graded them?"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grouping import grouped
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.statistics.share import Share, share
from nuggetstream.text import sentence_support
from nuggetstream.text.sentence_support import CheckedSentence, SentenceSupport, checked_sentences

_LISTED = 50  # sentences


@dataclass(frozen=True, slots=True)
class SystemSupport:
    """The checked sentences of one system.

    Attributes:
        system: Its name.
        answers: Its answers with at least one checked sentence.
        full: Sentences that a source states.
        partial: Sentences of which a source states a part.
        unsupported: Sentences that no source supports, of those checked.
    """

    system: str
    answers: int
    full: int
    partial: int
    unsupported: Share


@dataclass(frozen=True, slots=True)
class UnsupportedSentence:
    """A sentence that no source of its answer supports."""

    battle: str
    system: str
    text: str


@dataclass(frozen=True, slots=True)
class Support:
    """What is known about sentences.

    Attributes:
        answers: All answers.
        systems: Systems with a checked sentence, in alphabetical order.
        sentences: The first sentences without support, in the order of the battles.
    """

    answers: int
    systems: tuple[SystemSupport, ...]
    sentences: tuple[UnsupportedSentence, ...]


def compute_support(results: Results) -> Support:
    """Sentences per system, and the first ones without support."""
    checked = [
        (battle, battle.answer(side), sentences)
        for battle in results.battles
        for side in Side
        if (sentences := list(_checked(battle, side)))
    ]
    unsupported = [
        UnsupportedSentence(battle.id, answer.system, answer.text[sentence.start : sentence.end])
        for battle, answer, sentences in checked
        for sentence in sentences
        if sentence.support is SentenceSupport.NONE
    ]
    of_system = grouped((answer.system, sentences) for _, answer, sentences in checked)
    systems = tuple(_system(name, of_system[name]) for name in sorted(of_system))
    return Support(2 * len(results.battles), systems, tuple(unsupported[:_LISTED]))


def _checked(battle: BattleRow, side: Side) -> Iterator[CheckedSentence]:
    grades = [
        (grade.sentence, grade.document, grade.value)
        for grading in battle.gradings
        if grading.evaluator == sentence_support.EVALUATOR
        for grade in grading.grades
        if grade.sides == (side,) and grade.sentence and grade.document and grade.value is not None
    ]
    answer = battle.answer(side)
    return iter(checked_sentences(answer.text, len(answer.sources), grades) if grades else [])


def _system(name: str, answers: Sequence[Sequence[CheckedSentence]]) -> SystemSupport:
    counts = Counter(sentence.support for sentences in answers for sentence in sentences)
    return SystemSupport(
        system=name,
        answers=len(answers),
        full=counts[SentenceSupport.FULL],
        partial=counts[SentenceSupport.PARTIAL],
        unsupported=share(counts[SentenceSupport.NONE], counts.total()),
    )
