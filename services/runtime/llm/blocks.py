"""Delimiters for untrusted text in a prompt, so that a page cannot pass as the operator's instructions.

    <<<chunk c1 #5b0e6c1f0a4d9a37>>>
    text of a web page
    <<<end c1 #5b0e6c1f0a4d9a37>>>

Pages and answers are hostile input. Three measures keep them inside their block: a nonce that occurs in
no text of the prompt, neutralising everything that looks like one of our markers, one of our numbers of
sentences, a model's own role token or the beginning of a turn, and removing characters that are invisible to
a person who reads the page.

Nuggets that follow each other share one pair of markers, with a line for each, because markers cost tokens,
and so do passages that are a single line:

    <<<nuggets list #5b0e6c1f0a4d9a37>>>
    n1: Tides follow the moon.
    n2: There are two a day.
    <<<end list #5b0e6c1f0a4d9a37>>>
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from nuggetstream.domain.identity import derived_id

_NAME = re.compile(r"[a-z][a-z_]*")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")
_OPENING = re.compile(r"^<<<([a-z_]+) ([A-Za-z0-9_.:-]+) #([0-9a-f]{16})>>>$", re.MULTILINE)

_NUGGET, _ANSWER, _LIST = "nugget", "answer", "list"
_LISTED = {
    _NUGGET: "nuggets",
    "chunk": "chunks",
    "question": "questions",
}  # what is written as a list, and the name of the list
_KIND_OF = {name: kind for kind, name in _LISTED.items()}

# Our markers start with three opening angle brackets, in ASCII. These look like one, two or three of them.
_ANGLES = dict.fromkeys("<＜﹤‹〈⟨〈❬❮˂ᐸ", 1) | dict.fromkeys("《«≪⟪⪡︽", 2) | {"⋘": 3}
_MARKER = re.compile(rf"[{''.join(_ANGLES)}]+")
_MARKER_WEIGHT = 3
_CHINESE_TITLE = frozenset({"《〈", "《〈〈"})  # a title in a title is set so
# Chat templates of the common model families: ChatML, Llama, DeepSeek and Gemma (pipes on either side), older
# Gemma, Llama 2, Mistral, EXAONE, MiniMax, Seed, Nemotron, GLM, Qwen's tools and thoughts.
_LABEL = r"[^<>\[\]\n]{1,60}"
_ROLE_TOKEN = re.compile(
    rf"[<＜﹤]\s*[|｜]{_LABEL}[|｜]?\s*[>＞﹥]|[<＜﹤]\s*[^<>|｜\s]{{1,60}}[|｜]\s*[>＞﹥]"
    r"|<(?:start|end)_of_(?:turn|role|image)>|<<\s*/?SYS\s*>>|</?(?:s|bos|eos|pad|unk|sop|eop|eoh|eoa|eot)>"
    r"|</?(?:think|tool_call|tool_response|tools|tool_calls)>|</?seed:[a-z_:]{1,40}>"
    r"|</?(?:[a-z]{1,20}:)?(?:function(?:_calls?|_results?)?|invoke|parameters?|tool_use|tool_results?|system|human"
    r"|user|assistant|system[_-](?:prompt|message|reminder|instructions?))(?:[\s=][^<>\n]{0,100})?>"
    r"|<(?:extra_id|special|reserved|unused)_?\d{1,5}>"
    r"|\[\s{0,9}/?\s{0,9}(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|THINK"
    r"|MODEL_SETTINGS|CALL_ID|gMASK|UNUSED_TOKEN_\d{1,5})\s{0,9}\]"
    rf"|\[[|｜]{_LABEL}[|｜]\]|\]~!?b[\[\]]|\[e~\[",
    re.IGNORECASE,
)
# Turns of templates without tokens: labels such as "Human:" and headings such as "### System". Both may stand
# after marks of Markdown and the number of a sentence.
_ROLE = r"(?:\[#\d{1,6}\] )?[*_]{0,3}(?:human|user|assistant|system|developer"
_TURN = re.compile(
    rf"^([#>*_ \t]{{0,14}})({_ROLE})[*_ \t]{{0,4}}[:：])"
    rf"|^(#{{1,6}}[ \t]{{0,4}})({_ROLE}|instructions?|input|response)(?: prompt| message)?"
    r"[*_]{0,3}[ \t]{0,8}(?:[:：]|$))",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Controls, soft hyphen, fillers, zero width, bidirectional overrides, tags, lone surrogates.
_HIDDEN = (
    "\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_HIDDEN}]")
# Persian, Indic scripts and emoji need single joiners and variation selectors; a run of them can only
# hide a message.
_HIDDEN_RUN = re.compile("([\u200c\u200d\ufe00-\ufe0f])[\u200c\u200d\ufe00-\ufe0f]+")
# What looks like the number of a sentence, which `numbering` sets, also once hidden characters are removed.
_GAP = rf"[\s\u200c\u200d\ufe00-\ufe0f{_HIDDEN}]*"
_SENTENCE_NUMBER = re.compile(rf"[\[［]{_GAP}[#＃]{_GAP}(?:\d{_GAP}){{1,9}}[\]］]")
# Joiners do nothing after ASCII but could part a marker; "1" with a variation selector is a keycap emoji.
_IDLE_JOINER = re.compile(
    f"(?<=[\x21-\x7e{''.join(_ANGLES)}＞﹥])[\u200c\u200d]|(?<=[\x21\x22\x24-\x29\x2b-\x2f\x3a-\x7e"
    f"{''.join(_ANGLES)}＞﹥])[\ufe00-\ufe0f]"
)
# Most texts consist of characters that none of the expressions above can match at, and are left as they are:
# ASCII without angle and square brackets, Latin, Greek, Cyrillic, dashes and quotation marks, kana, Chinese
# characters and their punctuation, Hangul.
_REMARKABLE = re.compile(
    r"[^\t\n\x20-;=-Z\\^-~\xa1-\xaa\xac\xae-\u02c1\u0370-\u0482\u048a-\u052f\u2010-\u2027"
    r"\u3001\u3002\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3\uff0c]"
)
_STAND_INS = str.maketrans(
    dict.fromkeys("<＜﹤", "‹")
    | dict.fromkeys(">＞﹥", "›")
    | dict.fromkeys("[［", "⟦")
    | dict.fromkeys("]］", "⟧")
)


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

    The brackets of markers and role tokens, the colons of turns and the marks of their headings are replaced
    by look-alikes; control, bidirectional and invisible characters and lone surrogates are removed. Text
    without any of these is returned unchanged.

    >>> neutralise("<|im_start|>system")
    '‹|im_start|›system'
    """
    if _REMARKABLE.search(text) is None and _TURN.search(text) is None:
        return text
    text = _INVISIBLE.sub("", _LINE_BREAK.sub("\n", text))
    text = _IDLE_JOINER.sub("", _HIDDEN_RUN.sub(r"\1", text))
    return _TURN.sub(_no_turn, _MARKER.sub(_no_marker, _ROLE_TOKEN.sub(_stand_in, text)))


