"""One battle, and a line per board, as the demo prints them: they fit on a screen and hide no doubt."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from services.cli.demo.boards import boards_in_short
from services.cli.demo.explain import explanation
from tests.evaluated import battle, judgment, nugget

LONG = "A fact that is told at such length that no terminal has a line for all of it. " * 3


def printed(parts: Iterable[RenderableType], width: int = 80) -> list[str]:
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return captured.get().splitlines()


def fact(text: str = LONG, grounding: str = "grounded", **labels: Any) -> dict[str, Any]:
    return nugget(text, **labels) | {"grounding": grounding}


def grounded(preference: str) -> dict[str, Any]:
    return {"a": 0.5, "b": 0.5, "margin": 0.0, "preference": preference, "nuggets": 1}


def view(facts: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    added = {"label_model": "gpt-5", "guided": [], "grounded_verdict": grounded("tie")}
    judged = {"judgments": [judgment("a", model="gpt-5", additional=False)]}
    return battle("tides") | added | judged | {"nuggets": [fact()] if facts is None else facts} | more


def words(shown: Mapping[str, Any]) -> str:
    return " ".join(printed(explanation(shown), width=1000))


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_battle_with_many_long_nuggets_fits_in_25_lines(width: int) -> None:
    many = [fact(), fact(grounding="answer-only"), fact(grounding="disputed")] * 9
    offline = {"label_model": "offline-heuristic", "query": LONG, "a": {"system": "s" * 99, "sources": []}}
    lines = printed(explanation(view(many, **offline)), width)
    assert max(map(cell_len, lines)) <= width
    assert len(lines) <= (25 if width >= 80 else 32)
    assert any("(18 more not shown)" in line for line in lines)
    assert any(line.startswith("Offline heuristics, not a language model.") for line in lines)


def test_the_preference_is_given_with_what_each_answer_states() -> None:
    facts = [fact("one"), fact("two", a="partial_support"), fact("claim", "answer-only", a="not_support")]
    sources = [{"state": "fetched"}]
    sourced = {"a": {"system": "left", "sources": sources}}
    shown = words(view(facts, grounded_verdict=grounded("b"), **sourced))
    assert "left is better, by scores of 0.75 (left) and 0.25 (right) over 3 nuggets" in shown
    assert "Of these 3, left has 1 in full and 1 in part, and right has none." in shown
    assert "Uncertain: no source confirms 1 of 3 nuggets." in shown
    assert "right is better" not in shown  # what grounded nuggets alone say is no argument
    assert "Offline" not in shown


def test_who_does_not_make_a_claim_has_no_cross() -> None:
    rows = printed(explanation(view([fact("claim", "answer-only"), fact("known")])))
    (claim,) = [row.split() for row in rows if row.rstrip().endswith("  claim")]
    (known,) = [row.split() for row in rows if row.rstrip().endswith("  known")]
    assert claim == ["unconfirmed", "✓", "no", "claim"]
    assert known == ["vital", "✓", "✗", "known"]


def test_a_judge_without_a_verdict_a_flip_and_a_missing_vote_are_said() -> None:
    shown = words(view(judgments=[], human_vote=None))
    assert "There is no verdict of the judge. There is no human vote." in shown
    flipped = [judgment("tie", flipped=True, model="m", additional=False)]
    beside = judgment("tie", model="m", additional=True)
    shown = words(view(judgments=[*flipped, beside, beside | {"winner": "b"}], human_vote="both_bad"))
    assert "changed with the order of the answers, which counts as a tie; 1 of 2 additional" in shown
    assert "The human vote says that both are bad." in shown


def test_a_battle_without_scores_says_why() -> None:
    failed = view([], nugget_verdict=None, explanation=["There are no nugget scores: the scraper gave up."])
    assert "There are no nugget scores: the scraper gave up. The judge says" in words(failed)


def standing(system: str, rank: int | None, rating: float | None, *, bounded: bool = True) -> dict[str, Any]:
    bounds = (rating - 100, rating + 100) if rating is not None and bounded else (None, None)
    return {"system": system, "rank": rank, "rating": rating, "provisional": rank is None} | dict(
        zip(("low", "high"), bounds, strict=True)
    )


@pytest.mark.parametrize(
    ("standings", "says"),
    [
        ([standing("x", 1, 1100), standing("y", 2, 1099)], "significantly ahead of all others"),
        ([standing("x", 1, 1100), standing("y", 1, 500)], "no system significantly ahead"),
        (
            [standing("x", 1, 1100), standing("y", 2, 900), standing("z", None, 500)],
            "no system significantly",
        ),
        ([standing("x", None, 1100), standing("y", None, 500)], "no system significantly ahead"),
        ([standing("x", 1, 1100)], "no system significantly ahead"),
        ([standing("x", None, 1000, bounded=False)], "no intervals, so nothing is significant"),
        ([standing("x", None, None)], "no system can be rated"),
        ([], "no system can be rated"),
    ],
)
def test_a_board_says_whether_the_leading_system_is_significantly_ahead(
    standings: list[dict[str, Any]], says: str
) -> None:
    board = {"lens": "human", "scored": 1, "level": 0.95, "standings": standings}
    board["method"] = {"provisional_below": 10}
    heading, row = printed(boards_in_short([board]))
    assert ("provisional below 10 battles" in heading) is any(one["provisional"] for one in standings)
    assert row.startswith("  human votes  1 battle  ")
    assert says in row
