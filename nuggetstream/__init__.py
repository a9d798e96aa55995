"""Nuggetstream: why one answer is better, from battles, nuggets, judges and votes.

    import nuggetstream as ns

    platform = ns.Client("http://127.0.0.1:8080")     # or ns.AsyncClient: submit, watch, vote, read boards

A name is imported when it is first used, so that `import nuggetstream` itself loads almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nuggetstream.client import AsyncClient, Client

_HOMES = {
    "AsyncClient": "nuggetstream.client",
    "Client": "nuggetstream.client",
}
__all__ = ["AsyncClient", "Client"]


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
