"""The routes that need more than the ports of the gateway: administration, and pages with their own data."""

from collections.abc import Sequence

from fastapi import APIRouter

from services.gateway.access.guard import Access
from services.gateway.canary.routes import routes as canary_routes
from services.gateway.failures.build import administration
from services.gateway.operations.budgets import Budgets
from services.gateway.operations.routes import routes as operation_routes
from services.gateway.pages.environment import page_environment
from services.gateway.ports import Gateway
from services.gateway.stream.routes import routes as stream_routes
from services.gateway.stream.tail import Tail
from services.gateway.studies.administration import StudyAdministration
from services.gateway.studies.pages import routes as study_pages
from services.gateway.studies.questionnaire import Questionnaire
from services.gateway.studies.routes import routes as study_routes
from services.gateway.webhooks.routes import routes as webhook_routes
from services.gateway.webhooks.sender import Sender
from services.runtime.bus import Bus
from services.store.database import Database
from services.store.studies.studied_battles import StudiedBattles
from services.store.studies.studies import Studies
from services.store.studies.study_tasks import StudyTasks

_NO_BUDGETS = Budgets()


def further_routes(
    gateway: Gateway,
    bus: Bus,
    database: Database,
    access: Access,
    evaluators: Sequence[str],
    *,
    tail: Tail,
    sender: Sender,
    budgets: Budgets = _NO_BUDGETS,
) -> list[APIRouter]:
    """The routers beside those that `create_app` makes itself."""
    env = page_environment()
    administration_of_studies = StudyAdministration(Studies(database), StudiedBattles(database))
    return [
        administration(bus, database, gateway.intake, access, evaluators),
        canary_routes(database, env),
        stream_routes(tail),
        operation_routes(gateway, bus, env, budgets),
        webhook_routes(database, sender),
        study_routes(administration_of_studies),
        study_pages(Questionnaire(administration_of_studies, StudyTasks(database)), access, env),
    ]
