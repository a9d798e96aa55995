"""Docstrings as this project writes them, as reStructuredText.

`Source:` becomes a field beside the parameters and the result, attributes get the types of their annotations,
errors lead to their descriptions, and a passage that is indented is shown as it is written. A docstring names
values in single backticks and writes formulas as they are read, so that `|x|` is an amount and no markup.
"""

import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

_SOURCE = re.compile(r"^Source: (?=\S)")
_ATTRIBUTE = re.compile(r"^:ivar (\w+):")
_RAISES = re.compile(r"^:raises (\w+)(?=:)")
_ARRAY = re.compile(
    r"~?(?:numpy\.)?ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], ~?(?:numpy\.)?dtype\[([^\[\]]+)\]\]"
)
_CODE_OR_BAR = re.compile(r"`+[^`]*`+(\w)?|\|")


def with_result_field(lines: Sequence[str]) -> list[str]:
    """The section `Returns:` as a field. Its text is a sentence, which may hold a colon, and names no type.

    >>> with_result_field(["Text.", "", "Returns:", "    Rows: one per system.", "", "Raises:"])
    ['Text.', '', ':returns:', '    Rows: one per system.', '', 'Raises:']
    """
    return [":returns:" if line == "Returns:" else line for line in lines]


def with_source_field(lines: Sequence[str]) -> list[str]:
    """The paragraph `Source: ...` as a field, with its further lines indented.

    >>> with_source_field(["Text.", "", "Source: Cohen, 1960;", "Fleiss, 1971.", "", ">>> f()"])
    ['Text.', '', ':Source: Cohen, 1960;', '    Fleiss, 1971.', '', '>>> f()']
    """
    changed: list[str] = []
    inside = False
    for line in lines:
        if _SOURCE.match(line):
            inside = True
            changed.append(_SOURCE.sub(":Source: ", line))
            continue
        inside = inside and bool(line.strip())
        changed.append(f"    {line}" if inside else line)
    return changed


def with_types(lines: Sequence[str], types: dict[str, str]) -> list[str]:
    """Attributes with their types.

    >>> with_types([":ivar low: Lower bound."], {"low": "float | None"})
    [':ivar low: Lower bound.', ':vartype low: float | None']
    """
    named = [attribute[1] for line in lines if (attribute := _ATTRIBUTE.match(line))]
    return [*lines, *(f":vartype {name}: {types[name]}" for name in named if name in types)]


def with_literal_passages(lines: Sequence[str]) -> list[str]:
    """Indented paragraphs, such as a line of code or a flow of events, as literal blocks.

    >>> with_literal_passages(["Text.", "", "    f(x)  ->  y", "", "More."])
    ['Text.', '', '::', '', '    f(x)  ->  y', '', 'More.']
    """
    changed: list[str] = []
    for index, line in enumerate(lines):
        starts = line.startswith("    ") and (index == 0 or not lines[index - 1].strip())
        before = next((text for text in reversed(lines[:index]) if text.strip()), "")
        if starts and not before.startswith(("    ", ":", "..", ">>>")):
            changed += ["::", ""]
        changed.append(line)
    return changed


def with_plain_text(lines: Sequence[str]) -> list[str]:
    """Bars of amounts and of "given" as they are written, and a letter right behind code, as in a plural.

    >>> with_plain_text(["At most |d|, see `a | b` and `Note`s.", ">>> 1 | 2"])
    ['At most \\\\|d\\\\|, see `a | b` and `Note`\\\\ s.', '>>> 1 | 2']
    """
    return [
        line if line.lstrip().startswith((">>>", "...")) else _CODE_OR_BAR.sub(_escaped, line)
        for line in lines
    ]


def _escaped(match: re.Match[str]) -> str:
    if match[0] == "|":
        return r"\|"
    return match[0] if match[1] is None else rf"{match[0][:-1]}\ {match[1]}"


def with_full_errors(lines: Sequence[str], names: Mapping[str, Any]) -> list[str]:
    """Errors of this project by their full names, of which only the last part is shown.

    Args:
        lines: The docstring.
        names: What names mean in its module.

    >>> from nuggetstream.nuggets.scores import Unscorable
    >>> with_full_errors([":raises Unscorable: No nugget."], {"Unscorable": Unscorable})
    [':raises ~nuggetstream.nuggets.scores.Unscorable: No nugget.']
    """

    def full(raises: re.Match[str]) -> str:
        error = names.get(raises[1])
        return raises[0] if error is None else f":raises ~{error.__module__}.{error.__qualname__}"

    return [_RAISES.sub(full, line) for line in lines]


def with_values(lines: Sequence[str], values: Mapping[str, object]) -> list[str]:
    """The members of an enumeration and their values, as a field.

    >>> with_values(["Whether."], {"YES": "y", "NO": "n"})
    ['Whether.', '', ':Values:', '    - ``YES``: y', '    - ``NO``: n', '']
    """
    return [*lines, "", ":Values:", *(f"    - ``{name}``: {value}" for name, value in values.items()), ""]


def with_plain_arrays(signature: str) -> str:
    """A signature with arrays as they are annotated.

    >>> with_plain_arrays("(x: ~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.float64]]) -> int")
    '(x: NDArray[~numpy.float64]) -> int'
    """
    return _ARRAY.sub(r"NDArray[\1]", signature)


def _annotations(obj: Any) -> dict[str, str]:
    from sphinx.util.typing import stringify_annotation

    annotations = inspect.get_annotations(obj)
    return {
        name: with_plain_arrays(stringify_annotation(kind, "smart")) for name, kind in annotations.items()
    }


def _lists_its_attributes(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, Enum) or hasattr(kind, "model_fields")


def _signature(
    _app: Any, what: str, _name: str, obj: Any, _options: Any, arguments: str | None, result: str | None
) -> tuple[str, str | None] | None:
    if arguments is None:
        return None
    if what == "exception" or (what == "class" and _lists_its_attributes(obj)):
        return "", None
    return with_plain_arrays(arguments), result and with_plain_arrays(result)


def _before_sections(_app: Any, what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = with_result_field(lines)
    if what == "property":
        lines.insert(0, "")  # a colon in the first line would end the name of a type


def _after_sections(_app: Any, what: str, name: str, obj: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = with_plain_text(with_source_field(lines))
    module = sys.modules.get(getattr(obj, "__module__", None) or "")
    lines[:] = with_full_errors(lines, vars(module) if module else {})
    if what == "module":
        lines[:] = [f"``{name}``", "", *with_literal_passages(lines)]
    if what == "class":
        lines[:] = with_types(lines, _annotations(obj))
        if issubclass(obj, Enum):
            lines[:] = with_values(lines, {member.name: member.value for member in obj})


def setup(app: Any) -> dict[str, bool]:
    """Change docstrings before and after their sections become fields."""
    from sphinx.domains.python._object import PyObject

    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _before_sections, priority=100)
    app.connect("autodoc-process-docstring", _after_sections, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
