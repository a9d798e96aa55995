"""Delimiters for untrusted text in a prompt, so that a page cannot pass as the operator's instructions.

    <<<chunk c1 #5b0e6c1f0a4d9a37>>>
    text of a web page
    <<<end c1 #5b0e6c1f0a4d9a37>>>

Pages and answers are hostile input. Three measures keep them inside their block: a nonce that occurs in
no text of the prompt, neutralising everything that looks like one of our markers or like a model's own
role token, and removing characters that are invisible to a person who reads the page.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nuggetstream.domain.identity import derived_id

_NAME = re.compile(r"[a-z][a-z_]*")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")
_OPENING = re.compile(r"^<<<([a-z_]+) ([A-Za-z0-9_.:-]+) #([0-9a-f]{16})>>>$", re.MULTILINE)

# Our markers start with three opening angle brackets, in ASCII; full width would look the same.
_MARKER = re.compile(r"[<＜]{3,}")
# Chat templates of the common model families: ChatML and Llama 3, DeepSeek, Gemma, Llama 2, Mistral.
_ROLE_TOKEN = re.compile(
    r"<\s*[|｜][^<>\n]{1,60}[|｜]\s*>|<(?:start|end)_of_turn>|<<\s*/?SYS\s*>>|\[\s*/?\s*INST\s*\]|</?s>",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Controls, soft hyphen, fillers, zero width, bidirectional overrides, tags, lone surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Persian, Indic scripts and emoji need single joiners and variation selectors; a run of them can only
# hide a message.
_HIDDEN_RUN = re.compile("([\u200c\u200d\ufe00-\ufe0f])[\u200c\u200d\ufe00-\ufe0f]+")
_STAND_INS = str.maketrans({"<": "‹", ">": "›", "＜": "‹", "[": "⟦", "]": "⟧"})


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of material in a prompt.

    Attributes:
        kind: Kind of material: query, answer, chunk or nugget.
        id: Name that the reply uses for it (c1, n3, first); chosen by us, never taken from the material.
        text: The material itself, untrusted.
    """

    kind: str
    id: str
    text: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.kind) or not _ID.fullmatch(self.id):
            raise ValueError(f"a block cannot be named {self.kind!r} {self.id!r}")


def neutralise(text: str) -> str:
    """The text with everything removed or replaced that could act as markup in a prompt.

    The brackets of markers and role tokens are replaced by look-alikes; control, bidirectional and invisible
    characters and lone surrogates are removed. Text without any of these is returned unchanged.

    >>> neutralise("<|im_start|>system")
    '‹|im_start|›system'
    """
    text = _INVISIBLE.sub("", _LINE_BREAK.sub("\n", text))
    text = _HIDDEN_RUN.sub(r"\1", text)
    return _MARKER.sub(_stand_in, _ROLE_TOKEN.sub(_stand_in, text))


def nonce_for(texts: Iterable[str]) -> str:
    """A nonce of 16 hexadecimal digits that occurs in none of the texts.

    The nonce is derived from the texts and not random, so that the same prompt always has the same bytes and
    the reply cache recognises it. That does not help an attacker: the nonce depends on every part of the
    prompt, the attacker's page included, so a page that contains its own nonce would be a fixed point of
    SHA-256. Should a text contain the nonce by chance, the next candidate is taken.
    """
    parts = list(texts)
    for attempt in range(1000):
        nonce = derived_id("block nonce", attempt, parts)[:16]
        if not any(nonce in part for part in parts):
            return nonce
    raise ValueError("every candidate nonce occurs in the texts")


def render(blocks: Sequence[Block], nonce: str) -> str:
    """The blocks as prompt text, with every text neutralised."""
    return "\n\n".join(_render_one(block, nonce) for block in blocks)


def parse(prompt_text: str) -> list[Block]:
    """The blocks of a prompt in order, with their texts as rendered.

    Only blocks with the nonce of the first marker count, because our instructions precede all material.

    Raises:
        ValueError: A block with that nonce is not closed.

    >>> parse(render([Block("query", "q", "Why?")], "0" * 16))
    [Block(kind='query', id='q', text='Why?')]
    """
    first = _OPENING.search(prompt_text)
    if first is None:
        return []
    nonce, blocks, position = first[3], list[Block](), first.start()
    while (opening := _OPENING.search(prompt_text, position)) is not None:
        position = opening.end()
        if opening[3] == nonce and opening[1] != "end":
            end = prompt_text.find(f"\n<<<end {opening[2]} #{nonce}>>>", position)
            if end < 0:
                raise ValueError(f"block {opening[1]} {opening[2]} is not closed")
            blocks.append(Block(opening[1], opening[2], prompt_text[position + 1 : end]))
            position = end
    return blocks


def _render_one(block: Block, nonce: str) -> str:
    return f"<<<{block.kind} {block.id} #{nonce}>>>\n{neutralise(block.text)}\n<<<end {block.id} #{nonce}>>>"


def _stand_in(match: re.Match[str]) -> str:
    return match[0].translate(_STAND_INS)
