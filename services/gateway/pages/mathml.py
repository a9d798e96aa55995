r"""Formulas in answers as MathML, which browsers typeset without a script or a font of ours.

    \frac{a}{b} \le x^2   ->   <math><mrow><mfrac>…</mfrac><mo>≤</mo><msup>…</msup></mrow></math>

A formula with anything that is not known here is not typeset at all; see `mathematics.readable`.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from html import escape

from services.gateway.pages.mathematics import SIGNS

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:,\d{3})*(?:\.\d+)?|\s+|.", re.DOTALL)
_DEEPEST = 30  # groups within groups
_FUNCTIONS = (
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "csc", "deg", "det", "dim", "exp", "gcd",
    "ker", "lg", "ln", "log", "sec", "sin", "sinh", "tan", "tanh",
)  # fmt: skip
_LIMITED = ("lim", "liminf", "limsup", "max", "min", "inf", "sup", "argmax", "argmin")
_LARGE = frozenset("∑∏⋃⋂")  # limits stand below and above
_SPACES = {",": 0.17, ":": 0.22, ";": 0.28, "!": 0.0, " ": 0.25, "quad": 1.0, "qquad": 2.0}
_IGNORED = (
    "displaystyle", "textstyle", "limits", "nolimits", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl",
    "Bigr",
)  # fmt: skip
_WORDS = ["text", "textrm", "textbf", "textit", "mbox"]
_UPRIGHT = ["mathrm", "operatorname", "mathsf", "mathtt"]
_ACCENTS = {"hat": "^", "widehat": "^", "bar": "¯", "overline": "¯", "vec": "→", "dot": "˙", "ddot": "¨"}
_ACCENTS |= {"tilde": "~", "widetilde": "~"}
_DOUBLE = dict(zip("CEHNPQRZ", "ℂ𝔼ℍℕℙℚℝℤ", strict=True))
_FENCES = {"matrix": "", "pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}", "vmatrix": "||", "cases": "{."}
_TABLES = {*_FENCES, "aligned", "align", "align*", "gathered", "split"}
_SYMBOLS = "∞∂∇°∅…⋯⋮⋱ℏℓ"  # no operators, although no letters for Unicode
_PLAIN_FENCES = frozenset("()[]{}|‖⟨⟩⌊⌋⌈⌉")  # as high as a letter, unless after \left or \right
_BOLD = {"A": 0x1D400, "a": 0x1D41A, "0": 0x1D7CE}


class _Unknown(ValueError):
    """The formula has something that is not known here."""


def mathml(tex: str, *, block: bool = False) -> str | None:
    """A formula as a MathML element; None where it has something that is not known.

    Args:
        tex: The formula, without its delimiters.
        block: Whether it stands on a line of its own.

    >>> mathml("x^2")
    '<math><msup><mi>x</mi><mrow><mn>2</mn></mrow></msup></math>'
    >>> mathml(r"\\unheard{x}") is None
    True
    """
    try:
        parser = _Parser(tex)
        content = parser.row()
        parser.expect("")
    except _Unknown:
        return None
    return f'<math display="block">{content}</math>' if block else f"<math>{content}</math>"


def _tag(name: str, *content: str) -> str:
    return f"<{name}>{''.join(content)}</{name}>"


def _row(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else _tag("mrow", *parts)


def _sign(sign: str) -> str:
    if sign in _PLAIN_FENCES:
        return f'<mo stretchy="false">{sign}</mo>'
    name = "mi" if sign.isalpha() or sign in _SYMBOLS else "mo"
    return _tag(name, escape(sign))


def _fence(sign: str) -> str:
    return "" if sign == "." else f'<mo fence="true" stretchy="true">{escape(sign)}</mo>'


def _bold(letter: str) -> str:
    for first, start in _BOLD.items():
        last = "9" if first == "0" else chr(ord(first) + 25)
        if first <= letter <= last:
            return _tag("mi", chr(start + ord(letter) - ord(first)))
    raise _Unknown(letter)


def _double(letter: str) -> str:
    if letter not in _DOUBLE:
        raise _Unknown(letter)
    return _DOUBLE[letter]


_CONSTANTS = {name: _sign(sign) for name, sign in SIGNS.items() if sign}
_CONSTANTS |= {sign: _sign(sign) for sign in "{}%&_#$"} | {"|": _sign("‖")}
_CONSTANTS |= {name: f'<mspace width="{width}em"></mspace>' for name, width in _SPACES.items()}
_CONSTANTS |= {name: _tag("mi", name) for name in (*_FUNCTIONS, *_LIMITED)} | dict.fromkeys(_IGNORED, "")


class _Parser:
    """Reads a formula from left to right."""

    def __init__(self, tex: str) -> None:
        self._tokens = _TOKEN.findall(tex)
        self._at = 0
        self._depth = 0
        self._commands: Mapping[str, Callable[[], str]] = {
            "left": self._fenced,
            "sqrt": self._root,
            "begin": self._environment,
            "mathbb": lambda: _tag("mi", _double(self._raw())),
            "binom": lambda: _row([_fence("("), self._over(' linethickness="0"'), _fence(")")]),
            **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), self._over),
            **dict.fromkeys(("mathbf", "boldsymbol"), lambda: _row([_bold(each) for each in self._raw()])),
            **dict.fromkeys(_WORDS, lambda: _tag("mtext", escape(self._raw()))),
            **dict.fromkeys(_UPRIGHT, lambda: f'<mi mathvariant="normal">{escape(self._raw())}</mi>'),
            **{name: partial(self._accent, sign) for name, sign in _ACCENTS.items()},
        }

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _skip_space(self) -> None:
        while self._peek().isspace():
            self._at += 1

    def expect(self, token: str) -> None:
        """Take this token, which is "" at the end."""
        self._skip_space()
        if self._take() != token:
            raise _Unknown(token)

    def row(self, *ends: str) -> str:
        """Everything up to one of some tokens, or to the end."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Unknown("depth")
        parts: list[str] = []
        while True:
            self._skip_space()
            if self._peek() in ("", "}", "\\right", "\\end", *ends):
                break
            if part := self._scripted():
                parts.append(part)
        self._depth -= 1
        return _row(parts)

    def _scripted(self) -> str:
        """An atom with what stands below and above it."""
        start = self._peek()
        base = _tag("mrow") if start in ("^", "_") else self._atom()
        scripts: dict[str, str] = {}
        while True:
            self._skip_space()
            kind = self._peek()
            if kind in ("^", "_"):
                self._take()
                if kind in scripts:
                    raise _Unknown("two scripts")
                scripts[kind] = self._argument()
            elif kind == "'":
                self._take()
                scripts["^"] = scripts.get("^", "") + _tag("mo", "′")
            else:
                break
        return _with_scripts(base, scripts, start)

    def _argument(self) -> str:
        self._skip_space()
        if self._peek() == "{":
            return self._atom()
        if len(digits := self._peek()) > 1 and digits[0].isdigit():  # x^12 is x² and then 2
            self._tokens[self._at : self._at + 1] = [*digits]
        return self._atom()

    def _atom(self) -> str:
        taken = self._take()
        if taken == "{":
            content = self.row()
            self.expect("}")
            return content
        if taken.startswith("\\"):
            return self._command(taken[1:])
        if taken[:1].isdigit():
            return _tag("mn", escape(taken))
        if taken in ("", "}", "&", "^", "_", "#", "$", "~"):
            raise _Unknown(taken)
        return _sign({"-": "−", "*": "∗"}.get(taken, taken))

    def _command(self, name: str) -> str:
        if name in self._commands:
            return self._commands[name]()
        if name not in _CONSTANTS:
            raise _Unknown(name)
        return _CONSTANTS[name]

    def _accent(self, sign: str) -> str:
        return f'<mover accent="true">{self._argument()}<mo>{sign}</mo></mover>'

    def _raw(self) -> str:
        """The argument of a command as it is written."""
        self.expect("{")
        parts = []
        while (taken := self._take()) != "}":
            if taken in ("", "{") or taken[0] in "\\$":
                raise _Unknown(taken)
            parts.append(taken)
        return "".join(parts)

    def _over(self, attribute: str = "") -> str:
        return f"<mfrac{attribute}>{self._argument()}{self._argument()}</mfrac>"

    def _root(self) -> str:
        self._skip_space()
        if self._peek() != "[":
            return _tag("msqrt", self._argument())
        self._take()
        degree = self.row("]")
        self.expect("]")
        return _tag("mroot", self._argument(), degree)

    def _fenced(self) -> str:
        opening, content = self._delimiter(), self.row()
        self.expect("\\right")
        return _row([part for part in (_fence(opening), content, _fence(self._delimiter())) if part])

    def _delimiter(self) -> str:
        self._skip_space()
        token = self._take()
        sign = SIGNS.get(token[1:], token[1:]) if token.startswith("\\") else token
        if len(sign) != 1 or sign.isalnum():
            raise _Unknown(token)
        return sign

    def _environment(self) -> str:
        name = self._raw()
        if name not in _TABLES:
            raise _Unknown(name)
        rows = [[self.row("&", "\\\\")]]
        while self._peek() in ("&", "\\\\"):
            if self._take() == "&":
                rows[-1].append(self.row("&", "\\\\"))
            else:
                rows.append([self.row("&", "\\\\")])
        self.expect("\\end")
        if self._raw() != name:
            raise _Unknown(name)
        table = _tag("mtable", *(_tag("mtr", *(_tag("mtd", cell) for cell in row)) for row in rows))
        fences = [_fence(sign) for sign in _FENCES.get(name, "")] or ["", ""]
        return _row([part for part in (fences[0], table, fences[1]) if part])


def _with_scripts(base: str, scripts: Mapping[str, str], start: str) -> str:
    """An atom with its scripts: below and above it for sums and limits, beside it for all else.

    Args:
        base: The atom.
        scripts: What stands below ("_") and above ("^") it.
        start: How the atom is written.
    """
    if not scripts:
        return base
    is_large = start[1:] in _LIMITED or SIGNS.get(start[1:], "-") in _LARGE
    words = {"_": "under", "^": "over"} if is_large else {"_": "sub", "^": "sup"}
    kinds = [kind for kind in words if kind in scripts]
    content = (_tag("mrow", scripts[kind]) for kind in kinds)
    return _tag(f"m{''.join(words[kind] for kind in kinds)}", base, *content)
