"""All subjects and streams of the system.

arena.v1.battle.<event>   stream ARENA   events of battles
arena.v1.grading.<name>   stream ARENA   events that one evaluator or stage reads again
arena.v1.ratings.updated  stream ARENA   a board changed
arena.v1.ingest           stream INGEST  battles that arenas send over NATS
arena.v1.dead.<stage>     stream DEAD    dead letters, with the original message
arena.v1.recorded         no stream      notifies watchers that an event is in the database
arena.v1.model            no stream      whether the model answers a process of a stage
arena.v1.retry            no stream      an attempt of a stage failed, and the stage tries again
"""

import re
from typing import get_args

from nuggetstream.domain.event import Event

PREFIX = "arena.v1"
STREAM_ARENA = "ARENA"
STREAM_INGEST = "INGEST"
STREAM_DEAD = "DEAD"

INGEST = f"{PREFIX}.ingest"
BATTLE = f"{PREFIX}.battle"
BATTLES = f"{BATTLE}.>"
GRADING = f"{PREFIX}.grading"
RATINGS = f"{PREFIX}.ratings.>"
DEAD = f"{PREFIX}.dead"
RECORDED = f"{PREFIX}.recorded"
MODEL_STATE = f"{PREFIX}.model"
STAGE_RETRY = f"{PREFIX}.retry"

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def subject_named(event: str) -> str:
    """The subject of an event by its name, also of one that this build does not know.

    >>> subject_named("BattleSubmitted")
    'arena.v1.battle.submitted'
    """
    return f"{PREFIX}.{_WORDS.sub('.', event).lower()}"


SUBJECTS: dict[type[Event], str] = {kind: subject_named(kind.__name__) for kind in get_args(Event)}

EVENT_TYPES: dict[str, type[Event]] = {subject: kind for kind, subject in SUBJECTS.items()}


def event_name(kind: type[Event]) -> str:
    """The short name under which an event is stored and shown, such as "scraped".

    >>> from nuggetstream.domain.event import BattleScraped
    >>> event_name(BattleScraped)
    'scraped'
    """
    return SUBJECTS[kind].rsplit(".", 1)[1]
