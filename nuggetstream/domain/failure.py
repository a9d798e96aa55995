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

    @property
    def words(self) -> str:
        """What happened, as a clause for a reader."""
        return _WORDS[self]

    @property
    def passes(self) -> bool:
        """Whether the same work may succeed later; otherwise the battle or the settings have to change."""
        return self in _PASSING

    @property
    def is_finding(self) -> bool:
        """Whether it says what the texts of a battle contain: a result without scores, and no error."""
        return self in _FINDINGS


_WORDS = {
    Reason.PAGE_BLOCKED: "a page refused to be read",
    Reason.PAGE_EMPTY: "a page has no text",
    Reason.ROBOTS_DENIED: "the robots.txt of a page forbids reading it",
    Reason.TOO_LARGE: "something is too large",
    Reason.NO_EVIDENCE: "there is no evidence",
    Reason.NO_VITAL_NUGGET: "no nugget is vital",
    Reason.NOTHING_TO_SCORE: "the texts have no fact that answers the query",
    Reason.LLM_UNAVAILABLE: "the model was away",
    Reason.LLM_REFUSED: "the model refused to answer",
    Reason.CONTENT_FILTERED: "the provider of the model filtered the text",
    Reason.REPLY_UNUSABLE: "the model's replies were unusable",
    Reason.BUDGET_EXCEEDED: "the budget was spent",
    Reason.DEADLINE: "it took too long",
    Reason.INVALID_INPUT: "its input is invalid",
    Reason.UNDECODABLE: "a message could not be decoded",
    Reason.MAX_DELIVERIES: "it stopped at every attempt",
    Reason.STORE_UNAVAILABLE: "the database was away",
    Reason.BUG: "Nuggetstream has an error",
}
_PASSING = {
    Reason.PAGE_BLOCKED,
    Reason.LLM_UNAVAILABLE,
    Reason.LLM_REFUSED,
    Reason.REPLY_UNUSABLE,
    Reason.BUDGET_EXCEEDED,
    Reason.DEADLINE,
    Reason.MAX_DELIVERIES,
    Reason.STORE_UNAVAILABLE,
}
_FINDINGS = {Reason.NO_EVIDENCE, Reason.NO_VITAL_NUGGET, Reason.NOTHING_TO_SCORE}


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
