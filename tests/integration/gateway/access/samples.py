"""A request for every route, and keys of every role and arena."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from nuggetstream.crowd.assignment import ItemKind, OpenItem
from nuggetstream.files.crowd_study import CrowdStudySubmission
from nuggetstream.views.signatures import new_secret
from services.access.callers import Role
from services.access.keys import NewKey
from services.store.access.api_keys import ApiKeys, StoredKey
from services.store.access.webhooks import Webhook, Webhooks
from services.store.database import Database
from services.store.studies.studies import Studies
from services.store.studies.study_rows import StoredStudy, StoredWorker
from services.store.studies.study_tasks import StudyTasks
from tests.integration.gateway.world import NOW, submission

FORM = {"content-type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Sample:
    """A request of one route about the arena `demo`, and how it is answered to those who may."""

    path: str
    allowed: int = 200
    params: dict[str, str] = field(default_factory=dict)
    json: Any = None
    content: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


_BATTLE = "{battle_id:path}"
_DEMO = {"arena": "demo"}
_RERUN = {**_DEMO, "since": "2020-01-01", "stage": "judge", "name": "again"}
_WEBHOOK = {**_DEMO, "url": "https://127.0.0.1/hook"}  # where nobody listens
SAMPLES: dict[tuple[str, str], Sample] = {
    ("POST", "/v1/battles"): Sample(
        "/v1/battles",
        json=submission(id="running", query="About running?"),  # it was received before
    ),
    ("GET", "/v1/battles"): Sample("/v1/battles", params=_DEMO),
    ("GET", f"/v1/battles/{_BATTLE}"): Sample("/v1/battles/tides"),
    ("GET", f"/v1/battles/{_BATTLE}/events"): Sample("/v1/battles/tides/events"),
    ("POST", f"/v1/battles/{_BATTLE}/vote"): Sample("/v1/battles/tides/vote", 202, json={"vote": "a"}),
    ("GET", f"/v1/battles/{_BATTLE}/calls"): Sample("/v1/battles/tides/calls"),
    ("PATCH", f"/v1/battles/{_BATTLE}/nuggets"): Sample("/v1/battles/tides/nuggets", 422, json={}),
    ("POST", f"/v1/battles/{_BATTLE}/embed-token"): Sample("/v1/battles/tides/embed-token", 201, json={}),
    # A stream never ends, but a wrong parameter ends its request after the checks.
    ("GET", "/v1/stream"): Sample("/v1/stream", 422, params={**_DEMO, "kind": "nothing"}),
    ("GET", "/v1/failures"): Sample("/v1/failures", params=_DEMO),
    ("GET", "/v1/leaderboard"): Sample("/v1/leaderboard", params=_DEMO),
    ("GET", "/v1/leaderboard/combined"): Sample("/v1/leaderboard/combined", params=_DEMO),
    ("GET", "/v1/leaderboard/pairs"): Sample("/v1/leaderboard/pairs", params=_DEMO),
    ("GET", "/v1/leaderboard/advice"): Sample("/v1/leaderboard/advice", params=_DEMO),
    ("GET", "/v1/leaderboard/timeline"): Sample("/v1/leaderboard/timeline", params=_DEMO),
    ("GET", "/v1/leaderboard/style"): Sample("/v1/leaderboard/style", params=_DEMO),
    ("GET", "/v1/agreement"): Sample("/v1/agreement", params=_DEMO),
    ("GET", "/v1/biases"): Sample("/v1/biases", params=_DEMO),
    ("GET", "/v1/canary"): Sample("/v1/canary"),
    ("GET", "/v1/admin/failures"): Sample("/v1/admin/failures", params=_DEMO),
    ("GET", "/v1/admin/failures/{failure_id}"): Sample("/v1/admin/failures/FAILURE"),
    ("POST", "/v1/admin/failures/{failure_id}/retry"): Sample("/v1/admin/failures/FAILURE/retry"),
    ("POST", "/v1/admin/failures/{failure_id}/discard"): Sample("/v1/admin/failures/FAILURE/discard"),
    ("DELETE", f"/v1/admin/battles/{_BATTLE}"): Sample("/v1/admin/battles/running", 409),
    ("POST", "/v1/admin/battles/delete-expired"): Sample(
        "/v1/admin/battles/delete-expired", params={**_DEMO, "before": "2020-01-01", "dry_run": "true"}
    ),
    ("POST", "/v1/admin/battles/rerun"): Sample(
        "/v1/admin/battles/rerun", params={**_RERUN, "dry_run": "true"}
    ),
    ("GET", "/v1/admin/battles/rerun"): Sample("/v1/admin/battles/rerun", params=_RERUN),
    ("GET", "/v1/admin/audit"): Sample("/v1/admin/audit", params=_DEMO),
    ("GET", "/v1/admin/webhooks"): Sample("/v1/admin/webhooks", params=_DEMO),
    ("POST", "/v1/admin/webhooks"): Sample("/v1/admin/webhooks", 201, json=_WEBHOOK),
    ("DELETE", "/v1/admin/webhooks/{webhook_id}"): Sample("/v1/admin/webhooks/WEBHOOK"),
    ("POST", "/v1/admin/webhooks/{webhook_id}/rotate"): Sample(
        "/v1/admin/webhooks/WEBHOOK/rotate", json={"overlap_hours": 1}
    ),
    ("POST", "/v1/admin/webhooks/{webhook_id}/test"): Sample("/v1/admin/webhooks/WEBHOOK/test"),
    ("POST", "/v1/admin/webhooks/{webhook_id}/retry"): Sample("/v1/admin/webhooks/WEBHOOK/retry"),
    ("GET", "/v1/admin/webhooks/{webhook_id}/failures"): Sample("/v1/admin/webhooks/WEBHOOK/failures"),
    ("GET", "/v1/admin/studies"): Sample("/v1/admin/studies", params=_DEMO),
    ("POST", "/v1/admin/studies"): Sample(
        "/v1/admin/studies", 201, json={**_DEMO, "name": "x", "battles": ["tides"]}
    ),
    ("GET", "/v1/admin/studies/{study_id}/answers"): Sample("/v1/admin/studies/STUDY/answers"),
    ("GET", "/v1/admin/studies/{study_id}/workers"): Sample("/v1/admin/studies/STUDY/workers"),
    ("POST", "/v1/admin/studies/{study_id}/close"): Sample("/v1/admin/studies/STUDY/close"),
    ("DELETE", "/v1/admin/studies/{study_id}"): Sample("/v1/admin/studies/STUDY"),
    ("DELETE", "/v1/admin/studies/{study_id}/workers/{worker_id}"): Sample(
        "/v1/admin/studies/STUDY/workers/STUDY"
    ),
    ("GET", "/studies/{study_id}"): Sample("/studies/STUDY"),
    ("POST", "/studies/{study_id}/begin"): Sample("/studies/STUDY/begin", 422, content=b"", headers=FORM),
    ("POST", "/studies/{study_id}/answer"): Sample("/studies/STUDY/answer", 403, content=b"", headers=FORM),
    ("POST", "/studies/{study_id}/withdraw"): Sample(
        "/studies/STUDY/withdraw", 403, content=b"", headers=FORM
    ),
    ("GET", "/"): Sample("/", params=_DEMO),
    ("GET", f"/battles/{_BATTLE}"): Sample("/battles/tides"),
    ("GET", f"/battles/{_BATTLE}/calls"): Sample("/battles/tides/calls"),
    ("POST", f"/battles/{_BATTLE}/nuggets"): Sample(
        "/battles/tides/nuggets", 409, content=b"version=9", headers=FORM
    ),
    ("POST", f"/battles/{_BATTLE}/retry"): Sample("/battles/failed/retry", 303, content=b"", headers=FORM),
    ("GET", "/leaderboard"): Sample("/leaderboard", params=_DEMO),
    ("GET", "/leaderboard/timeline"): Sample("/leaderboard/timeline", params=_DEMO),
    ("GET", "/leaderboard/table"): Sample("/leaderboard/table", params=_DEMO),
    ("GET", "/leaderboard/style"): Sample("/leaderboard/style", params=_DEMO),
    ("GET", "/leaderboard/files/{kind}"): Sample("/leaderboard/files/csv", params=_DEMO),
    ("GET", "/system"): Sample("/system", params={**_DEMO, "name": "atlas"}),
    ("GET", "/inversions"): Sample("/inversions", params=_DEMO),
    ("GET", "/arenas"): Sample("/arenas", params=_DEMO),
    ("GET", "/operations"): Sample("/operations", params=_DEMO),
    ("GET", "/failures"): Sample("/failures", params=_DEMO),
    ("POST", "/failures"): Sample("/failures", 303, content=b"retry=FAILURE", headers=FORM),
    ("GET", f"/embed/battles/{_BATTLE}"): Sample("/embed/battles/tides"),
    ("GET", f"/embed/battles/{_BATTLE}/events"): Sample("/embed/battles/tides/events"),
    ("POST", f"/embed/battles/{_BATTLE}/vote"): Sample(
        "/embed/battles/tides/vote", 303, content=b"vote=a", headers=FORM
    ),
    ("GET", "/embed/widget.js"): Sample("/embed/widget.js"),
    ("GET", "/docs"): Sample("/docs"),
    ("GET", "/canary"): Sample("/canary"),
    ("GET", "/healthz"): Sample("/healthz"),
    ("GET", "/readyz"): Sample("/readyz"),
    ("GET", "/login"): Sample("/login"),
    ("POST", "/login"): Sample("/login", 401, content=b"key=wrong", headers=FORM),
    ("POST", "/logout"): Sample("/logout", 303, content=b"csrf=", headers=FORM),
}


async def issued(
    database: Database, *roles: Role, arenas: tuple[str, ...] | None = ("demo",), **changes: Any
) -> NewKey:
    """A new key in the database."""
    made = NewKey.make()
    key = StoredKey(
        id=made.id,
        name="test",
        hash=made.hash,
        proxy_user=changes.get("proxy_user"),
        roles=tuple(role.value for role in roles),
        arenas=arenas,
        per_minute=changes.get("per_minute"),
        battles_per_day=changes.get("battles_per_day"),
        created_at=NOW,
        expires_at=_moment(changes.get("expires_at")),
    )
    await ApiKeys(database).add(key)
    return made


def _moment(moment: datetime | None) -> datetime | None:
    return moment


async def study(database: Database, arena: str = "demo") -> str:
    """Id of a new study of an arena, which is also the id of its only worker."""
    name = f"st_{uuid4().hex}"
    submission_ = CrowdStudySubmission(name="test", arena=arena)
    items = [("tides", OpenItem(0, ItemKind.PAIR, "atlas", "birch"))]
    await Studies(database).add(StoredStudy(name, arena, submission_, NOW), items)
    await StudyTasks(database).begin(
        StoredWorker(
            id=name,
            study_id=name,
            participant=None,
            cookie=name,
            language="en",
            code="code",
            begun_at=NOW,
        ),
        1,
    )
    return name


async def webhook(database: Database, arena: str = "demo") -> str:
    """Id of a new webhook of an arena."""
    now = datetime.now(UTC)
    hook = Webhook(
        id=f"wh_{uuid4().hex}",
        arena=arena,
        url="https://127.0.0.1/hook",
        secret=new_secret(),
        kinds=[],
        tags=[],
        languages=[],
        created_at=now,
        cursor=0,
    )
    await Webhooks(database).add(hook)
    return hook.id


def bearer(key: NewKey | str | None) -> dict[str, str]:
    """The header of a key; none where there is no key."""
    if key is None:
        return {}
    return {"authorization": f"Bearer {key if isinstance(key, str) else key.token}"}
