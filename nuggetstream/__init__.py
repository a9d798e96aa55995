"""Nuggetstream: why one answer is better, from battles, nuggets, judges and votes.

    import nuggetstream as ns

    ns.read_votes("votes.csv")                        # or a DataFrame, or rows
    ns.rate(votes)                                    # Bradley-Terry ratings with intervals and ranks
    ns.score(nuggets, labels)                         # six nugget scores, and the preference
    ns.agreement(human, judge)                        # kappa, with the counts behind it
    ns.Client("http://127.0.0.1:8080")                # a platform: submit, watch, vote, read boards

Results print as tables and have `to_frame()`, `to_latex()` and `to_parquet(path)`. A name is imported when it
is first used, so that `import nuggetstream` itself loads nothing but this file.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nuggetstream.api.agreeing import agreement
    from nuggetstream.api.rating import rate
    from nuggetstream.api.scoring import score
    from nuggetstream.api.votes import read_votes
    from nuggetstream.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client", "agreement", "rate", "read_votes", "score"]
_MODULES = {
    "AsyncClient": "nuggetstream.client",
    "Client": "nuggetstream.client",
    "agreement": "nuggetstream.api.agreeing",
    "rate": "nuggetstream.api.rating",
    "read_votes": "nuggetstream.api.votes",
    "score": "nuggetstream.api.scoring",
}
_EXTRAS = {"httpx2": "client", "narwhals": "frames", "polars": "frames"}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(_MODULES[name])
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        from nuggetstream.extras import MissingExtra

        raise MissingExtra(error.name, _EXTRAS[error.name]) from error
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
