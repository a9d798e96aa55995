"""The form of the lines of a reply, which its JSON schema says and its reader relies on.

    Lines.labelled(["n1", "n2"], "[vo]")   ->   two lines, each `n1 v`, `n1 o`, `n2 v` or `n2 o`

Servers that enforce a schema while they write (OpenAI, llama.cpp, vLLM) can then write nothing else. The
expressions are those that all of them know: no look-around, no named groups.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_ID = re.compile(r"[\w.-]+")
_CHARACTERS = 2  # of a token, at least, in nearly all texts
# OpenAI and vLLM match the text of a string, llama.cpp its JSON: there, a quotation mark would end the text,
# and a backslash might begin an unknown escape. It sends nothing more of a reply that is no JSON.
_CHARACTER = r'[^"\\\x00-\x1F]'


@dataclass(frozen=True, slots=True)
class Lines:
    """Which lines a reply has.

    Attributes:
        ids: Ids that begin exactly one line each; empty where lines are not about given ids.
        rest: Regular expression of a line, or of what follows its id and a space; `{cited}` stands for one of
            the ids of documents that a line may cite, `{character}` for a character of a text.
        least: Fewest lines.
        most: Most lines.
        cited: Ids of documents that a line may cite.
    """

    ids: tuple[str, ...]
    rest: str
    least: int
    most: int
    cited: tuple[str, ...] = ()

    @classmethod
    def labelled(cls, ids: Sequence[str], rest: str) -> "Lines":
        """One line for each id."""
        return cls(tuple(ids), rest, len(ids), len(ids))

    @classmethod
    def listed(cls, pattern: str, least: int, most: int, cited: Sequence[str] = ()) -> "Lines":
        """So many lines, each of this form."""
        return cls((), pattern, least, most, tuple(cited))

    @property
    def pattern(self) -> str:
        """Regular expression of a whole line, for the server that writes it.

        >>> Lines.labelled(["n1", "n2"], "[vo]").pattern
        '^(n1|n2) [vo]$'
        """
        return self._pattern(_CHARACTER)

    def allow(self, line: str) -> bool:
        """Whether a line that was read has the form; the texts in it may have any characters."""
        return re.fullmatch(self._pattern("."), line, re.DOTALL) is not None

    def _pattern(self, character: str) -> str:
        rest = self.rest.replace("{character}", character)
        rest = rest.replace("{cited}", one_of(self.cited)) if self.cited else rest
        return f"^{one_of(self.ids)} {rest}$" if self.ids else f"^{rest}$"

    def of(self, ids: Sequence[str]) -> "Lines":
        """The same for some of the ids."""
        return self.labelled(ids, self.rest)

    def without(self, documents: Collection[str]) -> "Lines":
        """The same without some of the documents that a line may cite."""
        return replace(self, cited=tuple(name for name in self.cited if name not in documents))

    def in_schema(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The schema of a reply with the form of the lines of its only list.

        The form stands where the lines are described: llama.cpp ignores, and OpenAI rejects, what stands
        beside a `$ref`.
        """
        name, field = field_of(schema)
        definitions = dict(schema.get("$defs", {}))
        described = dict(field["items"])
        if (reference := described.pop("$ref", None)) is not None:
            described = definitions.pop(reference.removeprefix("#/$defs/"))
        items = {**described, "pattern": self.pattern}
        field |= {"items": items, "minItems": self.least, "maxItems": self.most}
        rest = {key: value for key, value in schema.items() if key != "$defs"}
        kept = {"$defs": definitions} if definitions else {}
        return {**rest, **kept, "properties": {**schema["properties"], name: field}}


def bounded(schema: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """The schema of a reply with a longest length of its texts, which leaves room for what follows them.

    Without it, a small model that loses its way in the reasons of a verdict never reaches the winner.

    >>> bounded({"properties": {"reasoning": {"type": "string"}}}, 600)["properties"]
    {'reasoning': {'type': 'string', 'maxLength': 1200}}
    """
    fields = schema["properties"]
    texts = {n: f for n, f in fields.items() if f.get("type") == "string" and "enum" not in f}
    longest = {n: {**f, "maxLength": max_tokens * _CHARACTERS // len(texts)} for n, f in texts.items()}
    return {**schema, "properties": {**fields, **longest}}


def one_of(ids: Sequence[str]) -> str:
    """A regular expression of one of several ids.

    Raises:
        ValueError: An id has characters other than letters, digits, dots, underscores and hyphens.

    >>> one_of(["c1", "c1.2"])
    '(c1|c1[.]2)'
    """
    if wrong := next((name for name in ids if not _ID.fullmatch(name)), None):
        raise ValueError(f"{wrong!r} is no id of a line")
    return f"({'|'.join(name.replace('.', '[.]') for name in ids)})"


def field_of(schema: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and schema of the list of a reply."""
    return next((n, dict(f)) for n, f in schema["properties"].items() if f.get("type") == "array")


def items_of(text: str, field: str, *, is_cut: bool) -> list[object]:
    """The items of a reply's list, as far as they are complete.

    Args:
        text: The reply, without a code fence.
        field: Name of the list, which is the only field of the reply.
        is_cut: Whether the reply ends in the middle; then items that a comma or the end of the list follows
            are complete. A reply that is whole must be JSON and nothing else.
    """
    begin = re.match(rf'\s*(?:\{{\s*"{field}"\s*:\s*)?\[\s*', text)
    if begin is None:
        return []
    items, position, decoder = list[object](), begin.end(), json.JSONDecoder()
    while True:
        try:
            item, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        after = _AFTER.match(text, end)
        if after is None:
            break
        items.append(item)
        position = after.end()
        if after[1] == "]":
            break
    return items if is_cut or not text[position:].strip(" \t\r\n}") else []


_AFTER = re.compile(r"\s*([,\]])\s*")
