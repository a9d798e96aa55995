"""The events of battles as JSON, as server-sent events and webhooks carry them.

Every event says of which battle it is, so that one client can read the events of many. What is large, such as
the answers, passages and the history of a list, is in the battle itself, `GET /v1/battles/{id}`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import Field, TypeAdapter

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.evidence import PageState
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.nugget import Grounding, Importance, Support
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState
from nuggetstream.views.battles import Preferences
from nuggetstream.views.common import View


class EventView(View):
    """What every event has."""

    battle_id: str
    arena: str
    number: int
    """Counted from 1 within the battle, without gaps; `ended` has the number of the event that ended it."""
    at: datetime
    """When the event was recorded."""


class SubmittedEvent(EventView):
    """The battle was accepted."""

    kind: Literal["submitted"] = "submitted"
    query: str
    system_a: str
    system_b: str
    language: str | None
    """As the arena declared it."""
    tags: list[str]
    flagged: bool
    """Whether an answer seems to be written for whoever evaluates it."""


class PageResult(View):
    """What became of one source."""

    url: str
    state: PageState
    quality: str
    """Such as "ok", "not_found" or "timeout"."""


class ScrapedEvent(EventView):
    """Every source was fetched, or it is known why not."""

    kind: Literal["scraped"] = "scraped"
    pages: list[PageResult]


class IndexedEvent(EventView):
    """The pages were cut into chunks."""

    kind: Literal["indexed"] = "indexed"
    chunks: int
    """Number of chunks."""


class RetrievedEvent(EventView):
    """The passages that fit the query best were found."""

    kind: Literal["retrieved"] = "retrieved"
    passages: int
    """Number of passages."""
    ranking: str
    """`hybrid` or `bm25`, with `+variations` where variations of the query were searched for, too, and
    `+rerank` where a reranker ordered the passages."""


class NuggetText(View):
    """A fact that a good answer needs."""

    id: str
    text: str
    importance: Importance
    grounding: Grounding | None
    """Null where it is not known whether a source states it."""


class NuggetizedEvent(EventView):
    """The nuggets were created, or edited by a person."""

    kind: Literal["nuggetized"] = "nuggetized"
    version: int
    model: str
    nuggets: list[NuggetText]


class NuggetLabels(View):
    """The labels of one nugget."""

    id: str
    a: Support | None
    b: Support | None


class LabelByPerson(View):
    """A label that a person set; the reason is in the battle itself."""

    id: str
    """The nugget."""
    answer: Side
    author: str
    model: Support
    """The label of the model."""


class AssignedEvent(EventView):
    """Every nugget was labelled for both answers."""

    kind: Literal["assigned"] = "assigned"
    version: int
    model: str
    labels: list[NuggetLabels]
    set_by: list[LabelByPerson] = Field(default_factory=list)
    """The labels, of those above, that people set; all others are by the model."""
    score_a: float | None
    """All Score in [0, 1]; null where there is no nugget."""
    score_b: float | None
    preference: Vote | None


class JudgedEvent(EventView):
    """A judge compared the answers."""

    kind: Literal["judged"] = "judged"
    evaluator: str
    model: str
    winner: Vote
    flipped: bool | None
    """Whether the verdict changed with the order of the answers; null for one order, and for a panel."""
    guided: bool
    """Whether the judge was shown the nuggets."""


class GradedEvent(EventView):
    """An evaluator graded the battle; it may arrive after the battle has ended."""

    kind: Literal["graded"] = "graded"
    evaluator: str
    model: str
    grades: int
    """Number of grades; of a panel those of its members together."""
    members: int = 0
    """Number of members of a panel; 0 for a single model."""
    abstentions: int = 0
    """Number of members that abstained."""


class VotedEvent(EventView):
    """A person voted; the newest vote of each voter counts."""

    kind: Literal["voted"] = "voted"
    vote: Vote
    voted_at: datetime
    voter: str | None = None
    """Opaque id of the voter; null where it is not known."""
    comment: str | None = None


class FailedEvent(EventView):
    """A stage gave up."""

    kind: Literal["failed"] = "failed"
    stage: Stage
    evaluator: str | None
    """The evaluator that gave up; null for the stages that battles wait for."""
    reason: Reason
    detail: str
    attempts: int


class EndedEvent(EventView):
    """No stage works on the battle any more."""

    kind: Literal["ended"] = "ended"
    state: BattleState
    preferences: Preferences
    explanation: list[str]
    """What decided the battle, in plain sentences."""


AnyEvent: TypeAlias = Annotated[
    SubmittedEvent
    | ScrapedEvent
    | IndexedEvent
    | RetrievedEvent
    | NuggetizedEvent
    | AssignedEvent
    | JudgedEvent
    | GradedEvent
    | VotedEvent
    | FailedEvent
    | EndedEvent,
    Field(discriminator="kind"),
]
OF_KIND: dict[str, type[EventView]] = {
    kind.model_fields["kind"].default: kind for kind in get_args(get_args(AnyEvent)[0])
}
KINDS = frozenset(OF_KIND)
"""The kinds of events."""
OF_BATTLES = tuple(sorted(KINDS - {"ended"}))
"""Those that are recorded, in alphabetical order; `ended` follows from them."""
EVENTS: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)
"""Reads and writes events."""


def event_schema(ref_template: str = "#/$defs/{model}") -> dict[str, Any]:
    """The JSON Schema of an event, as servers send it.

    Args:
        ref_template: How the schema refers to its parts.
    """
    return EVENTS.json_schema(ref_template=ref_template, mode="serialization")
