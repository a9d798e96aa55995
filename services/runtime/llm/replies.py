"""What a model may answer: the shared vocabulary of replies.

Enums and ids decide; free text is only ever shown. Extra keys are ignored when read, because models
without structured outputs add some; the schema we send forbids them, as strict mode demands.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _as_enum(value: object) -> object:
    """Models write "Partial Support" for partial_support; that is the same answer."""
    return value.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(value, str) else value


ImportanceLabel = Annotated[Literal["vital", "okay"], BeforeValidator(_as_enum)]
SupportLabel = Annotated[Literal["support", "partial_support", "not_support"], BeforeValidator(_as_enum)]
Winner = Annotated[Literal["first", "second", "tie"], BeforeValidator(_as_enum)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class CreatedNugget(_Reply):
    """One fact that a good answer needs, and the ids of the blocks it was read in."""

    text: str
    importance: ImportanceLabel
    sources: list[str]


class NuggetsReply(_Reply):
    """Task `nuggets`: the facts of all documents at once."""

    nuggets: list[CreatedNugget]


class WindowReply(_Reply):
    """Task `nuggets_window`: the whole list, rewritten after one window of documents."""

    nuggets: list[str]


class NuggetImportance(_Reply):
    """How much one nugget matters."""

    id: str
    importance: ImportanceLabel


class ImportanceReply(_Reply):
    """Task `importance`: a label for every nugget."""

    labels: list[NuggetImportance]


class NuggetSupport(_Reply):
    """Whether the answer states one nugget, and the sentence of the answer that does (or "")."""

    id: str
    label: SupportLabel
    quote: str


class AssignmentReply(_Reply):
    """Task `assignment`: a label for every nugget."""

    labels: list[NuggetSupport]


class VerdictReply(_Reply):
    """Task `verdict`: reasons first, so that the winner follows from them."""

    reasoning: str
    winner: Winner


def every_id_once(got: Iterable[str], expected: Iterable[str]) -> None:
    """Checks that a reply labels exactly the nuggets it was asked about.

    Raises:
        ValueError: naming the ids that are missing, unknown or repeated; a missing label is not a zero.
    """
    counts, wanted = Counter(got), set(expected)
    problems = {
        "missing": sorted(wanted - set(counts)),
        "unknown": sorted(set(counts) - wanted),
        "repeated": sorted(name for name, count in counts.items() if count > 1),
    }
    found = [f"{problem} ids: {', '.join(ids[:20])}" for problem, ids in problems.items() if ids]
    if found:
        raise ValueError("; ".join(found))