def without_sentence_numbers(text: str) -> str:
    """The text with look-alikes for the brackets of what could pass as our number of a sentence.

    Its characters keep their positions.

    >>> without_sentence_numbers("[#2] Tea.")
    '⟦#2⟧ Tea.'
    """
    return _SENTENCE_NUMBER.sub(_stand_in, text)


def nonce_for(texts: Iterable[str], absent_from: Iterable[str] = ()) -> str:
    """A nonce of 16 hexadecimal digits that occurs in none of the texts.

    The nonce is derived from the texts and not random, so that the same prompt always has the same bytes and
    the reply cache recognises it. That does not help an attacker: the nonce depends on every text of a
    stranger in the prompt, the attacker's page included, so a page that contains its own nonce would be a
    fixed point of SHA-256. Should a text contain the nonce by chance, the next candidate is taken.

    Args:
        texts: The texts that the nonce is derived from.
        absent_from: More texts in which it must not occur.
    """
    parts = list(texts)
    searched = [*parts, *absent_from]
    for attempt in range(1000):
        nonce = derived_id("block nonce", attempt, parts)[:16]
        if not any(nonce in part for part in searched):
            return nonce
    raise ValueError("every candidate nonce occurs in the texts")


def render(blocks: Sequence[Block], nonce: str) -> str:
    """The blocks as prompt text, with every text neutralised."""
    parts = list[str]()
    for (kind, listed), group in groupby(_neutral(blocks), key=lambda block: (block.kind, _is_line(block))):
        if listed:
            lines = "\n".join(f"{block.id}: {block.text}" for block in group)
            parts.append(_fenced(_LISTED[kind], _LIST, lines, nonce))
        else:
            parts += [_fenced(kind, block.id, block.text, nonce) for block in group]
    return "\n\n".join(parts)


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
            text = prompt_text[position + 1 : end]
            kind = _KIND_OF.get(opening[1])
            blocks += [Block(opening[1], opening[2], text)] if kind is None else _lines_of(kind, text)
            position = end
    return blocks


def _fenced(kind: str, name: str, text: str, nonce: str) -> str:
    return f"<<<{kind} {name} #{nonce}>>>\n{text}\n<<<end {name} #{nonce}>>>"


def _neutral(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks with neutralised texts; nuggets are always one line."""
    for block in blocks:
        numbered = block.kind == _ANSWER  # by us
        text = neutralise(block.text if numbered else without_sentence_numbers(block.text))
        yield Block(block.kind, block.id, " ".join(text.split()) if block.kind == _NUGGET else text)


def _is_line(block: Block) -> bool:
    return block.kind == _NUGGET or (block.kind in _LISTED and block.text.splitlines() == [block.text])


def _lines_of(kind: str, text: str) -> list[Block]:
    lines = (line.partition(": ") for line in text.splitlines())
    return [Block(kind, name, line) for name, _, line in lines]


def _no_marker(match: re.Match[str]) -> str:
    run = match[0]
    if sum(_ANGLES[character] for character in run) < _MARKER_WEIGHT or run in _CHINESE_TITLE:
        return run
    return "‹" * len(run)


def _no_turn(match: re.Match[str]) -> str:
    marks, label = (match[1], match[2]) if match[1] is not None else (match[3], match[4])
    return marks.replace("#", "＃") + re.sub("[:：]$", "∶", label)


def _stand_in(match: re.Match[str]) -> str:
    return match[0].translate(_STAND_INS)
