"""Nuggetstream: why one answer is better, from battles, nuggets, judges and votes.

    import nuggetstream as ns

    ns.read_battles, ns.export_results     battles in the formats of many projects, and results in them
    ns.explain                             an evaluated battle -> who states which nugget, what decided it
    ns.read_votes, ns.rate                 votes -> Bradley-Terry ratings with intervals and ranks
    ns.rate_over_time                      dated votes -> ratings of every period
    ns.score                               nuggets and labels -> six scores, and the preference
    ns.agreement, ns.krippendorff          how far two or more sources of labels agree
    ns.paired, ns.benjamini_hochberg       two measurements of the same items, tested; many tests at once
    ns.crowd_agreement, ns.crowd_grades    labels of workers -> alpha, gold labels, competence, grades
    ns.crowd_arms                          labels of people, experts and judges -> alphas, in one table
    ns.crowd_compare                       grades -> tests of groups of items, and of dimensions
    ns.rubric_cover, ns.rubric_qrels, ...  graded passages, relevance labels, rankings, leaderboards
    ns.study_texts                         texts -> length, readability, citations, markup
    ns.compare, ns.compare_evaluators      evaluations of the same battles, beside each other and people
    ns.write_report                        results of an evaluation -> one page
    ns.Client, ns.AsyncClient              a platform: submit, watch, vote, read boards

They take paths, DataFrames or plain values. Results print as tables and have `to_frame()`, `to_latex()` and
`to_parquet(path)`, and `plot()` where there is a figure. A name is imported when it is first used: `import
nuggetstream` loads this file alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nuggetstream.api.agreeing import agreement, krippendorff, krippendorff_interval
    from nuggetstream.api.aspects import rubric_aspects
    from nuggetstream.api.battles import explain, export_results, read_battles
    from nuggetstream.api.comparing import compare, compare_evaluators
    from nuggetstream.api.crowd import crowd_agreement, crowd_arms, crowd_compare, crowd_grades
    from nuggetstream.api.over_time import rate_over_time
    from nuggetstream.api.paired import benjamini_hochberg, paired
    from nuggetstream.api.rating import rate
    from nuggetstream.api.reporting import write_report
    from nuggetstream.api.rubric import (
        rubric_agree,
        rubric_correlate,
        rubric_cover,
        rubric_measure,
        rubric_qrels,
        rubric_verify,
    )
    from nuggetstream.api.rubric_banks import rubric_change, rubric_edit
    from nuggetstream.api.scoring import score
    from nuggetstream.api.texts import study_texts
    from nuggetstream.api.votes import read_votes
    from nuggetstream.client import AsyncClient, Client

__all__ = [
    "AsyncClient",
    "Client",
    "agreement",
    "benjamini_hochberg",
    "compare",
    "compare_evaluators",
    "crowd_agreement",
    "crowd_arms",
    "crowd_compare",
    "crowd_grades",
    "explain",
    "export_results",
    "krippendorff",
    "krippendorff_interval",
    "paired",
    "rate",
    "rate_over_time",
    "read_battles",
    "read_votes",
    "rubric_agree",
    "rubric_aspects",
    "rubric_change",
    "rubric_correlate",
    "rubric_cover",
    "rubric_edit",
    "rubric_measure",
    "rubric_qrels",
    "rubric_verify",
    "score",
    "study_texts",
    "write_report",
]
_NAMES = {
    "nuggetstream.api.agreeing": ("agreement", "krippendorff", "krippendorff_interval"),
    "nuggetstream.api.aspects": ("rubric_aspects",),
    "nuggetstream.api.battles": ("explain", "export_results", "read_battles"),
    "nuggetstream.api.comparing": ("compare", "compare_evaluators"),
    "nuggetstream.api.crowd": ("crowd_agreement", "crowd_arms", "crowd_compare", "crowd_grades"),
    "nuggetstream.api.over_time": ("rate_over_time",),
    "nuggetstream.api.paired": ("benjamini_hochberg", "paired"),
    "nuggetstream.api.rating": ("rate",),
    "nuggetstream.api.reporting": ("write_report",),
    "nuggetstream.api.rubric": (
        "rubric_agree",
        "rubric_correlate",
        "rubric_cover",
        "rubric_measure",
        "rubric_qrels",
        "rubric_verify",
    ),
    "nuggetstream.api.rubric_banks": ("rubric_change", "rubric_edit"),
    "nuggetstream.api.scoring": ("score",),
    "nuggetstream.api.texts": ("study_texts",),
    "nuggetstream.api.votes": ("read_votes",),
    "nuggetstream.client": ("AsyncClient", "Client"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nuggetstream.extras import extras_named

    with extras_named():
        module = import_module(_MODULES[name])
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
