"""Formulas as MathML: what is known is typeset, and nothing else is."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.pages.mathematics import SIGNS
from services.gateway.pages.mathml import mathml

KNOWN = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup",
    "munder", "mover", "munderover", "mtable", "mtr", "mtd",
}  # fmt: skip
PIECES = [f"\\{name}" for name in (*SIGNS, "frac", "begin", "end", "right", "vec", "mathbb", "binom", "quad")]
FORMULAS = st.lists(st.sampled_from([*PIECES, *"{}[]^_&'<>\"ab12 \\", "{cases}"]), max_size=40).map("".join)


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
        (r"\frac12", "mfrac(mn(1) mn(2))"),
        ("x_1^2", "msubsup(mi(x) mn(1) mn(2))"),
        ("x^12", "mrow(msup(mi(x) mn(1)) mn(2))"),
        ("f'", "msup(mi(f) mo(′))"),
        (r"\sum_{i}^n", "munderover(mo(∑) mi(i) mi(n))"),
        (r"\int_0^1", "msubsup(mo(∫) mn(0) mn(1))"),
        (r"\lim_{x}", "munder(mi(lim) mi(x))"),
        (r"\sqrt[3]{x}", "mroot(mi(x) mn(3))"),
        (r"\left(x\right]^2", "msup(mrow(mo(() mi(x) mo(])) mn(2))"),
        (
            r"\begin{cases}1&a\\2&b\end{cases}",
            "mrow(mo({) mtable(mtr(mtd(mn(1)) mtd(mi(a))) mtr(mtd(mn(2)) mtd(mi(b)))))",
        ),
        (r"\mathbb{R}\mathbf{x}", "mrow(mi(ℝ) mi(𝐱))"),
        (r"\text{a < b}", "mtext(a < b)"),
        (r"1,000.5", "mn(1,000.5)"),
        (r"\alpha-\infty", "mrow(mi(α) mo(−) mi(∞))"),
    ],
)  # fmt: skip
def test_a_formula_is_typeset(formula: str, expected: str) -> None:
    [content] = read(formula)
    assert shape(content) == expected


@pytest.mark.parametrize(
    "formula",
    [
        r"\unheard{x}",
        r"\frac{a}",
        "{x",
        "x}",
        "a & b",
        "x^",
        "x^1^2",
        r"\left(x",
        r"\begin{x}\end{x}",
        "{" * 400,
    ],
)
def test_what_is_not_known_is_not_typeset(formula: str) -> None:
    assert mathml(formula) is None


@given(FORMULAS)
def test_whatever_is_written_gives_known_elements_or_nothing(formula: str) -> None:
    typeset = mathml(formula)
    if typeset is not None:
        assert {element.tag for element in ElementTree.fromstring(typeset).iter()} <= KNOWN
        assert set(re.findall(r" (\w+)=", typeset)) <= {
            "fence", "stretchy", "width", "accent", "mathvariant", "linethickness",
        }  # fmt: skip
