"""Code and block marks in a Markdown text, found in time linear in its length."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

_FENCE = re.compile(r"^[ \t]*(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)$", re.M)
_BACKTICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_NOT_A_NEWLINE = re.compile(r"[^\n]")
_BLOCK_MARKS = re.compile(r"\s*(?:>\s*|(?:#{1,6}|[-*+])\s+)+")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")
_HEADING = re.compile(
    r" {0,3}#{1,6}(?:[ \t].*)?|\s*(?:\d{1,9}[.)]\s+)?(\*\*|__)[^*_]*[^*_.!?。！？]\1:?\s*"
    r"|\s*<h[1-6]\b.*</h[1-6]>\s*",
    re.I,
)
_HTML_BLOCK = re.compile(r"<(table|pre)\b(?:(?!</?(?:table|pre)\b).)*</\1>", re.I | re.S)
_CODE_LINE = re.compile(r"(?: {4}|\t)\s*\S.*")

Span = tuple[int, int]


def blank_code(text: str) -> str:
    r"""The text with fenced code blocks and inline code replaced by spaces, so that positions stay the same.

    A fence may be indented, as within a list; one that is never closed runs to the end of the text. Inline
    code ends within its paragraph.

    >>> blank_code("Call `x[1]` now [2].")
    'Call        now [2].'
    """
    pieces, end = [], 0
    for start, stop in _code(text):
        pieces += [text[end:start], _NOT_A_NEWLINE.sub(" ", text[start:stop])]
        end = stop
    return "".join((*pieces, text[end:]))


def prose(text: str) -> str:
    r"""The lines of a text that are neither code, nor rows of a table, nor a heading, in Markdown or HTML.

    A line that is bold as a whole, without a mark at its end, is a heading, too, numbered or not. Indented
    lines behind a list item belong to it and are kept.

    >>> prose("# Tides\n\nTwice a day.\n\n    rise()\n\n|a|b|\n|-|-|\n|1|2|\n**Causes**\nThe Moon.")
    'Twice a day.\nThe Moon.'
    """
    pieces, end = [], 0
    for start, stop in _fenced(text):
        pieces.append(text[end:start])
        end = stop
    lines = [*_HTML_BLOCK.sub("", "".join((*pieces, text[end:]))).splitlines(), ""]
    kept = []
    in_table = in_list = False
    for line, following in pairwise(lines):
        in_table = "|" in line and (in_table or ("-" in following and set(following) <= set("|-: \t")))
        is_underlined = len(following.strip()) > 2 and set(following.strip()) == {"="}
        is_code = not in_list and _CODE_LINE.fullmatch(line)
        if line.strip() and not line.startswith((" ", "\t")):
            in_list = False
        in_list = in_list or _ITEM.match(line) is not None
        is_row = in_table or (line.strip().startswith("|") and line.rstrip().endswith("|"))
        if line.strip() and not (is_row or is_underlined or is_code or _HEADING.fullmatch(line)):
            kept.append(line)
    return "\n".join(kept)


def without_block_marks(text: str) -> str:
    """A text without the Markdown marks of a quote, a heading or a bullet at its start.

    The numbers of a numbered list stay, since "2. Weltkrieg" begins like one. A text that consists of marks
    stays as it is.

    >>> without_block_marks("> - Violet light scatters most."), without_block_marks("-5 °C is cold.")
    ('Violet light scatters most.', '-5 °C is cold.')
    """
    marks = _BLOCK_MARKS.match(text)
    return text if marks is None else text[marks.end() :] or text


def _code(text: str) -> Iterator[Span]:
    """Start and end of every piece of code, in order and without overlap."""
    prose_start = 0
    for start, stop in _fenced(text):
        yield from _inline(text, prose_start, start)
        yield start, stop
        prose_start = stop
    yield from _inline(text, prose_start, len(text))


def _fenced(text: str) -> Iterator[Span]:
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif fence[1].startswith(opening[1]) and not fence[2].strip():  # the same character, as often or more
            yield opening.start(), fence.end()
            opening = None
    if opening is not None:
        yield opening.start(), len(text)


def _inline(text: str, start: int, stop: int) -> Iterator[Span]:
    """Code between two runs of equally many backticks in one paragraph."""
    paragraph_ends = [*(blank.start() for blank in _BLANK_LINE.finditer(text, start, stop)), stop]
    runs = [(run.start(), run.end()) for run in _BACKTICKS.finditer(text, start, stop)]
    by_length: dict[int, list[int]] = {}
    for run_start, run_end in runs:
        by_length.setdefault(run_end - run_start, []).append(run_start)
    covered = start
    for run_start, run_end in runs:
        if run_start < covered:
            continue
        length = run_end - run_start
        closings = by_length[length]
        index = bisect_right(closings, run_start)
        paragraph_end = paragraph_ends[bisect_right(paragraph_ends, run_start)] if run_start < stop else stop
        if index < len(closings) and closings[index] < paragraph_end:
            covered = closings[index] + length
            yield run_start, covered
