"""Citation marks in an answer: which of its numbered sources does it cite, where, and which do not exist?

A mark is a pair of brackets with numbers of at most three digits between them: [1], [1, 3], [2-4], [^1].
Blanks, commas, semicolons and "and" separate numbers, and may be doubled or trail, as people type them: [
3,6,13], [0,], [6 9]. 【4†source】, as some assistants write, cites source 4, and 【4:1†source】 source 1 of
message 4, counted from 0; where an answer cites sources of several messages, they are numbered from 0 in
the order in which it cites them. These are no marks: code;
[1](https://example.org), which cites by address; [1]: at the start of a line, which defines a source;
decimals such as [0.9, 0.1]; and ranges of more than 20 numbers such as [10-90], which name quantities.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from nuggetstream.text.markup import blank_code

MOST_CITATIONS = 10_000  # that are read of one text, so that no text costs much memory
_WIDEST_RANGE = 20  # numbers
_SEPARATOR = r"(?:[\s,;&]|\band\b)"
_NUMBER_OR_RANGE = r"\d{1,3}(?:\s*[–-]\s*\d{1,3})?"
_BETWEEN_BRACKETS = rf"{_SEPARATOR}*\^?{_NUMBER_OR_RANGE}(?:{_SEPARATOR}+\^?{_NUMBER_OR_RANGE})*{_SEPARATOR}*"
_LENTICULAR = r"【(?:(?P<message>\d{1,3}):)?(?P<source>\d{1,3})(?:[:†][^】\n]{0,40})?】"
_MARK = re.compile(rf"\[(?P<list>{_BETWEEN_BRACKETS})\](?!\()|{_LENTICULAR}")
_DEFINITION = re.compile(r"^ {0,3}\[\^?\d{1,3}\]:", re.M)
_RANGE = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")


@dataclass(frozen=True, slots=True)
class Citation:
    """One number in one mark.

    Attributes:
        source: Number of the cited source, as the text has it.
        position: Index of the mark's first character in the text.
    """

    source: int
    position: int


@dataclass(frozen=True, slots=True)
class Citations:
    """The citations of a text.

    Attributes:
        valid: Citations of sources that exist, in the order of the text.
        invalid: Citations of numbers that no source has, in the order of the text. They do not count.
        first: Number of the first source, 0 or 1.
    """

    valid: tuple[Citation, ...]
    invalid: tuple[Citation, ...]
    first: int


@dataclass(frozen=True, slots=True)
class CitationUse:
    """How an answer cites its numbered sources. Invalid citations appear in `invalid` alone.

    Attributes:
        count: Number of citations; a mark with two numbers holds two.
        order: Cited sources in the order in which they are first cited.
        reuse: Source -> number of its citations.
        positions: Position of each citation in the text, from 0 (start) to 1 (end).
        in_order: Whether sources are first cited in ascending order; None with fewer than two sources.
        invalid: Numbers cited that no source has, in the order of the text, repetitions kept.
    """

    count: int
    order: tuple[int, ...]
    reuse: Mapping[int, int]
    positions: tuple[float, ...]
    in_order: bool | None
    invalid: tuple[int, ...] = ()


def parse_citations(text: str, sources: int | None = None, first: int | None = None) -> Citations:
    """Read the citation marks of a text, up to its first `MOST_CITATIONS` citations.

    Args:
        text: Plain text or Markdown; code is left out.
        sources: Number of sources that the text can cite. With it, numbers outside first..first + sources - 1
            are invalid; None accepts every number from `first` on.
        first: Number of the first source, 0 or 1. None decides by the text: a text that cites source 0, or by
            message, counts from 0, every other text from 1. A text that counts from 0 without ever citing
            source 0 is therefore granted one number too many.

    Raises:
        ValueError: `sources` is negative, or `first` is neither 0 nor 1.

    >>> found = parse_citations("Rivers rise [0, 2]. Dams help [21].", sources=20)
    >>> [each.source for each in found.valid], [each.source for each in found.invalid], found.first
    ([0, 2], [21], 0)
    """
    if (sources is not None and sources < 0) or first not in (None, 0, 1):
        raise ValueError("the number of sources is at least 0, and the first source has number 0 or 1")
    marks = list(islice(_marks(text), MOST_CITATIONS))
    numbers = _numbers_by_message(marks)
    citations = list(islice((each for mark in marks for each in _citations(mark, numbers)), MOST_CITATIONS))
    if first is None:
        first = 0 if numbers or any(citation.source == 0 for citation in citations) else 1
    end = None if sources is None else first + sources
    valid: list[Citation] = []
    invalid: list[Citation] = []
    for citation in citations:
        exists = citation.source >= first and (end is None or citation.source < end)
        (valid if exists else invalid).append(citation)
    return Citations(tuple(valid), tuple(invalid), first)


def citation_use(text: str, sources: int | None = None, first: int | None = None) -> CitationUse:
    """How an answer cites its sources.

    Args:
        text: The answer.
        sources: Number of its sources, as in `parse_citations`.
        first: Number of the first source, as in `parse_citations`.

    Raises:
        ValueError: As `parse_citations`.

    >>> use = citation_use("Rivers rise [2]. Dams help [1, 2].")
    >>> use.count, use.order, use.in_order, dict(use.reuse)
    (3, (2, 1), False, {2: 2, 1: 1})
    """
    citations = parse_citations(text, sources, first)
    reuse: dict[int, int] = {}
    for citation in citations.valid:
        reuse[citation.source] = reuse.get(citation.source, 0) + 1
    order = tuple(reuse)
    return CitationUse(
        count=len(citations.valid),
        order=order,
        reuse=reuse,
        positions=tuple(citation.position / len(text) for citation in citations.valid),
        in_order=list(order) == sorted(order) if len(order) > 1 else None,
        invalid=tuple(citation.source for citation in citations.invalid),
    )


def without_citations(text: str) -> str:
    """The text without its citation marks and the blanks before them, for measures of its prose.

    >>> without_citations("Rivers rise [2]. Dams [1] help.")
    'Rivers rise. Dams help.'
    """
    pieces, end = [], 0
    for mark in _marks(text):
        pieces.append(text[end : mark.start()].rstrip(" \t"))
        end = mark.end()
    return "".join((*pieces, text[end:]))


def blank_citations(text: str) -> str:
    """The text with its citation marks replaced by spaces, so that positions stay the same.

    >>> blank_citations("Rivers rise [2].")
    'Rivers rise    .'
    """
    pieces, end = [], 0
    for mark in _marks(text):
        pieces += [text[end : mark.start()], " " * (mark.end() - mark.start())]
        end = mark.end()
    return "".join((*pieces, text[end:]))


def numbers_name_own_sources(answers: Iterable[tuple[str, int]]) -> bool:
    """Whether the numbers that answers cite are positions in the lists of sources that come with them.

    Some collections store with each answer only the sources it cites, while its numbers refer to a longer
    list that is not stored. Most of their answers then cite a number beyond their sources. Where that is
    so, the number of stored sources must not decide which citations are valid.

    Args:
        answers: Text and number of sources of every answer of a collection.

    Returns:
        False when more than half of the answers with citations and sources cite a number beyond their
        sources.

    >>> numbers_name_own_sources([("Rain [1].", 2), ("Snow [3].", 2), ("Hail [2].", 2)])
    True
    >>> numbers_name_own_sources([("Rain [0, 7].", 2), ("Snow [12].", 1)])
    False
    """
    citing = beyond = 0
    for text, sources in answers:
        citations = parse_citations(text, sources)
        if sources and (citations.valid or citations.invalid):
            citing += 1
            beyond += bool(citations.invalid)
    return beyond * 2 <= citing


def _marks(text: str) -> Iterator[re.Match[str]]:
    prose = blank_code(text)
    definitions = {definition.end() - 1 for definition in _DEFINITION.finditer(prose)}
    return (
        mark
        for mark in _MARK.finditer(prose)
        if mark.end() not in definitions and all(high - low < _WIDEST_RANGE for low, high in _ranges(mark))
    )


def _ranges(mark: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The first and last number of each range of a mark; a number alone is both."""
    for low, high in _RANGE.findall(mark["list"] or mark["source"]):
        yield int(low), int(high or low)


def _numbers_by_message(marks: Iterable[re.Match[str]]) -> dict[tuple[str, str], int]:
    """The number of each source that is cited by message: its own, or its place if there are several."""
    cited = dict.fromkeys((mark["message"], mark["source"]) for mark in marks if mark["message"] is not None)
    if len({message for message, _ in cited}) == 1:
        return {(message, source): int(source) for message, source in cited}
    return {pair: number for number, pair in enumerate(cited)}


def _citations(mark: re.Match[str], numbers: Mapping[tuple[str, str], int]) -> Iterator[Citation]:
    if mark["message"] is not None:
        yield Citation(numbers[mark["message"], mark["source"]], mark.start())
        return
    for low, high in _ranges(mark):
        for source in range(low, high + 1):
            yield Citation(source, mark.start())
