"""The explanation of one battle on a terminal: its nuggets and their labels, and what decided it."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nuggetstream.domain.offline import NOTICE, any_offline

_MARKS = {"support": "✓", "partial_support": "½", "not_support": "✗", "contradiction": "≠", None: "–"}
_DOUBTS = {"answer-only": "in no source", "disputed": "disputed"}  # instead of an importance
_STYLES = {
    "support": "green",
    "partial_support": "yellow",
    "not_support": "red",
    "contradiction": "bold red",
    None: "dim",
}


def pick(views: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The battle with the largest margin among those on which people and nuggets agree.

    Without such a battle, the one with the largest margin; without any margin, the first battle.
    """
    scored = [view for view in views if view["nugget_verdict"]]
    agreed = [view for view in scored if view["human_vote"] == view["nugget_verdict"]["preference"]]
    english = [view for view in agreed if view["language"] in (None, "en")]
    candidates = english or agreed or scored
    return max(candidates, key=lambda v: abs(v["nugget_verdict"]["margin"])) if candidates else views[0]


def explanation(view: Mapping[str, Any]) -> list[RenderableType]:
    """What to print about a battle, in order."""
    heading = Text.assemble(("Battle ", "bold"), (view["id"], "bold"), ": ", view["query"])
    answers = [
        Text(f"  {side.upper()} = {view[side]['system']}: {_opening(view[side]['text'])}", style="dim")
        for side in ("a", "b")
    ]
    decided = [Text(f"  • {line}") for line in view["explanation"]]
    models = [view["label_model"], *(judgment["model"] for judgment in view["judgments"])]
    notice = [Text(NOTICE, style="bold")] if any_offline(models) else []
    return [heading, *notice, *answers, nugget_table(view), Text("What decided it", style="bold"), *decided]


def nugget_table(view: Mapping[str, Any]) -> Table:
    """A table of the nuggets and their labels for both answers, vital nuggets first."""
    table = Table(header_style="bold", show_lines=False)
    table.add_column("nugget", ratio=1)
    table.add_column("importance")
    for side in ("a", "b"):
        table.add_column(Text(view[side]["system"]), justify="center")
    for nugget in view["nuggets"]:
        doubt = _DOUBTS.get(nugget["grounding"])
        cells = (_cell(nugget[side], is_claim=doubt is not None) for side in ("a", "b"))
        table.add_row(Text(nugget["text"]), doubt or nugget["importance"], *cells)
    return table


def _cell(label: Mapping[str, Any] | None, *, is_claim: bool) -> Text:
    """The mark of a label; who does not make a claim that no source confirms misses nothing."""
    support = label["support"] if label else None
    if is_claim and support == "not_support":
        return Text("no", style="dim")
    return Text(_MARKS[support], style="dim" if is_claim and support == "contradiction" else _STYLES[support])


def _opening(text: str, width: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"
