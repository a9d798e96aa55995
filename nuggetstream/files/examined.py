"""What the gateway got or found out when a battle arrived, in a file of evaluated battles."""

from pydantic import Field

from nuggetstream.domain.battle import Side
from nuggetstream.files.fields import Part


class DetectedLanguageRow(Part):
    """A language that was detected in the query."""

    tag: str
    confidence: float = Field(ge=0, le=1)


class FlagRow(Part):
    """A passage of an answer that seems to be written for whoever evaluates it."""

    side: Side
    rule: str
    sentence: str
