"""Sentences of the answers and what their sources say, prepared for a battle's page.

gradings, evidence  ->  per side, the checked sentences with the passage that is closest to each
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.battle import Side
from nuggetstream.text import sentence_support
from nuggetstream.text.citations import without_citations
from nuggetstream.text.sentence_support import CheckedSentence, SentenceSupport, checked_sentences
from nuggetstream.text.terms import terms
from nuggetstream.views.battles import AnswerView, BattleView
from services.gateway.pages.quotes import UNSUPPORTED, Piece


@dataclass(frozen=True, slots=True)
class SentenceLine:
    """A sentence that was compared with the sources of its answer.

    Attributes:
        checked: The sentence and its support.
        text: Its text without citation marks.
        chunk: Number of the chunk of the evidence that is closest to it, among those of the source that was
            compared; None where that source has no chunk in the evidence.
    """

    checked: CheckedSentence
    text: str
    chunk: int | None


def sentences_of(view: BattleView, side: Side) -> list[SentenceLine]:
    """The checked sentences of one side's answer; none where the evaluator did not run."""
    answer = view.answer(side)
    checked = checked_sentences(answer.text, len(answer.sources), _grades(view, side))
    return [
        SentenceLine(
            sentence,
            without_citations(answer.text[sentence.start : sentence.end]).strip(),
            _closest(view, answer, answer.text[sentence.start : sentence.end], sentence.document),
        )
        for sentence in checked
    ]


def _grades(view: BattleView, side: Side) -> Iterator[tuple[int, str, float]]:
    for grading in view.gradings:
        if grading.evaluator != sentence_support.EVALUATOR:
            continue
        for grade in grading.grades:
            if grade.sides == [side] and grade.sentence and grade.document and grade.value is not None:
                yield grade.sentence, grade.document, grade.value


def _closest(view: BattleView, answer: AnswerView, sentence: str, document: str) -> int | None:
    """The chunk of a page that shares most terms with a sentence; a page can have several URLs."""
    hashes = {source.content_hash for source in answer.sources if source.url == document}
    urls = {document} | {
        source.url
        for view_of_answer in (view.a, view.b)
        for source in view_of_answer.sources
        if source.content_hash and source.content_hash in hashes
    }
    words = set(terms(sentence))
    shared = {
        number: len(words & set(terms(chunk.text)))
        for number, chunk in enumerate(view.evidence, start=1)
        if chunk.url in urls
    }
    return max(shared, key=shared.__getitem__, default=None)


def with_unsupported(pieces: Sequence[Piece], lines: Sequence[SentenceLine]) -> Iterator[Piece]:
    """The pieces of an answer, with marks also on the sentences that no source supports.

    What states a nugget keeps its mark; the rest of the sentence around it gets one of its own.
    """
    marks = [line for line in lines if line.checked.support is SentenceSupport.NONE]
    begun = set[int]()
    position = 0
    for piece in pieces:
        end = position + len(piece.text)
        within = [mark for mark in marks if mark.checked.start < end and mark.checked.end > position]
        for part in [piece] if piece.numbers else _split(piece.text, position, within):
            yield replace(part, sentence=None, chunk=None) if part.sentence in begun else part
            if part.sentence is not None:
                begun.add(part.sentence)
        position = end


def _split(text: str, offset: int, marks: Sequence[SentenceLine]) -> Iterator[Piece]:
    done = 0
    for line in marks:
        start = max(line.checked.start - offset, 0)
        end = min(line.checked.end - offset, len(text))
        if not any(map(str.isalnum, text[start:end])):
            continue
        if start > done:
            yield Piece(text[done:start])
        yield Piece(text[start:end], kind=UNSUPPORTED, sentence=line.checked.number, chunk=line.chunk)
        done = end
    if done < len(text):
        yield Piece(text[done:])
