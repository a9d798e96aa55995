"""What every route needs. A route without a rule is served to nobody; docs/access.md has the same table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from services.access.callers import Role


class Scope(StrEnum):
    """Where a caller must have the role."""

    ANYWHERE = "any arena"
    ARENA = "the arena of the parameter `arena`, which is `default` when absent"
    LISTED = "the arena of the parameter `arena`; when absent, the list has the caller's arenas"
    ARENA_OR_ALL = "the arena of the parameter `arena`; when absent, all arenas"
    BATTLE = "the arena of the battle"
    INSIDE = "the arenas of what is sent or acted on, which the route checks itself"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a route needs.

    Attributes:
        role: Role of the caller; None where everybody may use it.
        scope: Where the caller must have it.
        action: Name in the audit log; None where it changes and reveals nothing of note.
        form: Whether it is a form of our pages, whose handler checks the token in its fields.
        page: Whether it is a page, for which a browser may ask a person for the administrators' token.
    """

    role: Role | None
    scope: Scope = Scope.ANYWHERE
    action: str | None = None
    form: bool = False
    page: bool = False


_PUBLIC = Rule(None)
_ANYWHERE = Rule(Role.READ)
_RATINGS = Rule(Role.READ, Scope.ARENA)
_LIST = Rule(Role.READ, Scope.LISTED)
_BATTLE = Rule(Role.READ, Scope.BATTLE)
_ID = "{battle_id:path}"

