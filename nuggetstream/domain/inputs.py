"""What callers hand over: which values are missing, and what kind of thing a source is.

Every reader of files and every public function decides by these rules.

    None, NaN, pandas' NA, NaT, an empty text     missing everywhere
    NA, N/A, NULL, None, - and their like         missing where all other values of a column are known
    a path, a frame, a list, a dictionary, ...    one kind each, by which functions accept or reject a source
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from math import isfinite
from os import PathLike
from typing import Any

_MISSING_TYPES = frozenset({"NAType", "NaTType", "NullScalar", "MaskedConstant"})
# How programs and people write that a value is missing: R, pandas, SQL, Excel, Stata and SAS, ARFF, LaTeX.
_MARKS = frozenset(
    (
        "na", "n/a", "n.a.", "n/a.", "#n/a", "#n/a n/a", "#na", "<na>", "nan", "-nan", "1.#ind", "1.#qnan",
        "nat", "null", "#null!", "#value!", "#ref!", "#div/0!", "none", "nil", "(null)", "(blank)", "\\n",
        "missing", "-", "--", "---", "–", "—", ".", "..", "...", "k.a.",
    )
)  # fmt: skip
_SHOWN = 40  # characters of a text in a message
_MARKS_SHOWN = 4


def is_missing(value: object) -> bool:
    """Whether a value is missing: None, NaN, NaT, NA of pandas or Arrow, or a text of white space.

    >>> [is_missing(value) for value in (None, float("nan"), " ", 0, False, "NA")]
    [True, True, True, False, False, False]
    """
    if isinstance(value, str):
        return not value.strip()
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - only NaN and NaT differ from themselves
    except (TypeError, ValueError):  # an array or a frame, which is no single value
        return False


def present(value: Any) -> Any:
    """The value; None where it is missing, whatever says so. A text stays, for an answer may be empty.

    >>> present(float("nan")), present(2), present("")
    (None, 2, '')
    """
    return value if isinstance(value, str) or not is_missing(value) else None


def is_mark(text: str, named: Collection[str] = ()) -> bool:
    """Whether a text is a usual mark of a missing value, or one that a person named.

    >>> is_mark("N/A"), is_mark("99"), is_mark("99", ["99"])
    (True, False, True)
    """
    spelt = text.strip()
    return spelt.casefold() in _MARKS or spelt in named


def is_finite_number(text: str) -> bool:
    """Whether a text is a finite number."""
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def marks_in(
    values: Iterable[object] | Mapping[str, int],
    is_known: Callable[[str], bool] = is_finite_number,
    named: Collection[str] = (),
) -> Counter[str]:
    """Which texts of a column mean that its value is missing, and how often each is there.

    A usual mark does so where all other values are known: a system called "NA" stays in a column of names,
    and so does the label "NA" beside "good" and "bad". A mark that a person names always does.

    Args:
        values: All values of the column, or how often each is there.
        is_known: Whether a text is one of the values that the column is for; by default a finite number.
        named: Marks that a person named.

    >>> marks_in([1, "2", "NA", None, "NA"]), marks_in(["good", "NA"])
    (Counter({'NA': 2}), Counter())
    """
    texts = Counter[str]()
    for value, count in values.items() if isinstance(values, Mapping) else ((value, 1) for value in values):
        if not is_missing(value):
            texts[str(value).strip()] += count
    asked = {text for text in texts if text in named}
    usual = {text for text in texts if is_mark(text) and not is_known(text)}
    if not all(is_known(text) for text in texts.keys() - asked - usual):
        usual = set()
    return Counter({text: count for text, count in texts.items() if text in asked | usual})


def marks_said(column: str, marks: Mapping[str, int]) -> str:
    """How many values of a column are marks of missing ones, as a sentence.

    >>> marks_said("label", {"NA": 1, "-": 2})
    "label: 3 cells say that a value is missing ('NA' 1, '-' 2)"
    """
    count = sum(marks.values())
    shown = ", ".join(f"{text!r} {times:,}" for text, times in list(marks.items())[:_MARKS_SHOWN])
    cells = "1 cell says" if count == 1 else f"{count:,} cells say"
    return f"{column}: {cells} that a value is missing ({shown})"


class Kind(StrEnum):
    """What kind of thing a caller hands over."""

    PATH = "path"
    FRAME = "DataFrame"
    LAZY = "lazy frame"
    SERIES = "column of a frame"
    ARRAY = "array"
    MAPPING = "dictionary"
    SEQUENCE = "list"
    SET = "set"
    ITERATOR = "iterator"
    BYTES = "bytes"
    FILE = "open file"
    OTHER = "other"


ROWS = frozenset({Kind.PATH, Kind.FRAME, Kind.SEQUENCE, Kind.ITERATOR})
"""Sources of rows: a path, a DataFrame, or rows as Python has them."""
VALUES = frozenset({Kind.SERIES, Kind.ARRAY, Kind.SEQUENCE, Kind.ITERATOR})
"""Sources of values in order: a list, an array, a column of a frame."""
_SERIES = frozenset({"Series", "Index", "RangeIndex", "MultiIndex", "ChunkedArray", "Categorical"})
_ADVICE = {
    Kind.LAZY: "call .collect() first",
    Kind.FILE: "give its path",
    Kind.BYTES: "write them to a file and give its path",
    Kind.SET: "it has no order",
    Kind.SERIES: "give its DataFrame",
}


class NotAccepted(TypeError):
    """A function does not read this kind of thing; says what it is and what is expected."""


def kind_of(value: object) -> Kind:
    """The kind of a value. Packages of frames are known by the names of their types and not imported.

    >>> kind_of("a.csv").value, kind_of({}).value, kind_of(iter([])).value, kind_of(b"").value
    ('path', 'dictionary', 'iterator', 'bytes')
    """
    name = type(value).__name__
    checks = (
        (Kind.PATH, isinstance(value, str | PathLike)),
        (Kind.BYTES, isinstance(value, bytes | bytearray | memoryview)),
        (Kind.SERIES, name in _SERIES),
        (Kind.LAZY, name == "LazyFrame"),
        (Kind.FRAME, name == "DataFrame" or is_frame(value)),
        (Kind.ARRAY, name == "ndarray"),
        (Kind.MAPPING, isinstance(value, Mapping)),
        (Kind.SET, isinstance(value, set | frozenset)),
        (Kind.FILE, hasattr(value, "read")),
        (Kind.SEQUENCE, isinstance(value, Sequence)),
        (Kind.ITERATOR, isinstance(value, Iterable)),
    )
    return next((kind for kind, applies in checks if applies), Kind.OTHER)


def is_frame(value: object) -> bool:
    """Whether a value shares columns as DataFrames do."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__")


