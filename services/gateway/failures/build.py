"""The routes for administrators from the connections of the gateway."""

from collections.abc import Sequence

from fastapi import APIRouter

from services.gateway.access.audit_routes import routes as audit_routes
from services.gateway.access.guard import Access
from services.gateway.battles.intake import Intake
from services.gateway.calls.routes import routes as call_routes
from services.gateway.deletion.routes import routes as deletion_routes
from services.gateway.edits.editor import Editor
from services.gateway.edits.form import routes as form_routes
from services.gateway.edits.routes import routes as edit_routes
from services.gateway.failures.actions import FailureActions
from services.gateway.failures.dead_letters import DeadLetters
from services.gateway.failures.page import routes as page_routes
from services.gateway.failures.regrading import Regrading
from services.gateway.failures.routes import routes
from services.gateway.pages.environment import page_environment
from services.gateway.reruns.reruns import Reruns
from services.gateway.reruns.routes import routes as rerun_routes
from services.runtime.bus import Bus
from services.store.battles.battle_search import BattleSearch
from services.store.battles.eraser import eraser_of
from services.store.battles.nugget_edits import NuggetEdits
from services.store.content.blobs import Blobs
from services.store.database import Database
from services.store.spend.costs import Costs
from services.store.work.failed import FailedBattles
from services.store.work.stage_runs import StageRuns
from services.wire.publishing import publisher


def administration(
    bus: Bus, database: Database, intake: Intake, access: Access, evaluators: Sequence[str] = ()
) -> APIRouter:
    """The routes for administrators."""
    publish = publisher(bus, Blobs(database))
    regrading = Regrading(intake.battles, publish, evaluators)
    actions = FailureActions(FailedBattles(database), DeadLetters(bus), intake, regrading)
    reruns = Reruns(
        search=BattleSearch(database),
        runs=StageRuns(database),
        costs=Costs(database),
        publish=publish,
        admission=intake.admission,
        evaluators=evaluators,
    )
    editor = Editor(intake.battles, NuggetEdits(database), intake.relay, intake.admission)
    router = APIRouter()
    router.include_router(edit_routes(editor))
    router.include_router(form_routes(editor, access))
    router.include_router(routes(actions))
    router.include_router(page_routes(actions, access, page_environment()))
    router.include_router(rerun_routes(reruns))
    router.include_router(deletion_routes(eraser_of(bus, database)))
    router.include_router(call_routes(database, page_environment()))
    router.include_router(audit_routes(access.log))
    return router
