"""Replies with a simulated fault in what the model says."""

import json
from collections.abc import Callable
from typing import Any

from services.offline.faults import Fault

_DECLINED = "I cannot help with that."
_NO_LABEL = "zebra"
_LABELS = ("labels", "answers")  # lists with an item for everything that was asked
_FINISH = {Fault.CUT: "length", Fault.CONTENT_FILTER: "content_filter"}


def damaged(text: str, fault: Fault | None) -> tuple[str, str, str | None]:
    """The content, the reason to finish and the refusal of a reply.

    Args:
        text: The reply without a fault, a JSON object.
        fault: What is wrong with it; None, and faults that are no part of a reply, leave it as it is.

    >>> damaged('{"labels": ["n1 s", "n2 n"]}', Fault.WRONG_COUNT)
    ('{"labels": ["n1 s"]}', 'stop', None)
    """
    half = text[: len(text) // 2]
    contents: dict[Fault | None, Callable[[], str]] = {
        Fault.CUT: lambda: half,
        Fault.INVALID_JSON: lambda: f"Certainly! Here is what I found: {half}",
        Fault.WRONG_COUNT: lambda: _changed(text, lambda items: items[:-1]),
        Fault.UNKNOWN_LABEL: lambda: _changed(text, _mislabelled),
        Fault.EMPTY: str,
        Fault.REFUSAL: str,
        Fault.CONTENT_FILTER: lambda: half,
    }
    finish = _FINISH.get(fault, "stop") if fault else "stop"
    return contents.get(fault, lambda: text)(), finish, _DECLINED if fault is Fault.REFUSAL else None


def _mislabelled(items: list[Any]) -> list[Any]:
    return [f"{str(items[0]).split()[0]} {_NO_LABEL}", *items[1:]]


def _changed(text: str, change: Callable[[list[Any]], list[Any]]) -> str:
    """The object with its list of labels changed; one without labels loses its last field.

    Other lists may be of any length, so that a shorter one would not be noticed.
    """
    value: dict[str, Any] = json.loads(text)
    name = next((name for name in _LABELS if value.get(name)), None)
    if name is None:
        value.popitem()
    else:
        value[name] = change(value[name])
    return json.dumps(value)