def type_named(value: object) -> str:
    """A value by the name of its type and, for frames and the like, of its package.

    >>> type_named({}), type_named("a.csv"), type_named(None)
    ('a dict', "the str 'a.csv'", 'None')
    """
    kind = type(value)
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the str {value[:_SHOWN]!r}"
    package = kind.__module__.partition(".")[0].lstrip("_")
    if package in ("builtins", "io", "pathlib", "collections"):
        article = "an" if kind.__name__[0].lower() in "aeiou" else "a"
        return f"{article} {kind.__name__}" + (" (an open file)" if kind_of(value) is Kind.FILE else "")
    return f"a {package} {kind.__name__}"


def check_kind(argument: str, value: object, accepted: Collection[Kind], expected: str) -> Kind:
    """The kind of a source, which must be one of those that a function accepts.

    Args:
        argument: Name of the argument, for errors.
        value: The source.
        accepted: Kinds that the function reads.
        expected: What these are, for errors.

    Raises:
        NotAccepted: It is of another kind.

    >>> check_kind("first", {}, VALUES, "one label per item")
    Traceback (most recent call last):
    nuggetstream.domain.inputs.NotAccepted: first: is a dict; expected one label per item
    """
    kind = kind_of(value)
    if kind in accepted:
        return kind
    advice = "" if kind not in _ADVICE else f" ({_ADVICE[kind]})"
    raise NotAccepted(f"{argument}: is {type_named(value)}{advice}; expected {expected}")