RULES: Mapping[tuple[str, str], Rule] = {
    # The API.
    ("POST", "/v1/battles"): Rule(Role.SUBMIT, Scope.INSIDE, "submit"),
    ("GET", "/v1/battles"): _LIST,
    ("GET", f"/v1/battles/{_ID}"): _BATTLE,
    ("GET", f"/v1/battles/{_ID}/events"): _BATTLE,
    ("POST", f"/v1/battles/{_ID}/vote"): Rule(Role.VOTE, Scope.BATTLE, "vote"),
    ("GET", f"/v1/battles/{_ID}/calls"): Rule(Role.ADMIN, Scope.BATTLE, "read model calls"),
    ("PATCH", f"/v1/battles/{_ID}/nuggets"): Rule(Role.ADMIN, Scope.BATTLE, "edit nuggets"),
    ("POST", f"/v1/battles/{_ID}/embed-token"): Rule(Role.READ, Scope.BATTLE, "make embed token"),
    ("GET", "/v1/stream"): _LIST,
    ("GET", "/v1/failures"): _LIST,
    ("GET", "/v1/leaderboard"): _RATINGS,
    ("GET", "/v1/leaderboard/combined"): _RATINGS,
    ("GET", "/v1/leaderboard/pairs"): _RATINGS,
    ("GET", "/v1/leaderboard/advice"): _RATINGS,
    ("GET", "/v1/leaderboard/timeline"): _RATINGS,
    ("GET", "/v1/leaderboard/style"): _RATINGS,
    ("GET", "/v1/agreement"): _RATINGS,
    ("GET", "/v1/biases"): _RATINGS,
    ("GET", "/v1/canary"): _ANYWHERE,
    # Administration.
    ("GET", "/v1/admin/failures"): Rule(Role.ADMIN, Scope.LISTED),
    ("GET", "/v1/admin/failures/{failure_id}"): Rule(Role.ADMIN, Scope.INSIDE),
    ("POST", "/v1/admin/failures/{failure_id}/retry"): Rule(Role.ADMIN, Scope.INSIDE, "retry failure"),
    ("POST", "/v1/admin/failures/{failure_id}/discard"): Rule(Role.ADMIN, Scope.INSIDE, "discard failure"),
    ("DELETE", f"/v1/admin/battles/{_ID}"): Rule(Role.ADMIN, Scope.BATTLE, "delete battle"),
    ("POST", "/v1/admin/battles/delete-expired"): Rule(Role.ADMIN, Scope.ARENA_OR_ALL, "delete old battles"),
    ("POST", "/v1/admin/battles/rerun"): Rule(Role.ADMIN, Scope.ARENA, "rerun battles"),
    ("GET", "/v1/admin/battles/rerun"): Rule(Role.ADMIN, Scope.ARENA),
    ("GET", "/v1/admin/audit"): Rule(Role.ADMIN, Scope.LISTED),
    ("GET", "/v1/admin/webhooks"): Rule(Role.ADMIN, Scope.LISTED),
    ("POST", "/v1/admin/webhooks"): Rule(Role.ADMIN, Scope.INSIDE, "add webhook"),
    ("DELETE", "/v1/admin/webhooks/{webhook_id}"): Rule(Role.ADMIN, Scope.INSIDE, "remove webhook"),
    ("POST", "/v1/admin/webhooks/{webhook_id}/rotate"): Rule(Role.ADMIN, Scope.INSIDE, "rotate webhook"),
    ("POST", "/v1/admin/webhooks/{webhook_id}/test"): Rule(Role.ADMIN, Scope.INSIDE, "test webhook"),
    ("POST", "/v1/admin/webhooks/{webhook_id}/retry"): Rule(Role.ADMIN, Scope.INSIDE, "retry webhook"),
    ("GET", "/v1/admin/webhooks/{webhook_id}/failures"): Rule(Role.ADMIN, Scope.INSIDE),
    ("GET", "/v1/admin/studies"): Rule(Role.ADMIN, Scope.LISTED),
    ("POST", "/v1/admin/studies"): Rule(Role.ADMIN, Scope.INSIDE, "add study"),
    ("GET", "/v1/admin/studies/{study_id}/answers"): Rule(Role.ADMIN, Scope.INSIDE, "read study answers"),
    ("GET", "/v1/admin/studies/{study_id}/workers"): Rule(Role.ADMIN, Scope.INSIDE, "read study workers"),
    ("POST", "/v1/admin/studies/{study_id}/close"): Rule(Role.ADMIN, Scope.INSIDE, "close study"),
    ("DELETE", "/v1/admin/studies/{study_id}"): Rule(Role.ADMIN, Scope.INSIDE, "remove study"),
    ("DELETE", "/v1/admin/studies/{study_id}/workers/{worker_id}"): Rule(
        Role.ADMIN, Scope.INSIDE, "remove worker"
    ),
    # Pages.
    ("GET", "/"): _LIST,
    ("GET", f"/battles/{_ID}"): _BATTLE,
    ("GET", f"/battles/{_ID}/calls"): Rule(Role.ADMIN, Scope.BATTLE, "read model calls", page=True),
    ("POST", f"/battles/{_ID}/nuggets"): Rule(Role.ADMIN, Scope.BATTLE, "edit nuggets", form=True),
    ("POST", f"/battles/{_ID}/retry"): Rule(Role.ADMIN, Scope.BATTLE, "retry battle", form=True),
    ("GET", "/leaderboard"): _LIST,
    ("GET", "/leaderboard/timeline"): _LIST,
    ("GET", "/leaderboard/table"): _LIST,
    ("GET", "/leaderboard/style"): _LIST,
    ("GET", "/leaderboard/files/{kind}"): _RATINGS,
    ("GET", "/system"): _LIST,
    ("GET", "/inversions"): _LIST,
    ("GET", "/arenas"): _LIST,
    ("GET", "/operations"): Rule(Role.ADMIN, Scope.LISTED, page=True),
    ("GET", "/failures"): Rule(Role.ADMIN, Scope.LISTED, page=True),
    ("POST", "/failures"): Rule(Role.ADMIN, Scope.INSIDE, "act on failure", form=True),
    ("GET", "/canary"): _ANYWHERE,
    # Frames on the pages of arenas.
    ("GET", f"/embed/battles/{_ID}"): _BATTLE,
    ("GET", f"/embed/battles/{_ID}/events"): _BATTLE,
    ("POST", f"/embed/battles/{_ID}/vote"): Rule(Role.VOTE, Scope.BATTLE, "vote", form=True),
    ("GET", "/embed/widget.js"): _PUBLIC,
    # Whoever knows the link to a study takes part; the worker's cookie says who it is.
    ("GET", "/studies/{study_id}"): _PUBLIC,
    ("POST", "/studies/{study_id}/begin"): _PUBLIC,
    ("POST", "/studies/{study_id}/answer"): _PUBLIC,
    ("POST", "/studies/{study_id}/withdraw"): _PUBLIC,
    # Neither has anything of an arena.
    ("GET", "/docs"): _PUBLIC,
    ("GET", "/healthz"): _PUBLIC,
    ("GET", "/readyz"): _PUBLIC,
    ("GET", "/login"): _PUBLIC,
    ("POST", "/login"): _PUBLIC,
    ("POST", "/logout"): _PUBLIC,
}
