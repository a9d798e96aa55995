"""The sentences of an answer, by number, and the sources that each of them cites.

The evaluator `citation_support` numbers sentences like this, and so does whoever shows its grades.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from nuggetstream.text.citations import blank_citations, parse_citations, without_citations
from nuggetstream.text.sentences import spans


@dataclass(frozen=True, slots=True)
class Citing:
    """A sentence that cites a source, or is searched for in it.

    Attributes:
        sentence: Number of the sentence, from 1.
        source: Position of the source among those of the answer, from 0.
        text: The sentence without marks.
    """

    sentence: int
    source: int
    text: str

    @property
    def id(self) -> str:
        """Its id in the prompt, such as "s2.5" for sentence 5 citing the second source."""
        return f"s{self.source + 1}.{self.sentence}"


def worded_spans(text: str) -> list[tuple[int, int]]:
    """The positions of the sentences that have words; sentence 1 is the first of them.

    >>> worded_spans("Tea is hot. [1] It is old.")
    [(0, 11), (12, 26)]
    """
    return [(start, end) for start, end in spans(text) if _has_words(text[start:end])]


def citing_sentences(text: str, sources: int) -> tuple[list[Citing], int]:
    """The sentences of an answer with each source that they cite, and the number of all its sentences.

    A mark after the end of a sentence belongs to that sentence.

    Args:
        text: The answer.
        sources: Number of its sources.
    """
    parts = worded_spans(text)
    citations = parse_citations(text, sources)
    sentences = [without_citations(text[start:end]).strip() for start, end in parts]
    words = _first_words(blank_citations(text), parts)
    citing: dict[tuple[int, int], Citing] = {}
    for citation in citations.valid:
        number = _sentence_at(citation.position, parts, words)
        if number is not None:
            source = citation.source - citations.first
            citing.setdefault((number, source), Citing(number + 1, source, sentences[number]))
    return list(citing.values()), len(parts)


def uncited_sentences(text: str, citing: Sequence[Citing]) -> list[tuple[int, str]]:
    """The sentences of an answer that cite nothing: the number of each, and its text without marks.

    Args:
        text: The answer.
        citing: Its sentences that cite a source.
    """
    cited = {citation.sentence for citation in citing}
    return [
        (number, without_citations(text[start:end]).strip())
        for number, (start, end) in enumerate(worded_spans(text), start=1)
        if number not in cited
    ]


def _has_words(text: str) -> bool:
    return any(map(str.isalpha, without_citations(text)))


def _first_words(prose: str, parts: Sequence[tuple[int, int]]) -> list[int]:
    """The position of the first letter of each sentence, in a text without marks."""
    return [next((i for i in range(start, end) if prose[i].isalpha()), end) for start, end in parts]


def _sentence_at(position: int, parts: Sequence[tuple[int, int]], words: Sequence[int]) -> int | None:
    """The sentence that a mark belongs to; None for a mark before the first sentence."""
    number = bisect_right(parts, position, key=itemgetter(0)) - 1
    if number < 0:
        return None
    leads = position <= words[number]
    return number - 1 if leads and number else number
