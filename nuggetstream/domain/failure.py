"""Failure is data: what a stage reports when it cannot produce a result.

A failure never turns into a score. It travels as a value and is stored beside the results, and every
published number says how many battles were scored of how many were received.
"""

from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.domain.pipeline import Stage


class Reason(StrEnum):
    """Why a stage gave up. Enumerated, so that failures can be counted and alerted on."""

    PAGE_BLOCKED = "page_blocked"
    PAGE_EMPTY = "page_empty"
    ROBOTS_DENIED = "robots_denied"
    TOO_LARGE = "too_large"
    NO_EVIDENCE = "no_evidence"
    NO_VITAL_NUGGET = "no_vital_nugget"
    NOTHING_TO_SCORE = "nothing_to_score"
    LLM_UNAVAILABLE = "llm_unavailable"
    LLM_REFUSED = "llm_refused"
    CONTENT_FILTERED = "content_filtered"
    REPLY_UNUSABLE = "reply_unusable"
    BUDGET_EXCEEDED = "budget_exceeded"
    DEADLINE = "deadline"
    INVALID_INPUT = "invalid_input"
    UNDECODABLE = "undecodable"
    MAX_DELIVERIES = "max_deliveries"
    STORE_UNAVAILABLE = "store_unavailable"
    BUG = "bug"


@dataclass(frozen=True, slots=True)
class StageFailure:
    """Which stage gave up, why, and after how many attempts.

    Attributes:
        stage: The stage that gave up.
        reason: The enumerated cause.
        detail: One sentence for a person, in our own words; never parsed.
        attempts: Number of deliveries used, at least 1.
        admin_detail: What the other side said, for administrators only and in no public view; None where it
            said nothing.
        evaluator: Name of the evaluator that gave up; None for the stages that battles wait for.
    """

    stage: Stage
    reason: Reason
    detail: str
    attempts: int = 1
    admin_detail: str | None = None
    evaluator: str | None = None
