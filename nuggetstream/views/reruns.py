"""Old battles that a stage evaluates again, as JSON."""

from decimal import Decimal

from pydantic import Field

from nuggetstream.views.common import View


class RerunCost(View):
    """What the calls of one stage and model have cost for the selected battles so far."""

    stage: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    amount: Decimal | None
    """Null where the price was unknown."""
    currency: str | None


class RerunSource(View):
    """How often one source of preferences prefers another answer than before."""

    source: str
    """"nugget", "grounded", or a lens and the name of its judge."""
    battles: int
    """Battles with a preference of the source before and after."""
    changed: int


class RerunView(View):
    """A part of a rerun, from newer to older battles."""

    battles: int = 0
    """Number of battles in this part; in a dry run, of all that can run."""
    started: int = 0
    """Battles that this request has started."""
    running: int = 0
    """Battles that still run, or that have to end before they can run again."""
    failed: int = 0
    """Battles of the rerun of which a stage has failed."""
    left_out: int = 0
    """Battles that have not come as far as the stage, or whose nugget list was edited by people."""
    costs: list[RerunCost] = Field(default_factory=list)
    """In a dry run, what the stages that would run have cost for these battles."""
    sources: list[RerunSource] = Field(default_factory=list)
    """The comparison of new results with those before."""
    next: str | None = None
    """The `before` of the next part; null after the last one."""
