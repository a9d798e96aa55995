"""A battle as arenas send it in protobuf: its lists are counted before anything in them is converted.

Two bytes of a message are an element of a list. Converting millions of them would stop the process for tens
of seconds, only to find that there are too many.
"""

from collections.abc import Iterator

from arena.v1 import battle_pb2
from google.protobuf.message import Message

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.files.conversation import MAX_TURNS
from nuggetstream.files.sources import MAX_PASSAGES
from nuggetstream.files.submission import (
    MAX_SOURCES,
    MAX_TAGS,
    BattleSubmission,
    InvalidSubmission,
    submission_of,
)
from services.wire.convert import ContractViolation, from_message

MOST_ELEMENTS = {
    "arena.v1.Answer.conversation": MAX_TURNS,
    "arena.v1.Answer.sources": MAX_SOURCES,
    "arena.v1.Battle.conversation": MAX_TURNS,
    "arena.v1.Battle.tags": MAX_TAGS,
    "arena.v1.Source.passages": MAX_PASSAGES,
}
"""How many elements each list of a battle may have, as in JSON."""


def submitted_battle(
    message: battle_pb2.Battle,
    vote: Vote | None = None,
    voter: str | None = None,
    comment: str | None = None,
) -> BattleSubmission:
    """The battle of a message, under the same checks as one in JSON.

    Raises:
        InvalidSubmission: naming every field that is wrong and why.
    """
    if problems := list(_too_long(message)):
        raise InvalidSubmission(problems)
    try:
        battle = from_message(message, Battle)
    except ContractViolation as error:
        raise InvalidSubmission([str(error)]) from None
    return submission_of(battle, vote, voter, comment)


def _too_long(message: Message, path: str = "") -> Iterator[str]:
    """The problems of lists that are too long, in the words that JSON is answered with."""
    for field in message.DESCRIPTOR.fields:
        where = f"{path}{field.name}"
        if not field.is_repeated:
            if field.message_type is not None and message.HasField(field.name):
                yield from _too_long(getattr(message, field.name), f"{where}.")
            continue
        elements, limit = getattr(message, field.name), MOST_ELEMENTS[field.full_name]
        if len(elements) > limit:
            yield f"{where}: is {len(elements)} long; at most {limit} are accepted"
        elif field.message_type is not None:
            for number, element in enumerate(elements):
                yield from _too_long(element, f"{where}.{number}.")
