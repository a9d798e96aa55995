"""The kinds of judges: pairwise evaluators that can judge beside the first judge, or as a panel.

`kinds` alone decides which can be chosen. A kind is a module of this folder, or a prompt in
`services/judge/evaluators.py`.
"""

from services.judge.pairwise import nugget_guided, pairwise_documents, plain, utility
from services.judge.pairwise.kind import Kind


def kinds() -> dict[str, Kind]:
    """All kinds, by name."""
    own = (nugget_guided, pairwise_documents, utility)
    return {**plain.kinds(), **{module.KIND.name: module.KIND for module in own}}
