"""The preference on grounded nuggets, in a file of evaluated battles."""

from pydantic import Field

from nuggetstream.domain.battle import Vote
from nuggetstream.files.fields import Part


class GroundedVerdictRow(Part):
    """What the grounded nuggets alone say.

    Attributes:
        a: All Score of answer A on them.
        b: All Score of answer B on them.
        margin: That of A minus that of B.
        preference: The vote that follows.
        nuggets: Number of grounded nuggets.
    """

    a: float = Field(ge=0, le=1)
    b: float = Field(ge=0, le=1)
    margin: float = Field(ge=-1, le=1)
    preference: Vote
    nuggets: int = Field(ge=1)
