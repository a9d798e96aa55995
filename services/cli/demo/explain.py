"""The explanation of one battle on a terminal: its nuggets and their labels, and what decided it.

Everything fits on one screen; the page of the battle has the rest.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from nuggetstream.domain.offline import APART, MEASURED, any_offline
from nuggetstream.files.cells import printable
from nuggetstream.files.numerals import decisive_digits, many

_SUPPORT = {  # label -> mark, style and meaning
    "support": ("✓", "green", "stated"),
    "partial_support": ("½", "yellow", "stated in part"),
    "not_support": ("✗", "red", "missing"),
    "contradiction": ("≠", "bold red", "contradicted"),
    None: ("–", "dim", "without a label"),
}
_UNCLAIMED = "no"  # instead of ✗: who does not make a claim that no source confirms misses nothing
_DOUBTS = {"answer-only": "unconfirmed", "disputed": "disputed"}  # instead of an importance
_FACTS, _ROWS = 7, 9  # nuggets that are shown: facts first, then claims
_QUERY, _NAME, _TEXT = 150, 14, 400  # characters that are shown at most
_NOTICE = (
    "Offline heuristics, not a language model. Their nuggets agree with people in "
    f"{MEASURED.nuggets:.0%} of 791 public battles, where choosing the longer answer agrees in "
    f"{MEASURED.longer:.0%}; on topics kept apart in {APART.nuggets:.0%} (an earlier version), the longer "
    f"answer in {APART.longer:.0%}."
)

View = Mapping[str, Any]


def pick(views: Sequence[View]) -> View:
    """The battle with the largest margin among those on which people and nuggets agree.

    Without such a battle, the one with the largest margin; without any margin, the first battle.
    """
    scored = [view for view in views if view["nugget_verdict"]]
    agreed = [view for view in scored if view["human_vote"] == view["nugget_verdict"]["preference"]]
    english = [view for view in agreed if view["language"] in (None, "en")]
    candidates = english or agreed or scored
    return max(candidates, key=lambda v: abs(v["nugget_verdict"]["margin"])) if candidates else views[0]


def explanation(view: View) -> list[RenderableType]:
    """What to print about a battle, in order."""
    heading = Text.assemble((f"{view['id']}: ", "bold"), (_shortened(view["query"], _QUERY), "bold"))
    parts: list[RenderableType] = [heading, Text(_decision(view))]
    if view["nuggets"]:
        parts += [nugget_table(view), Text(_legend(view), style="dim")]
    parts.append(Text(f"{_judges(view)} {_vote(view)}"))
    if doubts := list(_doubts(view)):
        parts.append(Text(f"Uncertain: {' '.join(doubts)}"))
    models = [view["label_model"], *(judgment["model"] for judgment in view["judgments"])]
    return [*parts, Text(_NOTICE, style="dim")] if any_offline(models) else parts


def nugget_table(view: View) -> Table:
    """A table of the first nuggets and their labels for both answers, a line each, facts before claims."""
    table = Table(header_style="bold", box=None, pad_edge=False, expand=True)
    table.add_column("", no_wrap=True)
    for side in ("a", "b"):
        table.add_column(Text(_name(view, side)), justify="center", no_wrap=True)
    table.add_column("nugget", ratio=1, no_wrap=True, overflow="ellipsis")
    for nugget in _shown(view):
        doubt = _DOUBTS.get(nugget["grounding"])
        cells = (_cell(nugget[side], is_claim=doubt is not None) for side in ("a", "b"))
        table.add_row(doubt or nugget["importance"], *cells, Text(printable(nugget["text"])))
    return table


def _shown(view: View) -> list[View]:
    facts, claims = _facts(view), [nugget for nugget in view["nuggets"] if nugget["grounding"] in _DOUBTS]
    kept = facts[: max(_FACTS, _ROWS - len(claims))]
    return [*kept, *claims[: _ROWS - len(kept)]]


def _facts(view: View) -> list[View]:
    return [nugget for nugget in view["nuggets"] if nugget["grounding"] not in _DOUBTS]


def _cell(label: View | None, *, is_claim: bool) -> Text:
    support = label["support"] if label else None
    if is_claim and support == "not_support":
        return Text(_UNCLAIMED, style="dim")
    mark, style, _ = _SUPPORT[support]
    return Text(mark, style="dim" if is_claim and support == "contradiction" else style)


def _legend(view: View) -> str:
    """What the marks mean, and how many nuggets are not shown."""
    meanings = [f"{mark} {meaning}" for mark, _, meaning in list(_SUPPORT.values())[:4]]
    hidden = len(view["nuggets"]) - len(_shown(view))
    return "   ".join([*meanings, *([f"({hidden} more not shown)"] if hidden else [])])


def _decision(view: View) -> str:
    """What the nuggets prefer, and why."""
    verdict = view["nugget_verdict"]
    if verdict is None:
        return _shortened(" ".join(view["explanation"]) or "There are no results yet.", _TEXT)
    threshold = verdict["tie_threshold"]
    digits = decisive_digits(verdict["a"]["all_score"], verdict["b"]["all_score"], threshold)
    a, b = (f"{verdict[side]['all_score']:.{digits}f} ({_name(view, side)})" for side in ("a", "b"))
    counted = sum(nugget["grounding"] != "disputed" for nugget in view["nuggets"])
    scores = f"scores of {a} and {b} over {many(counted, 'nugget')}"
    tie = f"up to {threshold:.{digits}f} apart is a tie"
    return (
        f"The nuggets say that {_winner(view, verdict['preference'])}, by {scores}; {tie}. {_credits(view)}"
    )


def _credits(view: View) -> str:
    """How many of the nuggets that count each answer states."""
    counted = [nugget for nugget in view["nuggets"] if nugget["grounding"] != "disputed"]
    a, b = (f"{_name(view, side)} has {_credit(counted, side)}" for side in ("a", "b"))
    stated = "" if _facts(view) else " No source states any of them."
    return f"Of these {len(counted)}, {a}, and {b}.{stated}"


def _credit(nuggets: Iterable[View], side: str) -> str:
    counts = Counter(nugget[side]["support"] for nugget in nuggets if nugget[side])
    stated = {"in full": counts["support"], "in part": counts["partial_support"]}
    return " and ".join(f"{count} {how}" for how, count in stated.items() if count) or "none"


def _judges(view: View) -> str:
    own = [judgment for judgment in view["judgments"] if not judgment["additional"]]
    if not own:
        return "There is no verdict of the judge."
    first = own[0]
    others = [other for other in (*view["judgments"], *view["guided"]) if other is not first]
    agreeing = sum(other["winner"] == first["winner"] for other in others)
    more = f"; {agreeing} of {len(others)} additional judges agree" if others else ""
    if first["flipped"]:
        return f"The judge's verdict changed with the order of the answers, which counts as a tie{more}."
    orders = ", in both orders of the answers" if first["flipped"] is False else ""
    return f"The judge says that {_winner(view, first['winner'])}{orders}{more}."


def _vote(view: View) -> str:
    vote = view["human_vote"]
    return f"The human vote says that {_winner(view, vote)}." if vote else "There is no human vote."


def _doubts(view: View) -> Iterable[str]:
    """What limits the result: claims without a source, and sources that nobody could read."""
    total, facts = len(view["nuggets"]), len(_facts(view))
    sources = [source for side in ("a", "b") for source in view[side]["sources"]]
    if not sources:
        yield "no answer has a source, so nothing that they state is verified."
    elif facts < total:
        yield f"no source confirms {total - facts} of {many(total, 'nugget')}."
    if unread := sum(source["state"] == "rejected" for source in sources):
        yield f"{unread} of {many(len(sources), 'source')} could not be read."


def _winner(view: View, preference: str) -> str:
    if preference in ("a", "b"):
        return f"{_name(view, preference)} is better"
    return "both are bad" if preference == "both_bad" else "both are equally good"


def _name(view: View, side: str) -> str:
    """The system of an answer, or the side where one system gave both."""
    wrote_both = view["a"]["system"] == view["b"]["system"]
    return side.upper() if wrote_both else _shortened(view[side]["system"], _NAME)


def _shortened(text: str, width: int) -> str:
    """At most so many characters on one line, cut after a word where one ends in the second half."""
    line = printable(" ".join(text.split()))
    if len(line) <= width:
        return line
    words, _, _ = line[:width].rpartition(" ")
    return (words if len(words) > width // 2 else line[: width - 1]) + "…"
