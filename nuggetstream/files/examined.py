"""What the gateway got or found out when a battle arrived, in a file of evaluated battles."""

from pydantic import BaseModel, ConfigDict, Field

from nuggetstream.domain.battle import Side
from nuggetstream.domain.conversation import Role


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class DetectedLanguageRow(_Part):
    """A language that was detected in the query."""

    tag: str
    confidence: float = Field(ge=0, le=1)


class FlagRow(_Part):
    """A passage of an answer that seems to be written for whoever evaluates it."""

    side: Side
    rule: str
    sentence: str


class TurnRow(_Part):
    """One message of a conversation before the query."""

    role: Role
    text: str
