"""Answers as they were meant: Markdown as HTML that contains nothing but our own elements.

    an answer, the places that state nuggets  ->  HTML with marks that lead to the nuggets

HTML in an answer is text, an image is a link, and only http and https become links. A mark is told apart by
two noncharacters of Unicode around its text. They are removed from what was sent, and the parser makes none:
a character reference to a noncharacter becomes U+FFFD, and `_link_text` removes those of an encoded URL. They
become elements where text is rendered, so a mark never crosses the border of another element.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink, normalizeLinkText
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from services.gateway.pages.code import highlighted
from services.gateway.pages.mathml import mathml
from services.gateway.pages.quotes import Piece
from services.gateway.pages.urls import is_web

_UNSUPPORTED = "no source of this answer supports this sentence"
MOST = 20_000  # characters; a longer answer is shown as plain text, so that it costs no time
_START, _END = "\ufdd0", "\ufdd1"
_PRIVATE = re.compile(f"[{_START}{_END}]")
_NOT_TEXT = re.compile(rf"({_START}\d+;)|{_END}")
_BEFORE = re.compile(r"[\s>|#*_`+~-]*(?:\d{1,9}[.)]\s+)?[*_`]*")  # markup at the beginning of a quote
_AFTER = re.compile(r"(?<![\s|*_`~])[\s|*_`~]*\Z")
_FORMULA = re.compile(
    r"\\\((?P<a>.{1,400}?)\\\)|\\\[(?P<b>.{1,400}?)\\\]|\$\$(?P<c>[^$]{1,400})\$\$"
    r"|\$(?P<d>[^\s$](?:[^$\n]{0,400}[^\s$\\])?)\$(?!\d)",
    re.DOTALL,
)
_SCROLLING = 'dir="ltr" tabindex="0" role="group"'
_BLOCKS = ("paragraph_open", "list_item_open", "blockquote_open", "td_open", "th_open")


@lru_cache(maxsize=64)
def rendered(pieces: tuple[Piece, ...], side: str) -> Markup:
    """An answer as HTML.

    Args:
        pieces: The answer in pieces; those that are marked become `mark` elements.
        side: "a" or "b", for the ids of the marks.
    """
    if sum(len(piece.text) for piece in pieces) > MOST:
        marked = "".join(_plain(piece, side) for piece in pieces)
        return Markup(f'<div class="plain">{marked}</div>')  # noqa: S704 - each part is escaped
    renderer = _Renderer(pieces, side)
    source = "".join(_with_signs(piece, number) for number, piece in enumerate(pieces))
    tokens = _PARSER.parse(source)
    html = renderer.render(tokens, _PARSER.options, {})
    return Markup(_PRIVATE.sub("", html))  # noqa: S704 - the renderer escapes all text


def formulas(text: str) -> Markup:
    r"""A text without Markdown, such as a nugget, with its formulas typeset where they are known.

    >>> formulas("a < b if \\(x\\) grows")
    Markup('a &lt; b if <span class="math" dir="ltr"><math><mrow><mi>x</mi></mrow></math></span> grows')
    """
    parts, end = [], 0
    for formula in _FORMULA.finditer(text):
        typeset = mathml(formula[formula.lastgroup or 0])
        if typeset is not None:
            parts += [escape(text[end : formula.start()]), f'<span class="math" dir="ltr">{typeset}</span>']
            end = formula.end()
    return Markup("".join([*parts, escape(text[end:])]))  # noqa: S704 - each part is escaped or markup of ours


def _with_signs(piece: Piece, number: int) -> str:
    text = _PRIVATE.sub("", piece.text)
    before, after = _BEFORE.match(text), _AFTER.search(text)
    start, end = before.end() if before else 0, after.start() if after else len(text)
    if not piece.is_marked or start >= end:
        return text
    return f"{text[:start]}{_START}{number};{text[start:end]}{_END}{text[end:]}"


def _mark(text: str, piece: Piece, side: str, *, first: bool, last: bool) -> str:
    if not piece.numbers:
        return _unsupported(text, piece, side, first=first, last=last)
    attributes = f' id="{side}-{piece.numbers[0]}"' if first else ""
    links = "".join(f'<a href="#nugget-{n}" aria-label="nugget {n}">{n}</a>' for n in piece.numbers)
    end = f"<sup>{links}</sup>" if last else ""
    numbers = " ".join(map(str, piece.numbers))
    return f'<mark{attributes} class="{piece.kind}" data-nuggets="{numbers}">{text}{end}</mark>'


def _unsupported(text: str, piece: Piece, side: str, *, first: bool, last: bool) -> str:
    """The mark of a sentence that no source supports; it leads to the passage that is closest to it."""
    attributes, end = "", ""
    if piece.sentence is not None and first:
        attributes = f' id="{side}-s{piece.sentence}"'
    if piece.sentence is not None and last:
        end = f'<span class="unseen"> ({_UNSUPPORTED})</span>'
        if piece.chunk is not None:
            words = f"closest passage: chunk {piece.chunk} of the evidence"
            end += f'<sup><a href="#chunk-{piece.chunk}" aria-label="{words}">§{piece.chunk}</a></sup>'
    return f'<mark{attributes} class="unsupported sentence" title="{_UNSUPPORTED}">{text}{end}</mark>'


def _plain(piece: Piece, side: str) -> str:
    text = escape(piece.text)
    return _mark(text, piece, side, first=True, last=True) if piece.is_marked else text


class _Renderer(RendererHTML):
    """Renders the tokens of one answer; `_open` is the piece whose mark is open, and whether it has begun."""

    def __init__(self, pieces: Sequence[Piece], side: str) -> None:
        super().__init__()
        self._pieces, self._side = pieces, side
        self._open: Piece | None = None
        self._begun = False

    def renderToken(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: N802
        token = tokens[idx]
        if token.type in _BLOCKS:
            token.attrSet("dir", "auto")
            if "style" in token.attrs:  # the alignment of a column, which our policy does not allow inline
                token.attrSet("class", str(token.attrs.pop("style")).removeprefix("text-align:"))
        elif token.type in ("heading_open", "heading_close"):
            level, token.tag = token.tag, "h4"
            if token.nesting == 1:
                token.attrSet("class", level)
                token.attrSet("dir", "auto")
        elif token.type == "link_open":
            token.attrSet("rel", "noopener noreferrer nofollow")
        html = super().renderToken(tokens, idx, options, env)
        if token.type == "table_open":
            return f'<div class="scroll" tabindex="0" role="group" aria-label="Table">{html}'
        return f"{html}</div>" if token.type == "table_close" else html

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: ARG002
        """Text with its marks."""
        return self._marked(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: ARG002
        """Text with its marks, as code."""
        return f"<code>{self._marked(tokens[idx].content)}</code>"

    def math(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: ARG002
        """A formula, typeset where it is known; else as it is written, with its marks."""
        content, block = tokens[idx].content, bool(tokens[idx].meta)
        typeset = None if _PRIVATE.search(content) else mathml(content, block=block)
        shown = self._marked(content) if typeset is None else self._run(typeset, last=False)
        if block:
            return f'<span class="math block" {_SCROLLING} aria-label="Formula">{shown}</span>'
        return f'<span class="math" dir="ltr">{shown}</span>'

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: ARG002
        """A block of code; it has no marks, and no mark stays open behind it."""
        token = tokens[idx]
        content = token.content
        for sign in _NOT_TEXT.finditer(content):
            self._turn(sign[1])
        code = highlighted(_NOT_TEXT.sub("", content), token.info.strip().split(" ")[0])
        return f'<pre dir="ltr" tabindex="0"><code>{code}</code></pre>\n'

    code_block = fence

    def _turn(self, sign: str | None) -> None:
        """Open the mark that a sign names; close the open one where there is no sign or no such piece."""
        number = len(self._pieces) if sign is None else int(sign[1:-1])
        self._open = self._pieces[number] if number < len(self._pieces) else None
        self._begun = False

    def _marked(self, content: str) -> str:
        parts, position = [], 0
        for sign in _NOT_TEXT.finditer(content):
            parts.append(self._run(escape(content[position : sign.start()]), last=sign[1] is None))
            self._turn(sign[1])
            position = sign.end()
        parts.append(self._run(escape(content[position:]), last=False))
        return "".join(parts)

    def _run(self, html: str, *, last: bool) -> str:
        """A part of the answer with the mark that is open."""
        if self._open is None or not (html or last):
            return html
        first, self._begun = not self._begun, True
        return _mark(html, self._open, self._side, first=first, last=last)


def _formula(state: StateInline, silent: bool) -> bool:
    r"""Recognise $…$, $$…$$, \(…\) and \[…\]; a lone dollar is money."""
    if state.src[state.pos] not in "\\$":
        return False
    formula = _FORMULA.match(state.src, state.pos)
    if formula is None:
        return False
    if not silent:
        token = state.push("math", "span", 0)
        token.content = formula[formula.lastgroup or 0]
        token.meta = {"block": True} if formula.lastgroup in ("b", "c") else {}
    state.pos = formula.end()
    return True


def _address(url: str) -> str:
    """The address of a link, without the signs of a mark that begins or ends within it."""
    return normalizeLink(_NOT_TEXT.sub("", url))


def _link_text(link: str) -> str:
    """The text of an autolink: decoded, unless a mark begins or ends within it."""
    return link if _PRIVATE.search(link) else _PRIVATE.sub("", normalizeLinkText(link))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.disable("image")
    parser.inline.ruler.before("escape", "math", _formula)
    parser.validateLink = is_web  # type: ignore[method-assign]
    parser.normalizeLink = _address  # type: ignore[method-assign]
    parser.normalizeLinkText = _link_text  # type: ignore[method-assign]
    return parser


_PARSER = _parser()
