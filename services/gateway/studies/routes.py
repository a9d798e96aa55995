"""/v1/admin/studies: add, list, export, close and remove studies that ask people, and remove workers."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import AfterValidator, Field

from nuggetstream.files.crowd_study import CrowdStudySubmission
from nuggetstream.views.common import Problem
from nuggetstream.views.crowd_studies import CrowdStudyView, StudyAction, StudyAnswer, StudyWorker
from services.access.visits import visible_arenas
from services.gateway.administration import admin_router
from services.gateway.battles.bodies import json_body, read_json
from services.gateway.errors import Unknown
from services.gateway.studies.administration import StudyAdministration
from services.wire.query_parameters import QueryParameters, Text, without_nul

_MAX_BYTES = 8 * 1024 * 1024
_MOST_ANSWERS = 1000
_EXAMPLE = {"name": "Tides", "arena": "demo", "battles": ["tides-1", "tides-2"]}
_UNKNOWN: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "There is no study or worker with this id."}
}
StudyId = Annotated[str, Path(description="Id of the study."), AfterValidator(without_nul)]
WorkerId = Annotated[str, Path(description="Id of the worker."), AfterValidator(without_nul)]


class StudiesQuery(QueryParameters):
    """Which studies to list."""

    arena: Text | None = None
    """Only studies of this arena."""


def _place(text: str) -> str:
    worker, comma, item = without_nul(text).rpartition(",")
    if not (comma and worker and item.isascii() and item.isdecimal() and len(item) < 10):
        raise ValueError("should be a worker and the number of a pair, with a comma between them")
    return text


class AnswersQuery(QueryParameters):
    """Which answers to list."""

    after: Annotated[str, AfterValidator(_place)] | None = None
    """Worker and pair of the last answer before, with a comma; from the beginning when absent."""
    limit: Annotated[int, Field(ge=1, le=_MOST_ANSWERS)] = _MOST_ANSWERS
    """Maximum number of answers."""

    @property
    def place(self) -> tuple[str, int] | None:
        """Worker and number of the pair."""
        if self.after is None:
            return None
        worker, _, item = self.after.rpartition(",")
        return worker, int(item)


def routes(administration: StudyAdministration) -> APIRouter:
    """The routes of studies for administrators."""
    router, studies = admin_router("/v1/admin/studies"), administration.studies

    @router.get("", summary="Studies that ask people, the oldest first")
    async def select(query: Annotated[StudiesQuery, Query()]) -> list[CrowdStudyView]:
        all_studies = await studies.all(visible_arenas(query.arena))
        return [await administration.view(study) for study in all_studies]

    @router.post(
        "",
        summary="Add a study that asks people",
        status_code=201,
        openapi_extra=json_body(CrowdStudySubmission, _EXAMPLE),
    )
    async def add(request: Request) -> CrowdStudyView:
        """Whoever knows the link can take part; what it shows of the battles is no longer private."""
        return await administration.add(await read_json(request, CrowdStudySubmission, _MAX_BYTES))

    @router.get("/{study_id}/answers", summary="What people answered", responses=_UNKNOWN)
    async def answers(study_id: StudyId, query: Annotated[AnswersQuery, Query()]) -> list[StudyAnswer]:
        """Answers to pairs, by worker and number of the pair; training and gold are left out."""
        study = await administration.of_caller(study_id)
        return await studies.answers(study.id, query.place, query.limit)

    @router.get("/{study_id}/workers", summary="Workers and their completion codes", responses=_UNKNOWN)
    async def workers(study_id: StudyId) -> list[StudyWorker]:
        return await administration.workers(await administration.of_caller(study_id))

    _add_changes(router, administration)
    return router


def _add_changes(router: APIRouter, administration: StudyAdministration) -> None:
    studies = administration.studies

    @router.post("/{study_id}/close", summary="Give out no more pairs", responses=_UNKNOWN)
    async def close(study_id: StudyId) -> StudyAction:
        """What workers have before them can still be answered. Closing twice changes nothing."""
        study = await administration.of_caller(study_id)
        await studies.close(study.id, administration.clock())
        return StudyAction(id=study.id, result="closed")

    @router.delete("/{study_id}", summary="Remove a study with all answers", responses=_UNKNOWN)
    async def remove(study_id: StudyId) -> StudyAction:
        study = await administration.of_caller(study_id)
        await studies.remove(study.id)
        return StudyAction(id=study.id, result="removed")

    @router.delete(
        "/{study_id}/workers/{worker_id}", summary="Remove a worker with all answers", responses=_UNKNOWN
    )
    async def remove_worker(study_id: StudyId, worker_id: WorkerId) -> StudyAction:
        study = await administration.of_caller(study_id)
        if not await studies.forget_worker(study.id, worker_id):
            raise Unknown("worker", worker_id)
        return StudyAction(id=worker_id, result="removed")
