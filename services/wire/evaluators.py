"""The evaluators that there are, by the type of event that each reads.

Every process knows them, because the broker has a consumer for each declared one and settings name them. How
they ask is in `services.judge`, which only the processes of the judge import.
"""

from collections.abc import Sequence
from typing import TypeAlias

from nuggetstream.domain.event import BattleAssigned, BattleRetrieved
from services.wire.graders import Graders

Reads: TypeAlias = type[BattleRetrieved] | type[BattleAssigned]
"""`BattleRetrieved` for evidence, `BattleAssigned` for nuggets."""

# They grade answers, documents, citations and queries: the modules of `services.judge.graders`.
GRADERS: dict[str, Reads] = {
    "answer_quality": BattleRetrieved,
    "aspects": BattleRetrieved,
    "citation_support": BattleRetrieved,
    "direct": BattleRetrieved,
    "language_quality": BattleRetrieved,
    "manipulation": BattleRetrieved,
    "nugget_entailment": BattleAssigned,
    "query_profile": BattleRetrieved,
    "retrieval_relevance": BattleRetrieved,
    "rubric": BattleRetrieved,
    "second_assigner": BattleAssigned,
}
# They compare the answers of a battle: the kinds of `services.judge.pairwise`.
JUDGES: dict[str, Reads] = {
    "pairwise": BattleRetrieved,
    "nugget_guided": BattleAssigned,
    "pairwise_documents": BattleRetrieved,
    "utility": BattleRetrieved,
}
# All but `pairwise`, which is the first judge unless the operator chooses another one.
BESIDE_THE_JUDGE = (*GRADERS, *(name for name in JUDGES if name != "pairwise"))


def is_guided(judge: str) -> bool:
    """Whether a judge shows the nuggets and their labels, so that its verdicts depend on them."""
    return JUDGES[judge] is BattleAssigned


def declared(names: Sequence[str]) -> Graders:
    """The evaluators with these names, as the broker and the services know them.

    Raises:
        ValueError: There is no evaluator with a name, or a name appears twice.
    """
    reads = GRADERS | JUDGES
    for name in names:
        if name not in reads:
            raise ValueError(f"there is no evaluator {name!r}; choose of {', '.join(sorted(reads))}")
    return Graders(tuple((name, reads[name]) for name in names))
