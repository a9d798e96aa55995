"""The parameters of the routes of reruns."""

from typing import Annotated

from pydantic import Field

from nuggetstream.domain.pipeline import MODEL_STAGES, Stage
from services.gateway.administration import Moment
from services.gateway.battles.query import Before
from services.store.work.pending import Worker
from services.store.work.stage_runs import StageRun
from services.wire.query_parameters import QueryParameters, Text

MOST_BATTLES = 100  # per request


class RerunQuery(QueryParameters):
    """Which battles are evaluated again, and by what."""

    arena: Text = "default"
    """Arena of the battles."""
    since: Moment
    """Battles received from this time on; UTC unless it has an offset."""
    stage: Text
    """Stage that asks a model, or name of a declared evaluator."""
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    """Name of the rerun; a battle runs once in each."""
    before: Before | None = None
    """The `next` of the part before; the newest battles when absent."""
    limit: Annotated[int, Field(ge=1, le=MOST_BATTLES)] = 50
    """Maximum number of battles."""

    def run_of(self, battle_id: str, model: str | None = None) -> StageRun:
        """The run of one battle, by the model that labels where the assigner runs."""
        named = (Stage(self.stage), "") if self.stage in MODEL_STAGES else (Stage.GRADER, self.stage)
        return StageRun(Worker(battle_id, *named), self.name, model)


class StartQuery(RerunQuery):
    """What a rerun starts."""

    model: Text | None = None
    """Model that labels where the assigner runs; other stages ask that of their settings."""
    dry_run: bool = False
    """Start nothing; tell how many battles there are and what these stages have cost for them."""
