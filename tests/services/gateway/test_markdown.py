"""Answers as HTML: what Markdown means, marks that lead to nuggets, and nothing that could be abused."""

import re
from html.parser import HTMLParser

import pytest

from services.gateway.pages.markdown import MOST, rendered
from services.gateway.pages.quotes import Piece, cut

VOID = {"br", "hr"}


class Balanced(HTMLParser):
    """Fails on an element that is closed where it was not the innermost, and collects what there is."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(text: str, *quotes: str) -> str:
    pieces = tuple(cut(text, quotes))
    assert "".join(piece.text for piece in pieces) == text
    return str(rendered(pieces, "a"))


def test_markdown_becomes_what_it_means() -> None:
    page = shown(
        "# Tides\n\nTwo **bulges** and `code`.\n\n- one\n- two\n\n| x | y |\n|---|--:|\n| 1 | 2 |\n\n> said"
    )
    assert '<h4 class="h1" dir="auto">Tides</h4>' in page
    assert "<strong>bulges</strong> and <code>code</code>" in page
    assert page.count("<li ") == 2
    assert '<td dir="auto" class="right">2</td>' in page
    assert '<blockquote dir="auto">' in page


def test_code_has_colours_and_formulas_can_be_read() -> None:
    assert '<span class="k">return</span>' in shown("```python\nreturn 1 < 2\n```")
    assert "1 &lt; 2" in shown("```\n1 < 2\n```")
    page = shown(r"Energy \(E = m \odd c^2\) and $\frac{1}{2} \le x_1$, for $5 or $6.")
    written, typeset = re.findall(r'<span class="math" dir="ltr">(.*?)</span>', page)
    assert written == r"E = m \odd c^2"
    half = "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"
    lowered = "<msub><mi>x</mi><mn>1</mn></msub>"
    assert typeset == f"<math><mrow>{half}<mo>≤</mo>{lowered}</mrow></math>"
    assert '<math display="block">' in shown("$$x$$")
    assert "for $5 or $6." in page


def test_a_formula_within_a_marked_sentence_is_part_of_its_mark() -> None:
    page = shown("Here $x^2$ grows.", "Here $x^2$ grows.")
    assert Balanced(page).tags == {"p", "mark", "span", "math", "msup", "mi", "mn", "mrow", "sup", "a"}
    assert re.search(r'<span class="math" dir="ltr"><mark [^>]*><math><mrow><msup>', page)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        "[x](javascript:alert(1)) [y](data:text/html,z) <javascript:alert(2)>",
        '![x](https://example.org/spy.png "onload=alert(1)")',
        '[x](https://example.org/"onmouseover="alert(1))',
        '```"><script>\n<script>\n```',
        "| <b>x</b> |\n|---|\n| <script> |",
        "\ufdd00;x\ufdd1 \ufdd0999;y",
        r"$<script>$ \(<img src=x>\)",
    ],
)
def test_nothing_but_our_own_elements_comes_out(hostile: str) -> None:
    found = Balanced(shown(hostile))
    assert found.tags <= {
        "math",
        "mrow",
        "mi",
        "mo",
        "p",
        "a",
        "pre",
        "code",
        "span",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "div",
        "br",
    }
    for name, value in found.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "style")
        if name == "href":
            assert (value or "").startswith("https://example.org/")


@pytest.mark.parametrize(
    ("text", "quote", "marked"),
    [
        ("It rises. It falls.", "It falls.", ["It falls."]),
        ("- **Moon:** it pulls.\n- Sun", "- **Moon:** it pulls.", ["Moon:", " it pulls."]),
        ("One **bold** end.", "One **bold** end.", ["One ", "bold", " end."]),
        ("First part.\n\nSecond part.", "First part.\n\nSecond part.", ["First part.", "Second part."]),
        ("| a | b |\n|---|---|\n| c | d |", "| c | d |", ["c", "d"]),
        ("1. one\n2. two", "2. two", ["two"]),
        ("See `x = 1` here", "`x = 1` here", ["x = 1", " here"]),
    ],
)
def test_a_quote_is_marked_in_every_element_that_it_crosses(text: str, quote: str, marked: list[str]) -> None:
    page = shown(text, quote)
    found = Balanced(page)
    assert [
        re.sub(r"<sup>.*</sup>", "", mark) for mark in re.findall(r"<mark[^>]*>(.*?)</mark>", page)
    ] == marked
    assert page.count("<sup>") == 1
    assert found.attributes.count(("id", "a-1")) == 1
    assert re.sub(r"<sup>.*?</sup>|</?mark[^>]*>", "", page) == shown(text)


SIGNS = [
    "&#xE000;{};", "&#57344;{};", "&#xe001;{}", "&#57345;{}",
    "&#xFDD0;{};", "&#64976;{};", "&#xFDD1;{}", "&#64977;{}",
]  # fmt: skip


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("number", [0, 1, 99999])
@pytest.mark.parametrize(
    "place",
    [
        "{}",
        "**{}** and `{}`",
        '[{}](https://example.org/{} "{}")',
        "[{}][r]\n\n[r]: https://example.org/{} '{}'",
        "# {}\n\n| {} |\n|---|\n| {} |",
        "$x {}$ and \\[{}\\]",
        "```{}\n{}\n```",
    ],
)
def test_character_references_neither_open_nor_close_a_mark(sign: str, number: int, place: str) -> None:
    text = "It rises.\n\n" + place.replace("{}", sign.format(number)) + "\n\nIt falls."
    found = Balanced(page := shown(text, "It falls."))
    assert page.count("<mark") == 1
    assert ("id", "a-1") in found.attributes
    assert ">It falls.<sup>" in page


def test_a_character_reference_within_a_marked_sentence_does_not_end_its_mark() -> None:
    page = shown("It&#xE001; rises &#xFDD1;high.", "It&#xE001; rises &#xFDD1;high.")
    assert re.search(r"<mark[^>]*>It\ue001 rises \ufffdhigh\.<sup>", page)


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/%EE%80%8099999;%ee%80%81",
        "https://example.org/%EF%B7%9099999;%ef%b7%91",
        "https://xn--" + "a\ufdd0".encode("punycode").decode() + "/",
    ],
)
def test_an_encoded_address_neither_opens_nor_closes_a_mark(address: str) -> None:
    page = shown(f"It rises. <{address}> It falls.", "It falls.")
    assert page.count("<mark") == 1
    assert 'href="https://' in page


def test_a_mark_may_begin_within_an_address() -> None:
    page = shown("See <https://example.org/a%20b> now.", "a%20b> now.")
    assert 'href="https://example.org/a%20b"' in page
    assert re.findall(r"<mark[^>]*>(.*?)(?:<sup>.*?)?</mark>", page) == ["a%20b", " now."]


def test_two_nuggets_of_one_sentence_have_one_mark_with_the_label_of_the_first() -> None:
    page = str(rendered((Piece("It is.", (2, 5), "partial_support"),), "b"))
    assert '<mark id="b-2" class="partial_support" data-nuggets="2 5">It is.<sup><a href="#nugget-2"' in page
    assert page.count("<mark") == 1


@pytest.mark.parametrize(
    "sample", ["[" * 5, "*a ", "`" * 3, "<", "\\(", "$x", "> " * 9, "![", "| a ", "\ufdd0"]
)
def test_a_long_answer_is_shown_whole_as_text(sample: str) -> None:
    text = sample * (MOST // len(sample) + 1)
    assert shown(text).startswith('<div class="plain">')
    assert Balanced(shown(text[: MOST // 10])).tags <= {
        "p",
        "em",
        "code",
        "pre",
        "blockquote",
        "br",
        "span",
        "strong",
        "math",
        "mrow",
        "mi",
    }
