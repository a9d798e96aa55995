"""Battles as the API shows them, read back for analysis."""

from collections.abc import Mapping
from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.report.summary import Evaluated


def evaluated_from(view: Mapping[str, Any], reference: Mapping[str, Vote]) -> Evaluated:
    """One evaluated battle from the JSON of `GET /v1/battles/{id}`.

    Args:
        view: the decoded JSON.
        reference: human preference per dimension.

    Raises:
        KeyError: a field every battle has is missing.
    """
    nuggets = view["nugget_verdict"]
    judgment = view["judgments"][0] if view["judgments"] else None
    return Evaluated(
        battle_id=view["id"],
        query=view["query"],
        system_a=view["a"]["system"],
        system_b=view["b"]["system"],
        answer_a=view["a"]["text"],
        answer_b=view["b"]["text"],
        evidence=tuple(item["text"] for item in view["evidence"]),
        reference=reference,
        all_scores=(nuggets["a"]["all_score"], nuggets["b"]["all_score"]) if nuggets else None,
        nugget=Vote(nuggets["preference"]) if nuggets else None,
        judge=Vote(judgment["winner"]) if judgment else None,
        human=Vote(view["human_vote"]) if view["human_vote"] else None,
        flipped=judgment["flipped"] if judgment else None,
        failures=tuple(f"{failure['stage']}: {failure['reason']}" for failure in view["failures"]),
    )
