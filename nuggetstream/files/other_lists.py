"""The nugget lists of further nuggetizers in a file of evaluated battles."""

from pydantic import BaseModel, ConfigDict, Field

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.nugget import Importance
from nuggetstream.files.labelled import LabelRow


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class ListVerdictRow(_Part):
    """The preference that follows from a list.

    Attributes:
        margin: The All Score of A minus that of B.
        preference: The preference.
        tie_threshold: Largest margin that is still a tie; None where the results do not tell.
    """

    margin: float = Field(ge=-1, le=1)
    preference: Vote
    tie_threshold: float | None = Field(default=None, ge=0, le=1)


class ListedNuggetRow(_Part):
    """A nugget of such a list, with its labels."""

    importance: Importance
    a: LabelRow | None = None
    b: LabelRow | None = None


class OtherListRow(_Part):
    """The list of one nuggetizer beside the first; its verdict is None where not every nugget has labels."""

    nuggetizer: str
    model: str
    nuggets: tuple[ListedNuggetRow, ...] = ()
    verdict: ListVerdictRow | None = None
