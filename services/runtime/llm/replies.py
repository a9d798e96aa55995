"""The shapes of replies, one per task.

Only enums and ids decide anything; free text is only shown. Extra keys are ignored when a reply is read,
because models without structured outputs add some. The schema sent to the model forbids them, as strict
mode requires.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

_ID_LIMIT = 40  # characters of an id that a message quotes


def _as_enum(value: object) -> object:
    """Normalise spellings such as "Partial Support" to partial_support."""
    return value.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(value, str) else value


ImportanceLabel = Annotated[Literal["vital", "okay"], BeforeValidator(_as_enum)]
SupportLabel = Annotated[Literal["support", "partial_support", "not_support"], BeforeValidator(_as_enum)]
Winner = Annotated[Literal["first", "second", "tie"], BeforeValidator(_as_enum)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class CreatedNugget(_Reply):
    """One fact that a good answer needs, and the ids of the blocks that state it."""

    text: str
    importance: ImportanceLabel
    sources: list[str]


class NuggetsReply(_Reply):
    """Reply to task `nuggets`: the facts of all documents at once."""

    nuggets: list[CreatedNugget]


class WindowReply(_Reply):
    """Reply to task `nuggets_window`: the whole list, rewritten after one window of documents."""

    nuggets: list[str]


class NuggetImportance(_Reply):
    """Importance of one nugget."""

    id: str
    importance: ImportanceLabel


class ImportanceReply(_Reply):
    """Reply to task `importance`: a label for every nugget."""

    labels: list[NuggetImportance]


class NuggetSupport(_Reply):
    """Whether the answer states one nugget, and the sentence of the answer that does (else "")."""

    id: str
    label: SupportLabel
    quote: str


class AssignmentReply(_Reply):
    """Reply to task `assignment`: a label for every nugget."""

    labels: list[NuggetSupport]


class VerdictReply(_Reply):
    """Reply to task `verdict`: the reasons come first, so that the winner follows from them."""

    reasoning: str
    winner: Winner


def every_id_once(actual: Iterable[str], expected: Iterable[str]) -> None:
    """Check that a reply labels exactly the nuggets it was asked about, each once.

    Raises:
        ValueError: Ids are missing, unknown or repeated; the message names them.
    """
    counts, required = Counter(actual), set(expected)
    problems = {
        "missing": sorted(required - set(counts)),
        "unknown": sorted(set(counts) - required),
        "repeated": sorted(name for name, count in counts.items() if count > 1),
    }
    messages = [
        f"{problem} ids: {', '.join(name[:_ID_LIMIT] for name in ids[:20])}"
        for problem, ids in problems.items()
        if ids
    ]
    if messages:
        raise ValueError("; ".join(messages))
