"""The query parameters of the rating routes that the gateway answers itself."""

from typing import Literal

from nuggetstream.domain.lens import Lens
from services.wire.query_parameters import QueryParameters
from services.wire.rating_queries import Arena, SliceQuery


class BiasesQuery(QueryParameters):
    """Query parameters of the biases of judges."""

    arena: Arena = "default"
    """Arena whose verdicts count."""


class StyleQuery(SliceQuery):
    """Which board is computed with style held equal."""

    lens: Literal[Lens.HUMAN, Lens.NUGGET, Lens.GROUNDED, Lens.JUDGE] = Lens.HUMAN
    """Lens whose preferences count; of several judges the first by name, unless `evaluator` names one."""
