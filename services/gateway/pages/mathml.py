r"""Formulas in answers as MathML, which browsers typeset without a script or a font of ours.

    \frac{a}{b} \le x^2   ->   <math><mrow><mfrac>…</mfrac><mo>≤</mo><msup>…</msup></mrow></math>

latex2mathml reads the formula. Its markup is not trusted, because it passes on text and attributes as the
formula has them (`\href`, `\style`): only known elements and attributes are kept, and all text is escaped.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from xml.etree.ElementTree import Element

from latex2mathml.converter import Converter

_LONGEST = 400  # characters; the time grows with the square of the length
_MACRO = re.compile(r"\\(?:(?:re)?new|def|Declare)")  # a few definitions can expand to gigabytes
# Environments that latex2mathml does not know, and which are typeset as one that it knows.
_ALIGNED = re.compile(r"(\\(?:begin|end)\s*\{)(?:align(?:ed)?|gather(?:ed)?|eqnarray)\*?\}")
_ELEMENTS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
        "mprescripts",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
        "menclose",
    ]
)
_ATTRIBUTES = {
    name: re.compile(pattern)
    for names, pattern in {
        "stretchy fence accent movablelimits largeop separator displaystyle": "true|false",
        "form mathvariant columnalign notation": "[a-z -]{1,60}",
        "linethickness width minsize maxsize lspace rspace": r"[+-]?\d?(?:\.\d{1,3})?(?:em|ex|px)?",
        "scriptlevel": r"[+-]?\d",
    }.items()
    for name in names.split()
}


@lru_cache(maxsize=2048)  # a page is rendered again at each event
def mathml(tex: str, *, block: bool = False) -> str | None:
    """A formula as a MathML element; None where it is too long or has something that is not known.

    Args:
        tex: The formula, without its delimiters.
        block: Whether it stands on a line of its own.

    >>> mathml("x^2")
    '<math><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'
    >>> mathml(r"\\unheard{x}") is None
    True
    """
    if len(tex) > _LONGEST or _MACRO.search(tex):
        return None
    try:
        element = Converter(display="block" if block else "inline").convert_to_element(
            _ALIGNED.sub(r"\1split}", tex)
        )
        content = "".join("".join(_markup(child)) for child in element)
    except Exception:
        return None
    return f'<math display="block">{content}</math>' if block else f"<math>{content}</math>"


def _markup(element: Element) -> Iterator[str]:
    """An element as markup.

    Raises:
        ValueError: It has something that is not known.
    """
    text = unescape(element.text or "")
    if element.tag not in _ELEMENTS or (text[:1] == "\\" and element.tag != "mtext"):
        raise ValueError(element.tag, text)
    attributes = (
        f' {name}="{value}"'
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES and _ATTRIBUTES[name].fullmatch(value)
    )
    yield f"<{element.tag}{''.join(attributes)}>{escape(text)}"
    for child in element:
        yield from _markup(child)
    yield f"</{element.tag}>{escape(unescape(element.tail or ''))}"
