"""The reasoning that a model writes before or between its answer, and the answer alone.

    <think>…</think>  <thinking>  <thought>  <reasoning>  <scratchpad>  <seed:think>
    [THINK]…[/THINK]  ◁think▷…◁/think▷  <|begin_of_thought|>…<|end_of_thought|>
    <|START_THINKING|>…<|END_THINKING|>  <details type="reasoning">…</details>
    <|channel|>analysis<|message|>…<|end|>

Only marks at the start of a line and outside code count, so that an answer about such marks stays whole. Text
before a closing mark that nothing opened is reasoning, too: some servers leave the opening one out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nuggetstream.text.markup import blank_code

_NAMES = r"(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|scratchpad|inner_monologue)"
_MARK = re.compile(
    rf"<(?P<tag>{_NAMES})(?:\s[^<>]{{0,200}})?>|</(?P<end_tag>{_NAMES})>"
    r"|(?P<bracket>\[THINK\])|(?P<end_bracket>\[/THINK\])"
    r"|(?P<wedge>◁think▷)|(?P<end_wedge>◁/think▷)"
    r"|(?P<thought><\|begin_of_thought\|>)|(?P<end_thought><\|end_of_thought\|>)"
    r"|(?P<thinking><\|START_THINKING\|>)|(?P<end_thinking><\|END_THINKING\|>)"
    r'|(?P<details><details\s[^<>]{0,200}type="reasoning"[^<>]{0,200}>)|(?P<end_details></details>)'
    r"|(?P<channel>(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)\b[^<>]{0,200}<\|message\|>)"
    r"|(?P<end_channel><\|end\|>)",
    re.I,
)
# What frames the answer itself, beside reasoning.
_FRAMES = re.compile(
    r"<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>|<\|return\|>|</?answer>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>",
    re.I,
)
_INDENT = 16  # characters before a mark at the start of a line, at most
_MAY_HAVE_MARKS = re.compile(r"think|thought|reason|scratchpad|monologue|<\|channel\|>", re.I)


@dataclass(frozen=True, slots=True)
class Parted:
    """A text in its parts.

    Attributes:
        answer: The text without reasoning; the text itself where there is none.
        reasoning: The reasoning without its marks; None where there is none.
        complete: False where the text ends within its reasoning, before any answer.
    """

    answer: str
    reasoning: str | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True)
class _Block:
    """A part of a text that is reasoning: where it begins and ends, with its marks and without them."""

    start: int
    inner_start: int
    inner_end: int
    end: int


def parted(text: str) -> Parted:
    """The answer and the reasoning of a text.

    >>> parted("<think>Sea? No.</think>\\nAir scatters blue light.")
    Parted(answer='Air scatters blue light.', reasoning='Sea? No.', complete=True)
    >>> parted("Models write `<think>` first.").reasoning is None
    True
    """
    if _MAY_HAVE_MARKS.search(text) is None:
        return Parted(text)
    blocks = list(_blocks(text))
    if not blocks:
        return Parted(text)
    reasoning = "\n\n".join(
        inner for block in blocks if (inner := text[block.inner_start : block.inner_end].strip())
    )
    pieces, end = [], 0
    for block in blocks:
        pieces.append(text[end : block.start])
        end = block.end
    answer = _FRAMES.sub("", "".join((*pieces, text[end:]))).strip()
    return Parted(answer, reasoning or None, complete=blocks[-1].inner_end < len(text) or bool(answer))


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks of reasoning in their order, which do not overlap."""
    prose, position = blank_code(text), 0
    first = _MARK.match(text, len(text) - len(text.lstrip()))
    if first is not None and _opens(first):
        close = next((m for m in _MARK.finditer(text, first.end()) if _closes(m, first)), None)
        if close is None:
            yield _Block(0, first.end(), len(text), len(text))
            return
        yield _Block(0, first.end(), close.start(), close.end())
        position = close.end()
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(prose, position):
        if opened is not None:
            if _closes(mark, opened):
                yield _Block(opened.start(), opened.end(), mark.start(), mark.end())
                position, opened = mark.end(), None
        elif _opens(mark):
            opened = mark if _begins_a_line(prose, mark.start()) else None
        elif position == 0 and first is None and _is_thought(mark):
            yield _Block(0, 0, mark.start(), mark.end())
            position = mark.end()


def _begins_a_line(prose: str, position: int) -> bool:
    before = prose[max(0, position - _INDENT) : position]
    return not before.rpartition("\n")[2].strip() and ("\n" in before or position < _INDENT)


def _opens(mark: re.Match[str]) -> bool:
    return not str(mark.lastgroup).startswith("end_")


def _closes(mark: re.Match[str], opening: re.Match[str]) -> bool:
    """Whether a mark ends what another one of its kind begins; a tag may be closed by another tag's name."""
    return mark.lastgroup == f"end_{opening.lastgroup}"


def _is_thought(mark: re.Match[str]) -> bool:
    """Whether a closing mark is one of reasoning without an opening one; others end other things, too."""
    return mark.lastgroup not in ("end_details", "end_channel")
