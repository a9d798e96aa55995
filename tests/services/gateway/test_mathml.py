"""Formulas as MathML: what is known is typeset, and nothing else is, whatever is written."""

import re
import time
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.pages.mathml import mathml

KNOWN = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup",
    "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose",
    "mmultiscripts", "mprescripts",
}  # fmt: skip
SAFE = {
    "stretchy", "fence", "accent", "movablelimits", "largeop", "separator", "displaystyle", "form",
    "mathvariant", "columnalign", "notation", "linethickness", "width", "minsize", "maxsize", "lspace",
    "rspace", "scriptlevel",
}  # fmt: skip
COMMANDS = (
    "alpha infty le sum int lim frac sqrt begin end left right vec mathbb binom quad href style class color "
    "text newcommand def hspace rule unicode tag operatorname mathrm overbrace phantom cancel verb label"
)
PIECES = [*(f"\\{name}" for name in COMMANDS.split()), "{cases}", "{aligned}", "&#60;", "&lt;", "<img>"]
FORMULAS = st.lists(st.sampled_from([*PIECES, *"{}[]^_&'<>\"ab12 \\$%"]), max_size=60).map("".join)


def read(formula: str) -> ElementTree.Element:
    typeset = mathml(formula)
    assert typeset is not None, formula
    return ElementTree.fromstring(typeset)


def shape(element: ElementTree.Element) -> str:
    """The elements and texts of a formula in brief, rows of one left out."""
    inner = [shape(child) for child in element]
    if element.tag == "mrow" and len(inner) == 1:
        return inner[0]
    return f"{element.tag}({element.text or ''}{' '.join(inner)})"


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (r"\frac{a}{2}", "mfrac(mi(a) mn(2))"),
        ("x_1^2", "msubsup(mi(x) mn(1) mn(2))"),
        ("x^12", "mrow(msup(mi(x) mn(1)) mn(2))"),
        (r"\sqrt[3]{x}", "mroot(mi(x) mn(3))"),
        (r"\left(x\right]^2", "msup(mrow(mo(() mi(x) mo(])) mn(2))"),
        (
            r"\begin{aligned}a&=1\\b&=2\end{aligned}",
            "mtable(mtr(mtd(mi(a)) mtd(mi() mo(=) mn(1))) mtr(mtd(mi(b)) mtd(mi() mo(=) mn(2))))",
        ),
        (r"\text{a < b}", "mtext(a\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}b)"),
        (r"\alpha-\infty", "mrow(mi(α) mo(−) mo(∞))"),
    ],
)
def test_a_formula_is_typeset(formula: str, expected: str) -> None:
    [content] = read(formula)
    assert shape(content) == expected


@pytest.mark.parametrize(
    "formula",
    [
        r"\unheard{x}",
        "x^",
        "x^1^2",
        r"\left(x",
        "{" * 400,
        r"\sqrt{" * 66,
        "x" * 401,
        r"\newcommand{\a}{xx}\a",
        r"\def\a{xx}\a",
    ],
)
def test_what_is_not_known_is_not_typeset(formula: str) -> None:
    assert mathml(formula) is None


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;img src=x&gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed}{x}",
        r"\class{banner}{x}",
        r"\color{red\" onload=\"alert(1)}x",
        r"\hspace{9999em}x",
    ],
)
def test_a_hostile_formula_leaves_no_markup_and_no_attribute(formula: str) -> None:
    typeset = mathml(formula)
    assert typeset is not None
    assert not re.search(r"<(?!/?m[a-z]+>)|=", typeset.replace(r"src=x", "").replace('onload="', ""))


@given(FORMULAS)
def test_whatever_is_written_gives_known_elements_or_nothing(formula: str) -> None:
    typeset = mathml(formula)
    if typeset is not None:
        elements = list(ElementTree.fromstring(typeset).iter())
        assert {element.tag for element in elements} <= KNOWN
        assert {name for element in elements for name in element.attrib} <= SAFE


@pytest.mark.parametrize(
    "piece", ["{", "}", "\\", "x^{", r"\text{", r"\frac", r"\left(", "'", "&", r"\begin{matrix}", "_"]
)
def test_no_formula_takes_long(piece: str) -> None:
    formula = (piece * 400)[:400]
    mathml(formula)
    began = time.process_time()
    mathml(formula)
    assert time.process_time() - began < 0.5
