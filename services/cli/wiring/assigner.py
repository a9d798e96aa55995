"""The wiring of the assigner."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.assigner.stage import Assigner, build
from services.cli.wiring.label_models import labels_of_profile, open_label_models
from services.cli.wiring.parts import Parts
from services.cli.wiring.shared_parts import model_state, open_chat_model, open_decision_model, shared_labels
from services.runtime.service import Service


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The assigner: labels nuggets."""
    llm = parts.llm.for_stage("assigner")
    async with (
        open_chat_model(parts, llm) as model,
        open_decision_model(parts, llm) as decisions,
        open_label_models(parts, llm) as models_of,
    ):
        shared, profile = shared_labels(parts, model.overrides.key), labels_of_profile(parts)
        assigner = Assigner(model=model, decisions=decisions, shared=shared, models_of=models_of, **profile)
        stage = build(assigner, parts.blobs, concurrency=parts.battles_at_once)
        yield Service(
            name="assigner",
            stages=[stage],
            background=[model_state(parts.bus, stage.name, decisions or model)],
        )
