"""Code in answers, with classes for colours; every character is escaped."""

from html import escape

from pygments import lex
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

MOST = 10_000  # characters; longer code has no colours
_NAMES = """bash c cpp css go html java javascript js json kotlin php py python ruby rust sh sql swift ts
typescript yaml"""
_LANGUAGES = frozenset(_NAMES.split())
_CLASSES = (
    (Comment, "c"),
    (Keyword, "k"),
    (String, "s"),
    (Number, "n"),
    (Name.Function, "f"),
    (Name.Class, "f"),
)


def highlighted(code: str, language: str) -> str:
    """Code as HTML.

    Args:
        code: The code.
        language: Name after the opening fence; "" or an unknown one for no colours.

    >>> highlighted("x < 1", "python")
    'x &lt; <span class="n">1</span>'
    """
    if language.lower() not in _LANGUAGES or len(code) > MOST:
        return escape(code)
    lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    return "".join(_span(kind, text) for kind, text in lex(code, lexer))


def _span(kind: _TokenType, text: str) -> str:
    name = next((name for group, name in _CLASSES if kind in group), None)
    return escape(text) if name is None else f'<span class="{name}">{escape(text)}</span>'
